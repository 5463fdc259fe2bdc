// SPDX-License-Identifier: Apache-2.0
// One store, measured by processes: readers, and a writer. A store is a class with size(place), make(place), a
// Reader(place) with get(key, into, size), which copies the value, and a Writer(place) with put(key, value). It is a
// parameter of the compiler, as the locks of bench/rwlock are.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "common/processes.h"
#include "kv/stores/place.h"
#include "platform/cycles.h"
#include "weft/phase_counter.h"

namespace bench {

// The words of a value say which key and which put they are of, so that a reader knows a torn one.
class Values {
 public:
  explicit Values(const Place& place) : place_(place) {
    for (int i = 0; i < place.keys; ++i) {
      keys_ += name('k', i);
      missing_ += name('m', i);
    }
  }
  std::string_view key(int number) const { return at(keys_, number); }
  std::string_view missing(int number) const { return at(missing_, number); }
  void fill(std::vector<uint64_t>& value, int number, uint64_t put) const {
    value.assign(static_cast<size_t>(place_.value_size) / sizeof(uint64_t),
                 put * static_cast<uint64_t>(place_.keys) + static_cast<uint64_t>(number));
  }
  bool whole(const std::vector<uint64_t>& value, int number) const {
    return value[0] % static_cast<uint64_t>(place_.keys) == static_cast<uint64_t>(number) &&
           std::all_of(value.begin(), value.end(), [&](uint64_t word) { return word == value[0]; });
  }

 private:
  std::string name(char kind, int number) const {
    std::string digits = std::to_string(number);
    return kind + std::string(static_cast<size_t>(place_.key_size) - 1 - digits.size(), '0') + digits;
  }

  std::string_view at(const std::string& all, int number) const {
    const auto size = static_cast<size_t>(place_.key_size);
    return {all.data() + static_cast<size_t>(number) * size, size};
  }

  Place place_;
  // One behind the other, so that looking them up costs little beside a get.
  std::string keys_;
  std::string missing_;
};

// The order in which a process asks for keys; so many that no cache of the processor learns it.
class Order {
 public:
  Order(int keys, unsigned seed) : numbers_(std::bit_ceil(static_cast<size_t>(std::max(keys, 8192)))) {
    std::mt19937 random(seed);
    for (int& each : numbers_) each = static_cast<int>(random() % static_cast<unsigned>(keys));
  }
  int operator[](size_t at) const { return numbers_[at & (numbers_.size() - 1)]; }

 private:
  std::vector<int> numbers_;  // a power of two
};

struct Plan {
  Place place;
  int milliseconds = 200;
  int puts_per_second = 100'000;
};

class Harness {
 public:
  explicit Harness(const Plan& plan) : plan_(plan), values_(plan.place) {}

  template <typename Store>
  void prepare();
  // Nanoseconds of one get of a key that is there, or is not.
  template <typename Store>
  void gets(bool there);
  template <typename Store>
  void puts();
  // Each get by itself, while another process puts at a pace.
  template <typename Store>
  void gets_beside_puts();

 private:
  static constexpr int kMostReaders = 64;
  static constexpr int kChunks = 64;

  struct Reader {
    int64_t gets;
    int64_t wrong;
    int chunks;
    double ns[kChunks];
    weft_phase_counter counter;
  };
  struct Shared {
    Gate gate;
    int64_t puts;
    Reader readers[kMostReaders];
  };

  void meet(Shared* shared, int number) const {
    bind_to(number);
    shared->gate.ready.fetch_add(1);
    while (shared->gate.go.load() == 0) sleep_until(weft::platform::now_ns() + 50'000);
  }
  // Runs `body(count)` until the time is over, in chunks of some 50 us, and keeps the time of one of each chunk.
  template <typename Body>
  void in_chunks(Shared* shared, Reader& mine, const Body& body) const;
  void report(const char* name, const Shared* shared, int processes, double ns) const;

  Plan plan_;
  Values values_;
};

template <typename Body>
void Harness::in_chunks(Shared* shared, Reader& mine, const Body& body) const {
  constexpr int64_t kChunkNs = 50'000;
  int count = 1;
  // Once at least, as a whole chunk.
  while (shared->gate.stop.load() == 0 || mine.chunks == 0) {
    const int64_t begin = weft::platform::now_ns();
    body(count);
    const int64_t taken = weft::platform::now_ns() - begin;
    mine.gets += count;
    if (taken < kChunkNs / 2) {
      count *= 2;
      continue;
    }
    mine.ns[mine.chunks++ % kChunks] = static_cast<double>(taken) / count;
  }
  mine.chunks = std::min(mine.chunks, kChunks);
}

inline void Harness::report(const char* name, const Shared* shared, int processes, double ns) const {
  std::vector<double> medians;
  int64_t all = 0;
  int64_t wrong = 0;
  for (int i = 0; i < processes; ++i) {
    const Reader& reader = shared->readers[i];
    std::vector<double> chunks(reader.ns, reader.ns + reader.chunks);
    medians.push_back(quantile(chunks, 0.5));
    all += reader.gets;
    wrong += reader.wrong;
  }
  if (wrong != 0 || all == 0) {
    std::fprintf(stderr, "kv: %ld of %ld values are wrong\n", wrong, all);
    std::exit(1);
  }
  print_samples("", name, "ns", medians);
  print_samples(",", "rate", "M/s", {1e3 * static_cast<double>(all) / ns});
}

template <typename Store>
void Harness::prepare() {
  Store::make(plan_.place);
  finish_processes({start_process([&] {
    typename Store::Writer writer(plan_.place);
    std::vector<uint64_t> value;
    for (int i = 0; i < plan_.place.keys; ++i) {
      values_.fill(value, i, 0);
      writer.put(values_.key(i), {reinterpret_cast<const char*>(value.data()), value.size() * sizeof(uint64_t)});
    }
  })});
}

template <typename Store>
void Harness::gets(bool there) {
  const SharedMemory memory(sizeof(Shared));
  auto* shared = new (memory.map()) Shared{};
  std::vector<pid_t> processes;
  for (int i = 0; i < plan_.place.readers; ++i) {
    processes.push_back(start_process([&, i] {
      typename Store::Reader reader(plan_.place);
      Reader& mine = shared->readers[i];
      const Order order(plan_.place.keys, static_cast<unsigned>(i));
      std::vector<uint64_t> value(static_cast<size_t>(plan_.place.value_size) / sizeof(uint64_t));
      const size_t size = value.size() * sizeof(uint64_t);
      size_t at = 0;
      for (int number = 0; number < plan_.place.keys; ++number) {
        const bool found = reader.get(values_.key(number), reinterpret_cast<char*>(value.data()), size);
        mine.wrong += !found || !values_.whole(value, number) ||
                      reader.get(values_.missing(number), reinterpret_cast<char*>(value.data()), size);
      }
      meet(shared, i);
      in_chunks(shared, mine, [&](int count) {
        int64_t wrong = 0;
        for (int k = 0; k < count; ++k) {
          const int number = order[at++];
          const std::string_view key = there ? values_.key(number) : values_.missing(number);
          wrong += reader.get(key, reinterpret_cast<char*>(value.data()), size) != there;
        }
        mine.wrong += wrong;
      });
    }));
  }
  const double ns = conduct(shared->gate, processes, plan_.milliseconds);
  report("get", shared, plan_.place.readers, ns);
}

template <typename Store>
void Harness::puts() {
  const SharedMemory memory(sizeof(Shared));
  auto* shared = new (memory.map()) Shared{};
  const double ns = conduct(shared->gate, {start_process([&] {
                              typename Store::Writer writer(plan_.place);
                              const Order order(plan_.place.keys, 1);
                              std::vector<uint64_t> value;
                              size_t at = 0;
                              meet(shared, 0);
                              in_chunks(shared, shared->readers[0], [&](int count) {
                                for (int k = 0; k < count; ++k) {
                                  const int number = order[at++];
                                  values_.fill(value, number, at);
                                  writer.put(values_.key(number), {reinterpret_cast<const char*>(value.data()),
                                                                   value.size() * sizeof(uint64_t)});
                                }
                              });
                            })},
                            plan_.milliseconds);
  report("put", shared, 1, ns);
}

template <typename Store>
void Harness::gets_beside_puts() {
  const SharedMemory memory(sizeof(Shared));
  auto* shared = new (memory.map()) Shared{};
  std::vector<pid_t> processes;
  for (int i = 0; i < plan_.place.readers; ++i) {
    processes.push_back(start_process([&, i] {
      typename Store::Reader reader(plan_.place);
      Reader& mine = shared->readers[i];
      const Order order(plan_.place.keys, static_cast<unsigned>(i));
      std::vector<uint64_t> value(static_cast<size_t>(plan_.place.value_size) / sizeof(uint64_t));
      const size_t size = value.size() * sizeof(uint64_t);
      weft_phase_init(&mine.counter, 2);
      meet(shared, i);
      for (size_t at = 0; at == 0 || shared->gate.stop.load() == 0; ++at) {
        const int number = order[at];
        WEFT_PHASE(&mine.counter, 1);
        const bool found = reader.get(values_.key(number), reinterpret_cast<char*>(value.data()), size);
        WEFT_PHASE(&mine.counter, 2);
        weft_phase_record(&mine.counter);
        ++mine.gets;
        mine.wrong += !found || !values_.whole(value, number);
      }
    }));
  }
  processes.push_back(start_process([&] {
    typename Store::Writer writer(plan_.place);
    const Order order(plan_.place.keys, 99);
    std::vector<uint64_t> value;
    meet(shared, plan_.place.readers);
    const int64_t begin = weft::platform::now_ns();
    int64_t done = 0;
    // Where it has no CPU of its own it must not wait in place: it comes now and then, and does what was due.
    const bool alone = plan_.place.readers < cpus();
    while (shared->gate.stop.load() == 0) {
      const int64_t due = (weft::platform::now_ns() - begin) * plan_.puts_per_second / 1'000'000'000;
      if (done >= due) {
        if (alone)
          weft::platform::pause();
        else
          sleep_until(weft::platform::now_ns() + 100'000);
        continue;
      }
      const int number = order[static_cast<size_t>(done)];
      values_.fill(value, number, static_cast<uint64_t>(done));
      writer.put(values_.key(number), {reinterpret_cast<const char*>(value.data()), value.size() * sizeof(uint64_t)});
      ++done;
    }
    shared->puts = done;
  }));
  const double ns = conduct(shared->gate, processes, plan_.milliseconds);
  weft_phase_counter all;
  weft_phase_init(&all, 2);
  int64_t gets = 0;
  int64_t wrong = 0;
  for (int i = 0; i < plan_.place.readers; ++i) {
    weft_phase_merge(&all, &shared->readers[i].counter);
    gets += shared->readers[i].gets;
    wrong += shared->readers[i].wrong;
  }
  if (wrong != 0 || gets == 0) {
    std::fprintf(stderr, "kv: %ld of %ld values are torn or missing\n", wrong, gets);
    std::exit(1);
  }
  const double tick = weft_phase_ns_per_tick(&all);
  const auto at = [&](double share) {
    return std::vector<double>{tick * weft_phase_quantile(&all, &all.whole, share)};
  };
  print_samples("", "get_p50", "ns", at(0.5));
  print_samples(",", "get_p99", "ns", at(0.99));
  print_samples(",", "get_p999", "ns", at(0.999));
  print_samples(",", "get_mean", "ns", {tick * weft_phase_mean(&all, &all.whole)});
  print_samples(",", "puts", "1/s", {1e9 * static_cast<double>(shared->puts) / ns});
  print_samples(",", "rate", "M/s", {1e3 * static_cast<double>(gets) / ns});
}

}  // namespace bench
