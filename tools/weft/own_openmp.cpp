// SPDX-License-Identifier: Apache-2.0
#include "own_openmp.h"

#include <cstring>
#include <string_view>

#include <elf.h>

#include "mapped_file.h"

namespace weft::tools {

namespace {

struct Runtime {
  const char* archive;
  std::string_view function;  // that every program with a parallel region calls
  std::string_view variable;  // that only the runtime itself looks for; for programs without symbols
};
constexpr Runtime kRuntimes[] = {{"libgomp.a", "GOMP_parallel", "GOMP_SPINCOUNT"},
                                 {"libomp.a", "__kmpc_fork_call", "KMP_BLOCKTIME"}};

class Sections {
 public:
  explicit Sections(const MappedFile& file) : file_(file) {
    if (!file.read(0, header_)) header_ = {};
  }

  int count() const { return header_.e_shentsize == sizeof(Elf64_Shdr) ? header_.e_shnum : 0; }
  Elf64_Shdr at(int index) const {
    Elf64_Shdr section{};
    file_.read(header_.e_shoff + static_cast<uint64_t>(index) * sizeof section, section);
    return section;
  }
  std::string_view contents(const Elf64_Shdr& section) const { return file_.part(section.sh_offset, section.sh_size); }

 private:
  const MappedFile& file_;
  Elf64_Ehdr header_{};
};

bool defines(const Sections& sections, const Elf64_Shdr& table, std::string_view name) {
  const std::string_view symbols = sections.contents(table);
  const std::string_view names = sections.contents(sections.at(static_cast<int>(table.sh_link)));
  for (size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size(); at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol{};
    std::memcpy(&symbol, symbols.data() + at, sizeof symbol);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= names.size()) continue;
    const std::string_view rest = names.substr(symbol.st_name);
    if (rest.starts_with(name) && rest.size() > name.size() && rest[name.size()] == '\0') return true;
  }
  return false;
}

// Constants of a program, which no section of code or of the linker's is.
bool is_read_only_data(const Elf64_Shdr& section) {
  return section.sh_type == SHT_PROGBITS && section.sh_flags == SHF_ALLOC;
}

}  // namespace

std::string own_openmp(const std::string& path) {
  const MappedFile file(path);
  const Sections sections(file);
  for (int i = 0; i < sections.count(); ++i) {
    const Elf64_Shdr section = sections.at(i);
    if (section.sh_type != SHT_SYMTAB) continue;
    for (const Runtime& runtime : kRuntimes) {
      if (defines(sections, section, runtime.function)) return runtime.archive;
    }
    return {};
  }
  for (int i = 0; i < sections.count(); ++i) {
    const Elf64_Shdr section = sections.at(i);
    if (!is_read_only_data(section)) continue;
    for (const Runtime& runtime : kRuntimes) {
      const std::string_view text = sections.contents(section);
      if (memmem(text.data(), text.size(), runtime.variable.data(), runtime.variable.size()) != nullptr) {
        return runtime.archive;
      }
    }
  }
  return {};
}

}  // namespace weft::tools
