// SPDX-License-Identifier: Apache-2.0
// Accesses to memory that perf_event_open(2) tells of. Nothing in the program is changed.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "numa/evidence.h"
#include "numa/perf_event.h"

namespace weft::tools::numa {

class PerfRings {
 public:
  // From now on, those of the processes that the calling thread starts, and of theirs. The thread that this starts
  // handles no signals.
  explicit PerfRings(const std::vector<PerfEvent>& events);
  ~PerfRings();
  PerfRings(const PerfRings&) = delete;
  PerfRings& operator=(const PerfRings&) = delete;

  // Why none is seen: an errno. 0: they are.
  int error() const { return error_; }

  // Ends it. All that were kept, of which there are more where the program had few.
  std::vector<KernelTouch> take();

 private:
  struct Ring {
    int file = -1;
    void* memory = nullptr;
    Source source = Source::page_fault;
  };

  int open_all(const std::vector<PerfEvent>& events);
  int open_one(PerfEvent& event, int cpu);
  void close_all();
  void drain(Ring& ring);
  void keep(const KernelTouch& touch);
  void run();

  std::vector<Ring> rings_;
  std::vector<int> leaders_;
  std::vector<KernelTouch> kept_;
  uint64_t seen_ = 0;
  uint64_t stride_ = 1;  // of those that are seen, one is kept
  std::atomic<bool> over_{false};
  int wake_ = -1;
  std::thread thread_;
  int error_ = 0;
};

}  // namespace weft::tools::numa
