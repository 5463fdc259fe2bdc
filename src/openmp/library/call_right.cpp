// SPDX-License-Identifier: Apache-2.0
#include "openmp/library/call_right.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <ctime>
#include <span>
#include <utility>

#include <pthread.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/keep_errno.h"
#include "base/options.h"
#include "openmp/record/thread_limit.h"
#include "platform/cycles.h"
#include "platform/system_call.h"
#include "platform/thread_state.h"

namespace weft::openmp {

namespace {

constexpr int64_t kStaleNs = 2'000'000;
// A thread that has given a right back is still inside of the library for a moment: of its CPU time, which on a busy
// machine it may have to wait for.
constexpr int64_t kStillInsideNs = 50'000'000;
constexpr long kNapUs = 500;
constexpr int kMaxRights = 64;

// What a library does with an answer, in CPU time and more: it compares, or makes or frees buffers for some hundred
// threads.
constexpr int64_t kComparesNs = 200'000;
constexpr int64_t kChangesNs = 2'000'000;
// A holder that sleeps for that long waits for no lock of the library's.
constexpr int64_t kSleepsNs = 20'000'000;
// From one look into /proc to the next.
constexpr int64_t kNextLookNs = 100'000;
// A holder that has used no CPU time for that long is past, where the system does not tell who sleeps.
constexpr int64_t kForgottenNs = 1'000'000'000;

constexpr int64_t kUnheld = 0;
constexpr int64_t kAnswering = INT64_MAX - 1;
constexpr int64_t kInUse = INT64_MAX;

thread_local const char t_identity = 0;

// For a fork: the thread that has left the library last, and when; when any other has. Relaxed: in the child nobody
// writes, and before it an old value is an earlier time.
class EndTimes {
 public:
  // The caller leaves.
  void note() noexcept {
    if (last_.exchange(&t_identity, kRelaxed) != &t_identity) note_others(last_left_ns_.load(kRelaxed));
    last_left_ns_.store(platform::now_ns(), kRelaxed);
  }

  void note_others(int64_t left_ns) noexcept {
    if (others_left_ns_.load(kRelaxed) < left_ns) others_left_ns_.store(left_ns, kRelaxed);
  }

  // When another thread than the caller has left last; 0: none has.
  int64_t others_left_ns() const noexcept {
    const int64_t left_ns = last_.load(kRelaxed) != &t_identity ? last_left_ns_.load(kRelaxed) : 0;
    return std::max(left_ns, others_left_ns_.load(kRelaxed));
  }

  void forget() noexcept {
    last_left_ns_.store(0, kRelaxed);
    others_left_ns_.store(0, kRelaxed);
  }

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;
  std::atomic<const void*> last_{nullptr};
  std::atomic<int64_t> last_left_ns_{0};
  std::atomic<int64_t> others_left_ns_{0};
};

}  // namespace

struct alignas(64) Right {
  // One of the above, or the time of the promise. Acquire by those that take it, release by those that let go: the next
  // holder comes after. Sequentially consistent where a region or an answer begins: against g_open_regions.
  std::atomic<int64_t> state{kUnheld};
  // Of the promise: its holder, and what its number does to the library's. Written while answering. Release, and
  // acquire by those that look: who sees one of a later promise sees that the state has changed.
  std::atomic<pid_t> holder{0};
  std::atomic<Change> change{Change::none};
  // The first look at a promise: when, and the CPU time that its holder had used; and the last look at its state. Of
  // the one that looks: acquire and release, as of a lock.
  std::atomic<bool> looked_at{false};
  int64_t seen_promise = 0;
  int64_t seen_used_ns = 0;
  int64_t last_used_ns = 0;  // at the last look; and since when it is that
  int64_t still_ns = 0;
  int64_t looked_ns = 0;
  ThreadGrant reserved;
  EndTimes ends;
};

namespace {

std::array<Right, kMaxRights> g_rights;

// Of all threads. Sequentially consistent: one that begins a region counts it and then looks at the rights, one that
// answers marks its right and then looks at the count, so one of the two sees the other.
std::atomic<int> g_open_regions{0};
EndTimes g_without_right;  // of those that have ended a region without one

bool g_library_stuck = false;  // written in the child of a fork, before it has another thread

thread_local Right* t_right = nullptr;
thread_local int64_t t_state = kUnheld;  // what the caller has left there

bool is_held(int64_t state) noexcept { return state >= kAnswering; }

std::span<Right> rights() noexcept {
  return std::span(g_rights).first(static_cast<size_t>(std::clamp(base::options().nested_regions, 1, kMaxRights)));
}

// What is known of other threads, by one that holds no right.
enum class Others { outside, may_still_be_inside, inside };
Others others() noexcept {
  if (g_open_regions.load(std::memory_order_relaxed) > 0) return Others::inside;
  const int64_t now = platform::now_ns();
  const auto is_leaving = [now](const EndTimes& ends) {
    const int64_t left_ns = ends.others_left_ns();
    return left_ns != 0 && now - left_ns < kStillInsideNs;
  };
  Others found = is_leaving(g_without_right) ? Others::may_still_be_inside : Others::outside;
  for (const Right& right : g_rights) {
    const int64_t state = right.state.load(std::memory_order_relaxed);
    if (is_held(state) || (state != kUnheld && now - state < kStillInsideNs)) return Others::inside;
    if (is_leaving(right.ends)) found = Others::may_still_be_inside;
  }
  return found;
}

// What the system says of the holder of a promise. One at a time looks, and others know no more meanwhile.
bool look_at_holder(Right& right, int64_t promise, pid_t holder, Change change) noexcept {
  // Its context has left the OS thread, which it does in no library's code.
  if (holder == static_cast<pid_t>(syscall(SYS_gettid))) return true;
  const int64_t now = platform::now_ns();
  const int64_t used = platform::cpu_time_of_thread_ns(holder);
  if (right.seen_promise != promise) {
    right.seen_promise = promise;
    right.seen_used_ns = used;
    right.last_used_ns = used;
    right.still_ns = now;
    right.looked_ns = 0;
  }
  if (used != right.last_used_ns) {
    right.last_used_ns = used;
    right.still_ns = now;
  }
  if (used == 0 || used < right.seen_used_ns) return true;  // it has ended
  if (used - right.seen_used_ns >= (change == Change::none ? kComparesNs : kChangesNs)) return true;
  // One that has used none for a while has either slept all the time or waited for a CPU.
  const int64_t since = now - right.still_ns;
  if (since < (change == Change::none ? kStaleNs : kSleepsNs)) return false;
  if (now - right.looked_ns < kNextLookNs) return false;
  right.looked_ns = now;
  switch (platform::thread_state(holder)) {
    case platform::ThreadState::sleeping:
    case platform::ThreadState::ended: return true;
    case platform::ThreadState::running: return false;
    case platform::ThreadState::unknown: return since >= kForgottenNs;
  }
  return false;
}

// Whether the holder of a promise has done what the library does with the answer.
bool is_past(Right& right, int64_t promise) noexcept {
  const pid_t holder = right.holder.load(std::memory_order_acquire);
  const Change change = right.change.load(std::memory_order_acquire);
  if (right.state.load(std::memory_order_acquire) != promise) return false;
  if (right.looked_at.exchange(true, std::memory_order_acquire)) return false;
  const base::KeepErrno keep;
  // Files of /proc are read, where a thread could be cancelled.
  int cancelled = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelled);
  const bool past = look_at_holder(right, promise, holder, change);
  pthread_setcancelstate(cancelled, nullptr);
  right.looked_at.store(false, std::memory_order_release);
  return past;
}

bool can_be_taken(Right& right, int64_t state) noexcept {
  if (state == kUnheld) return true;
  return !is_held(state) && platform::now_ns() - state >= kStaleNs && is_past(right, state);
}

// A thread cannot be cancelled meanwhile.
void nap(long microseconds) noexcept {
  const timespec time{0, microseconds * 1000};
  platform::system_call(SYS_nanosleep, &time, nullptr);
}

// Whether a library may be freeing buffers, or about to.
bool is_changing_number(Right& right) noexcept {
  const int64_t state = right.state.load();
  if (state == kUnheld || state == kInUse) return false;
  if (state == kAnswering) return true;
  return right.change.load(std::memory_order_acquire) == Change::smaller && !is_past(right, state);
}

// The caller's promise becomes `next`, or is somebody else's.
bool keep_as(int64_t next) noexcept {
  if (t_right == nullptr) return false;
  if (t_state == next) return true;
  if (t_right->state.compare_exchange_strong(t_state, next)) {
    t_state = next;
    return true;
  }
  t_right = nullptr;
  return false;
}

}  // namespace

bool take_right() noexcept {
  for (Right& right : rights()) {
    int64_t state = right.state.load(std::memory_order_acquire);
    if (!can_be_taken(right, state)) continue;
    if (!right.state.compare_exchange_strong(state, kAnswering)) continue;
    if (state != kUnheld) {
      give_back(&right.reserved);
      right.ends.note_others(state);
    }
    t_right = &right;
    t_state = kAnswering;
    return true;
  }
  return false;
}

bool keep_right() noexcept { return keep_as(kAnswering); }

void use_right() noexcept { keep_as(kInUse); }

bool may_change_number() noexcept {
  if (g_open_regions.load() != 0) return false;
  const auto is_in_the_way = [](Right& right) {
    const int64_t state = right.state.load();
    return &right != t_right && state != kUnheld && (is_held(state) || !is_past(right, state));
  };
  return std::ranges::none_of(rights(), is_in_the_way);
}

void promise_right(Change change) noexcept {
  // Not kept: a thread's identity moves from one OS thread to another.
  t_right->holder.store(static_cast<pid_t>(syscall(SYS_gettid)), std::memory_order_release);
  t_right->change.store(change, std::memory_order_release);
  t_state = platform::now_ns();
  t_right->state.store(t_state, std::memory_order_release);
}

void give_back_right() noexcept {
  if (t_right == nullptr || (!is_held(t_state) && !keep_right())) return;
  give_back(&t_right->reserved);
  t_right->ends.note();
  t_right->state.store(kUnheld, std::memory_order_release);
  t_right = nullptr;
}

bool right_is_free() noexcept { return can_be_taken(g_rights[0], g_rights[0].state.load(std::memory_order_acquire)); }

bool has_promised() noexcept { return t_right != nullptr && !is_held(t_state); }

Right* hand_over_right() noexcept { return std::exchange(t_right, nullptr); }

void take_back_right(Right* right) noexcept {
  t_right = right;
  t_state = kInUse;
}

void begin_library_region() noexcept {
  constexpr int64_t kSpinNs = 20'000;
  constexpr long kShortNapUs = 50;
  const base::KeepErrno keep;
  g_open_regions.fetch_add(1);
  const int64_t begin = platform::now_ns();
  for (Right& right : rights()) {
    while (&right != t_right && is_changing_number(right)) {
      if (platform::now_ns() - begin < kSpinNs) {
        platform::pause();
      } else {
        nap(kShortNapUs);
      }
    }
  }
}

void end_library_region() noexcept {
  if (t_right == nullptr) g_without_right.note();
  // Not below 0: a child of fork() has forgotten its parent's. Relaxed: the exchange looks again.
  int open = g_open_regions.load(std::memory_order_relaxed);
  while (open > 0 && !g_open_regions.compare_exchange_weak(open, open - 1)) {
  }
}

ThreadGrant* reserved_threads() noexcept { return &t_right->reserved; }

ThreadGrant take_reserved_threads() noexcept {
  return t_right != nullptr ? std::exchange(t_right->reserved, {}) : ThreadGrant();
}

bool library_is_stuck() noexcept { return g_library_stuck; }

void await_leavers() noexcept {
  const int64_t begin = platform::now_ns();
  while (others() == Others::may_still_be_inside && platform::now_ns() - begin < kStillInsideNs) nap(kNapUs);
}

void forget_rights() noexcept {
  give_back_right();
  if (others() != Others::outside) g_library_stuck = true;
  for (Right& right : g_rights) {
    right.ends.forget();
    right.looked_at.store(false, std::memory_order_relaxed);
    right.reserved = {};
    right.state.store(kUnheld, std::memory_order_relaxed);
  }
  g_open_regions.store(0, std::memory_order_relaxed);
  g_without_right.forget();
}

}  // namespace weft::openmp
