// SPDX-License-Identifier: Apache-2.0
// Relaxed everywhere: it is a count and no more.
#include "openmp/record/thread_limit.h"

#include <algorithm>

namespace weft::openmp {

namespace {

Team* group_of(const Member* self) noexcept {
  Team* team = self->team;
  while (team->level > 0) team = team->parent->team;
  return team;
}

// At least `least` members beside the caller, and at most `most` of them, as far as the limit allows; else none.
ThreadGrant take(Team* group, int least, int most, int limit) noexcept {
  int added = group->threads.added.load(std::memory_order_relaxed);
  int granted = 0;
  do {
    granted = std::clamp(limit - 1 - added, 0, most);
    if (granted < least) return {group, 0};
  } while (!group->threads.added.compare_exchange_weak(added, added + granted, std::memory_order_relaxed));
  return {group, granted};
}

}  // namespace

ThreadGrant take_threads(const Member* self, int size, int limit) noexcept {
  return take(group_of(self), 0, size - 1, limit);
}

bool take_all_threads(const Member* self, int size, int limit, ThreadGrant* grant) noexcept {
  *grant = take(group_of(self), size - 1, size - 1, limit);
  return grant->threads == size - 1;
}

ThreadGrant add_threads(const Member* self, int size) noexcept {
  Team* group = group_of(self);
  group->threads.added.fetch_add(size - 1, std::memory_order_relaxed);
  return {group, size - 1};
}

void give_back(ThreadGrant* grant) noexcept {
  if (grant->threads > 0) grant->contention_group->threads.added.fetch_sub(grant->threads, std::memory_order_relaxed);
  *grant = ThreadGrant();
}

void reduce(ThreadGrant* grant, int threads) noexcept {
  if (grant->threads <= threads) return;
  grant->contention_group->threads.added.fetch_sub(grant->threads - threads, std::memory_order_relaxed);
  grant->threads = threads;
}

int threads_left(const Member* self, int limit) noexcept {
  return std::max(1, limit - group_of(self)->threads.added.load(std::memory_order_relaxed));
}

}  // namespace weft::openmp
