// SPDX-License-Identifier: Apache-2.0
// The dynamic symbols of an ELF object that is mapped, perhaps not relocated yet. Needs nothing of libc, so that the
// audit library may use it.
#pragma once

#include <cstddef>
#include <cstdint>

#include <link.h>

namespace weft::platform {

class LoadedObject {
 public:
  // `base`: what is added to the addresses in the file (l_addr, dlpi_addr); `dynamic`: its dynamic section.
  LoadedObject(uintptr_t base, const ElfW(Dyn) * dynamic) noexcept : base_(base) {
    if (dynamic == nullptr) return;
    for (; dynamic->d_tag != DT_NULL; ++dynamic) {
      switch (dynamic->d_tag) {
        case DT_SYMTAB: symbols_ = at<const ElfW(Sym)>(dynamic->d_un.d_ptr); break;
        case DT_STRTAB: strings_ = at<const char>(dynamic->d_un.d_ptr); break;
        case DT_STRSZ: size_of_strings_ = dynamic->d_un.d_val; break;
        case DT_GNU_HASH: hash_ = at<const uint32_t>(dynamic->d_un.d_ptr); break;
        case DT_HASH: old_hash_ = at<const uint32_t>(dynamic->d_un.d_ptr); break;
        case DT_RELA: relocations_[0].first = at<const ElfW(Rela)>(dynamic->d_un.d_ptr); break;
        case DT_RELASZ: relocations_[0].count = dynamic->d_un.d_val / sizeof(ElfW(Rela)); break;
        case DT_JMPREL: relocations_[1].first = at<const ElfW(Rela)>(dynamic->d_un.d_ptr); break;
        case DT_PLTRELSZ: relocations_[1].count = dynamic->d_un.d_val / sizeof(ElfW(Rela)); break;
        default: break;
      }
    }
  }

  // The address of a symbol that the object defines; null: it does not. Functions chosen at run time (IFUNC) count as
  // not there.
  void* find(const char* name) const noexcept {
    if (!hashed()) return find_among_all(name);
    void* found = nullptr;
    for_each_of_name(name, [&](const ElfW(Sym) & symbol) {
      found = address_of(symbol);
      return true;
    });
    return found;
  }

  // Visits the entries of the symbols of that name which the object defines, one for each version, until `visit` says
  // true. Of an object with the older kind of table only: none.
  template <class Visit>
  void for_each_of_name(const char* name, Visit&& visit) const noexcept {
    if (!hashed()) return;
    const uint32_t wanted = hash_of(name);
    const uint32_t filter_words = hash_[2];
    const auto* filter = reinterpret_cast<const ElfW(Addr)*>(hash_ + 4);
    constexpr uint32_t kBits = sizeof(ElfW(Addr)) * 8;
    const ElfW(Addr) word = filter[(wanted / kBits) & (filter_words - 1)];
    if ((word >> (wanted % kBits) & word >> ((wanted >> hash_[3]) % kBits) & 1) == 0) return;
    visit_bucket(wanted % hash_[0], [&](const ElfW(Sym) & symbol, uint32_t hash) {
      return (hash | 1) == (wanted | 1) && equal(strings_ + symbol.st_name, name) && visit(symbol);
    });
  }

  // Visits the symbols that the object defines, by name, address and size, until `visit` says true.
  template <class Visit>
  void for_each_defined(Visit&& visit) const noexcept {
    if (!hashed()) {
      visit_all([&](const ElfW(Sym) & symbol) { return visit_defined(symbol, visit); });
      return;
    }
    for (uint32_t bucket = 0; bucket < hash_[0]; ++bucket) {
      const bool ended =
          visit_bucket(bucket, [&](const ElfW(Sym) & symbol, uint32_t) { return visit_defined(symbol, visit); });
      if (ended) return;
    }
  }

  // The table that names of symbols stand in.
  const char* names() const noexcept { return strings_; }
  size_t size_of_names() const noexcept { return strings_ != nullptr ? size_of_strings_ : 0; }

  // Whether it asks for a symbol that it does not define. That is a matter of its relocations: no table says for every
  // object how many symbols there are, and some undefined ones have addresses (functions of programs that are linked to
  // run at a fixed place).
  bool needs(const char* name) const noexcept {
    return for_each_needed([name](const char* needed) { return equal(needed, name); });
  }

  // Visits the symbols that it asks for so, by name and perhaps several times, until `visit` says true: whether it did.
  template <class Visit>
  bool for_each_needed(Visit&& visit) const noexcept {
    if (!readable()) return false;
    for (const Relocations& some : relocations_) {
      for (size_t i = 0; some.first != nullptr && i < some.count; ++i) {
        const size_t index = some.first[i].r_info >> 32;
        if (index == 0) continue;  // most: they only add the base
        const ElfW(Sym)& symbol = symbols_[index];
        if (symbol.st_shndx == SHN_UNDEF && visit(strings_ + symbol.st_name)) return true;
      }
    }
    return false;
  }

  // Visits what it takes from other objects whole, as calls and addresses of functions are: the name, and the place
  // where the address stands.
  template <class Visit>
  void for_each_taken(Visit&& visit) const noexcept {
    for_each_reference([&](const char* name, void** place, bool) { visit(name, place); });
  }

  // The same with whether the object can do without (a weak reference).
  template <class Visit>
  void for_each_reference(Visit&& visit) const noexcept {
    if (!readable()) return;
#if defined(__x86_64__)
    constexpr uint32_t kWhole[] = {R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_64};
#elif defined(__aarch64__)
    constexpr uint32_t kWhole[] = {R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_ABS64};
#endif
    for (const Relocations& some : relocations_) {
      for (size_t i = 0; some.first != nullptr && i < some.count; ++i) {
        const ElfW(Rela)& relocation = some.first[i];
        const size_t index = relocation.r_info >> 32;
        if (index == 0 || relocation.r_addend != 0 || symbols_[index].st_shndx != SHN_UNDEF) continue;
        const auto type = static_cast<uint32_t>(relocation.r_info & 0xffffffff);
        if (type != kWhole[0] && type != kWhole[1] && type != kWhole[2]) continue;
        const ElfW(Sym)& symbol = symbols_[index];
        visit(strings_ + symbol.st_name, reinterpret_cast<void**>(base_ + relocation.r_offset),
              symbol.st_info >> 4 == STB_WEAK);
      }
    }
  }

  // Whether it reaches thread-local data of another object by its place, without a call, so that there must be room for
  // that from the start. Compilers take this way in programs, and neither object need say so in its flags.
  bool reaches_others_thread_local() const noexcept {
    if (!readable()) return false;
#if defined(__x86_64__)
    constexpr uint32_t kPlace = R_X86_64_TPOFF64;
#elif defined(__aarch64__)
    constexpr uint32_t kPlace = R_AARCH64_TLS_TPREL;
#endif
    for (const Relocations& some : relocations_) {
      for (size_t i = 0; some.first != nullptr && i < some.count; ++i) {
        const size_t index = some.first[i].r_info >> 32;
        if (index == 0 || (some.first[i].r_info & 0xffffffff) != kPlace) continue;
        if (symbols_[index].st_shndx == SHN_UNDEF) return true;
      }
    }
    return false;
  }

 private:
  // The dynamic linker relocates some of these addresses in place, some it leaves as they are in the file.
  template <class T>
  T* at(ElfW(Addr) address) const noexcept {
    return reinterpret_cast<T*>(address < base_ ? base_ + address : address);
  }

  bool readable() const noexcept { return symbols_ != nullptr && strings_ != nullptr; }
  bool hashed() const noexcept { return readable() && hash_ != nullptr && hash_[0] > 0; }

  // For objects that have the older kind of table only, which says how many symbols there are.
  template <class Visit>
  void visit_all(Visit&& visit) const noexcept {
    const uint32_t count = readable() && old_hash_ != nullptr ? old_hash_[1] : 0;
    for (uint32_t i = 1; i < count; ++i) {
      if (visit(symbols_[i])) return;
    }
  }

  void* find_among_all(const char* name) const noexcept {
    void* found = nullptr;
    visit_all([&](const ElfW(Sym) & symbol) {
      if (equal(strings_ + symbol.st_name, name)) found = address_of(symbol);
      return found != nullptr;
    });
    return found;
  }

  template <class Visit>
  bool visit_defined(const ElfW(Sym) & symbol, Visit&& visit) const noexcept {
    void* address = address_of(symbol);
    return address != nullptr && visit(strings_ + symbol.st_name, address, static_cast<size_t>(symbol.st_size));
  }

  template <class Visit>
  bool visit_bucket(uint32_t bucket, Visit&& visit) const noexcept {
    const uint32_t first = hash_[1];
    const uint32_t* buckets = hash_ + 4 + hash_[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t* chain = buckets + hash_[0];
    uint32_t index = buckets[bucket];
    if (index < first) return false;
    for (;; ++index) {
      const uint32_t hash = chain[index - first];
      if (visit(symbols_[index], hash)) return true;
      if ((hash & 1) != 0) return false;  // the last of its bucket
    }
  }

  void* address_of(const ElfW(Sym) & symbol) const noexcept {
    const unsigned type = symbol.st_info & 0xf;
    const bool usual = type == STT_FUNC || type == STT_OBJECT;
    return usual && symbol.st_shndx != SHN_UNDEF ? reinterpret_cast<void*>(base_ + symbol.st_value) : nullptr;
  }

  static uint32_t hash_of(const char* name) noexcept {
    uint32_t hash = 5381;
    for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
    return hash;
  }

  static bool equal(const char* a, const char* b) noexcept {
    while (*a != '\0' && *a == *b) ++a, ++b;
    return *a == *b;
  }

  uintptr_t base_;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* strings_ = nullptr;
  size_t size_of_strings_ = 0;
  const uint32_t* hash_ = nullptr;  // DT_GNU_HASH
  const uint32_t* old_hash_ = nullptr;  // DT_HASH
  // Those of data, and those of calls.
  struct Relocations {
    const ElfW(Rela) * first = nullptr;
    size_t count = 0;
  };
  Relocations relocations_[2];
};

// That of a visit by dl_iterate_phdr.
inline LoadedObject object_of(const dl_phdr_info& info) noexcept {
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    if (header.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + header.p_vaddr);
  }
  return {info.dlpi_addr, dynamic};
}

}  // namespace weft::platform
