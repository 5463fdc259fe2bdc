// SPDX-License-Identifier: Apache-2.0
#include "program_runtimes.h"

#include <array>
#include <cstdlib>
#include <sstream>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "own_openmp.h"
#include "platform/openmp_runtime.h"

namespace weft::tools {

namespace {

// What the dynamic linker prints; empty where there is none, or where it has a fault to tell.
std::string trace(const Program& program, const Libraries& libraries) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDERR_FILENO);
    dup2(ends[1], STDOUT_FILENO);
    setenv("WEFT_LIBRARY", libraries.runtime.c_str(), 1);
    setenv("LD_AUDIT", libraries.audit.c_str(), 1);
    setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
    std::string path = program.path;
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

}  // namespace

ProgramRuntimes look_at_runtimes(const Program& program, const Libraries& libraries) {
  ProgramRuntimes found;
  const std::string archive = own_openmp(program.path);
  if (!archive.empty()) found.others.push_back({program.path, archive + " was linked into it"});
  if (!program.complaint.empty()) return found;
  std::istringstream lines(trace(program, libraries));
  for (std::string line; std::getline(lines, line);) {
    found.known = true;
    const std::string file = file_of(line);
    if (file.empty()) continue;
    if (file == libraries.runtime) {
      found.on_weft = true;
    } else if (platform::has_runtime_name(file.c_str())) {
      found.others.push_back({file, "the dynamic linker maps it all the same"});
    } else if (const std::string inside = own_openmp(file); !inside.empty()) {
      found.others.push_back({file, inside + " was linked into it"});
    }
  }
  return found;
}

}  // namespace weft::tools
