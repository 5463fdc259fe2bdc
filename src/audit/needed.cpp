// SPDX-License-Identifier: Apache-2.0
#include "audit/needed.h"

#include <climits>
#include <cstdint>
#include <cstring>
#include <iterator>

#include <sys/mman.h>

#include "audit/mapped_file.h"
#include "audit/room.h"
#include "audit/start.h"
#include "platform/openmp_runtime.h"
#include "platform/redirect.h"

namespace weft::audit {

namespace {

// What the dynamic section of an object says of names.
struct Names {
  explicit Names(const link_map* object) noexcept : base(object->l_addr), needed(object->l_ld) {
    for (const ElfW(Dyn)* entry = needed; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_STRTAB) strings = at<const char>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_VERNEED) versions = at<ElfW(Verneed)>(entry->d_un.d_ptr);
    }
  }

  // Visits the objects of which versions are needed, until `visit` says true: whether it did.
  template <class Visit>
  bool for_each_version(Visit&& visit) const noexcept {
    for (ElfW(Verneed)* entry = versions; entry != nullptr && strings != nullptr;) {
      if (visit(*entry)) return true;
      if (entry->vn_next == 0) break;
      entry = reinterpret_cast<ElfW(Verneed)*>(reinterpret_cast<char*>(entry) + entry->vn_next);
    }
    return false;
  }

  // The dynamic linker relocates some of these addresses in place, some it leaves as they are in the file.
  template <class T>
  T* at(ElfW(Addr) address) const noexcept {
    return reinterpret_cast<T*>(address < base ? base + address : address);
  }

  uintptr_t base;
  ElfW(Dyn) * needed;
  const char* strings = nullptr;
  ElfW(Verneed) * versions = nullptr;
};

// What was shortened before the program started: until then no object is unmapped. A program names one runtime, or two,
// by paths; what finds no room stays shortened.
struct PathChange {
  ElfW(Dyn) * entry;
  ElfW(Verneed) * version;  // null: it needs none of that runtime
  size_t folder;
};
PathChange g_shortened[16];
size_t g_shortened_count = 0;
bool g_is_starting = true;

bool is_runtime_by_path(const char* name) noexcept {
  return platform::folder_length(name) > 0 && platform::has_runtime_name(name);
}

// Before anybody can be in the code that may stand in the same page.
bool may_add(const link_map* object) noexcept {
  char path[PATH_MAX];
  const char* file = object->l_name[0] != '\0' ? object->l_name : program_file(path, sizeof path);
  return file != nullptr && platform::may_change_code(file);
}

template <class Number>
void add_to(Number& number, size_t added, int protection) noexcept {
  const auto page = static_cast<uintptr_t>(page_size());
  const uintptr_t begin = reinterpret_cast<uintptr_t>(&number) & ~(page - 1);
  const size_t size = reinterpret_cast<uintptr_t>(&number) + sizeof number - begin;
  if (mprotect(reinterpret_cast<void*>(begin), size, PROT_READ | PROT_WRITE) != 0) return;
  number += static_cast<Number>(added);
  if (protection != (PROT_READ | PROT_WRITE)) mprotect(reinterpret_cast<void*>(begin), size, protection);
}

// Visits the versions of runtimes that the object needs and the one at `library` does not have, until `visit` says
// true.
template <class Visit>
void for_each_missing(const link_map* object, const char* library, Visit&& visit) noexcept {
  const Names names(object);
  names.for_each_version([&](ElfW(Verneed) & needed) {
    const char* runtime = names.strings + needed.vn_file;
    if (!platform::has_runtime_name(runtime)) return false;
    const MappedFile file(library);
    auto* version = reinterpret_cast<ElfW(Vernaux)*>(reinterpret_cast<char*>(&needed) + needed.vn_aux);
    for (int left = needed.vn_cnt; left > 0; --left) {
      const char* name = names.strings + version->vna_name;
      const bool is_weak = (version->vna_flags & VER_FLG_WEAK) != 0;
      if (!is_weak && !file.elf().has_version(name) && visit(runtime, name, *version)) return true;
      version = reinterpret_cast<ElfW(Vernaux)*>(reinterpret_cast<char*>(version) + version->vna_next);
    }
    return false;
  });
}

}  // namespace

bool needs_runtime(const link_map* object) noexcept {
  const Names names(object);
  for (const ElfW(Dyn)* entry = names.needed; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    const bool is_name = entry->d_tag == DT_NEEDED && names.strings != nullptr;
    if (is_name && platform::has_runtime_name(names.strings + entry->d_un.d_val)) return true;
  }
  return false;
}

bool program_needs_runtime() noexcept {
  const auto* headers = reinterpret_cast<const ElfW(Phdr)*>(auxiliary(AT_PHDR));
  if (headers == nullptr) return false;
  link_map program{};
  for (unsigned long i = 0; i < auxiliary(AT_PHNUM); ++i) {
    if (headers[i].p_type == PT_PHDR) program.l_addr = reinterpret_cast<uintptr_t>(headers) - headers[i].p_vaddr;
  }
  for (unsigned long i = 0; i < auxiliary(AT_PHNUM); ++i) {
    if (headers[i].p_type == PT_DYNAMIC) {
      program.l_ld = reinterpret_cast<ElfW(Dyn)*>(program.l_addr + headers[i].p_vaddr);
    }
  }
  return needs_runtime(&program);
}

void shorten_needed(const link_map* object) noexcept {
  const Names names(object);
  if (names.strings == nullptr) return;
  for (ElfW(Dyn)* entry = names.needed; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag != DT_NEEDED) continue;
    const char* path = names.strings + entry->d_un.d_val;
    if (!is_runtime_by_path(path)) continue;
    PathChange done{entry, nullptr, platform::folder_length(path)};
    if (needs_path(object, path)) {
      if (!may_add(object)) continue;
      names.for_each_version([&](ElfW(Verneed) & version) {
        if (std::strcmp(names.strings + version.vn_file, path) != 0) return false;
        add_to(version.vn_file, done.folder, PROT_READ | PROT_EXEC);
        done.version = &version;
        return true;
      });
      if (needs_path(object, path)) continue;
    }
    add_to(entry->d_un.d_val, done.folder, PROT_READ | PROT_WRITE);
    if (g_is_starting && g_shortened_count < std::size(g_shortened)) g_shortened[g_shortened_count++] = done;
  }
}

void lengthen_needed() noexcept {
  for (; g_shortened_count > 0; --g_shortened_count) {
    const PathChange& done = g_shortened[g_shortened_count - 1];
    const size_t back = 0 - done.folder;
    if (done.version != nullptr) add_to(done.version->vn_file, back, PROT_READ | PROT_EXEC);
    add_to(done.entry->d_un.d_val, back, PROT_READ | PROT_WRITE);
  }
}

void forget_shortened() noexcept {
  g_is_starting = false;
  g_shortened_count = 0;
}

bool needs_path(const link_map* object, const char* path) noexcept {
  const Names names(object);
  return names.for_each_version(
      [&](const ElfW(Verneed) & version) { return std::strcmp(names.strings + version.vn_file, path) == 0; });
}

MissingVersion find_missing_version(const link_map* object, const char* library) noexcept {
  MissingVersion missing;
  for_each_missing(object, library, [&](const char* runtime, const char* version, const ElfW(Vernaux)&) {
    missing = {version, runtime};
    return true;
  });
  return missing;
}

void excuse_missing_versions(const link_map* object, const char* library) noexcept {
  if (!may_add(object)) return;
  for_each_missing(object, library, [](const char*, const char*, ElfW(Vernaux) & version) {
    add_to(version.vna_flags, VER_FLG_WEAK, PROT_READ | PROT_EXEC);
    return false;
  });
}

}  // namespace weft::audit
