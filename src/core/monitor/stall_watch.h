// SPDX-License-Identifier: Apache-2.0
// Whether calls that wait for a carrier had better get an OS thread beyond the CPU slots. From outside, a member that
// polls for another member looks like a member that computes. So where nothing has moved for a while, one thread is
// lent as a probe, and what happens then is the evidence. The classes here are policies: they see counters and a clock
// only. Internal to core.
#pragma once

#include <array>
#include <cstdint>

namespace weft::core {

// One probe: what happens once a thread has been lent to a region in which nothing moved.
//
// The verdict. If carriers that ran before the loan move right before or after the lent thread has got something done,
// they have waited for it. If they move on their own, or do not move although the lent thread has got something done,
// they have computed.
class Probe {
 public:
  enum class Verdict {
    open,
    waits,  // the members wait for each other
    computes,  // they do not
  };

  // What is seen at one look. Time is CPU time of the process, divided by its running threads: on a busy machine real
  // time passes while none of them runs.
  struct Look {
    int64_t time_ns = 0;
    bool others_moved = false;  // a carrier that ran before the loan has moved since
    uint64_t lent_progress = 0;  // counts what the lent threads have got done
    bool lent_idle = false;  // the lent threads find nothing more to do
  };

  // `patience_ns`: how long nothing had moved before the loan.
  void begin(int64_t time_ns, int64_t patience_ns) noexcept;
  Verdict look(const Look& now) noexcept;

  // How long to wait until the next look. Looks are as close together as a small part of the CPU time allows: the
  // farther apart they are, the more often two events that have nothing to do with each other fall into the same few
  // looks.
  int64_t period_ns(int64_t time_ns) const noexcept;

 private:
  // An effect may come this many looks after its cause, or effect_ns() later: a thread that polls has to get a CPU
  // first.
  static constexpr int kLooks = 2;
  int64_t effect_ns(int64_t time_ns) const noexcept;

  struct Moment {
    int look = -1;  // -1: the event has not come
    int64_t time_ns = 0;
  };
  bool is_long_ago(const Moment& moment, int64_t time_ns) const noexcept;

  int64_t began_ns_ = 0;
  int64_t patience_ns_ = 0;
  int looks_ = 0;
  uint64_t progress_ = 0;
  Moment others_;
  Moment lent_;
};

// Work that waits in vain while the system refuses threads. CPU times are the process's, divided by its running
// threads.
struct Hopeless {
  int running = 0;  // carriers that are not asleep in the kernel
  int64_t cpu_ns = 0;  // CPU time since the last loan
  int64_t quiet_ns = 0;  // CPU time since when nothing has moved
  int64_t real_ns = 0;  // real time since the work began to wait, less the time for which the process was stopped
};

// Whether the members of the program seem to wait for each other for good. Real time decides where other processes take
// the CPUs, so that the user is told within a minute; but each member that runs has to have had some CPU time.
bool is_hopeless(const Hopeless& seen) noexcept;

// What the probes have shown of regions, by their functions.
class RegionRecords {
 public:
  // How long nothing must have moved before a region gets a probe; time as in Probe::Look.
  int64_t patience_ns(const void* function) const noexcept;

  // Whether its members have been seen to compute, and not to wait since.
  bool has_computed(const void* function) const noexcept { return patience_ns(function) > kPatienceNs; }
  // The same the other way round.
  bool has_waited(const void* function) const noexcept { return patience_ns(function) < kPatienceNs; }

  void waits(const void* function, int64_t now_ns) noexcept;
  void computes(const void* function) noexcept;

  // Whether all members of such a region are to run at once from its beginning: it has been seen to wait twice. Once
  // may be chance.
  bool is_gang(const void* function) const noexcept;

  // A gang whose case is due to be looked at again, since regions change; null: none is due. It counts as no gang until
  // it is seen to wait once more. The time between two reviews grows.
  const void* review(int64_t now_ns) noexcept;

 private:
  static constexpr int kRecords = 32;
  static constexpr int kScoreOfGangs = 2;
  static constexpr int64_t kPatienceNs = 10'000'000;
  static constexpr int64_t kShortestNs = 4'000'000;
  static constexpr int64_t kLongestNs = 1'000'000'000;
  static constexpr int64_t kReviewNs = 2'000'000'000;
  static constexpr int64_t kRarestReviewNs = 128'000'000'000;

  struct Record {
    const void* function = nullptr;
    int score = 0;  // how often it has waited since it has last computed
    int64_t patience_ns = kPatienceNs;
    int64_t review_ns = 0;  // when the next review is due
    int64_t review_period_ns = kReviewNs;
    uint64_t used = 0;
  };
  const Record* find(const void* function) const noexcept;
  Record& find_or_make(const void* function) noexcept;

  std::array<Record, kRecords> records_{};
  Record spare_;  // used where all other records are those of gangs
  uint64_t uses_ = 0;
};

}  // namespace weft::core
