// SPDX-License-Identifier: Apache-2.0
#include "threads/system_call.h"

#include <sys/syscall.h>

namespace weft::tools::threads {

std::string name_of_call(long number) {
  switch (number) {
    case -1: return "a system call";
    case SYS_futex: return "futex";
    case SYS_read: return "read";
    case SYS_write: return "write";
    case SYS_clock_nanosleep:
    case SYS_nanosleep: return "sleep";
    case SYS_ppoll: return "poll";
    case SYS_wait4: return "wait";
    case SYS_epoll_pwait: return "epoll";
    case SYS_rt_sigtimedwait: return "sigwait";
    case SYS_accept4:
    case SYS_accept: return "accept";
    case SYS_recvfrom:
    case SYS_recvmsg: return "receive";
    case SYS_sched_yield: return "yield";
#ifdef SYS_poll
    case SYS_poll: return "poll";
    case SYS_select: return "select";
    case SYS_epoll_wait: return "epoll";
    case SYS_pause: return "pause";
#endif
    default: return "system call " + std::to_string(number);
  }
}

}  // namespace weft::tools::threads
