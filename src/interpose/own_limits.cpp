// SPDX-License-Identifier: Apache-2.0
#include "interpose/own_limits.h"

#include <algorithm>
#include <climits>

#include <sys/syscall.h>
#include <unistd.h>

#include "base/options.h"
#include "interpose/copy.h"
#include "interpose/thread_share.h"
#include "interpose/wait_loops.h"
#include "openmp/record/team.h"

namespace weft::interpose {

namespace {

using openmp::Icvs;
using openmp::ThreadsOfLibrary;

bool is_initial_task(const openmp::Member* self) noexcept {
  return self->team->root != nullptr && self->task == &self->implicit && syscall(SYS_gettid) == getpid();
}

// Whether fewer carriers than there are jobs may run a call of the copy.
bool can_have_own(const Copy* copy) noexcept {
  return static_cast<size_t>(copy->index) < Icvs::kLibraries && copy->sees(kArraysSeen | kListsSeen) &&
         base::options().reproducible != base::TriState::no;
}

ThreadsOfLibrary limit_of(const openmp::Member* self, const Copy* copy) noexcept {
  return self->task->icvs->limits_of_libraries[static_cast<size_t>(copy->index)];
}

void note(openmp::Member* self, const Copy* copy, ThreadsOfLibrary limit) noexcept {
  if (limit != limit_of(self, copy))
    openmp::own_icvs(self).limits_of_libraries[static_cast<size_t>(copy->index)] = limit;
}

}  // namespace

int limit(Copy* copy) noexcept {
  const int own = own_limit(copy);
  return own != INT_MAX ? own : process_limit(copy);
}

void set_limit(Copy* copy, int threads) noexcept {
  if (!can_have_own(copy)) return set_process_limit(copy, threads);
  openmp::Member* self = openmp::self();
  if (is_initial_task(self)) return set_process_limit(copy, threads);
  const auto most = [](int number) { return static_cast<uint16_t>(std::min(number, ThreadsOfLibrary::kMost)); };
  const int of_process = process_limit(copy);
  ThreadsOfLibrary own = limit_of(self, copy);
  const bool sets_process = own.sets_process != 0 && self->task->implicit;
  if (own.threads == 0 && !sets_process) own.before = most(of_process);
  if (threads == own.before && (own.threads != 0 || sets_process)) {
    // It puts back what it was told.
    if (sets_process) set_process_limit(copy, threads);
    return note(self, copy, {});
  }
  own.sets_process = sets_process || threads > of_process;
  if (own.sets_process != 0) set_process_limit(copy, threads);
  own.threads = own.sets_process != 0 ? 0 : most(threads) & ThreadsOfLibrary::kMost;
  note(self, copy, own);
}

int own_limit(const Copy* copy) noexcept {
  if (!can_have_own(copy)) return INT_MAX;
  const int own = limit_of(openmp::self(), copy).threads;
  return own != 0 ? own : INT_MAX;
}

}  // namespace weft::interpose
