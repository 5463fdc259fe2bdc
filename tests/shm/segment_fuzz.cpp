// SPDX-License-Identifier: Apache-2.0
// segment_fuzz ROUNDS [SEED]: processes use a store, or a lock, while something else writes into it: bits, words, parts
// of it over others, numbers that it could hold. Each call must come back, with an error or a value: no process may
// crash or hang, and what was made behind that must work. Says the seed of what fails.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <ctime>

#include "segment.h"
#include "shm/kv/layout.h"
#include "shm/rwlock/layout.h"
#include "shm/sync/ops.h"
#include "weft/kv.h"
#include "weft/rwlock.h"

namespace weft::shm::test {

namespace {

constexpr unsigned kHangS = 60;  // of one process, however busy the machine is
constexpr int64_t kUseNs = 40'000'000;  // for how long it begins new calls
constexpr timespec kPatience{0, 2'000'000};

using Random = std::mt19937_64;

// What writes into a segment. `interesting`: where what the segment consists of begins.
class Spoiler {
 public:
  Spoiler(void* memory, size_t bytes, std::vector<size_t> interesting, uint64_t seed)
      : memory_(static_cast<char*>(memory)), bytes_(bytes), interesting_(std::move(interesting)), random_(seed) {}

  void spoil() {
    switch (random_() % 8) {
      case 0: {
        const size_t at = place();
        store(at, load(at) ^ uint64_t{1} << random_() % 64);
        return;
      }
      case 1: store(place(), number()); return;
      case 2: {
        const size_t at = place();
        store(at, load(at) + (random_() % 3 - 1) * 16);
        return;
      }
      case 3: store(place(), load(place())); return;
      case 4: {
        const size_t length = std::min<size_t>(8 * (1 + random_() % 64), bytes_ / 4);
        const size_t from = random_() % (bytes_ - length), to = random_() % (bytes_ - length);
        for (size_t i = 0; i + 8 <= length; i += 8) store((to & ~size_t{7}) + i, load((from & ~size_t{7}) + i));
        return;
      }
      case 5: {  // half of a word
        const size_t at = place();
        store(at, (load(at) & 0xffffffff00000000) | (number() & 0xffffffff));
        return;
      }
      case 6: {
        const size_t at = place();
        for (size_t i = 0; i < 8 && at + 8 * i + 8 <= bytes_; ++i)
          store(at + 8 * i, random_() % 2 == 0 ? 0 : ~uint64_t{0});
        return;
      }
      default: store(place(), uint64_t{0}); return;
    }
  }

 private:
  // Words, each as one: others read them so.
  std::atomic<uint64_t>& at(size_t position) const {
    return *reinterpret_cast<std::atomic<uint64_t>*>(memory_ + std::min(position, bytes_ - 8) / 8 * 8);
  }
  uint64_t load(size_t position) const { return at(position).load(std::memory_order_relaxed); }
  void store(size_t position, uint64_t value) const { at(position).store(value, std::memory_order_relaxed); }
  size_t place() {
    if (random_() % 3 == 0) return random_() % bytes_;
    return interesting_[random_() % interesting_.size()] + 8 * (random_() % 3);
  }
  uint64_t number() {
    switch (random_() % 5) {
      case 0: return random_();
      case 1: return random_() % (2 * bytes_);
      case 2: return uint64_t{1} << random_() % 64;
      case 3: return ~uint64_t{0} - random_() % 64;
      default: return static_cast<uint64_t>(getpid()) | random_() << 32;
    }
  }

  char* const memory_;
  const size_t bytes_;
  const std::vector<size_t> interesting_;
  Random random_;
};

int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

timespec soon() {
  const int64_t at = now_ns() + 2'000'000;
  return {at / 1'000'000'000, at % 1'000'000'000};
}

// ---- stores ----

using Layout = KvLayout<RealOps>;

void use_store(weft_kv* kv, uint64_t seed) {
  Random random(seed);
  std::vector<char> value(6000, 'v');
  std::vector<char> found(6000);
  char key[32];
  for (const int64_t end = now_ns() + kUseNs; now_ns() < end;) {
    const int length = std::snprintf(key, sizeof key, "k%d", static_cast<int>(random() % 150));
    size_t got = 0;
    uint64_t version = 0;
    switch (random() % 8) {
      case 0:
      case 1: weft_kv_put(kv, key, length, value.data(), random() % value.size(), &version); break;
      case 2: weft_kv_put(kv, key, length, value.data(), random() % 50, &version); break;
      case 3: weft_kv_delete(kv, key, length); break;
      case 4: {
        char at[64];
        int error = weft_kv_first(kv, at, sizeof at, &got);
        for (int i = 0; error == 0 && i < 200 && now_ns() < end; ++i) error = weft_kv_next(kv, at, sizeof at, &got);
        break;
      }
      case 5: {
        weft_kv_stat stat{};
        weft_kv_stat_get(kv, &stat);
        const timespec until = soon();
        weft_kv_wait(kv, stat.version, &until, &version);
        break;
      }
      default: weft_kv_get(kv, key, length, found.data(), random() % found.size(), &got, &version); break;
    }
  }
}

std::vector<size_t> parts_of_store() {
  std::vector<size_t> found = {offsetof(Layout, header) + 48, offsetof(Layout, max_bytes),   offsetof(Layout, version),
                               offsetof(Layout, writer),      offsetof(Layout, writer) + 24, offsetof(Layout, holds),
                               offsetof(Layout, heap_end),    offsetof(Layout, keys),        offsetof(Layout, untidy),
                               offsetof(Layout, published)};
  for (size_t i = 0; i < kSizeClasses; i += 4) found.push_back(offsetof(Layout, free) + i * sizeof(Layout::Free));
  for (size_t i = 0; i < 64; ++i) found.push_back(kv_heap_begin<RealOps>() + 64 * i);
  return found;
}

bool all_are_well(const std::vector<pid_t>& children, const char* what, uint64_t seed) {
  bool well = true;
  for (const pid_t child : children) {
    const int result = result_of(child);
    if (result != 0) std::printf("%s, seed %llu: %d\n", what, static_cast<unsigned long long>(seed), result);
    well = well && result == 0;
  }
  return well;
}

pid_t spawn_user(const std::function<int()>& work) {
  return spawn([&] {
    alarm(kHangS);
    return work();
  });
}

pid_t spawn_spoiler(Spoiler spoiler, bool slowly) {
  return spawn_user([&] {
    for (const int64_t end = now_ns() + kUseNs; now_ns() < end;) {
      spoiler.spoil();
      const timespec rest{0, slowly ? 3'000'000 : 20'000};
      nanosleep(&rest, nullptr);
    }
    return 0;
  });
}

bool round_of_store(uint64_t seed) {
  Random random(seed);
  const std::string path = "/dev/shm/weft-fuzz-" + std::to_string(getpid());
  unlink(path.c_str());
  weft_kv* kv = nullptr;
  const size_t bytes = size_t{1} << (16 + random() % 5);
  if (weft_kv_open(&kv, path.c_str(), bytes, WEFT_KV_CREATE) != 0) return false;
  weft_kv_set_timeout(kv, &kPatience);
  const std::vector<char> value(3000, 'x');
  for (int i = 0; i < 100; ++i) {
    const std::string key = "k" + std::to_string(i);
    weft_kv_put(kv, key.data(), key.size(), value.data(), random() % value.size(), nullptr);
  }
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  std::vector<pid_t> children;
  for (uint64_t i = 0; i < 3; ++i) {
    children.push_back(spawn_user([&, i] {
      // One has opened it before, the others open what they find.
      weft_kv* own = kv;
      if (i > 0 && weft_kv_open(&own, path.c_str(), 0, i == 1 ? WEFT_KV_READ_ONLY : 0) != 0) return 0;
      weft_kv_set_timeout(own, &kPatience);
      use_store(own, seed * 8 + i);
      weft_kv_close(own);
      return 0;
    }));
  }
  const bool slowly = random() % 2 == 0;
  children.push_back(spawn_spoiler({memory, bytes, parts_of_store(), seed}, slowly));
  const bool well = all_are_well(children, "store", seed);
  munmap(memory, bytes);
  weft_kv_close(kv);
  unlink(path.c_str());
  return well;
}

// ---- locks ----

using LockLayout = RwlockLayout<RealOps>;
constexpr unsigned kReaders = 8;

void use_lock(weft_rwlock* lock, uint64_t seed) {
  Random random(seed);
  weft_rwlock_reader* reader = nullptr;
  for (const int64_t end = now_ns() + kUseNs; now_ns() < end;) {
    if (reader == nullptr) weft_rwlock_register(&reader, lock);
    const timespec until = soon();
    switch (random() % 6) {
      case 0:
      case 1:
        if (reader != nullptr && weft_rwlock_timedrdlock(reader, &until) == 0) weft_rwlock_rdunlock(reader);
        break;
      case 2:
        if (reader != nullptr && weft_rwlock_tryrdlock(reader) == 0) weft_rwlock_rdunlock(reader);
        break;
      case 3:
        if (reader != nullptr && random() % 8 == 0 && weft_rwlock_unregister(reader) == 0) reader = nullptr;
        break;
      default: {
        const int error = random() % 2 == 0 ? weft_rwlock_trywrlock(lock) : weft_rwlock_timedwrlock(lock, &until);
        if (error == EOWNERDEAD) weft_rwlock_consistent(lock);
        if (error == 0 || error == EOWNERDEAD) weft_rwlock_wrunlock(lock);
      }
    }
  }
  if (reader != nullptr) weft_rwlock_unregister(reader);
}

std::vector<size_t> parts_of_lock() {
  std::vector<size_t> found = {48,
                               64,
                               offsetof(LockLayout, gate),
                               offsetof(LockLayout, writer),
                               offsetof(LockLayout, writer) + 32,
                               offsetof(LockLayout, writing),
                               offsetof(LockLayout, data),
                               offsetof(LockLayout, sleeping_readers)};
  for (size_t i = 0; i < kReaders; ++i) {
    for (const size_t part : {0, 8, 40})
      found.push_back(offsetof(LockLayout, record) + i * sizeof(ReaderRecord<RealOps>) + part);
  }
  return found;
}

bool round_of_lock(uint64_t seed) {
  Random random(seed);
  const Segment segment(weft_rwlock_size(kReaders));
  const auto flags = static_cast<unsigned>(random() % 4);
  if (weft_rwlock_create(segment.memory(), segment.bytes(), kReaders, flags) != 0) return false;
  std::vector<pid_t> children;
  for (uint64_t i = 0; i < 3; ++i) {
    children.push_back(spawn_user([&, i] {
      weft_rwlock* lock = nullptr;
      if (weft_rwlock_attach(&lock, segment.memory(), segment.bytes()) != 0) return 0;
      use_lock(lock, seed * 8 + i);
      weft_rwlock_destroy(lock);
      weft_rwlock_detach(lock);
      return 0;
    }));
  }
  const bool slowly = random() % 2 == 0;
  children.push_back(spawn_spoiler({segment.memory(), segment.bytes(), parts_of_lock(), seed}, slowly));
  return all_are_well(children, "lock", seed);
}

int run(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 2000;
  const uint64_t first = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1;
  int bad = 0;
  for (int i = 0; i < rounds; ++i) {
    const uint64_t seed = first + static_cast<uint64_t>(i);
    bad += round_of_store(seed) ? 0 : 1;
    bad += round_of_lock(seed) ? 0 : 1;
  }
  std::printf("%d rounds, %d bad\n", rounds, bad);
  return bad != 0;
}

}  // namespace

}  // namespace weft::shm::test

int main(int count, char** arguments) { return weft::shm::test::run(count, arguments); }
