// SPDX-License-Identifier: Apache-2.0
#include "openmp/gomp/reduction.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/message.h"
#include "openmp/task/task.h"

namespace weft::openmp::gomp {

namespace {

// What the program brings: blocks of words, linked.
enum Word {
  kCount,      // variables
  kSize,       // bytes of one member's copies of all of them
  kMemory,     // alignment wanted; then where the members' copies are
  kAllocator,  // unused
  kNext,       // the next block, or 0; then, behind the last block, the registration before
  kFirst,      // ours: not 0 in the first block of a registration
  kEnd,        // ours: the end of the members' copies
  kVariables,  // three words each: the original's address, the offset among a member's copies, one for us
};
constexpr int kWordsPerVariable = 3;

Words* next_of(const Words* block) noexcept { return reinterpret_cast<Words*>(block[kNext]); }

// The variable of the block that `address` is: the original or some member's copy. -1 if none.
int find_in(const Words* block, Words address) noexcept {
  const auto count = static_cast<int>(block[kCount]);
  const bool is_copy = address >= block[kMemory] && address < block[kEnd];
  const Words offset = is_copy ? (address - block[kMemory]) % block[kSize] : 0;
  for (int i = 0; i < count; ++i) {
    const Words* variable = block + kVariables + kWordsPerVariable * i;
    if (is_copy ? variable[1] == offset : variable[0] == address) return i;
  }
  return -1;
}

struct Found {
  const Words* block = nullptr;
  int index = -1;
};

Found find_from(const Words* block, Words address) noexcept {
  for (; block != nullptr; block = next_of(block)) {
    if (const int index = find_in(block, address); index >= 0) return {block, index};
  }
  return {};
}

Found find(const Member* member, Words address) noexcept {
  for (const TaskGroup* group = member->task->group; group != nullptr; group = group->outer) {
    if (const Found found = find_from(group->gomp_reductions, address); found.block != nullptr) return found;
  }
  return find_from(member->gomp_reductions, address);
}

}  // namespace

void register_reductions(Words* data, Words* before, const Words* shared, int members) noexcept {
  data[kFirst] = 1;
  for (Words* block = data;; block = next_of(block)) {
    if (block != data) block[kFirst] = 0;
    if (shared != nullptr) {
      block[kMemory] = shared[kMemory];
      block[kEnd] = shared[kEnd];
      shared = next_of(shared);
    } else {
      const size_t alignment = std::max<size_t>(block[kMemory], alignof(std::max_align_t));
      const size_t size = (block[kSize] * static_cast<size_t>(members) + alignment - 1) / alignment * alignment;
      void* memory = std::aligned_alloc(alignment, size);
      if (memory == nullptr) base::lacking("no memory for the reductions of tasks");
      std::memset(memory, 0, size);
      block[kMemory] = reinterpret_cast<Words>(memory);
      block[kEnd] = block[kMemory] + block[kSize] * static_cast<size_t>(members);
    }
    if (next_of(block) == nullptr) {
      block[kNext] = reinterpret_cast<Words>(before);
      return;
    }
  }
}

void free_reductions(Words* data) noexcept {
  Words* block = data;
  do {
    std::free(reinterpret_cast<void*>(block[kMemory]));
    block = next_of(block);
  } while (block != nullptr && block[kFirst] == 0);
}

void find_copies(const Member* member, size_t count, size_t originals, void** addresses) noexcept {
  for (size_t i = 0; i < count; ++i) {
    const Found found = find(member, reinterpret_cast<Words>(addresses[i]));
    if (found.block == nullptr) base::fatal("in_reduction of a variable that no enclosing construct reduces");
    const Words* variable = found.block + kVariables + kWordsPerVariable * found.index;
    const Words copy = found.block[kMemory] + found.block[kSize] * static_cast<Words>(member->number) + variable[1];
    addresses[i] = reinterpret_cast<void*>(copy);
    if (i < originals) addresses[count + i] = reinterpret_cast<void*>(variable[0]);
  }
}

}  // namespace weft::openmp::gomp

using namespace weft::openmp;
using namespace weft::openmp::gomp;

WEFT_ABI void weft_abi_GOMP_taskgroup_reduction_register(Words* data) {
  const Member* member = self();
  TaskGroup* group = member->task->group;
  register_reductions(data, group->gomp_reductions, nullptr, member->team->size);
  group->gomp_reductions = data;
}
WEFT_ABI_EXPORT(GOMP_taskgroup_reduction_register);

// After the program has combined the copies.
WEFT_ABI void weft_abi_GOMP_taskgroup_reduction_unregister(Words* data) { free_reductions(data); }
WEFT_ABI_EXPORT(GOMP_taskgroup_reduction_unregister);

WEFT_ABI void weft_abi_GOMP_task_reduction_remap(size_t count, size_t originals, void** addresses) {
  find_copies(self(), count, originals, addresses);
}
WEFT_ABI_EXPORT(GOMP_task_reduction_remap);

namespace {

// A region whose members' implicit tasks take part; the data begins with the address of the blocks.
struct Reducing {
  Function function;
  void* data;
  unsigned members = 1;
};

void run_reducing(void* const* words, int number) noexcept {
  auto* region = static_cast<Reducing*>(words[1]);
  Member* member = self();
  member->gomp_reductions = *static_cast<Words**>(region->data);
  if (number == 0) region->members = static_cast<unsigned>(member->team->size);
  region->function(region->data);
}

}  // namespace

// The answer is how many members' copies there are to combine.
WEFT_ABI unsigned weft_abi_GOMP_parallel_reductions(Function function, void* data, unsigned threads, unsigned flags) {
  const ompt::Entry entry(WEFT_CALLER, static_cast<int>(threads));
  Reducing region{function, data};
  // No region gets more members than that.
  const int most = threads > 0 ? static_cast<int>(threads) : icvs(self()).nthreads;
  register_reductions(*static_cast<Words**>(data), nullptr, nullptr, std::max(most, 1));
  void* words[weft::core::Post::kWords] = {nullptr, &region};
  parallel(run_reducing, words, clauses(threads, flags));
  return region.members;
}
WEFT_ABI_EXPORT(GOMP_parallel_reductions);

namespace weft::openmp::gomp {

void begin_extras(Member* member, Words* reductions, void** memory) noexcept {
  if (reductions == nullptr && memory == nullptr) return;
  member->extras = join_share(member, [&](LoopShare* share) {
    if (reductions != nullptr) {
      register_reductions(reductions, nullptr, nullptr, member->team->size);
      share->reductions = reductions;
    }
    if (memory != nullptr) {
      share->memory = std::calloc(1, reinterpret_cast<size_t>(*memory));
      if (share->memory == nullptr) base::lacking("no memory for a worksharing construct");
    }
  });
  if (memory != nullptr) *memory = member->extras->memory;
  if (reductions == nullptr) return;
  const auto* shared = static_cast<const Words*>(member->extras->reductions);
  if (shared != reductions) register_reductions(reductions, nullptr, shared, member->team->size);
  if (ompt::on()) ompt::close_work(member);
  begin_taskgroup(member);
  member->task->group->implied = true;
  member->task->group->gomp_reductions = reductions;
}

void end_extras(Member* member) noexcept {
  if (member->extras == nullptr) return;
  LoopShare* share = member->extras;
  member->extras = nullptr;
  leave_share(member, share);
}

}  // namespace weft::openmp::gomp

// A scope construct, which ends with what follows.
WEFT_ABI void weft_abi_GOMP_scope_start(Words* reductions) {
  const ompt::Entry entry(WEFT_CALLER);
  begin_extras(self(), reductions, nullptr);
  if (ompt::on()) ompt::begin_work(self(), ompt_work_scope, 1);
}
WEFT_ABI_EXPORT(GOMP_scope_start);

// Ends what a worksharing construct with reductions has begun, after the members have combined their copies.
WEFT_ABI void weft_abi_GOMP_workshare_task_reduction_unregister(bool cancelled) {
  const ompt::Entry entry(WEFT_CALLER);
  Member* member = self();
  Words* data = member->task->group->gomp_reductions;
  end_extras(member);
  end_taskgroup(member);
  if (member->number == 0) free_reductions(data);
  if (!cancelled) barrier(member, Barrier::end_of_workshare, WEFT_CALLER);
}
WEFT_ABI_EXPORT(GOMP_workshare_task_reduction_unregister);
