// SPDX-License-Identifier: Apache-2.0
// Restartable sequences (rseq(2)): the kernel keeps the CPU number in an area of the OS thread's own TLS block, and
// restarts what the area says is to be restarted. Under another identity that area is a stranger's, so threads whose
// identities travel leave rseq: libc then asks the kernel for the CPU, and per-CPU allocators take their slow paths.
#pragma once

#include <cstdint>

namespace weft::platform {

// Makes libc say that it has no area that programs could use: threads whose identities travel leave it, and a program
// that went by what libc says would wait in them for a number that never comes. libc goes on registering an area for
// each thread and reading the CPU number there; so nobody else registers one that travels. Before the program looks.
void withdraw_rseq() noexcept;

// What an OS thread registers in place of libc's area, so that no library registers one of the identity that the thread
// happens to run: the kernel accepts one at a time. Nobody reads it.
struct alignas(32) RseqArea {
  uint32_t cpu_id_start = 0;
  uint32_t cpu_id = UINT32_MAX;  // the kernel wants it to say that it has not been written
  uint64_t sequence = 0;
  uint32_t flags = 0;
  uint32_t more[3] = {};
};
static_assert(sizeof(RseqArea) == 32);

// Ends the calling thread's registration by libc, if there is one. False: the system refuses (a sandbox), or libc has
// registered the area in a way that is not known here. The kernel goes on writing the number into it.
bool leave_rseq() noexcept;

// The same for an area that has been registered with `length` bytes, or with what libc makes of that.
bool leave_rseq(void* area, unsigned length) noexcept;

// Registers `area` for the calling thread, as long as nothing else is, and takes that back. Where the system refuses,
// nothing is registered.
void take_rseq_area(RseqArea& area) noexcept;
void drop_rseq_area(RseqArea& area) noexcept;

// Makes libc's area of the identity with this thread pointer say that nothing is registered. It holds until the OS
// thread that has registered it returns to user mode, so that one had better be asleep.
void disclaim_rseq(uintptr_t thread_pointer) noexcept;

}  // namespace weft::platform
