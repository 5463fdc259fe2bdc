// SPDX-License-Identifier: Apache-2.0
#include "top/process_memory.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <sys/uio.h>

namespace weft::tools {

MemoryRead read_memory(pid_t process, std::span<const MemoryPart> parts) {
  constexpr size_t kMost = 256;  // parts of a call; the kernel takes 1024
  std::array<iovec, kMost> here;
  std::array<iovec, kMost> there;
  for (size_t begin = 0; begin < parts.size(); begin += kMost) {
    const size_t count = std::min(kMost, parts.size() - begin);
    size_t size = 0;
    for (size_t i = 0; i < count; ++i) {
      const MemoryPart& part = parts[begin + i];
      here[i] = {part.data, part.size};
      there[i] = {reinterpret_cast<void*>(part.address), part.size};
      size += part.size;
    }
    const ssize_t got = process_vm_readv(process, here.data(), count, there.data(), count, 0);
    if (got < 0 && errno != EFAULT && errno != ESRCH && errno != EINVAL) return MemoryRead::forbidden;
    if (got < 0 || static_cast<size_t>(got) != size) return MemoryRead::missing;
  }
  return MemoryRead::whole;
}

}  // namespace weft::tools
