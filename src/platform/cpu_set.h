// SPDX-License-Identifier: Apache-2.0
// Sets of CPUs, by the kernel's numbers, and the affinity masks of threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::platform {

class CpuSet {
 public:
  static constexpr int kMost = 8192;  // what Linux can be built for

  bool has(int cpu) const noexcept { return (words_[cpu / 64] >> (cpu % 64) & 1) != 0; }
  void add(int cpu) noexcept { words_[cpu / 64] |= uint64_t{1} << (cpu % 64); }
  void remove(int cpu) noexcept { words_[cpu / 64] &= ~(uint64_t{1} << (cpu % 64)); }
  // The smallest CPU of the set that is `from` or greater; -1: none.
  int next(int from) const noexcept;
  int first() const noexcept { return next(0); }
  bool empty() const noexcept { return first() < 0; }
  int count() const noexcept;

  void add_all(const CpuSet& other) noexcept;
  void remove_all(const CpuSet& other) noexcept;
  void keep_only(const CpuSet& other) noexcept;
  bool operator==(const CpuSet&) const noexcept = default;

  // For system calls.
  static constexpr size_t kBytes = kMost / 8;
  void* data() noexcept { return words_.data(); }
  const void* data() const noexcept { return words_.data(); }

 private:
  std::array<uint64_t, kMost / 64> words_{};
};

// for (int cpu : each(set))
class CpuRange {
 public:
  class Iterator {
   public:
    Iterator(const CpuSet* set, int cpu) noexcept : set_(set), cpu_(cpu) {}
    int operator*() const noexcept { return cpu_; }
    Iterator& operator++() noexcept { return cpu_ = set_->next(cpu_ + 1), *this; }
    bool operator!=(const Iterator& other) const noexcept { return cpu_ != other.cpu_; }

   private:
    const CpuSet* set_;
    int cpu_;
  };
  explicit CpuRange(const CpuSet& set) noexcept : set_(&set) {}
  Iterator begin() const noexcept { return {set_, set_->first()}; }
  Iterator end() const noexcept { return {set_, -1}; }

 private:
  const CpuSet* set_;
};
inline CpuRange each(const CpuSet& set) noexcept { return CpuRange(set); }
// The set must outlive the loop: one that a call returns is gone before the first turn.
CpuRange each(const CpuSet&&) = delete;

// A list as the kernel writes it, "0-3,8"; what follows that is ignored.
CpuSet parse_cpu_list(const char* text) noexcept;

// The same form. Returns the length of the whole text; at most `room` - 1 characters and a null are written.
size_t format_cpu_list(const CpuSet& set, char* text, size_t room) noexcept;

// The calling OS thread's affinity mask; all CPUs that can be when the kernel does not say.
CpuSet thread_cpus() noexcept;

// Sets the mask of the calling OS thread; false when the kernel refuses.
bool bind_thread(const CpuSet& cpus) noexcept;

// The same for what pthread_self() stands for, which under a donated identity is another thread: asked by that name,
// the C library answers for it.
void bind_identity_thread(const CpuSet& cpus) noexcept;

}  // namespace weft::platform
