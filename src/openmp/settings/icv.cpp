// SPDX-License-Identifier: Apache-2.0
#include "openmp/settings/icv.h"

#include <algorithm>
#include <array>
#include <climits>
#include <mutex>

#include "base/keep_errno.h"
#include "base/message.h"
#include "base/options.h"
#include "openmp/affinity/affinity.h"
#include "platform/cpus.h"
#include "platform/futex_lock.h"

namespace weft::openmp {

namespace {

// Lists of numbers of threads, linked from front to back, so that equal ends are shared. An element never changes, and
// its number reaches other threads with the ICVs of a team, so it is read without the lock.
struct Element {
  int value = 0;
  uint8_t next = 0;
};
constexpr int kElements = 256;
std::array<Element, kElements> g_elements;
int g_last_element = 0;
platform::FutexLock g_elements_lock;

}  // namespace

namespace {

// Threads of a limit that are reserved. More than there are: none are.
struct Reserved {
  int structured;
  int free_agent;
};
Reserved reserved_of(int limit) noexcept {
  const base::ThreadsReserve& reserve = base::options().threads_reserve;
  const int structured = reserve.structured == base::ThreadsReserve::kAll ? limit : std::max(reserve.structured, 1);
  const int free_agent = reserve.free_agent == base::ThreadsReserve::kAll ? limit - 1 : reserve.free_agent;
  if (int64_t{structured} + free_agent > limit) return {1, 0};
  return {structured, free_agent};
}

// Without a limit there is enough for all.
int without(int limit, int reserved) noexcept {
  return limit == INT_MAX && reserved < INT_MAX - 1 ? INT_MAX : limit - reserved;
}

}  // namespace

void set_thread_limit(Icvs& icvs, int limit) noexcept {
  icvs.thread_limit = limit;
  icvs.structured_limit = without(limit, reserved_of(limit).free_agent);
}

int free_agent_limit() noexcept {
  static const int limit = [] {
    const int all = base::options().thread_limit;
    return without(all, reserved_of(all).structured);
  }();
  return limit;
}

int num_procs() noexcept {
  static const int procs = [] {
    const base::KeepErrno keep;
    const int wanted = base::options().num_cpus;
    if (wanted > 0) return wanted;
    const int usable = platform::cpu_budget().usable;
    return base::options().kmp_hw_subset.value != nullptr ? std::min(usable, affinity().process.count()) : usable;
  }();
  return procs;
}

void enter_level(Icvs& icvs, int level) noexcept {
  for (ThreadsOfLibrary& own : icvs.limits_of_libraries) own.sets_process = 0;
  if (icvs.nthreads_tail != 0) {
    const Element& element = g_elements[icvs.nthreads_tail];
    icvs.nthreads = element.value;
    icvs.nthreads_tail = element.next;
    return;
  }
  const base::ThreadList& list = base::options().num_threads;
  if (list.count > 1) icvs.nthreads = list.values[std::min(level, list.count - 1)];
}

uint8_t nthreads_tail(const int* list, int count) noexcept {
  const std::lock_guard guard(g_elements_lock);
  uint8_t next = 0;
  for (int i = count - 1; i >= 0; --i) {
    const int last_number = g_last_element;
    int found = 1;
    // The last element is followed by itself.
    while (found <= last_number &&
           (g_elements[found].value != list[i] || g_elements[found].next != (next != 0 ? next : found))) {
      ++found;
    }
    if (found > last_number) {
      if (found == kElements) {
        base::warn("num_threads with a list: too many different ones; %d is not used for a nested region", list[i]);
        continue;
      }
      g_elements[found] = {list[i], static_cast<uint8_t>(next != 0 ? next : found)};
      g_last_element = found;
    }
    next = static_cast<uint8_t>(found);
  }
  return next;
}

}  // namespace weft::openmp
