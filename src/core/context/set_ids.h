// SPDX-License-Identifier: Apache-2.0
// setuid(2) and its kin change only the OS thread that calls them. libc makes all threads of the process call them: it
// marks the record of each thread but the caller's, sends each that it has marked a signal (SIGSETXID) by number, and
// waits until the handlers have made the call and cleared the marks. Handler and caller find their record by the thread
// pointer. On a carrier that may be another thread's, so
// - the handler runs under the identity that libc means: that of the OS thread which got the signal;
// - where the caller has another OS thread's identity, libc leaves out that OS thread, and sends the caller's OS
//   thread a signal. The two change parts: the caller hands the handler over to the OS thread that was left out, and
//   makes the call itself anyway, last of all, as libc has every caller do. Internal to core.
#pragma once

#include <atomic>

namespace weft::core {

// Puts a handler of ours before libc's, unless it stands there. To be called after each start of a thread that lends
// its identity: libc installs its own when a process makes its first thread, in the child of a fork once more.
void watch_set_ids() noexcept;

// Brackets such a call of the program's. A thread whose number nobody may read any more in libc's record, and that is
// about to end past libc, waits for those that go on: they may have read it, and wait for ever for a handler in a
// thread that is gone. Sequentially consistent: the call is counted before libc reads a number, and the thread has
// written the new one before it looks; so one of the two sees the other.
class ChangeOfIds {
 public:
  ChangeOfIds() noexcept { g_going_on.fetch_add(1); }
  ~ChangeOfIds() { g_going_on.fetch_sub(1); }
  ChangeOfIds(const ChangeOfIds&) = delete;
  ChangeOfIds& operator=(const ChangeOfIds&) = delete;
  static bool goes_on() noexcept { return g_going_on.load() != 0; }

 private:
  static inline std::atomic<int> g_going_on{0};
};

}  // namespace weft::core
