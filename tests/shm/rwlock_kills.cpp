// SPDX-License-Identifier: Apache-2.0
// Processes that read and write under one lock are killed, stopped and continued at random points: nobody hangs, nobody
// who has the lock is beside another who must not have it, and no reader sees what is half written.
//
//   rwlock_kills [KILLS] [SEED]       10000 by default: a minute
//
// Prints what has happened and ends with 0, or says what went wrong and ends with 1.
#include <array>
#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/cycles.h"
#include "weft/rwlock.h"

namespace {

using weft::platform::now_ns;

constexpr int kProcesses = 6;
constexpr unsigned kReaders = 2 * kProcesses;
constexpr int kWords = 32;
constexpr int64_t kMs = 1'000'000;
constexpr int64_t kPatienceNs = 20'000 * kMs;  // no lock takes so long while processes are only stopped for a moment

// Plain words, which only the lock keeps whole; `mark` says which process is writing them.
struct Data {
  volatile uint64_t words[kWords];
  volatile uint64_t mark;
};

struct Shared {
  Data data;
  std::atomic<uint64_t> progress[kProcesses];  // locks that a process has had
  std::atomic<uint64_t> reads, writes, mended, given_up, refused;
  std::atomic<int> failed;
  char reason[256];
};

Shared* g_shared;
void* g_memory;

// The first one to fail says why.
[[gnu::format(printf, 1, 2), noreturn]] void fail(const char* format, ...) {
  int expected = 0;
  if (g_shared->failed.compare_exchange_strong(expected, 1)) {
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(g_shared->reason, sizeof g_shared->reason, format, arguments);
    va_end(arguments);
    g_shared->failed = 2;
  }
  _exit(1);
}

void rest(int64_t ns) {
  const timespec time{ns / (1000 * kMs), ns % (1000 * kMs)};
  nanosleep(&time, nullptr);
}

timespec in_us(unsigned us) {
  const int64_t at = now_ns() + int64_t{us} * 1000;
  return {at / (1000 * kMs), at % (1000 * kMs)};
}

class Worker {
 public:
  Worker(int number, unsigned seed) : number_(number), random_(seed) {
    if (weft_rwlock_attach(&lock_, g_memory, weft_rwlock_size(kReaders)) != 0) fail("attach: %s", weft_shm_error());
    enrol();
  }

  [[noreturn]] void run() {
    for (;;) {
      const unsigned what = random_() % 16;
      if (what == 0) {
        if (weft_rwlock_unregister(reader_) != 0) fail("unregister: %s", weft_shm_error());
        enrol();
      } else if (what < 6) {
        write();
      } else {
        read();
      }
    }
  }

 private:
  void enrol() {
    if (weft_rwlock_register(&reader_, lock_) != 0) fail("register: %s", weft_shm_error());
  }

  void read() {
    const unsigned way = random_() % 4;
    const timespec until = in_us(random_() % 2000);
    const int got = way == 0   ? weft_rwlock_tryrdlock(reader_)
                    : way == 1 ? weft_rwlock_timedrdlock(reader_, &until)
                               : weft_rwlock_rdlock(reader_);
    if (!has(got, way, "read lock", true)) return;
    const bool nested = random_() % 4 == 0;
    if (nested && weft_rwlock_rdlock(reader_) != 0) fail("a nested read lock: %s", weft_shm_error());
    look();
    dawdle();
    look();
    if (nested) unlock_read();
    unlock_read();
    ++g_shared->reads;
  }

  void unlock_read() {
    if (weft_rwlock_rdunlock(reader_) != 0) fail("rdunlock: %s", weft_shm_error());
  }

  void look() const {
    const Data& data = g_shared->data;
    const uint64_t first = data.words[0];
    if (data.mark != 0) fail("a reader is in beside the writer %" PRIu64, data.mark);
    for (int i = 1; i < kWords; ++i) {
      if (data.words[i] != first) {
        fail("a reader sees %" PRIu64 " in word %d, and %" PRIu64 " in the first", data.words[i], i, first);
      }
    }
  }

  void write() {
    const unsigned way = random_() % 4;
    const timespec until = in_us(random_() % 2000);
    const int got = way == 0   ? weft_rwlock_trywrlock(lock_)
                    : way == 1 ? weft_rwlock_timedwrlock(lock_, &until)
                               : weft_rwlock_wrlock(lock_);
    if (!has(got, way, "write lock", false)) return;
    Data& data = g_shared->data;
    const auto me = static_cast<uint64_t>(getpid());
    if (got == EOWNERDEAD) {
      data.mark = me;
      // Those that the dead one had come to, and the others.
      for (int i = 1; i < kWords; ++i) data.words[i] = data.words[0];
      data.mark = 0;
      if (weft_rwlock_consistent(lock_) != 0) fail("consistent: %s", weft_shm_error());
      ++g_shared->mended;
    }
    look();
    data.mark = me;
    for (int i = 0; i < kWords; ++i) {
      data.words[i] = data.words[i] + 1;
      if (i == kWords / 2) dawdle();
    }
    if (data.mark != me) fail("two writers are in: %" PRIu64 " and %" PRIu64, me, data.mark);
    data.mark = 0;
    look();
    if (weft_rwlock_wrunlock(lock_) != 0) fail("wrunlock: %s", weft_shm_error());
    ++g_shared->writes;
  }

  bool has(int got, unsigned way, const char* what, bool reads) {
    // For whoever watches whether this process goes on: an answer is one, too.
    ++g_shared->progress[number_];
    if (got == 0 || (got == EOWNERDEAD && !reads)) return true;
    if (got == EOWNERDEAD) {
      ++g_shared->refused;
    } else if ((got == EBUSY && way == 0) || (got == ETIMEDOUT && way == 1)) {
      ++g_shared->given_up;
    } else {
      fail("%s: error %d: %s", what, got, weft_shm_error());
    }
    return false;
  }

  // Inside the lock: mostly a moment, sometimes the CPU goes to somebody else.
  void dawdle() {
    const unsigned chance = random_() % 64;
    if (chance == 0) rest(random_() % 200'000);
    if (chance > 56) {
      for (unsigned spins = random_() % 400; spins != 0; --spins) weft::platform::pause();
    }
  }

  int number_;
  std::minstd_rand random_;
  weft_rwlock* lock_ = nullptr;
  weft_rwlock_reader* reader_ = nullptr;
};

class Driver {
 public:
  Driver(int kills, unsigned seed) : kills_(kills), random_(seed) {
    for (int i = 0; i < kProcesses; ++i) start(i);
  }
  ~Driver() {
    for (int i = 0; i < kProcesses; ++i) end(i);
  }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  bool run() {
    for (int kill = 0; kill < kills_; ++kill) {
      rest(random_() % 4 == 0 ? random_() % (3 * kMs) : random_() % (kMs / 4));
      if (random_() % 8 == 0) pause_one();
      const int victim = static_cast<int>(random_() % kProcesses);
      if (!end(victim)) return false;
      // The next one that registers may take the dead one's record. The others need not wait for that.
      if (kill % 16 == 15 && !all_go_on()) return false;
      start(victim);
      if (kill % 200 == 199 && !all_go_on()) return false;
    }
    return all_go_on();
  }

 private:
  void start(int number) {
    const unsigned seed = random_();
    children_[number] = fork();
    if (children_[number] == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      Worker(number, seed).run();
    }
  }

  // False: it has ended by itself, which it only does when something is wrong.
  bool end(int number) {
    if (children_[number] <= 0) return true;
    // Some are killed while they are stopped.
    if (random_() % 16 == 0) ::kill(children_[number], SIGSTOP);
    ::kill(children_[number], SIGKILL);
    int status = 0;
    waitpid(children_[number], &status, 0);
    children_[number] = 0;
    return g_shared->failed == 0;
  }

  // Others may not get the lock meanwhile, and do afterwards.
  void pause_one() {
    const pid_t child = children_[random_() % kProcesses];
    ::kill(child, SIGSTOP);
    rest(random_() % (2 * kMs));
    ::kill(child, SIGCONT);
  }

  // Of those that live.
  bool all_go_on() {
    std::array<uint64_t, kProcesses> before{};
    for (int i = 0; i < kProcesses; ++i) before[i] = g_shared->progress[i];
    const int64_t deadline = now_ns() + kPatienceNs;
    for (int i = 0; i < kProcesses; ++i) {
      while (children_[i] != 0 && g_shared->progress[i] < before[i] + 3) {
        if (g_shared->failed != 0) return false;
        if (now_ns() > deadline) {
          std::fprintf(stderr, "rwlock_kills: process %d hangs\n", static_cast<int>(children_[i]));
          return false;
        }
        rest(kMs / 10);
      }
    }
    return true;
  }

  int kills_;
  std::minstd_rand random_;
  std::array<pid_t, kProcesses> children_{};
};

void* share(size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::exit(2);
  return memory;
}

bool try_mode(unsigned flags, int kills, unsigned seed) {
  g_shared = static_cast<Shared*>(share(sizeof(Shared)));
  g_memory = share(weft_rwlock_size(kReaders));
  if (weft_rwlock_create(g_memory, weft_rwlock_size(kReaders), kReaders, flags) != 0) {
    std::fprintf(stderr, "rwlock_kills: %s\n", weft_shm_error());
    return false;
  }
  const bool done = Driver(kills, seed).run();
  const Shared& seen = *g_shared;
  if (seen.failed != 0) std::fprintf(stderr, "rwlock_kills: flags %u: %s\n", flags, seen.reason);
  std::printf("flags %u: %d kills; %" PRIu64 " reads, %" PRIu64 " writes, %" PRIu64 " mended, %" PRIu64
              " readers told, %" PRIu64 " given up\n",
              flags, kills, seen.reads.load(), seen.writes.load(), seen.mended.load(), seen.refused.load(),
              seen.given_up.load());
  // Those who were killed have left nothing that the next ones need.
  weft_rwlock* lock = nullptr;
  const bool free = done && weft_rwlock_attach(&lock, g_memory, weft_rwlock_size(kReaders)) == 0 &&
                    weft_rwlock_destroy(lock) == 0 && weft_rwlock_detach(lock) == 0;
  if (done && !free) std::fprintf(stderr, "rwlock_kills: flags %u: somebody is left: %s\n", flags, weft_shm_error());
  munmap(g_shared, sizeof(Shared));
  munmap(g_memory, weft_rwlock_size(kReaders));
  return free;
}

}  // namespace

int main(int count, char** arguments) {
  const int kills = count > 1 ? std::atoi(arguments[1]) : 10'000;
  const unsigned seed = count > 2 ? static_cast<unsigned>(std::atoi(arguments[2])) : static_cast<unsigned>(now_ns());
  std::printf("rwlock_kills: %d kills, seed %u\n", kills, seed);
  std::fflush(stdout);
  constexpr unsigned kModes[] = {0, WEFT_RWLOCK_PORTABLE, WEFT_RWLOCK_PHASE_FAIR,
                                 WEFT_RWLOCK_PHASE_FAIR | WEFT_RWLOCK_PORTABLE};
  for (const unsigned flags : kModes) {
    if (!try_mode(flags, kills / 4, seed + flags)) return 1;
  }
}
