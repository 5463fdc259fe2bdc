// SPDX-License-Identifier: Apache-2.0
#include "openmp/library/call_right.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#include <unistd.h>

#include "base/options.h"
#include "openmp/record/thread_limit.h"
#include "platform/cycles.h"

namespace weft::openmp {

namespace {

constexpr int64_t kStaleNs = 2'000'000;
// A thread that has given a right back is still inside of the library for a moment: of its CPU time, which on a busy
// machine it may have to wait for.
constexpr int64_t kStillInsideNs = 50'000'000;
constexpr useconds_t kNapUs = 500;
constexpr int kMaxRights = 64;

constexpr int64_t kUnheld = 0;
constexpr int64_t kInUse = INT64_MAX;

struct alignas(64) Right {
  // kUnheld, kInUse, or the time of the promise. Acquire by those that take it, release by those that let go: the next
  // holder comes after.
  std::atomic<int64_t> state{kUnheld};
  ThreadGrant reserved;
  // For a fork: the thread that has given it back last, and when; when any other has. Written by the holder. Relaxed:
  // in the child nobody writes, and before it an old value is an earlier time.
  std::atomic<const void*> last{nullptr};
  std::atomic<int64_t> last_left_ns{0};
  std::atomic<int64_t> others_left_ns{0};
};
std::array<Right, kMaxRights> g_rights;

bool g_library_stuck = false;  // written in the child of a fork, before it has another thread

thread_local Right* t_right = nullptr;
thread_local int64_t t_state = kUnheld;  // what the caller has left there

const void* caller() noexcept { return &t_right; }

constexpr auto kRelaxed = std::memory_order_relaxed;

void note_others(Right& right, int64_t left_ns) noexcept {
  if (right.others_left_ns.load(kRelaxed) < left_ns) right.others_left_ns.store(left_ns, kRelaxed);
}

void note_leave(Right& right) noexcept {
  if (right.last.load(kRelaxed) != caller()) {
    note_others(right, right.last_left_ns.load(kRelaxed));
    right.last.store(caller(), kRelaxed);
  }
  right.last_left_ns.store(platform::now_ns(), kRelaxed);
}

// When another thread than the caller has given the right back last; 0: none has.
int64_t others_left_ns(const Right& right) noexcept {
  const int64_t left_ns = right.last.load(kRelaxed) != caller() ? right.last_left_ns.load(kRelaxed) : 0;
  return std::max(left_ns, right.others_left_ns.load(kRelaxed));
}

// What is known of other threads, by one that holds no right.
enum class Others { outside, may_still_be_inside, inside };
Others others() noexcept {
  const int64_t now = platform::now_ns();
  Others found = Others::outside;
  for (const Right& right : g_rights) {
    const int64_t state = right.state.load(kRelaxed);
    if (state == kInUse || (state != kUnheld && now - state < kStillInsideNs)) return Others::inside;
    const int64_t left_ns = others_left_ns(right);
    if (left_ns != 0 && now - left_ns < kStillInsideNs) found = Others::may_still_be_inside;
  }
  return found;
}

bool can_be_taken(int64_t state) noexcept {
  return state == kUnheld || (state != kInUse && platform::now_ns() - state >= kStaleNs);
}

}  // namespace

bool take_right() noexcept {
  const int rights = std::min(base::options().nested_regions, kMaxRights);
  for (int i = 0; i < rights; ++i) {
    Right& right = g_rights[static_cast<size_t>(i)];
    int64_t state = right.state.load(std::memory_order_relaxed);
    if (!can_be_taken(state)) continue;
    if (!right.state.compare_exchange_strong(state, kInUse, std::memory_order_acq_rel)) continue;
    if (state != kUnheld) {
      give_back(&right.reserved);
      note_others(right, state);
    }
    t_right = &right;
    t_state = kInUse;
    return true;
  }
  return false;
}

bool keep_right() noexcept {
  if (t_right == nullptr) return false;
  if (t_state == kInUse) return true;
  if (t_right->state.compare_exchange_strong(t_state, kInUse, std::memory_order_acq_rel)) {
    t_state = kInUse;
    return true;
  }
  t_right = nullptr;
  return false;
}

void promise_right() noexcept {
  t_state = platform::now_ns();
  t_right->state.store(t_state, std::memory_order_release);
}

void give_back_right() noexcept {
  if (!keep_right()) return;
  give_back(&t_right->reserved);
  note_leave(*t_right);
  t_right->state.store(kUnheld, std::memory_order_release);
  t_right = nullptr;
}

bool right_is_free() noexcept { return can_be_taken(g_rights[0].state.load(std::memory_order_relaxed)); }

bool has_promised() noexcept { return t_right != nullptr && t_state != kInUse; }

ThreadGrant* reserved_threads() noexcept { return &t_right->reserved; }

ThreadGrant take_reserved_threads() noexcept {
  return t_right != nullptr ? std::exchange(t_right->reserved, {}) : ThreadGrant();
}

bool library_is_stuck() noexcept { return g_library_stuck; }

void await_leavers() noexcept {
  const int64_t begin = platform::now_ns();
  while (others() == Others::may_still_be_inside && platform::now_ns() - begin < kStillInsideNs) usleep(kNapUs);
}

void forget_rights() noexcept {
  give_back_right();
  if (others() != Others::outside) g_library_stuck = true;
  for (Right& right : g_rights) {
    right.last_left_ns.store(0, kRelaxed);
    right.others_left_ns.store(0, kRelaxed);
    right.reserved = {};
    right.state.store(kUnheld, std::memory_order_relaxed);
  }
}

}  // namespace weft::openmp
