// SPDX-License-Identifier: Apache-2.0
// oneTBB beside OpenMP: programs.cpp CPUS WHAT. Fails by a message and exit code 1. CPUS are those that weft believes
// in; the machine may have fewer, since what is counted is threads inside of loop bodies, running or not.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;

int g_cpus;

void check(bool good, const char* what, double number) {
  if (good) return;
  std::printf("%s: %g\n", what, number);
  std::fflush(stdout);
  std::_Exit(1);
}

// Threads inside of bodies.
struct Crowd {
  std::atomic<int> now{0};
  std::atomic<int> most{0};
  void enter() {
    const int inside = ++now;
    int before = most;
    while (inside > before && !most.compare_exchange_weak(before, inside)) {
    }
  }
  void leave() { --now; }
};
Crowd g_tbb;
Crowd g_openmp;

std::atomic<long> g_done{0};

void work(Crowd& crowd, int us) {
  crowd.enter();
  const auto end = Clock::now() + microseconds(us);
  while (Clock::now() < end) {
  }
  crowd.leave();
  ++g_done;
}

void tbb_loop(int count, int us) {
  tbb::parallel_for(0, count, [us](int) { work(g_tbb, us); }, tbb::simple_partitioner());
}

void openmp_loop(int count, int us) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(g_cpus)
  for (int i = 0; i < count; ++i) work(g_openmp, us);
}

void check_done(long expected) { check(g_done == expected, "iterations", static_cast<double>(g_done)); }

// The mean number of threads inside while `program` runs, but for its first tenth of a second.
double mean_while(const std::function<void()>& program) {
  std::atomic<bool> stop{false};
  long sum = 0;
  long looks = 0;
  std::thread watch([&] {
    std::this_thread::sleep_for(milliseconds(100));
    while (!stop) {
      std::this_thread::sleep_for(milliseconds(1));
      sum += g_tbb.now + g_openmp.now;
      ++looks;
    }
  });
  program();
  stop = true;
  watch.join();
  return looks > 0 ? static_cast<double>(sum) / static_cast<double>(looks) : 0;
}

// Both libraries without weft would have as many threads each as there are CPUs.
void check_mean(const std::function<void()>& program) {
  const double mean = mean_while(program);
  check(mean < g_cpus * 1.4, "mean number of threads", mean);
}

template <class Loop>
void repeat_for(milliseconds time, Loop loop) {
  const auto end = Clock::now() + time;
  while (Clock::now() < end) loop();
}

// ---- the programs ----

void alone() {
  for (int i = 0; i < 3; ++i) tbb_loop(200, 200);
  check_done(600);
  check(g_tbb.most <= g_cpus, "threads", g_tbb.most);
  check(g_tbb.most > 1, "threads", g_tbb.most);
}

void explicit_concurrency() {
  tbb::task_arena small(2);
  small.execute([] { tbb_loop(100, 200); });
  check(g_tbb.most <= 2, "threads of an arena for two", g_tbb.most);
  // A thread of the program and one of an arena that has none of its own.
  tbb::task_arena single(1, 0);
  std::promise<int> answer;
  single.enqueue([&] { answer.set_value(42); });
  check(answer.get_future().get() == 42, "answer", 0);
  check_done(100);
}

void nested_arenas() {
  tbb::task_arena inner(g_cpus);
  tbb::task_arena outer(g_cpus);
  outer.execute([&] { tbb::parallel_for(0, 8, [&](int) { inner.execute([] { tbb_loop(20, 100); }); }); });
  check_done(160);
  check(g_tbb.most <= 2 * g_cpus, "threads", g_tbb.most);
}

void several_arenas() {
  check_mean([] {
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([] { repeat_for(milliseconds(500), [] { tbb_loop(100, 200); }); });
    }
    for (std::thread& thread : threads) thread.join();
  });
}

void side_by_side() {
  std::atomic<long> regions{0};
  std::atomic<long> loops{0};
  check_mean([&] {
    std::thread openmp([&] { repeat_for(milliseconds(800), [&] { openmp_loop(100, 500), ++regions; }); });
    std::thread tbb([&] { repeat_for(milliseconds(800), [&] { tbb_loop(100, 500), ++loops; }); });
    openmp.join();
    tbb.join();
  });
  check(regions > 0 && loops > 0, "regions", static_cast<double>(regions));
}

// Each has all CPUs while the other has nothing to do.
void in_turns() {
  const auto end = Clock::now() + std::chrono::seconds(30);
  while (Clock::now() < end && (g_openmp.most < g_cpus || g_tbb.most < g_cpus)) {
    openmp_loop(200, 200);
    tbb_loop(200, 200);
  }
  check(g_openmp.most == g_cpus, "members at once", g_openmp.most);
  check(g_tbb.most == g_cpus, "threads of oneTBB at once", g_tbb.most);
}

void tbb_in_openmp() {
  check_mean([] {
    repeat_for(milliseconds(500), [] {
#pragma omp parallel num_threads(g_cpus)
      tbb_loop(50, 200);
    });
  });
}

void openmp_in_tbb() {
  check_mean([] {
    repeat_for(milliseconds(500), [] {
      tbb::parallel_for(0, g_cpus, [](int) { openmp_loop(50, 200); }, tbb::simple_partitioner());
    });
  });
}

// Members wait for a task of oneTBB without leaving their CPUs.
void enqueued_while_members_spin() {
  for (int i = 0; i < 20; ++i) {
    std::atomic<bool> done{false};
    tbb::task_arena arena(g_cpus);
#pragma omp parallel num_threads(g_cpus)
    {
#pragma omp single nowait
      arena.enqueue([&] { done = true; });
      while (!done) {
      }
    }
  }
}

void reduction() {
  for (int i = 0; i < 50; ++i) {
    long inner = 0;
#pragma omp parallel for reduction(+ : inner)
    for (int k = 0; k < 100; ++k) {
      inner += tbb::parallel_reduce(
          tbb::blocked_range<long>(0, 1000), 0L,
          [](const tbb::blocked_range<long>& range, long sum) {
            for (long number = range.begin(); number < range.end(); ++number) sum += number;
            return sum;
          },
          std::plus<>());
    }
    check(inner == 100L * 499500, "sum", static_cast<double>(inner));
  }
}

void forks() {
  const auto both = [] {
    g_done = 0;
    tbb_loop(50, 100);
    openmp_loop(50, 100);
    tbb_loop(50, 100);
    check_done(150);
  };
  both();
  for (int i = 0; i < 5; ++i) {
    // oneTBB's own locks are as they are when the process is copied: its threads are to be asleep.
    std::this_thread::sleep_for(milliseconds(50));
    const pid_t child = fork();
    if (child == 0) {
      both();
      std::_Exit(7);
    }
    int status = 0;
    waitpid(child, &status, 0);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 7, "status of the child", status);
    both();
  }
}

// While another thread is at it.
void forks_beside() {
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) tbb_loop(20, 50), openmp_loop(20, 50);
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      openmp_loop(20, 50);
      std::_Exit(7);
    }
    int status = 0;
    waitpid(child, &status, 0);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 7, "status of the child", status);
  }
  stop = true;
  other.join();
}

void many_threads() {
  std::atomic<long> expected{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      tbb::task_arena own(1 + i % (g_cpus + 2));
      for (int round = 0; round < 40; ++round) {
        switch ((round + i) % 4) {
          case 0: tbb_loop(20, 20); break;
          case 1: openmp_loop(20, 20); break;
          case 2: own.execute([] { tbb_loop(20, 20); }); break;
          default: {
            tbb::task_group group;
            for (int k = 0; k < 20; ++k) group.run([] { openmp_loop(1, 20); });
            group.wait();
          }
        }
        expected += 20;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  check_done(expected);
}

// The library that oneTBB has found, and whether the runtime came with it.
void libraries() {
  tbb_loop(1, 1);
  std::ifstream maps("/proc/self/maps");
  std::map<std::string, int> seen;
  for (std::string line; std::getline(maps, line);) {
    const size_t at = line.find('/');
    if (at != std::string::npos) ++seen[line.substr(at)];
  }
  for (const auto& [path, count] : seen) {
    for (const char* part : {"libtcm", "libgomp"}) {
      if (path.find(part) != std::string::npos) std::printf("%s\n", path.c_str());
    }
  }
}

}  // namespace

int main(int, char** arguments) {
  const std::map<std::string, void (*)()> programs{{"alone", alone},
                                                   {"explicit_concurrency", explicit_concurrency},
                                                   {"nested_arenas", nested_arenas},
                                                   {"several_arenas", several_arenas},
                                                   {"side_by_side", side_by_side},
                                                   {"in_turns", in_turns},
                                                   {"tbb_in_openmp", tbb_in_openmp},
                                                   {"openmp_in_tbb", openmp_in_tbb},
                                                   {"enqueued_while_members_spin", enqueued_while_members_spin},
                                                   {"reduction", reduction},
                                                   {"forks", forks},
                                                   {"forks_beside", forks_beside},
                                                   {"many_threads", many_threads},
                                                   {"libraries", libraries}};
  g_cpus = std::atoi(arguments[1]);
  // oneTBB goes by the CPUs of the machine otherwise.
  const tbb::global_control allow(tbb::global_control::max_allowed_parallelism, static_cast<size_t>(2 * g_cpus));
  tbb::task_arena(2 * g_cpus).execute(programs.at(arguments[2]));
}
