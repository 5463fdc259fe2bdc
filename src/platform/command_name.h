// SPDX-License-Identifier: Apache-2.0
// What the kernel calls this process, as ps and top show it.
#pragma once

#include <cstddef>

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

namespace weft::platform {

// At most 15 bytes (proc(5), /proc/pid/comm); a name that is longer is cut by the kernel.
class CommandName {
 public:
  // "?" where /proc is not there. Two system calls and the file's; for what is printed once.
  CommandName() noexcept {
    const int file = ::open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    const ssize_t length = ::read(file, text_, sizeof text_ - 1);
    ::close(file);
    if (length <= 0) return;
    // What follows the name is its line's end; a program may have put others into it.
    text_[length - 1] = '\0';
    for (char* c = text_; *c != '\0'; ++c) {
      if (static_cast<unsigned char>(*c) < ' ') *c = '?';
    }
  }

  [[nodiscard]] const char* text() const noexcept { return text_; }

 private:
  char text_[17] = "?";  // the name, the line's end, and an end
};

}  // namespace weft::platform
