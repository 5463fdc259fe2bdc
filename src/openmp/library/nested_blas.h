// SPDX-License-Identifier: Apache-2.0
// Libraries that switch their own parallelism off inside a parallel region (docs/explanation/nested-blas.md). They ask
// omp_get_max_threads and omp_in_parallel before they open a region; the answer depends on the caller.
#pragma once

#include "openmp/library/caller.h"

namespace weft::core {
struct ParallelCall;
}

namespace weft::openmp {

struct Member;
struct Right;
struct ThreadGrant;

// Answers to omp_get_max_threads and omp_in_parallel; the latter for the code at `caller`.
int max_threads(Member* self, const Call& call) noexcept;
int in_parallel(Member* self, const void* caller) noexcept;

// omp_set_num_threads(threads): true if it must not change the caller's ICV.
bool is_own_answer(int threads, const Call& call) noexcept;

// How many threads the calling thread's last question was answered with; 0: none, or 1.
inline thread_local int t_threads_answered = 0;

// Whether that was more than one.
inline bool is_answered() noexcept { return t_threads_answered > 1; }

// The size of a region that the code at `caller` opens after such an answer, or where the library counts itself
// (caller.h); 0: an ordinary region.
int gang_size(const void* caller) noexcept;

// The same for every region, by one look at what its thread has been answered. Null: the caller is no library.
inline int promised_threads(const void* caller) noexcept {
  if (__builtin_expect(!is_answered() && !g_counts_itself.load(std::memory_order_relaxed), 1)) return 0;
  return caller != nullptr ? gang_size(caller) : 0;
}

// What the answer has reserved under a limit of threads, for the region that it was about; if that has become larger,
// more. Only where there is a limit.
ThreadGrant take_over_grant(const Member* self, int size) noexcept;

// No such region has come: another one begins.
void drop_answer() noexcept;

// The region has been published. Returns how many of its members nobody has come for, and how many carriers are idle.
struct Missing {
  int members;
  int idle;
};
Missing begin_gang(core::ParallelCall* region, int size) noexcept;

// What the caller was answered, with its right and its turn, is the region's while that runs.
struct RegionAnswer {
  int threads;
  Right* right;
  bool turn;
};
RegionAnswer hand_over_answer() noexcept;
void take_back_answer(const RegionAnswer& answer) noexcept;

// The region has ended; others may be answered more than 1.
void end_gang() noexcept;

}  // namespace weft::openmp
