// SPDX-License-Identifier: Apache-2.0
// What lies in the segment that the processes of a node share. All are plain words at fixed places: there are no
// pointers, nor anything of the C library's, and whatever another process has written there, no number is used before
// it has been checked. Nor is there a point in time: clocks differ between time namespaces.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include <linux/futex.h>
#include <sys/types.h>

#include "node/division.h"
#include "platform/cpu_set.h"

namespace weft::node {

inline constexpr uint64_t kMagic = 0x31656e6f6e746677;
// Another layout gets another number; processes with different numbers do not share.
inline constexpr uint32_t kLayout = 5;

static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free);

// How many of its parallel regions may run at the same time as those of others with the same rule (queue.h).
enum class Rule : uint32_t { all, one, fitting };

// Where a process stands. The plain fields are written with the lock held, before `serial` says that there is somebody;
// the numbers among them are bounded at each use.
struct alignas(64) Record {
  // Whose seat this is: the number of a thread that lives as long as the process; 0: nobody's. When that thread is
  // gone, be it killed or with its program replaced by another, the kernel marks the word (EndMark).
  std::atomic<uint32_t> life{0};
  // 0: the process that sits here takes no part. Release when it is set, acquire when it is read: with it come the
  // fields below.
  std::atomic<uint32_t> serial{0};
  uint32_t last_serial = 0;
  // Which process that is, if `known_as` is what `life` is. Release and acquire: with it come the other four.
  std::atomic<uint32_t> known_as{0};
  std::atomic<pid_t> pid{0};
  std::atomic<uint64_t> inode{0};
  std::atomic<uint64_t> start{0};
  std::atomic<uint64_t> clock{0};
  int weight = 1;
  int most = 0;  // CPUs that it may use at once
  Rule rule = Rule::all;
  char mode[16] = {};
  char command[32] = {};
  // Relaxed: one that is read while another process moves in here makes a division wrong, until the next one.
  std::array<std::atomic<uint64_t>, platform::CpuSet::kMost / 64> cpus{};

  // ---- what others tell this process ----
  // How many slots it is to have, kPressed if it or others miss some, and kByOthers if others do. Set by anybody from
  // the same calculation; relaxed, since it is only a wish: the word of a slot says which process owns it.
  alignas(64) std::atomic<uint32_t> terms{0};
  // Counts the reasons to look. The process's monitor sleeps on it.
  std::atomic<uint32_t> doorbell{0};
  // What `beat` was, and since which turn, as who divides has seen it last. Relaxed: only who holds the lock of the
  // division looks at it.
  std::atomic<uint32_t> seen_beat{0};
  std::atomic<uint32_t> seen_turn{0};

  // ---- what this process tells others; it alone writes, and it never reads it ----
  // Slots that it could use beyond those it has. Sequentially consistent against `changes`, see Divider.
  alignas(64) std::atomic<uint32_t> missing{0};
  std::atomic<uint32_t> held{0};  // relaxed, as all that follows: for others to look at
  std::atomic<uint64_t> regions{0};  // that its program has run
  std::atomic<uint64_t> waited_ns{0};  // while it had less than its due
  std::atomic<uint64_t> given{0};  // slots given up because others missed some
  std::atomic<uint64_t> received{0};  // slots that it had to wait for
  std::atomic<uint64_t> divisions{0};  // that it has made for all
  std::atomic<uint64_t> pending{0};  // tasks and events that wait for messages
  // For how long none of them has gone on, at the last tick; 0 while there are none. While there are, its monitor
  // ticks.
  std::atomic<uint64_t> silent_ns{0};

  // ---- the same, for the queue before regions; written with the lock of the queue held, and relaxed for that ----
  alignas(64) std::atomic<uint64_t> ticket{0};  // of its region that has waited longest; 0: none waits
  std::atomic<uint32_t> inside{0};  // regions
  std::atomic<uint32_t> calls{0};  // of those

  // Changes whenever it does something; relaxed. See Pulse.
  std::atomic<uint32_t> beat{0};
};

// The holder of a lock: the number of a seat, the thread that sits there, and a number that is another one each time;
// 0: nobody.
using Holder = uint64_t;
inline Holder holder_of(uint32_t thread, int record, uint32_t time) noexcept {
  return uint64_t{time} << 40 | static_cast<uint64_t>(record + 1) << 30 | (thread & FUTEX_TID_MASK);
}
inline uint32_t thread_of(Holder holder) noexcept { return static_cast<uint32_t>(holder & FUTEX_TID_MASK); }
// -1 when the word makes no sense.
inline int seat_of(Holder holder) noexcept {
  const auto number = static_cast<int>(holder >> 30 & 0x3ff);
  return number >= 1 && number <= kMostProcesses ? number - 1 : -1;
}

struct Header {
  // Written before the file has a name, and relaxed for that.
  std::atomic<uint64_t> magic{kMagic};
  std::atomic<uint32_t> layout{kLayout};
  // These two only grow. Relaxed: a process that reads an old value misses one that has just come.
  std::atomic<uint32_t> top_cpu{0};  // slots from it on have never been anybody's
  std::atomic<uint32_t> top{0};  // records from it on have never been used
  std::atomic<uint64_t> size{0};
  std::atomic<uint64_t> pid_namespace{0};  // of the numbers of processes and threads
  // Set, with the lock held, by the process that removes the file: no process joins any more, and those that are in
  // leave. Relaxed outside of the lock, where it is looked at now and then.
  std::atomic<uint32_t> closed{0};
  std::atomic<Holder> lock{0};  // of joining, leaving and the removal of the dead
  // Counts the processes that have come and gone. Release and acquire: who sees the count sees the serials that it has
  // counted, so who has looked at them need not look again until it changes.
  std::atomic<uint32_t> members{0};
  // ---- of the division; divider.h has the protocol ----
  // Sequentially consistent, both, against each other and the lock.
  alignas(64) std::atomic<uint32_t> changes{0};
  std::atomic<uint32_t> divided{0};
  // Of rounds and turns; the turn says who has a whole CPU where there are parts. Relaxed: see Duty.
  std::atomic<uint32_t> rounds{0};
  std::atomic<uint32_t> turn{0};
  // Relaxed, both: the number plus one of the record whose process sees to the rounds, and how many divisions there may
  // be until the next one. A wrong value costs a round, or some divisions.
  std::atomic<uint32_t> leader{0};
  std::atomic<uint32_t> divisions_left{0};
  // How many processes the last division was for. Relaxed: it is where that bound comes from.
  std::atomic<uint32_t> processes{0};
  // The turn in which the beats were looked at. Relaxed: the lock's holder alone reads it.
  std::atomic<uint32_t> watched{0};
  // Of searches for processes that were killed. Relaxed: see Duty.
  std::atomic<uint32_t> searches{0};
  // ---- of slots that are freed while processes lack some; process_slots.cpp has the protocol ----
  // Counts them. Release and acquire: who sees the count sees the slot free.
  std::atomic<uint32_t> freed{0};
  // The last of them, and the last process that was rung for one. Relaxed: where to look first.
  std::atomic<uint32_t> freed_slot{0};
  std::atomic<uint32_t> rung{0};
  alignas(64) std::atomic<Holder> division_lock{0};
  // A bit for each record: its process has less than it is due and wants more. Sequentially consistent against the
  // slots' words.
  alignas(64) std::array<std::atomic<uint64_t>, kMostProcesses / 64> lacking{};
  // Of the queue before regions.
  alignas(64) std::atomic<Holder> queue_lock{0};
  std::atomic<uint64_t> last_ticket{0};
};

// The owner of a slot: serial and number of its record; 0: nobody.
using Owner = uint64_t;
inline Owner owner_of(uint32_t serial, int record) noexcept {
  return uint64_t{serial} << 32 | static_cast<uint32_t>(record + 1);
}
// -1 when the word makes no sense.
inline int record_of(Owner owner) noexcept {
  const auto number = static_cast<uint32_t>(owner);
  return number >= 1 && number <= kMostProcesses ? static_cast<int>(number) - 1 : -1;
}
inline uint32_t serial_of(Owner owner) noexcept { return static_cast<uint32_t>(owner >> 32); }

struct Layout {
  Header header;
  // One a CPU, by the kernel's number. Taken, given back and taken away by one compare-and-swap: a process that is
  // killed at any instruction leaves each of them valid.
  alignas(64) std::array<std::atomic<Owner>, platform::CpuSet::kMost> slots{};
  std::array<Record, kMostProcesses> records{};
};

inline constexpr uint32_t kPressed = 1u << 31;
inline constexpr uint32_t kByOthers = 1u << 30;
inline constexpr uint32_t kUnbounded = 0xffff;
inline int due_of(uint32_t terms) noexcept { return static_cast<int>(terms & 0xffff); }

}  // namespace weft::node
