// SPDX-License-Identifier: Apache-2.0
// Whether calls gain by being divided. The library divides by rules made for other machines; a call of some
// microseconds may take several times as long divided, since its data move from one CPU's cache to another's and back.
// So calls of a kind are tried both ways, and go on in the better one. docs/explanation/process.md.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace weft::interpose {

// How a call runs.
enum class Way : uint8_t {
  divided,
  trial,  // in sequence, with helpers that stand by: whether its jobs wait for each other is not known
  alone   // in sequence, by the caller
};

// What was measured of one kind of calls. Thread-safe.
class Grain {
 public:
  struct Plan {
    Way way = Way::divided;
    bool timed = false;

    bool operator==(const Plan&) const = default;
  };

  // The grain of calls that have `count` jobs of the routine, on operands of about `m` x `n` (within a factor of two
  // each). Null: there are too many kinds of calls.
  static Grain* of(const void* routine, int count, long m, long n) noexcept;

  // How the next call is to run.
  Plan plan() noexcept;

  // To be called when a timed call has ended: it has run as planned, in `ns` nanoseconds. `helped`: it was not divided,
  // and others had to help it.
  void ran(Plan plan, int64_t ns, bool helped) noexcept;

  static constexpr int kSamples = 7;
  static constexpr int kTrials = 2;
  static constexpr int64_t kLongNs = 100'000;  // in a call of this length the cost of dividing it does not matter
  static constexpr uint32_t kFirstRest = 2000;  // calls until it is measured again; then four times as many
  static constexpr uint32_t kLongestRest = 1u << 20;

 private:
  static void wait_for_each_other(const void* routine) noexcept;

  bool add(int64_t ns) noexcept;
  int64_t median() noexcept;
  void learn(Way way, int64_t ns, bool helped) noexcept;
  void go_on(Plan plan) noexcept;
  void settle(Way way) noexcept;

  // Relaxed, all but `busy_`: a call that still goes the former way is right too, and counts may be a little wrong.
  std::atomic<uint64_t> kind_{0};
  std::atomic<const void*> routine_{nullptr};
  std::atomic<Plan> plan_{Plan{Way::divided, true}};
  std::atomic<uint32_t> left_{0};  // calls until it is measured again
  std::atomic<bool> waits_{false};  // its jobs wait for each other

  // A lock that is only tried: its holder may change the fields below; a thread that does not get it records nothing.
  // Acquire and release.
  std::atomic<bool> busy_{false};
  bool warm_ = false;
  int count_ = 0;
  int trials_ = 0;
  int helped_ = 0;
  Way settled_ = Way::divided;
  uint32_t rest_ = kFirstRest;
  int64_t divided_ns_ = 0;
  std::array<int64_t, kSamples> samples_{};
};

}  // namespace weft::interpose
