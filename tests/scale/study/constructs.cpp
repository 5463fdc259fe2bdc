// SPDX-License-Identifier: Apache-2.0
#include "study/constructs.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <dlfcn.h>
#include <omp.h>

#include "study/textbook_barriers.h"
#include "study/where.h"

namespace weft::scale {

namespace {

// As many repetitions as a runtime needs to settle come first.
constexpr int kWarmUp = 5;

template <class Body>
Outcome repeat(int repetitions, Body&& body, int warm_up = kWarmUp) {
  for (int i = 0; i < warm_up; ++i) body();
  begin_counting();
  Outcome outcome;
  for (int i = 0; i < repetitions; ++i) {
    const Time began = now();
    body();
    outcome.times.push_back(now() - began);
  }
  return outcome;
}

Outcome flat(int threads, int repetitions) {
  return repeat(repetitions, [threads] {
#pragma omp parallel num_threads(threads)
    compute(kNanosecond);
  });
}

// The members have fallen asleep since the last one.
Outcome flat_after_pause(int threads, int repetitions) {
  Outcome outcome;
  for (int i = -1; i < repetitions; ++i) {
    if (i == 0) begin_counting();
    sleep(20 * kMillisecond);
    const Time began = now();
#pragma omp parallel num_threads(threads)
    compute(kNanosecond);
    if (i >= 0) outcome.times.push_back(now() - began);
  }
  return outcome;
}

Outcome first_region(int threads, int) {
  begin_counting();
  const Time began = now();
#pragma omp parallel num_threads(threads)
  compute(kNanosecond);
  return {{now() - began}, {}};
}

// By all members of one region.
template <class Body>
Outcome repeat_inside(int threads, int repetitions, Body&& body) {
  Outcome outcome;
#pragma omp parallel num_threads(threads)
  {
    for (int i = -kWarmUp; i < repetitions; ++i) {
      body();
      if (omp_get_thread_num() != 0) continue;
      if (i == 0) begin_counting();
      outcome.times.push_back(now());
    }
  }
  // Differences, without the warm-up.
  std::vector<Time> times;
  for (size_t i = kWarmUp; i < outcome.times.size(); ++i) times.push_back(outcome.times[i] - outcome.times[i - 1]);
  outcome.times = times;
  return outcome;
}

Outcome barrier(int threads, int repetitions) {
  return repeat_inside(threads, repetitions, [] {
#pragma omp barrier
  });
}

template <class Barrier>
Outcome textbook_barrier(int threads, int repetitions) {
  Barrier barrier(threads);
  return repeat_inside(threads, repetitions, [&barrier] { barrier.wait(omp_get_thread_num()); });
}

Outcome loop(int threads, int repetitions, bool dynamic) {
  constexpr int kChunksPerThread = 64;
  constexpr Time kChunk = 2 * kMicrosecond;
  Outcome outcome = repeat(repetitions, [=] {
    if (dynamic) {
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
      for (int i = 0; i < threads * kChunksPerThread; ++i) compute(kChunk);
    } else {
#pragma omp parallel for num_threads(threads) schedule(static)
      for (int i = 0; i < threads * kChunksPerThread; ++i) compute(kChunk);
    }
  });
  std::vector<Time> times = outcome.times;
  std::nth_element(times.begin(), times.begin() + static_cast<long>(times.size() / 2), times.end());
  outcome.measures.push_back(
      {"efficiency", static_cast<double>(kChunksPerThread * kChunk) / static_cast<double>(times[times.size() / 2])});
  return outcome;
}

Outcome dynamic_loop(int threads, int repetitions) { return loop(threads, repetitions, true); }
Outcome static_loop(int threads, int repetitions) { return loop(threads, repetitions, false); }

Outcome critical(int threads, int repetitions) {
  constexpr int kEach = 4;
  return repeat(repetitions, [threads] {
#pragma omp parallel num_threads(threads)
    for (int i = 0; i < kEach; ++i) {
#pragma omp critical
      compute(200 * kNanosecond);
      compute(kMicrosecond);
    }
  });
}

// What clang's programs call at the end of a construct with a reduction that has no atomic operation. gcc's programs
// combine by themselves, of which nothing can be seen here.
struct Location {
  int32_t reserved = 0;
  int32_t flags = 0x02;  // by a compiler
  int32_t more[2] = {};
  const char* source = ";study;reduction;1;1;;";
};
using CriticalName = int32_t[8];
using Combine = void (*)(void* into, void* from);
using Reduce = int32_t (*)(Location*, int32_t thread, int32_t count, size_t size, void* data, Combine, CriticalName*);
using EndReduce = void (*)(Location*, int32_t thread, CriticalName*);

// Not by name: libgomp, under which these constructs may run for comparison, does not have it.
template <class Function>
Function find(const char* name) {
  void* found = dlsym(RTLD_DEFAULT, name);
  if (found == nullptr) {
    std::fprintf(stderr, "the runtime has no %s\n", name);
    std::exit(1);
  }
  return reinterpret_cast<Function>(found);
}

Outcome reduction(int threads, int repetitions) {
  static Location location;
  static CriticalName name;
  const auto reduce = find<Reduce>("__kmpc_reduce");
  const auto end_reduce = find<EndReduce>("__kmpc_end_reduce");
  const auto combine = [](void* into, void* from) {
    **static_cast<double**>(into) += **static_cast<double**>(from);
    compute(20 * kNanosecond);
  };
  double sum = 0;
  Outcome outcome = repeat_inside(threads, repetitions, [&] {
    double mine = 1;
    void* parts[] = {&mine};
    if (reduce(&location, 0, 1, sizeof parts, static_cast<void*>(parts), combine, &name) == 0) return;
    sum += mine;
    compute(20 * kNanosecond);
    end_reduce(&location, 0, &name);
  });
  if (sum != threads * (repetitions + kWarmUp)) std::abort();
  return outcome;
}

double efficiency(Time work, int threads, const Outcome& outcome) {
  Time sum = 0;
  for (const Time time : outcome.times) sum += time;
  return static_cast<double>(work) * static_cast<double>(outcome.times.size()) / threads / static_cast<double>(sum);
}

// One member makes all tasks.
Outcome tasks(int threads, int repetitions) {
  constexpr Time kTask = 20 * kMicrosecond;
  const int count = 64 * threads;
  Outcome outcome = repeat(repetitions, [=] {
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (int i = 0; i < count; ++i) {
#pragma omp task
      compute(kTask);
    }
  });
  outcome.measures.push_back({"efficiency", efficiency(kTask * count, threads, outcome)});
  return outcome;
}

void grow(int depth) {
  if (depth == 0) {
    compute(5 * kMicrosecond);
    return;
  }
#pragma omp task
  grow(depth - 1);
  grow(depth - 1);
#pragma omp taskwait
}

Outcome task_tree(int threads, int repetitions) {
  int depth = 6;
  while ((1 << depth) < 64 * threads) ++depth;
  Outcome outcome = repeat(repetitions, [=] {
#pragma omp parallel num_threads(threads)
#pragma omp single
    grow(depth);
  });
  outcome.measures.push_back({"efficiency", efficiency((Time{5} << depth) * kMicrosecond, threads, outcome)});
  return outcome;
}

// Eight teams, each of which has a region of its own: where do its members run?
Outcome nested(int threads, int repetitions) {
  constexpr int kOuter = 8;
  const int inner = std::max(1, threads / kOuter);
  omp_set_max_active_levels(2);
  int members = 0;
  int strangers = 0;
  int round = 0;
  Outcome outcome = repeat(repetitions, [&] {
    // Of those that are timed.
    if (round++ == kWarmUp) members = strangers = 0;
#pragma omp parallel num_threads(kOuter)
    {
      for (int i = 0; i < 4; ++i) {
        const int home = current_node();
#pragma omp parallel num_threads(inner)
        {
          compute(20 * kMicrosecond);
          ++members;
          if (current_node() != home) ++strangers;
        }
      }
    }
  });
  outcome.measures.push_back(
      {"members on another node than their primary (share)", static_cast<double>(strangers) / std::max(1, members)});
  return outcome;
}

// Empty regions inside of members of a region. Until there is an identity for each member they cost more.
Outcome nested_empty(int threads, int repetitions) {
  const int outer = std::min(64, threads);
  constexpr int kRegions = 10;
  constexpr int kUntilIdentities = 45;
  omp_set_max_active_levels(2);
  const auto body = [=] {
#pragma omp parallel num_threads(outer)
    for (int i = 0; i < kRegions; ++i) {
#pragma omp parallel num_threads(64)
      compute(kNanosecond);
    }
  };
  Outcome outcome = repeat(repetitions, body, kUntilIdentities);
  std::vector<Time> times = outcome.times;
  std::sort(times.begin(), times.end());
  const double each = static_cast<double>(times[times.size() / 2]) / kRegions / static_cast<double>(kMicrosecond);
  outcome.measures.push_back({"us of a CPU a region", each});
  outcome.measures.push_back({"us a region", each / outer});
  return outcome;
}

}  // namespace

const std::vector<Construct>& constructs() {
  static const std::vector<Construct> all = {
      {"flat", "an empty parallel region", flat},
      {"flat-after-pause", "the same, 20 ms after the last one", flat_after_pause},
      {"first-region", "the first region of a program", first_region},
      {"barrier", "a barrier", barrier},
      {"barrier, central", "a textbook barrier with one counter, by the same threads",
       textbook_barrier<CentralBarrier>},
      {"barrier, tree", "a textbook barrier by trees, by the same threads", textbook_barrier<TreeBarrier>},
      {"dynamic", "a loop of 64 chunks of 2 us a thread, schedule(dynamic, 1)", dynamic_loop},
      {"static", "the same, schedule(static)", static_loop},
      {"critical", "4 critical sections of 0.2 us a thread", critical},
      {"reduction", "one variable of each thread, combined, and a barrier", reduction},
      {"tasks", "64 tasks of 20 us a thread, made by one", tasks},
      {"task-tree", "a tree of at least 64 tasks of 5 us a thread", task_tree},
      {"nested", "8 teams of n / 8 threads, 4 regions each", nested},
      {"nested-empty", "n (up to 64) empty regions of 64 threads at a time, 10 in turn", nested_empty},
  };
  return all;
}

}  // namespace weft::scale
