// SPDX-License-Identifier: Apache-2.0
// What it costs to divide the slots of a large machine among many processes:
//
//     node_divide calc PROCESSES CPUS            nanoseconds for one calculation, and for what is done when processes
//                                                come or go, for each of three kinds of demand
//     node_divide node PROCESSES CPUS SECONDS MISSING CHANGE_MS
//
// `node` starts processes that each do what a monitor does: a tick every 5 ms, and a look whenever somebody rings. All
// want MISSING slots; with CHANGE_MS another number, from 0 to twice that, each time that many milliseconds have
// passed. Nobody computes, and the CPUs are numbers, so that a small machine carries many processes. Reported is the
// CPU time, per second and in all processes, of everything that they do in the node.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/processes.h"
#include "node/division.h"
#include "node/process.h"
#include "platform/cycles.h"

namespace {

using namespace weft;

constexpr int64_t kTickNs = 5'000'000;
constexpr int64_t kPatienceNs = 4'000'000;

platform::CpuSet first_cpus(int count) {
  platform::CpuSet set;
  for (int i = 0; i < count; ++i) set.add(i);
  return set;
}

template <class Body>
double median_ns(Body&& body) {
  constexpr int kRounds = 200;
  std::vector<double> times;
  for (int i = 0; i < kRounds; ++i) {
    const int64_t begin = platform::now_ns();
    body(i);
    times.push_back(static_cast<double>(platform::now_ns() - begin));
  }
  return bench::quantile(times, 0.5);
}

void calculate(const char* name, int processes, int cpus, int wanted, bool own_cpus) {
  const auto division = std::make_unique<node::Division>();
  std::vector<node::Demand> demands(static_cast<size_t>(processes));
  std::vector<platform::CpuSet> masks(static_cast<size_t>(processes), first_cpus(cpus));
  for (int i = 0; i < processes; ++i) {
    demands[static_cast<size_t>(i)] = {.weight = 100 + i % 3, .wanted = wanted, .missing = true};
    if (!own_cpus) continue;
    masks[static_cast<size_t>(i)] = {};
    for (int k = 0; k < 4; ++k) masks[static_cast<size_t>(i)].add((i * 2 + k) % cpus);
  }
  const double others = median_ns([&](int) {
    division->set_processes(processes, [&](int k) -> const platform::CpuSet& { return masks[static_cast<size_t>(k)]; });
  });
  const double divide = median_ns([&](int i) { division->divide(demands.data(), static_cast<uint32_t>(i) * 40503); });
  std::printf("\"%s\":{\"divide_ns\":%.0f,\"set_processes_ns\":%.0f}", name, divide, others);
}

struct Shared {
  std::atomic<int> ready{0};
  std::atomic<bool> begun{false};
  std::atomic<bool> stop{false};
  std::atomic<int64_t> node_ns{0};
  std::atomic<int64_t> all_ns{0};
  std::atomic<uint64_t> ticks{0};
  std::atomic<uint64_t> looks{0};
  std::atomic<int> held{0};
};

// As core/budget/node_budget.cpp has it, without carriers.
class Monitor {
 public:
  Monitor(node::Process& process, int missing, int change_ms)
      : process_(process), middle_(missing), wants_(missing), change_ns_(int64_t{change_ms} * 1'000'000) {}

  void run(Shared& shared) {
    int64_t next_tick = platform::now_ns() + static_cast<int64_t>(random_() % kTickNs);
    int64_t next_change = next_tick + change_ns_;
    int64_t used_at_begin = -1;
    while (!shared.stop.load(std::memory_order_relaxed)) {
      const int64_t now = platform::now_ns();
      if (used_at_begin < 0 && shared.begun.load(std::memory_order_relaxed)) {
        used_at_begin = platform::clock_ns(CLOCK_THREAD_CPUTIME_ID);
        node_ns_ = 0;
        ticks_ = looks_ = 0;
      }
      if (now < next_tick) {
        if (process_.wait(std::min(next_tick - now, kTickNs))) ++looks_, timed([&] { serve(false); });
        continue;
      }
      next_tick = std::max(next_tick + kTickNs, now);
      if (change_ns_ > 0 && now >= next_change) {
        next_change = now + change_ns_;
        wants_ = static_cast<int>(random_() % static_cast<unsigned>(2 * middle_ + 1));
      }
      ++ticks_;
      timed([&] {
        tick();
        serve(starving_since_ != 0 && now - starving_since_ >= kPatienceNs);
      });
    }
    shared.all_ns += platform::clock_ns(CLOCK_THREAD_CPUTIME_ID) - std::max<int64_t>(used_at_begin, 0);
    shared.node_ns += node_ns_;
    shared.ticks += ticks_;
    shared.looks += looks_;
    shared.held += process_.held();
    while (!slots_.empty()) give();
  }

 private:
  // CPU time, since the machine is busy and the thread may be interrupted.
  template <class Body>
  void timed(Body&& body) {
    const int64_t begin = platform::clock_ns(CLOCK_THREAD_CPUTIME_ID);
    body();
    node_ns_ += platform::clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
  }

  void tick() {
    process_.has_neighbours();
    for (size_t i = 0; i < slots_.size();) {
      if (process_.owns(slots_[i])) {
        ++i;
        continue;
      }
      process_.give(slots_[i]);
      slots_[i] = slots_.back();
      slots_.pop_back();
    }
    process_.tick();
    node::Check check{};
    if (process_.missing() > 0 && process_.search_is_due(check)) process_.remove_dead(check);
  }

  void serve(bool may_take_away) {
    while (!slots_.empty() && (process_.over() || process_.held() > wants_)) give();
    int missing = std::max(0, wants_ - process_.held());
    process_.want(missing);
    while (missing > 0) {
      int slot = process_.take();
      if (slot < 0 && may_take_away) slot = process_.take_away();
      if (slot < 0) break;
      slots_.push_back(slot);
      --missing;
    }
    if (missing != process_.missing()) process_.want(missing);
    if (missing == 0 || process_.held() >= process_.due()) {
      starving_since_ = 0;
    } else if (starving_since_ == 0) {
      starving_since_ = platform::now_ns();
    }
  }

  void give() {
    process_.give(slots_.back());
    slots_.pop_back();
  }

  node::Process& process_;
  const int middle_;
  int wants_;
  const int64_t change_ns_;
  std::vector<int> slots_;
  int64_t starving_since_ = 0;
  int64_t node_ns_ = 0;
  uint64_t ticks_ = 0;
  uint64_t looks_ = 0;
  std::minstd_rand random_{static_cast<unsigned>(getpid())};
};

int be_one_of_many(const char* path, Shared& shared, int cpus, int missing, int change_ms) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  node::Reason reason;
  node::Process* process = node::Process::join(path, {.most = cpus, .cpus = first_cpus(cpus)}, reason);
  if (process == nullptr) {
    std::fprintf(stderr, "node_divide: %s\n", reason.text);
    return 1;
  }
  ++shared.ready;
  Monitor(*process, missing, change_ms).run(shared);
  process->leave();
  return 0;
}

int run_node(int processes, int cpus, double seconds, int missing, int change_ms) {
  const std::string path = "/dev/shm/weft-divide-" + std::to_string(getpid());
  void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  auto& shared = *new (memory) Shared;
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(be_one_of_many(path.c_str(), shared, cpus, missing, change_ms));
    children.push_back(child);
  }
  while (shared.ready < processes) usleep(10'000);
  usleep(500'000);
  const int64_t begin = platform::now_ns();
  shared.begun = true;
  usleep(static_cast<useconds_t>(seconds * 1e6));
  shared.stop = true;
  const double took = static_cast<double>(platform::now_ns() - begin) / 1e9;
  int failed = 0;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    failed += status != 0 ? 1 : 0;
  }
  unlink(path.c_str());
  const double cpu = static_cast<double>(shared.node_ns) / 1e9 / took;
  std::printf(
      "{\"processes\":%d,\"cpus\":%d,\"node_cpus\":%.4f,\"share_percent\":%.4f,\"monitor_cpus\":%.4f,"
      "\"ticks_per_s\":%.0f,\"looks_per_s\":%.0f,\"held\":%d}\n",
      processes, cpus, cpu, 100 * cpu / cpus, static_cast<double>(shared.all_ns) / 1e9 / took,
      static_cast<double>(shared.ticks) / took, static_cast<double>(shared.looks) / took, shared.held.load());
  return failed;
}

}  // namespace

int main(int count, char** arguments) {
  const auto number = [&](int i, double otherwise) { return count > i ? std::atof(arguments[i]) : otherwise; };
  const std::string what = count > 1 ? arguments[1] : "";
  const int processes = static_cast<int>(number(2, 256));
  const int cpus = static_cast<int>(number(3, 192));
  if (processes < 1 || processes > node::kMostProcesses || cpus < 1 || cpus > platform::CpuSet::kMost) return 2;
  if (what == "calc") {
    std::printf("{\"processes\":%d,\"cpus\":%d,", processes, cpus);
    calculate("all_want_all", processes, cpus, cpus, false);
    std::printf(",");
    calculate("one_each", processes, cpus, 1, false);
    std::printf(",");
    calculate("own_cpus", processes, cpus, 4, true);
    std::printf("}\n");
    return 0;
  }
  if (what == "node") {
    return run_node(processes, cpus, number(4, 5), static_cast<int>(number(5, 4)), static_cast<int>(number(6, 0)));
  }
  std::fprintf(stderr, "node_divide calc|node PROCESSES CPUS [SECONDS MISSING CHANGE_MS]\n");
  return 2;
}
