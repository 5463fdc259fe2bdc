// SPDX-License-Identifier: Apache-2.0
// weft's get by phases: kv_phases [--clients N] [--gets N]. The store has keys of 50 characters; each client, a
// process, gets them in turn: once by weft/kv.h, for the whole, and once by the same code with marks compiled in.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "common/processes.h"
#include "kv/phases_report.h"
#include "shm/kv/reader.h"
#include "shm/sync/ops.h"
#include "weft/kv.h"
#include "weft/phase_counter.h"

namespace {

using namespace weft::shm;

// P1: the get begins. P2: the key is hashed, the table and the moment are noted. P3: there is no lock to be had. P4:
// the key is found. P5: the value is copied. P6: it was looked at again, in the place of a lock that is given back. P7:
// the get returns.
constexpr int kPoints = 7;
constexpr int kKeys = 10;

weft_phase_counter* counter = nullptr;

struct MarkedOps : RealOps {
  static void passes(KvPoint point) noexcept {
    switch (point) {
      case KvPoint::noted:
        WEFT_PHASE(counter, 2);
        WEFT_PHASE(counter, 3);
        break;
      case KvPoint::found: WEFT_PHASE(counter, 4); break;
      case KvPoint::copied: WEFT_PHASE(counter, 5); break;
      case KvPoint::checked: WEFT_PHASE(counter, 6); break;
    }
  }
};

struct Seen {
  weft_phase_counter whole;
  weft_phase_counter phases;
};

void check(bool well, const char* call) {
  if (well) return;
  std::fprintf(stderr, "kv_phases: %s: %s\n", call, weft_shm_error());
  std::exit(1);
}

[[gnu::flatten]] int marked_get(const KvReader<MarkedOps>& reader, const std::string& key, uint32_t* value) {
  uint64_t length = 0;
  uint64_t version = 0;
  WEFT_PHASE(counter, 1);
  const int error = reader.get({key.data(), key.size(), XXH3_64bits(key.data(), key.size())}, value, sizeof(*value),
                               &length, &version);
  WEFT_PHASE(counter, kPoints);
  return error;
}

void be_client(const std::string& path, const std::vector<std::string>& keys, int gets, Seen* seen) {
  weft_kv* kv = nullptr;
  check(weft_kv_open(&kv, path.c_str(), 0, WEFT_KV_READ_ONLY) == 0, "weft_kv_open");
  weft_kv_stat stat;
  check(weft_kv_stat_get(kv, &stat) == 0, "weft_kv_stat_get");
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  void* memory = mmap(nullptr, stat.max_bytes, PROT_READ, MAP_SHARED, file, 0);
  check(file >= 0 && memory != MAP_FAILED, "mmap");
  const KvReader<MarkedOps> reader(*static_cast<KvLayout<MarkedOps>*>(memory), stat.max_bytes);
  weft_phase_init(&seen->whole, 2);
  weft_phase_init(&seen->phases, kPoints);
  counter = &seen->phases;
  for (int i = 0; i < gets; ++i) {
    const std::string& key = keys[static_cast<size_t>(i % kKeys)];
    uint32_t value = 0;
    WEFT_PHASE(&seen->whole, 1);
    const int error = weft_kv_get(kv, key.data(), key.size(), &value, sizeof(value), nullptr, nullptr);
    WEFT_PHASE(&seen->whole, 2);
    check(error == 0 && value == static_cast<uint32_t>(i % kKeys), "weft_kv_get");
    weft_phase_record(&seen->whole);
    check(marked_get(reader, key, &value) == 0 && value == static_cast<uint32_t>(i % kKeys), "get");
    weft_phase_record(&seen->phases);
  }
}

}  // namespace

int main(int count, char** arguments) {
  int clients = 2;
  int gets = 100'000;
  for (int i = 1; i < count; i += 2) {
    const std::string option = arguments[i];
    int* place = option == "--clients" ? &clients : option == "--gets" ? &gets : nullptr;
    const int number = i + 1 < count ? std::atoi(arguments[i + 1]) : 0;
    if (place == nullptr || number < 1) {
      std::fprintf(stderr, "usage: kv_phases [--clients N] [--gets N]\n");
      return 2;
    }
    *place = number;
  }
  const std::string path = "/dev/shm/weft-bench-phases-" + std::to_string(getpid());
  std::vector<std::string> keys;
  weft_kv* kv = nullptr;
  check(weft_kv_open(&kv, path.c_str(), 1 << 20, WEFT_KV_CREATE | WEFT_KV_EXCLUSIVE) == 0, "weft_kv_open");
  for (uint32_t i = 0; i < kKeys; ++i) {
    keys.push_back("weft.benchmark.of.keys.with.fifty.characters.00" + std::to_string(100 + i));
    check(weft_kv_put(kv, keys[i].data(), keys[i].size(), &i, sizeof(i), nullptr) == 0, "weft_kv_put");
  }
  const bench::SharedMemory memory(static_cast<size_t>(clients) * sizeof(Seen));
  auto* seen = static_cast<Seen*>(memory.map());
  std::vector<pid_t> processes;
  for (int i = 0; i < clients; ++i) {
    processes.push_back(bench::start_process([&, i] { be_client(path, keys, gets, &seen[i]); }));
  }
  static std::string name;
  name = path;
  static const pid_t self = getpid();
  std::atexit([] {
    if (getpid() == self) unlink(name.c_str());
  });
  bench::finish_processes(processes);
  static Seen all;
  weft_phase_init(&all.whole, 2);
  weft_phase_init(&all.phases, kPoints);
  for (int i = 0; i < clients; ++i) {
    weft_phase_merge(&all.whole, &seen[i].whole);
    weft_phase_merge(&all.phases, &seen[i].phases);
  }
  std::printf("{\"gets\":%lu", static_cast<unsigned long>(all.phases.whole.count));
  bench::print_phase("P7-P1", all.whole, all.whole.whole);
  bench::print_phases(all.phases);
  std::printf("}\n");
}
