// SPDX-License-Identifier: Apache-2.0
// The program headers of an object, read from its file: nothing that the dynamic linker shows says where they lie in
// memory, or whether they do.
#pragma once

#include <fcntl.h>
#include <link.h>
#include <unistd.h>

namespace weft::audit {

template <class T>
bool read_at(int file, ElfW(Off) offset, T& into) noexcept {
  return lseek(file, static_cast<off_t>(offset), SEEK_SET) >= 0 && read(file, &into, sizeof into) == sizeof into;
}

// Visits those of the file at `path`; none where it cannot be read.
template <class Visit>
void for_each_header(const char* path, Visit&& visit) noexcept {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ElfW(Ehdr) header{};
  const int count = read_at(file, 0, header) && header.e_phentsize == sizeof(ElfW(Phdr)) ? header.e_phnum : 0;
  for (int i = 0; i < count; ++i) {
    ElfW(Phdr) segment{};
    if (!read_at(file, header.e_phoff + static_cast<ElfW(Off)>(i) * sizeof segment, segment)) break;
    visit(segment);
  }
  close(file);
}

}  // namespace weft::audit
