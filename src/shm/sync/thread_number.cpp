// SPDX-License-Identifier: Apache-2.0
#include "shm/sync/thread_number.h"

#include <sys/random.h>
#include <unistd.h>

#include "base/keep_errno.h"
#include "platform/cycles.h"
#include "platform/generation.h"

namespace weft::shm {

namespace {

struct Number {
  uint32_t generation;  // of the process that it is for
  uint64_t number;
};
thread_local Number t_number{0, kNobody};

uint64_t draw() noexcept {
  const base::KeepErrno keep;
  uint64_t drawn = 0;
  // Where the system gives no random number: the time, and the process.
  if (getrandom(&drawn, sizeof drawn, GRND_NONBLOCK) != sizeof drawn) {
    drawn = static_cast<uint64_t>(platform::now_ns()) << 20 ^ static_cast<uint64_t>(getpid());
  }
  return drawn == kNobody ? 1 : drawn;
}

}  // namespace

uint64_t thread_number() noexcept {
  Number* mine = &t_number;
  asm("" : "+r"(mine));  // else each use is another call of __tls_get_addr()
  if (mine->number == kNobody || mine->generation != platform::generation()) *mine = {platform::generation(), draw()};
  return mine->number;
}

}  // namespace weft::shm
