// SPDX-License-Identifier: Apache-2.0
#include "adopt/copy.h"

#include <bit>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <new>

#include <dlfcn.h>

#include "adopt/fork.h"
#include "adopt/run.h"
#include "adopt/shares.h"
#include "base/message.h"
#include "core/futex_lock.h"
#include "core/parking.h"
#include "platform/fence.h"

namespace weft::adopt {

// ---- numbers ----

bool Numbers::try_take(int own, int count, uint16_t* numbers) noexcept {
  int found = 0;
  lock_.lock();
  for (int number = own; number < most_ && found < count; ++number) {
    if ((taken_[static_cast<size_t>(number) / 64] >> (number % 64) & 1) != 0) continue;
    numbers[found++] = static_cast<uint16_t>(number);
  }
  if (found == count) {
    for (int i = 0; i < count; ++i) taken_[numbers[i] / 64u] |= uint64_t{1} << (numbers[i] % 64u);
  }
  lock_.unlock();
  return found == count;
}

void Numbers::take(int own, int count, uint16_t* numbers) noexcept {
  for (;;) {
    const uint32_t seen = returns_.load();
    if (try_take(own, count, numbers)) return;
    // Between `waiting_` and the numbers stands a fence on both sides: who waits sees them, or is seen.
    waiting_.fetch_add(1);
    platform::full_fence_after_update();
    const bool taken = try_take(own, count, numbers);
    if (!taken) core::park(returns_, seen);
    waiting_.fetch_sub(1);
    if (taken) return;
  }
}

void Numbers::put(int count, const uint16_t* numbers) noexcept {
  lock_.lock();
  for (int i = 0; i < count; ++i) taken_[numbers[i] / 64u] &= ~(uint64_t{1} << (numbers[i] % 64u));
  lock_.unlock();
  platform::full_fence();
  if (waiting_.load(std::memory_order_relaxed) == 0) return;
  returns_.fetch_add(1);
  core::unpark(returns_, INT_MAX);
}

// ---- copies ----

namespace {

constexpr int kMostCopies = 32;
core::FutexLock g_lock;  // of their addition
// Released when a copy has been added, acquired by readers.
std::array<std::atomic<Copy*>, kMostCopies> g_copies{};
std::atomic<int> g_count{0};

// What a call that ran jobs last was made of. Acquire and release: with the function comes the copy.
struct Known {
  std::atomic<Job> job{nullptr};
  Copy* copy = nullptr;
};
std::array<Known, kMostCopies> g_known;

Copy* copy_with(uintptr_t base) noexcept {
  const int count = copy_count();
  for (int i = 0; i < count; ++i) {
    if (copy(i)->base == base) return copy(i);
  }
  return nullptr;
}

// MAX_THREADS of its configuration: for so many it has buffers. The name of the function differs from build to build.
int most_numbers(const platform::LoadedObject& object) noexcept {
  const char* configuration = nullptr;
  object.for_each_defined([&](const char* name, void* address) {
    const char* rest = std::strstr(name, "openblas_get_config");
    if (rest == nullptr) return false;
    configuration = reinterpret_cast<const char* (*)()>(address)();
    return configuration != nullptr;
  });
  constexpr char kKey[] = "MAX_THREADS=";
  const char* at = configuration != nullptr ? std::strstr(configuration, kKey) : nullptr;
  return at != nullptr ? std::atoi(at + sizeof kKey - 1) : 0;
}

// A record of the copy that `map` is, if it is one that can be used. Without the lock, since the dynamic linker's is
// taken, which may be held by somebody who waits for ours.
Copy* make(const link_map* map) noexcept {
  const platform::LoadedObject object(map->l_addr, map->l_ld);
  const OpenBlas library(object);
  if (!library.found()) return nullptr;
  // It must not be unmapped: shares are written into it at any time.
  if (dlopen(map->l_name, RTLD_NOLOAD | RTLD_LAZY | RTLD_NODELETE) == nullptr) return nullptr;
  Copy* made = new (std::nothrow) Copy(library, map->l_addr);
  if (made == nullptr) return nullptr;
  made->numbers.set_most(most_numbers(object));
  begin_share(made);
  wait_at_fork();
  return made;
}

Copy* find_or_add(const link_map* map) noexcept {
  if (Copy* found = copy_with(map->l_addr)) return found;
  Copy* made = make(map);
  if (made == nullptr) return nullptr;
  g_lock.lock();
  Copy* kept = copy_with(map->l_addr);
  const int index = g_count.load(std::memory_order_relaxed);
  if (kept == nullptr && index < kMostCopies) {
    kept = made;
    g_copies[static_cast<size_t>(index)].store(made, std::memory_order_release);
    g_count.store(index + 1, std::memory_order_release);
  }
  g_lock.unlock();
  if (kept != made) delete made;
  return kept;
}

const link_map* map_at(const void* address) noexcept {
  dl_find_object found;
  return _dl_find_object(const_cast<void*>(address), &found) == 0 ? found.dlfo_link_map : nullptr;
}

// The objects of the process that are copies; their maps, since nothing is added while the dynamic linker's lock is held.
struct Found {
  std::array<const link_map*, kMostCopies> maps{};
  int count = 0;
};

Found find_mapped() noexcept {
  Found found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* argument) {
        auto* into = static_cast<Found*>(argument);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& header = info->dlpi_phdr[i];
          if (header.p_type != PT_DYNAMIC) continue;
          const auto* dynamic = reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + header.p_vaddr);
          const platform::LoadedObject object(info->dlpi_addr, dynamic);
          if (!OpenBlas(object).found()) continue;
          const link_map* map = map_at(dynamic);
          if (map != nullptr && into->count < kMostCopies) into->maps[static_cast<size_t>(into->count++)] = map;
        }
        return 0;
      },
      &found);
  return found;
}

}  // namespace

int copy_count() noexcept { return g_count.load(std::memory_order_acquire); }
Copy* copy(int index) noexcept { return g_copies[static_cast<size_t>(index)].load(std::memory_order_acquire); }

Copy* copy_of(Job job) noexcept {
  for (Known& known : g_known) {
    const Job seen = known.job.load(std::memory_order_acquire);
    if (seen == job) return known.copy;
    if (seen == nullptr) break;
  }
  const link_map* map = map_at(reinterpret_cast<const void*>(job));
  if (map == nullptr) return nullptr;
  Copy* found = find_or_add(map);
  if (found == nullptr) return nullptr;
  g_lock.lock();
  for (Known& known : g_known) {
    if (known.job.load(std::memory_order_relaxed) == job) break;
    if (known.job.load(std::memory_order_relaxed) != nullptr) continue;
    known.copy = found;
    known.job.store(job, std::memory_order_release);
    break;
  }
  g_lock.unlock();
  return found;
}

Copy* copy_in(const char* path) noexcept {
  char wanted[PATH_MAX];
  if (path == nullptr || realpath(path, wanted) == nullptr) return nullptr;
  const Found found = find_mapped();
  for (int i = 0; i < found.count; ++i) {
    const link_map* map = found.maps[static_cast<size_t>(i)];
    char name[PATH_MAX];
    if (realpath(map->l_name, name) == nullptr || std::strcmp(name, wanted) != 0) continue;
    return find_or_add(map);
  }
  return nullptr;
}

int adopt_copies() noexcept {
  int adopted = 0;
  const Found found = find_mapped();
  for (int i = 0; i < found.count; ++i) {
    const Copy* copy = find_or_add(found.maps[static_cast<size_t>(i)]);
    if (copy == nullptr || copy->numbers.room(copy->own_threads()) < 1) continue;
    // Whoever has put in something else keeps it.
    Run nobody = nullptr;
    const bool done = __atomic_compare_exchange_n(copy->library.run, &nobody, &run, false, __ATOMIC_ACQ_REL,
                                                  __ATOMIC_RELAXED);
    adopted += done ? 1 : 0;
  }
  return adopted;
}

}  // namespace weft::adopt
