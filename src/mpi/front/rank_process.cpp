// SPDX-License-Identifier: Apache-2.0
#include "mpi/front/rank_process.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "platform/launcher.h"

namespace weft::mpi {

namespace {

// The text of a file of /proc; empty if it cannot be read.
class ProcFile {
 public:
  ProcFile(int pid, const char* name) noexcept {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    for (size_t room = 0;;) {
      if (room == length_) {
        room = room == 0 ? 65536 : 2 * room;
        char* more = static_cast<char*>(std::realloc(data_, room));
        if (more == nullptr) break;
        data_ = more;
      }
      const ssize_t got = read(file, data_ + length_, room - length_);
      if (got <= 0) break;
      length_ += static_cast<size_t>(got);
    }
    close(file);
  }
  ~ProcFile() { std::free(data_); }
  ProcFile(const ProcFile&) = delete;
  ProcFile& operator=(const ProcFile&) = delete;

  std::string_view text() const noexcept { return {data_, length_}; }

 private:
  char* data_ = nullptr;
  size_t length_ = 0;
};

bool has_setting(int pid, std::string_view setting) noexcept {
  const ProcFile environment(pid, "environ");
  std::string_view rest = environment.text();
  while (!rest.empty()) {
    const size_t end = rest.find('\0');
    if (rest.substr(0, end) == setting) return true;
    if (end == std::string_view::npos) return false;
    rest.remove_prefix(end + 1);
  }
  return false;
}

int parent_of(int pid) noexcept {
  const ProcFile status(pid, "stat");
  // Behind the name, which may hold anything: the state, and the parent.
  const size_t name_end = status.text().rfind(')');
  if (name_end == std::string_view::npos || name_end + 4 >= status.text().size()) return 0;
  int parent = 0;
  for (const char c : status.text().substr(name_end + 4)) {
    if (c < '0' || c > '9') break;
    parent = parent * 10 + (c - '0');
  }
  return parent;
}

// The process that has started the rank: its nearest ancestor without the rank's setting. Shells and tools between the
// two have the setting.
int launcher_of(int pid, std::string_view setting) noexcept {
  constexpr int kMostSteps = 32;
  for (int i = 0; i < kMostSteps && pid > 1; ++i) {
    pid = parent_of(pid);
    if (pid <= 1 || !has_setting(pid, setting)) return pid;
  }
  return 0;
}

struct Setting {
  char text[512];
  Setting(const char* name, int rank) noexcept { std::snprintf(text, sizeof text, "%s=%d", name, rank); }
  Setting(const char* name, const char* value) noexcept { std::snprintf(text, sizeof text, "%s=%s", name, value); }
};

}  // namespace

RankProcess find_rank_process(int own, int wanted, const char* library) noexcept {
  RankProcess found;
  const platform::Launcher* by = platform::launcher();
  if (by == nullptr || std::atoi(platform::rank_by_launcher()) != own) return found;
  const char* variable = by->rank;
  const int launcher = launcher_of(getpid(), Setting(variable, own).text);
  const Setting setting(variable, wanted);
  // One job may have started the other.
  const char* job = platform::first_set(by->job);
  const Setting of_job(job != nullptr ? job : variable, job != nullptr ? std::getenv(job) : "");
  DIR* folder = launcher > 1 ? opendir("/proc") : nullptr;
  if (folder == nullptr) return found;
  while (const dirent* entry = readdir(folder)) {
    const int pid = std::atoi(entry->d_name);
    if (pid <= 0 || !has_setting(pid, setting.text) || (job != nullptr && !has_setting(pid, of_job.text))) continue;
    if (launcher_of(pid, setting.text) != launcher) continue;
    const ProcFile maps(pid, "maps");
    const bool has_mpi = maps.text().find("/libmpi") != std::string_view::npos;
    // A rank may be a shell with the program below it: the one that has an MPI counts.
    if (found.pid == 0 || has_mpi) found.pid = pid;
    found.has_mpi = found.has_mpi || has_mpi;
    found.has_library = found.has_library || maps.text().find(library) != std::string_view::npos;
  }
  closedir(folder);
  return found;
}

}  // namespace weft::mpi
