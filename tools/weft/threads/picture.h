// SPDX-License-Identifier: Apache-2.0
// What is said of a process's threads, as text and as JSON.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "threads/deadlock.h"
#include "threads/stacks.h"
#include "threads/thread_table.h"

namespace weft::tools::threads {

// What there is to be seen of the process.
enum class View : uint8_t {
  inside,       // weft's records
  outside,      // it has none, since it has opened no region of several threads: its OS threads
  not_on_weft,  // the same of one that has no runtime of weft's
};

struct Picture {
  int process = 0;
  std::string subject;  // Inspector::subject
  std::string program;
  bool is_live = true;
  bool tells_calls_of_mpi = false;  // at SIGUSR1
  View view = View::inside;
  std::optional<double> still;  // seconds since one of its threads has run (standstill.h)
  int signal = 0;       // that has ended it; 0: none is known
  int signalled = 0;    // the OS thread whose doing that was; 0: somebody has sent it
  bool overflowed = false;  // its stack was full
  bool on_initial_stack = false;  // that was the initial thread's
  Table table;
  Diagnosis diagnosis;
  std::vector<std::vector<Frame>> stacks;  // by thread
  std::map<uint64_t, CodePlace> regions;  // by team: what its members run
  bool reads_stacks = false;
  std::vector<std::string> changed;  // files that are no more what the process has mapped
};

// The innermost frame of the program; none: it is not known.
const Frame* frame_of_program(const std::vector<Frame>& stack);
// Whether the thread waits inside the runtime.
bool is_in_runtime(const std::vector<Frame>& stack);
bool has_function(const std::vector<Frame>& stack, const std::string& part_of_name);
// The function of the runtime that the program has called, such as GOMP_barrier; empty: none.
std::string called_of_runtime(const std::vector<Frame>& stack);
// Whether that is one that opens regions. A member that is not at the end of one has left the stack of its function: it
// has called the runtime as its last deed.
bool has_opened_region(const std::vector<Frame>& stack);

// "DEADLOCK: 2 threads can never go on. These wait for each other:", and a line for each of them. Empty: none is seen.
std::vector<std::string> deadlock_lines(const Picture& picture);

std::string as_text(const Picture& picture, bool whole_stacks);
std::string as_json(const Picture& picture);

}  // namespace weft::tools::threads
