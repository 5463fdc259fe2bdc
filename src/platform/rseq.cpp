// SPDX-License-Identifier: Apache-2.0
#include "platform/rseq.h"

#include <cstddef>
#include <cstdint>

#include <sys/syscall.h>
#include <unistd.h>

#include "base/keep_errno.h"

// glibc 2.35 and later say where their area is; elsewhere libc does not register one.
extern "C" {
[[gnu::weak]] extern const ptrdiff_t __rseq_offset;
[[gnu::weak]] extern const unsigned int __rseq_size;
}

namespace weft::platform {

namespace {

constexpr int kUnregister = 1;
// The size glibc registers with (the kernel wants the same again), and its abort signature.
constexpr unsigned kRegisteredSize = 32;
#if defined(__x86_64__)
constexpr unsigned kSignature = 0x53053053;
#else
constexpr unsigned kSignature = 0xd428bc00;
#endif

}  // namespace

void leave_rseq() noexcept {
  if (&__rseq_size == nullptr || __rseq_size == 0) return;
  const base::KeepErrno keep;
  void* area = static_cast<char*>(__builtin_thread_pointer()) + __rseq_offset;
  syscall(SYS_rseq, area, kRegisteredSize, kUnregister, kSignature);
}

}  // namespace weft::platform
