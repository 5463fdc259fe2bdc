// SPDX-License-Identifier: Apache-2.0
// GOMP: reductions that tasks take part in, and scope constructs, which are there for them.
#include "openmp/gomp/gomp.h"
#include "openmp/loop/extras.h"
#include "openmp/record/record_cache.h"
#include "openmp/task/reduction_blocks.h"

using namespace weft::openmp;
using namespace weft::openmp::gomp;

WEFT_ABI(void, GOMP_taskgroup_reduction_register)(Words* data) { add_reduction_blocks(self(), data); }

// After the program has combined the copies.
WEFT_ABI(void, GOMP_taskgroup_reduction_unregister)(Words* data) { free_reductions(data); }

WEFT_ABI(void, GOMP_task_reduction_remap)(size_t count, size_t originals, void** addresses) {
  find_copies(self(), count, originals, addresses);
}

namespace {

// A region whose members' implicit tasks take part: all of them are in one group, which nobody waits for. Tasks find
// the reductions by the group and not by the member that runs them, since a member may run tasks of a region before its
// part of that region begins (linger()).
struct Reducing {
  Function function;
  void* data;
  TaskGroup* group;
  unsigned members = 1;
};

void run_reducing(void* const* words, int number) noexcept {
  auto* region = static_cast<Reducing*>(words[1]);
  Member* member = self();
  member->task->group = region->group;
  if (number == 0) region->members = static_cast<unsigned>(member->team->size);
  region->function(region->data);
  // A member of a persistent team keeps its implicit task for the next region.
  member->task->group = nullptr;
}

}  // namespace

// The answer is how many members' copies there are to combine.
WEFT_ABI(unsigned, GOMP_parallel_reductions)(Function function, void* data, unsigned threads, unsigned flags) {
  const tool::Entry entry(WEFT_CALLER, static_cast<int>(threads));
  // The data begins with the address of the blocks.
  Words* blocks = *static_cast<Words**>(data);
  const int most = planned_team_size(self(), static_cast<int>(threads));
  register_reductions(blocks, nullptr, nullptr, most);
  Reducing region{function, data, make_region_group(blocks)};
  void* words[weft::core::Post::kWords] = {nullptr, &region};
  parallel(run_reducing, words, clauses(threads, flags));
  put_group(region.group);
  return region.members;
}

// A scope construct, which ends with what follows.
WEFT_ABI(void, GOMP_scope_start)(Words* reductions) {
  const tool::Entry entry(WEFT_CALLER);
  begin_extras(self(), reductions, nullptr);
  tool::begin_work(self(), ompt_work_scope, 1);
}

// Ends what a worksharing construct with reductions has begun, after the members have combined their copies.
WEFT_ABI(void, GOMP_workshare_task_reduction_unregister)(bool cancelled) {
  const tool::Entry entry(WEFT_CALLER);
  Member* member = self();
  end_extras_with_reductions(member);
  if (!cancelled) barrier(member, Barrier::end_of_workshare, WEFT_CALLER);
}
