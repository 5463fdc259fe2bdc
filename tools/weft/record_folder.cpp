// SPDX-License-Identifier: Apache-2.0
#include "record_folder.h"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/message.h"
#include "platform/process.h"

namespace weft::tools {

namespace {

namespace fs = std::filesystem;

bool has_room(const std::string& folder) {
  constexpr uint64_t kEnough = 16 << 20;
  struct statvfs status{};
  return statvfs(folder.c_str(), &status) == 0 && uint64_t{status.f_bavail} * status.f_frsize >= kEnough;
}

// Where numbers of processes mean the same: this boot of this machine, and the namespace; empty: not known.
std::string where_numbers_hold() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot, '-');
  struct stat space{};
  if (boot.empty() || boot.find('.') != std::string::npos || stat("/proc/self/ns/pid", &space) != 0) return {};
  char text[64];
  std::snprintf(text, sizeof text, "%.16s.%" PRIx64, boot.c_str(), uint64_t{space.st_ino});
  return text;
}

// Of a folder, what says whose it is.
std::string name_of(const platform::ProcessId& process, const std::string& where) {
  char text[128];
  std::snprintf(text, sizeof text, "%d.%" PRIx64 ".%" PRIx64 ".%" PRIx64 ".%s", process.pid, process.inode,
                process.start, process.clock, where.c_str());
  return text;
}

bool has_ended(const char* name, const std::string& where) {
  platform::ProcessId process;
  const bool read = std::sscanf(name, "%d.%" SCNx64 ".%" SCNx64 ".%" SCNx64 ".", &process.pid, &process.inode,
                                &process.start, &process.clock) == 4;
  // The name must be what this process would have called it.
  const std::string whole = name_of(process, where) + ".";
  return read && std::strncmp(name, whole.c_str(), whole.size()) == 0 && platform::process_has_ended(process);
}

// What a command has left that was killed. Folders of this user alone, and no links: anybody may make some there.
void remove_abandoned(const std::string& place, const std::string& beginning, const std::string& where) {
  std::error_code error;
  for (fs::directory_iterator each(place, error); !error && each != fs::directory_iterator(); each.increment(error)) {
    const std::string name = each->path().filename();
    struct stat status{};
    if (name.rfind(beginning, 0) != 0 || lstat(each->path().c_str(), &status) != 0) continue;
    if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid()) continue;
    std::error_code ignored;
    if (has_ended(name.c_str() + beginning.size(), where)) fs::remove_all(each->path(), ignored);
  }
}

}  // namespace

RecordFolder::RecordFolder(const std::string& command) {
  const char* temporary = std::getenv("TMPDIR");
  std::vector<std::string> places = {"/dev/shm", temporary != nullptr ? temporary : "/tmp"};
  const std::string beginning = "weft-" + command + "-";
  const std::string where = where_numbers_hold();
  if (!where.empty()) {
    for (const std::string& place : places) remove_abandoned(place, beginning, where);
  }
  if (!has_room(places.front()) && has_room(places.back())) std::swap(places.front(), places.back());
  for (const std::string& place : places) {
    std::string name = place + "/" + beginning + name_of(platform::own_process_id(), where) + ".XXXXXX";
    if (mkdtemp(name.data()) == nullptr) continue;
    path_ = name;
    break;
  }
  if (path_.empty()) base::warn("%s: no folder for what is found out: %s", command.c_str(), std::strerror(errno));
}

RecordFolder::~RecordFolder() {
  std::error_code error;
  if (!path_.empty()) fs::remove_all(path_, error);
}

}  // namespace weft::tools
