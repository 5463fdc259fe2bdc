// SPDX-License-Identifier: Apache-2.0
#include "openmp/lock/lock.h"

#include "core/api/fork.h"
#include "core/api/wait.h"
#include "openmp/lock/spin_queues.h"
#include "openmp/settings/startup.h"
#include "openmp/task/stand_in.h"
#include "openmp/tool/events.h"

namespace weft::openmp {

namespace {

// Critical sections are short as a rule; past this many looks the holder may not be running at all.
constexpr int kPolls = 100;
// A short one is over by then, and its line has not gone to others than the two that share it.
constexpr int kPollsAlone = 16;
// Longer than most waits in line.
constexpr unsigned kPollsBehind = 2048;

// There may be a loop around the attempt. What holds the lock may be a context that no other OS thread runs: that of a
// root, whose thread is the caller's for now.
void attempt_failed() noexcept {
  const core::Context* context = core::current_context();
  if (context->carrier != nullptr && core::wanted_elsewhere(context)) core::yield();
  if (!tasks_may_pause()) return;
  if (Member* member = current_member(); member != nullptr) let_awaited_go_on(member);
}

}  // namespace

LockWord g_atomic{kFree};
std::atomic<uint32_t> g_free_word{kNever};

bool try_lock(LockWord& word) noexcept {
  uint32_t expected = kFree;
  // Acquire pairs with the release of unlock(): what the last holder did is seen.
  return word.compare_exchange_strong(expected, t_held, std::memory_order_acquire, std::memory_order_relaxed);
}

namespace {

// Spinners have the numbers of their carriers: a context that spins does not leave its own.
constinit SpinQueues<core::kMaxCarriers> g_queues;

// What a lock becomes that is taken where more threads may be parked.
uint32_t contended() noexcept { return with_state(t_held, kContended); }

// Takes the lock, if it is free, as contended(): kFree. Else puts the mark on it, and returns the word to park on.
uint32_t take_or_mark(LockWord& word) noexcept {
  uint32_t seen = word.load(std::memory_order_relaxed);
  for (;;) {
    if (state_of(seen) == kContended) return seen;
    const uint32_t next = seen == kFree ? contended() : with_state(seen, kContended);
    // Acquire as in try_lock().
    if (word.compare_exchange_weak(seen, next, std::memory_order_acquire, std::memory_order_relaxed))
      return seen == kFree ? uint32_t{kFree} : next;
  }
}

// `as`: what a lock that is taken becomes: t_held, or contended().
bool take_if_free(LockWord& word, uint32_t as) noexcept {
  uint32_t expected = kFree;
  // Acquire as in try_lock().
  return word.load(std::memory_order_relaxed) == kFree &&
         word.compare_exchange_strong(expected, as, std::memory_order_acquire, std::memory_order_relaxed);
}

// Waits in place, while the CPU is not wanted for anything else. False: the lock has not been taken.
bool spin_for(LockWord& word, const core::Context* context, uint32_t as, int polls) noexcept {
  for (; polls > 0 && !core::wanted_elsewhere(context); --polls) {
    if (take_if_free(word, as)) return true;
    platform::pause();
  }
  return false;
}

// The same in line with others. It may take long where many wait, so the CPU can be asked for.
bool spin_in_line(LockWord& word, const core::Context* context, uint32_t as) noexcept {
  const int number = core::carrier_number();
  const bool briefly = core::spin_ns() == 0 || core::is_oversubscribed();
  if (number < 0 || briefly || !g_queues.enter(number, &word)) return spin_for(word, context, as, kPolls);
  bool first = false;
  unsigned polls = 0;
  const bool taken = core::spin_until(context, [&] {
    // The thread that is first in the queue, or becomes it, may have lost its CPU: so others look now and then.
    if (!first && !(first = g_queues.is_first(number)) && ++polls % kPollsBehind != 0) return false;
    return take_if_free(word, as);
  });
  g_queues.leave(number, &word);
  return taken;
}

// Where what holds the lock may be paused: the caller does not spin for long, since it may be up to its team that the
// holder goes on.
void wait_for_paused(LockWord& word, const core::Context* context) noexcept {
  if (spin_for(word, context, t_held, kPolls)) return;
  uint32_t seen = kFree;
  do {
    seen = take_or_mark(word);
    if (seen == kFree) return;
  } while (core::park_briefly(word, seen));
  // If a task may hold it that is paused: what that waits for may be up to tasks of the caller's team.
  const LockWait wait(current_member());
  while ((seen = take_or_mark(word)) != kFree) core::park(word, seen);
}

// `pauses`: what holds it may be paused.
void wait_for(LockWord& word, bool pauses) noexcept {
  start_runtime();
  const core::Context* context = core::attach();
  if (pauses) return wait_for_paused(word, context);
  if (spin_for(word, context, t_held, kPollsAlone) || spin_in_line(word, context, t_held)) return;
  // A lock taken this way stays marked: more threads may wait. Only one has been woken, since the mark has been taken
  // away; so that one stands in line as others do, and puts the mark there again.
  for (uint32_t seen = take_or_mark(word); seen != kFree; seen = take_or_mark(word)) {
    core::park(word, seen);
    if (spin_in_line(word, context, contended())) return;
  }
}

}  // namespace

void lock(LockWord& word) noexcept {
  if (!try_lock(word)) wait_for(word, tasks_may_pause());
}

void lock_shortly(LockWord& word) noexcept {
  if (!try_lock(word)) wait_for(word, false);
}

void lock_as(LockWord& word, ompt_mutex_t kind) noexcept {
  if (!try_lock(word)) wait_for(word, tasks_may_pause() && kind != ompt_mutex_atomic);
}

void unlock(LockWord& word) noexcept {
  if (state_of(word.exchange(kFree, std::memory_order_release)) == kContended) core::unpark(word, 1);
}

int lock(NestLock& nest, const void* task) noexcept {
  if (nest.owner.load(std::memory_order_relaxed) != task) {
    lock(nest.word);
    nest.owner.store(task, std::memory_order_relaxed);
  }
  return ++nest.count;
}

int try_lock(NestLock& nest, const void* task) noexcept {
  if (nest.owner.load(std::memory_order_relaxed) != task) {
    if (!try_lock(nest.word)) return 0;
    nest.owner.store(task, std::memory_order_relaxed);
  }
  return ++nest.count;
}

int unlock(NestLock& nest) noexcept {
  const int left = --nest.count;
  if (left == 0) {
    nest.owner.store(nullptr, std::memory_order_relaxed);
    unlock(nest.word);
  }
  return left;
}

void acquire_slowly(LockWord& word, ompt_mutex_t kind, const void* caller) noexcept {
  if (tool::is_on()) return tool::acquire(word, kind, caller);
  lock_as(word, kind);
}

bool try_acquire_slowly(LockWord& word, const void* caller) noexcept {
  const bool taken = tool::is_on() ? tool::try_acquire(word, caller) : try_lock(word);
  if (!taken) attempt_failed();
  return taken;
}

void release_slowly(LockWord& word, uint32_t seen, ompt_mutex_t kind, const void* caller) noexcept {
  if (state_of(seen) == kContended) core::unpark(word, 1);
  if (tool::is_on()) tool::release(word, kind, caller);
}

int acquire(NestLock& nest, const void* task, const void* caller) noexcept {
  return tool::is_on() ? tool::acquire(nest, task, caller) : lock(nest, task);
}

int try_acquire(NestLock& nest, const void* task, const void* caller) noexcept {
  const int count = tool::is_on() ? tool::try_acquire(nest, task, caller) : try_lock(nest, task);
  if (count == 0) attempt_failed();
  return count;
}

int release(NestLock& nest, const void* caller) noexcept {
  return tool::is_on() ? tool::release(nest, caller) : unlock(nest);
}

}  // namespace weft::openmp
