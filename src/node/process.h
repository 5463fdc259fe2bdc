// SPDX-License-Identifier: Apache-2.0
// What a process is to the others of the node: it takes slots, gives them back, and says when it misses some.
//
//   missing   its word in the segment. A process that sets it computes how many slots each process is due, writes that
//             into their `terms`, and rings those that now have too many.
//   take      a free slot, as long as it has fewer than its due. While no process misses slots there is no such bound.
//   give      a slot. While others miss some, the process that has least of its due is rung.
//
// A slot is freed first and the terms are read then; a process that misses slots writes all terms first and looks for
// free slots then; a full fence stands between on both sides. So a slot cannot be freed and not be seen. The processes
// that miss slots, and those that are pressed for some, look at all of it again every few milliseconds.
#pragma once

#include <atomic>
#include <cstdint>

#include "node/division.h"
#include "node/published.h"
#include "node/pulse.h"
#include "node/queue.h"
#include "node/segment.h"

namespace weft::node {

struct Terms {
  int weight = 100;
  int most = 1;              // slots that are of use
  Rule rule = Rule::all;
  const char* mode = "";     // for others to look at
  platform::CpuSet cpus;     // those that may be used
};

class Process {
 public:
  // Joins the processes that share the file at `path`. The calling thread must live as long as the process: when it
  // ends, the process counts as dead. Null, and why in `reason`.
  static Process* join(const char* path, const Terms& terms, Reason& reason) noexcept;
  // By the same thread. The last process removes the file. Other threads may still call take and give, to no effect.
  void leave() noexcept;
  // The same for a segment that is lost (below): frees what of it may still be this process's.
  void resign() noexcept;

  // A slot, or -1. Slots are the caller's to pass around; give() takes any that the process has.
  int take() noexcept;
  void give(int slot) noexcept;
  // How many take() would find, up to `most`. Relaxed: others take and give meanwhile.
  int count_free(int most) const noexcept;
  // Whether the slot is still the process's: it is taken away when others have waited for it too long.
  bool owns(int slot) const noexcept;
  // A slot of a process that has more than its due, or that could have another one instead; or -1.
  int take_away() noexcept;

  // Says how many slots are missing, and sees to it that everybody gives what he owes. When nothing changes, the
  // division is made again: processes may have come and gone, and it may be somebody else's turn.
  void want(int missing) noexcept;
  int missing() const noexcept { return missing_.get(); }

  int most() const noexcept { return most_; }
  int held() const noexcept { return held_.get(); }
  // Whether another process takes part that may use some of this one's CPUs. Relaxed: one that comes or goes meanwhile
  // is seen at the next look.
  bool has_neighbours() const noexcept;
  // What others have left to this process. Relaxed, see Record::terms.
  bool pressed() const noexcept { return (me_.terms.load(std::memory_order_relaxed) & kPressed) != 0; }
  int due() const noexcept { return due_of(me_.terms.load(std::memory_order_relaxed)); }
  bool over() const noexcept { return pressed() && held() > due(); }

  // Says that the process is not stopped: every few milliseconds while it has slots or waits for something. Relaxed:
  // any change says it, also one that is lost in another.
  void beat() noexcept { me_.beat.store(me_.beat.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  // At each tick: the same, and tells the others once more what they have been told, should it have been overwritten.
  void tick() noexcept;

  // Sleeps until somebody rings, at most that long. By one thread. True: somebody has.
  bool wait(int64_t ns) noexcept;
  // Wakes that thread.
  void ring() noexcept { node::ring(me_); }

  // The queue before parallel regions; nothing is to be asked of it when the segment is lost.
  Queue& queue() noexcept { return queue_; }

  // Frees what processes that were killed have left. `check` as for the segment. Returns how many slots.
  int remove_dead(Check check) noexcept;

  // Whether the segment is gone: cut off, overwritten, closed by force, or this process was taken for dead. Then it is
  // of no use.
  bool lost() const noexcept;

  void count_regions(uint64_t regions) noexcept { me_.regions.store(regions, std::memory_order_relaxed); }
  void count_waited(int64_t ns) noexcept;
  void count_received() noexcept { add(me_.received, 1); }
  void tell_pending(int64_t pending, int64_t silent_ns) noexcept;

 private:
  Process(Segment* segment, uint32_t serial, const Terms& terms) noexcept;
  bool ring_neediest(int slot) noexcept;
  template <class MayLose>
  int take_from(MayLose&& may_lose) noexcept;
  bool is_over(int number) const noexcept;
  bool could_move(int number) const noexcept;
  int bound() const noexcept;
  bool reserve() noexcept;
  void divide_once() noexcept;
  void divide() noexcept;
  void tell(int number, const Demand& demand) noexcept;
  static void add(std::atomic<uint64_t>& counter, uint64_t amount) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  uint32_t turn(int64_t now) noexcept;
  int live_records() const noexcept;
  int top_cpu() const noexcept;
  void raise_tops() noexcept;
  Record& record(int number) const noexcept { return segment_->layout().records[static_cast<size_t>(number)]; }
  std::atomic<Owner>& slot_word(int slot) const noexcept { return segment_->layout().slots[static_cast<size_t>(slot)]; }

  Segment* const segment_;
  Record& me_;
  const int number_;
  const Owner owner_;
  const platform::CpuSet cpus_;
  const int cpus_end_;  // behind the last of them
  const int most_;
  Pulse pulse_;
  Queue queue_;

  // Never less than the slots that name this process: those that are about to are counted.
  Published<int, uint32_t> held_;
  Published<int, uint32_t> missing_;
  std::atomic<int> next_{0};  // where to look first: what was given last
  std::atomic<bool> left_{false};
  uint32_t heard_ = 0;  // of the doorbell; the waiting thread's

  // Of divide_once(): one thread does it, and once more when somebody else has asked meanwhile.
  std::atomic<uint32_t> division_asked_{0};
  Division division_;
  uint32_t turn_ = 0;
  int64_t turn_since_ = 0;
  std::array<Demand, kMostProcesses> demands_;
  std::array<int, kMostProcesses> numbers_;
  std::array<int, kMostProcesses> slots_of_;
};

}  // namespace weft::node
