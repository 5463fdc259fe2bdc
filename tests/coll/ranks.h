// SPDX-License-Identifier: Apache-2.0
// Ranks for the tests of collectives: processes or threads, and the memory by which they find together.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include <sys/types.h>

#include "coll/coll.h"

namespace test {

// Through which ranks talk before they have a group.
class Meeting {
 public:
  explicit Meeting(int ranks);
  ~Meeting();
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  int ranks() const { return ranks_; }
  void allgather(int rank, const void* mine, void* all, size_t bytes);
  void wait_for_all();
  // Lets all of the following fail.
  void break_off() { shared_->broken = true; }
  bool is_broken() const { return shared_->broken; }

 private:
  static constexpr size_t kMostSaid = 1024, kMostRanks = 64;
  struct Shared {
    std::atomic<int> arrived;
    std::atomic<int> round;
    std::atomic<bool> broken;
    char said[kMostSaid * kMostRanks];
  };
  const int ranks_;
  Shared* shared_;
};

// The bootstrap of one rank.
struct Place {
  Meeting* meeting;
  int rank;
  void (*after_round)(int number) = nullptr;  // of the talk
  int rounds = 0;

  weft::coll::Bootstrap bootstrap();
};

// The exit statuses of the ranks, each a process; a signal counts as its number + 128. A body returns its status.
using Body = std::function<int(Place&)>;
std::vector<int> run_processes(int ranks, const Body& body);

// The ranks are threads that share one mapping, so that ThreadSanitizer sees what they do to it.
void run_threads(int ranks, const weft::coll::Settings& settings,
                 const std::function<void(weft::coll::Group&, int rank)>& body);

}  // namespace test
