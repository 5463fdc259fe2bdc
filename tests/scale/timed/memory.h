// SPDX-License-Identifier: Apache-2.0
// Cache lines and who has them: a directory with one owner or several sharers a line. Caches have no end, and nothing
// is ever thrown out.
//
// A store waits in the buffer of its CPU until the line has come and all stores before it are through (TSO). Its value
// is in memory at once; the time at which others see it is kept by the line, which nobody else gets before.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "timed/model.h"

namespace weft::scale {

enum class Touch : uint8_t { read, write, update };

// What one place of the program did to memory that is shared.
struct Site {
  uint64_t count = 0;
  uint64_t updates = 0;
  uint64_t transfers = 0;
  uint64_t false_transfers = 0;  // of them, where none of the bytes had been written since
  Time waited = 0;
};

struct Line {
  uintptr_t number = 0;  // address / 64
  int owner = -1;  // the CPU that alone has it
  int only = kNobody;  // the CPU that alone has ever touched it
  std::bitset<kMostCpus> sharers;
  Time busy_until = 0;
  uint64_t transfers = 0;
  uint64_t updates = 0;
  // Which bytes have been written since a CPU lost its copy; for lines that are shared.
  std::unique_ptr<std::array<uint64_t, kMostCpus>> stale;
  uint64_t fresh = 0;  // written by the owner, and not in `stale` yet
  const void* last_place = nullptr;  // where the program touched it last
  std::vector<int> watchers;  // threads that doze until somebody writes to it

  static constexpr int kNobody = -2, kSeveral = -1;
};

// What a CPU has under way.
class Pipeline {
 public:
  explicit Pipeline(const Costs& costs)
      : commits_(static_cast<size_t>(costs.store_buffer)), misses_(static_cast<size_t>(costs.misses)) {}

  // When a line that is asked for at `now` is asked for indeed: as many as there may be are under way.
  Time ask(Time now) const { return std::max(now, misses_[miss_]); }
  void came(Time when) {
    misses_[miss_] = when;
    miss_ = (miss_ + 1) % misses_.size();
  }
  // The time at which the store buffer has room.
  Time room(Time now) const { return std::max(now, commits_[commit_]); }
  void commits(Time when) {
    last_commit_ = when;
    commits_[commit_] = when;
    commit_ = (commit_ + 1) % commits_.size();
  }
  Time last_commit() const { return last_commit_; }

  // The place whose loads follow each other: a loop's loads of different lines overlap.
  const void* loop = nullptr;
  Time loop_asked = 0;

 private:
  std::vector<Time> commits_;
  std::vector<Time> misses_;
  size_t commit_ = 0;
  size_t miss_ = 0;
  Time last_commit_ = 0;
};

class Memory {
 public:
  explicit Memory(const Model& model) : model_(model), costs_(model.costs()), table_(1 << 16) {}

  Line& line(uintptr_t number);

  // `cpu` does something to the bytes `mask` of a line at `now`; the time at which it goes on.
  Time touch(Line& line, int cpu, Pipeline& pipeline, Touch access, uint64_t mask, Time now, const void* place);

  // Whether `cpu` need not ask for it.
  static bool has(const Line& line, int cpu, Touch access) {
    return line.owner == cpu || (access == Touch::read && line.sharers.test(static_cast<size_t>(cpu)));
  }

  // From now on, what is counted belongs to something new.
  void reset_counts();
  const std::unordered_map<const void*, Site>& sites() const { return sites_; }
  // The lines that have been fetched since, those with most updates first.
  std::vector<const Line*> busiest(size_t most) const;
  uint64_t transfers() const { return transfers_; }

 private:
  Time from_elsewhere(const Line& line, int cpu, bool alone) const;
  void share(Line& line);
  void settle(Line& line);
  void grow();

  const Model& model_;
  const Costs& costs_;
  std::vector<Line*> table_;
  std::deque<Line> lines_;
  std::unordered_map<const void*, Site> sites_;
  uint64_t transfers_ = 0;
};

}  // namespace weft::scale
