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

namespace weft::core {

// Puts a handler of ours before libc's, unless it stands there. To be called after each start of a thread that lends
// its identity: libc installs its own when a process makes its first thread, in the child of a fork once more.
void watch_set_ids() noexcept;

}  // namespace weft::core
