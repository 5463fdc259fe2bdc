// SPDX-License-Identifier: Apache-2.0
#include "mpi/front/known.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace weft::mpi {

namespace {

// MPIs of a family keep their ABI, by their own promise, within what the mark of the shared object says.
struct Family {
  Kind kind;
  // What its versions begin with, up to the number.
  const char* begin;
  int least;
  int most;
};
constexpr int kAny = -1;
constexpr Family kFamilies[] = {
    {Kind::open_mpi, "Open MPI v", 4, 6},
    {Kind::mpich, "MPICH Version:", 3, 5},
    // Others that share MPICH's ABI have versions of their own.
    {Kind::mpich, "Intel(R) MPI Library", kAny, kAny},
    {Kind::mpich, "MVAPICH", kAny, kAny},
    {Kind::mpich, "MPI VERSION    : CRAY MPICH", kAny, kAny},
    {Kind::mpich, "ParaStation MPI", kAny, kAny},
};

// Whoever made it, a library with the standard's ABI is known. The library's name has the ABI's version (MPI 5.0,
// section 20.2).
bool has_known_abi(const Mapped& mapped, char* why, size_t size) noexcept {
  constexpr char kSuffix[] = ".so.";
  constexpr int kVersion = 1;
  const char* suffix = std::strstr(mapped.path, kSuffix);
  const int version = suffix != nullptr ? std::atoi(suffix + std::strlen(kSuffix)) : kVersion;
  if (version == kVersion) return true;
  std::snprintf(why, size, "%s has version %d of MPI's ABI, and weft knows version %d", mapped.path, version, kVersion);
  return false;
}

}  // namespace

bool is_known(const Mapped& mapped, SayVersion say, char* why, size_t size) noexcept {
  // More than any MPI's limit. One thread asks (front/targets.cpp).
  static char version[1 << 15];
  int length = 0;
  version[0] = '\0';
  if (say != nullptr) say(version, &length);
  // Some go on with lines about how they were built.
  version[std::strcspn(version, ",\n")] = '\0';
  if (mapped.kind == Kind::standard_abi) return has_known_abi(mapped, why, size);
  for (const Family& family : kFamilies) {
    if (family.kind != mapped.kind || std::strncmp(version, family.begin, std::strlen(family.begin)) != 0) continue;
    if (family.least == kAny) return true;
    int major = 0;
    if (std::sscanf(version + std::strlen(family.begin), "%d", &major) != 1) break;
    if (major >= family.least && major <= family.most) return true;
    std::snprintf(why, size, major < family.least ? "%.100s is too old" : "%.100s is newer than weft knows", version);
    return false;
  }
  std::snprintf(why, size, "%s is an MPI that weft does not know (%.100s)", mapped.path,
                *version != '\0' ? version : "it does not say its version");
  return false;
}

}  // namespace weft::mpi
