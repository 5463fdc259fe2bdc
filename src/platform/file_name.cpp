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
  const bool is_alone = S_ISREG(old.st_mode) && old.st_nlink == 1;
  return is_it && is_alone && access(place.c_str(), W_OK) == 0 ? place : "";
}

bool take_owner_and_rights(int descriptor, const struct stat& old) {
  struct stat made{};
  if (fstat(descriptor, &made) != 0) return false;
  const bool has_owner = made.st_uid == old.st_uid && made.st_gid == old.st_gid;
  // First: a change of the owner takes rights away.
  if (!has_owner && fchown(descriptor, old.st_uid, old.st_gid) != 0) return false;
  // Some file systems have no rights.
  fchmod(descriptor, old.st_mode);
  return true;
}

}  // namespace weft::platform
