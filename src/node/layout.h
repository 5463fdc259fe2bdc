// SPDX-License-Identifier: Apache-2.0
// The layout of the segment that the processes of a node share: plain words at fixed places. It has no pointers and no
// objects of the C library. Another process may write anything there, so a process checks each number before it uses
// it. The segment has no point in time either, since clocks differ between time namespaces. The exception is when a
// process was started: Record::start counts for processes with the same Record::clock only.
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

// How many parallel regions of the processes with the same rule may run at the same time (queue.h).
enum class Rule : uint32_t { all, one, fitting };

// The record of a process. The plain fields are written with the lock held, before `serial` says that a process takes
// part; the numbers among them are bounded at each use.
struct alignas(64) Record {
  // The process whose seat the record is: the number of a thread that lives as long as that process; 0: the seat is
  // free. When the thread ends, is killed, or executes another program, the kernel marks the word (EndMark).
  std::atomic<uint32_t> life{0};
  // Another number for each process that takes part by this record; 0: none does. Release when it is set, acquire when
  // it is read: with it come the fields below.
  std::atomic<uint32_t> serial{0};
  uint32_t last_serial = 0;
  // The identity of the process (platform/process.h). The four fields behind `known_as` are valid while it equals
  // `life`. Release and acquire: with it come the other four.
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
  // The CPUs that the process may use. Relaxed: a set that is read while another process takes the record over makes
  // one division wrong, until the next one.
  std::array<std::atomic<uint64_t>, platform::CpuSet::kMost / 64> cpus{};

  // ---- what other processes tell this one ----
  // What the last division gives it: how many slots it is due, kPressed if it or others miss some, and kByOthers if
  // others do. The process that divides writes it; relaxed, since it is only a wish: the word of a slot says which
  // process owns the slot.
  alignas(64) std::atomic<uint32_t> terms{0};
  // Counted up by a process that wants this one to look at its terms and at the slots. The monitor sleeps on it.
  std::atomic<uint32_t> doorbell{0};
  // The value of `beat` that the last division has seen, and the turn since when it is the same. Relaxed: only the
  // holder of the division's lock uses them.
  std::atomic<uint32_t> seen_beat{0};
  std::atomic<uint32_t> seen_turn{0};

  // ---- what this process shows to others; it alone writes these words ----
  // What it decides by are its own numbers (published.h). Where it divides, it reads its own record like the others'.
  // How many slots it could use beyond those it has. Sequentially consistent against `changes`, see Divider.
  alignas(64) std::atomic<uint32_t> missing{0};
  std::atomic<uint32_t> held{0};  // slots; relaxed, as all that follows: the words are for display and for guesses
  std::atomic<uint64_t> regions{0};  // that its program has run
  std::atomic<uint64_t> waited_ns{0};  // time in which it had less than its due
  std::atomic<uint64_t> given{0};  // slots given up because others missed some
  std::atomic<uint64_t> received{0};  // slots that it had to wait for
  std::atomic<uint64_t> divisions{0};  // that it has made for all
  std::atomic<uint64_t> pending{0};  // tasks and events that wait for messages
  // For how long no pending one of these has gone on, at the last tick; 0 while none is pending. While some are, the
  // process's monitor ticks.
  std::atomic<uint64_t> silent_ns{0};

  // ---- the same, for the queue before regions; written with the lock of the queue held, and relaxed for that ----
  alignas(64) std::atomic<uint64_t> ticket{0};  // of the region that has waited longest; 0: none waits
  std::atomic<uint32_t> inside{0};  // regions that run
  std::atomic<uint32_t> calls{0};  // calls of those regions

  // Changes every few milliseconds while the process has slots or waits for something; relaxed. See Pulse.
  std::atomic<uint32_t> beat{0};
};

// The holder of a lock, as a word: the number of its record, its thread, and a number that is another one each time
// that a lock is taken; 0: the lock is free.
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
  // These two are written before the file has a name, so relaxed.
  std::atomic<uint64_t> magic{kMagic};
  std::atomic<uint32_t> layout{kLayout};
  // These two only grow. Relaxed: a process that reads an old value misses one that has just come.
  std::atomic<uint32_t> top_cpu{0};  // slots from it on have never been anybody's
  std::atomic<uint32_t> top{0};  // records from it on have never been used
  std::atomic<uint64_t> size{0};
  std::atomic<uint64_t> pid_namespace{0};  // of the numbers of processes and threads
  // Set, with the lock held, by the process that removes the file: no process joins any more, and those that take part
  // leave. Relaxed outside of the lock, where it is looked at now and then.
  std::atomic<uint32_t> closed{0};
  std::atomic<Holder> lock{0};  // for joining, leaving and the removal of the dead
  // Counts the processes that have come and gone. Release and acquire: a process that sees the count sees the serials
  // that it has counted, so it need not look at the serials again until the count changes.
  std::atomic<uint32_t> members{0};
  // ---- of the division; divider.h has the protocol ----
  // Sequentially consistent, both, against each other and the lock.
  alignas(64) std::atomic<uint32_t> changes{0};
  std::atomic<uint32_t> divided{0};
  // The counts of rounds and of turns. Where CPUs do not divide evenly, the turn says which process has a whole one.
  // Relaxed: see Duty.
  std::atomic<uint32_t> rounds{0};
  std::atomic<uint32_t> turn{0};
  // The number plus one of the leader's record, and how many divisions there may be until the next round. Relaxed: a
  // wrong value costs a round, or some divisions.
  std::atomic<uint32_t> leader{0};
  std::atomic<uint32_t> divisions_left{0};
  // How many processes the last division was for: `divisions_left` depends on it. Relaxed, as that is.
  std::atomic<uint32_t> processes{0};
  // The turn in which the beats were last looked at. Relaxed: only the holder of the division's lock uses it.
  std::atomic<uint32_t> watched{0};
  // Counts the searches for processes that were killed. Relaxed: see Duty.
  std::atomic<uint32_t> searches{0};
  // ---- of slots that are freed while processes lack some; process_slots.cpp has the protocol ----
  // Counts these slots. Release and acquire: a process that sees the count sees the slot free.
  std::atomic<uint32_t> freed{0};
  // The slot that was freed last, and the process that was rung last. Relaxed: they only say where to look first.
  std::atomic<uint32_t> freed_slot{0};
  std::atomic<uint32_t> rung{0};
  alignas(64) std::atomic<Holder> division_lock{0};
  // A bit for each record: its process has less than it is due and wants more. Sequentially consistent against the
  // slots' words.
  alignas(64) std::array<std::atomic<uint64_t>, kMostProcesses / 64> lacking{};
  // ---- of the queue before regions (queue.h) ----
  alignas(64) std::atomic<Holder> queue_lock{0};
  std::atomic<uint64_t> last_ticket{0};
};

// The owner of a slot, as a word: serial and number of its process's record; 0: the slot is free.
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
  // One word per CPU, by the kernel's number. A slot is taken, given back and taken away by one compare-and-swap: a
  // process that is killed at any instruction leaves each word valid.
  alignas(64) std::array<std::atomic<Owner>, platform::CpuSet::kMost> slots{};
  std::array<Record, kMostProcesses> records{};
};

inline constexpr uint32_t kPressed = 1u << 31;
inline constexpr uint32_t kByOthers = 1u << 30;
inline constexpr uint32_t kUnbounded = 0xffff;
inline int due_of(uint32_t terms) noexcept { return static_cast<int>(terms & 0xffff); }

}  // namespace weft::node
