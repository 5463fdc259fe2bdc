// SPDX-License-Identifier: Apache-2.0
// Teams and their members (OpenMP 5.2, section 10.1). A Member is one implicit task on the context that
// runs it; `self()` is the caller's.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "core/sched/claim_set.h"
#include "core/sched/parallel_call.h"
#include "core/sched/persistent_team.h"
#include "core/sched/wait_queue.h"
#include "openmp/affinity/placement.h"
#include "openmp/library/call_policy.h"
#include "openmp/loop/worksharing.h"
#include "openmp/settings/icv.h"
#include "openmp/task/task.h"

namespace weft::openmp {

class LeagueTurn;
struct Team;
struct TaskDeque;

// How a member enters the program's code: words[1..] hold what the adapter put there.
using Invoke = void (*)(void* const* words, int number);

struct Member {
  Team* team = nullptr;
  int number = 0;
  Task* task = nullptr;     // what it runs now; &implicit at first
  Member* outer = nullptr;  // what the context goes back to at the end of the region

  // Constructs met so far; members of a team meet the same ones in the same order.
  uint32_t loops = kLoopRing;
  uint32_t singles = 0;
  uint32_t barriers = 0;

  LoopCursor loop;

  // The doacross loop it is in (ordered.h), and what the adapter knows of the loops of its nest; not set outside of
  // one, since regions of one member are short.
  static constexpr int kDoacrossLoops = 64;
  LoopShare* doacross = nullptr;
  int doacross_loops = 0;

  // What the worksharing construct it is in has beside iterations (extras.h), and the reductions of the region
  // (reduction_blocks.h).
  LoopShare* extras = nullptr;
  uintptr_t* reduction_blocks = nullptr;

  core::Context* context = nullptr;
  TaskDeque* deque = nullptr;  // made at the first task it pushes
  Task implicit;

  // Behind what every region uses.
  std::array<uint64_t, kDoacrossLoops> doacross_counts;
  std::array<int64_t, kDoacrossLoops> doacross_from;
  std::array<int64_t, kDoacrossLoops> doacross_step;
  ompt::MemberInfo tool;
};

// The lines of a member that others write, in teams that keep them.
struct MemberLine {
  static constexpr int kRounds = 12;
  // Signals of the dissemination barrier: [parity of the barrier][round], the barrier's number.
  alignas(64) std::array<std::array<std::atomic<uint32_t>, kRounds>, 2> signal{};
  // helpers.h
  std::atomic<core::Context*> sleeper{nullptr};
  std::atomic<bool> recalled{false};

  // Where it sleeps until an iteration has passed, and which (ordered.h), or until others have combined (combine.h).
  std::atomic<core::Context*> in_line{nullptr};
  std::atomic<uint64_t> awaited{0};

  // Its part of a reduction, for the member that combines it (combine.h); null: there is none, or no more.
  std::atomic<void*> part{nullptr};

  // As if barrier number `barrier` had just been passed.
  void reset(uint32_t barrier) noexcept {
    for (auto& parity : signal) {
      for (auto& word : parity) word.store(barrier, std::memory_order_relaxed);
    }
    sleeper.store(nullptr, std::memory_order_relaxed);
  }
};

// Members of a region beside the one that begins it, counted in the group of an initial thread until they are given
// back (thread_limit.h).
struct ThreadGrant {
  Team* group = nullptr;
  int threads = 0;
};

struct Team : core::ParallelCall {
  // Constant during a region.
  int size = 1;
  int level = 0;  // nested parallel regions, this included
  int active_level = 0;  // those of more than one member
  Member* parent = nullptr;
  std::array<void*, core::Post::kWords> words{};
  Icvs icvs{};  // of the implicit tasks
  bool flat = false;  // all members run at once: barriers by dissemination
  bool gathers = false;  // without a persistent team: its members wait for each other at the end (task_regions.h)
  int league_size = 1;
  int league_number = 0;  // of the team of the league that it belongs to
  LeagueTurn* league_turn = nullptr;  // of an initial team: until it has combined its part (combine.h)

  // Where the members' construct counters start: where those of the record's last region ended.
  // Loops are counted from the ring's size on: the records begin as if they had served number 0.
  uint32_t first_loop = kLoopRing;
  uint32_t first_single = 0;

  // team_affinity.h: where the members are, and whether they are to say so. Set only where icvs.affinity is.
  bool shows_affinity = false;
  Placement placement;

  alignas(64) std::atomic<uint32_t> single_ticket{0};
  std::atomic<void*> copyprivate{nullptr};

  // Central barrier: members arrived, and barriers passed.
  alignas(64) std::atomic<int> arrived{0};
  // Looked at by those that wait, while others arrive.
  alignas(64) std::atomic<uint32_t> passed{0};
  core::WaitQueue queue;  // of members that wait in it

  // Explicit tasks. `tasked`: some have been pushed in this region; set by the first pusher, cleared by the
  // primary at the end. `drained`: the last barrier whose tasks were seen to have ended.
  alignas(64) std::atomic<bool> tasked{false};
  // cancel.h: the region, and which worksharing construct. Relaxed: who sees it late stops late; who sleeps is woken.
  std::atomic<bool> cancelled{false};
  std::atomic<uint32_t> cancelled_loop{0};
  std::atomic<uint32_t> drained{0};
  std::atomic<int> helpers{0};  // members of a persistent team that look for tasks after their end
  std::atomic<bool> closing{false};  // the primary has reached the end: helpers need not wait for more

  // helpers.h: who can be called to run tasks, and how many of those that have been called have not come yet.
  alignas(64) core::ClaimSet<core::PersistentTeam::kMaxMembers> on_call;
  std::atomic<int> called{0};

  // Tasks that became ready outside of the team, found their member's deque full, or have a priority, by which they are
  // ordered; linked by `next_free`. `waiting` is a hint of their number.
  alignas(64) platform::Spinlock inbox_lock;
  Task* inbox_first = nullptr;
  Task* inbox_last = nullptr;
  std::atomic<int> waiting{0};
  // Detachable tasks that have not ended. With a fence between this and the announcement of who waits for it.
  std::atomic<int> detached{0};
  std::atomic<bool> detachable{false};  // there have been some in this region
  std::atomic<core::Context*> event_waiter{nullptr};  // in a team of one

  // By member; made when first needed, kept for the record's next region. `capacity` is their length. Shorter ones
  // that these have replaced stay: a member that was late with its last look may still be at them.
  // `deques` and `capacity` are atomic for the monitor, which looks at any time (motion.h).
  std::atomic<int> capacity{0};
  MemberLine* lines = nullptr;
  std::atomic<std::atomic<TaskDeque*>*> deques{nullptr};
  struct Outgrown {
    MemberLine* lines;
    std::atomic<TaskDeque*>* deques;
    Outgrown* next;
  };
  Outgrown* outgrown = nullptr;

  std::array<LoopShare, kLoopRing> ring{};

  int lent = 0;  // OS threads (core/sched/gang_regions.h); touched by the primary only

  // What nesting.h keeps of the region, by its outlined function: how its library calls run. Written by the primary
  // before the region begins.
  struct Site* site = nullptr;
  int64_t began_ns = 0;
  int64_t give_up_ns = 0;
  Way way = Way::tail;

  // Of an initial team: members beside the initial thread in the regions inside, where OMP_THREAD_LIMIT or thread_limit
  // bounds them. Relaxed: a count.
  std::atomic<int> threads_added{0};
  ThreadGrant grant;  // of a region whose beginning and end are two calls

  core::PersistentTeam* persistent_team = nullptr;  // of a persistent team
  struct Root* root = nullptr;  // of an initial team
  const Team* agent_of = nullptr;  // of a free agent: the team of the task it runs
  Team* next_free = nullptr;
  ompt::TeamInfo tool;
};

// Where there is a tool, t_told_member takes the other's place, which is null then: see ompt/entry.h.
extern constinit thread_local Member* t_member;
extern constinit thread_local Member* t_told_member;

// Null in a thread that has not used OpenMP.
inline Member* current_member() noexcept {
  Member* member = t_member;
  return __builtin_expect(member != nullptr, 1) ? member : t_told_member;
}

// The caller as a thread of OpenMP; makes the implicit task of a thread that is new here.
Member* attach_member() noexcept;
inline Member* self() noexcept {
  Member* member = t_member;
  return __builtin_expect(member != nullptr, 1) ? member : attach_member();
}

// The same in what exists twice (ompt/entry.h): where there is no tool, the caller has come in.
template <bool Told>
Member* own_member() noexcept {
  return Told ? self() : t_member;
}

// Makes `member` the caller's, or the caller a thread that has not used OpenMP.
void put_current_member(Member* member) noexcept;
template <bool Told = true>
void make_current(Member* member) noexcept {
  if constexpr (Told) {
    put_current_member(member);
  } else {
    t_member = member;
  }
}

// What the routines that only ask say. A thread that has not used OpenMP stays one: signal handlers may ask, and making
// a member allocates memory.
inline int current_number() noexcept {
  const Member* member = current_member();
  return member != nullptr ? member->number : 0;
}
inline int current_level() noexcept {
  const Member* member = current_member();
  return member != nullptr ? member->team->level : 0;
}
inline int current_active_level() noexcept {
  const Member* member = current_member();
  return member != nullptr ? member->team->active_level : 0;
}

inline Icvs& icvs(Member* member) noexcept { return *member->task->icvs; }
// The same, to be written: the task gets a record of its own.
Icvs& own_icvs(Member* member) noexcept;

// Sets a member up for a region; the caller makes it current.
void enter_team(Member* member, Team* team, int number) noexcept;

// `lines` and `deques` for at least `size` members.
void reserve_members(Team* team, int size) noexcept;

}  // namespace weft::openmp
