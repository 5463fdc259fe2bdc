// SPDX-License-Identifier: Apache-2.0
// Polling services: functions of other libraries that look for what contexts wait for and the scheduler cannot see,
// such as messages. They are called by whoever has time: contexts and carriers that wait, carriers between two pieces
// of work, and, since all of them may be busy, the monitor (kPollingFloorNs). One thread at a time calls, and none
// while no service has anything to look for.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::core {

// It must not wait, and may run on any stack of the pool.
using PollingService = int (*)(void* data);

// What a service's answer says.
enum class PollingAnswer : uint8_t {
  left,  // how many contexts and events it still waits for: after 0 it is not called until poll_soon()
  more,  // the same, but not to be seen in pending_arrivals(): it looks at a clock
  done,  // other than 0: that it is not to be called any more; it is unregistered
};

// 0, or EINVAL, or EAGAIN: there are too many. Thread-safe, as all here.
int register_polling_service(PollingService service, void* data, PollingAnswer answer) noexcept;
// It does not run any more when this returns: not for a call by itself, which is EDEADLK. EINVAL: not registered.
int unregister_polling_service(PollingService service, void* data) noexcept;

// Services have something to look for.
void poll_soon() noexcept;

// Something has come: by whoever lets a context or an event go on. Nothing happens unless a service calls it.
void note_arrival() noexcept;

// What waits for something that services look for. For people: it was so a moment ago.
struct PendingArrivals {
  int64_t count = 0;  // the sum of the last answers (PollingAnswer::left)
  // For how long none of it has gone on. The count does not say that: one may go on while another begins to wait. So a
  // service's part is seen when it lets something go on (note_arrival), or when its answer is less than the last one.
  int64_t silent_ns = 0;  // 0 while nothing waits
};
PendingArrivals pending_arrivals() noexcept;

namespace detail {

// A bit for each service that has something to look for. Relaxed reads: one that comes a moment later is called then.
extern constinit std::atomic<uint32_t> g_wanted;

}  // namespace detail

inline bool polls() noexcept { return __builtin_expect(detail::g_wanted.load(std::memory_order_relaxed) != 0, 0); }

// Calls the services, if polls(); nothing while another thread does, and within a service.
void poll_services() noexcept;
inline void poll() noexcept {
  if (polls()) poll_services();
}

// The same by one that has work to do: not if it has been done a moment ago.
void poll_services_between_work() noexcept;
inline void poll_between_work() noexcept {
  if (polls()) poll_services_between_work();
}

// For a carrier that goes to sleep while polls(): one of them sleeps for short times and polls between them.
class SleepingPoller {
 public:
  SleepingPoller() noexcept;
  ~SleepingPoller() { resign(); }
  SleepingPoller(const SleepingPoller&) = delete;
  SleepingPoller& operator=(const SleepingPoller&) = delete;

  // Whether the carrier is the one, and there is something to poll for. If not, another may be elected.
  bool polls() noexcept;
  // Until the next poll: the longer it has been in vain, the longer. So a wait is late by a part of itself at most.
  int64_t rest_ns() noexcept;

 private:
  void resign() noexcept;

  bool elected_;
  const int64_t began_;
};

// The monitor's part: how long nobody else may have polled until it does. Internal to core.
inline constexpr int64_t kPollingFloorNs = 1'000'000;
void poll_if_nobody_has() noexcept;
// Whether it is to look that often: no carrier sleeps for short times.
bool monitor_polls() noexcept;

// In the child of a fork: nobody polls. The services stay, and what they wait for.
void forget_pollers() noexcept;

}  // namespace weft::core
