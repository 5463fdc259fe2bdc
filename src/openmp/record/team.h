// SPDX-License-Identifier: Apache-2.0
// Teams and their members (OpenMP 5.2, section 10.1). A Member is one implicit task on the context that
// runs it; `self()` is the caller's.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/api/records.h"
#include "openmp/record/call_policy.h"
#include "openmp/record/doacross.h"
#include "openmp/record/icv.h"
#include "openmp/record/loops.h"
#include "openmp/record/member_lines.h"
#include "openmp/record/placement.h"
#include "openmp/record/task.h"
#include "openmp/record/team_barrier.h"
#include "openmp/record/team_tasks.h"
#include "openmp/record/thread_grant.h"
#include "openmp/tool/tool.h"

namespace weft::core {
class PersistentTeam;
}

namespace weft::openmp {

class LeagueTurn;
struct Team;
class TaskDeque;

// How a member enters the program's code: words[1..] hold what the adapter put there.
using Invoke = void (*)(void* const* words, int number);

// What a pause has noted of a member that it has taken away (stand_in.h).
struct Leave {
  bool away = false;
  bool counted = false;  // among those of its number
  bool announced = false;  // counted in TeamTasks::away, at which members of its team look that wait
  bool wants_number = false;
};

// Tasks that a member has run and whose ends it has not counted for their parent and group yet (task_run.h).
struct UncountedEnds {
  Task* parent = nullptr;  // of all tasks that are counted in `children`
  TaskGroup* group = nullptr;  // of these tasks
  uint32_t children = 0;
  uint32_t executed = 0;  // for the barriers; more than `children`, if the parent runs on the member's context
};

struct Member {
  Team* team = nullptr;
  int number = 0;
  bool stands_in = false;   // for a member whose task is paused (stand_in.h)
  bool lacks_deque = false;   // another context of its number has it (stand_in.h)
  bool holds_number = false;  // own_number.h: no other context runs tasks that have asked for it
  bool copying = false;       // cancelled_copies.h: from a copyprivate to the barrier behind it
  int numbered = 0;           // explicit tasks on its stack that have asked for their number
  Task* task = nullptr;     // what it runs now; &implicit at first
  Member* outer = nullptr;  // what the context goes back to at the end of the region

  // Constructs met so far; members of a team meet the same ones in the same order.
  uint32_t loops = kLoopRing;
  uint32_t singles = 0;
  uint32_t barriers = 0;

  LoopCursor loop;

  // The doacross loop it is in, and how many loops its nest has; not set outside of one, since regions of one member
  // are short.
  Workshare* doacross = nullptr;
  int doacross_depth = 0;

  // What the worksharing construct it is in has beside iterations (extras.h).
  Workshare* extras = nullptr;

  core::Context* context = nullptr;
  TaskDeque* deque = nullptr;  // made at the first task it pushes
  Task implicit;

  // Behind what every region uses.
  UncountedEnds uncounted_ends;
  int looked_at = 0;  // the member at whose deque it has looked last
  std::unique_ptr<DoacrossLoops> doacross_loops;  // made at its first nest: larger than all the rest, and rare
  Leave leave;
  tool::MemberInfo tool;
};

// Of the league that a team belongs to.
struct TeamLeague {
  int size = 1;
  int number = 0;  // of the team
  LeagueTurn* turn = nullptr;  // of an initial team: until it has combined its part (reduction_tree.h)
};

// How the members of a region come by their threads: a class each in openmp/region.
enum class RegionKind : uint8_t {
  none,       // an initial team, or a free agent's
  lone,       // one member
  outermost,  // persistent members
  woven,      // members that are offered to all carriers
  engine,     // threads of an engine (WEFT_ENGINE)
};

// One struct for each part of OpenMP, in the header of that part.
struct Team : core::ParallelCall {
  // Constant during a region, but for `cancelled`, which is set once.
  RegionKind kind = RegionKind::none;
  int size = 1;
  int started = 1;  // members that take part; fewer than `size` in regions whose members may be left out
  bool partial = false;  // such a region: members that have not begun when the primary has ended are taken back
  int level = 0;  // nested parallel regions, this included
  int active_level = 0;  // those of more than one member
  Member* parent = nullptr;
  std::array<void*, core::Post::kWords> words{};
  Icvs icvs{};  // of the implicit tasks
  bool flat = false;  // all members run at once: barriers by dissemination
  bool defers_alone = false;  // a team of one whose tasks are not run when they are created (lone_tasks.h)
  // Of a persistent team: members have begun teams of their own (relaxed: it is used for the next region), and the
  // members are on threads that have room beside them for those.
  std::atomic<bool> nests{false};
  bool apart = false;
  bool gathers = false;  // without a persistent team: its members wait for each other at the end (task_regions.h)
  // Members have waited for each other in loops that yield (api/spin_wait.h, api/yield.h). Of the regions of libraries
  // only (region/gang.cpp); in others it says nothing.
  std::atomic<bool> yields{false};
  // cancel.h: the region is. Relaxed: a member that sees it late stops late; those that sleep are woken.
  std::atomic<bool> cancelled{false};
  TeamLeague league;

  // Where the members' construct counters start: where those of the record's last region ended.
  // Loops are counted from the ring's size on: the records begin as if they had served number 0.
  uint32_t first_loop = kLoopRing;
  uint32_t first_single = 0;

  TeamPlaces places;
  int lent = 0;  // OS threads (core/sched/gang_regions.h); touched by the primary only
  unsigned regions_apart = 0;  // with members apart, so far; touched by the primary only

  TeamBarrier barrier;
  TeamTasks tasks;
  MemberTables members;
  TeamLoops loops;
  TeamPolicy policy;
  TeamThreads threads;

  core::PersistentTeam* persistent_team = nullptr;
  struct Root* root = nullptr;  // of an initial team
  const Team* agent_of = nullptr;  // of a free agent: the team of the task it runs
  Team* next_free = nullptr;
  tool::TeamInfo tool;
};

// To be called where a member yields to others of its team.
inline void note_yield(Team* team) noexcept {
  // Relaxed: it is looked at when the region has ended.
  if (!team->yields.load(std::memory_order_relaxed)) team->yields.store(true, std::memory_order_relaxed);
}

// Where a tool is told of what the thread does, t_reported_member takes the place of t_member (tool/tool.h), which is
// null then.
extern constinit thread_local Member* t_reported_member;

// Where t_member and that one lie from the thread pointer, the same distance for every identity: debuggers (tools/gdb)
// and inspectors find with it the members of contexts that no thread runs.
extern const ptrdiff_t g_member_offset;
extern const ptrdiff_t g_reported_member_offset;

// Null in a thread that has not used OpenMP.
inline Member* current_member() noexcept {
  Member* member = t_member;
  return __builtin_expect(member != nullptr, 1) ? member : t_reported_member;
}

// Who the caller is, for a thread that becomes another member for a while.
class CallerIdentity {
 public:
  Member* member() const noexcept { return member_ != nullptr ? member_ : reported_; }
  void put_back() const noexcept {
    t_member = member_;
    t_reported_member = reported_;
  }

 private:
  Member* member_ = t_member;
  Member* reported_ = t_reported_member;
};

// The caller as a thread of OpenMP; makes the implicit task of a thread that is new here.
Member* attach_member() noexcept;
inline Member* self() noexcept {
  Member* member = t_member;
  return __builtin_expect(member != nullptr, 1) ? member : attach_member();
}

// Makes `member` the caller's, or the caller a thread that has not used OpenMP.
void put_current_member(Member* member) noexcept;
inline void make_current(Member* member) noexcept {
  if (__builtin_expect(tool::is_active(), 0)) return put_current_member(member);
  t_member = member;
  t_reported_member = nullptr;
}
// The same where a region begins or ends for the thread that has met it: a tool that is told of what goes on there is
// told of both, a tool that is not, of neither.
[[gnu::always_inline]] inline void continue_as(Member* member, tool::Listener listener = tool::listener()) noexcept {
  if (__builtin_expect(listener == tool::Listener::possible, 0)) return put_current_member(member);
  t_member = member;
}

// Whether the process has a library that pauses tasks (weft/task.h). Set once; relaxed: tasks that have begun before
// are not affected.
extern constinit std::atomic<bool> g_tasks_may_pause;
inline bool tasks_may_pause() noexcept {
  return __builtin_expect(g_tasks_may_pause.load(std::memory_order_relaxed), 0);
}

// The caller's task counts on its thread number (own_number.h): it has copies of variables by it, or the program has
// asked, maybe in a signal handler.
void use_number(Member* self) noexcept;
void ask_for_number(Member* self) noexcept;

// Whether the team's tasks wait for somebody who has time.
inline bool defers_tasks(const Team* team) noexcept { return team->size > 1 || team->defers_alone; }

// What the routines that only ask say. A thread that has not used OpenMP stays one: signal handlers may ask, and making
// a member allocates memory.
inline int current_number() noexcept {
  Member* member = current_member();
  if (member == nullptr) return 0;
  if (tasks_may_pause()) ask_for_number(member);
  return member->number;
}
inline int current_level() noexcept {
  const Member* member = current_member();
  return member != nullptr ? member->team->level : 0;
}
inline int current_active_level() noexcept {
  const Member* member = current_member();
  return member != nullptr ? member->team->active_level : 0;
}

// The team that the member's task belongs to.
inline const Team* team_of_task(const Member* member) noexcept {
  return member->team->agent_of != nullptr ? member->team->agent_of : member->team;
}

inline Icvs& icvs(Member* member) noexcept { return *member->task->icvs; }
// The same, to be written: the task gets a record of its own.
Icvs& own_icvs(Member* member) noexcept;

// Sets a member up for a region; the caller makes it current.
void enter_team(Member* member, Team* team, int number) noexcept;

// Room for at least `size` members.
void reserve_members(Team* team, int size) noexcept;

}  // namespace weft::openmp
