// SPDX-License-Identifier: Apache-2.0
#include "linked_objects.h"

#include <array>
#include <cstdlib>
#include <sstream>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft::tools {

namespace {

// What it prints; empty where there is none, or where it has a fault to tell.
std::string trace(const std::string& program, const Libraries& libraries, With with) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDERR_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    setenv("WEFT_LIBRARY", libraries.runtime.c_str(), 1);
    if (with == With::audit) setenv("LD_AUDIT", libraries.audit.c_str(), 1);
    if (with == With::preload) {
      setenv("LD_PRELOAD", (libraries.preload.string() + ":" + libraries.runtime.string()).c_str(), 1);
    }
    setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
    std::string path = program;
    std::array<char*, 2> arguments{path.data(), nullptr};
    execv(path.c_str(), arguments.data());
    _exit(EXIT_FAILURE);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 4096> some{};
  for (ssize_t count; child > 0 && (count = read(ends[0], some.data(), some.size())) > 0;) {
    text.append(some.data(), static_cast<size_t>(count));
  }
  close(ends[0]);
  int status = -1;
  if (child <= 0 || waitpid(child, &status, 0) != child || status != 0) return {};
  return text;
}

// Of "\tlibm.so.6 => /lib/libm.so.6 (0x00007f1c954ea000)", "\t/lib64/ld-linux-x86-64.so.2 (0x...)": the file; empty:
// there is none.
std::string file_of(const std::string& line) {
  const size_t arrow = line.find(" => ");
  const size_t begin = arrow != std::string::npos ? arrow + 4 : line.find_first_not_of('\t');
  const size_t end = line.rfind(" (0x");
  if (begin == std::string::npos || end == std::string::npos || end <= begin || line[begin] != '/') return {};
  return line.substr(begin, end - begin);
}

// Of the same lines: what was asked for.
std::string name_of(const std::string& line) {
  const size_t begin = line.find_first_not_of('\t');
  return begin != std::string::npos ? line.substr(begin, line.find(' ', begin) - begin) : std::string();
}

}  // namespace

std::vector<LinkedObject> linked_objects(const std::string& path, const Libraries& libraries, With with) {
  std::vector<LinkedObject> found;
  std::istringstream lines(trace(path, libraries, with));
  for (std::string line; std::getline(lines, line);) found.push_back({name_of(line), file_of(line)});
  return found;
}

}  // namespace weft::tools
