// SPDX-License-Identifier: Apache-2.0
// How readers and writers get the lock, and how the lock survives threads that die. src/shm/README.md has the words.
//
//   reader  out -> in          depth 1, light fence, the record is not closed             (weft/rwlock.h, in line)
//           out -> asks        depth 1, light fence, the record is closed
//           asks -> in         opens the record, fence, the gate is open
//           asks -> waiting    the gate is closed: closes the record, depth kWaiting; wakes a writer that sleeps on it
//           waiting -> asks    the gate is open again: depth 1
//           waiting -> in      a writer has changed the depth to 1
//           in -> out          depth 0; if the record is closed: wakes a writer that sleeps on the depth
//   writer  takes `writer`; closes the gate; fence; closes the records that are not closed; heavy fence, unless all
//           readers of these have answered; waits until no depth says in; sets `writing`
//           clears `writing`; lets in readers that wait (fair); opens the gate; wakes; gives `writer` back
//
// A record is closed where ReaderRecord::closed says so, and open otherwise. Its reader opens it, and closes it again
// when it has to wait; a writer closes it.
//
// Exclusion, for a reader whose record is closed. The reader writes its depth and then reads the gate; the writer
// writes the gate and then reads the depths; a fence stands between on both sides. So one of the two sees the other. If
// both do, the reader steps back to waiting: the depth is written by its reader alone then. By the same fences a writer
// that finds a record closed is seen by the reader that is about to open the record, and a writer that closes a record
// does so after the reader has opened it.
//
// Exclusion, for a reader whose record is not closed. It is the same with `closed` in the place of the gate, and the
// writer's heavy fence counts for both sides. That fence interrupts the CPUs on which readers run, which takes
// microseconds. A reader that waits has asked, so it is one of those above: where all readers of open records are seen
// to wait, the writer makes no heavy fence. Readers that read all the time answer so.
//
// Death. The kernel marks the words that a dead thread owned; words of an owner of another home of the segment show
// that themselves (sync/owner_word.h). The writer that waits for a depth looks at the record's lease. The next writer
// looks at `writer`, and so do readers that have waited for a while. A thread that finds the mark does what the dead
// one had left to do: each step above leaves a state that shows which step comes next.
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
  using Record = ReaderRecord<Ops>;
  static constexpr int64_t kNow = 0;  // as a deadline: do not wait

  RwlockProtocol(Layout& layout, uint32_t records) noexcept : lock_(layout), records_(records) {}

  static void make(Layout& layout, uint32_t records, bool fair, bool fenced) noexcept;

  // ---- readers ----

  // Takes a record for the calling thread; null: all are taken. `fenced`: the reader makes its fences itself.
  Record* claim(bool fenced) noexcept;
  void leave(Record& record) noexcept;
  // Whether the thread is gone that had the record when ReaderRecord::owner was `owner`.
  bool has_gone(Record& record, uint64_t owner) noexcept;

  // To be called where weft_rwlock_step_in_() has found the record closed. Returns 0, EBUSY (for kNow), ETIMEDOUT,
  // EOWNERDEAD, ENOTRECOVERABLE; or EDEADLK, where the thread has the write lock.
  int enter(Record& mine, int64_t deadline_ns) noexcept;
  // To be called when the reader is out, where its record was closed: wakes a writer that sleeps on it.
  void left(Record& mine) noexcept;

  // ---- writers ----

  // With 0 and EOWNERDEAD the caller has the lock; with EBUSY (for kNow), ETIMEDOUT, ENOTRECOVERABLE and ENOSYS it has
  // not. EDEADLK: the thread has the write lock, or a read lock.
  int lock(int64_t deadline_ns) noexcept;
  void unlock() noexcept;
  // Called by the owner: the data is whole again. Returns false where there was nothing to mend.
  bool mend() noexcept;

  // Whether the thread has the write lock. Relaxed: it has written its number itself, and nobody else writes that.
  bool writes() const noexcept { return lock_.writer_thread.load(std::memory_order_relaxed) == Ops::self(); }

  // Whether the thread with this number, which had the write lock, is gone. If so, what it has left to do is done.
  bool writer_has_gone(uint64_t thread) noexcept;

  // Whether a thread has the write lock, or is registered as a reader.
  bool in_use() noexcept;

 private:
  static constexpr int64_t kFirstLookNs = 1'000'000;  // how long to wait before looking whether a thread has died
  static constexpr int64_t kLastLookNs = 50'000'000;
  static constexpr int kClaims = 3;
  static constexpr int64_t kAnswerNs = 1'000;  // how long readers have to answer: less than a heavy fence may take

  uint32_t era() const noexcept { return lock_.header.era(); }
  // As a rule the kernel marks what the dead owned, so a process is looked for only after a long wait.
  static Look look_for(int64_t waited_ns) noexcept { return waited_ns < kLastLookNs ? Look::word : Look::process; }
  static bool is_closed(uint32_t gate) noexcept { return (gate & 1) != 0; }
  static bool is_in(uint32_t depth) noexcept { return Record::is_in(depth); }
  // Whether the thread has a read lock.
  bool reads() const noexcept;
  static int64_t next_look(int64_t deadline_ns, int64_t after_ns) noexcept {
    return std::min(deadline_ns, Ops::now_ns() + after_ns);
  }

  // The reader's depth says in; opens the record and looks at the gate. True: the gate is open, and the reader is in.
  // False: the record is closed again, and the reader has to step back.
  bool ask(Record& mine) noexcept;
  void step_back(Record& mine) noexcept;
  // The reader gives up waiting. Returns false where a writer has let it in meanwhile.
  static bool withdraw(Record& mine) noexcept;
  void sleep_at_gate(Record& mine, uint32_t closed, int64_t until_ns) noexcept;
  // Called by a reader that waits for the gate: does what a writer that has died has left to do.
  void look_for_dead_writer(Look look) noexcept;

  void inherit(Taken taken) noexcept;
  bool close() noexcept;
  // Closes the records below `top`. Returns false where all were closed already.
  bool close_records(uint32_t top) noexcept;
  // Whether the reader of each record that is closing has answered: it waits.
  bool answered(uint32_t top) noexcept;
  void open() noexcept;
  int wait_for(Record& record, int64_t deadline_ns) noexcept;
  // Clears the depth of the record if its reader is gone. Returns whether it is.
  bool reap(Record& record, Look look) noexcept;
  int give_up(int code) noexcept;

  Layout& lock_;
  const uint32_t records_;
};

template <class Ops>
void RwlockProtocol<Ops>::make(Layout& layout, uint32_t records, bool fair, bool fenced) noexcept {
  layout.records = records;
  layout.fair = fair ? 1 : 0;
  layout.fenced = fenced ? 1 : 0;
  // Relaxed: nobody looks before the segment is ready.
  layout.gate.store(0, std::memory_order_relaxed);
  layout.writing.store(0, std::memory_order_relaxed);
  layout.data.store(Data::whole, std::memory_order_relaxed);
  layout.top.store(0, std::memory_order_relaxed);
  layout.sleeping_readers.store(0, std::memory_order_relaxed);
  layout.sleeping_writer.store(0, std::memory_order_relaxed);
  layout.owners.store(0, std::memory_order_relaxed);
  layout.writer_thread.store(kNobody, std::memory_order_relaxed);
  layout.writer.make();
  for (uint32_t i = 0; i < records; ++i) {
    layout.record[i].depth.store(0, std::memory_order_relaxed);
    layout.record[i].closed.store(Record::kClosed, std::memory_order_relaxed);
    layout.record[i].owner.store(0, std::memory_order_relaxed);
    layout.record[i].thread.store(kNobody, std::memory_order_relaxed);
    layout.record[i].lease.make();
  }
}

template <class Ops>
auto RwlockProtocol<Ops>::claim(bool fenced) noexcept -> Record* {
  // Each record is tried several times: a writer that looks whether a reader lives holds the lease for a moment.
  for (uint64_t look = 0; look < uint64_t{kClaims} * records_; ++look) {
    const auto i = static_cast<uint32_t>(look % records_);
    Record& record = lock_.record[i];
    // In the last round also readers are found dead whose end the kernel has not marked.
    const Look look_at = look / records_ + 1 == kClaims ? Look::process : Look::word;
    const Taken taken = record.lease.try_take(era(), Hold::long_term, look_at);
    if (taken == Taken::no) continue;
    // Relaxed: what a dead reader has read it has read. Closed: the new one asks first, behind the fences below.
    record.closed.store(Record::kClosed, std::memory_order_relaxed);
    record.depth.store(fenced ? Record::kFenced : 0, std::memory_order_relaxed);
    if (taken == Taken::after_death) record.lease.settle();
    // Relaxed: it only has to be another number.
    record.owner.store(lock_.owners.fetch_add(1, std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    record.thread.store(Ops::self(), std::memory_order_relaxed);  // it looks for itself only
    // Before the first lock: a thread that sees the new reader in does not see the number of the reader before.
    std::atomic_thread_fence(std::memory_order_release);
    // `top` is raised before the first lock: a writer that does not see the reader in sees the record closed, or comes
    // first.
    // The default order, since this is rare.
    for (uint32_t top = lock_.top.load(); top <= i && !lock_.top.compare_exchange_strong(top, i + 1);) {
    }
    return &record;
  }
  return nullptr;
}

template <class Ops>
void RwlockProtocol<Ops>::leave(Record& record) noexcept {
  record.lease.give(era(), Hold::long_term);
}

template <class Ops>
bool RwlockProtocol<Ops>::has_gone(Record& record, uint64_t owner) noexcept {
  // Relaxed: a reader that has registered since has seen that the thread was gone.
  return record.owner.load(std::memory_order_relaxed) != owner || reap(record, Look::process);
}

template <class Ops>
void RwlockProtocol<Ops>::left(Record& mine) noexcept {
  // The reader writes its depth, fences, and looks for a sleeper. A writer announces its sleep, fences, and looks at
  // the depth.
  Ops::full_fence();
  // Relaxed: the fence orders it.
  if (lock_.sleeping_writer.load(std::memory_order_relaxed) != 0) Ops::wake(mine.depth);
}

template <class Ops>
bool RwlockProtocol<Ops>::ask(Record& mine) noexcept {
  // Relaxed: the fence orders it. A writer that has closed the record meanwhile has closed the gate before.
  mine.closed.store(Record::kFree, std::memory_order_relaxed);
  Ops::full_fence();
  // Acquire: what the writer that has opened the gate has written is seen.
  if (!is_closed(lock_.gate.load(std::memory_order_acquire))) return true;
  mine.closed.store(Record::kClosed, std::memory_order_relaxed);
  return false;
}

template <class Ops>
void RwlockProtocol<Ops>::step_back(Record& mine) noexcept {
  // Relaxed: the reader has written `depth` itself. Release: as when it leaves, and a writer that sees the reader
  // waiting sees the record closed.
  const uint32_t fenced = mine.depth.load(std::memory_order_relaxed) & Record::kFenced;
  mine.depth.store(fenced | Record::kWaiting, std::memory_order_release);
  left(mine);
}

template <class Ops>
bool RwlockProtocol<Ops>::withdraw(Record& mine) noexcept {
  // Relaxed: only a writer that lets the reader in changes `depth`, and the exchange sees that.
  uint32_t waiting = mine.depth.load(std::memory_order_relaxed) | Record::kWaiting;
  // Acquire, for where it fails: a writer that has let the reader in has written before.
  return mine.depth.compare_exchange_strong(waiting, waiting & Record::kFenced, std::memory_order_acquire);
}

template <class Ops>
void RwlockProtocol<Ops>::sleep_at_gate(Record& mine, uint32_t closed, int64_t until_ns) noexcept {
  // Relaxed, all: the caller looks again. A reader that has been let in is woken by the gate, which opens behind it.
  const int64_t spin_until = std::min(until_ns, Ops::now_ns() + Ops::spin_ns());
  do {
    if (lock_.gate.load(std::memory_order_relaxed) != closed) return;
    if (!Record::is_waiting(mine.depth.load(std::memory_order_relaxed))) return;
    Ops::pause();
  } while (Ops::now_ns() < spin_until);
  lock_.sleeping_readers.store(1, std::memory_order_relaxed);
  // The reader announces that it sleeps, fences, and the kernel looks at the gate. open() writes the gate, fences, and
  // looks for the announcement.
  Ops::full_fence();
  Ops::wait(lock_.gate, closed, until_ns);
}

template <class Ops>
int RwlockProtocol<Ops>::enter(Record& mine, int64_t deadline_ns) noexcept {
  if (writes()) {
    // Relaxed: the reader was never in.
    mine.depth.store(mine.depth.load(std::memory_order_relaxed) & Record::kFenced, std::memory_order_relaxed);
    return EDEADLK;
  }
  // Relaxed: the answer to a writer that is closing the record comes at once, and the gate is looked at behind it.
  if (mine.closed.load(std::memory_order_relaxed) != Record::kClosing && ask(mine)) return 0;
  step_back(mine);
  for (int64_t look_after = kFirstLookNs;;) {
    // Acquire: what the writer that has opened it has written.
    const uint32_t gate = lock_.gate.load(std::memory_order_acquire);
    if (!is_closed(gate)) {
      // Relaxed: as in withdraw().
      uint32_t waiting = mine.depth.load(std::memory_order_relaxed) | Record::kWaiting;
      const uint32_t in = (waiting & Record::kFenced) | 1;
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
    if (!Record::is_waiting(mine.depth.load(std::memory_order_acquire))) return 0;
    const int64_t now = Ops::now_ns();
    if (now >= deadline_ns) {
      // A caller that only tries, again and again, must find out at some time that the writer is dead.
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
    lock_.writing.store(0, std::memory_order_release);  // and after it: a thread that dies here leaves one of the two
  }
  lock_.writer.settle();
}

template <class Ops>
bool RwlockProtocol<Ops>::close() noexcept {
  const uint32_t gate = lock_.gate.load(std::memory_order_relaxed);  // the owner of `writer` alone writes it
  if (!is_closed(gate)) lock_.gate.store(gate + 1, std::memory_order_relaxed);  // the fence orders it
  Ops::full_fence();
  // Relaxed: behind the fence.
  const uint32_t top = std::min(lock_.top.load(std::memory_order_relaxed), records_);
  if (!close_records(top)) return true;
  if (lock_.fenced != 0) {
    Ops::full_fence();
  } else if (!answered(top) && !Ops::heavy_fence()) {
    return false;
  }
  // All readers know that their records are closed: no fence is needed until they open them. A writer that dies before
  // this leaves the records closing.
  for (uint32_t i = 0; i < top; ++i) {
    if (lock_.record[i].closed.load(std::memory_order_relaxed) == Record::kClosing) {
      lock_.record[i].closed.store(Record::kClosed, std::memory_order_relaxed);
    }
  }
  return true;
}

template <class Ops>
bool RwlockProtocol<Ops>::close_records(uint32_t top) noexcept {
  bool found = false;
  for (uint32_t i = 0; i < top; ++i) {
    // Relaxed, both: behind a fence, and before another one.
    if (lock_.record[i].closed.load(std::memory_order_relaxed) == Record::kClosed) continue;
    lock_.record[i].closed.store(Record::kClosing, std::memory_order_relaxed);
    found = true;
  }
  return found;
}

template <class Ops>
bool RwlockProtocol<Ops>::answered(uint32_t top) noexcept {
  int64_t until = 0;  // set at the first reader that has not answered: the others cost no look at the clock
  for (uint32_t i = 0; i < top; ++i) {
    const Record& record = lock_.record[i];
    // Acquire: what the reader has read it has read before.
    while (record.closed.load(std::memory_order_relaxed) == Record::kClosing &&
           !Record::is_waiting(record.depth.load(std::memory_order_acquire))) {
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
  // Where the data is lost the gate stays closed; it changes all the same, so that readers that wait see why.
  const bool lost = lock_.data.load(std::memory_order_relaxed) == Data::lost;
  if (is_closed(gate)) lock_.gate.store(gate + (lost ? 2 : 1), std::memory_order_release);
  Ops::full_fence();
  // Done while the caller still owns `writer`, so that it takes no announcement of readers that wait for the next
  // writer.
  if (lock_.sleeping_readers.exchange(0, std::memory_order_relaxed) != 0) Ops::wake(lock_.gate);
}

template <class Ops>
bool RwlockProtocol<Ops>::reap(Record& record, Look look) noexcept {
  const Taken taken = record.lease.try_take(era(), Hold::briefly, look);
  if (taken == Taken::no) return false;
  // Relaxed: nobody but the owner of the lease writes it.
  record.depth.store(0, std::memory_order_relaxed);
  if (taken == Taken::after_death) record.lease.settle();
  record.lease.give(era(), Hold::briefly);
  return true;
}

template <class Ops>
int RwlockProtocol<Ops>::wait_for(Record& record, int64_t deadline_ns) noexcept {
  // Acquire, here and below: what the reader has read it has read before.
  if (!is_in(record.depth.load(std::memory_order_acquire))) return 0;
  // Relaxed: only the thread's own number matters, which it has written itself.
  if (record.thread.load(std::memory_order_relaxed) == Ops::self()) return EDEADLK;
  const int64_t spin_until = std::min(deadline_ns, Ops::now_ns() + Ops::spin_ns());
  do {
    if (!is_in(record.depth.load(std::memory_order_acquire))) return 0;
    Ops::pause();
  } while (Ops::now_ns() < spin_until);
  for (int64_t look_after = kFirstLookNs;;) {
    const int64_t look_at = next_look(deadline_ns, look_after);
    lock_.sleeping_writer.store(1, std::memory_order_relaxed);
    Ops::full_fence();  // see left()
    const uint32_t depth = record.depth.load(std::memory_order_acquire);
    if (is_in(depth)) Ops::wait(record.depth, depth, look_at);
    lock_.sleeping_writer.store(0, std::memory_order_relaxed);
    if (!is_in(record.depth.load(std::memory_order_acquire))) return 0;
    const int64_t now = Ops::now_ns();
    if (now < look_at) continue;
    if (reap(record, look_for(look_after))) return 0;
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
  // Relaxed: a record of the thread itself lies below `top`, which it has raised itself.
  const uint32_t top = std::min(lock_.top.load(std::memory_order_relaxed), records_);
  for (uint32_t i = 0; i < top; ++i) {
    // Acquire: if the thread has left the record, and another one is in, that one's number is seen (claim()).
    if (!is_in(lock_.record[i].depth.load(std::memory_order_acquire))) continue;
    if (lock_.record[i].thread.load(std::memory_order_relaxed) == Ops::self()) return true;
  }
  return false;
}

template <class Ops>
int RwlockProtocol<Ops>::lock(int64_t deadline_ns) noexcept {
  if (writes()) return EDEADLK;
  Taken taken = lock_.writer.try_take(era(), Hold::long_term);
  if (taken == Taken::no) {
    // The writer that owns `writer` may be waiting for this very thread to unlock.
    if (reads()) return EDEADLK;
    if (deadline_ns != kNow) taken = lock_.writer.take(era(), Hold::long_term, deadline_ns);
  }
  if (taken == Taken::no) return deadline_ns == kNow ? EBUSY : ETIMEDOUT;
  inherit(taken);
  if (lock_.data.load(std::memory_order_relaxed) == Data::lost) return give_up(ENOTRECOVERABLE);
  if (!close()) return give_up(ENOSYS);
  // Relaxed: behind the fence of close().
  const uint32_t top = std::min(lock_.top.load(std::memory_order_relaxed), records_);
  for (uint32_t i = 0; i < top; ++i) {
    const int error = wait_for(lock_.record[i], deadline_ns);
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
  // Release: a thread that finds it 0 after the owner's death finds the data whole.
  lock_.writing.store(0, std::memory_order_release);
  if (lock_.fair != 0 && lock_.data.load(std::memory_order_relaxed) == Data::whole) {
    const uint32_t top = std::min(lock_.top.load(std::memory_order_relaxed), records_);
    for (uint32_t i = 0; i < top; ++i) {
      uint32_t waiting = lock_.record[i].depth.load(std::memory_order_relaxed);
      if (!Record::is_waiting(waiting)) continue;
      const uint32_t in = (waiting & Record::kFenced) | 1;
      // Release: the reader sees what was written. It may have withdrawn.
      lock_.record[i].depth.compare_exchange_strong(waiting, in, std::memory_order_release, std::memory_order_relaxed);
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
  // Relaxed, both: a number is used for one thread only, and a thread that takes it away has seen that the thread is
  // gone.
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
  for (uint32_t i = 0; i < records_ && !used; ++i) used = !reap(lock_.record[i], Look::process);
  lock_.writer.give(era(), Hold::long_term);
  return used;
}

}  // namespace weft::shm
