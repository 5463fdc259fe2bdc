// SPDX-License-Identifier: Apache-2.0
// What a report knows of a run, in whatever form it is shown (docs/explanation/report.md). Times are seconds; CPU
// seconds where many CPUs are meant.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "observe/format/words.h"

namespace weft::tools::report {

using observe::kLosses;
using observe::Loss;
using SiteKind = observe::Kind;

// Lines of a source, of which the first one has the number `first`.
struct Excerpt {
  int first = 0;
  std::vector<std::string> lines;
};

// A place in the sources.
struct SourcePlace {
  std::string file;      // empty: not known (no -g)
  int line = 0;
  std::string function;  // empty: not known
  std::string object;    // the program or library
  uint64_t offset = 0;   // in it
  Excerpt excerpt;       // around the line; without lines: the source was not there
};

// How long pieces of work were: tasks of a task site, chunks of a loop, instances of a region.
struct Lengths {
  uint64_t timed = 0;    // pieces whose length was measured
  double mean = 0;       // seconds
  // By powers of two: element i counts those of 2^i to 2^(i+1) nanoseconds. Scaled up to all pieces.
  std::array<double, 40> histogram{};
};

struct Site {
  int parent = -1;  // the site that it was met in; -1: of site 0
  SiteKind kind = SiteKind::program;
  SourcePlace place;
  std::string name;      // for people: "dgemv.c:42", "function (libfoo.so)", "libfoo.so+0x1234"
  std::string callee;    // of a call: MPI_Recv; empty: not known
  std::string schedule;  // of a loop: static, dynamic, guided; empty: the compiler keeps it from the runtime
  uint64_t count = 0;       // instances: exact
  uint64_t iterations = 0;  // of a loop, sum
  uint64_t pieces = 0;      // chunks dealt out; of a task site: tasks
  uint64_t stolen = 0;      // pieces that another member than the first took (loops by weftcc)
  int members = 0;          // the largest team
  int requested = 0;        // the largest number of threads that was asked for; 0: not known
  int level = 0;            // nested regions around it
  double wall = 0;          // time in which anybody was in it
  double useful = 0;        // CPU seconds of work
  std::array<double, kLosses> lost{};  // CPU seconds that it is to blame for
  Lengths lengths;

  double lost_in_all() const {
    double sum = 0;
    for (const double part : lost) sum += part;
    return sum;
  }
};

// One CPU's track: what it did from a moment to the next entry's.
enum class Doing : uint8_t { idle, work, runtime, wait, blocked };
struct Span {
  uint32_t ticks = 0;  // how long
  int site = 0;
  Doing doing = Doing::idle;
};

struct Timeline {
  double tick = 0;  // seconds
  std::vector<std::vector<Span>> cpus;
};

struct ThreadRow {
  std::string name;
  std::string whose;  // weft, program (called OpenMP), other
  double cpu = 0;     // seconds
};

struct MessageRow {
  std::string call;  // MPI_Recv
  int peer = -1;     // -1: any or all
  uint64_t count = 0;
  double waited = 0;  // seconds
  int rank = -1;     // whose call it was, of several in one report
};

// A process of an MPI program, of those that one report is about.
struct RankRow {
  int rank = 0;
  std::string host;
  double seconds = 0;
  int cpus = 0;
  double efficiency = 1;  // parallel efficiency, of its own CPUs and time
  double useful = 0;      // CPU seconds
  std::array<double, kLosses> lost{};
  double waited = 0;  // seconds in calls of MPI, of all threads and tasks together
  int exit_code = 0;
};

// Advice kinds are words of the JSON and of the documentation.
struct Advice {
  std::string kind;  // small_chunks, short_loop, uneven_static, serial_part, nested_serial, small_tasks, critical,
                     // lock, one_node, few_threads, other_pool, single_region
  int site = 0;
  std::string title;  // one line: what is wrong, and where
  std::string evidence;  // the measured figures that say so
  std::string action;  // what to change
  std::string command;  // or the line, that tries it; may be empty
  double gain = 0;  // seconds of the run's time, expected
};

// Of a process that shared the node (--node) with others.
struct NodeShare {
  int others = 0;  // processes, at most at once; 0: it was alone, or did not share
  double share = 0;  // CPU seconds that it was due
  double held = 0;  // that it had
  double lent = 0;  // of its share, that it did not have
  double borrowed = 0;  // that it had beyond its share
  double waited = 0;  // seconds in which it had less than its share and wanted more
};

struct Run {
  std::vector<std::string> command;
  bool is_part = false;  // of a Python process, such as a notebook's cell: `command` names it, and can be run by nobody
  std::string host;
  std::string began;  // ISO 8601, UTC, to the millisecond
  std::string version;  // "weft 1.2.3"
  double seconds = 0;  // wall, from the start of the process to its end
  int cpus = 0;  // that the program could use
  int exit_code = 0;
  int process = 0;
  int rank = -1;  // of an MPI program; -1: of none, or of several ranks
  int ranks = 0;  // that the MPI program has
  uint64_t samples = 0;
  double period = 0;  // seconds between two samples, mean
  bool is_trace = false;  // made of a trace: each event is known, and there are no samples
  std::map<std::string, std::string> settings;  // variables that say how OpenMP runs
  double own_seconds = 0;  // the same under the program's own OpenMP runtime; 0: it was not run so
  double own_cpu_seconds = 0;  // and CPU seconds
  bool is_cut_off = false;  // the process has not left a whole profile: this is what was known earlier; not in the JSON
  double unseen = 0;  // in which a region was open that had begun before what was recorded; not in the JSON
  double others_cpu = 0;  // seconds that other processes used of these CPUs
  NodeShare node;
  std::vector<std::string> deadlock;  // lines that name the one that the program was in at its end; empty: none
  double stood_still = 0;  // seconds at its end in which it used no CPU, in a deadlock
  int memory_nodes = 1;
  double memory_on_one_node = 0;  // the largest part of the pages on one node, 0 to 1; 0: not known
  std::vector<std::string> notes;  // what the reader has to know: events lost, symbols missing
};

struct Report {
  Run run;
  std::vector<Site> sites;  // [0] is the whole program
  Timeline timeline;
  std::vector<ThreadRow> threads;
  std::vector<MessageRow> messages;
  std::vector<RankRow>
      ranks;  // by number, where the report is about an MPI program's; the timeline has their CPUs in turn
  std::vector<Advice> advice;
};

// Of all CPU time, that other processes have had, or threads have been without; less is usual on a machine that does
// anything else.
inline constexpr double kMuch = 0.10;

// Whether a program's figures are mostly those of a deadlock.
inline bool has_stood_still(const Run& run) { return run.stood_still > run.seconds / 2; }

// CPU seconds of all threads.
inline double cpu_seconds_of(const Report& report) {
  double sum = 0;
  for (const ThreadRow& thread : report.threads) sum += thread.cpu;
  return sum;
}

// 1 less the part of cpus x seconds that was lost by `loss`; of the run, or of the sites from `root` down, of whose own
// time it is a part then.
struct Factors {
  double parallel_efficiency = 1;
  std::array<double, kLosses> each{};
};
Factors factors_of(const Report& report);
Factors factors_of(const Report& report, int root);

}  // namespace weft::tools::report
