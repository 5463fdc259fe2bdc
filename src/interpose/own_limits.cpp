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
  return self->team->level == 0 && syscall(SYS_gettid) == getpid();
}

// Whether fewer carriers than there are jobs may run a call of the copy.
bool can_have_own(const Copy* copy) noexcept {
  return static_cast<size_t>(copy->index) < Icvs::kLibraries && copy->sees(kArraysSeen | kListsSeen) &&
         base::options().reproducible != base::TriState::no;
}

ThreadsOfLibrary limit_of(const openmp::Member* self, const Copy* copy) noexcept {
  return self->task->icvs->library_limits[static_cast<size_t>(copy->index)];
}

void note(openmp::Member* self, const Copy* copy, ThreadsOfLibrary limit) noexcept {
  if (limit != limit_of(self, copy)) openmp::own_icvs(self).library_limits[static_cast<size_t>(copy->index)] = limit;
}

}  // namespace

int limit(Copy* copy) noexcept {
  const int own = own_limit(copy);
  return own != INT_MAX ? own : process_limit(copy);
}

void set_limit(Copy* copy, int threads) noexcept {
  if (!can_have_own(copy)) return set_process_limit(copy, threads);
  openmp::Member* self = openmp::self();
  const int of_process = process_limit(copy);
  const ThreadsOfLibrary before = limit_of(self, copy);
  const bool initial = is_initial_task(self);
  const bool raises = threads > of_process;
  if (initial || raises || before.sets_process) {
    set_process_limit(copy, threads);
    const bool goes_on = !initial && (raises || threads == of_process);
    return note(self, copy, {.threads = 0, .sets_process = goes_on});
  }
  const int own = threads == of_process ? 0 : std::min(threads, ThreadsOfLibrary::kMost);
  note(self, copy, {.threads = static_cast<uint16_t>(own & ThreadsOfLibrary::kMost), .sets_process = 0});
}

int own_limit(const Copy* copy) noexcept {
  if (!can_have_own(copy)) return INT_MAX;
  const int own = limit_of(openmp::self(), copy).threads;
  return own != 0 ? own : INT_MAX;
}

}  // namespace weft::interpose
