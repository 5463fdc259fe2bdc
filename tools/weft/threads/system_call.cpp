// SPDX-License-Identifier: Apache-2.0
#include "threads/system_call.h"

#include <cinttypes>
#include <cstdio>

#include <sys/syscall.h>

namespace weft::tools::threads {

SystemCall system_call_of(Inspector& process, pid_t thread) {
  SystemCall call;
  const auto text = process.file("task/" + std::to_string(thread) + "/syscall");
  if (!text || text->starts_with("running")) return call;
  auto& a = call.arguments;
  const int found =
      std::sscanf(text->c_str(),
                  "%ld 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64
                  " 0x%" SCNx64,
                  &call.number, &a[0], &a[1], &a[2], &a[3], &a[4], &a[5], &call.stack_pointer, &call.program_counter);
  call.sleeps = found == 9 && call.number >= 0;
  return call;
}

std::string name_of_call(long number) {
  switch (number) {
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
