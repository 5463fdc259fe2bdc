// SPDX-License-Identifier: Apache-2.0
// Which events perf_event_open(2) is asked for.
#pragma once

#include <optional>
#include <vector>

#include <linux/perf_event.h>

#include "numa/evidence.h"
#include "numa/kernel.h"

namespace weft::tools::numa {

inline constexpr uint64_t kSampleType =
    PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_DATA_SRC;

struct PerfEvent {
  Source source = Source::page_fault;
  perf_event_attr attributes{};
  std::optional<perf_event_attr> leader;  // some CPUs take samples of loads in a group behind it alone
};

// Page faults, which happen in any case.
std::vector<PerfEvent> page_faults(const Kernel& kernel);

// Loads and stores that the CPU samples: PEBS of Intel, or IBS of AMD. Empty: this machine has none that tell whose
// memory they access.
std::vector<PerfEvent> memory_samples(const Kernel& kernel);

}  // namespace weft::tools::numa
