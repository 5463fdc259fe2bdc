// SPDX-License-Identifier: Apache-2.0
// What the runtime of another process has counted, read from its memory. The runtime counts it in any case, and is not
// asked: it does not notice. The process changes what is read while it is read, may end, or may become another program.
// So every number is bounded, and every pointer is followed by reads that may fail.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/sched/pool.h"
#include "top/record_copy.h"
#include "top/record_start.h"
#include "top/root_teams.h"

namespace weft::tools {

struct RuntimeCounts {
  uint64_t regions = 0;  // that have ended since the first look
  int slots = 0;  // CPUs that it uses at once
  int64_t tasks = 0;  // that wait in the deques of the teams that roots are in
  int64_t messages = 0;  // tasks and events that wait for messages
};

// What those do that are in parallel regions, at one moment.
struct WorkSample {
  int members = 0;  // for which there are CPUs; 0: nobody is in a region
  int at_work = 0;  // of these: they wait neither for others nor for work
};

class RuntimeRecord {
 public:
  explicit RuntimeRecord(pid_t process) : process_(process), start_(process) {}

  // `mapped`: see RecordStart.
  RecordState look(const MappedRuntime& mapped, RuntimeCounts& counts);
  // After a look that has found it known. None: it cannot be read any more.
  std::optional<WorkSample> sample();

 private:
  bool read_pool(RuntimeCounts& counts);
  void add_carriers(Copies<core::Carrier>& carriers, std::vector<MemoryPart>& parts) const;
  int members_of(const core::Carrier& root, const TeamPathCopy& copy);
  void count_regions(const Copies<core::Carrier>& carriers);

  const pid_t process_;
  RecordStart start_;
  int slots_ = 0;
  std::vector<uint64_t> carriers_;  // addresses, by index, as of the last look
  std::vector<uint32_t> regions_seen_;  // by index
  bool has_seen_ = false;
  uint64_t regions_ = 0;
  TeamPath path_;  // of the root that was in a region last
};

}  // namespace weft::tools
