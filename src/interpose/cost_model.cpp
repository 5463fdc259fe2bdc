// SPDX-License-Identifier: Apache-2.0
#include "interpose/cost_model.h"

#include <algorithm>
#include <bit>

namespace weft::interpose {

namespace {

// A division that gains less than this costs more elsewhere: the caller finds its data in another CPU's cache.
constexpr double kGainWanted = 1.1;
// A call that takes this many times as long alone need not be measured to the end.
constexpr int64_t kHopeless = 4;

// Some hundred kinds are many; what finds no free entry soon is divided as ever.
constexpr size_t kKinds = 512;
constexpr size_t kTries = 16;
std::array<Grain, kKinds> g_kinds;  // by their numbers

// A 64-bit hash.
uint64_t mixed(uint64_t x) noexcept {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93;
  return x ^ x >> 32;
}

}  // namespace

Grain::Plan Grain::plan() noexcept {
  if (waits_.load(std::memory_order_relaxed)) return {};
  const Plan now = plan_.load(std::memory_order_relaxed);
  if (now.timed) return now;
  const uint32_t left = left_.load(std::memory_order_relaxed);
  if (left > 0) {
    left_.store(left - 1, std::memory_order_relaxed);
    return now;
  }
  constexpr Plan kAgain{Way::divided, true};
  plan_.store(kAgain, std::memory_order_relaxed);
  return kAgain;
}

void Grain::ran(Plan plan, int64_t ns, bool helped) noexcept {
  if (helped && plan.way == Way::alone) {
    wait_for_each_other(routine_.load(std::memory_order_relaxed));
    return;
  }
  if (busy_.exchange(true, std::memory_order_acquire)) return;
  if (plan == plan_.load(std::memory_order_relaxed)) learn(plan.way, ns, helped);
  busy_.store(false, std::memory_order_release);
}

void Grain::learn(Way way, int64_t ns, bool helped) noexcept {
  switch (way) {
    case Way::divided:
      if (!add(ns)) return;
      divided_ns_ = median();
      if (divided_ns_ > kLongNs) {
        settle(Way::divided);
      } else {
        go_on({trials_ < kTrials ? Way::trial : Way::alone, true});
      }
      return;
    case Way::trial:
      // Once the caller may just have lost its CPU.
      if (helped && ++helped_ == kTrials) wait_for_each_other(routine_.load(std::memory_order_relaxed));
      if (!helped && ++trials_ == kTrials) go_on({Way::alone, true});
      return;
    case Way::alone:
      if (warm_ && ns > kHopeless * divided_ns_) {
        settle(Way::divided);
      } else if (add(ns)) {
        const bool gains = static_cast<double>(median()) > kGainWanted * static_cast<double>(divided_ns_);
        settle(gains ? Way::divided : Way::alone);
      }
      return;
  }
}

// The first one of each way finds caches cold and threads asleep. Whether there are enough now.
bool Grain::add(int64_t ns) noexcept {
  if (!warm_) {
    warm_ = true;
    return false;
  }
  samples_[static_cast<size_t>(count_++)] = ns;
  return count_ == kSamples;
}

int64_t Grain::median() noexcept {
  const auto middle = samples_.begin() + kSamples / 2;
  std::nth_element(samples_.begin(), middle, samples_.end());
  return *middle;
}

void Grain::go_on(Plan plan) noexcept {
  warm_ = false;
  count_ = 0;
  plan_.store(plan, std::memory_order_relaxed);
}

void Grain::settle(Way way) noexcept {
  rest_ = way == settled_ ? std::min(4 * rest_, kLongestRest) : kFirstRest;
  settled_ = way;
  left_.store(rest_, std::memory_order_relaxed);
  go_on({way, false});
}

Grain* Grain::of(const void* routine, int count, long m, long n) noexcept {
  const auto order = [](long size) { return static_cast<uint64_t>(std::bit_width(static_cast<uint64_t>(size))); };
  // Two kinds that have the same number by chance are taken for one, which is a loss of time at the worst.
  const uint64_t shape = static_cast<uint64_t>(count) << 16 | order(m) << 8 | order(n);
  const uint64_t number = mixed(mixed(reinterpret_cast<uintptr_t>(routine)) ^ shape) | 1;
  for (size_t i = 0; i < kTries; ++i) {
    Grain& grain = g_kinds[((number >> 1) + i) % kKinds];
    uint64_t seen = grain.kind_.load(std::memory_order_relaxed);
    if (seen == 0 && grain.kind_.compare_exchange_strong(seen, number, std::memory_order_relaxed)) {
      const bool waits = std::any_of(g_kinds.begin(), g_kinds.end(), [=](const Grain& other) {
        return other.routine_.load(std::memory_order_relaxed) == routine &&
               other.waits_.load(std::memory_order_relaxed);
      });
      grain.waits_.store(waits, std::memory_order_relaxed);
      grain.routine_.store(routine, std::memory_order_relaxed);
      return &grain;
    }
    if (seen == number) return &grain;
  }
  return nullptr;
}

void Grain::wait_for_each_other(const void* routine) noexcept {
  for (Grain& grain : g_kinds) {
    if (grain.routine_.load(std::memory_order_relaxed) == routine) grain.waits_.store(true, std::memory_order_relaxed);
  }
}

}  // namespace weft::interpose
