// SPDX-License-Identifier: Apache-2.0
// The lines of a team's members that others write, and the table of them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "core/api/records.h"
#include "openmp/record/deque_marks.h"
#include "platform/spinlock.h"

namespace weft::openmp {

struct NumberWaiter;
class TaskDeque;
struct Team;

// What the contexts of one thread number share: a member whose task is paused, and its stand-ins (stand_in.h).
struct SharedNumber {
  Team* team = nullptr;  // set before the first stand-in begins
  int number = 0;
  std::atomic<bool> has_been_shared{false};
  // No context has the number's deque. The exchange that takes it is an acquire.
  std::atomic<bool> deque_is_free{false};
  std::atomic<int> active{1};  // contexts that are not paused
  std::atomic<int> wanted_back{0};  // paused contexts whose tasks count on the number, while another one is active
  std::atomic<core::Context*> sleeper{nullptr};  // the stand-in that sleeps until there are tasks (task_calls.h)
  // own_number.h: whether a context has it for its tasks, and those that wait for that, guarded by `line`.
  std::atomic<bool> in_use{false};
  platform::Spinlock line;
  NumberWaiter* first = nullptr;
  NumberWaiter* last = nullptr;
};

struct MemberLine {
  static constexpr int kRounds = 12;
  // Signals of the dissemination barrier, by round: the barrier's number. Members that send them take the line, so it
  // has nothing else on it.
  struct alignas(64) Signals {
    std::array<std::atomic<uint32_t>, kRounds> by_round{};
  };
  std::array<Signals, 2> signal{};  // by parity of the barrier
  // Of a large team (barrier.cpp), the barrier's number: written by this member when it has come, and, by the first of
  // a group, when the others may go on.
  alignas(64) std::atomic<uint32_t> arrived{0};
  std::atomic<uint32_t> released{0};

  // Read at each signal, written by the member that sleeps. task_calls.h
  alignas(64) std::atomic<core::Context*> sleeper{nullptr};
  std::atomic<bool> recalled{false};

  // Where it sleeps until an iteration has passed, and which (iteration_wait.h), or until others have combined
  // (reduction_tree.h).
  std::atomic<core::Context*> in_line{nullptr};
  std::atomic<uint64_t> awaited{0};

  // In a cancelled region (cancelled_copies.h): it has left, and the last copyprivate that it has done with.
  std::atomic<bool> left{false};
  std::atomic<uint64_t> copied{0};

  // Its part of a reduction, for the member that combines it (reduction_tree.h); null: there is none, or no more.
  std::atomic<void*> part{nullptr};

  SharedNumber shared;

  // As if barrier number `barrier` had just been passed.
  void reset(uint32_t barrier) noexcept {
    for (Signals& parity : signal) {
      for (auto& word : parity.by_round) word.store(barrier, std::memory_order_relaxed);
    }
    arrived.store(barrier, std::memory_order_relaxed);
    released.store(barrier, std::memory_order_relaxed);
    sleeper.store(nullptr, std::memory_order_relaxed);
  }
};

// By member; made when first needed, kept for the record's next region. Shorter tables that these have replaced stay: a
// member that was late with its last look may still be at them.
struct MemberTables {
  // `capacity` is their length. It and `deques` are atomic for the monitor, which looks at any time (progress.h).
  std::atomic<int> capacity{0};
  MemberLine* lines = nullptr;
  std::atomic<std::atomic<TaskDeque*>*> deques{nullptr};
  DequeMarks* marks = nullptr;
  struct Outgrown {
    MemberLine* lines;
    std::atomic<TaskDeque*>* deques;
    DequeMarks* marks;
    Outgrown* next;
  };
  Outgrown* outgrown = nullptr;

  // For at least `size` members; without memory the process ends with a message.
  void reserve(int size) noexcept;
};

}  // namespace weft::openmp
