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
#include "openmp/library/embedded_code.h"
#include "openmp/settings/statistics.h"

namespace weft::openmp {

namespace {

// Parts of the resolved path by which a library is known. Debian's libblas.so.3 is a file of its own in a
// directory of that name.
constexpr const char* kKnown[] = {"openblas"};

// What has been found out about objects, by the names under which the loader has them: the hash of a name, and the
// verdict in its lowest bits; 0: free. When all entries that a name may have are taken, it gets the first. Relaxed:
// each word stands alone, but for a verdict that names a part.
constexpr size_t kVerdicts = 256;
constexpr size_t kTries = 8;
constexpr unsigned kVerdictBits = 4;
constexpr uint64_t kVerdictMask = (uint64_t{1} << kVerdictBits) - 1;
constexpr uint64_t kOrdinary = 0;
constexpr uint64_t kOpenBlas = 1;
constexpr uint64_t kFirstPart = 2;  // and more: only a part of its code is a library's
constinit std::array<std::atomic<uint64_t>, kVerdicts> g_verdicts{};

// Written before the verdict that names them, and never again. Objects beyond these stay ordinary.
struct Parts {
  CodeRange blas;
  CodeRange question;  // MKL's

  bool empty() const noexcept { return blas.empty() && question.empty(); }
  Library owner_at(uintptr_t address) const noexcept {
    if (blas.holds(address)) return Library::openblas;
    return question.holds(address) ? Library::mkl : Library::other;
  }
};
constinit std::array<Parts, kVerdictMask + 1 - kFirstPart> g_parts{};
constinit std::atomic<uint64_t> g_parts_used{0};

// Of objects that count for themselves. An entry is written before the flag, and never again.
struct Counting {
  uint64_t hash = 0;
  OwnCount count;
};
constinit std::array<Counting, 8> g_counting{};
constinit std::atomic<size_t> g_counting_used{0};

void note_count(uint64_t hash, const char* file) noexcept {
  const OwnCount count = find_own_count(file);
  if (count.threads == 0) return;
  const size_t index = g_counting_used.fetch_add(1, std::memory_order_relaxed);
  if (index >= g_counting.size()) return;
  g_counting[index] = {hash, count};
  // Release: with the flag comes the entry.
  g_counts_itself.store(true, std::memory_order_release);
}

// FNV-1a. The size and the address of the dynamic section tell another file of the same name, as after a change of
// Debian's alternatives.
uint64_t hash_of(const dl_find_object& object) noexcept {
  uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&hash](uint64_t value) { hash = (hash ^ value) * 0x100000001b3u; };
  const link_map* library = object.dlfo_link_map;
  for (const char* at = library->l_name; *at != '\0'; ++at) add(static_cast<unsigned char>(*at));
  add(static_cast<uint64_t>(static_cast<char*>(object.dlfo_map_end) - static_cast<char*>(object.dlfo_map_start)));
  add(reinterpret_cast<uintptr_t>(library->l_ld) - library->l_addr);
  // The lowest bits are the verdict's, and 0 is nobody's.
  return (hash << kVerdictBits) | (uint64_t{1} << 63);
}

// Looks at the file system.
bool is_known(const char* name) noexcept {
  count(&g_paths_resolved);
  char path[PATH_MAX];
  if (realpath(name, path) == nullptr) return false;
  return std::any_of(std::begin(kKnown), std::end(kKnown),
                     [&path](const char* known) { return std::strstr(path, known) != nullptr; });
}

// Of an object whose path does not say so: whether a library is linked into it.
uint64_t verdict_of_code(const char* file) noexcept {
  const Parts parts{find_embedded_blas(file), find_question_of_mkl(file)};
  if (parts.empty()) return kOrdinary;
  const uint64_t index = g_parts_used.fetch_add(1, std::memory_order_relaxed);
  if (index >= g_parts.size()) return kOrdinary;
  g_parts[index] = parts;
  return kFirstPart + index;
}

uint64_t find_out(const char* name) noexcept {
  if (*name == '\0') return verdict_of_code("/proc/self/exe");
  return is_known(name) ? kOpenBlas : verdict_of_code(name);
}

uint64_t verdict_of(const dl_find_object& object) noexcept {
  const uint64_t hash = hash_of(object);
  std::atomic<uint64_t>* free_entry = nullptr;
  for (size_t i = 0; i < kTries; ++i) {
    std::atomic<uint64_t>& entry = g_verdicts[((hash >> kVerdictBits) + i) % kVerdicts];
    // Acquire: the part that the verdict names.
    const uint64_t seen = entry.load(std::memory_order_acquire);
    if ((seen & ~kVerdictMask) == hash) return seen & kVerdictMask;
    if (seen == 0 && free_entry == nullptr) free_entry = &entry;
  }
  if (free_entry == nullptr) free_entry = &g_verdicts[(hash >> kVerdictBits) % kVerdicts];
  const char* name = object.dlfo_link_map->l_name;
  const uint64_t verdict = find_out(name);
  if (verdict != kOrdinary) note_count(hash, *name == '\0' ? "/proc/self/exe" : name);
  free_entry->store(hash | verdict, std::memory_order_release);
  return verdict;
}

struct Pages {
  uint64_t first;
  uint64_t end;
};

// The object's pages around `page` that lie as it does to the range. None where the range ends within that page: its
// callers are looked up each time.
Pages around(uint64_t page, Pages object, const CodeRange& range) noexcept {
  const uint64_t first = page_of(reinterpret_cast<void*>(range.begin));
  const uint64_t last = page_of(reinterpret_cast<void*>(range.end - 1));
  if (page == first || page == last) return {page, page};
  if (page < first) return {object.first, first};
  if (page > last) return {last + 1, object.end};
  return {first + 1, last};
}

Mapping mapping_of(const void* address) noexcept {
  const uint64_t page = page_of(address);
  dl_find_object found;
  // Code that no library has brought.
  if (_dl_find_object(const_cast<void*>(address), &found) != 0) {
    return {.first_page = page, .pages = 1, .owner_bits = 0};
  }
  Pages pages{page_of(found.dlfo_map_start), page_of(static_cast<char*>(found.dlfo_map_end) - 1) + 1};
  const uint64_t verdict = base::options().nested_libraries ? verdict_of(found) : kOrdinary;
  Library library = verdict == kOpenBlas ? Library::openblas : Library::other;
  if (verdict >= kFirstPart) {
    const Parts& parts = g_parts[verdict - kFirstPart];
    library = parts.owner_at(reinterpret_cast<uintptr_t>(address) - found.dlfo_link_map->l_addr);
    for (CodeRange range : {parts.blas, parts.question}) {
      if (range.empty()) continue;
      range.begin += found.dlfo_link_map->l_addr;
      range.end += found.dlfo_link_map->l_addr;
      pages = around(page, pages, range);
    }
  }
  constexpr uint64_t kMost = (uint64_t{1} << Mapping::kSizeBits) - 1;
  if (pages.end - pages.first > kMost) pages.first = page;
  return {.first_page = pages.first,
          .pages = std::min(pages.end - pages.first, kMost),
          .owner_bits = static_cast<uint64_t>(library)};
}

}  // namespace

int own_count(const void* address) noexcept {
  // Acquire: as the release above.
  if (!g_counts_itself.load(std::memory_order_acquire)) return 0;
  dl_find_object found;
  if (_dl_find_object(const_cast<void*>(address), &found) != 0) return 0;
  const uint64_t hash = hash_of(found);
  for (const Counting& counting : g_counting) {
    if (counting.hash != hash) continue;
    // The library's own variables, which another thread may be writing.
    const auto value = [&found](uintptr_t at) {
      return __atomic_load_n(reinterpret_cast<const int*>(found.dlfo_link_map->l_addr + at), __ATOMIC_RELAXED);
    };
    return value(counting.count.is_set) != 0 ? value(counting.count.threads) : 0;
  }
  return 0;
}

AskMkl mkl_question(const void* address) noexcept {
  dl_find_object found;
  if (_dl_find_object(const_cast<void*>(address), &found) != 0) return nullptr;
  const uint64_t verdict = verdict_of(found);
  if (verdict < kFirstPart || g_parts[verdict - kFirstPart].question.empty()) return nullptr;
  return reinterpret_cast<AskMkl>(found.dlfo_link_map->l_addr + g_parts[verdict - kFirstPart].question.begin);
}

Library look_up(const void* address) noexcept {
  const base::KeepErrno keep;
  count(&g_callers_looked_up);
  if (t_believed <= 0) {
    for (std::atomic<Mapping>& kept : t_mappings) kept.store({}, std::memory_order_relaxed);
    t_believed = kBelieved;
  }
  const Mapping mapping = mapping_of(address);
  if (mapping.pages == 0) return mapping.owner();
  // The latest stands first; the one that was asked for longest ago goes.
  for (size_t i = kRemembered - 1; i > 0; --i) {
    t_mappings[i].store(t_mappings[i - 1].load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  t_mappings[0].store(mapping, std::memory_order_relaxed);
  return mapping.owner();
}

}  // namespace weft::openmp
