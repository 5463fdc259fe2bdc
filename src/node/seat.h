// SPDX-License-Identifier: Apache-2.0
// A seat is a record of the segment that belongs to a process, so that others know whether that process lives. It takes
// part, is about to, or only takes the lock. It is taken without the lock.
#pragma once

#include "node/end_mark.h"
#include "node/layout.h"

namespace weft::node {

// How closely to look whether a process is gone: by the kernel's mark, or also by its numbers, which takes longer and
// finds those that the kernel could not mark.
enum class Check { marks, processes };

// Whether the thread that sat there when the record's `life` had that value has gone. Where there is doubt it has not.
// 0 is nobody.
bool has_gone(const Record& record, uint32_t life, Check check) noexcept;

// Says that a process has come or gone, and may have left slots. The next process that looks divides anew.
void tell_of_change(Header& header) noexcept;

// Frees the slots of the process that has taken part by this record, and ends that. Returns how many there were.
int clear(Layout& layout, int record) noexcept;

class Seat {
 public:
  Seat() noexcept = default;
  ~Seat() { leave(); }
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  // For the calling thread; it must live as long as the process, or leave. False: there is none.
  bool take(Layout& layout) noexcept;
  void leave() noexcept;

  bool taken() const noexcept { return record_.load(std::memory_order_relaxed) != nullptr; }
  int number() const noexcept { return number_; }
  uint32_t thread() const noexcept { return thread_; }
  // Whether it still is this one's: nobody has taken him for dead, and nothing has overwritten it.
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
