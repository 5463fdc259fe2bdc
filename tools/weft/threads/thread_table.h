// SPDX-License-Identifier: Apache-2.0
// The threads of a process on weft: contexts of the pool, each with the member that it is, and the program's own
// threads.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

#include "threads/inspector.h"

namespace weft::tools::threads {

enum class State {
  runs,    // on a CPU, or about to be
  sleeps,  // its OS thread is in a system call
  ready,   // it could go on, and no carrier has taken it yet
  waits,   // it has left its OS thread to others
};

// What a thread waits for. `object` is the address of what it is about.
enum class Waits {
  not_at_all,
  lock,            // an OpenMP lock, or a critical or ordered section; `holder`
  mutex,           // a mutex of pthreads; `holder`
  barrier,         // the other members of its team; `count`: which barrier
  region_end,      // the same, at the end of the region
  iteration,       // its turn in an ordered or doacross loop; `count`: the iteration
  construct,       // members that are still in an earlier construct
  combining,       // another member's part of a reduction, or of a copyprivate
  children,        // tasks that its task has made
  group,           // tasks of a taskgroup
  predecessors,    // tasks that its task depends on
  events,          // omp_fulfill_event for detached tasks of its team
  pool,            // something else inside the runtime
  system,          // a system call of the program
};

struct Wait {
  Waits what = Waits::not_at_all;
  uint64_t object = 0;
  int64_t count = 0;
  pid_t holder = 0;  // the number of the thread (gettid) that has the lock; 0: not known
  bool is_sure = false;  // of a barrier: that it is one, and not the end of the region

  bool operator==(const Wait&) const = default;
};

// What a thread is in one of the teams that it is in.
struct Membership {
  uint64_t team = 0;
  uint64_t member = 0;
  int number = 0;
  int size = 0;
  int level = 0;
  uint32_t barriers = 0;  // that it has met
};

// A task that the thread runs, or a parent of one.
struct TaskOfThread {
  uint64_t task = 0;
  uint64_t group = 0;
  bool implicit = false;
};

struct Thread {
  std::string name;       // cN: the own context of carrier N; N: a context of the pool; tN: a thread of the program
  uint64_t context = 0;   // 0: a thread that is not the pool's
  pid_t identity = 0;     // what gettid says in it
  pid_t runs_on = 0;      // the OS thread; 0: none has it now
  State state = State::runs;
  std::vector<Membership> teams;  // the innermost first
  std::vector<TaskOfThread> tasks;  // the current one first
  Wait wait;
  std::string system_call;  // while its OS thread sleeps: its name
  Registers registers;
};

struct Team {
  uint64_t team = 0;
  int size = 0;
  int unclaimed = 0;       // members that nobody has begun
  int unfinished = 0;      // members but the primary that have not finished, those included
  bool is_persistent = false;
  bool tasked = false;     // there have been explicit tasks in its region
  std::set<int> finished;  // of a persistent team: the members that have
  int detached = 0;        // detached tasks whose events have not come
  uint64_t function = 0;   // that its members run; 0: not known
};

struct Table {
  std::vector<Thread> threads;
  std::vector<Team> teams;
  int cpus = 0;
  bool is_valid = false;  // false: the process has stopped answering
};

Table read_table(Inspector& process);

}  // namespace weft::tools::threads
