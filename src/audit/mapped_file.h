// SPDX-License-Identifier: Apache-2.0
// A file that is looked into, without a libc.
#pragma once

#include <cstddef>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "platform/elf_file.h"

namespace weft::audit {

class MappedFile {
 public:
  explicit MappedFile(const char* path) noexcept {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    const off_t size = lseek(file, 0, SEEK_END);
    void* bytes = MAP_FAILED;
    if (size > 0) bytes = mmap(nullptr, static_cast<size_t>(size), PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (bytes == MAP_FAILED) return;
    bytes_ = bytes;
    size_ = static_cast<size_t>(size);
  }
  ~MappedFile() {
    if (bytes_ != nullptr) munmap(bytes_, size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // Empty where the file cannot be read.
  platform::ElfFile elf() const noexcept { return {static_cast<const char*>(bytes_), size_}; }

 private:
  void* bytes_ = nullptr;
  size_t size_ = 0;
};

}  // namespace weft::audit
