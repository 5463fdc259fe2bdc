// SPDX-License-Identifier: Apache-2.0
// The dynamic linker knows exported functions; the others, such as outlined regions, are in the file's own table.
#include "platform/code_name.h"

#include <cstdint>
#include <cstdio>
#include <cstring>

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft::platform {

namespace {

// A file mapped for reading; empty when that fails.
class Image {
 public:
  explicit Image(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status{};
    if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0) {
      void* at = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (at != MAP_FAILED) {
        start_ = static_cast<const char*>(at);
        size_ = static_cast<size_t>(status.st_size);
      }
    }
    if (file >= 0) close(file);
  }
  ~Image() {
    if (start_ != nullptr) munmap(const_cast<char*>(start_), size_);
  }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  // `count` things at `offset`; null: the file does not hold them.
  template <class Thing>
  const Thing* at(uint64_t offset, uint64_t count = 1) const {
    if (start_ == nullptr || offset > size_ || count > (size_ - offset) / sizeof(Thing)) return nullptr;
    return reinterpret_cast<const Thing*>(start_ + offset);
  }

 private:
  const char* start_ = nullptr;
  size_t size_ = 0;
};

struct Found {
  char name[256] = "";
  uint64_t offset = 0;
};

// The function of the file's symbol table that `address`, relative to where the file is loaded, lies in; no name: none.
void find(const Image& image, uint64_t address, Found& found) noexcept {
  const auto* header = image.at<ElfW(Ehdr)>(0);
  if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
  const auto* sections = image.at<ElfW(Shdr)>(header->e_shoff, header->e_shnum);
  for (int i = 0; sections != nullptr && i < header->e_shnum; ++i) {
    const ElfW(Shdr)& table = sections[i];
    if (table.sh_type != SHT_SYMTAB || table.sh_link >= header->e_shnum) continue;
    const uint64_t count = table.sh_size / sizeof(ElfW(Sym));
    const auto* symbols = image.at<ElfW(Sym)>(table.sh_offset, count);
    const ElfW(Shdr)& names = sections[table.sh_link];
    const char* strings = image.at<char>(names.sh_offset, names.sh_size);
    if (symbols == nullptr || strings == nullptr) return;
    for (uint64_t k = 0; k < count; ++k) {
      const ElfW(Sym)& symbol = symbols[k];
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || address < symbol.st_value ||
          address - symbol.st_value >= symbol.st_size || symbol.st_name >= names.sh_size) {
        continue;
      }
      const char* name = strings + symbol.st_name;
      std::snprintf(found.name, sizeof found.name, "%.*s",
                    static_cast<int>(strnlen(name, names.sh_size - symbol.st_name)), name);
      found.offset = address - symbol.st_value;
      return;
    }
  }
}

}  // namespace

void name_code(const void* address, char* text, size_t room) noexcept {
  Dl_info info{};
  link_map* loaded = nullptr;
  // The address is the one behind the call: that of a function's last call may be the next function's.
  const void* call = static_cast<const char*>(address) - 1;
  if (dladdr1(call, &info, reinterpret_cast<void**>(&loaded), RTLD_DL_LINKMAP) == 0) {
    std::snprintf(text, room, "%p", address);
    return;
  }
  // The linker names the program itself as it was called.
  const bool is_program = loaded->l_name[0] == '\0';
  const char* path = is_program ? "/proc/self/exe" : info.dli_fname;
  const char* slash = std::strrchr(info.dli_fname, '/');
  const char* file = slash != nullptr ? slash + 1 : info.dli_fname;
  const uint64_t relative = reinterpret_cast<uintptr_t>(call) - loaded->l_addr;
  Found found;
  find(Image(path), relative, found);
  if (found.name[0] == '\0' && info.dli_sname != nullptr) {
    std::snprintf(found.name, sizeof found.name, "%s", info.dli_sname);
    found.offset = static_cast<uint64_t>(static_cast<const char*>(call) - static_cast<char*>(info.dli_saddr));
  }
  if (found.name[0] == '\0') {
    std::snprintf(text, room, "%s+%#llx", file, static_cast<unsigned long long>(relative + 1));
  } else {
    std::snprintf(text, room, "%s+%#llx (%s)", found.name, static_cast<unsigned long long>(found.offset + 1), file);
  }
}

}  // namespace weft::platform
