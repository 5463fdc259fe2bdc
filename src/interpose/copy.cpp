// SPDX-License-Identifier: Apache-2.0
#include "interpose/copy.h"

#include <array>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <new>

#include <dlfcn.h>

#include "interpose/fibers.h"
#include "interpose/fork.h"
#include "interpose/product_locks.h"
#include "interpose/run.h"
#include "interpose/thread_share.h"
#include "platform/futex_lock.h"
#include "platform/redirect.h"

namespace weft::interpose {

namespace {

constexpr int kMostCopies = 32;
platform::FutexLock g_addition_lock;  // held while a copy is added
// An entry is released when its copy has been added, and acquired by readers.
std::array<std::atomic<Copy*>, kMostCopies> g_copies{};
std::atomic<int> g_count{0};

Copy* copy_with(uintptr_t base) noexcept {
  const int count = copy_count();
  for (int i = 0; i < count; ++i) {
    if (copy(i)->base == base) return copy(i);
  }
  return nullptr;
}

// Makes the record of the copy that `map` is; null if `map` is no copy that can be used. The caller does not hold
// g_addition_lock: this takes the dynamic linker's lock, whose holder may wait for g_addition_lock.
Copy* make(const link_map* map) noexcept {
  const platform::LoadedObject object(map->l_addr, map->l_ld);
  // Whether the version is one that is known has been looked at when the copy was found.
  const OpenBlas library(object, {});
  if (!library.found()) return nullptr;
  // The copy must not be unmapped from now on: shares are written into it at any time.
  if (dlopen(map->l_name, RTLD_NOLOAD | RTLD_LAZY | RTLD_NODELETE) == nullptr) return nullptr;
  Copy* made = new (std::nothrow) Copy(library, map->l_addr, map->l_name);
  if (made == nullptr) return nullptr;
  made->numbers.set_most(most_numbers(library.get_configuration));
  begin_share(made);
  handle_forks();
  return made;
}

// Whether the object holds an OpenBLAS and nothing else, as its name says. The code around one that is linked in has
// locks of its own.
bool is_library_of_its_own(const char* path) noexcept {
  const char* name = path != nullptr ? std::strrchr(path, '/') : nullptr;
  return name != nullptr && std::strstr(name, "openblas") != nullptr;
}

Copy* find_or_add(const link_map* map) noexcept {
  if (Copy* found = copy_with(map->l_addr)) return found;
  Copy* made = make(map);
  if (made == nullptr) return nullptr;
  g_addition_lock.lock();
  Copy* kept = copy_with(map->l_addr);
  const int index = g_count.load(std::memory_order_relaxed);
  if (kept == nullptr && index < kMostCopies) {
    kept = made;
    made->index = index;
    g_copies[static_cast<size_t>(index)].store(made, std::memory_order_release);
    g_count.store(index + 1, std::memory_order_release);
  }
  g_addition_lock.unlock();
  if (kept != made) {
    delete made;
  } else if (is_library_of_its_own(made->path)) {
    take_lock_calls(platform::LoadedObject(map->l_addr, map->l_ld));
  }
  return kept;
}

const link_map* map_at(const void* address) noexcept {
  dl_find_object found;
  return _dl_find_object(const_cast<void*>(address), &found) == 0 ? found.dlfo_link_map : nullptr;
}

// The objects of the process that are copies; their maps, since nothing is added while the dynamic linker's lock is
// held.
struct Found {
  std::array<const link_map*, kMostCopies> maps{};
  int count = 0;
};

Found find_mapped() noexcept {
  Found found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* argument) {
        auto* into = static_cast<Found*>(argument);
        const platform::LoadedObject object = platform::object_of(*info);
        if (!OpenBlas::may_be(object)) return 0;
        const Copy* added = copy_with(info->dlpi_addr);
        const OpenBlas library = added != nullptr ? added->library : OpenBlas(object, platform::Segments(*info));
        // One whose own code has not run yet does not know how many threads it has.
        if (!library.found() || __atomic_load_n(library.own, __ATOMIC_RELAXED) < 1) return 0;
        const link_map* map = map_at(library.run);
        if (map != nullptr && into->count < kMostCopies) into->maps[static_cast<size_t>(into->count++)] = map;
        return 0;
      },
      &found);
  return found;
}

}  // namespace

int copy_count() noexcept { return g_count.load(std::memory_order_acquire); }
Copy* copy(int index) noexcept { return g_copies[static_cast<size_t>(index)].load(std::memory_order_acquire); }

Copy::Copy(const OpenBlas& found, uintptr_t object_base, const char* file) noexcept
    : library(found),
      base(object_base),
      path(realpath(file, nullptr)),
      whole(platform::is_redirected(reinterpret_cast<const void*>(found.begin))),
      waits(whole && Fibers::possible() ? platform::note_of(reinterpret_cast<const void*>(found.begin)) : 0) {}

Copy::~Copy() { std::free(path); }

Copy* copy_at(const void* address) noexcept {
  const link_map* map = map_at(address);
  return map != nullptr ? find_or_add(map) : nullptr;
}

Copy* copy_of(Job job) noexcept {
  const int count = copy_count();
  for (int i = 0; i < count; ++i) {
    if (copy(i)->job.load(std::memory_order_relaxed) == job) return copy(i);
  }
  Copy* found = copy_at(reinterpret_cast<const void*>(job));
  if (found != nullptr) found->job.store(job, std::memory_order_relaxed);
  return found;
}

Copy* copy_in(const char* path) noexcept {
  if (path == nullptr) return nullptr;
  const int count = copy_count();
  for (int i = 0; i < count; ++i) {
    if (copy(i)->path != nullptr && std::strcmp(copy(i)->path, path) == 0) return copy(i);
  }
  char wanted[PATH_MAX];
  if (realpath(path, wanted) == nullptr) return nullptr;
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
    if (copy == nullptr || copy->numbers.most() <= copy->first_number()) continue;
    // If the program has set a function of its own, that stays.
    Run nobody = nullptr;
    const bool done =
        __atomic_compare_exchange_n(copy->library.run, &nobody, &run, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    adopted += done ? 1 : 0;
  }
  return adopted;
}

}  // namespace weft::interpose
