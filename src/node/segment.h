// SPDX-License-Identifier: Apache-2.0
// The file that the processes of a node share: made by the first that comes, removed by the last that leaves.
#pragma once

#include "node/layout.h"
#include "node/reason.h"
#include "node/seat.h"

namespace weft::node {

inline constexpr int kTries = 100;  // others may make and remove the file meanwhile

// Where the processes of this user meet, as far as they see each other's numbers.
struct Path {
  char text[96];
};
Path default_path() noexcept;

platform::CpuSet cpus_of(const Record& record) noexcept;

// Wakes the process's monitor.
void ring(Record& record) noexcept;

class Segment {
 public:
  enum class Missing { make, leave };  // what to do when there is no file

  // Maps the file, if it is what it should be: the caller's own, of this layout and size. Null, and why in `reason`;
  // or null and no reason when there is no file and none was to be made.
  static Segment* open(const char* path, Missing missing, Reason& reason) noexcept;
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  Layout& layout() const noexcept { return *layout_; }

  // A place for the calling thread, see Seat; without one nothing can be locked. False: there is none.
  bool sit() noexcept { return seat_.taken() || seat_.take(*layout_); }
  void stand_up() noexcept { seat_.leave(); }
  const Seat& seat() const noexcept { return seat_; }

  // The lock of membership. The first that gets it after its holder was killed removes what that left. False when it
  // could not be had for a second in which no process has come or gone: its holder is stopped.
  bool lock() noexcept;
  bool try_lock() noexcept;
  void unlock() noexcept;

  // The lock of the queue before regions: its holder writes into its own record only. After `longest_ns` it is taken
  // from a holder that does not go on. False when even that was not to be had.
  bool lock_queue(int64_t longest_ns) noexcept;
  void unlock_queue() noexcept;

  // The lock of who divides. False when somebody has it, who is in `holder` then. It is taken from a holder that has
  // gone, and from `stuck`, should that still be the one.
  bool try_lock_division(Holder& mine, Holder stuck, Holder& holder) noexcept;
  bool holds_division(Holder mine) const noexcept;
  // False: another one has taken it meanwhile.
  bool unlock_division(Holder& mine) noexcept;

  // The rest is done with the lock held.

  // Frees the records and slots of processes that are no more. Returns how many slots were freed.
  int remove_dead(Check check) noexcept;
  int live_count() const noexcept;
  // No process finds the segment any more; those that are in leave when they see that.
  void close_and_remove() noexcept;

  bool closed() const noexcept { return layout_->header.closed.load(std::memory_order_relaxed) != 0; }
  // Whether it is what it was when it was opened.
  bool intact() const noexcept;

 private:
  Segment(Layout* layout, const char* path, dev_t device, ino_t inode) noexcept;
  static Segment* map(int file, const char* path, Reason& reason) noexcept;
  static bool make(const char* path, Reason& reason) noexcept;
  enum class Held { no, yes, after_another };  // the last: a holder that has gone without unlocking it
  Held try_to_hold(std::atomic<Holder>& lock, Holder& mine, Check check) noexcept;
  static void let_go(std::atomic<Holder>& lock, Holder& mine) noexcept;
  bool try_lock(Check check) noexcept;
  Holder next_holder() noexcept;
  bool has_gone(Holder holder, Check check) const noexcept;
  // A number that changes when a process comes or goes. Relaxed: an old one makes somebody wait longer, or ask again.
  uint64_t memberships() const noexcept;
  int free_orphans() noexcept;

  Layout* const layout_;
  Path path_;
  const dev_t device_;
  const ino_t inode_;
  Seat seat_;
  // What stands in the locks while this one has them. The queue's holder is another thread than the other's.
  Holder locked_ = 0;
  Holder queue_locked_ = 0;
  std::atomic<uint32_t> times_locked_;  // relaxed: it is but a number
};

}  // namespace weft::node
