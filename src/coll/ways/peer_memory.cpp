// SPDX-License-Identifier: Apache-2.0
#include "coll/ways/peer_memory.h"

#include <cerrno>

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/keep_errno.h"

namespace weft::coll {

namespace {

// Linux copies at most 2 GiB less a page per call.
constexpr size_t kMostPerCall = size_t{1} << 30;

bool copy(long call, pid_t peer, char* mine, uint64_t theirs, size_t bytes) noexcept {
  const base::KeepErrno keep;
  while (bytes > 0) {
    const size_t part = bytes < kMostPerCall ? bytes : kMostPerCall;
    const iovec here{mine, part};
    const iovec there{reinterpret_cast<void*>(theirs), part};
    const long copied = syscall(call, peer, &here, 1, &there, 1, 0);
    if (copied <= 0) {
      if (copied < 0 && errno == EINTR) continue;
      return false;
    }
    mine += copied;
    theirs += static_cast<uint64_t>(copied);
    bytes -= static_cast<size_t>(copied);
  }
  return true;
}

}  // namespace

bool read_peer(pid_t peer, void* to, uint64_t from, size_t bytes) noexcept {
  return copy(SYS_process_vm_readv, peer, static_cast<char*>(to), from, bytes);
}

bool write_peer(pid_t peer, uint64_t to, const void* from, size_t bytes) noexcept {
  return copy(SYS_process_vm_writev, peer, static_cast<char*>(const_cast<void*>(from)), to, bytes);
}

}  // namespace weft::coll
