// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/helper/nap.h"

#include <algorithm>
#include <cerrno>
#include <ctime>

#include <sys/syscall.h>
#include <unistd.h>

namespace weft::mpi {

namespace {

constexpr long kSecond = 1'000'000'000;  // nanoseconds
// A sixteenth of the time that it has waited delays no call by much more.
constexpr long kPart = 16;
constexpr long kShortest = 50'000;
constexpr long kLongest = 1'000'000;
// Between two yields MPI looks, which takes less than this. If more has passed a part of the message has come, and the
// next may come soon.
constexpr long kIdleLook = 10'000;

thread_local bool t_napping = false;
thread_local long t_since = 0;   // when something has come last
thread_local long t_looked = 0;  // when MPI went on after its last yield; 0: it has not yielded in this call

long now() noexcept {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * kSecond + time.tv_nsec;
}

}  // namespace

Napping::Napping() noexcept {
  t_napping = true;
  t_looked = 0;
}

Napping::~Napping() { t_napping = false; }

bool nap_in_helper() noexcept {
  if (!t_napping) return false;
  const int saved = errno;
  const long time = now();
  if (time - t_looked > kIdleLook) t_since = time;
  const long nap = (time - t_since) / kPart;
  if (nap < kShortest) {
    syscall(SYS_sched_yield);
  } else {
    const timespec length{0, std::min(nap, kLongest)};
    nanosleep(&length, nullptr);
  }
  t_looked = now();
  errno = saved;
  return true;
}

}  // namespace weft::mpi
