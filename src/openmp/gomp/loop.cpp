// SPDX-License-Identifier: Apache-2.0
// GOMP: worksharing loops of `long` and of `unsigned long long`, and regions combined with one.
#include "openmp/gomp/loop.h"

#include <new>

#include "base/message.h"
#include "openmp/gomp/reduction.h"

using namespace weft;
using namespace weft::openmp;
using namespace weft::openmp::gomp;
using Kind = base::LoopSchedule::Kind;
using Ull = unsigned long long;

namespace weft::openmp::gomp {

base::LoopSchedule runtime_schedule(Member* self, uint64_t* chunk) noexcept {
  const base::LoopSchedule& schedule = icvs(self).run_schedule;
  *chunk = static_cast<uint64_t>(schedule.chunk);
  return schedule;
}

}  // namespace weft::openmp::gomp

namespace {

base::LoopSchedule chosen(Member* member, Kind kind, bool monotonic, bool runtime, uint64_t* chunk) {
  if (runtime) return runtime_schedule(member, chunk);
  return schedule(kind, monotonic);
}

[[gnu::always_inline]] inline bool start(Kind kind, bool monotonic, bool runtime, long first, long end, long incr,
                                         long chunk, long* begin_at, long* end_at) {
  return ompt::enter([=](Member* member, auto told, const void*) {
    auto unit = static_cast<uint64_t>(chunk);
    const base::LoopSchedule how = chosen(member, kind, monotonic, runtime, &unit);
    begin<told>(member, how, unit, static_cast<uint64_t>(first), static_cast<uint64_t>(incr),
                count_of(first, end, incr));
    return next(member, begin_at, end_at);
  });
}

[[gnu::always_inline]] inline bool start_ull(Kind kind, bool monotonic, bool runtime, bool up, Ull first, Ull end,
                                             Ull incr, Ull chunk, Ull* begin_at, Ull* end_at) {
  return ompt::enter([=](Member* member, auto told, const void*) {
    uint64_t unit = chunk;
    const base::LoopSchedule how = chosen(member, kind, monotonic, runtime, &unit);
    begin<told>(member, how, unit, first, incr, count_of(up, first, end, incr));
    return next(member, begin_at, end_at);
  });
}

// A region whose members find the loop begun.
struct Combined {
  Function function;
  void* data;
  base::LoopSchedule schedule;
  uint64_t chunk, first, step, count;
  Combined* outer = nullptr;
};

template <bool Told = true>
void run_combined(void* const* words, int) noexcept {
  const auto* loop = static_cast<const Combined*>(words[1]);
  begin<Told>(own_member<Told>(), loop->schedule, loop->chunk, loop->first, loop->step, loop->count);
  loop->function(loop->data);
}

Combined combine(Function function, void* data, Kind kind, bool monotonic, bool runtime, long first, long end,
                 long incr, long chunk) {
  Combined loop{function,
                data,
                {},
                static_cast<uint64_t>(chunk),
                static_cast<uint64_t>(first),
                static_cast<uint64_t>(incr),
                count_of(first, end, incr)};
  loop.schedule = chosen(self(), kind, monotonic, runtime, &loop.chunk);
  return loop;
}

[[gnu::always_inline]] inline void run(Combined loop, unsigned threads, unsigned flags) {
  const auto region = [threads, flags, record = &loop](Member*, auto told, const void*) {
    void* words[core::Post::kWords] = {nullptr, record};
    parallel<told>(run_combined<told>, words, clauses(threads, flags));
  };
  ompt::enter(region, static_cast<int>(threads));
}

// gcc 4.8 and older: the region ends in GOMP_parallel_end, up to when the record must live. One a member
// and depth at most; kept, since such binaries are rare and the records small.
[[gnu::always_inline]] inline void run_open(const Combined& loop, unsigned threads) {
  const ompt::Entry entry(WEFT_CALLER, static_cast<int>(threads));
  auto* kept = new (std::nothrow) Combined(loop);
  if (kept == nullptr) base::lacking("no memory for a parallel loop");
  void* words[core::Post::kWords] = {nullptr, kept};
  begin_parallel(run_combined<>, words, clauses(threads));
  begin(self(), kept->schedule, kept->chunk, kept->first, kept->step, kept->count);
}

}  // namespace

// With what some loops have beside iterations. No `begin_at`: the program cuts the iterations itself.
WEFT_ABI bool weft_abi_GOMP_loop_start(long first, long end, long incr, long how, long chunk, long* begin_at,
                                       long* end_at, Words* reductions, void** memory) {
  const ompt::Entry entry(WEFT_CALLER);
  begin_extras(self(), reductions, memory);
  const Said said(how);
  return begin_at == nullptr ||
         start(said.kind, said.monotonic, said.runtime, first, end, incr, chunk, begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_start);

WEFT_ABI bool weft_abi_GOMP_loop_ull_start(bool up, Ull first, Ull end, Ull incr, long how, Ull chunk, Ull* begin_at,
                                           Ull* end_at, Words* reductions, void** memory) {
  const ompt::Entry entry(WEFT_CALLER);
  begin_extras(self(), reductions, memory);
  const Said said(how);
  return begin_at == nullptr ||
         start_ull(said.kind, said.monotonic, said.runtime, up, first, end, incr, chunk, begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_ull_start);

WEFT_ABI bool weft_abi_GOMP_loop_static_start(long first, long end, long incr, long chunk, long* begin_at,
                                              long* end_at) {
  return start(Kind::static_, true, false, first, end, incr, chunk, begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_static_start);

WEFT_ABI bool weft_abi_GOMP_loop_ull_static_start(bool up, Ull first, Ull end, Ull incr, Ull chunk, Ull* begin_at,
                                                  Ull* end_at) {
  return start_ull(Kind::static_, true, false, up, first, end, incr, chunk, begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_ull_static_start);

WEFT_ABI bool weft_abi_GOMP_loop_dynamic_start(long first, long end, long incr, long chunk, long* begin_at,
                                               long* end_at) {
  return start(Kind::dynamic, true, false, first, end, incr, chunk, begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_dynamic_start);

WEFT_ABI bool weft_abi_GOMP_loop_ull_dynamic_start(bool up, Ull first, Ull end, Ull incr, Ull chunk, Ull* begin_at,
                                                   Ull* end_at) {
  return start_ull(Kind::dynamic, true, false, up, first, end, incr, chunk, begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_ull_dynamic_start);

WEFT_ABI bool weft_abi_GOMP_loop_guided_start(long first, long end, long incr, long chunk, long* begin_at,
                                              long* end_at) {
  return start(Kind::guided, true, false, first, end, incr, chunk, begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_guided_start);

WEFT_ABI bool weft_abi_GOMP_loop_ull_guided_start(bool up, Ull first, Ull end, Ull incr, Ull chunk, Ull* begin_at,
                                                  Ull* end_at) {
  return start_ull(Kind::guided, true, false, up, first, end, incr, chunk, begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_ull_guided_start);

WEFT_ABI bool weft_abi_GOMP_loop_nonmonotonic_dynamic_start(long first, long end, long incr, long chunk, long* begin_at,
                                                            long* end_at) {
  return start(Kind::dynamic, false, false, first, end, incr, chunk, begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_nonmonotonic_dynamic_start);

WEFT_ABI bool weft_abi_GOMP_loop_ull_nonmonotonic_dynamic_start(bool up, Ull first, Ull end, Ull incr, Ull chunk,
                                                                Ull* begin_at, Ull* end_at) {
  return start_ull(Kind::dynamic, false, false, up, first, end, incr, chunk, begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_ull_nonmonotonic_dynamic_start);

WEFT_ABI bool weft_abi_GOMP_loop_nonmonotonic_guided_start(long first, long end, long incr, long chunk, long* begin_at,
                                                           long* end_at) {
  return start(Kind::guided, false, false, first, end, incr, chunk, begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_nonmonotonic_guided_start);

WEFT_ABI bool weft_abi_GOMP_loop_ull_nonmonotonic_guided_start(bool up, Ull first, Ull end, Ull incr, Ull chunk,
                                                               Ull* begin_at, Ull* end_at) {
  return start_ull(Kind::guided, false, false, up, first, end, incr, chunk, begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_ull_nonmonotonic_guided_start);

WEFT_ABI bool weft_abi_GOMP_loop_runtime_start(long first, long end, long incr, long* begin_at, long* end_at) {
  return start(Kind::dynamic, false, true, first, end, incr, 0, begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_runtime_start);

WEFT_ABI bool weft_abi_GOMP_loop_ull_runtime_start(bool up, Ull first, Ull end, Ull incr, Ull* begin_at, Ull* end_at) {
  return start_ull(Kind::dynamic, false, true, up, first, end, incr, 0, begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_ull_runtime_start);

WEFT_ABI bool weft_abi_GOMP_loop_nonmonotonic_runtime_start(long first, long end, long incr, long* begin_at,
                                                            long* end_at) {
  return start(Kind::dynamic, false, true, first, end, incr, 0, begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_nonmonotonic_runtime_start);

WEFT_ABI bool weft_abi_GOMP_loop_ull_nonmonotonic_runtime_start(bool up, Ull first, Ull end, Ull incr, Ull* begin_at,
                                                                Ull* end_at) {
  return start_ull(Kind::dynamic, false, true, up, first, end, incr, 0, begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_ull_nonmonotonic_runtime_start);

WEFT_ABI bool weft_abi_GOMP_loop_maybe_nonmonotonic_runtime_start(long first, long end, long incr, long* begin_at,
                                                                  long* end_at) {
  return start(Kind::dynamic, false, true, first, end, incr, 0, begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_maybe_nonmonotonic_runtime_start);

WEFT_ABI bool weft_abi_GOMP_loop_ull_maybe_nonmonotonic_runtime_start(bool up, Ull first, Ull end, Ull incr,
                                                                      Ull* begin_at, Ull* end_at) {
  return start_ull(Kind::dynamic, false, true, up, first, end, incr, 0, begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_ull_maybe_nonmonotonic_runtime_start);

WEFT_ABI bool weft_abi_GOMP_loop_static_next(long* begin_at, long* end_at) { return next(self(), begin_at, end_at); }
WEFT_ABI_EXPORT(GOMP_loop_static_next);

WEFT_ABI bool weft_abi_GOMP_loop_ull_static_next(Ull* begin_at, Ull* end_at) { return next(self(), begin_at, end_at); }
WEFT_ABI_EXPORT(GOMP_loop_ull_static_next);

WEFT_ABI bool weft_abi_GOMP_loop_dynamic_next(long* begin_at, long* end_at) { return next(self(), begin_at, end_at); }
WEFT_ABI_EXPORT(GOMP_loop_dynamic_next);

WEFT_ABI bool weft_abi_GOMP_loop_ull_dynamic_next(Ull* begin_at, Ull* end_at) { return next(self(), begin_at, end_at); }
WEFT_ABI_EXPORT(GOMP_loop_ull_dynamic_next);

WEFT_ABI bool weft_abi_GOMP_loop_guided_next(long* begin_at, long* end_at) { return next(self(), begin_at, end_at); }
WEFT_ABI_EXPORT(GOMP_loop_guided_next);

WEFT_ABI bool weft_abi_GOMP_loop_ull_guided_next(Ull* begin_at, Ull* end_at) { return next(self(), begin_at, end_at); }
WEFT_ABI_EXPORT(GOMP_loop_ull_guided_next);

WEFT_ABI bool weft_abi_GOMP_loop_runtime_next(long* begin_at, long* end_at) { return next(self(), begin_at, end_at); }
WEFT_ABI_EXPORT(GOMP_loop_runtime_next);

WEFT_ABI bool weft_abi_GOMP_loop_ull_runtime_next(Ull* begin_at, Ull* end_at) { return next(self(), begin_at, end_at); }
WEFT_ABI_EXPORT(GOMP_loop_ull_runtime_next);

WEFT_ABI bool weft_abi_GOMP_loop_nonmonotonic_dynamic_next(long* begin_at, long* end_at) {
  return next(self(), begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_nonmonotonic_dynamic_next);

WEFT_ABI bool weft_abi_GOMP_loop_ull_nonmonotonic_dynamic_next(Ull* begin_at, Ull* end_at) {
  return next(self(), begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_ull_nonmonotonic_dynamic_next);

WEFT_ABI bool weft_abi_GOMP_loop_nonmonotonic_guided_next(long* begin_at, long* end_at) {
  return next(self(), begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_nonmonotonic_guided_next);

WEFT_ABI bool weft_abi_GOMP_loop_ull_nonmonotonic_guided_next(Ull* begin_at, Ull* end_at) {
  return next(self(), begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_ull_nonmonotonic_guided_next);

WEFT_ABI bool weft_abi_GOMP_loop_nonmonotonic_runtime_next(long* begin_at, long* end_at) {
  return next(self(), begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_nonmonotonic_runtime_next);

WEFT_ABI bool weft_abi_GOMP_loop_ull_nonmonotonic_runtime_next(Ull* begin_at, Ull* end_at) {
  return next(self(), begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_ull_nonmonotonic_runtime_next);

WEFT_ABI bool weft_abi_GOMP_loop_maybe_nonmonotonic_runtime_next(long* begin_at, long* end_at) {
  return next(self(), begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_maybe_nonmonotonic_runtime_next);

WEFT_ABI bool weft_abi_GOMP_loop_ull_maybe_nonmonotonic_runtime_next(Ull* begin_at, Ull* end_at) {
  return next(self(), begin_at, end_at);
}
WEFT_ABI_EXPORT(GOMP_loop_ull_maybe_nonmonotonic_runtime_next);

WEFT_ABI void weft_abi_GOMP_parallel_loop_static(Function function, void* data, unsigned threads, long first, long end,
                                                 long incr, long chunk, unsigned flags) {
  run(combine(function, data, Kind::static_, true, false, first, end, incr, chunk), threads, flags);
}
WEFT_ABI_EXPORT(GOMP_parallel_loop_static);

WEFT_ABI void weft_abi_GOMP_parallel_loop_static_start(Function function, void* data, unsigned threads, long first,
                                                       long end, long incr, long chunk) {
  run_open(combine(function, data, Kind::static_, true, false, first, end, incr, chunk), threads);
}
WEFT_ABI_EXPORT(GOMP_parallel_loop_static_start);

WEFT_ABI void weft_abi_GOMP_parallel_loop_dynamic(Function function, void* data, unsigned threads, long first, long end,
                                                  long incr, long chunk, unsigned flags) {
  run(combine(function, data, Kind::dynamic, true, false, first, end, incr, chunk), threads, flags);
}
WEFT_ABI_EXPORT(GOMP_parallel_loop_dynamic);

WEFT_ABI void weft_abi_GOMP_parallel_loop_dynamic_start(Function function, void* data, unsigned threads, long first,
                                                        long end, long incr, long chunk) {
  run_open(combine(function, data, Kind::dynamic, true, false, first, end, incr, chunk), threads);
}
WEFT_ABI_EXPORT(GOMP_parallel_loop_dynamic_start);

WEFT_ABI void weft_abi_GOMP_parallel_loop_guided(Function function, void* data, unsigned threads, long first, long end,
                                                 long incr, long chunk, unsigned flags) {
  run(combine(function, data, Kind::guided, true, false, first, end, incr, chunk), threads, flags);
}
WEFT_ABI_EXPORT(GOMP_parallel_loop_guided);

WEFT_ABI void weft_abi_GOMP_parallel_loop_guided_start(Function function, void* data, unsigned threads, long first,
                                                       long end, long incr, long chunk) {
  run_open(combine(function, data, Kind::guided, true, false, first, end, incr, chunk), threads);
}
WEFT_ABI_EXPORT(GOMP_parallel_loop_guided_start);

WEFT_ABI void weft_abi_GOMP_parallel_loop_nonmonotonic_dynamic(Function function, void* data, unsigned threads,
                                                               long first, long end, long incr, long chunk,
                                                               unsigned flags) {
  run(combine(function, data, Kind::dynamic, false, false, first, end, incr, chunk), threads, flags);
}
WEFT_ABI_EXPORT(GOMP_parallel_loop_nonmonotonic_dynamic);

WEFT_ABI void weft_abi_GOMP_parallel_loop_nonmonotonic_guided(Function function, void* data, unsigned threads,
                                                              long first, long end, long incr, long chunk,
                                                              unsigned flags) {
  run(combine(function, data, Kind::guided, false, false, first, end, incr, chunk), threads, flags);
}
WEFT_ABI_EXPORT(GOMP_parallel_loop_nonmonotonic_guided);

WEFT_ABI void weft_abi_GOMP_parallel_loop_runtime(Function function, void* data, unsigned threads, long first, long end,
                                                  long incr, unsigned flags) {
  run(combine(function, data, Kind::dynamic, false, true, first, end, incr, 0), threads, flags);
}
WEFT_ABI_EXPORT(GOMP_parallel_loop_runtime);

WEFT_ABI void weft_abi_GOMP_parallel_loop_nonmonotonic_runtime(Function function, void* data, unsigned threads,
                                                               long first, long end, long incr, unsigned flags) {
  run(combine(function, data, Kind::dynamic, false, true, first, end, incr, 0), threads, flags);
}
WEFT_ABI_EXPORT(GOMP_parallel_loop_nonmonotonic_runtime);

WEFT_ABI void weft_abi_GOMP_parallel_loop_maybe_nonmonotonic_runtime(Function function, void* data, unsigned threads,
                                                                     long first, long end, long incr, unsigned flags) {
  run(combine(function, data, Kind::dynamic, false, true, first, end, incr, 0), threads, flags);
}
WEFT_ABI_EXPORT(GOMP_parallel_loop_maybe_nonmonotonic_runtime);

WEFT_ABI void weft_abi_GOMP_parallel_loop_runtime_start(Function function, void* data, unsigned threads, long first,
                                                        long end, long incr) {
  run_open(combine(function, data, Kind::dynamic, false, true, first, end, incr, 0), threads);
}
WEFT_ABI_EXPORT(GOMP_parallel_loop_runtime_start);

WEFT_ABI void weft_abi_GOMP_loop_end() {
  ompt::enter([](Member* member, auto told, const void* caller) {
    leave_loop<told>(member);
    barrier<told>(member, Barrier::end_of_workshare, caller);
  });
}
WEFT_ABI_EXPORT(GOMP_loop_end);

WEFT_ABI void weft_abi_GOMP_loop_end_nowait() {
  ompt::enter([](Member* member, auto told, const void*) { leave_loop<told>(member); });
}
WEFT_ABI_EXPORT(GOMP_loop_end_nowait);
