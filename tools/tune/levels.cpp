// SPDX-License-Identifier: Apache-2.0
#include "levels.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <ctime>
#include <vector>

#include <mpi.h>
#include <sched.h>

#include "place.h"
#include "timing.h"

namespace weft::tune {

namespace {

constexpr int kTag = 46;
constexpr int kSizes[] = {0, 8, 64, 512, 2048, 8192, 32768, 131072, 524288};
constexpr int kMessages = 40;
constexpr int kFlags = 400;
constexpr size_t kCopied = 1 << 20;

struct Pair {
  int a = -1;
  int b = -1;
};

// Half the time of a message and its answer. Both have been written just before, as data of programs has.
double ping(bool first, int other, int bytes, MPI_Comm comm) {
  std::vector<double> times;
  std::vector<char> out(bytes);
  std::vector<char> in(bytes);
  for (int i = 0; i < kMessages; ++i) {
    std::fill(out.begin(), out.end(), static_cast<char>(i));
    MPI_Barrier(comm);
    const double start = now();
    if (first) MPI_Send(out.data(), bytes, MPI_BYTE, other, kTag, comm);
    MPI_Recv(in.data(), bytes, MPI_BYTE, other, kTag, comm, MPI_STATUS_IGNORE);
    if (!first) MPI_Send(out.data(), bytes, MPI_BYTE, other, kTag, comm);
    times.push_back((now() - start) / 2);
  }
  return median(times);
}

struct alignas(64) Flag {
  std::atomic<int> turn;
};

struct Shared {
  // Each is written by one rank, in a cache line of its own.
  Flag flags[2];
  alignas(64) char data[kCopied];
};

// How long it takes until the other rank sees a flag (first), and a byte takes to be copied out of shared memory.
void share(bool first, MPI_Comm two, double& flag, double& copy) {
  MPI_Win window = MPI_WIN_NULL;
  void* memory = nullptr;
  MPI_Win_allocate_shared(first ? sizeof(Shared) : 0, 1, MPI_INFO_NULL, two, &memory, &window);
  MPI_Aint size = 0;
  int unit = 0;
  MPI_Win_shared_query(window, 0, &size, &unit, &memory);
  auto* shared = static_cast<Shared*>(memory);
  const int own = first ? 0 : 1;
  shared->flags[own].turn.store(0);
  MPI_Barrier(two);
  const bool crowded = cpus_of(two) < 2;
  std::vector<double> times;
  for (int i = 1; i <= kFlags; ++i) {
    const double start = now();
    if (first) shared->flags[0].turn.store(i);
    while (shared->flags[1 - own].turn.load() != i) {
      if (crowded) sched_yield();
    }
    if (!first) shared->flags[1].turn.store(i);
    times.push_back((now() - start) / 2);
  }
  flag = median(times);
  std::vector<char> into(kCopied, 1);
  times.clear();
  for (int i = 0; i < kMessages / 2; ++i) {
    if (first) std::memset(shared->data, i, kCopied);
    MPI_Barrier(two);
    if (!first) {
      const double start = now();
      std::memcpy(into.data(), shared->data, kCopied);
      times.push_back((now() - start) / static_cast<double>(kCopied));
    }
    MPI_Barrier(two);
  }
  // The writer's own copy would come out of its cache.
  if (!first) copy = median(times);
  MPI_Bcast(&copy, 1, MPI_DOUBLE, 1, two);
  MPI_Win_free(&window);
}

// The ranks that have nothing to do sleep meanwhile.
void wait_for_all() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    const timespec nap{.tv_sec = 0, .tv_nsec = 1'000'000};
    if (done == 0) nanosleep(&nap, nullptr);
  }
}

}  // namespace

void measure_levels(std::FILE* out) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Location own = own_location();
  std::vector<Location> all(ranks);
  MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, MPI_COMM_WORLD);
  Pair pairs[kLevels];
  long count[kLevels] = {};
  for (int a = 0; a < ranks; ++a) {
    for (int b = a + 1; b < ranks; ++b) {
      const auto level = static_cast<int>(level_between(all[a], all[b]));
      if (count[level]++ == 0) pairs[level] = {a, b};
    }
  }
  for (int level = 0; level < kLevels; ++level) {
    if (count[level] == 0) continue;
    const Pair pair = pairs[level];
    const bool first = rank == pair.a;
    const bool takes_part = first || rank == pair.b;
    MPI_Comm two = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, takes_part ? 0 : MPI_UNDEFINED, rank, &two);
    constexpr int kPoints = std::size(kSizes);
    double found[kPoints + 2] = {};
    if (takes_part) {
      for (int i = 0; i < kPoints; ++i) found[i] = ping(first, first ? 1 : 0, kSizes[i], two);
      if (static_cast<Level>(level) != Level::kHosts) share(first, two, found[kPoints], found[kPoints + 1]);
      MPI_Comm_free(&two);
    }
    wait_for_all();
    MPI_Bcast(found, kPoints + 2, MPI_DOUBLE, pair.a, MPI_COMM_WORLD);
    if (rank != 0) continue;
    std::fprintf(out, R"({"level":"%s","pairs":%ld,"flag":%.1f,"copy":%.5f,"points":[)",
                 name_of(static_cast<Level>(level)), count[level], found[kPoints], found[kPoints + 1]);
    for (int i = 0; i < kPoints; ++i) std::fprintf(out, "%s[%d,%.1f]", i > 0 ? "," : "", kSizes[i], found[i]);
    std::fprintf(out, "]}\n");
    std::fflush(out);
  }
}

}  // namespace weft::tune
