// SPDX-License-Identifier: Apache-2.0
// Where another process has the records of its runtime (core/monitor/inspection.h).
#pragma once

#include <cstdint>

#include "core/monitor/inspection.h"
#include "top/mapped_runtime.h"

namespace weft::tools {

enum class RecordState {
  known,
  not_yet,        // no parallel region has begun, or none since a fork
  forbidden,      // the kernel does not let the caller read the process's memory
  other_version,  // the records are others
  missing,        // the process has ended, or has become another program
};

class RecordStart {
 public:
  explicit RecordStart(pid_t process) : process_(process) {}

  // Whether the records are where they were. `mapped`: where they are looked for until they have been found.
  RecordState look(const MappedRuntime& mapped);
  const core::InspectionStart& get() const { return start_; }

 private:
  RecordState find(const MappedRuntime& mapped);
  RecordState judge(const core::InspectionStart& start) const;

  const pid_t process_;
  int64_t own_number_ = 0;  // what the process takes itself for; 0: that has not been asked
  uint64_t address_ = 0;    // 0: not found
  bool is_nowhere_ = false;  // it has been looked for in vain
  core::InspectionStart start_;
};

}  // namespace weft::tools
