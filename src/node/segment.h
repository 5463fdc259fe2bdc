// SPDX-License-Identifier: Apache-2.0
// The file that the processes of a node share. The first process that comes makes it, the last that leaves removes it.
#pragma once

#include "node/layout.h"
#include "node/reason.h"
#include "node/seat.h"

namespace weft::node {

inline constexpr int kTries = 100;  // others may make and remove the file meanwhile

struct Path {
  char text[96];
};
// The path of the file for this user and this namespace of process numbers.
Path default_path() noexcept;

platform::CpuSet cpus_of(const Record& record) noexcept;

// Wakes the process's monitor.
void ring(Record& record) noexcept;

class Segment {
 public:
  enum class Missing { make, leave };  // what to do when there is no file

  // Maps the file, if it is of this user, of this layout, and whole. Otherwise returns null, and why in `reason`; or
  // null without a reason where there is no file and `missing` is `leave`.
  static Segment* open(const char* path, Missing missing, Reason& reason) noexcept;
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  Layout& layout() const noexcept { return *layout_; }

  // Takes a seat for the calling thread (Seat); without one nothing can be locked. Returns false where none is free.
  bool sit() noexcept { return seat_.taken() || seat_.take(*layout_); }
  void stand_up() noexcept { seat_.leave(); }
  const Seat& seat() const noexcept { return seat_; }

  // The lock of membership. A process that gets it after its holder was killed removes what that process has left.
  // Returns false where the lock was not to be had for a second in which no process has come or gone: its holder is
  // stopped.
  bool lock() noexcept;
  bool try_lock() noexcept;
  void unlock() noexcept;

  // The lock of the queue before regions: its holder writes into its own record only. After `longest_ns` it is taken
  // from a holder that does not go on. Returns false where even that fails.
  bool lock_queue(int64_t longest_ns) noexcept;
  void unlock_queue() noexcept;

  // The lock of the division. Returns false where another process has it; `holder` says which. The lock is taken from a
  // holder that is gone, and from the holder `stuck`, if that still has it.
  bool try_lock_division(Holder& mine, Holder stuck, Holder& holder) noexcept;
  bool holds_division(Holder mine) const noexcept;
  // Returns false where another process has taken the lock meanwhile.
  bool unlock_division(Holder& mine) noexcept;

  // The next three are called with the lock of membership held.

  // Frees the records and slots of processes that are gone. Returns how many slots were freed.
  int remove_dead(Check check) noexcept;
  int live_count() const noexcept;
  // Closes the segment and removes the file: no process finds it any more, and those that take part leave when they see
  // that.
  void close_and_remove() noexcept;

  bool closed() const noexcept { return layout_->header.closed.load(std::memory_order_relaxed) != 0; }
  // Whether the header's constants are as they were when the segment was opened.
  bool intact() const noexcept;

 private:
  Segment(Layout* layout, const char* path, dev_t device, ino_t inode) noexcept;
  static Segment* map(int file, const char* path, Reason& reason) noexcept;
  static bool make(const char* path, Reason& reason) noexcept;
  enum class Held { no, yes, after_another };  // after_another: the holder before was gone without unlocking
  Held try_to_hold(std::atomic<Holder>& lock, Holder& mine, Check check) noexcept;
  static void let_go(std::atomic<Holder>& lock, Holder& mine) noexcept;
  bool try_lock(Check check) noexcept;
  Holder next_holder() noexcept;
  bool has_gone(Holder holder, Check check) const noexcept;
  // A number that changes when a process comes or goes. Relaxed: an old one makes the caller wait longer, or ask again.
  uint64_t memberships() const noexcept;
  int free_orphans() noexcept;

  Layout* const layout_;
  Path path_;
  const dev_t device_;
  const ino_t inode_;
  Seat seat_;
  // The words that stand in the two locks while this process holds them; one for each, since two threads may hold them
  // at the same time.
  Holder locked_ = 0;
  Holder queue_locked_ = 0;
  std::atomic<uint32_t> times_locked_;  // relaxed: only the number counts
};

}  // namespace weft::node
