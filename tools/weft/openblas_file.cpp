// SPDX-License-Identifier: Apache-2.0
#include "openblas_file.h"

#include <algorithm>
#include <vector>

#include <elf.h>
#include <link.h>
#include <sys/mman.h>

#include "interpose/openblas.h"
#include "interpose/wait_loops.h"
#include "mapped_file.h"
#include "platform/loaded_object.h"
#include "platform/segments.h"

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
        parts_.add(reinterpret_cast<uintptr_t>(start_), segment);
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
  const platform::Segments& segments() const { return parts_; }

 private:
  char* start_ = nullptr;
  size_t size_ = 0;
  const ElfW(Dyn) * dynamic_ = nullptr;
  platform::Segments parts_;
};

// What the names of a library say of it, whatever its version.
struct Names {
  explicit Names(const Image& image) {
    image.object().for_each_defined([&](const char* name, void* function, size_t size) {
      const interpose::Known what = interpose::known(name);
      is_openblas |= what == interpose::Known::get_configuration;
      is_new_enough |= what == interpose::Known::since_29;
      if (what == interpose::Known::get_configuration && version.text() == nullptr) {
        version = interpose::version_of(function, size, image.segments());
      }
      return false;
    });
  }
  bool is_openblas = false;
  bool is_new_enough = false;
  interpose::OpenBlasVersion version;
};

std::string text_of(const interpose::OpenBlasVersion& version) {
  if (version.text() == nullptr) return "of a version that it does not name";
  return {version.text(), version.length()};
}

// How jobs of a copy that is taken over are seen to wait. Loops are replaced in the image, which nobody runs.
std::string waits_of(const Image& image) {
#if defined(__x86_64__)
  using interpose::kArraysSeen;
  using interpose::kListsSeen;
  const char nothing = 0;
  interpose::WaitLoops loops(image.segments());
  const interpose::OpenBlas library(
      image.object(), image.segments(),
      [&loops](interpose::Known what, void* function, size_t size) { loops.add(what, function, size); });
  const uint32_t seen = loops.call(&nothing);
  interpose::WaitLoops::give_back(loops.page());
  if ((seen & (kArraysSeen | kListsSeen)) == (kArraysSeen | kListsSeen)) return {};
  const char* unseen = (seen & kArraysSeen) != 0  ? "LU factorizations"
                       : (seen & kListsSeen) != 0 ? "products"
                                                  : "products and LU factorizations";
  return std::string(", but how jobs of ") + unseen +
         " wait is not known in this build: the load decides how these are split, and rounding with it";
#else
  static_cast<void>(image);
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
  const Names names(image);
  if (!names.is_openblas) return {};
  const platform::LoadedObject object = image.object();
  const std::string name = "OpenBLAS " + text_of(names.version);
  if (object.needs("omp_get_max_threads")) return name + " on OpenMP: its regions run on weft's pool";
  const bool known = interpose::OpenBlas(object, image.segments()).found();
  if (known && audits) {
    return name + " on pthreads: its jobs run on weft's pool" + waits_of(image);
  }
  const bool is_serial = object.find("exec_blas") == nullptr && object.find("blas_memory_alloc") != nullptr;
  if (is_serial) return name + ": has no threads";
  const char* reason = known                        ? "weft_adopt_libraries() takes it over"
                       : names.version.is_too_new() ? "newer than weft knows"
                       : names.is_new_enough        ? "its builders hide the names that weft needs"
                                                    : "older than 0.3.29";
  return name + " on pthreads: left alone (" + reason +
         "): its threads are its own and want CPUs beside weft's; OPENBLAS_NUM_THREADS=n bounds them";
}

}  // namespace weft::tools
