// SPDX-License-Identifier: Apache-2.0
// How long the operations of src/coll take, without any MPI: coll_core [OPTION VALUE]...
//   --ranks N            2
//   --operation NAME     all of them
//   --bytes N[,N...]     of a rank's vector, or of one block
//   --batches N          15
//   --fragment N, --queue N, --single-copy 0|1   see Settings
// Each batch is a loop over the operation; its time is that of the slowest rank. Ranks are bound to CPUs, one each,
// where there are enough. One JSON object per line.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <sched.h>

#include "coll/coll.h"
#include "common/processes.h"
#include "platform/cycles.h"

namespace {

namespace coll = weft::coll;

constexpr const char* kNames[] = {"barrier", "bcast", "reduce", "allreduce", "allgather", "alltoall"};
constexpr int kMostRanks = 256;
constexpr int kMostBatches = 1000;
constexpr size_t kMostSaid = 256;

struct Options {
  int ranks = 2;
  std::string operation;
  std::vector<size_t> bytes = {8, 64, 512, 4096, 16384, 65536, 262144, 1048576, 4194304};
  int batches = 15;
  coll::Settings settings;
};

// What the processes share beside the groups.
struct Shared {
  std::atomic<int> arrived;
  std::atomic<int> round;
  char said[kMostRanks * kMostSaid];
  double ns[kMostRanks][kMostBatches];
};

struct Place {
  Shared* shared;
  int rank, ranks;

  void wait_for_all() const {
    const int round = shared->round;
    if (++shared->arrived == ranks) {
      shared->arrived = 0;
      ++shared->round;
    }
    while (shared->round == round) sched_yield();
  }

  static bool allgather(void* context, const void* mine, void* all, size_t bytes) {
    const auto& place = *static_cast<Place*>(context);
    if (bytes > kMostSaid) return false;
    std::memcpy(place.shared->said + static_cast<size_t>(place.rank) * bytes, mine, bytes);
    place.wait_for_all();
    std::memcpy(all, place.shared->said, bytes * static_cast<size_t>(place.ranks));
    place.wait_for_all();
    return true;
  }
};

void add(void*, const void* in, void* inout, size_t count) {
  const auto* from = static_cast<const double*>(in);
  auto* to = static_cast<double*>(inout);
  for (size_t i = 0; i < count; ++i) to[i] += from[i];
}

void perform(coll::Group& group, coll::Operation operation, char* in, char* out, size_t bytes) {
  const coll::Reduction sum{add, nullptr, sizeof(double)};
  switch (operation) {
    case coll::Operation::barrier: return coll::barrier(group);
    case coll::Operation::bcast: return coll::bcast(group, in, bytes, 0);
    case coll::Operation::reduce: return coll::reduce(group, in, out, bytes / sizeof(double), sum, 0);
    case coll::Operation::allreduce: return coll::allreduce(group, in, out, bytes / sizeof(double), sum);
    case coll::Operation::allgather: return coll::allgather(group, in, out, bytes);
    case coll::Operation::alltoall: return coll::alltoall(group, in, out, bytes);
  }
}

// Some milliseconds, by what a slow machine needs.
int operations_per_batch(size_t bytes, int ranks, bool crowded) {
  const double ns = (crowded ? 3000.0 * ranks : 300.0) + 0.3 * static_cast<double>(bytes) * ranks;
  return std::clamp(static_cast<int>(4e6 / ns), 4, 10'000);
}

void measure(Place& place, const Options& options) {
  const bool crowded = options.ranks > bench::cpus();
  if (!crowded) bench::bind_to(place.rank);
  coll::Group* group = nullptr;
  std::vector<double> creations;
  for (int creation = 0; creation < std::max(options.batches, 2); ++creation) {
    coll::destroy(group);
    const char* why = nullptr;
    place.wait_for_all();
    const int64_t begin = weft::platform::now_ns();
    const coll::Bootstrap bootstrap{place.rank, place.ranks, Place::allgather, &place};
    group = coll::create(bootstrap, options.settings, &why);
    creations.push_back(static_cast<double>(weft::platform::now_ns() - begin) / 1e3);
    if (group == nullptr) {
      std::fprintf(stderr, "no group: %s\n", why);
      std::exit(1);
    }
  }
  if (place.rank == 0) {
    const coll::Facts facts = coll::facts(*group);
    std::printf(
        "{\"notify_ns\":%.0f,\"copy_ns_per_byte\":%.3f,\"fragment\":%zu,\"fragments\":%d,\"single_copy\":%s,"
        "\"first_creation\":%.1f,",
        facts.notify_ns, facts.copy_ns_per_byte, facts.fragment_bytes, facts.fragments,
        facts.single_copy ? "true" : "false", creations.front());
    bench::print_samples("", "creation", "us", creations);
    std::printf("}\n");
  }
  const size_t most = *std::max_element(options.bytes.begin(), options.bytes.end()) * static_cast<size_t>(place.ranks);
  std::vector<char> in(most, 0), out(most, 0);
  for (int number = 0; number < coll::kOperations; ++number) {
    if (!options.operation.empty() && options.operation != kNames[number]) continue;
    const auto operation = static_cast<coll::Operation>(number);
    for (const size_t bytes : options.bytes) {
      const int count = operations_per_batch(bytes, place.ranks, crowded);
      for (int batch = -1; batch < options.batches; ++batch) {
        place.wait_for_all();
        coll::barrier(*group);
        const int64_t start = weft::platform::now_ns();
        for (int i = 0; i < count; ++i) perform(*group, operation, in.data(), out.data(), bytes);
        const auto ns = static_cast<double>(weft::platform::now_ns() - start);
        // The first one only warms up.
        if (batch >= 0) place.shared->ns[place.rank][batch] = ns / count;
      }
      place.wait_for_all();
      if (place.rank == 0) {
        std::vector<double> us;
        for (int batch = 0; batch < options.batches; ++batch) {
          double slowest = 0;
          for (int rank = 0; rank < place.ranks; ++rank) slowest = std::max(slowest, place.shared->ns[rank][batch]);
          us.push_back(slowest / 1e3);
        }
        std::printf("{\"operation\":\"%s\",\"ranks\":%d,\"bytes\":%zu,", kNames[number], place.ranks, bytes);
        bench::print_samples("", "time", "us", us);
        std::printf(",\"median\":%.3f,\"least\":%.3f}\n", bench::quantile(us, 0.5), bench::quantile(us, 0));
      }
      if (operation == coll::Operation::barrier) break;
    }
  }
  coll::destroy(group);
}

std::vector<size_t> parse_sizes(const char* text) {
  std::vector<size_t> sizes;
  for (char* end = nullptr;; text = end + 1) {
    sizes.push_back(std::strtoul(text, &end, 10));
    if (*end != ',') return sizes;
  }
}

bool set(Options& options, const char* name, const char* value) {
  if (std::strcmp(name, "--ranks") == 0)
    options.ranks = std::clamp(std::atoi(value), 2, kMostRanks);
  else if (std::strcmp(name, "--operation") == 0)
    options.operation = value;
  else if (std::strcmp(name, "--bytes") == 0)
    options.bytes = parse_sizes(value);
  else if (std::strcmp(name, "--batches") == 0)
    options.batches = std::clamp(std::atoi(value), 1, kMostBatches);
  else if (std::strcmp(name, "--fragment") == 0)
    options.settings.fragment_bytes = std::strtoul(value, nullptr, 10);
  else if (std::strcmp(name, "--queue") == 0)
    options.settings.queue_bytes = std::strtoul(value, nullptr, 10);
  else if (std::strcmp(name, "--single-copy") == 0)
    options.settings.single_copy = std::atoi(value) != 0;
  else
    return false;
  return true;
}

}  // namespace

int main(int argument_count, char** arguments) {
  Options options;
  for (int i = 1; i < argument_count; i += 2) {
    if (i + 1 < argument_count && set(options, arguments[i], arguments[i + 1])) continue;
    std::fprintf(stderr, "coll_core: what is %s? The head of bench/coll/core.cpp says how it is called.\n",
                 arguments[i]);
    return 2;
  }
  const bench::SharedMemory memory(sizeof(Shared));
  std::vector<pid_t> processes;
  for (int rank = 0; rank < options.ranks; ++rank) {
    processes.push_back(bench::start_process([&, rank] {
      Place place{static_cast<Shared*>(memory.map()), rank, options.ranks};
      measure(place, options);
    }));
  }
  bench::finish_processes(processes);
}
