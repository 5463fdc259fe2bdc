// SPDX-License-Identifier: Apache-2.0
// Polling services: functions of other libraries that look for what contexts wait for and the scheduler cannot see,
// such as messages. They are called where there is time: by contexts and carriers that wait, carriers between two
// pieces of work, and, since all of them may be busy, the monitor (kPollingFloorNs). One thread at a time calls, and
// none while no service has anything to look for.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::core {

// A service must not wait, and may run on any stack of the pool.
using PollingService = int (*)(void* data);

// What the number that a service returns means.
enum class PollingAnswer : uint8_t {
  left,  // how many contexts and events it still looks for; after 0 it is not called until poll_soon()
  more,  // the same, but pending_arrivals() does not count them: the service looks at a clock
  done,  // not 0: the service is not to be called any more; it is unregistered
};

// Returns 0, EINVAL, or EAGAIN where there are too many services. Thread-safe, as all functions here.
int register_polling_service(PollingService service, void* data, PollingAnswer answer) noexcept;
// The service does not run any more when this returns. A call by the service itself returns EDEADLK, and one for a
// service that is not registered EINVAL.
int unregister_polling_service(PollingService service, void* data) noexcept;

// Whether there is a service.
bool has_polling_services() noexcept;

// To be called when services have something to look for.
void poll_soon() noexcept;

// To be called by a service that lets a context or an event go on. By other threads the call has no effect.
void note_arrival() noexcept;

// How much waits for something that services look for; for display: it was so a moment ago.
struct PendingArrivals {
  int64_t count = 0;  // the sum of the last answers (PollingAnswer::left)
  // For how long nothing of it has gone on. The count does not tell: one context may go on while another begins to
  // wait. So it counts as going on when a service calls note_arrival(), and when its answer is less than the last one.
  int64_t silent_ns = 0;  // 0 while nothing waits
};
PendingArrivals pending_arrivals() noexcept;

namespace detail {

// A bit for each service that has something to look for. Relaxed reads: a service whose bit is seen late is called
// later.
extern constinit std::atomic<uint32_t> g_wanted;

// Where PendingArrivals::count comes from, for who reads the memory of the process.
const std::atomic<int64_t>& pending_word() noexcept;

}  // namespace detail

inline bool polls() noexcept { return __builtin_expect(detail::g_wanted.load(std::memory_order_relaxed) != 0, 0); }

// Calls the services, if polls(). Does nothing while another thread calls them, or within a service.
void poll_services() noexcept;
inline void poll() noexcept {
  if (polls()) poll_services();
}

// The same for a caller that has work to do: nothing, if the services have been called a moment ago.
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

  // Whether the carrier is the elected one, and there is something to poll for. If not, another may be elected.
  bool polls() noexcept;
  // How long to sleep until the next poll: longer, the longer polls have found nothing. So a wait ends late by a small
  // part of its length at most.
  int64_t rest_ns() noexcept;

 private:
  void resign() noexcept;

  bool elected_;
  const int64_t began_;
};

// The monitor's part: it polls when no other thread has polled for so long. Internal to core.
inline constexpr int64_t kPollingFloorNs = 1'000'000;
void poll_if_nobody_has() noexcept;
// Whether the monitor is to look that often: no carrier sleeps for short times.
bool monitor_polls() noexcept;

// In the child of a fork no thread polls. The services stay, and what they look for.
void forget_pollers() noexcept;

}  // namespace weft::core
