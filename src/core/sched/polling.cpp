// SPDX-License-Identifier: Apache-2.0
#include "core/sched/polling.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "core/sched/blocking.h"
#include "core/sched/start.h"
#include "core/sched/watcher.h"
#include "platform/cycles.h"

namespace weft::core {

namespace detail {

// Read at each look of those that wait and after each task; so what others write often stands elsewhere.
alignas(64) constinit std::atomic<uint32_t> g_wanted{0};

}  // namespace detail

namespace {

using detail::g_wanted;

constexpr int kMost = 16;

// A carrier that has work polls no more often. What a task waits for takes longer to come, as a rule.
constexpr int64_t kBetweenWorkNs = 20'000;
// Of the time that a sleeper has polled in vain.
constexpr int64_t kRestPart = 16;
constexpr int64_t kShortestRestNs = 50'000;
constexpr int64_t kLongestRestNs = 4'000'000;

struct Registered {
  PollingService call = nullptr;
  void* data = nullptr;
  PollingAnswer answer = PollingAnswer::left;
  int left = 0;  // the last answer that says so
};

// Touched with the right to poll.
alignas(64) constinit std::array<Registered, kMost> g_services{};
// Their bits.
constinit std::atomic<uint32_t> g_registered{0};
// How often poll_soon() has been called.
alignas(64) constinit std::atomic<uint32_t> g_calls{0};
// Who has that right: 0, or a number of the thread's. Acquire and release, as a lock's. What stands behind it is on a
// line that each poll writes anyway.
alignas(64) constinit std::atomic<uintptr_t> g_poller{0};
constinit std::atomic<bool> g_sleeper_elected{false};
// Relaxed: an old value makes a poll come early or late.
constinit std::atomic<int64_t> g_polled_ns{0};
// Since when nothing of what waits has gone on. Relaxed: g_pending brings it.
constinit std::atomic<int64_t> g_silent_since_ns{0};
// The sum of all `left`.
constinit std::atomic<int64_t> g_pending{0};
// The service that runs has let something go on. Touched with the right to poll.
constinit bool g_arrived = false;

// Another for each identity; a service does not leave its carrier.
uintptr_t own_number() noexcept {
  static constinit thread_local char t_mark = 0;
  return reinterpret_cast<uintptr_t>(&t_mark);
}

bool try_begin() noexcept {
  uintptr_t nobody = 0;
  return g_poller.load(std::memory_order_relaxed) == 0 &&
         g_poller.compare_exchange_strong(nobody, own_number(), std::memory_order_acquire, std::memory_order_relaxed);
}

void end() noexcept { g_poller.store(0, std::memory_order_release); }

bool polls_itself() noexcept { return g_poller.load(std::memory_order_relaxed) == own_number(); }

// For those that change the table; a service may take a while.
void begin() noexcept {
  while (!try_begin()) {
    if (!started() || !yield()) platform::pause();
  }
}

// With the right to poll, so that nobody else changes it. Release, with the acquire of pending_arrivals(): who sees
// that something waits sees since when.
void add_pending(int64_t more) noexcept {
  g_pending.store(g_pending.load(std::memory_order_relaxed) + more, std::memory_order_release);
}

void put(size_t index, const Registered& service) noexcept {
  add_pending(-g_services[index].left);
  g_services[index] = service;
  const uint32_t bit = uint32_t{1} << index;
  if (service.call != nullptr) {
    g_registered.fetch_or(bit);
  } else {
    g_registered.fetch_and(~bit);
  }
}

// Most looks find what the last one has found: they write nothing.
void count(Registered& service, int left, bool arrived) noexcept {
  // Relaxed: only who has the right to poll writes it.
  const bool begins = left > 0 && g_pending.load(std::memory_order_relaxed) == 0;
  if (begins || arrived || left < service.left) {
    g_silent_since_ns.store(platform::now_ns(), std::memory_order_relaxed);
  }
  if (left == service.left) return;
  add_pending(left - service.left);
  service.left = left;
}

// Whether it is to be called again.
bool call(Registered& service) noexcept {
  const int answer = service.call(service.data);
  const bool arrived = std::exchange(g_arrived, false);
  if (service.answer == PollingAnswer::left) count(service, std::max(answer, 0), arrived);
  return service.answer == PollingAnswer::done ? answer == 0 : answer != 0;
}

void call_services() noexcept {
  for (uint32_t left = g_wanted.load(); left != 0; left &= left - 1) {
    const auto index = static_cast<size_t>(__builtin_ctz(left));
    Registered& service = g_services[index];
    const uint32_t bit = uint32_t{1} << index;
    const uint32_t calls = g_calls.load();
    if (service.call != nullptr && call(service)) continue;
    if (service.answer == PollingAnswer::done) put(index, {});
    // A poll_soon() that found the bit set has counted itself before: sequentially consistent, so it is seen here.
    g_wanted.fetch_and(~bit);
    if (service.call != nullptr && g_calls.load() != calls) g_wanted.fetch_or(bit);
  }
}

}  // namespace

int register_polling_service(PollingService service, void* data, PollingAnswer answer) noexcept {
  if (service == nullptr) return EINVAL;
  if (polls_itself()) return EDEADLK;
  begin();
  const auto place = std::find_if(g_services.begin(), g_services.end(), [](const Registered& s) { return !s.call; });
  const bool there = place != g_services.end();
  if (there) put(static_cast<size_t>(place - g_services.begin()), {service, data, answer});
  end();
  if (there && answer == PollingAnswer::done) poll_soon();
  return there ? 0 : EAGAIN;
}

int unregister_polling_service(PollingService service, void* data) noexcept {
  if (polls_itself()) return EDEADLK;
  begin();
  const auto place = std::find_if(g_services.begin(), g_services.end(), [=](const Registered& s) {
    return service != nullptr && s.call == service && s.data == data;
  });
  const bool there = place != g_services.end();
  if (there) put(static_cast<size_t>(place - g_services.begin()), {});
  end();
  return there ? 0 : EINVAL;
}

void poll_soon() noexcept {
  g_calls.fetch_add(1);
  const uint32_t services = g_registered.load();
  if ((g_wanted.load() & services) == services) return;
  if (g_wanted.fetch_or(services) == 0 && started()) wake_monitor();
}

void poll_services() noexcept {
  if (!try_begin()) return;
  g_polled_ns.store(platform::now_ns(), std::memory_order_relaxed);
  call_services();
  end();
}

void note_arrival() noexcept {
  if (polls() && polls_itself()) g_arrived = true;
}

PendingArrivals pending_arrivals() noexcept {
  const int64_t count = g_pending.load(std::memory_order_acquire);
  // Without a service that has something to look for nothing waits, whatever a poll is about to write.
  if (count <= 0 || !polls()) return {};
  const int64_t since = g_silent_since_ns.load(std::memory_order_relaxed);
  return {count, std::max<int64_t>(platform::now_ns() - since, 0)};
}

void poll_services_between_work() noexcept {
  if (platform::now_ns() - g_polled_ns.load(std::memory_order_relaxed) > kBetweenWorkNs) poll();
}

SleepingPoller::SleepingPoller() noexcept
    // Relaxed: it guards nothing. Where it comes a moment late nobody polls but the monitor.
    : elected_(core::polls() && !g_sleeper_elected.exchange(true, std::memory_order_relaxed)),
      began_(elected_ ? platform::now_ns() : 0) {}

void SleepingPoller::resign() noexcept {
  if (elected_) g_sleeper_elected.store(false, std::memory_order_relaxed);
  elected_ = false;
}

bool SleepingPoller::polls() noexcept {
  if (elected_ && !core::polls()) resign();
  return elected_;
}

int64_t SleepingPoller::rest_ns() noexcept {
  return std::clamp((platform::now_ns() - began_) / kRestPart, kShortestRestNs, kLongestRestNs);
}

void poll_if_nobody_has() noexcept {
  if (monitor_polls() && platform::now_ns() - g_polled_ns.load(std::memory_order_relaxed) >= kPollingFloorNs) poll();
}

bool monitor_polls() noexcept { return polls() && !g_sleeper_elected.load(std::memory_order_relaxed); }

void forget_pollers() noexcept {
  g_poller.store(0, std::memory_order_relaxed);
  // The poller may have been about to add its answer.
  int64_t left = 0;
  for (const Registered& service : g_services) left += service.left;
  g_pending.store(left, std::memory_order_relaxed);
  g_sleeper_elected.store(false, std::memory_order_relaxed);
}

}  // namespace weft::core
