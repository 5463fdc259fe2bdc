// SPDX-License-Identifier: Apache-2.0
// Threads and a child share a table: the standard's guards lock it, and who locks next mends what a dead writer has left.
//
//     c++ -std=c++17 table.cpp $(pkg-config --cflags --libs weft-shm) -pthread -o table_cpp && ./table_cpp
#include <array>
#include <csignal>
#include <iostream>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/rwlock.hpp>

namespace {

constexpr unsigned kReaders = 4;

using Table = std::array<long, 8>;

void* share(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return memory;
}

bool is_whole(const Table& table) {
  for (const long version : table) {
    if (version != table.front()) return false;
  }
  return true;
}

}  // namespace

int main() {
  Table& table = *new (share(sizeof(Table))) Table{};
  const std::size_t bytes = weft::RwLock::size(kReaders);
  void* const memory = share(bytes);
  weft::RwLock::create(memory, bytes, kReaders, WEFT_RWLOCK_PHASE_FAIR);
  weft::RwLock lock(memory, bytes, [&] { table.fill(table.front()); });

  if (const pid_t child = fork(); child == 0) {
    lock.lock();
    table.front() = 1;
    std::raise(SIGKILL);
  } else {
    waitpid(child, nullptr, 0);
  }

  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    for (int i = 0; i < 1000; ++i) {
      const std::unique_lock guard(lock);
      for (long& version : table) ++version;
    }
  });
  for (unsigned i = 0; i < kReaders; ++i) {
    threads.emplace_back([&] {
      weft::RwLock::Reader reader(lock);
      for (long seen = 0; seen < 1001;) {
        const std::shared_lock guard(reader);
        if (!is_whole(table)) std::abort();
        seen = table.front();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::cout << table.front() << " versions, the first one by a writer that died\n";
  lock.destroy();
}
