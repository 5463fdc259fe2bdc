// SPDX-License-Identifier: Apache-2.0
// The link between weft's runtime and a library whose threads may use CPUs of the pool's budget (src/tcm). Both are of
// the same release, as `layout` says; whichever of the two is mapped last looks for the other (link()).
#pragma once

#include <cstdint>

#include "core/context/guest_part.h"
#include "platform/find_symbol.h"

namespace weft::core {

// How the pool is doing, when it is asked.
struct GuestLoad {
  int roots = 0;  // roots that hold slots
  int primaries = 0;  // how many of these are inside the other library as primary ...
  int workers = 0;    // ... and how many as worker
  int members = 0;  // contexts of the pool that are inside the other library
  int wanted = 0;  // carriers beside these that are at work, and further ones that could be
  bool caller_counted = false;  // whether the caller is among roots or members
};

// Functions of the runtime.
struct PoolSide {
  uint32_t layout;
  void (*start)();  // starts what has to be there before guests run
  int (*cpus)();    // how many CPUs the process may use
  bool (*welcome)();  // whether the user wants guests counted (WEFT_ADOPT_LIBRARIES, TCM_ENABLE)
  bool (*statistics)();  // WEFT_STATS
  bool (*roots_at_work)();  // whether threads other than guests hold slots
  GuestLoad (*load)();
  // From now on guests have that many slots in all, and could use `more`. One call at a time.
  void (*hold)(int slots, int more);
  void (*forget)();             // in the child of a fork: guests hold no slots
  void (*set_part)(GuestPart);  // sets the part of the caller
};

// Functions of the other library.
struct GuestSide {
  uint32_t layout;
  void (*tick)(const GuestLoad& load);  // called by the monitor
  GuestPart (*part)();  // the part of the caller
};

inline constexpr uint32_t kGuestLayout = 1;

// Each of the two exports a function by one of these names: it takes the functions of the other side, and returns its
// own.
inline constexpr char kPoolLink[] = "weft_pool_link";
inline constexpr char kGuestLink[] = "weft_guest_link";

// Links to the other side; null: it is not there yet, or is of another release. To be called in a library's
// constructor: the dynamic linker's lock is held there already, so the search for the other library cannot wait for a
// thread that waits for the caller.
template <class Theirs, class Ours>
const Theirs* link(const char* name, const Ours* ours) noexcept {
  const auto exchange = reinterpret_cast<const void* (*)(const void*)>(platform::find_symbol(name));
  return exchange != nullptr ? static_cast<const Theirs*>(exchange(ours)) : nullptr;
}

// For the exported function: the other side's functions if they are of this release, else null.
template <class Side>
const Side* checked(const void* side) noexcept {
  const auto* given = static_cast<const Side*>(side);
  return given->layout == kGuestLayout ? given : nullptr;
}

}  // namespace weft::core
