// SPDX-License-Identifier: Apache-2.0
// Stores of keys and values between processes: kv --store NAME [--measure NAME] [--readers N] [--size BYTES] [--keys N]
// [--key-size N] [--puts-per-second N] [--milliseconds N] [--socket PATH]. Fills the store, measures, and prints JSON.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include <unistd.h>

#include "kv/harness.h"
#include "kv/stores/rwlock_hash.h"
#include "kv/stores/weft.h"
#ifdef WEFT_BENCH_LMDB
#include "kv/stores/lmdb.h"
#endif
#ifdef WEFT_BENCH_REDIS
#include "kv/stores/redis.h"
#endif

namespace {

using namespace bench;

enum class Measure { kGet, kMiss, kPut, kBeside };

template <typename Store>
void run(Plan plan, Measure measure) {
  const std::unique_ptr<SharedMemory> memory(Store::size(plan.place) > 0 ? new SharedMemory(Store::size(plan.place))
                                                                         : nullptr);
  plan.place.memory = memory.get();
  Harness harness(plan);
  harness.prepare<Store>();
  if (measure == Measure::kGet || measure == Measure::kMiss) harness.gets<Store>(measure == Measure::kGet);
  if (measure == Measure::kPut) harness.puts<Store>();
  if (measure == Measure::kBeside) harness.gets_beside_puts<Store>();
}

struct Kind {
  const char* name;
  void (*run)(Plan plan, Measure measure);
};

constexpr Kind kStores[] = {
    {"weft", run<WeftKv>},
#ifdef WEFT_BENCH_LMDB
    {"lmdb", run<Lmdb<LmdbRead::kRenew>>},
    {"lmdb-begin", run<Lmdb<LmdbRead::kBegin>>},
    {"lmdb-held", run<Lmdb<LmdbRead::kHeld>>},
#endif
#ifdef WEFT_BENCH_REDIS
    {"redis", run<Redis>},
#endif
    {"rwlock-hash", run<RwlockHash<Locks::kRwlock>>},
    {"no-lock", run<RwlockHash<Locks::kNone>>},
};

[[noreturn]] void usage() {
  std::fprintf(stderr,
               "usage: kv --store NAME [--measure get|miss|put|beside] [--readers N] [--size BYTES] [--keys N]\n"
               "          [--key-size N] [--puts-per-second N] [--milliseconds N] [--socket PATH]\n"
               "  get, miss  nanoseconds of one get of a key that is there, or is not\n"
               "  put        nanoseconds of one put, without readers\n"
               "  beside     gets beside a process that puts: p50, p99, p99.9\n"
               "  --socket   of a Redis server\n"
               "  --list     says which stores are built in\n"
               "stores:");
  for (const Kind& kind : kStores) std::fprintf(stderr, " %s", kind.name);
  std::fprintf(stderr, "\n");
  std::exit(2);
}

}  // namespace

int main(int count, char** arguments) {
  Plan plan;
  Measure measure = Measure::kGet;
  const Kind* chosen = nullptr;
  for (int i = 1; i < count; i += 2) {
    const std::string option = arguments[i];
    if (option == "--list") {
      for (const Kind& kind : kStores) std::printf("%s\"%s\"", &kind == kStores ? "[" : ",", kind.name);
      std::printf("]\n");
      return 0;
    }
    const char* value = i + 1 < count ? arguments[i + 1] : "";
    if (option == "--store") {
      for (const Kind& kind : kStores)
        if (std::strcmp(kind.name, value) == 0) chosen = &kind;
    } else if (option == "--measure") {
      const std::string name = value;
      if (name != "get" && name != "miss" && name != "put" && name != "beside") usage();
      measure = name == "get"    ? Measure::kGet
                : name == "miss" ? Measure::kMiss
                : name == "put"  ? Measure::kPut
                                 : Measure::kBeside;
    } else if (option == "--readers") {
      plan.place.readers = number(option, value, 1, 64);
    } else if (option == "--size") {
      plan.place.value_size = number(option, value, 8, 1 << 20) / 8 * 8;
    } else if (option == "--keys") {
      plan.place.keys = number(option, value, 1, 1'000'000);
    } else if (option == "--key-size") {
      plan.place.key_size = number(option, value, 8, 255);
    } else if (option == "--puts-per-second") {
      plan.puts_per_second = number(option, value, 1, 100'000'000);
    } else if (option == "--milliseconds") {
      plan.milliseconds = number(option, value, 1, 30'000);
    } else if (option == "--socket") {
      plan.place.socket = value;
    } else {
      usage();
    }
  }
  if (chosen == nullptr) usage();
  // In memory, as the others are.
  char folder[] = "/dev/shm/weft-bench-kv-XXXXXX";
  if (mkdtemp(folder) == nullptr) {
    std::perror(folder);
    return 1;
  }
  plan.place.folder = folder;
  // A process that fails exits at once.
  static std::string remove;
  remove = std::string("rm -rf ") + folder;
  static const pid_t self = getpid();
  std::atexit([] {
    if (getpid() == self && std::system(remove.c_str()) != 0) std::perror("rm");
  });
  std::printf("{");
  chosen->run(plan, measure);
  std::printf("}\n");
}
