// SPDX-License-Identifier: Apache-2.0
// What a pool is started with, and how large one may be.
#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/cpu_set.h"

namespace weft::core {

struct ParallelCall;

// Each has room of its own: threads of the program must not keep the pool from lending some.
inline constexpr int kMaxRoots = 4096;
inline constexpr int kMaxWorkers = 4096;
inline constexpr int kMaxCarriers = kMaxRoots + kMaxWorkers;

// How the process shares the CPUs of the node with others.
struct NodeSettings {
  bool on = false;
  int weight = 100;
  const char* mode = "";       // for others to look at
  platform::CpuSet cpus = {};  // those that the process may use
};

// Which roots may be in parallel regions at the same time (core/sched/admission.h).
enum class Admission : uint8_t {
  all,      // nobody waits
  one,      // one region at a time
  fitting,  // as many as have, together, no more calls than there are slots
};

struct Settings {
  int slots = 1;                 // carriers that may run at once
  size_t stack_size = 8u << 20;  // bytes, of a context
  long spin_ns = 1'000'000;      // how long a waiter looks before it leaves its CPU
  Admission admission = Admission::all;
  // The CPUs that a worker is bound to as long as nobody says otherwise (core/sched/binding.h); null: workers are not
  // bound.
  const platform::CpuSet* (*cpus_of_worker)(int worker) = nullptr;
  // All sets that threads are bound to as places.
  const platform::CpuSet* places = nullptr;
  int place_count = 0;
  NodeSettings node = {};
  // A number that changes when members of the region that the parallel call stands for take a chunk, a task or a
  // construct. Called by the monitor at any time, also after the region has ended.
  uint64_t (*progress)(const ParallelCall& parallel_call) = nullptr;
  // Called by each thread that has lent a context its identity when it ends, before its thread-local objects do.
  void (*identity_ends)() = nullptr;
};

}  // namespace weft::core
