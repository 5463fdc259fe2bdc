// SPDX-License-Identifier: Apache-2.0
#include "weft/kv.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <csignal>

#include <gtest/gtest.h>

#include "segment.h"
#include "shm/kv/layout.h"
#include "shm/sync/ops.h"

namespace weft::shm::test {

namespace {

bool says(const char* part) { return std::strstr(weft_shm_error(), part) != nullptr; }

class KvTest : public testing::Test {
 protected:
  static constexpr size_t kBytes = size_t{64} << 20;

  KvTest() : path_(std::string("/dev/shm/weft-kv-test-") + std::to_string(getpid())) {
    unlink(path_.c_str());
    kv_ = open(WEFT_KV_CREATE | WEFT_KV_EXCLUSIVE);
  }
  ~KvTest() override {
    EXPECT_EQ(weft_kv_close(kv_), 0);
    unlink(path_.c_str());
  }

  weft_kv* open(unsigned flags, size_t bytes = kBytes) const {
    weft_kv* kv = nullptr;
    EXPECT_EQ(weft_kv_open(&kv, path_.c_str(), bytes, flags), 0) << weft_shm_error();
    return kv;
  }
  void reopen(size_t bytes) {
    weft_kv_close(kv_);
    unlink(path_.c_str());
    kv_ = open(WEFT_KV_CREATE, bytes);
  }
  static int put(weft_kv* kv, const std::string& key, const std::string& value, uint64_t* version = nullptr) {
    return weft_kv_put(kv, key.data(), key.size(), value.data(), value.size(), version);
  }
  // The value, or the errno in brackets.
  static std::string get(const weft_kv* kv, const std::string& key) {
    size_t length = 0;
    int error = weft_kv_get(kv, key.data(), key.size(), nullptr, 0, &length, nullptr);
    std::string value;
    while (error == ERANGE) {
      value.resize(length);
      error = weft_kv_get(kv, key.data(), key.size(), value.data(), value.size(), &length, nullptr);
    }
    value.resize(length);
    return error == 0 ? value : "[" + std::to_string(error) + "]";
  }
  static int erase(weft_kv* kv, const std::string& key) { return weft_kv_delete(kv, key.data(), key.size()); }
  static std::multiset<std::string> keys(const weft_kv* kv) {
    std::multiset<std::string> found;
    char key[300];
    size_t length = 0;
    for (int error = weft_kv_first(kv, key, sizeof key, &length); error == 0;
         error = weft_kv_next(kv, key, sizeof key, &length)) {
      found.emplace(key, length);
    }
    return found;
  }
  static weft_kv_stat stat(const weft_kv* kv) {
    weft_kv_stat stat{};
    EXPECT_EQ(weft_kv_stat_get(kv, &stat), 0);
    return stat;
  }

  const std::string path_;
  weft_kv* kv_ = nullptr;
};

TEST_F(KvTest, WhatIsPutIsThereForAllWhoHaveTheStoreOpen) {
  weft_kv* const other = open(0);
  uint64_t first = 0;
  EXPECT_EQ(put(kv_, "one", "1", &first), 0);
  EXPECT_EQ(get(other, "one"), "1");
  uint64_t second = 0;
  EXPECT_EQ(put(other, "one", "the first", &second), 0);
  EXPECT_GT(second, first);
  EXPECT_EQ(get(kv_, "one"), "the first");
  EXPECT_EQ(get(kv_, "two"), "[2]");
  EXPECT_EQ(erase(kv_, "one"), 0);
  EXPECT_EQ(erase(kv_, "one"), ENOENT);
  EXPECT_EQ(get(other, "one"), "[2]");
  EXPECT_EQ(stat(other).keys, 0u);
  EXPECT_EQ(weft_kv_close(other), 0);
}

TEST_F(KvTest, KeysAndValuesAreAnyBytesOfAnyLength) {
  const std::string binary("\0\1\2\0", 4);
  EXPECT_EQ(put(kv_, "", "empty key"), 0);
  EXPECT_EQ(put(kv_, "empty value", ""), 0);
  EXPECT_EQ(put(kv_, binary, binary), 0);
  EXPECT_EQ(get(kv_, ""), "empty key");
  EXPECT_EQ(get(kv_, "empty value"), "");
  EXPECT_EQ(get(kv_, binary), binary);
  for (size_t size = 1; size < 3'000'000; size = size * 3 + 1) {
    const std::string value(size, static_cast<char>('a' + size % 26));
    EXPECT_EQ(put(kv_, "long", value), 0) << size;
    EXPECT_EQ(get(kv_, "long"), value) << size;
  }
  const std::string key(100'000, 'k');
  EXPECT_EQ(put(kv_, key, "of a long key"), 0);
  EXPECT_EQ(get(kv_, key), "of a long key");
}

TEST_F(KvTest, AShortBufferIsToldTheLength) {
  EXPECT_EQ(put(kv_, "key", "0123456789"), 0);
  char value[4];
  size_t length = 0;
  uint64_t version = 0;
  EXPECT_EQ(weft_kv_get(kv_, "key", 3, value, sizeof value, &length, &version), ERANGE);
  EXPECT_EQ(length, 10u);
  EXPECT_GT(version, 0u);
  EXPECT_EQ(weft_kv_get(kv_, "key", 3, nullptr, 0, nullptr, nullptr), ERANGE);
}

TEST_F(KvTest, PutIfTakesOnlyTheVersionThatIsExpected) {
  uint64_t version = 0;
  EXPECT_EQ(weft_kv_put_if(kv_, "k", 1, "a", 1, 7, &version), ENOENT);
  EXPECT_TRUE(says("no such key"));
  EXPECT_EQ(weft_kv_put_if(kv_, "k", 1, "a", 1, 0, &version), 0);
  const uint64_t first = version;
  EXPECT_EQ(weft_kv_put_if(kv_, "k", 1, "b", 1, 0, &version), EEXIST);
  EXPECT_EQ(version, first);
  EXPECT_EQ(weft_kv_put_if(kv_, "k", 1, "b", 1, first, &version), 0);
  EXPECT_EQ(weft_kv_put_if(kv_, "k", 1, "c", 1, first, &version), EAGAIN);
  EXPECT_TRUE(says("another version"));
  EXPECT_EQ(get(kv_, "k"), "b");
  EXPECT_EQ(weft_kv_put_if(kv_, "k", 1, "c", 1, version, &version), 0);
  EXPECT_EQ(weft_kv_delete_if(kv_, "k", 1, first), EAGAIN);
  EXPECT_EQ(weft_kv_delete_if(kv_, "k", 1, 0), EAGAIN);
  EXPECT_EQ(weft_kv_delete_if(kv_, "k", 1, version), 0);
  EXPECT_EQ(weft_kv_delete_if(kv_, "k", 1, version), ENOENT);
}

TEST_F(KvTest, ItHoldsWhatAMapHolds) {
  std::map<std::string, std::string> model;
  std::mt19937 random(7);
  for (int i = 0; i < 60'000; ++i) {
    const std::string key = "key " + std::to_string(random() % 4000);
    if (random() % 4 == 0) {
      EXPECT_EQ(erase(kv_, key), model.erase(key) == 1 ? 0 : ENOENT);
    } else {
      const std::string value(random() % 400, static_cast<char>(random()));
      ASSERT_EQ(put(kv_, key, value), 0) << weft_shm_error();
      model[key] = value;
    }
  }
  EXPECT_EQ(stat(kv_).keys, model.size());
  std::multiset<std::string> expected;
  for (const auto& [key, value] : model) {
    EXPECT_EQ(get(kv_, key), value);
    expected.insert(key);
  }
  EXPECT_EQ(keys(kv_), expected);
}

TEST_F(KvTest, AFullStoreSaysSoAndGoesOn) {
  reopen(WEFT_KV_LEAST_BYTES * 4);
  int error = 0;
  int count = 0;
  while ((error = put(kv_, "key" + std::to_string(count), std::string(1000, 'x'))) == 0) ++count;
  EXPECT_EQ(error, ENOSPC);
  EXPECT_TRUE(says("262144")) << weft_shm_error();
  EXPECT_GT(count, 150);
  EXPECT_EQ(get(kv_, "key0"), std::string(1000, 'x'));
  EXPECT_EQ(put(kv_, "key0", std::string(300'000, 'x')), EMSGSIZE);
  // Small blocks that lie side by side make room for a large one.
  for (int i = 0; i < count; ++i) EXPECT_EQ(erase(kv_, "key" + std::to_string(i)), 0);
  EXPECT_EQ(put(kv_, "large", std::string(150'000, 'y')), 0) << weft_shm_error();
  EXPECT_EQ(get(kv_, "large"), std::string(150'000, 'y'));
}

TEST_F(KvTest, SpaceIsUsedAgain) {
  reopen(size_t{1} << 20);
  std::mt19937 random(3);
  for (int i = 0; i < 200'000; ++i) {
    ASSERT_EQ(put(kv_, "k" + std::to_string(random() % 50), std::string(random() % 4000, 'x')), 0)
        << i << ": " << weft_shm_error();
  }
}

TEST_F(KvTest, KeysThatStayComeOnceWhateverElseIsPut) {
  for (int i = 0; i < 500; ++i) ASSERT_EQ(put(kv_, "stays" + std::to_string(i), "x"), 0);
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int i = 0; !done; ++i) {
      ASSERT_EQ(put(kv_, "comes" + std::to_string(i % 20'000), "y"), 0);
      if (i % 3 == 0) erase(kv_, "comes" + std::to_string(i / 2 % 20'000));
      if (i % 5 == 0) put(kv_, "stays" + std::to_string(i % 500), std::to_string(i));
    }
  });
  for (int round = 0; round < 20; ++round) {
    const std::multiset<std::string> found = keys(kv_);
    for (int i = 0; i < 500; ++i) ASSERT_EQ(found.count("stays" + std::to_string(i)), 1u);
  }
  done = true;
  writer.join();
}

// A value that says in each part which one it is.
std::string marked(uint64_t number, size_t size) {
  std::string value(size, '\0');
  for (size_t i = 0; i + 8 <= size; i += 8) std::memcpy(value.data() + i, &number, 8);
  return value;
}

bool is_whole(const std::string& value) {
  for (size_t i = 8; i + 8 <= value.size(); i += 8) {
    if (std::memcmp(value.data(), value.data() + i, 8) != 0) return false;
  }
  return true;
}

// In one process, so that ThreadSanitizer sees it. The table grows, blocks are used again and again.
TEST_F(KvTest, StressOfReadersBesideWriters) {
  std::atomic<bool> done{false};
  std::atomic<uint64_t> reads{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&, i] {
      std::mt19937 random(static_cast<unsigned>(i));
      std::map<std::string, uint64_t> latest;
      while (!done) {
        const std::string key = "k" + std::to_string(random() % 40);
        char buffer[600];
        size_t length = 0;
        uint64_t version = 0;
        const int error = weft_kv_get(kv_, key.data(), key.size(), buffer, sizeof buffer, &length, &version);
        if (error == ENOENT) continue;
        ASSERT_EQ(error, 0) << weft_shm_error();
        ASSERT_TRUE(is_whole(std::string(buffer, length)));
        ASSERT_GE(version, latest[key]);
        latest[key] = version;
        ++reads;
      }
    });
  }
  std::vector<std::thread> writers;
  for (int i = 0; i < 2; ++i) {
    writers.emplace_back([&, i] {
      std::mt19937 random(static_cast<unsigned>(100 + i));
      for (uint64_t n = 0; n < 15'000; ++n) {
        const std::string value = marked(n, 8 * (1 + random() % 70));
        ASSERT_EQ(put(kv_, "k" + std::to_string(random() % 40), value), 0);
        ASSERT_EQ(put(kv_, "only" + std::to_string(random() % 2000), value), 0);
        if (n % 7 == 0) erase(kv_, "k" + std::to_string(random() % 40));
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_GT(reads, 0u);
}

// How often a writer is killed; `make test-shm` has thousands.
int kills() {
  const char* wanted = std::getenv("WEFT_TEST_KILLS");
  return wanted != nullptr ? std::atoi(wanted) : 40;
}

void rest_us(long us) {
  const timespec rest{0, us * 1000};
  nanosleep(&rest, nullptr);
}

// Writers are killed, now and then behind a pause, while others read all the time. `stays` is nobody's to change.
TEST_F(KvTest, AWriterThatIsKilledLeavesAllKeysWhole) {
  ASSERT_EQ(put(kv_, "stays", "here"), 0);
  const pid_t reader = spawn([&] {
    std::mt19937 random(5);
    for (;;) {
      const std::string key = "k" + std::to_string(random() % 3000);
      if (get(kv_, "stays") != "here") return 1;
      const std::string value = get(kv_, key);
      if (value != "[2]" && !is_whole(value)) return 2;
    }
  });
  std::mt19937 when(9);
  // On a busy machine a child may not have begun to write when it is killed: then more of them, which get more time.
  const auto goes_on = [&](int round) {
    return round < kills() || (stat(kv_).recoveries == 0 && round < 20 * kills());
  };
  for (int round = 0; goes_on(round); ++round) {
    const pid_t child = spawn([&] {
      std::mt19937 random(static_cast<unsigned>(round));
      for (uint64_t n = 0;; ++n) {
        const std::string key = "k" + std::to_string(random() % 3000);
        if (random() % 5 == 0) {
          erase(kv_, key);
        } else if (put(kv_, key, marked(n, 8 * (1 + random() % 100))) != 0) {
          return 1;
        }
      }
    });
    rest_us((500 + static_cast<long>(when() % 4000)) * (1 + round / kills()));
    if (round % 4 == 0) {
      kill(child, SIGSTOP);
      rest_us(static_cast<long>(when() % 1000));
      if (round % 8 == 0) kill(child, SIGCONT);
    }
    kill(child, SIGKILL);
    ASSERT_EQ(result_of(child), -SIGKILL);
    ASSERT_EQ(put(kv_, "after", std::to_string(round)), 0) << weft_shm_error();
    if (round % 10 != 0) continue;
    const std::multiset<std::string> found = keys(kv_);
    EXPECT_EQ(found.size(), stat(kv_).keys);
    for (const std::string& key : found) {
      ASSERT_TRUE(key == "after" || key == "stays" || is_whole(get(kv_, key)));
    }
  }
  kill(reader, SIGKILL);
  EXPECT_EQ(result_of(reader), -SIGKILL) << "the reader has seen a value that is not whole";
  EXPECT_GT(stat(kv_).recoveries, 0u) << "no child was killed while it wrote";
}

TEST_F(KvTest, AReaderBesideAStoppedWriterGoesOn) {
  ASSERT_EQ(put(kv_, "key", "value"), 0);
  const pid_t child = spawn([&] {
    for (;;) put(kv_, "other", std::string(100'000, 'x'));
    return 0;
  });
  const timespec rest{0, 10'000'000};
  nanosleep(&rest, nullptr);
  kill(child, SIGSTOP);
  EXPECT_EQ(get(kv_, "key"), "value");
  kill(child, SIGKILL);
  EXPECT_EQ(result_of(child), -SIGKILL);
  EXPECT_EQ(put(kv_, "key", "after"), 0);
}

TEST_F(KvTest, WaitHearsOfAChange) {
  uint64_t version = 0;
  ASSERT_EQ(put(kv_, "a", "1", &version), 0);
  timespec soon{};
  clock_gettime(CLOCK_MONOTONIC, &soon);
  uint64_t now = 0;
  EXPECT_EQ(weft_kv_wait(kv_, version, &soon, &now), ETIMEDOUT);
  EXPECT_EQ(now, version);
  EXPECT_EQ(weft_kv_wait(kv_, version - 1, &soon, &now), 0);
  const pid_t child = spawn([&] {
    const timespec rest{0, 30'000'000};
    nanosleep(&rest, nullptr);
    return erase(kv_, "a");
  });
  weft_kv* const reader = open(WEFT_KV_READ_ONLY);
  EXPECT_EQ(weft_kv_wait(reader, version, nullptr, &now), 0);
  EXPECT_EQ(weft_kv_wait(kv_, version, nullptr, &now), 0);
  EXPECT_EQ(now, version + 1);
  EXPECT_EQ(result_of(child), 0);
  EXPECT_EQ(weft_kv_close(reader), 0);
}

weft_kv* g_of_handler = nullptr;
std::atomic<int> g_refused{0};
std::atomic<int> g_written{0};

void write_in_handler(int) {
  const int error = weft_kv_put(g_of_handler, "handler", 7, "x", 1, nullptr);
  ++(error == EDEADLK ? g_refused : g_written);
}

TEST_F(KvTest, AHandlerThatWritesWhileItsThreadDoesIsTold) {
  g_of_handler = kv_;
  g_refused = 0;
  struct sigaction handler{};
  handler.sa_handler = write_in_handler;
  handler.sa_flags = SA_RESTART;
  struct sigaction before{};
  ASSERT_EQ(sigaction(SIGUSR1, &handler, &before), 0);
  const pthread_t self = pthread_self();
  std::atomic<bool> done{false};
  std::thread sender([&] {
    while (!done) {
      pthread_kill(self, SIGUSR1);
      rest_us(100);
    }
  });
  const std::string value(1 << 20, 'v');
  for (int i = 0; g_refused < 20 && i < 100'000; ++i) ASSERT_EQ(put(kv_, "key", value), 0);
  done = true;
  sender.join();
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_GE(g_refused, 20);
  EXPECT_EQ(put(kv_, "key", "after"), 0);
}

TEST_F(KvTest, WhoReadsOnlyCannotWrite) {
  ASSERT_EQ(put(kv_, "key", "value"), 0);
  weft_kv* const reader = open(WEFT_KV_READ_ONLY);
  EXPECT_EQ(get(reader, "key"), "value");
  EXPECT_EQ(keys(reader).size(), 1u);
  EXPECT_EQ(put(reader, "key", "other"), EACCES);
  EXPECT_EQ(erase(reader, "key"), EACCES);
  EXPECT_TRUE(says("READ_ONLY"));
  EXPECT_EQ(weft_kv_close(reader), 0);
}

TEST_F(KvTest, AStoreThatIsUnlinkedGoesOn) {
  ASSERT_EQ(put(kv_, "key", "value"), 0);
  EXPECT_EQ(stat(kv_).unlinked, 0);
  EXPECT_EQ(weft_kv_unlink(path_.c_str()), 0);
  EXPECT_EQ(weft_kv_unlink(path_.c_str()), ENOENT);
  EXPECT_EQ(stat(kv_).unlinked, 1);
  EXPECT_EQ(put(kv_, "key", "more"), 0);
  EXPECT_EQ(get(kv_, "key"), "more");
  weft_kv* none = nullptr;
  EXPECT_EQ(weft_kv_open(&none, path_.c_str(), 0, 0), ENOENT);
  EXPECT_TRUE(says("WEFT_KV_CREATE"));
}

TEST_F(KvTest, AStrangersFileIsNotTouchedWhereTheDescriptorWasClosed) {
  EXPECT_EQ(result_of(spawn([&] {
              weft_kv* const kv = open(0);
              const int next = memfd_create("next", 0);
              for (int i = 3; i <= next; ++i) close(i);
              const int first = memfd_create("stranger", 0);
              for (int i = first; i < next; ++i) memfd_create("stranger", 0);
              if (put(kv, "small", "fits") != 0) return 1;
              if (put(kv, "large", std::string(1 << 20, 'x')) != EBADF || !says("descriptor")) return 2;
              weft_kv_stat stat{};
              if (weft_kv_stat_get(kv, &stat) != EBADF || stat.keys != 1) return 3;
              if (get(kv, "small") != "fits" || weft_kv_close(kv) != 0) return 4;
              for (int i = first; i <= next; ++i) {
                struct ::stat found{};
                if (fstat(i, &found) != 0 || found.st_size != 0) return 5;
              }
              return 0;
            })),
            0);
  EXPECT_EQ(put(kv_, "large", std::string(1 << 20, 'x')), 0) << "another process goes on";
}

TEST_F(KvTest, AFileThatIsLongerThanAnyStoreIsNone) {
  ASSERT_EQ(truncate(path_.c_str(), static_cast<off_t>(WEFT_KV_MOST_BYTES) + 4096), 0);
  weft_kv* other = nullptr;
  EXPECT_EQ(weft_kv_open(&other, path_.c_str(), 0, 0), EBADMSG);
  EXPECT_TRUE(says("longer")) << weft_shm_error();
  ASSERT_EQ(truncate(path_.c_str(), kBytes), 0);
}

TEST_F(KvTest, NamesAreOfTheUser) {
  const std::string name = "test-" + std::to_string(getpid());
  weft_kv* kv = nullptr;
  ASSERT_EQ(weft_kv_open(&kv, name.c_str(), 0, WEFT_KV_CREATE), 0) << weft_shm_error();
  const std::string path = "/dev/shm/weft-kv-" + std::to_string(geteuid()) + "-" + name;
  struct ::stat found{};
  EXPECT_EQ(::stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
  EXPECT_EQ(weft_kv_close(kv), 0);
  weft_kv* second = nullptr;
  EXPECT_EQ(weft_kv_open(&second, name.c_str(), 0, WEFT_KV_CREATE | WEFT_KV_EXCLUSIVE), EEXIST);
  EXPECT_EQ(weft_kv_open(&second, name.c_str(), 0, WEFT_KV_EXCLUSIVE), EINVAL);
  EXPECT_EQ(weft_kv_unlink(name.c_str()), 0);
}

TEST_F(KvTest, WhatCannotBeOpenedIsRefusedWithAReason) {
  weft_kv* kv = nullptr;
  EXPECT_EQ(weft_kv_open(nullptr, "x", 0, WEFT_KV_CREATE), EINVAL);
  EXPECT_EQ(weft_kv_open(&kv, nullptr, 0, WEFT_KV_CREATE), EINVAL);
  EXPECT_EQ(weft_kv_open(&kv, "", 0, WEFT_KV_CREATE), EINVAL);
  EXPECT_EQ(weft_kv_open(&kv, "/dev/shm/", 0, WEFT_KV_CREATE), EINVAL);
  EXPECT_EQ(weft_kv_open(&kv, std::string(300, 'n').c_str(), 0, WEFT_KV_CREATE), EINVAL);
  EXPECT_EQ(weft_kv_open(&kv, "x", 100, WEFT_KV_CREATE), EINVAL);
  EXPECT_EQ(weft_kv_open(&kv, "x", 0, 1024), EINVAL);
  EXPECT_EQ(weft_kv_open(&kv, "x", 0, WEFT_KV_CREATE | WEFT_KV_READ_ONLY), EINVAL);
  EXPECT_EQ(weft_kv_open(&kv, "/proc/none/store", 0, WEFT_KV_CREATE), ENOENT);
  EXPECT_EQ(weft_kv_open(&kv, "/dev/null", 0, 0), EBADMSG);
  EXPECT_EQ(result_of(spawn([&] {
              const rlimit limit{1 << 20, 1 << 20};
              setrlimit(RLIMIT_FSIZE, &limit);
              unlink(path_.c_str());
              if (weft_kv_open(&kv, path_.c_str(), kBytes, WEFT_KV_CREATE) != EFBIG || !says("ulimit -f")) return 1;
              const rlimit space{1 << 30, 1 << 30};
              setrlimit(RLIMIT_AS, &space);
              return 0;
            })),
            0);
}

// The counts follow from the table, so that wrong ones are mended.
TEST_F(KvTest, WrongCountsAreMended) {
  using Layout = KvLayout<RealOps>;
  const std::pair<size_t, uint64_t> wrong[] = {{offsetof(Layout, keys), 0},
                                               {offsetof(Layout, keys), uint64_t{1} << 63},
                                               {offsetof(Layout, keys), ~uint64_t{0}},
                                               {offsetof(Layout, deleted), uint64_t{1} << 20},
                                               {offsetof(Layout, deleted), ~uint64_t{0}},
                                               {offsetof(Layout, free) + 16, 1000}};
  for (const auto& [at, value] : wrong) {
    reopen(WEFT_KV_LEAST_BYTES * 16);
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(put(kv_, "k" + std::to_string(i), "value"), 0);
    const int file = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(pwrite(file, &value, sizeof value, static_cast<off_t>(at)), 8);
    // The worst of them: few keys, and much deleted.
    constexpr uint64_t kMany = 2047;
    if (value == 0) {
      ASSERT_EQ(pwrite(file, &kMany, sizeof kMany, offsetof(Layout, deleted)), 8);
    }
    close(file);
    for (int i = 0; i < 1500; ++i) ASSERT_EQ(put(kv_, "n" + std::to_string(i), "new"), 0) << at << ": " << i;
    EXPECT_EQ(keys(kv_).size(), 2500u);
  }
}

// One sleeps, and another one, which has just seen the change that wakes the first, falls asleep for the next.
TEST_F(KvTest, WhoFallsAsleepWhileOthersAreWokenIsWokenToo) {
  std::atomic<bool> done{false};
  std::atomic<uint64_t> seen[2] = {};
  std::vector<std::thread> waiters;
  for (int i = 0; i < 2; ++i) {
    waiters.emplace_back([&, i] {
      uint64_t version = 0;
      while (!done) {
        while (i == 1 && stat(kv_).version == version && !done) {
        }
        if (i == 1) version = stat(kv_).version;
        seen[i] = version;
        if (done) break;
        timespec later{};
        clock_gettime(CLOCK_MONOTONIC, &later);
        later.tv_sec += 1;
        weft_kv_wait(kv_, version, &later, &version);
        seen[i] = version;
      }
    });
  }
  int late = 0;
  for (int round = 0; round < 2000; ++round) {
    uint64_t version = 0;
    ASSERT_EQ(put(kv_, "key", "one", &version), 0);
    rest_us(50);
    ASSERT_EQ(put(kv_, "key", "two", &version), 0);
    int rests = 0;
    for (; seen[0] < version || seen[1] < version; ++rests) rest_us(20);
    late += rests > 5000 ? 1 : 0;
  }
  done = true;
  ASSERT_EQ(put(kv_, "key", "last"), 0);
  for (std::thread& waiter : waiters) waiter.join();
  EXPECT_EQ(late, 0) << "woken by the clock alone";
}

// Random bytes anywhere: an error or a wrong answer, but no crash and no hang.
TEST_F(KvTest, GarbageIsNoCrash) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    reopen(WEFT_KV_LEAST_BYTES * 2);
    for (int i = 0; i < 60; ++i) ASSERT_EQ(put(kv_, "k" + std::to_string(i), std::string(random() % 500, 'x')), 0);
    const int file = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
    const bool everything = round % 3 == 0;
    // The table and the records begin behind the first 8 KB. fuzz_test.cpp has the rest.
    for (int i = 0; i < (everything ? 4000 : 40); ++i) {
      const uint64_t word = random() % 3 == 0 ? random() % 70'000 : uint64_t{random()} << 32 | random();
      const long from = everything ? 8192 : 4096;
      ASSERT_EQ(pwrite(file, &word, sizeof word, from + static_cast<long>(random() % 5000) * 8), 8);
    }
    close(file);
    for (int i = 0; i < 60; ++i) get(kv_, "k" + std::to_string(i));
    char key[600];
    size_t length = 0;
    int steps = 0;
    for (int error = weft_kv_first(kv_, key, sizeof key, &length); error == 0 && steps < 1000; ++steps) {
      error = weft_kv_next(kv_, key, sizeof key, &length);
    }
    for (int i = 0; i < 60; ++i) put(kv_, "k" + std::to_string(i), std::string(random() % 3000, 'y'));
    for (int i = 0; i < 60; ++i) erase(kv_, "k" + std::to_string(i));
    weft_kv* other = nullptr;
    if (weft_kv_open(&other, path_.c_str(), 0, 0) == 0) weft_kv_close(other);
  }
}

}  // namespace

}  // namespace weft::shm::test
