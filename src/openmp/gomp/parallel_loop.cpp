// SPDX-License-Identifier: Apache-2.0
// GOMP: parallel regions that are combined with a worksharing loop.
#include <algorithm>
#include <new>

#include "base/message.h"
#include "openmp/gomp/left_out.h"
#include "openmp/gomp/loop.h"
#include "openmp/team/cancel.h"

using namespace weft;
using namespace weft::openmp;
using namespace weft::openmp::gomp;
using Kind = base::LoopSchedule::Kind;

namespace {

// A region whose members find the loop begun.
struct Combined {
  Function function;
  void* data;
  base::LoopSchedule schedule;
  uint64_t chunk, first, step, count;

  bool is_dynamic() const noexcept { return schedule.kind == Kind::dynamic || schedule.kind == Kind::guided; }
  // More members than these get no iterations.
  uint64_t chunks() const noexcept { return count == 0 ? 0 : (count - 1) / std::max<uint64_t>(chunk, 1) + 1; }
};

// The words of a region: the function, which names it, and the loop.
struct LoopWords {
  void* words[core::Post::kWords];
  explicit LoopWords(Combined* loop) noexcept
      : words{nullptr, reinterpret_cast<void*>(loop->function), loop, nullptr, nullptr, nullptr} {}
};
const Combined* loop_of(void* const* words) noexcept { return static_cast<const Combined*>(words[2]); }

// All members have begun: what the region's function does is seen.
void note(const Combined* loop, uint32_t barriers_before) noexcept {
  const Member* member = self();
  // Relaxed: tasks that another member pushes later are noted in a later region.
  if (member->team->tasks.tasked.load(std::memory_order_relaxed)) {
    note_with_tasks(loop->function);
  } else if (member->team->size > 1 && member->barriers == barriers_before) {
    note_alone(loop->function);
  }
}

void run_combined(void* const* words, int number) noexcept {
  const Combined* loop = loop_of(words);
  const uint32_t barriers = self()->barriers;
  begin(self(), loop->schedule, loop->chunk, loop->first, loop->step, loop->count);
  loop->function(loop->data);
  if (number == 0) note(loop, barriers);
}

// The same where members that would get nothing are left out.
int prepare_some(Team* team, void* const* words) noexcept {
  const Combined* loop = loop_of(words);
  const auto members = static_cast<int>(std::clamp<uint64_t>(loop->chunks(), 1, static_cast<uint64_t>(team->size)));
  share_dynamic_loop(&team->loops.region, loop->schedule, std::max<uint64_t>(loop->chunk, 1), loop->count, members);
  return members;
}

void run_some(void* const* words, int number) noexcept {
  const Combined* loop = loop_of(words);
  Member* member = self();
  // The team may have become one of one member: there nobody has been asked how many begin.
  if (member->team->size == 1) return run_combined(words, number);
  enter_loop_of_region(member);
  member->loop.base = loop->first;
  member->loop.step = loop->step;
  loop->function(loop->data);
  if (number == 0 && self()->team->tasks.tasked.load(std::memory_order_relaxed)) note_with_tasks(loop->function);
}

// gcc combines a region with its loop where the bounds are constants and nothing is reduced, copied in, or executed
// before the loop. So a member without iterations makes its private variables at most, and OpenMP leaves open how many
// are made. A tool is told of all members.
bool leaves_some_out(const Combined& loop, unsigned threads) noexcept {
  if (!loop.is_dynamic() || !may_leave_out(loop.function)) return false;
  return loop.chunks() < static_cast<uint64_t>(planned_team_size(self(), static_cast<int>(threads))) &&
         !cancellation_enabled() && !tool::is_on();
}

Combined combine(Function function, void* data, Kind kind, bool runtime, long first, long end, long incr, long chunk) {
  Combined loop{function,
                data,
                {},
                static_cast<uint64_t>(chunk),
                static_cast<uint64_t>(first),
                static_cast<uint64_t>(incr),
                count_of(first, end, incr)};
  loop.schedule = chosen(self(), kind, runtime, &loop.chunk);
  return loop;
}

[[gnu::always_inline]] inline void run(Combined loop, unsigned threads, unsigned flags) {
  const auto region = [threads, flags, record = &loop](const void*) {
    LoopWords words(record);
    const Clauses said = clauses(threads, flags);
    if (leaves_some_out(*record, threads)) {
      parallel_of_some(run_some, words.words, said, prepare_some);
    } else {
      parallel(run_combined, words.words, said);
    }
  };
  tool::enter_region(region, static_cast<int>(threads));
}

// gcc 4.8 and older: the region ends in GOMP_parallel_end, up to when the record must live. One a member
// and depth at most; kept, since such binaries are rare and the records small.
[[gnu::always_inline]] inline void run_open(const Combined& loop, unsigned threads) {
  const tool::Entry entry(WEFT_CALLER, static_cast<int>(threads));
  auto* kept = new (std::nothrow) Combined(loop);
  if (kept == nullptr) base::lacking("no memory for a parallel loop");
  LoopWords words(kept);
  begin_parallel(run_combined, words.words, clauses(threads));
  begin(self(), kept->schedule, kept->chunk, kept->first, kept->step, kept->count);
}

}  // namespace

#define WEFT_PARALLEL_LOOP(name, kind)                                                                             \
  WEFT_ABI(void, GOMP_parallel_loop_##name)(Function function, void* data, unsigned threads, long first, long end, \
                                            long incr, long chunk, unsigned flags) {                               \
    run(combine(function, data, kind, false, first, end, incr, chunk), threads, flags);                            \
  }

#define WEFT_PARALLEL_LOOP_START(name, kind)                                                                     \
  WEFT_ABI(void, GOMP_parallel_loop_##name##_start)(Function function, void* data, unsigned threads, long first, \
                                                    long end, long incr, long chunk) {                           \
    run_open(combine(function, data, kind, false, first, end, incr, chunk), threads);                            \
  }

#define WEFT_PARALLEL_RUNTIME_LOOP(name)                                                                           \
  WEFT_ABI(void, GOMP_parallel_loop_##name)(Function function, void* data, unsigned threads, long first, long end, \
                                            long incr, unsigned flags) {                                           \
    run(combine(function, data, Kind::dynamic, true, first, end, incr, 0), threads, flags);                        \
  }

WEFT_PARALLEL_LOOP(static, Kind::static_);
WEFT_PARALLEL_LOOP(dynamic, Kind::dynamic);
WEFT_PARALLEL_LOOP(guided, Kind::guided);
WEFT_PARALLEL_LOOP(nonmonotonic_dynamic, Kind::dynamic);
WEFT_PARALLEL_LOOP(nonmonotonic_guided, Kind::guided);
WEFT_PARALLEL_RUNTIME_LOOP(runtime);
WEFT_PARALLEL_RUNTIME_LOOP(nonmonotonic_runtime);
WEFT_PARALLEL_RUNTIME_LOOP(maybe_nonmonotonic_runtime);

WEFT_PARALLEL_LOOP_START(static, Kind::static_);
WEFT_PARALLEL_LOOP_START(dynamic, Kind::dynamic);
WEFT_PARALLEL_LOOP_START(guided, Kind::guided);

WEFT_ABI(void, GOMP_parallel_loop_runtime_start)(Function function, void* data, unsigned threads, long first, long end,
                                                 long incr) {
  run_open(combine(function, data, Kind::dynamic, true, first, end, incr, 0), threads);
}
