// SPDX-License-Identifier: Apache-2.0
#include "platform/cpu_set.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdio>
#include <cstdlib>

#include <pthread.h>
#include <sched.h>

namespace weft::platform {

int CpuSet::next(int from) const noexcept {
  if (from >= kMost) return -1;
  size_t index = static_cast<size_t>(from) / 64;
  uint64_t word = words_[index] & (~uint64_t{0} << (from % 64));
  while (word == 0) {
    if (++index == words_.size()) return -1;
    word = words_[index];
  }
  return static_cast<int>(index) * 64 + std::countr_zero(word);
}

int CpuSet::count() const noexcept {
  int sum = 0;
  for (const uint64_t word : words_) sum += std::popcount(word);
  return sum;
}

void CpuSet::add_all(const CpuSet& other) noexcept {
  for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
}

void CpuSet::remove_all(const CpuSet& other) noexcept {
  for (size_t i = 0; i < words_.size(); ++i) words_[i] &= ~other.words_[i];
}

void CpuSet::keep_only(const CpuSet& other) noexcept {
  for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
}

CpuSet parse_cpu_list(const char* text) noexcept {
  CpuSet set;
  while (std::isdigit(static_cast<unsigned char>(*text)) != 0) {
    char* end = nullptr;
    const long first = std::strtol(text, &end, 10);
    long last = first;
    if (*end == '-') last = std::strtol(end + 1, &end, 10);
    for (long cpu = first; cpu <= std::min<long>(last, CpuSet::kMost - 1); ++cpu) set.add(static_cast<int>(cpu));
    text = *end == ',' ? end + 1 : end;
  }
  return set;
}

size_t format_cpu_list(const CpuSet& set, char* text, size_t room) noexcept {
  size_t size = 0;
  if (room > 0) *text = '\0';
  for (int cpu = set.first(); cpu >= 0;) {
    int last = cpu;
    while (last + 1 < CpuSet::kMost && set.has(last + 1)) ++last;
    std::array<char, 32> run;
    const char* comma = size > 0 ? "," : "";
    const int length = last == cpu ? std::snprintf(run.data(), run.size(), "%s%d", comma, cpu)
                                   : std::snprintf(run.data(), run.size(), "%s%d-%d", comma, cpu, last);
    if (size + 1 < room) std::snprintf(text + size, room - size, "%s", run.data());
    size += static_cast<size_t>(length);
    cpu = set.next(last + 1);
  }
  return size;
}

CpuSet thread_cpus() noexcept {
  CpuSet set;
  if (sched_getaffinity(0, CpuSet::kBytes, static_cast<cpu_set_t*>(set.data())) == 0) return set;
  for (int cpu = 0; cpu < CpuSet::kMost; ++cpu) set.add(cpu);
  return set;
}

bool bind_thread(const CpuSet& cpus) noexcept {
  return sched_setaffinity(0, CpuSet::kBytes, static_cast<const cpu_set_t*>(cpus.data())) == 0;
}

void bind_identity_thread(const CpuSet& cpus) noexcept {
  pthread_setaffinity_np(pthread_self(), CpuSet::kBytes, static_cast<const cpu_set_t*>(cpus.data()));
}

}  // namespace weft::platform
