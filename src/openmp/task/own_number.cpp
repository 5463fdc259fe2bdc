// SPDX-License-Identifier: Apache-2.0
#include "openmp/task/own_number.h"

#include <atomic>
#include <csignal>
#include <mutex>

#include <pthread.h>

#include "core/api/fork.h"
#include "core/api/wait.h"
#include "openmp/task/free_agent.h"
#include "openmp/task/stand_in.h"

namespace weft::openmp {

// The record of a context that waits for a number; it lies on that context's stack. The records of a number form a list
// in the order in which the contexts have come.
struct NumberWaiter {
  core::Context* context;
  // Sequentially consistent, as a word between block() and unblock(). The record is gone a moment after it is set.
  std::atomic<bool> has_it{false};
  NumberWaiter* next = nullptr;
};

namespace {

// Whether the member's tasks count on a number that another context may hold. Relaxed: a stand-in sees the flag since
// it was launched after it, and the context that has called the stand-in has set it itself.
bool lacks_number(const Member* member) noexcept {
  return member->numbered != 0 && !member->holds_number && has_stand_ins(member) &&
         shared_number(member).has_been_shared.load(std::memory_order_relaxed);
}

// Acquire, here and below: a context sees what the last holder of the number has written.
bool try_number(Member* member) noexcept {
  bool used = false;
  if (!shared_number(member).in_use.compare_exchange_strong(used, true, std::memory_order_acquire,
                                                            std::memory_order_relaxed))
    return false;
  member->holds_number = true;
  return true;
}

void await_number(Member* member) noexcept {
  SharedNumber& shared = shared_number(member);
  NumberWaiter waiter{.context = core::attach()};
  shared.line.lock();
  const bool waits = shared.in_use.exchange(true, std::memory_order_acquire);
  if (waits) {
    (shared.last != nullptr ? shared.last->next : shared.first) = &waiter;
    shared.last = &waiter;
  }
  shared.line.unlock();
  while (waits && !waiter.has_it.load()) core::block();
  member->holds_number = true;
}

bool is_awaited(const Member* member) noexcept {
  SharedNumber& shared = shared_number(member);
  const std::lock_guard guard(shared.line);
  return shared.first != nullptr;
}

// Takes the numbers that the members from `first` on lack, one after the other. Before it waits for an outer number it
// gives back the inner ones (own_number.h).
void await_numbers(Member* first, const Member* end) noexcept {
  for (Member* member = first; member != end;) {
    if (!lacks_number(member) || try_number(member)) {
      member = member->outer;
      continue;
    }
    for (Member* taken = first; taken != member; taken = taken->outer) give_number(taken);
    await_number(member);
    member = first;
  }
}

// Whether the caller is a signal handler, as far as that can be seen: while a handler runs, its signal is blocked.
bool in_signal_handler() noexcept {
  sigset_t blocked;
  if (pthread_sigmask(SIG_BLOCK, nullptr, &blocked) != 0) return false;
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action{};
    if (sigismember(&blocked, signal) != 1 || sigaction(signal, nullptr, &action) != 0) continue;
    if ((action.sa_flags & SA_SIGINFO) != 0 || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN))
      return true;
  }
  return false;
}

// Notes that the caller's task, which has not asked yet, asks for its number. Returns whether it has to wait for it.
bool has_to_wait(Member* self) noexcept {
  // The flag is set in one step, and before the count: a signal handler that asks too finds the flag set, or runs
  // before.
  if (__atomic_exchange_n(&self->task->uses_number, true, __ATOMIC_RELAXED)) return false;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  // An implicit task ends after all others.
  if (self->task->implicit) return false;
  ++self->numbered;
  return lacks_number(self) && !try_number(self);
}

}  // namespace

bool counts_on_number(const Member* member) noexcept {
  if (member->numbered != 0) return true;
  const Task* task = member->task;
  while (!task->uses_number) {
    if (!task->undeferred) return false;
    task = task->parent.load(std::memory_order_relaxed);
  }
  return true;
}

void give_number(Member* self) noexcept {
  if (!self->holds_number) return;
  self->holds_number = false;
  SharedNumber& shared = shared_number(self);
  core::Context* next = nullptr;
  {
    const std::lock_guard guard(shared.line);
    NumberWaiter* waiter = shared.first;
    if (waiter == nullptr) {
      shared.in_use.store(false, std::memory_order_release);
    } else {
      next = waiter->context;
      shared.first = waiter->next;
      if (shared.first == nullptr) shared.last = nullptr;
      waiter->has_it.store(true);
    }
  }
  if (next != nullptr) core::unblock(next);
}

void use_number(Member* self) noexcept {
  if (self->task == nullptr || self->task->uses_number) return;
  if (has_to_wait(self)) take_numbers_again(self);
}

void ask_for_number(Member* self) noexcept {
  // There is nothing to ask for if the task is null, since it has ended, or if the member is away, since it holds no
  // number then.
  Task* task = self->task;
  if (task == nullptr || task->uses_number || self->leave.away || !has_to_wait(self)) return;
  if (!in_signal_handler()) return take_numbers_again(self);
  --self->numbered;
  task->uses_number = false;
}

void release_number(Member* self) noexcept {
  if (--self->numbered == 0) give_number(self);
}

void take_numbers_again(Member* first) noexcept {
  Member* member = first;
  while (member != nullptr && !member->leave.away && (!lacks_number(member) || try_number(member)))
    member = member->outer;
  if (member == nullptr || member->leave.away) return;
  // The holder of the number may wait for tasks that the caller keeps from running: so the caller is away while it
  // waits.
  const Member* end = depart_all(first, counts_on_number);
  {
    const AgentAbsence agent_absence(first);
    await_numbers(first, end);
  }
  come_back_all(first, end);
}

bool lend_numbers(Member* self) noexcept {
  bool lent = false;
  for (Member* member = self; member != nullptr && !member->leave.away; member = member->outer) {
    if (!member->holds_number || !is_awaited(member)) continue;
    give_number(member);
    lent = true;
  }
  if (lent) take_numbers_again(self);
  return lent;
}

}  // namespace weft::openmp
