// SPDX-License-Identifier: Apache-2.0
// How readers and writers get the lock, and how it survives those who die.
//
//   reader  out -> in          slot 1, light fence, the slot is not closed              (weft/rwlock.h, in line)
//           out -> asks        slot 1, the slot is closed
//           asks -> in         slot not closed, fence, the gate is open
//           asks -> waiting    the gate is closed: slot closed, slot kWaiting; looks for a writer that sleeps on it
//           waiting -> asks    the gate is open again
//           waiting -> in      a writer has put 1 into the slot
//           in -> out          slot 0; if the slot is closed: looks for a writer that sleeps on it
//   writer  takes `writer`; closes the gate; fence; closes the slots that are not; heavy fence, or all readers of those
//           have answered; waits until no slot says in; sets `writing`
//           clears `writing`; lets in those that wait (fair); opens the gate; wakes; gives `writer` back
//
// Exclusion, of a reader whose slot is closed: it writes its slot and then reads the gate, the writer writes the gate
// and then reads the slots, with a fence between on both sides: one of the two sees the other. Only a slot that nobody
// else writes then goes on: the reader's, back to waiting. By the same fences a writer that finds a slot closed is seen
// by the reader that is about to free it, and a writer that closes one does so behind the reader's freeing.
//
// Exclusion, of a reader whose slot is not closed: the same with `closed` in the place of the gate, and the writer's
// heavy fence counts for both. It interrupts the CPUs on which readers run, which takes microseconds. A reader that
// waits has asked, so that it is one of those above: where all of them are seen to wait, there is no heavy fence. Those
// who read all the time come by at once.
//
// Death: the kernel marks what the dead one owned, and what the dead of another home of the region own shows so
// (sync/owner_word.h). A reader's lease is looked at by the writer that waits for its
// slot. `writer` is looked at by the next writer, and by readers that have waited for a while. Whoever finds the mark
// does what the dead one had left to do: each step above leaves a state from which the next one can be told.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "shm/rwlock/layout.h"
#include "shm/sync/robust.h"
#include "shm/sync/thread_number.h"
#include "shm/sync/wait.h"

namespace weft::shm {

template <class Ops>
class RwlockProtocol {
 public:
  using Layout = RwlockLayout<Ops>;
  using Slot = RwlockSlot<Ops>;
  static constexpr int64_t kNow = 0;  // as a deadline: do not wait

  RwlockProtocol(Layout& layout, uint32_t slots) noexcept : lock_(layout), slots_(slots) {}

  static void make(Layout& layout, uint32_t slots, bool fair, bool fenced) noexcept;

  // ---- readers ----

  // A slot for the caller; null: all are taken.
  // `fenced`: it makes its fences itself.
  Slot* claim(bool fenced) noexcept;
  void leave(Slot& slot) noexcept;
  // Whether the thread is gone that had the slot when its owner was `owner`.
  bool has_gone(Slot& slot, uint64_t owner) noexcept;

  // After a step in that met a closed slot: 0, EBUSY (for kNow), ETIMEDOUT, EOWNERDEAD, ENOTRECOVERABLE.
  // EDEADLK: the thread has the write lock.
  int enter(Slot& mine, int64_t deadline_ns) noexcept;
  // The reader is out, and its slot was closed.
  void left(Slot& mine) noexcept;

  // ---- writers ----

  // 0, EOWNERDEAD: the caller has the lock. EBUSY (for kNow), ETIMEDOUT, ENOTRECOVERABLE, ENOSYS: it has not.
  // EDEADLK: the thread has the write lock, or a read lock.
  int lock(int64_t deadline_ns) noexcept;
  void unlock() noexcept;
  // By the owner. False: there was nothing to mend.
  bool mend() noexcept;

  // Whether the thread has the write lock. Relaxed: it has written its number itself, and nobody else writes that.
  bool writes() const noexcept { return lock_.writer_thread.load(std::memory_order_relaxed) == Ops::self(); }

  // Whether the thread is gone that has had the write lock under this number. What it has left to do is done then.
  bool writer_has_gone(uint64_t thread) noexcept;

  // Whether somebody has the write lock, or is registered.
  bool in_use() noexcept;

 private:
  static constexpr int64_t kFirstLookNs = 1'000'000;  // how long to wait before looking whether somebody has died
  static constexpr int64_t kLastLookNs = 50'000'000;
  static constexpr int kClaims = 3;
  static constexpr int64_t kAnswerNs = 1'000;  // how long readers have to answer: less than a heavy fence may take

  uint32_t era() const noexcept { return lock_.header.era(); }
  // The kernel marks the dead as a rule, so their processes are looked at rarely.
  static Look look_for(int64_t waited_ns) noexcept { return waited_ns < kLastLookNs ? Look::word : Look::process; }
  static bool is_closed(uint32_t gate) noexcept { return (gate & 1) != 0; }
  static bool is_in(uint32_t depth) noexcept { return Slot::is_in(depth); }
  // Whether the thread has a read lock.
  bool reads() const noexcept;
  static int64_t next_look(int64_t deadline_ns, int64_t after_ns) noexcept {
    return std::min(deadline_ns, Ops::now_ns() + after_ns);
  }

  // The slot says in. True: the gate is open, so that it is. False: the slot is closed again.
  bool ask(Slot& mine) noexcept;
  void step_back(Slot& mine) noexcept;
  // Gives up waiting. False: a writer has let the reader in meanwhile.
  static bool withdraw(Slot& mine) noexcept;
  void sleep_at_gate(Slot& mine, uint32_t closed, int64_t until_ns) noexcept;
  // What a writer that has died has left to do. By who waits for the gate.
  void look_for_dead_writer(Look look) noexcept;

  void inherit(Taken taken) noexcept;
  bool close() noexcept;
  // Closes the slots. False: all were closed already.
  bool close_slots(uint32_t top) noexcept;
  // Whether each reader of a slot that is closing waits.
  bool answered(uint32_t top) noexcept;
  void open() noexcept;
  int wait_for(Slot& slot, int64_t deadline_ns) noexcept;
  // Clears the slot if nobody has it any more.
  bool reap(Slot& slot, Look look) noexcept;
  int give_up(int code) noexcept;

  Layout& lock_;
  const uint32_t slots_;
};

template <class Ops>
void RwlockProtocol<Ops>::make(Layout& layout, uint32_t slots, bool fair, bool fenced) noexcept {
  layout.slots = slots;
  layout.fair = fair ? 1 : 0;
  layout.fenced = fenced ? 1 : 0;
  // Relaxed: nobody looks before the region is ready.
  layout.gate.store(0, std::memory_order_relaxed);
  layout.writing.store(0, std::memory_order_relaxed);
  layout.data.store(Data::whole, std::memory_order_relaxed);
  layout.top.store(0, std::memory_order_relaxed);
  layout.sleeping_readers.store(0, std::memory_order_relaxed);
  layout.sleeping_writer.store(0, std::memory_order_relaxed);
  layout.owners.store(0, std::memory_order_relaxed);
  layout.writer_thread.store(kNobody, std::memory_order_relaxed);
  layout.writer.make();
  for (uint32_t i = 0; i < slots; ++i) {
    layout.slot[i].depth.store(0, std::memory_order_relaxed);
    layout.slot[i].closed.store(Slot::kClosed, std::memory_order_relaxed);
    layout.slot[i].owner.store(0, std::memory_order_relaxed);
    layout.slot[i].thread.store(kNobody, std::memory_order_relaxed);
    layout.slot[i].lease.make();
  }
}

template <class Ops>
auto RwlockProtocol<Ops>::claim(bool fenced) noexcept -> Slot* {
  // More than once: a writer that looks whether a reader lives has its lease for a moment.
  for (uint64_t look = 0; look < uint64_t{kClaims} * slots_; ++look) {
    const auto i = static_cast<uint32_t>(look % slots_);
    Slot& slot = lock_.slot[i];
    // The last time around it may be that the kernel has not told of somebody's end.
    const Look look_at = look / slots_ + 1 == kClaims ? Look::process : Look::word;
    const Taken taken = slot.lease.try_take(era(), Hold::long_term, look_at);
    if (taken == Taken::no) continue;
    // Relaxed: what a dead reader has read it has read. Closed: the new one asks first, behind the fences below.
    slot.closed.store(Slot::kClosed, std::memory_order_relaxed);
    slot.depth.store(fenced ? Slot::kFenced : 0, std::memory_order_relaxed);
    if (taken == Taken::after_death) slot.lease.settle();
    // Relaxed: it only has to be another number.
    slot.owner.store(lock_.owners.fetch_add(1, std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    slot.thread.store(Ops::self(), std::memory_order_relaxed);  // it looks for itself only
    // Before the first lock: who sees the reader in does not see the number of the one before.
    std::atomic_thread_fence(std::memory_order_release);
    // Before the first lock, like the slot itself: a writer whose fence comes too late for one sees the other. The
    // default order, since it is rare.
    for (uint32_t top = lock_.top.load(); top <= i && !lock_.top.compare_exchange_strong(top, i + 1);) {
    }
    return &slot;
  }
  return nullptr;
}

template <class Ops>
void RwlockProtocol<Ops>::leave(Slot& slot) noexcept {
  slot.lease.give(era(), Hold::long_term);
}

template <class Ops>
bool RwlockProtocol<Ops>::has_gone(Slot& slot, uint64_t owner) noexcept {
  // Relaxed: who has registered since has seen that the thread was gone.
  return slot.owner.load(std::memory_order_relaxed) != owner || reap(slot, Look::process);
}

template <class Ops>
void RwlockProtocol<Ops>::left(Slot& mine) noexcept {
  // The slot, then the sleeper; a writer announces its sleep and then looks at the slot.
  Ops::full_fence();
  // Relaxed: the fence orders it.
  if (lock_.sleeping_writer.load(std::memory_order_relaxed) != 0) Ops::wake(mine.depth);
}

template <class Ops>
bool RwlockProtocol<Ops>::ask(Slot& mine) noexcept {
  // Relaxed: the fence orders it. A writer that has closed the slot meanwhile has closed the gate before.
  mine.closed.store(Slot::kFree, std::memory_order_relaxed);
  Ops::full_fence();
  // Acquire: what the writer that has opened it has written.
  if (!is_closed(lock_.gate.load(std::memory_order_acquire))) return true;
  mine.closed.store(Slot::kClosed, std::memory_order_relaxed);
  return false;
}

template <class Ops>
void RwlockProtocol<Ops>::step_back(Slot& mine) noexcept {
  // Relaxed: the reader's own. Release: as when leaving, and a writer that sees it waiting sees it closed.
  const uint32_t fenced = mine.depth.load(std::memory_order_relaxed) & Slot::kFenced;
  mine.depth.store(fenced | Slot::kWaiting, std::memory_order_release);
  left(mine);
}

template <class Ops>
bool RwlockProtocol<Ops>::withdraw(Slot& mine) noexcept {
  // Relaxed: only a writer that lets the reader in changes it, which the exchange sees.
  uint32_t waiting = mine.depth.load(std::memory_order_relaxed) | Slot::kWaiting;
  // Acquire, for where it fails: a writer that has let the reader in has written before.
  return mine.depth.compare_exchange_strong(waiting, waiting & Slot::kFenced, std::memory_order_acquire);
}

template <class Ops>
void RwlockProtocol<Ops>::sleep_at_gate(Slot& mine, uint32_t closed, int64_t until_ns) noexcept {
  // Relaxed, all: the caller looks again. A reader that has been let in is woken by the gate, which opens behind it.
  const int64_t spin_until = std::min(until_ns, Ops::now_ns() + Ops::spin_ns());
  do {
    if (lock_.gate.load(std::memory_order_relaxed) != closed) return;
    if (!Slot::is_waiting(mine.depth.load(std::memory_order_relaxed))) return;
    Ops::pause();
  } while (Ops::now_ns() < spin_until);
  lock_.sleeping_readers.store(1, std::memory_order_relaxed);
  // Announced, then the gate, which the kernel reads; open() writes the gate and then reads the announcement.
  Ops::full_fence();
  Ops::wait(lock_.gate, closed, until_ns);
}

template <class Ops>
int RwlockProtocol<Ops>::enter(Slot& mine, int64_t deadline_ns) noexcept {
  if (writes()) {
    // Relaxed: it was never in.
    mine.depth.store(mine.depth.load(std::memory_order_relaxed) & Slot::kFenced, std::memory_order_relaxed);
    return EDEADLK;
  }
  // Relaxed: the answer to a writer that is closing the slot comes at once, and the gate is looked at behind it.
  if (mine.closed.load(std::memory_order_relaxed) != Slot::kClosing && ask(mine)) return 0;
  step_back(mine);
  for (int64_t look_after = kFirstLookNs;;) {
    // Acquire: what the writer that has opened it has written.
    const uint32_t gate = lock_.gate.load(std::memory_order_acquire);
    if (!is_closed(gate)) {
      // Relaxed: as in withdraw().
      uint32_t waiting = mine.depth.load(std::memory_order_relaxed) | Slot::kWaiting;
      const uint32_t in = (waiting & Slot::kFenced) | 1;
      // Acquire, for where it fails: a writer has let the reader in.
      if (!mine.depth.compare_exchange_strong(waiting, in, std::memory_order_acquire)) return 0;
      if (ask(mine)) return 0;
      step_back(mine);
      continue;
    }
    const Data data = lock_.data.load(std::memory_order_acquire);
    if (data != Data::whole) {
      return withdraw(mine) ? (data == Data::torn ? EOWNERDEAD : ENOTRECOVERABLE) : 0;
    }
    if (!Slot::is_waiting(mine.depth.load(std::memory_order_acquire))) return 0;
    const int64_t now = Ops::now_ns();
    if (now >= deadline_ns) {
      // Somebody who only tries must not take a dead writer for a live one for ever.
      look_for_dead_writer(Look::word);
      if (!withdraw(mine)) return 0;
      return deadline_ns == kNow ? EBUSY : ETIMEDOUT;
    }
    const int64_t look_at = next_look(deadline_ns, look_after);
    sleep_at_gate(mine, gate, look_at);
    if (Ops::now_ns() < look_at || lock_.gate.load(std::memory_order_relaxed) != gate) continue;
    look_for_dead_writer(look_for(look_after));
    look_after = std::min(2 * look_after, kLastLookNs);
  }
}

template <class Ops>
void RwlockProtocol<Ops>::look_for_dead_writer(Look look) noexcept {
  const Taken taken = lock_.writer.try_take(era(), Hold::briefly, look);
  if (taken == Taken::no) return;
  inherit(taken);
  // Relaxed: the owner of `writer` alone changes the data's state.
  if (lock_.data.load(std::memory_order_relaxed) == Data::whole) open();
  lock_.writer.give(era(), Hold::briefly);
}

template <class Ops>
void RwlockProtocol<Ops>::inherit(Taken taken) noexcept {
  if (taken != Taken::after_death) return;
  // Relaxed: the dead one's writes came before the kernel's mark, which was read by taking `writer`.
  if (lock_.writing.load(std::memory_order_relaxed) != 0) {
    lock_.data.store(Data::torn, std::memory_order_release);  // release: read without `writer`
    lock_.writer_thread.store(kNobody, std::memory_order_relaxed);  // nobody takes it for its own
    lock_.writing.store(0, std::memory_order_release);  // and after it: who dies here leaves one of the two
  }
  lock_.writer.settle();
}

template <class Ops>
bool RwlockProtocol<Ops>::close() noexcept {
  const uint32_t gate = lock_.gate.load(std::memory_order_relaxed);  // the owner of `writer` alone writes it
  if (!is_closed(gate)) lock_.gate.store(gate + 1, std::memory_order_relaxed);  // the fence orders it
  Ops::full_fence();
  // Relaxed: behind the fence.
  const uint32_t top = std::min(lock_.top.load(std::memory_order_relaxed), slots_);
  if (!close_slots(top)) return true;
  if (lock_.fenced != 0) {
    Ops::full_fence();
  } else if (!answered(top) && !Ops::heavy_fence()) {
    return false;
  }
  // They need no fence until their readers free them. A writer that dies before leaves them closing.
  for (uint32_t i = 0; i < top; ++i) {
    if (lock_.slot[i].closed.load(std::memory_order_relaxed) == Slot::kClosing) {
      lock_.slot[i].closed.store(Slot::kClosed, std::memory_order_relaxed);
    }
  }
  return true;
}

template <class Ops>
bool RwlockProtocol<Ops>::close_slots(uint32_t top) noexcept {
  bool found = false;
  for (uint32_t i = 0; i < top; ++i) {
    // Relaxed, both: behind a fence, and before another one.
    if (lock_.slot[i].closed.load(std::memory_order_relaxed) == Slot::kClosed) continue;
    lock_.slot[i].closed.store(Slot::kClosing, std::memory_order_relaxed);
    found = true;
  }
  return found;
}

template <class Ops>
bool RwlockProtocol<Ops>::answered(uint32_t top) noexcept {
  int64_t until = 0;  // those who have come by already cost no look at the clock
  for (uint32_t i = 0; i < top; ++i) {
    const Slot& slot = lock_.slot[i];
    // Acquire: what the reader has read it has read before.
    while (slot.closed.load(std::memory_order_relaxed) == Slot::kClosing &&
           !Slot::is_waiting(slot.depth.load(std::memory_order_acquire))) {
      const int64_t now = Ops::now_ns();
      if (until == 0) until = now + std::min(kAnswerNs, Ops::spin_ns());
      if (now >= until) return false;
      Ops::pause();
    }
  }
  return true;
}

template <class Ops>
void RwlockProtocol<Ops>::open() noexcept {
  const uint32_t gate = lock_.gate.load(std::memory_order_relaxed);  // the owner of `writer` alone writes it
  // Where the data is lost the gate stays closed, and those who wait shall see why.
  const bool lost = lock_.data.load(std::memory_order_relaxed) == Data::lost;
  if (is_closed(gate)) lock_.gate.store(gate + (lost ? 2 : 1), std::memory_order_release);
  Ops::full_fence();
  // While `writer` is the caller's, so that it takes no announcement of those who wait for the next one.
  if (lock_.sleeping_readers.exchange(0, std::memory_order_relaxed) != 0) Ops::wake(lock_.gate);
}

template <class Ops>
bool RwlockProtocol<Ops>::reap(Slot& slot, Look look) noexcept {
  const Taken taken = slot.lease.try_take(era(), Hold::briefly, look);
  if (taken == Taken::no) return false;
  // Relaxed: nobody but the owner of the lease writes it.
  slot.depth.store(0, std::memory_order_relaxed);
  if (taken == Taken::after_death) slot.lease.settle();
  slot.lease.give(era(), Hold::briefly);
  return true;
}

template <class Ops>
int RwlockProtocol<Ops>::wait_for(Slot& slot, int64_t deadline_ns) noexcept {
  // Acquire, here and below: what the reader has read it has read before.
  if (!is_in(slot.depth.load(std::memory_order_acquire))) return 0;
  // Relaxed: what the thread has written itself.
  if (slot.thread.load(std::memory_order_relaxed) == Ops::self()) return EDEADLK;
  const int64_t spin_until = std::min(deadline_ns, Ops::now_ns() + Ops::spin_ns());
  do {
    if (!is_in(slot.depth.load(std::memory_order_acquire))) return 0;
    Ops::pause();
  } while (Ops::now_ns() < spin_until);
  for (int64_t look_after = kFirstLookNs;;) {
    const int64_t look_at = next_look(deadline_ns, look_after);
    lock_.sleeping_writer.store(1, std::memory_order_relaxed);
    Ops::full_fence();  // see left()
    const uint32_t depth = slot.depth.load(std::memory_order_acquire);
    if (is_in(depth)) Ops::wait(slot.depth, depth, look_at);
    lock_.sleeping_writer.store(0, std::memory_order_relaxed);
    if (!is_in(slot.depth.load(std::memory_order_acquire))) return 0;
    const int64_t now = Ops::now_ns();
    if (now < look_at) continue;
    if (reap(slot, look_for(look_after))) return 0;
    if (now >= deadline_ns) return deadline_ns == kNow ? EBUSY : ETIMEDOUT;
    look_after = std::min(2 * look_after, kLastLookNs);
  }
}

template <class Ops>
int RwlockProtocol<Ops>::give_up(int code) noexcept {
  if (lock_.data.load(std::memory_order_relaxed) == Data::whole) open();
  lock_.writer.give(era(), Hold::long_term);
  return code;
}

template <class Ops>
bool RwlockProtocol<Ops>::reads() const noexcept {
  // Relaxed: a slot that the thread has, it has itself put below it.
  const uint32_t top = std::min(lock_.top.load(std::memory_order_relaxed), slots_);
  for (uint32_t i = 0; i < top; ++i) {
    // Acquire: if the thread has left the slot, and another one is in, that one's number is seen (claim()).
    if (!is_in(lock_.slot[i].depth.load(std::memory_order_acquire))) continue;
    if (lock_.slot[i].thread.load(std::memory_order_relaxed) == Ops::self()) return true;
  }
  return false;
}

template <class Ops>
int RwlockProtocol<Ops>::lock(int64_t deadline_ns) noexcept {
  if (writes()) return EDEADLK;
  Taken taken = lock_.writer.try_take(era(), Hold::long_term);
  if (taken == Taken::no) {
    // The writer that has it may be waiting for this very thread.
    if (reads()) return EDEADLK;
    if (deadline_ns != kNow) taken = lock_.writer.take(era(), Hold::long_term, deadline_ns);
  }
  if (taken == Taken::no) return deadline_ns == kNow ? EBUSY : ETIMEDOUT;
  inherit(taken);
  if (lock_.data.load(std::memory_order_relaxed) == Data::lost) return give_up(ENOTRECOVERABLE);
  if (!close()) return give_up(ENOSYS);
  // Relaxed: behind the fence of close().
  const uint32_t top = std::min(lock_.top.load(std::memory_order_relaxed), slots_);
  for (uint32_t i = 0; i < top; ++i) {
    const int error = wait_for(lock_.slot[i], deadline_ns);
    if (error != 0) return give_up(error);
  }
  lock_.writer_thread.store(Ops::self(), std::memory_order_relaxed);
  lock_.writing.store(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);  // before anything that the owner writes
  return lock_.data.load(std::memory_order_relaxed) == Data::torn ? EOWNERDEAD : 0;
}

template <class Ops>
void RwlockProtocol<Ops>::unlock() noexcept {
  if (lock_.data.load(std::memory_order_relaxed) == Data::torn) lock_.data.store(Data::lost, std::memory_order_release);
  lock_.writer_thread.store(kNobody, std::memory_order_relaxed);
  // Release: whoever finds it 0 after the owner's death finds the data whole.
  lock_.writing.store(0, std::memory_order_release);
  if (lock_.fair != 0 && lock_.data.load(std::memory_order_relaxed) == Data::whole) {
    const uint32_t top = std::min(lock_.top.load(std::memory_order_relaxed), slots_);
    for (uint32_t i = 0; i < top; ++i) {
      uint32_t waiting = lock_.slot[i].depth.load(std::memory_order_relaxed);
      if (!Slot::is_waiting(waiting)) continue;
      const uint32_t in = (waiting & Slot::kFenced) | 1;
      // Release: the reader sees what was written. It may have withdrawn.
      lock_.slot[i].depth.compare_exchange_strong(waiting, in, std::memory_order_release, std::memory_order_relaxed);
    }
  }
  open();
  lock_.writer.give(era(), Hold::long_term);
}

template <class Ops>
bool RwlockProtocol<Ops>::mend() noexcept {
  if (lock_.data.load(std::memory_order_relaxed) != Data::torn) return false;
  lock_.data.store(Data::whole, std::memory_order_release);  // readers look at it once the gate is open, or closed
  return true;
}

template <class Ops>
bool RwlockProtocol<Ops>::writer_has_gone(uint64_t thread) noexcept {
  // Relaxed, both: a number is of one thread, and who takes it away has seen that the thread is gone.
  const auto is_there = [&] { return lock_.writer_thread.load(std::memory_order_relaxed) == thread; };
  if (!is_there()) return true;
  look_for_dead_writer(Look::process);
  return !is_there();
}

template <class Ops>
bool RwlockProtocol<Ops>::in_use() noexcept {
  const Taken writer = lock_.writer.try_take(era(), Hold::long_term, Look::process);
  if (writer == Taken::no) return true;
  inherit(writer);
  bool used = false;
  for (uint32_t i = 0; i < slots_ && !used; ++i) used = !reap(lock_.slot[i], Look::process);
  lock_.writer.give(era(), Hold::long_term);
  return used;
}

}  // namespace weft::shm
