// SPDX-License-Identifier: Apache-2.0
// The copies of OpenBLAS in the process whose jobs the pool runs.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "interpose/openblas.h"
#include "platform/spinlock.h"

namespace weft::interpose {

// The numbers of a copy's jobs: no two that run at the same time have the same one.
class Numbers {
 public:
  static constexpr int kMost = 1024;

  void set_most(int most) noexcept { most_ = most < kMost ? most : kMost; }
  int most() const noexcept { return most_; }
  // Takes `count` numbers, from `first` on. Waits until there are that many free; there must be that many in all.
  void take(int first, int count, uint16_t* numbers) noexcept;
  void put(int count, const uint16_t* numbers) noexcept;

  // Around a fork. In the child nobody else has any.
  void before_fork() noexcept { lock_.lock(); }
  void after_fork(bool in_child) noexcept {
    if (in_child) taken_.fill(0);
    lock_.unlock();
  }

 private:
  bool try_take(int first, int count, uint16_t* numbers) noexcept;

  int most_ = 0;
  platform::Spinlock lock_;
  std::array<uint64_t, kMost / 64> taken_{};
  std::atomic<int> waiting_{0};
  std::atomic<uint32_t> returns_{0};  // callers that wait for numbers sleep on it
};

struct Copy {
  Copy(const OpenBlas& found, uintptr_t object_base, const char* file) noexcept;
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;
  ~Copy();

  const OpenBlas library;
  const uintptr_t base;  // of the object, by which it is known
  char* const path;      // of its file, without links; null: it has none

  // All of its jobs come to weft, also those that it would give to its own threads without asking, and it has none: the
  // audit library has seen to that. Otherwise the first numbers are those of its threads.
  const bool whole;
  int first_number() const noexcept { return whole ? 0 : __atomic_load_n(library.own, __ATOMIC_RELAXED) - 1; }
  Numbers numbers;

  // Which jobs say when they wait (interpose/wait_loops.h), as far as they are believed: those that have waited without
  // a word once never are again. Relaxed: bits, and nothing comes with them.
  std::atomic<uint32_t> waits;
  bool sees(uint32_t jobs) const noexcept { return (waits.load(std::memory_order_relaxed) & jobs) == jobs; }

  // What runs a job; known since its first call. Relaxed: a function of a library that stays mapped.
  std::atomic<Job> job{nullptr};

  // How many jobs the program lets a call have; and what stands in the library's variable since weft wrote it last. See
  // thread_share.h, whose lock guards both.
  int limit = 0;
  int written = 0;
};

// The copy that `address` lies in; it is added when it is new. Null: it cannot be used.
Copy* copy_at(const void* address) noexcept;

// The copy whose jobs `job` runs: the same, quickly.
Copy* copy_of(Job job) noexcept;

// The copy in the file `path`, or null.
Copy* copy_in(const char* path) noexcept;

// Has the pool run the jobs of all copies that are mapped and run them themselves; how many there were. Thread-safe,
// also while others are inside of them.
int adopt_copies() noexcept;

// Those that have been added so far; they stay for ever.
int copy_count() noexcept;
Copy* copy(int index) noexcept;

}  // namespace weft::interpose
