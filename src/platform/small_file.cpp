// SPDX-License-Identifier: Apache-2.0
#include "platform/small_file.h"

#include <fcntl.h>
#include <unistd.h>

namespace weft::platform {

bool read_small_file(const char* path, char* text, size_t room) noexcept {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  size_t size = 0;
  while (size + 1 < room) {
    const ssize_t got = read(file, text + size, room - 1 - size);
    if (got <= 0) break;
    size += static_cast<size_t>(got);
  }
  close(file);
  text[size] = '\0';
  return size > 0;
}

}  // namespace weft::platform
