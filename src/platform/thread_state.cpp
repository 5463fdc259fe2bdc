// SPDX-License-Identifier: Apache-2.0
#include "platform/thread_state.h"

#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace weft::platform {

ThreadState thread_state(pid_t id) noexcept {
  char text[256];
  std::snprintf(text, sizeof text, "/proc/self/task/%d/stat", id);
  const int file = open(text, O_RDONLY | O_CLOEXEC);
  if (file < 0) return ThreadState::unknown;
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  if (size <= 0) return ThreadState::unknown;
  text[size] = '\0';
  // The state follows the command's name, which stands in parentheses and may hold any character.
  const char* end = std::strrchr(text, ')');
  if (end == nullptr || end[1] != ' ') return ThreadState::unknown;
  return end[2] == 'S' || end[2] == 'D' ? ThreadState::sleeping : ThreadState::running;
}

}  // namespace weft::platform
