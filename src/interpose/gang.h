// SPDX-License-Identifier: Apache-2.0
// The jobs of a call, run by the pool all at the same time (core/sched/gang.h), or one after the other by the caller.
#pragma once

#include <array>
#include <cstdint>

#include "core/api/records.h"
#include "interpose/copy.h"
#include "interpose/openblas.h"
#include "interpose/sequence.h"

namespace weft::interpose {

// The jobs of a call. Records are never given back to the system: see core/sched/parallel_call.h.
struct Gang : core::ParallelCall {
  Copy* copy = nullptr;
  Job job = nullptr;
  int count = 0;  // how many jobs it has
  int lent = 0;   // how many OS threads it was lent
  int extra = 0;
  // The jobs are either an array, whose first job its creator runs, or a list, beside which its creator runs.
  char* data = nullptr;
  size_t size = 0;
  QueuedJob* list = nullptr;
  std::array<uint16_t, Numbers::kMost> numbers;
  bool in_sequence = false;  // its jobs are run in sequence, unless helpers find the caller stuck
  bool by_turns = false;     // its jobs say when they wait, so that any number of carriers can run them
  bool offered = false;      // with `by_turns`: it was offered to carriers, and some may have come
  Sequence sequence;
  uint64_t tool = 0;  // the data that a tool keeps of the call
  Gang* next_free = nullptr;
};

// Takes a record; null: there is no memory.
Gang* take_gang() noexcept;
void put_gang(Gang* gang) noexcept;

// Makes `calls` jobs of the gang run beside the caller, all at the same time. Returns false, and has done nothing,
// where the system refuses the threads for that.
bool start(Gang* gang, int calls) noexcept;
// Returns when these jobs have ended.
void finish(Gang* gang) noexcept;

// Runs a job of an array, on the caller.
void run_of_array(const Gang* gang, int index) noexcept;
// Begins to run the jobs by `gang->sequence`. Returns false where that is not possible.
bool begin_sequence(Gang* gang) noexcept;

// Offers the jobs of a gang by turns, which have begun as a sequence, to carriers that have time, as many as a call may
// have; and waits for those that have come, when the caller has nothing more to run.
void offer(Gang* gang) noexcept;
void await_carriers(Gang* gang) noexcept;

// The two bracket a fork.
void lock_gangs() noexcept;
void unlock_gangs(bool in_child) noexcept;

}  // namespace weft::interpose
