// SPDX-License-Identifier: Apache-2.0
// What weft's runtime and a library that lets others have CPUs of the pool's budget (src/tcm) tell each other. They are
// of the same release, which `layout` says; whichever of the two is mapped last looks for the other (link()).
#pragma once

#include <cstdint>

#include "core/context/guest_part.h"
#include "platform/find_symbol.h"

namespace weft::core {

// How the pool is doing, when it is asked.
struct GuestLoad {
  int roots = 0;  // that hold slots
  int primaries = 0;  // of them: inside the other library as primary, or as worker
  int workers = 0;
  int members = 0;  // contexts of the pool that are inside the other library
  int wanted = 0;  // carriers beside these that are at work, and more that could be
  bool caller_counted = false;  // whether the caller is among roots or members
};

// Functions of the runtime.
struct PoolSide {
  uint32_t layout;
  void (*start)();  // what has to be there before guests run
  int (*cpus)();  // that the process may use
  bool (*welcome)();  // whether the user wants guests counted (WEFT_ADOPT_LIBRARIES, TCM_ENABLE)
  bool (*statistics)();  // WEFT_STATS
  bool (*roots_at_work)();  // whether anybody but guests holds slots
  GuestLoad (*load)();
  // From now on guests have that many slots in all, and could use `more`. One call at a time.
  void (*hold)(int slots, int more);
  void (*forget)();  // in the child of a fork: they have none
  void (*set_part)(GuestPart);  // of the caller
};

// Functions of the other library.
struct GuestSide {
  uint32_t layout;
  void (*tick)(const GuestLoad& load);  // called by the monitor
  GuestPart (*part)();  // of the caller
};

inline constexpr uint32_t kGuestLayout = 1;

// By these names each of the two exports a function that takes the functions of the other, and gives its own.
inline constexpr char kPoolLink[] = "weft_pool_link";
inline constexpr char kGuestLink[] = "weft_guest_link";

// For a library's constructor: there the dynamic linker's lock is held already, so that looking for the other library
// cannot wait for a thread that waits for the caller. Null: it is not there yet, or of another release.
template <class Theirs, class Ours>
const Theirs* link(const char* name, const Ours* ours) noexcept {
  const auto exchange = reinterpret_cast<const void* (*)(const void*)>(platform::find_symbol(name));
  return exchange != nullptr ? static_cast<const Theirs*>(exchange(ours)) : nullptr;
}

// For that function.
template <class Side>
const Side* checked(const void* side) noexcept {
  const auto* given = static_cast<const Side*>(side);
  return given->layout == kGuestLayout ? given : nullptr;
}

}  // namespace weft::core
