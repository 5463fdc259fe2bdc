// SPDX-License-Identifier: Apache-2.0
// The settings that a pool is started with, and how large a pool may be.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <sys/types.h>

#include "platform/cpu_set.h"

namespace weft::core {

struct ParallelCall;

// Roots and workers have room of their own: many threads of the program must not keep the pool from lending workers.
inline constexpr int kMaxRoots = 4096;
inline constexpr int kMaxWorkers = 4096;
inline constexpr int kMaxCarriers = kMaxRoots + kMaxWorkers;

// How the process shares the CPUs of the node with others.
struct NodeSettings {
  bool on = false;
  int weight = 100;
  const char* mode = "";       // shown by `weft node status`
  platform::CpuSet cpus = {};  // the CPUs that the process may use
};

// Whether other processes of the user may inspect this one (core/monitor/inspection.h), and what the layers above core
// tell them: the hash of their records, and where the pointers to the current member lie.
struct InspectionSettings {
  bool allowed = false;
  uint64_t layout = 0;
  std::array<int64_t, 2> members{};
};

// Which roots may be in parallel regions at the same time (core/sched/admission.h).
enum class Admission : uint8_t {
  all,      // no root waits
  one,      // one region at a time
  fitting,  // as many regions as have no more calls together than there are slots
};

// More than there can be.
inline constexpr int kAllParkedThreads = 1'000'000;

struct Settings {
  int slots = 1;                 // carriers that may run at once
  size_t stack_size = 8u << 20;  // bytes, of a context
  int parked_threads = -1;       // donors that keep their threads; -1: it depends on whether contexts are paused
  long spin_ns = 1'000'000;      // how long a waiter looks before it leaves its CPU
  Admission admission = Admission::all;
  // The CPUs that a worker is bound to while it runs no bound context (core/sched/binding.h); null: workers are not
  // bound.
  const platform::CpuSet* (*cpus_of_worker)(int worker) = nullptr;
  // The sets of CPUs that are places.
  const platform::CpuSet* places = nullptr;
  int place_count = 0;
  NodeSettings node = {};
  InspectionSettings inspection = {};
  // Returns a number that changes when members of the region behind the parallel call take a chunk, a task or a
  // construct. Called by the monitor at any time, also after the region has ended.
  uint64_t (*progress)(const ParallelCall& parallel_call) = nullptr;
  // Called under each identity of the pool, and of a root, with the kernel's number of its thread when it begins.
  void (*identity_begins)(pid_t thread) = nullptr;
  // Called by each donor when its thread ends, before its thread-local objects do.
  void (*identity_ends)() = nullptr;
};

// Where there are so many contexts, none is made only to keep apart two members of a team of which one has ended before
// the other begins.
inline size_t enough_contexts(const Settings& settings) noexcept {
  constexpr int kLeast = 16;
  return static_cast<size_t>(settings.slots > kLeast ? settings.slots : kLeast);
}

// How many donors keep their OS threads (core/context/donor.h): all, as programs may treat members as threads of the
// kernel; few where contexts are paused, since each pause takes an identity, and there may be thousands.
size_t kept_threads(const Settings& settings) noexcept;

}  // namespace weft::core
