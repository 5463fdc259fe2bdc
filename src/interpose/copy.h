// SPDX-License-Identifier: Apache-2.0
// The copies of OpenBLAS in the process whose jobs the pool runs.
#pragma once

#include <atomic>
#include <cstdint>

#include "interpose/numbers.h"
#include "interpose/openblas.h"

namespace weft::interpose {

struct Copy {
  Copy(const OpenBlas& found, uintptr_t object_base, const char* file) noexcept;
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;
  ~Copy();

  const OpenBlas library;
  const uintptr_t base;  // the address of the object, by which the copy is known
  char* const path;      // the path of its file, without links; null: it has none

  // Whether all jobs of the copy come to weft, also those that it would give to its own threads without asking, and it
  // has no threads: the audit library has seen to that. Otherwise the first numbers are those of its threads.
  const bool whole;
  int first_number() const noexcept { return whole ? 0 : __atomic_load_n(library.own, __ATOMIC_RELAXED) - 1; }
  Numbers numbers;

  // Which kinds of jobs call weft when they wait (interpose/wait_loops.h). A kind that has once waited without a call
  // does not count any more. Relaxed: no other data belongs to the bits.
  std::atomic<uint32_t> waits;
  bool sees(uint32_t jobs) const noexcept { return (waits.load(std::memory_order_relaxed) & jobs) == jobs; }

  // The library's function that runs a job, known since its first call. Relaxed: the library stays mapped.
  std::atomic<Job> job{nullptr};

  int index = 0;  // among the copies

  // `limit`: how many jobs the program lets a call have. The other: what weft has last written to the library's
  // variable. See thread_share.h, whose lock guards both.
  int limit = 0;
  int written = 0;
};

// The copy that `address` lies in; a new one is added. Null: the copy cannot be used.
Copy* copy_at(const void* address) noexcept;

// The same for the address of a function that runs jobs; faster.
Copy* copy_of(Job job) noexcept;

// The copy in the file `path`, or null.
Copy* copy_in(const char* path) noexcept;

// Takes over all mapped copies that run their jobs themselves: the pool runs their jobs from now on. Returns how many
// there were. Thread-safe, also while other threads are inside of them.
int adopt_copies() noexcept;

// The copies that have been added so far; they stay for ever.
int copy_count() noexcept;
Copy* copy(int index) noexcept;

}  // namespace weft::interpose
