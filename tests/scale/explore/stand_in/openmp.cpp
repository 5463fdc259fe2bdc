// SPDX-License-Identifier: Apache-2.0
#include "stand_in/openmp.h"

#include "core/api/wait.h"
#include "openmp/record/record_cache.h"
#include "openmp/record/team.h"
#include "openmp/settings/startup.h"
#include "openmp/task/free_agent.h"
#include "openmp/task/stand_in.h"
#include "openmp/task/task.h"
#include "openmp/tool/tool.h"

namespace weft::explore {

openmp::Task* StandInTask::prepare() {
  task.data = this;
  task.body = [](openmp::Task* self) {
    auto* stand_in = static_cast<StandInTask*>(self->data);
    ++stand_in->runs;
    if (stand_in->counter != nullptr) ++*stand_in->counter;
  };
  return &task;
}

}  // namespace weft::explore

namespace weft::openmp {

tool::Presence tool::g_presence{{tool::kNone}};

void start_runtime() noexcept {}
void free_task(Task* task) noexcept { ++static_cast<explore::StandInTask*>(task->data)->freed; }
Task* take_given(bool (*)(const Task*, const Member*), const Member*) noexcept { return nullptr; }
void block_between_tasks(const Member*) noexcept { core::block(); }
// A program has one stand-in.
Member* take_frame() noexcept {
  static Member frame;
  return &frame;
}
void put_frame(Member*) noexcept {}
AgentAbsence::AgentAbsence(const Member*) noexcept : is_agent_(false) {}
AgentAbsence::~AgentAbsence() = default;

}  // namespace weft::openmp
