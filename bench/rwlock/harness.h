// SPDX-License-Identifier: Apache-2.0
// One algorithm, measured by processes: readers and one writer. An algorithm is a class with size(readers),
// make(segment, readers), a Reader(segment, index, readers) with read(body), and a Writer(segment, readers) with lock()
// and unlock(). It is a parameter of the compiler: a call by pointer would cost more than some of the locks.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <numeric>
#include <vector>

#include <sched.h>

#include "common/processes.h"
#include "platform/cycles.h"
#include "rwlock/wait.h"

namespace bench {

struct Plan {
  int readers = 2;
  int milliseconds = 200;
  int writes_per_second = 0;  // 0: one behind the other
  bool bound = true;
};

class Harness {
 public:
  explicit Harness(const Plan& plan) : plan_(plan) {}

  // Readers look under the lock whether a writer is within its two stores. Exits when one has seen that.
  template <typename Lock>
  void verify();
  // Readers read without a pause, one writer writes.
  template <typename Lock>
  void with_writer();
  // Readers alone.
  template <typename Lock>
  void without_writer();

 private:
  static constexpr int kMostReaders = 256;
  static constexpr int kChunks = 32;
  static constexpr int kReadsOfChunk = 5000;

  struct alignas(64) Reader {
    int64_t reads;
    int64_t wrong;
    Usage used;
    double chunks[kChunks];  // nanoseconds of one read
  };
  struct Shared {
    Gate gate;
    std::atomic<int> satisfied;  // readers that have verified enough
    alignas(64) std::atomic<int64_t> first;
    std::atomic<int64_t> second;
    alignas(64) int64_t writes;
    double mean, median, p99, most;  // nanoseconds until the writer has the lock
    Usage writer_used;
    Reader readers[kMostReaders];
  };

  template <typename Lock>
  SharedMemory segment() const {
    SharedMemory made(Lock::size(plan_.readers));
    Lock::make(made.map(), plan_.readers);
    return made;
  }
  void meet(Shared* shared, int number) const {
    if (plan_.bound) bind_to(number);
    shared->gate.ready.fetch_add(1);
    for (Spin spin; shared->gate.go.load() == 0;) spin.once();
  }
  void print_usage(const Shared* shared) const;

  Plan plan_;
};

template <typename Lock>
void Harness::verify() {
  constexpr int64_t kReads = 400;
  constexpr int64_t kWrites = 400;
  constexpr int64_t kMostNs = 3'000'000'000;
  const SharedMemory shared_memory(sizeof(Shared));
  auto* shared = new (shared_memory.map()) Shared{};
  const SharedMemory lock_memory = segment<Lock>();
  std::vector<pid_t> processes;
  for (int i = 0; i < plan_.readers; ++i) {
    processes.push_back(start_process([&, i] {
      typename Lock::Reader reader(lock_memory.map(), i, plan_.readers);
      meet(shared, i);
      int64_t wrong = 0;
      int64_t reads = 0;
      int64_t looks = 0;  // some locks have a reader look again
      for (; shared->gate.stop.load() == 0; ++reads) {
        int64_t first = 0;
        int64_t second = 0;
        // Relaxed: the lock orders them, or does not.
        reader.read([&] {
          first = shared->first.load(std::memory_order_relaxed);
          if (++looks % 16 == 0) sched_yield();
          second = shared->second.load(std::memory_order_relaxed);
        });
        wrong += first != second;
        if (reads == kReads) shared->satisfied.fetch_add(1);
        // Locks that prefer readers would let no writer in.
        if (reads % 4 == 0) sched_yield();
      }
      shared->readers[i].reads = reads;
      shared->readers[i].wrong = wrong;
    }));
  }
  processes.push_back(start_process([&] {
    typename Lock::Writer writer(lock_memory.map(), plan_.readers);
    meet(shared, plan_.readers);
    const int64_t end = weft::platform::now_ns() + kMostNs;
    int64_t writes = 0;
    while ((writes < kWrites || shared->satisfied.load() < plan_.readers) && weft::platform::now_ns() < end) {
      ++writes;
      writer.lock();
      shared->first.store(writes, std::memory_order_relaxed);
      if (writes % 4 == 0)
        sched_yield();
      else
        for (int i = 0; i < 16; ++i) weft::platform::pause();
      shared->second.store(writes, std::memory_order_relaxed);
      writer.unlock();
      sched_yield();
    }
    shared->writes = writes;
    shared->gate.stop.store(1);
  }));
  while (shared->gate.ready.load() < plan_.readers + 1) sleep_until(weft::platform::now_ns() + 200'000);
  shared->gate.go.store(1);
  // A writer that is never let in does not look at the clock.
  const int64_t end = weft::platform::now_ns() + kMostNs;
  while (shared->gate.stop.load() == 0 && weft::platform::now_ns() < end)
    sleep_until(weft::platform::now_ns() + 1'000'000);
  shared->gate.stop.store(1);
  finish_processes(processes);
  int64_t reads = 0;
  int64_t wrong = 0;
  for (int i = 0; i < plan_.readers; ++i) {
    reads += shared->readers[i].reads;
    wrong += shared->readers[i].wrong;
  }
  std::printf("\"verified_reads\":%ld,\"verified_writes\":%ld", reads, shared->writes);
  if (wrong == 0 && reads > 0 && shared->writes > 0) return;
  std::fprintf(stderr, "the lock does not exclude: %ld of %ld reads saw a half of one of %ld writes\n", wrong, reads,
               shared->writes);
  std::exit(1);
}

template <typename Lock>
void Harness::with_writer() {
  const SharedMemory shared_memory(sizeof(Shared));
  auto* shared = new (shared_memory.map()) Shared{};
  const SharedMemory lock_memory = segment<Lock>();
  std::vector<pid_t> processes;
  for (int i = 0; i < plan_.readers; ++i) {
    processes.push_back(start_process([&, i] {
      typename Lock::Reader reader(lock_memory.map(), i, plan_.readers);
      meet(shared, i);
      const Usage before = usage_now();
      int64_t reads = 0;
      int64_t wrong = 0;
      // Relaxed: nothing else is read by it; and the lock orders the pair.
      while (shared->gate.stop.load(std::memory_order_relaxed) == 0) {
        int64_t first = 0;
        int64_t second = 0;
        reader.read([&] {
          first = shared->first.load(std::memory_order_relaxed);
          second = shared->second.load(std::memory_order_relaxed);
        });
        wrong += first != second;
        // As in the paper, the others read nothing.
        for (int k = 1; k < 16; ++k) reader.read([] { asm volatile("" ::: "memory"); });
        reads += 16;
      }
      shared->readers[i].used = usage_now() - before;
      shared->readers[i].reads = reads;
      shared->readers[i].wrong = wrong;
    }));
  }
  processes.push_back(start_process([&] {
    std::vector<double> waited;
    waited.reserve(1 << 20);
    typename Lock::Writer writer(lock_memory.map(), plan_.readers);
    meet(shared, plan_.readers);
    const Usage before = usage_now();
    const int64_t period = plan_.writes_per_second > 0 ? 1'000'000'000 / plan_.writes_per_second : 0;
    int64_t next = weft::platform::now_ns();
    do {
      const int64_t begin = weft::platform::now_ns();
      writer.lock();
      waited.push_back(static_cast<double>(weft::platform::now_ns() - begin));
      const auto number = static_cast<int64_t>(waited.size());
      shared->first.store(number, std::memory_order_relaxed);
      shared->second.store(number, std::memory_order_relaxed);
      writer.unlock();
      if (period > 0) sleep_until(next += period);
    } while (shared->gate.stop.load() == 0);
    shared->writer_used = usage_now() - before;
    shared->writes = static_cast<int64_t>(waited.size());
    shared->mean = std::accumulate(waited.begin(), waited.end(), 0.0) / static_cast<double>(waited.size());
    shared->median = quantile(waited, 0.5);
    shared->p99 = quantile(waited, 0.99);
    shared->most = quantile(waited, 1);
  }));
  const double ns = conduct(shared->gate, processes, plan_.milliseconds);
  int64_t reads = 0;
  for (int i = 0; i < plan_.readers; ++i) reads += shared->readers[i].reads;
  print_samples(",", "reads", "M/s", {1e3 * static_cast<double>(reads) / ns});
  print_samples(",", "writes", "1/s", {1e9 * static_cast<double>(shared->writes) / ns});
  print_samples(",", "writer_mean", "ns", {shared->mean});
  print_samples(",", "writer_p50", "ns", {shared->median});
  print_samples(",", "writer_p99", "ns", {shared->p99});
  print_samples(",", "writer_most", "ns", {shared->most});
  const double writes = static_cast<double>(shared->writes);
  print_samples(",", "writer_cpu", "ns", {static_cast<double>(shared->writer_used.cpu_ns) / writes});
  print_samples(",", "writer_waits", "1/write", {static_cast<double>(shared->writer_used.waits) / writes});
  print_usage(shared);
}

template <typename Lock>
void Harness::without_writer() {
  const SharedMemory shared_memory(sizeof(Shared));
  auto* shared = new (shared_memory.map()) Shared{};
  const SharedMemory lock_memory = segment<Lock>();
  std::vector<pid_t> processes;
  for (int i = 0; i < plan_.readers; ++i) {
    processes.push_back(start_process([&, i] {
      typename Lock::Reader reader(lock_memory.map(), i, plan_.readers);
      Reader& mine = shared->readers[i];
      meet(shared, i);
      const Usage before = usage_now();
      int64_t chunk = 0;
      // Once at least: beside other programs a process may come too late for more.
      do {
        const int64_t begin = weft::platform::now_ns();
        for (int k = 0; k < kReadsOfChunk; ++k) reader.read([] { asm volatile("" ::: "memory"); });
        mine.chunks[chunk++ % kChunks] = static_cast<double>(weft::platform::now_ns() - begin) / kReadsOfChunk;
      } while (shared->gate.stop.load() == 0);
      mine.used = usage_now() - before;
      mine.reads = chunk * kReadsOfChunk;
    }));
  }
  conduct(shared->gate, processes, plan_.milliseconds);
  std::vector<double> medians;
  for (int i = 0; i < plan_.readers; ++i) {
    const Reader& reader = shared->readers[i];
    const int64_t there = std::min<int64_t>(kChunks, reader.reads / kReadsOfChunk);
    std::vector<double> chunks(reader.chunks, reader.chunks + there);
    medians.push_back(quantile(chunks, 0.5));
  }
  print_samples(",", "read", "ns", medians);
  print_usage(shared);
}

inline void Harness::print_usage(const Shared* shared) const {
  Usage all{};
  int64_t reads = 0;
  int64_t wrong = 0;
  for (int i = 0; i < plan_.readers; ++i) {
    const Reader& reader = shared->readers[i];
    all.cpu_ns += reader.used.cpu_ns;
    all.waits += reader.used.waits;
    all.preemptions += reader.used.preemptions;
    reads += reader.reads;
    wrong += reader.wrong;
  }
  if (wrong != 0) {
    std::fprintf(stderr, "the lock does not exclude: %ld of %ld reads saw half of a write\n", wrong, reads);
    std::exit(1);
  }
  const double count = reads > 0 ? static_cast<double>(reads) : 1;
  print_samples(",", "read_cpu", "ns", {static_cast<double>(all.cpu_ns) / count});
  print_samples(",", "read_waits", "1/million", {1e6 * static_cast<double>(all.waits) / count});
  print_samples(",", "read_preemptions", "1/million", {1e6 * static_cast<double>(all.preemptions) / count});
}

}  // namespace bench
