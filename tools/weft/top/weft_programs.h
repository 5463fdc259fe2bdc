// SPDX-License-Identifier: Apache-2.0
// The processes that run on weft, whether they share the node or not: what /proc and their runtimes' records say.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cpu_users.h"
#include "top/runtime_record.h"

namespace weft::tools {

struct ProgramRow {
  int pid = 0;
  uint64_t start = 0;  // by which it is told from a later process with its number
  int parent = 0;
  std::string name;
  std::string command;  // with its arguments
  double cpus = 0;      // that it has used since the last look, as in 1.8 of 2
  int allowed = 0;      // CPUs in its affinity mask
  int threads = 0;      // of the system
  double seconds = 0;   // since it was started

  // What the record of its runtime says; `record`: why it says nothing, or less.
  RecordState record = RecordState::missing;
  int slots = 0;  // CPUs that it uses at once; 0: not known
  std::optional<double> regions;  // per second
  std::optional<double> work;     // in regions: what part of the members' time was work; none: it was in none
  std::optional<int64_t> tasks;     // that wait to be run
  std::optional<int64_t> messages;  // what waits for some

  // CPUs that it could use.
  int usable() const { return slots > 0 && slots < allowed ? slots : allowed; }
  // The part of these that it has used.
  double efficiency() const { return usable() > 0 ? cpus / usable() : 0; }
};

// A process above some of these that is not on weft itself.
struct Ancestor {
  uint64_t start = 0;
  int parent = 0;
  std::string name;
  std::string command;
};

struct ProgramRows {
  std::vector<ProgramRow> programs;
  std::map<int, Ancestor> ancestors;
  double others = 0;  // CPUs that all other processes have used
  std::vector<CpuUser> busiest;  // of these
};

class WeftPrograms {
 public:
  // Rates are known from the second look on.
  ProgramRows look();
  // Between two looks, as often as it may be: what members do. Nothing is said of it before the next look.
  void sample();

 private:
  struct Known {
    uint64_t start = 0;
    bool on_weft = false;
    int looks_left = 0;  // until it is looked at again what runs there: it may have become another program
    std::string command;
    MappedRuntime mapped;
    double used = 0;  // CPU seconds
    double seen = 0;  // when
    double cpus = 0;
    std::unique_ptr<RuntimeRecord> record;
    RuntimeCounts counts;
    bool has_counts = false;
    std::optional<double> regions;
    // Sums over samples, of earlier ones less.
    double members = 0;
    double at_work = 0;
    std::optional<double> work;
  };
  bool look_at(int pid, double now, Known& known, ProgramRow& row);
  static void look_at_record(double passed, Known& known, ProgramRow& row);
  void add_ancestors(ProgramRows& rows);

  std::map<int, Known> known_;
  std::map<int, Ancestor> ancestors_;
  int looks_at_ancestors_left_ = 0;
  double busy_ = 0;  // CPU seconds of the machine
  double seen_ = 0;
  double others_ = 0;
  CpuUsers busiest_;
  std::vector<CpuUser> busy_programs_;
  unsigned looks_at_others_ = 0;
};

}  // namespace weft::tools
