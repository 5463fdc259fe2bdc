// SPDX-License-Identifier: Apache-2.0
// Names that users give to files for results.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

#include <sys/stat.h>

#include "platform/launcher.h"

namespace weft::platform {

// Whether each process, or each rank, makes a name of its own of this one.
inline bool has_number(const std::string& name) {
  return name.find("%p") != std::string::npos || name.find("%r") != std::string::npos;
}

// `name` with the number of `process` in the place of %p, and the rank of this process in that of %r; without a
// launcher the rank is 0.
inline std::string with_numbers(std::string name, int process) {
  const auto replace = [&name](const char* what, const std::string& by) {
    for (size_t at = 0; (at = name.find(what, at)) != std::string::npos; at += by.size()) name.replace(at, 2, by);
  };
  const char* rank = rank_by_launcher();
  replace("%p", std::to_string(process));
  replace("%r", rank != nullptr ? rank : "0");
  return name;
}

// Where a new file is to be put, when it is complete, in the place of what `name` leads to: behind all links, which
// stay. Empty: what is there has to be written itself. It is no plain file, has other names too (hard links), may not
// be replaced, or nothing but an open file leads to it, as where it was removed and is /dev/stdout.
std::string place_to_replace(const std::string& name);

// Gives a new file the owner and the rights of the older one whose place it is to take. False: the owner cannot be had,
// so that what is there has to be written itself.
bool take_owner_and_rights(int descriptor, const struct stat& old);

// Why the file cannot be written; `error` is that of the system.
inline std::string why_not_written(const std::string& name, int error) {
  const size_t slash = name.rfind('/');
  const std::string folder = slash != std::string::npos && slash > 0 ? name.substr(0, slash) : "/";
  struct stat status{};
  if (error != ENOENT || stat(folder.c_str(), &status) == 0) return std::strerror(error);
  return "there is no folder " + folder + "; make it, or name a file elsewhere";
}

}  // namespace weft::platform
