// SPDX-License-Identifier: Apache-2.0
#include "defaults_object.h"

#include <cstring>

#include <elf.h>

namespace weft::driver {

namespace {

#if defined(__x86_64__)
constexpr Elf64_Half kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
#endif

enum Section : Elf64_Half { kNone, kData, kSymbols, kNames, kStack, kSections };

// Names of sections and symbols, as they stand in the file.
constexpr char kStrings[] = "\0.rodata\0.symtab\0.strtab\0.note.GNU-stack\0weft_defaults";
constexpr size_t kAlignment = 8;

Elf64_Word offset_of(const char* name) {
  size_t at = 1;
  while (std::strcmp(kStrings + at, name) != 0) at += std::strlen(kStrings + at) + 1;
  return static_cast<Elf64_Word>(at);
}

template <class Value>
void append(std::string& bytes, const Value& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Appends the section's contents and describes them.
Elf64_Shdr section(std::string& file, const char* name, Elf64_Word type, const std::string& contents) {
  file.resize((file.size() + kAlignment - 1) / kAlignment * kAlignment, '\0');
  Elf64_Shdr header{};
  header.sh_name = offset_of(name);
  header.sh_type = type;
  header.sh_offset = file.size();
  header.sh_size = contents.size();
  header.sh_addralign = kAlignment;
  file += contents;
  return header;
}

std::string symbols(size_t size) {
  Elf64_Sym symbol{};
  symbol.st_name = offset_of("weft_defaults");
  symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
  symbol.st_shndx = kData;
  symbol.st_size = size;
  std::string table;
  append(table, Elf64_Sym{});
  append(table, symbol);
  return table;
}

Elf64_Ehdr file_header(Elf64_Off sections) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
  header.e_machine = kMachine;
  header.e_version = EV_CURRENT;
  header.e_shoff = sections;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = kSections;
  header.e_shstrndx = kNames;
  return header;
}

}  // namespace

std::string defaults_object(const Words& settings) {
  std::string data;
  for (const std::string& setting : settings) data.append(setting.c_str(), setting.size() + 1);
  data.push_back('\0');

  std::string file(sizeof(Elf64_Ehdr), '\0');
  Elf64_Shdr headers[kSections] = {};
  headers[kData] = section(file, ".rodata", SHT_PROGBITS, data);
  headers[kData].sh_flags = SHF_ALLOC;
  headers[kSymbols] = section(file, ".symtab", SHT_SYMTAB, symbols(data.size()));
  headers[kSymbols].sh_link = kNames;
  headers[kSymbols].sh_info = 1;  // the first symbol that is not local
  headers[kSymbols].sh_entsize = sizeof(Elf64_Sym);
  headers[kNames] = section(file, ".strtab", SHT_STRTAB, std::string(kStrings, sizeof kStrings));
  // Its absence would ask for a stack that can be executed.
  headers[kStack] = section(file, ".note.GNU-stack", SHT_PROGBITS, {});
  file.resize((file.size() + kAlignment - 1) / kAlignment * kAlignment, '\0');
  const Elf64_Ehdr header = file_header(file.size());
  std::memcpy(file.data(), &header, sizeof header);
  for (const Elf64_Shdr& each : headers) append(file, each);
  return file;
}

}  // namespace weft::driver
