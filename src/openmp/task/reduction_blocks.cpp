// SPDX-License-Identifier: Apache-2.0
#include "openmp/task/reduction_blocks.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/message.h"
#include "openmp/record/team.h"
#include "openmp/task/task.h"

namespace weft::openmp {

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

Found find(const Task* task, Words address) noexcept {
  for (const TaskGroup* group = task->group; group != nullptr; group = group->outer) {
    if (const Found found = find_from(group->reduction_blocks, address); found.block != nullptr) return found;
  }
  return {};
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

void make_reducing(TaskGroup* group, Words* data) noexcept {
  group->implied = true;
  group->reduction_blocks = data;
}

TaskGroup* make_region_group(Words* data) noexcept {
  TaskGroup* group = make_group(nullptr);
  // All members would count in the same line.
  group->counted = false;
  make_reducing(group, data);
  return group;
}

void add_reduction_blocks(Member* self, Words* data) noexcept {
  TaskGroup* group = self->task->group;
  register_reductions(data, group->reduction_blocks, nullptr, self->team->size);
  group->reduction_blocks = data;
}

void free_reductions(Words* data) noexcept {
  Words* block = data;
  do {
    std::free(reinterpret_cast<void*>(block[kMemory]));
    block = next_of(block);
  } while (block != nullptr && block[kFirst] == 0);
}

void find_copies(Member* member, size_t count, size_t originals, void** addresses) noexcept {
  // The program combines one copy for each thread number, so there are no more than those.
  if (tasks_may_pause()) use_number(member);
  for (size_t i = 0; i < count; ++i) {
    const Found found = find(member->task, reinterpret_cast<Words>(addresses[i]));
    if (found.block == nullptr) base::fatal("in_reduction of a variable that no enclosing construct reduces");
    const Words* variable = found.block + kVariables + kWordsPerVariable * found.index;
    const Words copy = found.block[kMemory] + found.block[kSize] * static_cast<Words>(member->number) + variable[1];
    addresses[i] = reinterpret_cast<void*>(copy);
    if (i < originals) addresses[count + i] = reinterpret_cast<void*>(variable[0]);
  }
}

}  // namespace weft::openmp
