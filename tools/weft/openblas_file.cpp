// SPDX-License-Identifier: Apache-2.0
#include "openblas_file.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include <elf.h>
#include <link.h>
#include <sys/mman.h>

#include "interpose/openblas.h"
#include "interpose/wait_loops.h"
#include "mapped_file.h"
#include "platform/loaded_object.h"

namespace weft::tools {

namespace {

// The segments of a shared object, copied to where they would lie: addresses in its code fit, and it may be changed.
class Image {
 public:
  explicit Image(const MappedFile& file) {
    ElfW(Ehdr) header{};
    if (!file.read(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_type != ET_DYN) return;
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(ElfW(Phdr))) return;
    std::vector<ElfW(Phdr)> segments(header.e_phnum);
    for (size_t i = 0; i < segments.size(); ++i) {
      if (!file.read(header.e_phoff + i * sizeof segments[i], segments[i])) return;
      if (segments[i].p_type != PT_LOAD) continue;
      constexpr uint64_t kMost = uint64_t{1} << 32;
      if (segments[i].p_vaddr > kMost || segments[i].p_memsz > kMost || segments[i].p_filesz > segments[i].p_memsz) {
        return;
      }
      size_ = std::max<size_t>(size_, segments[i].p_vaddr + segments[i].p_memsz);
    }
    if (size_ == 0) return;
    void* start = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) return;
    start_ = static_cast<char*>(start);
    for (const ElfW(Phdr) & segment : segments) {
      if (segment.p_type == PT_LOAD) {
        const std::string_view bytes = file.part(segment.p_offset, segment.p_filesz);
        std::copy(bytes.begin(), bytes.end(), start_ + segment.p_vaddr);
      } else if (segment.p_type == PT_DYNAMIC && segment.p_vaddr < size_) {
        dynamic_ = reinterpret_cast<const ElfW(Dyn)*>(start_ + segment.p_vaddr);
      }
    }
  }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  ~Image() {
    if (start_ != nullptr) munmap(start_, size_);
  }

  bool good() const { return dynamic_ != nullptr; }
  platform::LoadedObject object() const { return {reinterpret_cast<uintptr_t>(start_), dynamic_}; }

 private:
  char* start_ = nullptr;
  size_t size_ = 0;
  const ElfW(Dyn) * dynamic_ = nullptr;
};

// Of "OpenBLAS 0.3.30  USE64BITINT DYNAMIC_ARCH ...", which each build holds: the second word.
std::string version_in(std::string_view bytes) {
  constexpr std::string_view kName = "OpenBLAS ";
  for (size_t at = 0; (at = bytes.find(kName, at)) != std::string_view::npos;) {
    at += kName.size();
    const std::string_view rest = bytes.substr(at, 32);
    const size_t end = rest.find_first_not_of("0123456789.dev");
    if (!rest.empty() && std::isdigit(static_cast<unsigned char>(rest[0])) != 0 && end > 2 && end != rest.npos) {
      return std::string(rest.substr(0, end));
    }
  }
  return "of a version that it does not name";
}

bool is_openblas(const platform::LoadedObject& object) {
  bool found = false;
  object.for_each_defined([&](const char* name, void*, size_t) {
    return found = interpose::known(name) == interpose::Known::get_configuration;
  });
  return found;
}

// How jobs of a copy that is taken over are seen to wait. Loops are replaced in the image, which nobody runs.
std::string waits_of(const platform::LoadedObject& object) {
#if defined(__x86_64__)
  using interpose::kArraysSeen;
  using interpose::kListsSeen;
  const char nothing = 0;
  const uint32_t seen = interpose::WaitLoops(object).call(&nothing);
  if ((seen & (kArraysSeen | kListsSeen)) == (kArraysSeen | kListsSeen)) return {};
  const char* unseen = (seen & kArraysSeen) != 0  ? "LU factorizations"
                       : (seen & kListsSeen) != 0 ? "products"
                                                  : "products and LU factorizations";
  return std::string(", but how jobs of ") + unseen +
         " wait is not known in this build: the load decides how these are split, and rounding with it";
#else
  static_cast<void>(object);
  return {};
#endif
}

}  // namespace

std::string look_into_openblas(const std::string& path, bool audits) {
  const MappedFile file(path);
  // Most files are no such library, and are not copied.
  if (file.all().find("openblas_get_config") == std::string_view::npos) return {};
  const Image image(file);
  if (!image.good()) return {};
  const platform::LoadedObject object = image.object();
  if (!is_openblas(object)) return {};
  const std::string name = "OpenBLAS " + version_in(file.all());
  if (object.needs("omp_get_max_threads")) return name + " on OpenMP: its regions run on weft's pool";
  const bool known = interpose::OpenBlas(object).found();
  if (known && audits) {
    return name + " on pthreads: its jobs run on weft's pool" + waits_of(object);
  }
  const bool is_serial = object.find("exec_blas") == nullptr && object.find("blas_memory_alloc") != nullptr;
  if (is_serial) return name + ": has no threads";
  const char* reason = known                              ? "weft_adopt_libraries() takes it over"
                       : interpose::is_new_enough(object) ? "its builders hide the names that weft needs"
                                                          : "older than 0.3.29";
  return name + " on pthreads: left alone (" + reason +
         "): its threads are its own and want CPUs beside weft's; OPENBLAS_NUM_THREADS=n bounds them";
}

}  // namespace weft::tools
