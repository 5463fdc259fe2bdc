// SPDX-License-Identifier: Apache-2.0
// Where no library reads debug information: the functions that the symbol tables of objects name.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/demangled.h"
#include "symbols/readers.h"

namespace weft::tools {

namespace {

struct Function {
  uint64_t begin = 0;
  uint64_t end = 0;
  std::string name;
};

// A file as it lies on disk; whatever it says is bounded by its size.
class File {
 public:
  explicit File(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status{};
    if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
      void* mapped = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (mapped != MAP_FAILED) {
        bytes_ = static_cast<const char*>(mapped);
        size_ = static_cast<uint64_t>(status.st_size);
      }
    }
    if (file >= 0) close(file);
  }
  ~File() {
    if (bytes_ != nullptr) munmap(const_cast<char*>(bytes_), size_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  template <class Value>
  bool read(uint64_t offset, Value& value) const {
    if (offset > size_ || size_ - offset < sizeof value) return false;
    std::memcpy(&value, bytes_ + offset, sizeof value);
    return true;
  }
  std::string text(uint64_t offset) const {
    if (offset >= size_) return {};
    return {bytes_ + offset, strnlen(bytes_ + offset, size_ - offset)};
  }

 private:
  const char* bytes_ = nullptr;
  uint64_t size_ = 0;
};

std::vector<Function> functions_of(const File& file, const Elf64_Ehdr& header) {
  std::vector<Function> functions;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section{};
    if (!file.read(header.e_shoff + uint64_t{i} * header.e_shentsize, section)) break;
    if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) continue;
    Elf64_Shdr names{};
    if (!file.read(header.e_shoff + uint64_t{section.sh_link} * header.e_shentsize, names)) continue;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol{};
      if (!file.read(section.sh_offset + at, symbol)) break;
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_value == 0) continue;
      functions.push_back({symbol.st_value, symbol.st_value + std::max<uint64_t>(symbol.st_size, 1),
                           file.text(names.sh_offset + symbol.st_name)});
    }
  }
  std::sort(functions.begin(), functions.end(), [](const Function& a, const Function& b) { return a.begin < b.begin; });
  return functions;
}

struct Object {
  std::vector<Function> functions;
  std::vector<Elf64_Phdr> segments;
};

Object read_object(const std::string& path) {
  const File file(path);
  Object object;
  Elf64_Ehdr header{};
  if (!file.read(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return object;
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return object;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!file.read(header.e_phoff + uint64_t{i} * header.e_phentsize, segment)) break;
    if (segment.p_type == PT_LOAD) object.segments.push_back(segment);
  }
  object.functions = functions_of(file, header);
  return object;
}

struct Mapping {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t offset = 0;
  std::string path;
};

bool parse(const std::string& line, Mapping& mapping) {
  std::istringstream words(line);
  std::string range;
  std::string access;
  std::string offset;
  std::string skipped;
  if (!(words >> range >> access >> offset >> skipped >> skipped)) return false;
  std::getline(words >> std::ws, mapping.path);
  const size_t dash = range.find('-');
  if (dash == std::string::npos || mapping.path.empty() || mapping.path.front() != '/') return false;
  mapping.begin = std::strtoull(range.c_str(), nullptr, 16);
  mapping.end = std::strtoull(range.c_str() + dash + 1, nullptr, 16);
  mapping.offset = std::strtoull(offset.c_str(), nullptr, 16);
  return mapping.begin < mapping.end;
}

class FunctionNames : public Symbols {
 public:
  explicit FunctionNames(const std::string& maps_file) {
    std::ifstream lines(maps_file);
    Mapping mapping;
    for (std::string line; std::getline(lines, line);) {
      if (parse(line, mapping)) mappings_.push_back(mapping);
    }
  }

  bool reads_lines() const override { return false; }

  CodePlace find(uint64_t address) override {
    CodePlace place;
    place.offset = address;
    // Of the call, which stands before the address that it returns to.
    --address;
    const auto mapping = std::find_if(mappings_.begin(), mappings_.end(),
                                      [&](const Mapping& one) { return address >= one.begin && address < one.end; });
    if (mapping == mappings_.end()) return place;
    place.object = mapping->path;
    const uint64_t in_file = address - mapping->begin + mapping->offset;
    place.offset = in_file + 1;
    const auto [known, is_new] = objects_.try_emplace(mapping->path);
    if (is_new) known->second = read_object(mapping->path);
    const Object& object = known->second;
    const auto segment = std::find_if(object.segments.begin(), object.segments.end(), [&](const Elf64_Phdr& one) {
      return in_file >= one.p_offset && in_file - one.p_offset < one.p_filesz;
    });
    if (segment == object.segments.end()) return place;
    const uint64_t linked = in_file - segment->p_offset + segment->p_vaddr;
    auto behind = std::upper_bound(object.functions.begin(), object.functions.end(), linked,
                                   [](uint64_t at, const Function& function) { return at < function.begin; });
    if (behind != object.functions.begin() && linked < (--behind)->end) place.function = demangled(behind->name);
    return place;
  }

 private:
  std::vector<Mapping> mappings_;
  std::map<std::string, Object> objects_;
};

}  // namespace

std::unique_ptr<Symbols> read_function_names(const std::string& maps_file) {
  return std::make_unique<FunctionNames>(maps_file);
}

}  // namespace weft::tools
