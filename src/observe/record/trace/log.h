// SPDX-License-Identifier: Apache-2.0
// What is kept while the program runs: one growing list of records for each context, which only it appends to.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/traced_call.h"
#include "weft/weft-tools.h"

namespace weft::observe::trace {

enum class What : uint8_t {
  member,  // the context begins to run a member of a team
  task,    // an explicit task
  work,    // a worksharing construct, a masked region
  wait,    // in a barrier, for tasks, for a mutex
  end,     // the end of the innermost of these
  leave,   // the context leaves its carrier
  resume,  // and continues, perhaps on another
  loop,    // the region `id`, which ends, was one loop
  call,    // a call that has waited for other processes
  region,  // the context opens the region `id`, and asks for `number` threads
  release,  // the innermost critical or ordered region that it has is left
};

struct Record {
  int64_t time = 0;  // nanoseconds
  What what = What::end;
  uint8_t kind = 0;      // of work or wait: the number in observe/format/events.h
  uint16_t level = 0;    // of a member: how many regions are around it
  int32_t carrier = -1;  // on which it happened
  uint64_t id = 0;       // of the team or task; of a loop, its iterations
  int32_t number = 0;    // of the member, and of how many
  int32_t size = 0;
  union {
    const void* caller = nullptr;
    const weft_loop_totals_t* loop;  // of What::loop; the record's own
    const base::TracedCall* call;    // of What::call; likewise
  };
  // Of a task: the team of its creator, in the place of `number` and `size`.
  void set_team(uint64_t team) noexcept {
    number = static_cast<int32_t>(team);
    size = static_cast<int32_t>(team >> 32);
  }
  uint64_t team() const noexcept {
    return uint64_t{static_cast<uint32_t>(number)} | uint64_t{static_cast<uint32_t>(size)} << 32;
  }
};

class Log {
 public:
  // Called by the owner. Without memory the record is lost, and counted.
  void append(const Record& record) noexcept;

  // Called by any thread: visits all records that are complete.
  template <class Visit>
  void visit(Visit&& visit) const noexcept {
    for (const Block* block = first_.load(std::memory_order_acquire); block != nullptr;
         block = block->next.load(std::memory_order_acquire)) {
      const size_t count = block->count.load(std::memory_order_acquire);
      for (size_t i = 0; i < count; ++i) visit(block->records[i]);
    }
  }

  // By anybody: how many these are.
  size_t count() const noexcept {
    size_t count = 0;
    for (const Block* block = first_.load(std::memory_order_acquire); block != nullptr;
         block = block->next.load(std::memory_order_acquire)) {
      count += block->count.load(std::memory_order_relaxed);
    }
    return count;
  }

  uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

  Log* next = nullptr;  // of the list of all
  int number = 0;       // in the order of their beginning
  // For a thread of the program's: its number to the kernel, and when it first called OpenMP and ended; 0: not yet.
  int thread = 0;
  int64_t began = 0;
  std::atomic<int64_t> ended{0};

 private:
  static constexpr size_t kRecords = 2048;
  // Release by the owner, acquire by the reader: what is counted or linked is complete.
  struct Block {
    std::array<Record, kRecords> records;
    std::atomic<size_t> count{0};
    std::atomic<Block*> next{nullptr};
  };

  std::atomic<Block*> first_{nullptr};
  Block* last_ = nullptr;
  std::atomic<uint64_t> lost_{0};
};

}  // namespace weft::observe::trace
