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

// The services that want to be called. Carriers that wait read it at each look, and others after each task; so it
// shares its cache line with nothing that is written often.
alignas(64) constinit std::atomic<uint32_t> g_wanted{0};

}  // namespace detail

namespace {

using detail::g_wanted;

constexpr int kMost = 16;

// A carrier that has work polls no more often than this: what a task waits for takes longer to come, as a rule.
constexpr int64_t kBetweenWorkNs = 20'000;
// A sleeping poller rests between polls for this part of the time in which it has polled in vain.
constexpr int64_t kRestPart = 16;
constexpr int64_t kShortestRestNs = 50'000;
constexpr int64_t kLongestRestNs = 4'000'000;

struct Registered {
  PollingService call = nullptr;
  void* data = nullptr;
  PollingAnswer answer = PollingAnswer::left;
  int left = 0;  // its last answer, for PollingAnswer::left: how many arrivals it waits for
};

// Only the thread that has the right to poll (g_poller) touches the table.
alignas(64) constinit std::array<Registered, kMost> g_services{};
// A bit for each entry of the table that is used.
constinit std::atomic<uint32_t> g_registered{0};
// How often poll_soon() has been called.
alignas(64) constinit std::atomic<uint32_t> g_calls{0};
// The thread that has the right to poll, by own_number(); or 0. Acquire and release, as a lock's. The variables behind
// it share its cache line, which each poll writes anyway.
alignas(64) constinit std::atomic<uintptr_t> g_poller{0};
constinit std::atomic<bool> g_sleeper_elected{false};
// Relaxed: an old value makes a poll come early or late.
constinit std::atomic<int64_t> g_polled_ns{0};
// Since when nothing that services wait for has arrived. Relaxed: g_pending publishes it.
constinit std::atomic<int64_t> g_silent_since_ns{0};
// How many arrivals all services wait for: the sum of their `left`.
constinit std::atomic<int64_t> g_pending{0};
// Whether the service that runs now has let something go on. Only the thread that has the right to poll touches it.
constinit bool g_arrived = false;

// A number that is different for each identity. It stays the same during a poll, as a service does not leave its
// carrier.
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

// Waits for the right to poll, in order to change the table; the service that runs may take a while.
void begin() noexcept {
  while (!try_begin()) {
    if (!started() || !yield()) platform::pause();
  }
}

// The caller has the right to poll, so nobody else changes the sum. Release, with the acquire of pending_arrivals(): a
// thread that sees the sum sees g_silent_since_ns too.
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

// Notes what a service has answered. Most looks find the same as the last one: then it writes nothing.
void count(Registered& service, int left, bool arrived) noexcept {
  // Relaxed: only the thread that has the right to poll writes it.
  const bool begins = left > 0 && g_pending.load(std::memory_order_relaxed) == 0;
  if (begins || arrived || left < service.left) {
    g_silent_since_ns.store(platform::now_ns(), std::memory_order_relaxed);
  }
  if (left == service.left) return;
  add_pending(left - service.left);
  service.left = left;
}

// Calls a service. Returns whether it is to be called again.
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
    // A poll_soon() that still found the bit set has counted itself before. All of this is sequentially consistent, so
    // the count is seen here, and the bit is set again.
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

// Relaxed: who sees it late has one thread more or less.
bool has_polling_services() noexcept { return g_registered.load(std::memory_order_relaxed) != 0; }

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

const std::atomic<int64_t>& detail::pending_word() noexcept { return g_pending; }

PendingArrivals pending_arrivals() noexcept {
  const int64_t count = g_pending.load(std::memory_order_acquire);
  // Where no service wants to be called, nothing waits, even if a poll has not written that yet.
  if (count <= 0 || !polls()) return {};
  const int64_t since = g_silent_since_ns.load(std::memory_order_relaxed);
  return {count, std::max<int64_t>(platform::now_ns() - since, 0)};
}

void poll_services_between_work() noexcept {
  if (platform::now_ns() - g_polled_ns.load(std::memory_order_relaxed) > kBetweenWorkNs) poll();
}

SleepingPoller::SleepingPoller() noexcept
    // Relaxed: the flag guards nothing. Where it is seen a moment late, the monitor polls alone meanwhile.
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
  // The thread that polled may have been stopped between the two stores of an answer, so the sum is made anew.
  int64_t left = 0;
  for (const Registered& service : g_services) left += service.left;
  g_pending.store(left, std::memory_order_relaxed);
  g_sleeper_elected.store(false, std::memory_order_relaxed);
}

}  // namespace weft::core
