// SPDX-License-Identifier: Apache-2.0
// Memory of another process, as it is: nobody is stopped, and nobody notices. A read takes a microsecond or two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <sys/types.h>

namespace weft::tools {

struct MemoryPart {
  uint64_t address = 0;
  void* data = nullptr;  // where it goes
  size_t size = 0;
};

enum class MemoryRead {
  whole,
  missing,    // some of it is not mapped, or there is no such process
  forbidden,  // the kernel does not let the caller read there
};

// All parts, or none that can be used. Any addresses and sizes may be asked for.
MemoryRead read_memory(pid_t process, std::span<const MemoryPart> parts);

}  // namespace weft::tools
