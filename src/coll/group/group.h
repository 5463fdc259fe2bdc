// SPDX-License-Identifier: Apache-2.0
// A rank's view of a group, and the steps by which the ranks talk.
//
// All ranks count the same steps. In a step a rank may publish a line, and a buffer with it. Invariants:
// - A line or a buffer is written by its owner alone, and only when all ranks are done with the step that used it last.
// - A line holds the number of a step only when all is written that belongs to the step.
// - A rank says that it is done with a step when it reads nothing any more that others have published for it or before.
// Numbers only grow, so nothing is ever reset and no number is seen twice.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "coll/coll.h"
#include "coll/group/hierarchy.h"
#include "coll/group/layout.h"
#include "coll/group/model.h"
#include "coll/sync/waiting.h"

namespace weft::coll {

class Group {
 public:
  struct Shape {
    int rank;
    int size;
    size_t area_bytes;  // from one rank's area to the next one's
    size_t queue_offset;  // in an area
  };

  // The areas lie at `memory`, one after the other; the members have been written.
  Group(char* memory, const Shape& shape, const Settings& settings, const Facts& facts) noexcept;
  // Sets how the queues are divided and how fast the machine is: the same on all ranks, between the same two steps,
  // when no rank reads a buffer.
  void set(const QueueLayout& queue, const Speed& speed) noexcept;
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  int rank() const noexcept { return shape_.rank; }
  int size() const noexcept { return shape_.size; }
  size_t fragment_bytes() const noexcept { return queue_.fragment_bytes; }
  char* memory() const noexcept { return memory_; }
  size_t area_bytes() const noexcept { return shape_.area_bytes; }
  size_t memory_bytes() const noexcept { return shape_.area_bytes * static_cast<size_t>(shape_.size); }
  const Facts& facts() const noexcept { return facts_; }
  const Member& member(int rank) const noexcept { return area(rank).member; }
  size_t single_copy_from(Operation operation) const noexcept {
    return single_copy_from_[static_cast<size_t>(operation)];
  }
  // Whether there are more ranks than CPUs: a rank that waits keeps another one from running.
  bool crowded() const noexcept { return waiting_.crowded; }

  // The tree by which many ranks talk; null: each rank looks at all others itself.
  const Hierarchy* tree_of_locations() const noexcept { return by_location_.get(); }
  // The tree for reductions. Whether there is one follows from the number of ranks alone, as the order of combining
  // does.
  const Hierarchy* tree_of_numbers() const noexcept { return by_number_.get(); }
  // Makes the trees, if there are `from` ranks or more; 0: if trees pay. Called on all ranks before the first
  // operation.
  void plant_trees(int from) noexcept;

  // The next step, which all ranks begin in the same operation.
  uint64_t next_step() noexcept {
    // A rank that never waits has to move messages too.
    constexpr uint64_t kProgress = 32;
    if (++step_ % kProgress == 0 && waiting_.progress != nullptr) waiting_.progress();
    return step_;
  }

  // The caller's own line and buffer, for it to write; waits until all ranks are done with them.
  unsigned char* own_line(uint64_t step) noexcept;
  char* own_buffer(uint64_t step) noexcept;
  // Publishes what the caller has written for the step: ranks that wait for it may read it.
  void publish(uint64_t step) noexcept;

  // Waits until `rank` has published its line or buffer for the step, and returns it.
  const unsigned char* await_line(int rank, uint64_t step) noexcept;
  const char* await_buffer(int rank, uint64_t step) noexcept {
    await_line(rank, step);
    return buffer(rank, step);
  }
  // The same for a line or buffer that the caller has waited for already.
  const unsigned char* line(int rank, uint64_t step) const noexcept { return area(rank).lines[step % kLines].data; }
  const char* buffer(int rank, uint64_t step) const noexcept { return buffer_at(rank, step); }

  void done(uint64_t step) noexcept;
  // Waits until `rank`, or all ranks, are done with the step.
  void await_done(int rank, uint64_t step) noexcept;
  void await_all_done(uint64_t step) noexcept;
  // To be called where the caller has learnt by other means that all ranks are done with the step.
  void all_are_done(uint64_t step) noexcept { all_done_ = std::max(all_done_, step); }

  // To be called where the rank may have died: does not return if it has, or is about to end.
  void die_with(int rank) const noexcept;

  // Memory of this rank alone, of `bytes` at least; what it holds is lost at the next call.
  char* scratch(size_t bytes) noexcept;
  // Gives the memory back if it is large.
  void end_scratch() noexcept;

 private:
  Area& area(int rank) const noexcept {
    return *reinterpret_cast<Area*>(memory_ + static_cast<size_t>(rank) * shape_.area_bytes);
  }
  char* buffer_at(int rank, uint64_t step) const noexcept {
    return memory_ + static_cast<size_t>(rank) * shape_.area_bytes + shape_.queue_offset +
           (step % queue_.fragments) * queue_.fragment_bytes;
  }
  // Waits until all ranks are done with the step.
  void await_free(uint64_t step) noexcept;

  char* const memory_;
  const Shape shape_;
  QueueLayout queue_{};
  Thresholds single_copy_from_{};
  Facts facts_;
  WaitSettings waiting_;
  Area& own_;
  uint64_t step_ = 0;
  // The last step with which all ranks are known to be done.
  uint64_t all_done_ = 0;
  std::unique_ptr<const Hierarchy> by_location_, by_number_;
  char* scratch_ = nullptr;
  size_t scratch_bytes_ = 0;
};

inline unsigned char* Group::own_line(uint64_t step) noexcept {
  if (step > all_done_ + kLines) await_free(step - kLines);
  return own_.lines[step % kLines].data;
}

inline char* Group::own_buffer(uint64_t step) noexcept {
  // A buffer has a line too, and there are no fewer lines than buffers.
  if (step > all_done_ + queue_.fragments) await_free(step - queue_.fragments);
  return buffer_at(shape_.rank, step);
}

inline void Group::publish(uint64_t step) noexcept {
  // Release: a rank that sees the number sees what was written before; await_line acquires.
  own_.lines[step % kLines].step.store(step, std::memory_order_release);
  wake_sleepers(own_);
}

inline const unsigned char* Group::await_line(int rank, uint64_t step) noexcept {
  Area& theirs = area(rank);
  const Line& line = theirs.lines[step % kLines];
  // Acquire: what was written before the number is seen.
  wait_until(waiting_, theirs, rank, [&] { return line.step.load(std::memory_order_acquire) == step; });
  return line.data;
}

inline void Group::done(uint64_t step) noexcept {
  // Release: what was read before is not read later, when the owner writes anew; await_done acquires.
  own_.done.store(step, std::memory_order_release);
  wake_sleepers(own_);
}

inline void Group::await_done(int rank, uint64_t step) noexcept {
  Area& theirs = area(rank);
  wait_until(waiting_, theirs, rank, [&] { return theirs.done.load(std::memory_order_acquire) >= step; });
}

}  // namespace weft::coll
