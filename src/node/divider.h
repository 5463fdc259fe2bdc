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
// A process that changes something counts `changes` up. Then it divides at once, unless another process has the lock,
// or the divisions of this round are used up. The holder of the lock looks at `changes` again after it has let the lock
// go. So no change is lost: either the process that has made it gets the lock, or the holder sees the change. If the
// holder is killed in between, the kernel marks its seat, and the next process that looks takes the lock and divides.
// If the holder is stopped, another process takes the lock from it after 20 ms. All processes that miss slots, or are
// pressed for some, look every 5 ms.
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
  // `number`: of the record of this process.
  Divider(Segment& segment, int number) noexcept;

  // Called, by any thread, when something that a division depends on has changed: divides, or leaves that to the
  // process that has the lock. `for_others`: the division may ring this process's own monitor too; otherwise the caller
  // looks at the result itself.
  void announce(bool for_others) noexcept;
  // Divides if a change is left over, and takes part in the rounds; where nothing has changed it reads one cache line.
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

  // Set while a thread of the process tries to divide; that thread alone uses the fields below. An exchange and a
  // store, both sequentially consistent, see serve().
  std::atomic<bool> busy_{false};
  Holder stuck_ = 0;  // the holder that has had the lock since `stuck_since_`
  int64_t stuck_since_ = 0;
  Division division_;
  int count_ = 0;  // how many processes division_ knows
  std::array<int, kMostProcesses> numbers_;
  std::array<uint32_t, kMostProcesses> serials_;
  std::array<Demand, kMostProcesses> demands_;
  std::array<int, kMostProcesses> slots_of_;
};

}  // namespace weft::node
