// SPDX-License-Identifier: Apache-2.0
// What lies in the segment that the processes of a node share. All are plain words at fixed places: there are no
// pointers, and whatever another process has written there, no index is used before it has been checked.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include <pthread.h>
#include <sys/types.h>

#include "node/division.h"
#include "platform/cpu_set.h"

namespace weft::node {

inline constexpr uint64_t kMagic = 0x31656e6f6e746677;
// Another layout gets another number; processes with different numbers do not share.
inline constexpr uint32_t kLayout = 2;

static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free);

// How many of its parallel regions may run at the same time as those of others with the same rule (queue.h).
enum class Rule : uint32_t { all, one, fitting };

// Where a process stands. The plain fields are written with the lock held, before `serial` says that there is somebody.
struct alignas(64) Record {
  // 0: nobody. Release when it is set, acquire when it is read: with it come the fields below.
  std::atomic<uint32_t> serial{0};
  uint32_t last_serial = 0;
  pid_t pid = 0;
  int weight = 1;
  int most = 0;  // CPUs that it may use at once
  uint64_t start = 0;
  Rule rule = Rule::all;
  char mode[16] = {};
  char command[32] = {};
  // Relaxed: one that is read while another process moves in here makes a division wrong, until the next one.
  std::array<std::atomic<uint64_t>, platform::CpuSet::kMost / 64> cpus{};
  // Held by a thread of the process for as long as the process lives: the kernel marks it when the thread is gone, be
  // it killed or replaced by another program.
  pthread_mutex_t life;

  // ---- what others tell this process ----
  // How many slots it is to have, and kPressed if others miss some. Set by anybody from the same calculation; relaxed,
  // since it is but a wish: who owns a slot is what the slot's word says.
  alignas(64) std::atomic<uint32_t> terms{0};
  // Counts the reasons to look. The process's monitor sleeps on it.
  std::atomic<uint32_t> doorbell{0};

  // ---- what this process tells others; it alone writes ----
  // Slots that it could use beyond those it has. Sequentially consistent against the slots' words, see Member::want.
  alignas(64) std::atomic<uint32_t> missing{0};
  std::atomic<uint32_t> held{0};  // relaxed, as all that follows: for others to look at
  std::atomic<uint64_t> regions{0};  // that its program has run
  std::atomic<uint64_t> waited_ns{0};  // while it had less than its due
  std::atomic<uint64_t> given{0};  // slots given up because others missed some
  std::atomic<uint64_t> received{0};  // slots that it had to wait for

  // ---- the same, for the queue before regions; written with the lock of the queue held, and relaxed for that ----
  alignas(64) std::atomic<uint64_t> ticket{0};  // of its region that has waited longest; 0: none waits
  std::atomic<uint32_t> asked{0};  // calls of that one
  std::atomic<uint32_t> inside{0};  // regions
  std::atomic<uint32_t> calls{0};  // of those

  // When it was last seen to do something, by CLOCK_MONOTONIC; relaxed. See is_stopped.
  std::atomic<int64_t> beat{0};
};

// While a process has slots or waits for something, its monitor beats every few milliseconds. One that has not for so
// long is stopped, by a signal or a debugger: it does not count until it goes on. A clock that goes another way in
// another process makes it one that is stopped, too.
inline constexpr int64_t kStoppedNs = 1'000'000'000;
inline bool is_stopped(const Record& record, int64_t now) noexcept {
  const int64_t beat = record.beat.load(std::memory_order_relaxed);
  return beat < now - kStoppedNs || beat > now + kStoppedNs;
}

struct Header {
  uint64_t magic = kMagic;
  uint32_t layout = kLayout;
  // These two are written with the lock held. Relaxed: who reads an old one misses a process that has just come.
  std::atomic<uint32_t> top_cpu{0};  // slots from it on have never been anybody's
  std::atomic<uint32_t> top{0};  // records from it on have never been used
  uint64_t size = 0;
  // Set, with the lock held, by who removes the file: nobody joins any more, and who is in leaves. Relaxed outside of
  // the lock, where it is looked at now and then.
  std::atomic<uint32_t> closed{0};
  pthread_mutex_t lock;  // of joining, leaving and the removal of the dead; robust
  // Of the queue before regions.
  alignas(64) pthread_mutex_t queue_lock;  // robust
  std::atomic<uint64_t> last_ticket{0};
};

// Who owns a slot: serial and number of the record; 0: nobody.
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
inline constexpr uint32_t kUnbounded = 0xffff;
inline int due_of(uint32_t terms) noexcept { return static_cast<int>(terms & 0xffff); }

}  // namespace weft::node
