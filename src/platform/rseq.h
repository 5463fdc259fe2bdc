// SPDX-License-Identifier: Apache-2.0
// Restartable sequences (rseq(2)): the kernel keeps the CPU number in an area of the OS thread's own TLS
// block. Under another identity that area is a stranger's, so threads whose identities travel leave rseq:
// libc then asks the kernel for the CPU, and per-CPU allocators take their slow paths.
#pragma once

namespace weft::platform {

// Ends the calling thread's registration by libc, if there is one.
void leave_rseq() noexcept;

}  // namespace weft::platform
