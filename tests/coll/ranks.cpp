// SPDX-License-Identifier: Apache-2.0
#include "ranks.h"

#include <cstdio>
#include <cstring>
#include <thread>

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coll/group/create.h"
#include "platform/process.h"

namespace test {

namespace {

constexpr unsigned kMostSeconds = 100;

void* shared_memory(size_t bytes) {
  void* found = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (found == MAP_FAILED) std::abort();
  return found;
}

}  // namespace

Meeting::Meeting(int ranks) : ranks_(ranks), shared_(static_cast<Shared*>(shared_memory(sizeof(Shared)))) {}

Meeting::~Meeting() { munmap(shared_, sizeof(Shared)); }

void Meeting::wait_for_all() {
  const int round = shared_->round;
  if (++shared_->arrived == ranks_) {
    shared_->arrived = 0;
    ++shared_->round;
  }
  while (shared_->round == round) sched_yield();
}

void Meeting::allgather(int rank, const void* mine, void* all, size_t bytes) {
  if (bytes > kMostSaid) std::abort();
  std::memcpy(shared_->said + static_cast<size_t>(rank) * bytes, mine, bytes);
  wait_for_all();
  std::memcpy(all, shared_->said, bytes * static_cast<size_t>(ranks_));
  wait_for_all();
}

weft::coll::Bootstrap Place::bootstrap() {
  return {.rank = rank,
          .size = meeting->ranks(),
          .allgather =
              [](void* context, const void* mine, void* all, size_t bytes) {
                auto* place = static_cast<Place*>(context);
                if (place->meeting->is_broken()) return false;
                place->meeting->allgather(place->rank, mine, all, bytes);
                if (place->after_round != nullptr) place->after_round(++place->rounds);
                return true;
              },
          .context = this};
}

std::vector<int> run_processes(int ranks, const Body& body) {
  Meeting meeting(ranks);
  std::vector<pid_t> processes;
  std::fflush(nullptr);
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      alarm(kMostSeconds);
      Place place{.meeting = &meeting, .rank = rank};
      const int status = body(place);
      std::fflush(nullptr);
      _exit(status);
    }
    processes.push_back(child);
  }
  std::vector<int> statuses;
  for (const pid_t process : processes) {
    int status = 0;
    waitpid(process, &status, 0);
    statuses.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  }
  return statuses;
}

namespace {

// Made up: two nodes with two caches each, and neighbours by number are never neighbours on the machine.
weft::coll::Location location_of(int rank) { return {.node = rank % 2, .cache = rank % 4}; }

}  // namespace

void run_threads(int ranks, const weft::coll::Settings& settings,
                 const std::function<void(weft::coll::Group&, int rank)>& body) {
  const size_t area = weft::coll::area_bytes(settings, ranks);
  char* memory = static_cast<char*>(shared_memory(area * static_cast<size_t>(ranks)));
  for (int rank = 0; rank < ranks; ++rank) {
    weft::coll::begin_area(memory + static_cast<size_t>(rank) * area, weft::platform::ProcessId{.pid = getpid()},
                           location_of(rank));
  }
  std::vector<weft::coll::Group*> groups;
  for (int rank = 0; rank < ranks; ++rank) {
    groups.push_back(weft::coll::assemble(memory, rank, ranks, settings));
  }
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] { body(*groups[static_cast<size_t>(rank)], rank); });
  }
  for (std::thread& thread : threads) thread.join();
  // The memory is one mapping: the first group that is destroyed takes it along.
  for (size_t i = 1; i < groups.size(); ++i) weft::coll::release(groups[i]);
  weft::coll::destroy(groups[0]);
}

}  // namespace test
