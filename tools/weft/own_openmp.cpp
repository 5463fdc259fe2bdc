// SPDX-License-Identifier: Apache-2.0
#include "own_openmp.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/inner_runtime.h"

namespace weft::tools {

std::string own_openmp(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  struct stat status{};
  std::string archive;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    const auto size = static_cast<size_t>(status.st_size);
    void* start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (start != MAP_FAILED) {
      const char* found = platform::ElfFile(static_cast<const char*>(start), size).inner_runtime();
      if (found != nullptr) archive = found;
      munmap(start, size);
    }
  }
  close(file);
  return archive;
}

}  // namespace weft::tools
