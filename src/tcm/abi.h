// SPDX-License-Identifier: Apache-2.0
// The interface of oneTBB's Thread Composability Manager (TCM), version 1.6: a library that has threads of its own asks
// for permits, which say how many of these may run. This is the one file that knows TCM's layouts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::tcm {

enum class Result : int { success = 0, invalid_argument = 0x78000004, unknown = 0x7ffffffe };

enum class State : uint8_t {
  none,
  inactive,  // the permit asks for nothing
  pending,  // the least that it asks for is not to be had
  idle,  // it has what is granted, and does not use it
  active,
};

struct PermitFlags {
  uint32_t stale : 1;  // what was read is out of date
  uint32_t rigid : 1;  // what is granted must not change while the permit is active
  uint32_t exclusive : 1;
  uint32_t inactive : 1;  // of a request: nothing is asked for yet
  uint32_t reserved : 28;
};

struct CallbackFlags {
  uint32_t new_concurrency : 1;
  uint32_t new_state : 1;
  uint32_t reserved : 30;
};

// Numbers below 0 leave the choice to the provider.
constexpr int32_t kAutomatic = -1;
constexpr int32_t kNormalPriority = INT32_MAX / 4 * 2;

struct Constraints {
  int32_t least;
  int32_t most;
  void* mask;  // of hwloc
  int32_t numa_node;
  int32_t core_type;
  int32_t threads_per_core;
};

struct Request {
  int32_t least = kAutomatic;
  int32_t most = kAutomatic;
  const Constraints* constraints = nullptr;
  uint32_t constraint_count = 0;
  int32_t priority = kNormalPriority;
  PermitFlags flags = {};
  char reserved[4] = {};
};

// What is granted: one number for each of the request's constraints, or one.
struct Grant {
  uint32_t* concurrencies;
  void** masks;
  uint32_t size;
  State state;
  PermitFlags flags;
};

struct Permit;
using Callback = Result (*)(Permit* permit, void* argument, CallbackFlags why);

static_assert(sizeof(PermitFlags) == 4 && sizeof(CallbackFlags) == 4);
static_assert(sizeof(Constraints) == 32 && offsetof(Constraints, mask) == 8);
static_assert(sizeof(Request) == 32 && offsetof(Request, constraints) == 8 && offsetof(Request, flags) == 24);
static_assert(sizeof(Grant) == 32 && offsetof(Grant, state) == 20 && offsetof(Grant, flags) == 24);

}  // namespace weft::tcm
