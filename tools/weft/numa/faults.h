// SPDX-License-Identifier: Apache-2.0
// Page faults of a program that happen in any case, as perf_event_open(2) tells of them: who touches a page first and,
// where the kernel balances NUMA nodes automatically, who uses it later. Nothing in the program is changed.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "numa/evidence.h"

namespace weft::tools::numa {

class Faults {
 public:
  // From now on, those of the processes that the calling thread starts, and of theirs. The thread that this starts
  // handles no signals.
  Faults();
  ~Faults();
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;

  // Why none is seen: an errno. 0: they are.
  int error() const { return error_; }

  // Ends it. All that were kept, of which there are more where the program had few.
  std::vector<PageFault> take();

 private:
  struct Ring {
    int file = -1;
    void* memory = nullptr;
  };

  int open_all();
  void drain(Ring& ring);
  void keep(const PageFault& fault);
  void run();

  std::vector<Ring> rings_;
  std::vector<PageFault> kept_;
  uint64_t seen_ = 0;
  uint64_t stride_ = 1;  // of those that are seen, one is kept
  std::atomic<bool> over_{false};
  int wake_ = -1;
  std::thread thread_;
  int error_ = 0;
};

// The faults of the process become touches of its arrays.
void add_faults(const std::vector<PageFault>& faults, const platform::NumaNodes& nodes, Evidence& evidence);

// What is left is who touched first.
void forget_later_touches(Evidence& evidence);

// Why page faults are not seen, for people: what forbids it, and the way out.
std::string why_no_faults(const Kernel& kernel, int error);

}  // namespace weft::tools::numa
