// SPDX-License-Identifier: Apache-2.0
// What is known of a process when its report is written.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "numa/kernel.h"
#include "numa/recorded.h"

namespace weft::tools::numa {

struct Thread {
  int number = 0;
  std::string name;
  std::string cpus;  // that it may use, as a list
  int node = -1;     // of all of these; -1: it may run on several
  int last_cpu = -1;
};

// Where the pages of an array were, from look to look.
struct History {
  std::vector<int> first;  // the first node that each was found on; -1: none yet
  std::vector<int> last;
  std::vector<bool> moved;
  std::vector<int64_t> since;  // when each was first found on a node; 0: not yet
  int looks = 0;
};

// Where the kernel has an access from.
enum class Source : uint8_t {
  page_fault,     // that has happened in any case: nobody has protected the page
  memory_sample,  // that the CPU has taken
};

// An access to memory that the kernel tells of.
struct KernelTouch {
  int64_t time = 0;
  uint64_t address = 0;
  uint64_t code = 0;  // the instruction; 0: in a system call
  int process = 0;
  int thread = 0;
  int cpu = 0;
  Source source = Source::page_fault;
  weft::numa::Access access = weft::numa::Access::unknown;
};

// How it is found out who touches memory.
enum class Means : uint8_t {
  none,
  kernel,      // by what the kernel tells in any case
  protection,  // by pages that are protected now and then
};

// Counters of the whole machine (/proc/vmstat).
struct Balancing {
  bool known = false;
  bool enabled = false;
  int64_t migrated = 0;     // numa_pages_migrated
  int64_t hint_faults = 0;  // numa_hint_faults
};

struct Evidence {
  int pid = 0;
  std::string command;
  double seconds = 0;
  bool has_record = false;
  bool running = false;  // still, when it was looked at
  Recorded recorded;
  Means means = Means::protection;
  std::string why_no_faults;   // empty: page faults are seen
  std::string why_no_samples;  // empty: memory samples are taken, if the process has any
  uint64_t samples = 0;        // of memory, with their address
  int64_t over = 0;            // when the process was gone, or another program, at the latest; 0: not known
  std::map<uint32_t, History> history;  // by the number of the array
  std::string allowed_nodes;              // that it may have memory on, as a list; empty: not known
  std::vector<Thread> threads;          // when there were most of them
  std::string maps;                     // /proc/PID/maps and numa_maps, as late as possible
  std::string numa_maps;
  Balancing balancing;    // what has been added meanwhile
  int query_error = 0;    // why the nodes of pages are not known; 0: they are
};

}  // namespace weft::tools::numa
