// SPDX-License-Identifier: Apache-2.0
// What a file says of OpenMP runtimes: of one inside a program or a library, of which no dynamic linker is asked, by
// its symbols, or, if these have been stripped, by words that only such a runtime holds; and of the versions that a
// runtime has. Needs nothing of libc but functions of strings, so that the audit library may use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <elf.h>

namespace weft::platform {

// The bytes of a 64-bit ELF file, which may be anything.
class ElfFile {
 public:
  ElfFile(const char* bytes, size_t size) noexcept : bytes_(bytes), size_(size) {
    if (!read(0, header_) || std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0) header_ = {};
  }

  // The archive that it was linked with, as in "libgomp.a"; null: none that can be seen.
  const char* inner_runtime() const noexcept {
    Elf64_Shdr symbols{};
    if (find_section(SHT_SYMTAB, symbols)) {
      for (const Runtime& runtime : kRuntimes) {
        if (defines(symbols, runtime.function)) return runtime.archive;
      }
      return nullptr;
    }
    for (int i = 0; i < sections(); ++i) {
      Elf64_Shdr section{};
      // Constants of a program, which no section of code or of the linker's is.
      if (!section_at(i, section) || section.sh_type != SHT_PROGBITS || section.sh_flags != SHF_ALLOC) continue;
      for (const Runtime& runtime : kRuntimes) {
        if (holds(section, runtime.variables[0]) && holds(section, runtime.variables[1])) return runtime.archive;
      }
    }
    return nullptr;
  }

  // Whether it defines a symbol of that name, as far as can be seen.
  bool defines(const char* name) const noexcept {
    Elf64_Shdr symbols{};
    return (find_section(SHT_SYMTAB, symbols) && defines(symbols, name)) ||
           (find_section(SHT_DYNSYM, symbols) && defines(symbols, name));
  }

  // Whether it defines that version of symbols. To the dynamic linker a library without versions has all of them.
  bool has_version(const char* name) const noexcept {
    Elf64_Shdr versions{};
    Elf64_Shdr names{};
    if (!find_section(SHT_GNU_verdef, versions) || !section_at(static_cast<int>(versions.sh_link), names)) return true;
    uint64_t at = versions.sh_offset;
    for (unsigned left = versions.sh_info; left > 0; --left) {
      Elf64_Verdef version{};
      Elf64_Verdaux first{};
      if (!read(at, version) || !read(at + version.vd_aux, first)) break;
      if (is_name(names, first.vda_name, name)) return true;
      if (version.vd_next == 0) break;
      at += version.vd_next;
    }
    return false;
  }

 private:
  struct Runtime {
    const char* archive;
    const char* function;  // that every program with a parallel region calls
    // That the runtime itself looks for. Programs may set one of them for it, but hardly both.
    const char* variables[2];
  };
  static constexpr Runtime kRuntimes[] = {
      {"libgomp.a", "GOMP_parallel", {"GOMP_SPINCOUNT", "GOMP_STACKSIZE"}},
      {"libomp.a", "__kmpc_fork_call", {"KMP_BLOCKTIME", "KMP_ALL_THREADS"}},
  };

  bool has(uint64_t offset, uint64_t size) const noexcept { return offset <= size_ && size <= size_ - offset; }

  template <class T>
  bool read(uint64_t offset, T& into) const noexcept {
    if (!has(offset, sizeof into)) return false;
    std::memcpy(&into, bytes_ + offset, sizeof into);
    return true;
  }

  int sections() const noexcept { return header_.e_shentsize == sizeof(Elf64_Shdr) ? header_.e_shnum : 0; }

  // False also where the file is shorter than the section says.
  bool section_at(int index, Elf64_Shdr& into) const noexcept {
    return read(header_.e_shoff + static_cast<uint64_t>(index) * sizeof into, into) &&
           (into.sh_type == SHT_NOBITS || has(into.sh_offset, into.sh_size));
  }

  bool find_section(unsigned type, Elf64_Shdr& into) const noexcept {
    for (int i = 0; i < sections(); ++i) {
      if (section_at(i, into) && into.sh_type == type) return true;
    }
    return false;
  }

  bool defines(const Elf64_Shdr& table, const char* name) const noexcept {
    Elf64_Shdr names{};
    if (table.sh_link >= static_cast<unsigned>(sections()) || !section_at(static_cast<int>(table.sh_link), names)) {
      return false;
    }
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol{};
      if (!read(table.sh_offset + at, symbol) || symbol.st_shndx == SHN_UNDEF) continue;
      if (is_name(names, symbol.st_name, name)) return true;
    }
    return false;
  }

  bool is_name(const Elf64_Shdr& names, uint64_t at, const char* name) const noexcept {
    const size_t length = std::strlen(name) + 1;
    if (at > names.sh_size || length > names.sh_size - at) return false;
    return std::memcmp(bytes_ + names.sh_offset + at, name, length) == 0;
  }

  bool holds(const Elf64_Shdr& section, const char* word) const noexcept {
    const size_t length = std::strlen(word);
    const char* at = bytes_ + section.sh_offset;
    const char* end = at + section.sh_size;
    for (; static_cast<size_t>(end - at) >= length; ++at) {
      if (*at == *word && std::memcmp(at, word, length) == 0) return true;
    }
    return false;
  }

  const char* bytes_;
  size_t size_;
  Elf64_Ehdr header_{};
};

}  // namespace weft::platform
