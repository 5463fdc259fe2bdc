// SPDX-License-Identifier: Apache-2.0
#include "openmp/library/embedded_code.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft::openmp {

namespace {

// Opens the region of every call that has several threads. It is there in every OpenBLAS, and in nothing else.
constexpr std::string_view kOpener = "exec_blas";

// Functions of the interface that ask how many threads there are, without the letters of their types.
constexpr std::string_view kAsking[] = {
    "axpy", "axpyc", "copy",  "dot",   "dotc",  "dotu",  "gbmv", "gemm", "gemm3m", "gemmt", "gemv",  "ger",
    "gerc", "geru",  "gesv",  "getrf", "getrs", "hemm",  "hemv", "her",  "her2",   "her2k", "herk",  "hpmv",
    "hpr",  "hpr2",  "laswp", "lauum", "potrf", "potri", "rot",  "scal", "spr",    "spr2",  "swap",  "symm",
    "symv", "syr",   "syr2",  "syr2k", "syrk",  "tbmv",  "tpmv", "trmm", "trmv",   "trsm",  "trtri", "trtrs",
};
// Kernels that open regions themselves.
constexpr std::string_view kKernels[] = {"asum", "dot", "dotc", "dotu", "rot"};

template <size_t N>
bool contains(const std::string_view (&names)[N], std::string_view name) noexcept {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// In place of substr(), which brings exceptions into the runtime.
std::string_view before(std::string_view name, size_t length) noexcept {
  return {name.data(), std::min(length, name.size())};
}
std::string_view behind(std::string_view name, size_t length) noexcept {
  name.remove_prefix(std::min(length, name.size()));
  return name;
}

bool drop(std::string_view& name, std::string_view prefix) noexcept {
  if (!name.starts_with(prefix)) return false;
  name.remove_prefix(prefix.size());
  return true;
}

// The letters of the types, then one of `names`.
template <size_t N>
bool is_typed(const std::string_view (&names)[N], std::string_view name) noexcept {
  constexpr std::string_view kTypes = "sdcz";
  for (size_t letters = 1; letters <= 2 && letters < name.size(); ++letters) {
    if (kTypes.find(name[letters - 1]) == std::string_view::npos) return false;
    if (contains(names, behind(name, letters))) return true;
  }
  return false;
}

// dgemm_, dgemm_64_ and cblas_dgemm; ddot_k and ddot_k_HASWELL.
bool is_of_blas(std::string_view name) noexcept {
  if (name == kOpener) return true;
  if (drop(name, "cblas_")) return is_typed(kAsking, before(name, name.find("64_")));
  if (const size_t kernel = name.find("_k"); kernel != std::string_view::npos) {
    const std::string_view rest = behind(name, kernel + 2);
    return (rest.empty() || rest[0] == '_') && is_typed(kKernels, before(name, kernel));
  }
  if (!name.ends_with('_')) return false;
  name.remove_suffix(1);
  if (name.ends_with("_64")) name.remove_suffix(3);
  return is_typed(kAsking, name);
}

// A file that is mapped for as long as this lives.
class MappedFile {
 public:
  explicit MappedFile(const char* file) noexcept {
    const int descriptor = open(file, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    struct stat status;
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
      const auto size = static_cast<size_t>(status.st_size);
      void* start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
      if (start != MAP_FAILED) {
        start_ = static_cast<const char*>(start);
        size_ = size;
      }
    }
    close(descriptor);
  }
  ~MappedFile() {
    if (start_ != nullptr) munmap(const_cast<char*>(start_), size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // `count` elements at an offset; null: the file does not hold them.
  template <class T>
  const T* at(uint64_t offset, uint64_t count) const noexcept {
    if (offset > size_ || count > (size_ - offset) / sizeof(T) || offset % alignof(T) != 0) return nullptr;
    return reinterpret_cast<const T*>(start_ + offset);
  }

 private:
  const char* start_ = nullptr;
  size_t size_ = 0;
};

// The table of all symbols, or that of the dynamic ones in a file without it.
const ElfW(Shdr) * symbol_table(const ElfW(Shdr) * sections, uint64_t count) noexcept {
  for (const uint32_t kind : {SHT_SYMTAB, SHT_DYNSYM}) {
    const auto* found =
        std::find_if(sections, sections + count, [=](const auto& some) { return some.sh_type == kind; });
    if (found != sections + count && found->sh_link < count) return found;
  }
  return nullptr;
}

}  // namespace

namespace {

// The named symbols of a file's table, where their names hold `word`. Most files do not.
struct Symbols {
  const ElfW(Sym) * begin = nullptr;
  const ElfW(Sym) * end = nullptr;
  const char* names = nullptr;
  uint64_t names_size = 0;

  Symbols(const MappedFile& file, std::string_view word) noexcept {
    const auto* header = file.at<ElfW(Ehdr)>(0, 1);
    if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
    const auto* sections = file.at<ElfW(Shdr)>(header->e_shoff, header->e_shnum);
    const ElfW(Shdr)* table = sections == nullptr ? nullptr : symbol_table(sections, header->e_shnum);
    if (table == nullptr) return;
    const ElfW(Shdr)& strings = sections[table->sh_link];
    names = file.at<char>(strings.sh_offset, strings.sh_size);
    names_size = strings.sh_size;
    const uint64_t count = table->sh_size / sizeof(ElfW(Sym));
    const auto* symbols = file.at<ElfW(Sym)>(table->sh_offset, count);
    if (names == nullptr || symbols == nullptr || names_size == 0 || names[names_size - 1] != '\0') return;
    if (memmem(names, names_size, word.data(), word.size()) == nullptr) return;
    begin = symbols;
    end = symbols + count;
  }

  // visit(symbol, name) for those of a type that the file defines.
  template <class Visit>
  void each(unsigned type, Visit&& visit) const noexcept {
    for (const ElfW(Sym)* symbol = begin; symbol != end; ++symbol) {
      if ((symbol->st_info & 0xf) != type || symbol->st_shndx == SHN_UNDEF || symbol->st_name >= names_size) continue;
      visit(*symbol, std::string_view(names + symbol->st_name));
    }
  }
};

}  // namespace

CodeRange find_embedded_blas(const char* name) noexcept {
  const MappedFile file(name);
  CodeRange range;
  bool opens = false;
  Symbols(file, kOpener).each(STT_FUNC, [&](const ElfW(Sym) & symbol, std::string_view of) {
    if (!is_of_blas(of)) return;
    opens = opens || of == kOpener;
    range.begin = range.empty() ? symbol.st_value : std::min<uintptr_t>(range.begin, symbol.st_value);
    range.end = std::max<uintptr_t>(range.end, symbol.st_value + std::max<uint64_t>(symbol.st_size, 1));
  });
  return opens ? range : CodeRange{};
}

CodeRange find_question_of_mkl(const char* name) noexcept {
  constexpr std::string_view kQuestion = "mkl_serv_domain_get_max_threads";
  const MappedFile file(name);
  CodeRange question;
  Symbols(file, kQuestion).each(STT_FUNC, [&](const ElfW(Sym) & symbol, std::string_view of) {
    if (of != kQuestion) return;
    question = {symbol.st_value, symbol.st_value + symbol.st_size};
  });
  return question;
}

OwnCount find_own_count(const char* name) noexcept {
  constexpr std::string_view kIsSet = "blas_is_num_threads_set_explicitly";
  const MappedFile file(name);
  OwnCount count;
  Symbols(file, kIsSet).each(STT_OBJECT, [&](const ElfW(Sym) & symbol, std::string_view of) {
    if (of == kIsSet) count.is_set = symbol.st_value;
    if (of == "blas_cpu_number") count.threads = symbol.st_value;
  });
  return count.is_set != 0 && count.threads != 0 ? count : OwnCount{};
}

}  // namespace weft::openmp
