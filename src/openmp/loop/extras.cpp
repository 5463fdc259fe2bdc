// SPDX-License-Identifier: Apache-2.0
#include "openmp/loop/extras.h"

#include <cstdlib>

#include "base/message.h"
#include "openmp/loop/worksharing.h"
#include "openmp/record/team.h"
#include "openmp/task/task.h"
#include "openmp/tool/events.h"

namespace weft::openmp {

void begin_extras(Member* member, Words* reductions, void** memory) noexcept {
  if (reductions == nullptr && memory == nullptr) return;
  member->extras = join_workshare(member, [&](Workshare* share) {
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
  tool::close_work(member);
  begin_taskgroup(member);
  make_reducing(member->task->group, reductions);
}

void end_extras(Member* member) noexcept {
  if (member->extras == nullptr) return;
  Workshare* share = member->extras;
  member->extras = nullptr;
  leave_workshare(member, share);
}

void end_extras_with_reductions(Member* member) noexcept {
  Words* data = member->task->group->reduction_blocks;
  end_extras(member);
  end_taskgroup(member);
  if (member->number == 0) free_reductions(data);
}

}  // namespace weft::openmp
