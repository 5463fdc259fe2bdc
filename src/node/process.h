// SPDX-License-Identifier: Apache-2.0
// What a process is to the others of the node: it takes slots, gives them back, and says when it misses some.
//
//   missing   its word in the segment. When it changes, one process computes how many slots each is due, writes that
//   into
//             their `terms`, and rings those that now have too many, or may take more (divider.h).
//   take      a free slot, as long as it has fewer than its due. While no process misses slots there is no such bound.
//   give      a slot. If a process has less than its due, it is rung. If none has and others miss some, the slots are
//             divided anew.
//
// The processes that miss slots, and those that are pressed for some, look again every few milliseconds.
#pragma once

#include <atomic>
#include <cstdint>

#include "node/divider.h"
#include "node/duty.h"
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

  // Says how many slots are missing, and sees to it that everybody gives what he owes. When nothing has changed, for
  // anybody, some words are read.
  void want(int missing) noexcept;
  int missing() const noexcept { return missing_.get(); }

  int most() const noexcept { return most_; }
  int held() const noexcept { return held_.get(); }
  // Whether another process takes part that may use some of this one's CPUs. Relaxed: one that comes or goes meanwhile
  // is seen at the next look. By one thread at a time.
  bool has_neighbours() noexcept;
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

  // Whether it falls to this process to search for those that were killed, and how closely: one of all does, every 20
  // ms. By one thread at a time.
  bool search_is_due(Check& check) noexcept;
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
  bool ring_one_that_lacks(int slot) noexcept;
  bool is_lacking(int number, int slot) const noexcept;
  // All that a division asks of this process: what it wants in all, and whether it misses any of that.
  int wish() const noexcept { return 2 * (held() + missing()) + (missing() > 0 ? 1 : 0); }
  bool wish_has_changed() noexcept;
  void say_whether_lacking() noexcept;
  bool nothing_was_freed(uint64_t look) const noexcept;
  uint64_t next_look() const noexcept;
  int first_look() const noexcept;
  int next_start() noexcept;
  bool shares_cpus_with(const Record& other) const noexcept;
  template <class MayLose>
  int take_from(MayLose&& may_lose) noexcept;
  int wrapped(int slot) const noexcept;
  bool is_over(int number) const noexcept;
  bool leads_to_a_free_slot(const platform::CpuSet& slots) const noexcept;
  size_t words_in_use() const noexcept;
  int bound() const noexcept;
  bool reserve() noexcept;
  static void add(std::atomic<uint64_t>& counter, uint64_t amount) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  int live_records() const noexcept;
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
  const int cpus_begin_;
  Pulse pulse_;
  Queue queue_;
  Divider divider_;

  // Never less than the slots that name this process: those that are about to are counted.
  Published<int, uint32_t> held_;
  Published<int, uint32_t> missing_;
  std::atomic<int> next_{0};  // where to look first; relaxed, since any place will do
  static constexpr int kNothingAnnounced = -1;
  // The wish that the others were told of last, or nothing that it could be; see wish_has_changed(). Relaxed where it
  // becomes nothing: they are told once too often.
  std::atomic<int> announced_{kNothingAnnounced};
  // Odd while this process's bit of `lacking` is set, by say_whether_lacking(); and the last look() that found nothing,
  // with the count of slots that were freed before it. See process_slots.cpp.
  std::atomic<uint32_t> lacks_{0};
  std::atomic<uint64_t> vain_{0};
  std::atomic<bool> left_{false};
  uint32_t heard_ = 0;  // of the doorbell; the waiting thread's

  // The monitor's.
  uint32_t ticks_ = 0;
  Duty search_;
  bool looked_for_neighbours_ = false;
  bool neighbours_ = false;
  uint32_t members_seen_ = 0;
};

}  // namespace weft::node
