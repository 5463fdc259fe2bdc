// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/diagnostics/in_place.h"

#include <mutex>
#include <new>

#include "platform/cycles.h"
#include "platform/futex_lock.h"

namespace weft::mpi {

namespace {

// Held during a visit, and while a thread takes or gives back its record.
platform::FutexLock g_lock;

// The thread has given its record back for good: only destructors of its own still run.
constinit thread_local bool t_ends = false;

}  // namespace

struct WaitInPlace::EndOfThread {
  Record* record = nullptr;

  ~EndOfThread() {
    t_record = nullptr;
    t_ends = true;
    const std::lock_guard lock(g_lock);
    // The record may have a call that the thread has left by longjmp: it ends here.
    const uint64_t turns = record->turns.load(std::memory_order_relaxed);
    if (Record::waits(turns)) record->turns.store(turns + 1, std::memory_order_relaxed);
    record->next_free = g_free;
    g_free = record;
  }

  // With the lock held: the list of all records, none of which is ever freed, and the list of those that no thread has.
  static inline Record* g_records = nullptr;
  static inline Record* g_free = nullptr;
};

WaitInPlace::Record* WaitInPlace::take_record() noexcept {
  if (t_ends) return nullptr;
  const std::lock_guard lock(g_lock);
  Record* record = EndOfThread::g_free;
  if (record != nullptr) {
    EndOfThread::g_free = record->next_free;
  } else {
    record = new (std::nothrow) Record;
    if (record == nullptr) return nullptr;
    record->next = EndOfThread::g_records;
    EndOfThread::g_records = record;
  }
  static thread_local EndOfThread end_of_thread;
  end_of_thread.record = record;
  return t_record = record;
}

void WaitInPlace::await_end_of_visit() noexcept { const std::lock_guard lock(g_lock); }

std::optional<int> visit_waits_in_place(void (*visit)(const Call&, int64_t, void*), void* argument) noexcept {
  using Record = WaitInPlace::Record;
  const std::lock_guard lock(g_lock);
  std::optional<int> count = 0;
  // Relaxed: the heavy fence orders the store before the loads of `turns`.
  WaitInPlace::g_visited.store(true, std::memory_order_relaxed);
  if (!platform::heavy_fence()) count.reset();
  for (Record* record = count ? WaitInPlace::EndOfThread::g_records : nullptr; record != nullptr;
       record = record->next) {
    const uint64_t turns = record->turns.load(std::memory_order_acquire);
    if (!Record::waits(turns)) continue;
    if (turns != record->met) {
      record->met = turns;
      record->met_since = platform::now_ns();
    }
    visit({record->describe, record->arguments, record->caller}, record->met_since, argument);
    ++*count;
  }
  WaitInPlace::g_visited.store(false, std::memory_order_release);
  return count;
}

}  // namespace weft::mpi
