// SPDX-License-Identifier: Apache-2.0
// Built with -fsanitize=thread and linked with the library as it is: what the lock guards is no race, and with the
// argument `unguarded`, for which a reader does not lock, it is one.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include <sys/mman.h>

#include "weft/rwlock.hpp"

int main(int count, char** arguments) {
  const bool guarded = count < 2 || std::strcmp(arguments[1], "unguarded") != 0;
  constexpr unsigned kModes[] = {WEFT_RWLOCK_PREFER_WRITER, WEFT_RWLOCK_PORTABLE, WEFT_RWLOCK_PHASE_FAIR};
  for (const unsigned flags : kModes) {
    constexpr unsigned kReaders = 3;
    const std::size_t bytes = weft::RwLock::size(kReaders);
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    weft::RwLock::create(memory, bytes, kReaders, flags);
    weft::RwLock lock(memory, bytes);
    long first = 0;
    long second = 0;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < kReaders; ++i) {
      threads.emplace_back([&] {
        weft::RwLock::Reader reader(lock);
        for (int round = 0; round < 3000; ++round) {
          std::shared_lock guard(reader, std::defer_lock);
          if (guarded) guard.lock();
          if (first != second && guarded) std::abort();
        }
      });
    }
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&] {
        for (int round = 0; round < 500; ++round) {
          const std::unique_lock guard =
              round % 2 == 0 ? std::unique_lock(lock) : std::unique_lock(lock, std::chrono::hours(1));
          ++first;
          ++second;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}
