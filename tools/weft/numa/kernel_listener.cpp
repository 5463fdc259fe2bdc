// SPDX-License-Identifier: Apache-2.0
#include "numa/kernel_listener.h"

#include "numa/kernel_touches.h"
#include "numa/perf_event.h"

namespace weft::tools::numa {

KernelListener::KernelListener(const Kernel& kernel, bool later)
    : kernel_(kernel), later_(later), faults_(page_faults(kernel)) {
  if (faults_.error() != 0) why_no_faults_ = why_no_events(kernel, faults_.error(), false);
  const std::vector<PerfEvent> events = memory_samples(kernel);
  if (!later) {
    why_no_samples_ = "--touch first leaves them out";
  } else if (events.empty()) {
    why_no_samples_ = "the CPU takes none that Linux shows here";
  } else {
    samples_.emplace(events);
    if (samples_->error() != 0) why_no_samples_ = why_no_events(kernel, samples_->error(), true);
  }
}

void KernelListener::report_touches(std::vector<Evidence>& all) {
  std::vector<KernelTouch> seen = faults_.take();
  if (samples_) {
    const std::vector<KernelTouch> samples = samples_->take();
    seen.insert(seen.end(), samples.begin(), samples.end());
  }
  for (Evidence& evidence : all) {
    evidence.why_no_faults = why_no_faults_;
    evidence.why_no_samples = why_no_samples_;
    add_touches(seen, kernel_.nodes(), evidence);
    if (!later_) forget_later_touches(evidence);
  }
}

}  // namespace weft::tools::numa
