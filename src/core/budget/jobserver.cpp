// SPDX-License-Identifier: Apache-2.0
#include "core/budget/jobserver.h"

#include <algorithm>
#include <atomic>

#include <unistd.h>

#include "base/keep_errno.h"
#include "core/budget/guests.h"
#include "core/budget/job_token_pipe.h"
#include "core/budget/job_token_plan.h"
#include "core/sched/job_tokens.h"
#include "core/sched/pool.h"
#include "core/sched/roots.h"
#include "core/sched/watcher.h"
#include "core/sched/work_in_sight.h"
#include "platform/blocked_signals.h"
#include "platform/futex_lock.h"
#include "platform/system_call.h"

namespace weft::core {

namespace {

// Guards the pipe, the plan and the changes of Pool::held_back. A thread that holds it has signals blocked: a handler
// may end the process, which gives the tokens back.
platform::FutexLock g_tokens_lock;
constinit JobTokenPipe g_pipe;
JobTokenPlan g_plan;
// Who has started which process: the child of a fork has another one.
constexpr pid_t kLeftBehind = -1;  // somebody who has ended
pid_t g_parent = 0;
pid_t g_child = 0;
bool g_ends = false;
// The process whose pool takes part; 0: none. Relaxed, as the rest: it is set before there are other threads.
std::atomic<pid_t> g_client{0};
// Whether there is a jobserver, also before a pool begins. Relaxed, as the rest.
std::atomic<bool> g_found{false};
std::atomic<uint64_t> g_taken{0};
std::atomic<int> g_most_cpus{1};
// Whether CPUs may be asked for before the next tick, and how many tokens there are. Relaxed: hints.
std::atomic<bool> g_may_ask{true};
std::atomic<int> g_tokens{0};

class Hold {
 public:
  Hold() noexcept { g_tokens_lock.lock(); }
  ~Hold() { g_tokens_lock.unlock(); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  const base::KeepErrno keep_;
  const platform::BlockedSignals blocked_;
};

bool takes_part() noexcept { return g_client.load(std::memory_order_relaxed) != 0; }

pid_t own_pid() noexcept { return static_cast<pid_t>(platform::system_call(SYS_getpid)); }
// Not so in the child of a vfork, which has its parent's memory.
bool is_client() noexcept { return takes_part() && g_client.load(std::memory_order_relaxed) == own_pid(); }
pid_t parent_pid() noexcept { return static_cast<pid_t>(platform::system_call(SYS_getppid)); }

void note_parent() noexcept {
  g_parent = parent_pid();
  g_child = own_pid();
}

// Whether whoever has started the process has ended, and with it make's job.
bool is_left_behind() noexcept { return g_parent == kLeftBehind || parent_pid() != g_parent; }

// In the child of a fork. One whose parent has ended already is left behind. So is one of several forks before there
// was a pool, since who is in between is not known.
void follow_fork() noexcept {
  if (g_child == own_pid() || g_parent == kLeftBehind) return;
  const pid_t forker = g_child;
  note_parent();
  if (g_parent != forker) g_parent = kLeftBehind;
}

int held_back(const Pool& p) noexcept { return p.held_back.load(std::memory_order_relaxed); }

void hold_back(Pool& p, int cpus) noexcept {
  if (cpus <= 0) return;
  p.held_back.fetch_add(cpus, std::memory_order_relaxed);
  p.active_roots.fetch_add(cpus);
}

void note_tokens() noexcept { g_tokens.store(g_pipe.count(), std::memory_order_relaxed); }

int take_tokens(int most) noexcept {
  const int taken = g_pipe.take(most);
  if (taken <= 0) return 0;
  note_tokens();
  g_taken.fetch_add(static_cast<uint64_t>(taken), std::memory_order_relaxed);
  const int cpus = g_pipe.count() + 1;
  if (cpus > g_most_cpus.load(std::memory_order_relaxed)) g_most_cpus.store(cpus, std::memory_order_relaxed);
  return taken;
}

JobTokenPlan::Look look_at(const Pool& p) noexcept {
  const int slots = p.settings.slots;
  const int held = held_back(p);
  // Guests count as roots.
  const int active = p.active_roots.load(std::memory_order_relaxed);
  const int limit = std::max(0, slots - active);
  int busy = 0;
  int beyond = 0;
  const int count = p.worker_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) {
    const Carrier& worker = *p.worker(i);
    if (p.is_idle(&worker)) continue;
    ++busy;
    beyond += worker.worker >= limit ? 1 : 0;
  }
  const int wanted = std::max(0, active - held) + busy + pending_work(p) + wanted_by_guests();
  return {.let_go = slots - held,
          .tokens = g_pipe.count(),
          .wanted = std::clamp(wanted, 1, p.node.usable(slots)),
          .beyond = beyond};
}

// With the lock held. The CPUs are the process's again, as without a jobserver. Returns how many are to be let go.
int leave_for_good(const Pool& p) noexcept {
  g_pipe.give_back(g_pipe.count());
  g_pipe.close();
  note_tokens();
  g_client.store(0, std::memory_order_relaxed);
  g_found.store(false, std::memory_order_relaxed);
  return held_back(p);
}

}  // namespace

JobserverFound find_jobserver(const char* flags) noexcept {
  const JobserverPlace place = jobserver_place(flags);
  if (place.kind == JobserverPlace::Kind::none) return {};
  note_parent();
  const bool usable = g_pipe.open(place);
  g_found.store(usable, std::memory_order_relaxed);
  return {.named = true, .usable = usable};
}

bool has_jobserver() noexcept { return g_found.load(std::memory_order_relaxed); }

JobTokenUse job_token_use() noexcept {
  return {.takes_part = takes_part(),
          .most_cpus = g_most_cpus.load(std::memory_order_relaxed),
          .taken = g_taken.load(std::memory_order_relaxed)};
}

int cpus_by_job_tokens() noexcept { return pool().settings.slots - held_back(pool()); }

void begin_job_tokens(Pool& p) noexcept {
  follow_fork();
  if (g_ends || is_left_behind() || p.settings.slots < 2 || !g_pipe.is_there_again()) return;
  g_plan = JobTokenPlan();
  hold_back(p, p.settings.slots - 1);
  g_client.store(own_pid(), std::memory_order_relaxed);
}

void want_cpus(int cpus) noexcept {
  Pool& p = pool();
  if (held_back(p) == 0 || !g_may_ask.exchange(false, std::memory_order_relaxed)) return;
  int taken = 0;
  {
    const Hold hold;
    const int lacking = std::min(cpus, p.node.usable(p.settings.slots)) - (p.settings.slots - held_back(p));
    // A token that the plan is about to give back is none that is lacking.
    const bool all_let_go = g_pipe.count() + 1 == p.settings.slots - held_back(p);
    if (takes_part() && !g_ends && all_let_go) taken = take_tokens(lacking);
    if (taken > 0) p.held_back.fetch_sub(taken, std::memory_order_relaxed);
  }
  if (taken > 0) return_slots(p, taken);
}

void tick_job_tokens(Pool& p) noexcept {
  if (!takes_part()) return;
  int free = 0;
  {
    const Hold hold;
    if (g_ends || !g_pipe.is_open()) return;
    if (is_left_behind() || !g_pipe.is_there_again()) {
      free = leave_for_good(p);
    } else {
      const JobTokenPlan::Change change = g_plan.tick(look_at(p));
      g_pipe.give_back(change.give_back);
      hold_back(p, change.hold);
      free = change.let_go + take_tokens(change.take);
      note_tokens();
      g_may_ask.store(true, std::memory_order_relaxed);
    }
    p.held_back.fetch_sub(free, std::memory_order_relaxed);
  }
  if (free > 0) return_slots(p, free);
}

bool job_tokens_need_ticks() noexcept {
  return takes_part() && (g_tokens.load(std::memory_order_relaxed) > 0 || wanted_by_guests() > 0);
}

void leave_jobserver() noexcept {
  if (!takes_part()) return;
  Pool& p = pool();
  int free = 0;
  {
    const Hold hold;
    free = leave_for_good(p);
    p.held_back.fetch_sub(free, std::memory_order_relaxed);
  }
  if (free > 0) return_slots(p, free);
}

void end_job_tokens() noexcept {
  if (!is_client()) return;
  const Hold hold;
  Pool& p = pool();
  g_ends = true;
  g_pipe.is_there_again();
  hold_back(p, p.settings.slots - 1 - held_back(p));
  g_pipe.give_back(g_pipe.count());
  note_tokens();
}

void resume_job_tokens() noexcept {
  if (!is_client()) return;
  const Hold hold;
  g_ends = false;
}

void forget_job_tokens() noexcept {
  follow_fork();
  g_pipe.forget();
  note_tokens();
  g_client.store(0, std::memory_order_relaxed);
  g_may_ask.store(true, std::memory_order_relaxed);
  g_ends = false;
}

}  // namespace weft::core
