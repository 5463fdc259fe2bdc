// SPDX-License-Identifier: Apache-2.0
#include "openmp/record/task_inbox.h"

namespace weft::openmp {

void TaskInbox::put(Task* task) noexcept {
  lock_.lock();
  Task* before = last_;
  if (before != nullptr && before->priority < task->priority) {
    before = nullptr;
    for (Task* at = first_; at->priority >= task->priority; at = at->next_free) before = at;
  }
  Task*& link = before != nullptr ? before->next_free : first_;
  task->next_free = link;
  link = task;
  if (task->next_free == nullptr) last_ = task;
  count(1);
  lock_.unlock();
}

}  // namespace weft::openmp
