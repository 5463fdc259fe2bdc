// SPDX-License-Identifier: Apache-2.0
// A machine that does not exist: its CPUs, and what it costs when they meet.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::scale {

// Picoseconds of the machine's clock.
using Time = int64_t;
inline constexpr Time kNanosecond = 1000;
inline constexpr Time kMicrosecond = 1000 * kNanosecond;
inline constexpr Time kMillisecond = 1000 * kMicrosecond;
inline constexpr int kMostCpus = 256;

struct Costs {
  // ---- memory ----
  Time access = 0;  // of a line that the CPU has, with the instructions around it
  Time update = 0;  // what a read-modify-write takes beyond that
  Time fence = 0;  // a full fence with an empty store buffer
  // A line comes from another CPU ...
  Time same_core = 0;
  Time same_cache = 0;  // ... of the same last-level cache
  Time same_node = 0;
  Time same_socket = 0;
  Time other_socket = 0;
  Time memory = 0;  // nobody has it
  Time line_busy = 0;  // how long a line that is read by one CPU keeps the next reader waiting
  int store_buffer = 0;  // stores that may be under way
  int misses = 0;  // lines that may be under way to a CPU

  // ---- instructions ----
  Time pause = 0;
  Time clock = 0;

  // ---- the kernel ----
  Time system_call = 0;
  Time wake = 0;  // of the caller of a wake-up, for each thread
  Time wake_latency = 0;  // until the thread runs on a CPU that was idle
  Time context_switch = 0;
  Time create_thread = 0;  // of the creator
  Time small_file = 0;  // to open, read and close a file of /proc or /sys
  Time time_slice = 0;
};

class Model {
 public:
  // Of a file of presets/. Prints what is wrong with it, and ends the process then.
  static Model read(const std::string& path);

  int cpus() const { return static_cast<int>(places_.size()); }
  int core(int cpu) const { return places_[static_cast<size_t>(cpu)].core; }
  int cache(int cpu) const { return places_[static_cast<size_t>(cpu)].cache; }
  int node(int cpu) const { return places_[static_cast<size_t>(cpu)].node; }
  int socket(int cpu) const { return places_[static_cast<size_t>(cpu)].socket; }
  int node_count() const { return places_.back().node + 1; }
  const std::string& name() const { return name_; }
  const Costs& costs() const { return costs_; }

  // How long a line takes from one CPU to another.
  Time transfer(int from, int to) const { return transfers_[static_cast<size_t>(from * cpus() + to)]; }

  // What /sys or /proc says in `path`; false: there is no such file.
  bool system_file(const std::string& path, std::string& text) const;

 private:
  struct Place {
    int core, cache, node, socket;
  };
  Time distance(int from, int to) const;
  std::string list(int Place::* level, int of) const;

  std::string name_;
  std::vector<Place> places_;
  std::vector<Time> transfers_;
  Costs costs_;
};

}  // namespace weft::scale
