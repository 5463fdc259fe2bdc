// SPDX-License-Identifier: Apache-2.0
// Threads of a contention group, counted (thread_limit.h).
#pragma once

#include <atomic>

namespace weft::openmp {

struct Team;

// Members of a region beside the one that begins it, counted in the contention group of an initial thread until they
// are given back.
struct ThreadGrant {
  Team* contention_group = nullptr;
  int threads = 0;
};

struct TeamThreads {
  // Of an initial team: members beside the initial thread in the regions inside, where OMP_THREAD_LIMIT or thread_limit
  // bounds them. Relaxed: a count.
  std::atomic<int> added{0};
  ThreadGrant grant;  // of a region whose beginning and end are two calls
};

}  // namespace weft::openmp
