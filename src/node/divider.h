// SPDX-License-Identifier: Apache-2.0
// Who divides the slots, and when. One process at a time does it for all: the others say what they want and read what
// they are due.
//
//   changes   counts what a division depends on: what processes want, and which there are.
//   divided   what `changes` was when the last division began. While the two are the same there is nothing to do.
//   a round   every 5 ms one process, the leader, sees to what has been left over, and allows some more divisions
//             until the next round. One that has seen no round for 14 ms becomes the leader.
//   a turn    every 50 ms the leader divides anew: another process has the whole CPU where there are parts, processes
//             that are stopped are found, and whatever went wrong is right again.
//
// Who changes something counts `changes` up and then divides at once, unless somebody has the lock, or the divisions of
// this round are used up. Who has the lock looks at `changes` again after it has let it go. So a change is never left
// to nobody: either the one who made it gets the lock, or the holder sees the change. If the holder is killed in
// between, the lock is free, as the kernel says so, and the next process that looks divides; if it is stopped, the lock
// is taken from it after 20 ms. All that miss slots, or are pressed for some, look every 5 ms.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "node/division.h"
#include "node/duty.h"
#include "node/segment.h"

namespace weft::node {

class Divider {
 public:
  // Of the process whose record has this number.
  Divider(Segment& segment, int number) noexcept;

  // Any thread. Something that a division depends on has changed: divides, or leaves it to who does. `for_others`: the
  // process's own monitor does not look at the result by itself.
  void announce(bool for_others) noexcept;
  // The same, and takes part in the rounds; where nothing has changed it reads one line.
  void look() noexcept;

 private:
  bool pending() const noexcept;
  void serve(bool in_round, bool for_others) noexcept;
  bool divide(Holder& mine, bool for_others) noexcept;
  int collect() noexcept;
  void count_slots() noexcept;
  void watch() noexcept;
  bool is_stopped(const Record& record) const noexcept;
  void tell(int number, const Demand& demand, bool for_others) noexcept;
  Record& record(int number) const noexcept { return segment_.layout().records[static_cast<size_t>(number)]; }

  Segment& segment_;
  Header& header_;
  const int number_;
  Duty round_;
  Duty turn_;

  // Set while a thread of the process tries to divide: what follows belongs to it. An exchange and a store, both
  // sequentially consistent, see serve().
  std::atomic<bool> busy_{false};
  Holder stuck_ = 0;  // who has had the lock since then
  int64_t stuck_since_ = 0;
  Division division_;
  int count_ = 0;  // of the processes that division_ knows
  std::array<int, kMostProcesses> numbers_;
  std::array<uint32_t, kMostProcesses> serials_;
  std::array<Demand, kMostProcesses> demands_;
  std::array<int, kMostProcesses> slots_of_;
};

}  // namespace weft::node
