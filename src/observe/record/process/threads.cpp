// SPDX-License-Identifier: Apache-2.0
#include "observe/record/process/threads.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <dirent.h>

#include "platform/cycles.h"

namespace weft::observe {

namespace {

constexpr size_t kMostThreads = 4096;  // of a program that starts threads for ever

std::string name_of(int thread) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/comm", thread);
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return {};
  char name[32] = "";
  const size_t length = std::fread(name, 1, sizeof name - 1, file);
  std::fclose(file);
  return {name, length > 0 && name[length - 1] == '\n' ? length - 1 : length};
}

}  // namespace

void Threads::begin() {
  look();
  for (Thread& thread : threads_) thread.before = thread.cpu;
}

void Threads::look() {
  DIR* folder = opendir("/proc/self/task");
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder)) {
    const int number = std::atoi(entry->d_name);
    if (number <= 0) continue;
    const int64_t cpu = platform::cpu_time_of_thread_ns(number);
    if (cpu == 0) continue;
    auto known =
        std::find_if(threads_.begin(), threads_.end(), [&](const Thread& thread) { return thread.number == number; });
    // A number that has less than before is that of another thread.
    if (known == threads_.end() || cpu < known->cpu) {
      if (threads_.size() < kMostThreads) threads_.push_back({number, name_of(number), cpu, 0});
    } else {
      known->cpu = cpu;
    }
  }
  closedir(folder);
}

}  // namespace weft::observe
