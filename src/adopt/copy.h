// SPDX-License-Identifier: Apache-2.0
// The copies of OpenBLAS in the process whose jobs the pool runs.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "adopt/openblas.h"
#include "core/spinlock.h"

namespace weft::adopt {

// The numbers of a copy's jobs: no two that run at the same time have the same one. The first numbers are those of the
// threads that the library has itself; its LU factorization uses them without asking.
class Numbers {
 public:
  static constexpr int kMost = 1024;

  void set_most(int most) noexcept { most_ = most < kMost ? most : kMost; }
  // How many jobs a call can have, where the library has `own` threads itself.
  int room(int own) const noexcept { return most_ - own; }
  // Takes `count` numbers, not below `own`. Waits until there are so many; there is room for them.
  void take(int own, int count, uint16_t* numbers) noexcept;
  void put(int count, const uint16_t* numbers) noexcept;

 private:
  bool try_take(int own, int count, uint16_t* numbers) noexcept;

  int most_ = 0;
  core::Spinlock lock_;
  std::array<uint64_t, kMost / 64> taken_{};
  std::atomic<int> waiting_{0};
  std::atomic<uint32_t> returns_{0};  // who waits for numbers sleeps on it
};

struct Copy {
  explicit Copy(const OpenBlas& found, uintptr_t object_base) noexcept : library(found), base(object_base) {}

  const OpenBlas library;
  const uintptr_t base;  // of the object, by which it is known
  Numbers numbers;

  // How many jobs the program lets a call have; and what stands in the library's variable since weft wrote it last. See
  // shares.h, whose lock guards both.
  int limit = 0;
  int written = 0;

  // Threads that the library has itself. It may make more at any time.
  int own_threads() const noexcept { return __atomic_load_n(library.own, __ATOMIC_RELAXED) - 1; }
};

// The copy that the code at `address` belongs to; it is added when it is new. Null: it cannot be used.
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

}  // namespace weft::adopt
