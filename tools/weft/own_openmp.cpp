// SPDX-License-Identifier: Apache-2.0
#include "own_openmp.h"

#include "mapped_file.h"
#include "platform/elf_file.h"

namespace weft::tools {

std::string own_openmp(const std::string& path) {
  const MappedFile file(path);
  const char* archive = platform::ElfFile(file.all().data(), file.all().size()).inner_runtime();
  return archive == nullptr ? std::string() : archive;
}

bool has_own_mpi(const std::string& path) {
  const MappedFile file(path);
  return platform::ElfFile(file.all().data(), file.all().size()).defines("PMPI_Init");
}

}  // namespace weft::tools
