// SPDX-License-Identifier: Apache-2.0
#include "platform/rseq.h"

#include <algorithm>
#include <atomic>
#include <cstddef>

#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/keep_errno.h"
#include "platform/libc_calls.h"
#include "platform/thread_pointer.h"

// glibc 2.35 and later say where their area is; elsewhere libc does not register one.
extern "C" {
[[gnu::weak]] extern const ptrdiff_t __rseq_offset;
[[gnu::weak]] extern const unsigned int __rseq_size;
}

namespace weft::platform {

namespace {

constexpr int kUnregister = 1;
// What every kernel accepts; glibc 2.40 and earlier register that many bytes, whatever they say.
constexpr unsigned kLeastLength = 32;
constexpr int32_t kRegistrationFailed = -2;  // what libc writes then
#if defined(__x86_64__)
constexpr unsigned kSignature = 0x53053053;
#else
constexpr unsigned kSignature = 0xd428bc00;
#endif
// Newer than some headers: how much of the area the kernel uses.
constexpr unsigned long kAuxFeatureSize = 27, kAuxAlignment = 28;

// What libc has said before we have withdrawn it. Relaxed: written before there are contexts.
std::atomic<unsigned> g_withdrawn{0};

unsigned libcs_size() noexcept {
  if (&__rseq_size == nullptr) return 0;
  const unsigned withdrawn = g_withdrawn.load(std::memory_order_relaxed);
  return withdrawn != 0 ? withdrawn : __rseq_size;
}

bool libc_has_area() noexcept { return libcs_size() != 0; }

volatile int32_t* cpu_id_of(void* area) noexcept { return reinterpret_cast<int32_t*>(area) + 1; }

void* libcs_area(uintptr_t thread_pointer) noexcept { return reinterpret_cast<char*>(thread_pointer) + __rseq_offset; }

}  // namespace

bool leave_rseq(void* area, unsigned length) noexcept {
  const base::KeepErrno keep;
  const auto used = static_cast<unsigned>(getauxval(kAuxFeatureSize));
  const auto alignment = std::max(1u, static_cast<unsigned>(getauxval(kAuxAlignment)));
  const unsigned rounded = (std::max(used, kLeastLength) + alignment - 1) / alignment * alignment;
  // The kernel wants the length that it was registered with; it does nothing when it is told another. The number in the
  // area says what holds, since not every answer is the kernel's.
  for (const unsigned tried : {std::max(length, kLeastLength), kLeastLength, rounded, std::max(used, kLeastLength)}) {
    if (*cpu_id_of(area) < 0) break;
    syscall(SYS_rseq, area, tried, kUnregister, kSignature);
  }
  return *cpu_id_of(area) < 0;
}

bool leave_rseq() noexcept { return !libc_has_area() || leave_rseq(libcs_area(thread_pointer()), libcs_size()); }

void withdraw_rseq() noexcept {
  if (!libc_has_area() || g_withdrawn.load(std::memory_order_relaxed) != 0) return;
  const unsigned said = __rseq_size;
  // A constant of libc's, but not of the compiler's: other objects read it where it stands.
  if (write_mapped(const_cast<uint32_t*>(&__rseq_size), 0)) g_withdrawn.store(said, std::memory_order_relaxed);
}

void take_rseq_area(RseqArea& area) noexcept {
  const base::KeepErrno keep;
  area = RseqArea();
  syscall(SYS_rseq, &area, sizeof area, 0, kSignature);
}

void drop_rseq_area(RseqArea& area) noexcept {
  const base::KeepErrno keep;
  syscall(SYS_rseq, &area, sizeof area, kUnregister, kSignature);
}

void disclaim_rseq(uintptr_t thread_pointer) noexcept {
  if (libc_has_area()) *cpu_id_of(libcs_area(thread_pointer)) = kRegistrationFailed;
}

}  // namespace weft::platform
