// SPDX-License-Identifier: Apache-2.0
#include "openmp/library/caller.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <link.h>

#include "base/keep_errno.h"
#include "base/options.h"
#include "openmp/settings/statistics.h"

namespace weft::openmp {

namespace {

// Parts of the resolved path by which a library is known. Debian's libblas.so.3 is a file of its own in a
// directory of that name.
constexpr const char* kKnown[] = {"openblas"};

// What has been found out about libraries, by the names under which the loader has them: the hash of a name, and the
// verdict in its lowest bit; 0: free. When all entries that a name may have are taken, it gets the first. Relaxed: each
// word stands alone.
constexpr size_t kVerdicts = 256;
constexpr size_t kTries = 8;
constinit std::array<std::atomic<uint64_t>, kVerdicts> g_verdicts{};

// FNV-1a. The size and the address of the dynamic section tell another file of the same name, as after a change of
// Debian's alternatives.
uint64_t hash_of(const dl_find_object& object) noexcept {
  uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&hash](uint64_t value) { hash = (hash ^ value) * 0x100000001b3u; };
  const link_map* library = object.dlfo_link_map;
  for (const char* at = library->l_name; *at != '\0'; ++at) add(static_cast<unsigned char>(*at));
  add(static_cast<uint64_t>(static_cast<char*>(object.dlfo_map_end) - static_cast<char*>(object.dlfo_map_start)));
  add(reinterpret_cast<uintptr_t>(library->l_ld) - library->l_addr);
  // The lowest bit is the verdict's, and 0 is nobody's.
  return (hash << 1) | (uint64_t{1} << 63);
}

// Looks at the file system.
bool is_known(const char* name) noexcept {
  count(&g_paths_resolved);
  char path[PATH_MAX];
  if (realpath(name, path) == nullptr) return false;
  return std::any_of(std::begin(kKnown), std::end(kKnown),
                     [&path](const char* known) { return std::strstr(path, known) != nullptr; });
}

bool is_special_library(const dl_find_object& object) noexcept {
  const char* name = object.dlfo_link_map->l_name;
  if (*name == '\0') return false;  // the program
  const uint64_t hash = hash_of(object);
  std::atomic<uint64_t>* free_entry = nullptr;
  for (size_t i = 0; i < kTries; ++i) {
    std::atomic<uint64_t>& verdict = g_verdicts[(hash / 2 + i) % kVerdicts];
    const uint64_t seen = verdict.load(std::memory_order_relaxed);
    if ((seen & ~uint64_t{1}) == hash) return (seen & 1) != 0;
    if (seen == 0 && free_entry == nullptr) free_entry = &verdict;
  }
  if (free_entry == nullptr) free_entry = &g_verdicts[hash / 2 % kVerdicts];
  const bool special = is_known(name);
  free_entry->store(hash | (special ? 1 : 0), std::memory_order_relaxed);
  return special;
}

Mapping mapping_of(const void* address) noexcept {
  const uint64_t page = page_of(address);
  dl_find_object found;
  // Code that no library has brought.
  if (_dl_find_object(const_cast<void*>(address), &found) != 0) return {.first_page = page, .pages = 1, .special = 0};
  const uint64_t special = base::options().nested_libraries && is_special_library(found) ? 1 : 0;
  uint64_t first = page_of(found.dlfo_map_start);
  const uint64_t end = page_of(static_cast<char*>(found.dlfo_map_end) - 1) + 1;
  constexpr uint64_t kMost = (uint64_t{1} << Mapping::kSizeBits) - 1;
  if (end - first > kMost) first = page;
  return {.first_page = first, .pages = std::min(end - first, kMost), .special = special};
}

}  // namespace

bool look_up(const void* address) noexcept {
  const base::KeepErrno keep;
  count(&g_callers_looked_up);
  if (t_believed <= 0) {
    for (std::atomic<Mapping>& kept : t_mappings) kept.store({}, std::memory_order_relaxed);
    t_believed = kBelieved;
  }
  const Mapping mapping = mapping_of(address);
  // The latest stands first; the one that was asked for longest ago goes.
  for (size_t i = kRemembered - 1; i > 0; --i) {
    t_mappings[i].store(t_mappings[i - 1].load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  t_mappings[0].store(mapping, std::memory_order_relaxed);
  return mapping.special != 0;
}

}  // namespace weft::openmp
