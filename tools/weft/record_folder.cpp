// SPDX-License-Identifier: Apache-2.0
#include "record_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include <sys/statvfs.h>
#include <unistd.h>

#include "base/message.h"

namespace weft::tools {

namespace {

bool has_room(const std::string& folder) {
  constexpr uint64_t kEnough = 16 << 20;
  struct statvfs status{};
  return statvfs(folder.c_str(), &status) == 0 && uint64_t{status.f_bavail} * status.f_frsize >= kEnough;
}

}  // namespace

RecordFolder::RecordFolder(const std::string& command) {
  const char* temporary = std::getenv("TMPDIR");
  std::vector<std::string> places = {"/dev/shm", temporary != nullptr ? temporary : "/tmp"};
  if (!has_room(places.front()) && has_room(places.back())) std::swap(places.front(), places.back());
  for (const std::string& place : places) {
    std::string name = place + "/weft-" + command + "-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) continue;
    path_ = name;
    break;
  }
  if (path_.empty()) base::warn("%s: no folder for what is found out: %s", command.c_str(), std::strerror(errno));
}

RecordFolder::~RecordFolder() {
  std::error_code error;
  if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

}  // namespace weft::tools
