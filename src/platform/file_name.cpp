// SPDX-License-Identifier: Apache-2.0
#include "platform/file_name.h"

#include <climits>

#include <unistd.h>

namespace weft::platform {

namespace {

std::string behind_links(std::string name) {
  constexpr int kMostLinks = 40;  // as the system
  char target[PATH_MAX];
  for (int i = 0; i < kMostLinks; ++i) {
    const ssize_t length = readlink(name.c_str(), target, sizeof target);
    if (length <= 0) break;
    // A target is a path from the folder of its link.
    if (target[0] == '/') name.clear();
    name.resize(name.rfind('/') + 1);
    name.append(target, static_cast<size_t>(length));
  }
  return name;
}

}  // namespace

std::string place_to_replace(const std::string& name) {
  std::string place = behind_links(name);
  struct stat old{};
  if (stat(name.c_str(), &old) != 0) return errno == ENOENT ? place : "";
  // What a link of /proc says is no path where the file has been removed: another file may have that name.
  struct stat found{};
  const bool is_it = stat(place.c_str(), &found) == 0 && found.st_dev == old.st_dev && found.st_ino == old.st_ino;
  return is_it && S_ISREG(old.st_mode) && access(place.c_str(), W_OK) == 0 ? place : "";
}

}  // namespace weft::platform
