// SPDX-License-Identifier: Apache-2.0
#include "proc_file.h"

#include <cstring>

#include <charconv>

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

namespace weft::tools {

namespace {

constexpr size_t kPiece = 16 * 1024;
constexpr size_t kMost = 64 * 1024 * 1024;
// Of a command line: nobody has a wider terminal.
constexpr size_t kMostShown = 1000;

// Until there is no more, or `most` bytes are there.
bool read_file(pid_t process, const char* name, size_t most, std::string& text) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/%s", process, name);
  text.clear();
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  ssize_t got = 0;
  while (text.size() < most) {
    const size_t before = text.size();
    text.resize(before + kPiece);
    do {
      got = read(file, text.data() + before, kPiece);
    } while (got < 0 && errno == EINTR);
    text.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got <= 0) break;
  }
  close(file);
  return got >= 0;
}

}  // namespace

bool read_proc_file(pid_t process, const char* name, std::string& text) {
  return read_file(process, name, kMost, text);
}

std::string command_line_of(pid_t process) {
  std::string arguments;
  return read_file(process, "cmdline", 1, arguments) ? command_line_in(arguments) : std::string();
}

std::string command_line_in(const std::string& arguments) {
  // A program may have written one text over all of them, with a rest of zeros.
  std::string line = arguments.substr(0, std::min(arguments.find_last_not_of('\0') + 1, kMostShown));
  const size_t first = std::min(line.find('\0'), line.size());
  const size_t folder = line.rfind('/', first);
  const bool is_path = folder != std::string::npos && folder + 1 < first && line.find(' ') > folder;
  if (is_path) line.erase(0, folder + 1);
  std::replace(line.begin(), line.end(), '\0', ' ');
  return line;
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> found;
  DIR* const folder = opendir("/proc");
  if (folder == nullptr) return found;
  while (const dirent* const entry = readdir(folder)) {
    const char* const end = entry->d_name + std::strlen(entry->d_name);
    int pid = 0;
    const auto read = std::from_chars(entry->d_name, end, pid);
    if (read.ec == std::errc() && read.ptr == end) found.push_back(pid);
  }
  closedir(folder);
  return found;
}

}  // namespace weft::tools
