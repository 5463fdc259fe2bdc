// SPDX-License-Identifier: Apache-2.0
#include "node/seat.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "platform/process.h"

namespace weft::node {

bool has_gone(const Record& record, uint32_t life, Check check) noexcept {
  if ((life & FUTEX_OWNER_DIED) != 0) return true;
  if (life == 0 || check == Check::marks) return life == 0;
  if (platform::thread_has_ended(static_cast<pid_t>(life & FUTEX_TID_MASK))) return true;
  const auto same = [&] {
    return record.life.load(std::memory_order_acquire) == life &&
           record.known_as.load(std::memory_order_acquire) == life;
  };
  if (!same()) return false;
  const platform::ProcessId process{.pid = record.pid.load(std::memory_order_relaxed),
                                    .inode = record.inode.load(std::memory_order_relaxed),
                                    .start = record.start.load(std::memory_order_relaxed),
                                    .clock = record.clock.load(std::memory_order_relaxed)};
  // Another process may have taken the seat while the four words were read.
  return platform::process_has_ended(process) && same();
}

// Release: with the counts come the serials, and that the slots are free. `changes` is sequentially consistent, as
// Divider needs it.
void tell_of_change(Header& header) noexcept {
  header.members.fetch_add(1, std::memory_order_release);
  header.freed.fetch_add(1, std::memory_order_release);
  header.changes.fetch_add(1);
}

int clear(Layout& layout, int number) noexcept {
  Record& record = layout.records[static_cast<size_t>(number)];
  uint32_t serial = record.serial.load(std::memory_order_acquire);
  if (serial == 0) return 0;
  const Owner owner = owner_of(serial, number);
  int freed = 0;
  for (std::atomic<Owner>& slot : layout.slots) {
    Owner seen = owner;
    if (slot.load(std::memory_order_relaxed) == owner && slot.compare_exchange_strong(seen, 0)) ++freed;
  }
  // Release: a process that finds the serial 0 finds the slots free.
  record.serial.compare_exchange_strong(serial, 0, std::memory_order_release, std::memory_order_relaxed);
  layout.header.lacking[static_cast<size_t>(number) / 64].fetch_and(~(uint64_t{1} << (number % 64)));
  tell_of_change(layout.header);
  return freed;
}

// Takes a seat that is free; or one whose process is marked as gone; or one whose process has ended without a mark.
// Seats of the dead come last, since remove_dead() counts the slots that these have left.
bool Seat::take(Layout& layout) noexcept {
  const auto is_empty = [](const Record&, uint32_t life) { return life == 0; };
  const auto is_marked = [](const Record& record, uint32_t life) { return has_gone(record, life, Check::marks); };
  const auto has_ended = [](const Record& record, uint32_t life) { return has_gone(record, life, Check::processes); };
  return take_one(layout, is_empty) || take_one(layout, is_marked) || take_one(layout, has_ended);
}

template <class MayTake>
bool Seat::take_one(Layout& layout, MayTake&& may_take) noexcept {
  thread_ = static_cast<uint32_t>(syscall(SYS_gettid));
  for (int i = 0; i < kMostProcesses; ++i) {
    Record& record = layout.records[static_cast<size_t>(i)];
    uint32_t life = record.life.load(std::memory_order_acquire);
    if (!may_take(record, life)) continue;
    mark_.set(record.life);
    // Acquire and release: what the process before has written is seen.
    if (!record.life.compare_exchange_strong(life, thread_, std::memory_order_acq_rel)) continue;
    number_ = i;
    clear(layout, i);
    introduce(record);
    record_.store(&record, std::memory_order_relaxed);
    std::atomic<uint32_t>& top = layout.header.top;
    uint32_t before = top.load(std::memory_order_relaxed);
    while (before <= static_cast<uint32_t>(i) && !top.compare_exchange_weak(before, static_cast<uint32_t>(i) + 1)) {
    }
    return true;
  }
  mark_.remove();
  return false;
}

void Seat::introduce(Record& record) const noexcept {
  record.known_as.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  const platform::ProcessId self = platform::own_process_id();
  record.pid.store(self.pid, std::memory_order_relaxed);
  record.inode.store(self.inode, std::memory_order_relaxed);
  record.start.store(self.start, std::memory_order_relaxed);
  record.clock.store(self.clock, std::memory_order_relaxed);
  record.known_as.store(thread_, std::memory_order_release);
}

void Seat::leave() noexcept {
  Record* const record = record_.exchange(nullptr, std::memory_order_relaxed);
  if (record == nullptr) return;
  // In the child of a fork the object is a copy: the seat is the parent's.
  if (static_cast<uint32_t>(syscall(SYS_gettid)) != thread_) return;
  // The seat is given up only if it is still this process's: another one may have taken it over.
  uint32_t life = thread_;
  record->life.compare_exchange_strong(life, 0, std::memory_order_release, std::memory_order_relaxed);
  mark_.remove();
}

}  // namespace weft::node
