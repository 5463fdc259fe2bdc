// SPDX-License-Identifier: Apache-2.0
// Whether the program has locked all memory that it will map: mlockall(MCL_FUTURE).
#pragma once

#include <cerrno>

#include <sys/mman.h>
#include <unistd.h>

#include "base/keep_errno.h"

namespace weft::platform {

// Nothing tells but that locked pages cannot be given back. Three system calls.
inline bool new_memory_is_locked() noexcept {
  const base::KeepErrno keep;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* probe = mmap(nullptr, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (probe == MAP_FAILED) return false;
  const bool locked = madvise(probe, page, MADV_DONTNEED) != 0 && errno == EINVAL;
  munmap(probe, page);
  return locked;
}

}  // namespace weft::platform
