// SPDX-License-Identifier: Apache-2.0
// A seat is a record of the segment that belongs to a process, so that others know whether that process lives. A
// process needs a seat to take part, and to take a lock. A seat is taken without a lock, by a compare-and-swap of
// `life`.
#pragma once

#include "node/end_mark.h"
#include "node/layout.h"

namespace weft::node {

// How closely to look whether a process is gone. marks: by the kernel's mark alone. processes: also by the numbers of
// its thread and process, which takes longer and finds processes that the kernel could not mark.
enum class Check { marks, processes };

// Whether the thread is gone whose number the record's `life` had, `life` being the value that was read. Where there is
// doubt it is not gone. For 0, a free seat, it is true.
bool has_gone(const Record& record, uint32_t life, Check check) noexcept;

// Counts that a process has come or gone, and may have left slots. The next process that looks divides anew.
void tell_of_change(Header& header) noexcept;

// Ends the membership of the process that takes part by this record, and frees its slots. Returns how many it had.
int clear(Layout& layout, int record) noexcept;

class Seat {
 public:
  Seat() noexcept = default;
  ~Seat() { leave(); }
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  // Takes a seat for the calling thread, which must live as long as the process, or leave. Returns false where none is
  // free.
  bool take(Layout& layout) noexcept;
  void leave() noexcept;

  bool taken() const noexcept { return record_.load(std::memory_order_relaxed) != nullptr; }
  int number() const noexcept { return number_; }
  uint32_t thread() const noexcept { return thread_; }
  // Whether the seat is still this process's: no other process has taken this one for dead, and none has written over
  // the record.
  bool is_own() const noexcept {
    const Record* record = record_.load(std::memory_order_relaxed);
    return record != nullptr && record->life.load(std::memory_order_relaxed) == thread_;
  }

 private:
  template <class MayTake>
  bool take_one(Layout& layout, MayTake&& may_take) noexcept;
  void introduce(Record& record) const noexcept;

  // Relaxed: other threads of the process may look at it while it is left.
  std::atomic<Record*> record_{nullptr};
  int number_ = -1;
  uint32_t thread_ = 0;
  EndMark mark_;
};

}  // namespace weft::node
