// SPDX-License-Identifier: Apache-2.0
// This process as one of those that share the node: it takes slots, gives them back, and says how many it misses.
// README.md, beside this file, has the protocol.
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
  int most = 1;           // slots that the process can use at most
  Rule rule = Rule::all;
  const char* mode = "";  // shown by `weft node status`
  platform::CpuSet cpus;  // that the process may use
};

class Process {
 public:
  // Joins the processes that share the file at `path`. The calling thread must live as long as the process: when it
  // ends, the process counts as dead. Null, and why in `reason`.
  static Process* join(const char* path, const Terms& terms, Reason& reason) noexcept;
  // Called by the thread that has joined. The last process removes the file. Other threads may still call take() and
  // give(), to no effect.
  void leave() noexcept;
  // The same where the segment is lost (below): frees slots in it that may still be this process's.
  void resign() noexcept;

  // Takes a free slot, if the process has fewer than its due; -1: there is none. Threads may pass slots to each other:
  // give() takes any slot that the process has.
  int take() noexcept;
  void give(int slot) noexcept;
  // How many take() would find, up to `most`. Relaxed: others take and give meanwhile.
  int count_free(int most) const noexcept;
  // Whether the slot is still the process's: it is taken away when others have waited for it too long.
  bool owns(int slot) const noexcept;
  // Takes a slot from a process that has more than its due, or that could have a free one in its place; -1: there is
  // none.
  int take_away() noexcept;

  // Says how many slots the process misses, and has the slots divided anew if that has changed. Where nothing has
  // changed, for any process, it reads some words.
  void want(int missing) noexcept;
  int missing() const noexcept { return missing_.get(); }

  int most() const noexcept { return most_; }
  int held() const noexcept { return held_.get(); }
  // Whether another process takes part that may use some of this one's CPUs. Relaxed: a process that comes or goes
  // meanwhile is seen at the next look. Called by one thread at a time.
  bool has_neighbours() noexcept;
  // The process's terms: whether there is a bound, how many slots it is due, and whether it has more. Relaxed, see
  // Record::terms.
  bool pressed() const noexcept { return (me_.terms.load(std::memory_order_relaxed) & kPressed) != 0; }
  int due() const noexcept { return due_of(me_.terms.load(std::memory_order_relaxed)); }
  bool over() const noexcept { return pressed() && held() > due(); }

  // Shows that the process is not stopped: called every few milliseconds while it has slots or waits for something.
  // Relaxed: where two threads count at once, one count is lost, but the value has changed all the same.
  void beat() noexcept { me_.beat.store(me_.beat.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  // Called at each tick of the monitor: the same, and publishes all words once more, should another process have
  // written over them.
  void tick() noexcept;

  // Sleeps until another process or thread rings, `ns` at most. Returns whether one has. Called by one thread.
  bool wait(int64_t ns) noexcept;
  // Wakes the thread in wait().
  void ring() noexcept { node::ring(me_); }

  // The queue before parallel regions; not to be used when the segment is lost.
  Queue& queue() noexcept { return queue_; }

  // Whether it falls to this process to search for processes that were killed, and how closely: one process of all
  // does, every 20 ms. Called by one thread at a time.
  bool search_is_due(Check& check) noexcept;
  // Frees what processes that were killed have left. Returns how many slots that were.
  int remove_dead(Check check) noexcept;

  // Whether the segment is of no more use to this process: the file was cut short, overwritten or closed by force, or
  // others have taken this process for dead.
  bool lost() const noexcept;

  void count_regions(uint64_t regions) noexcept { me_.regions.store(regions, std::memory_order_relaxed); }
  void count_waited(int64_t ns) noexcept;
  void count_received() noexcept { add(me_.received, 1); }
  void tell_pending(int64_t pending, int64_t silent_ns) noexcept;

 private:
  Process(Segment* segment, uint32_t serial, const Terms& terms) noexcept;
  bool ring_one_that_lacks(int slot) noexcept;
  bool is_lacking(int number, int slot) const noexcept;
  // All that a division asks of this process, as one number: how many slots it wants, and whether it misses some.
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
  const int cpus_end_;  // one more than the last of cpus_
  const int most_;
  const int cpus_begin_;
  Pulse pulse_;
  Queue queue_;
  Divider divider_;

  // `held_` is never less than the number of slots whose words name this process: a slot is counted before it is taken.
  Published<int, uint32_t> held_;
  Published<int, uint32_t> missing_;
  std::atomic<int> next_{0};  // the slot at which the next look begins; relaxed, since any place will do
  static constexpr int kNothingAnnounced = -1;
  // The wish() that was announced last, or kNothingAnnounced; see wish_has_changed(). Relaxed where it becomes
  // kNothingAnnounced: then a wish may be announced once too often.
  std::atomic<int> announced_{kNothingAnnounced};
  // Odd while this process's bit of `lacking` is set; say_whether_lacking() counts it up.
  std::atomic<uint32_t> lacks_{0};
  // The last next_look() after which no slot was found: `lacks_`, and the count of slots freed before. See
  // process_slots.cpp.
  std::atomic<uint64_t> vain_{0};
  std::atomic<bool> left_{false};
  uint32_t heard_ = 0;  // the value of the doorbell that wait() has seen last

  // Used by the monitor's thread alone.
  uint32_t ticks_ = 0;
  Duty search_;
  bool looked_for_neighbours_ = false;
  bool neighbours_ = false;
  uint32_t members_seen_ = 0;
};

}  // namespace weft::node
