// SPDX-License-Identifier: Apache-2.0
// The places in an object where the addresses of others' functions stand.
#pragma once

#include <cstdint>

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace weft::mpi {

// Where the dynamic linker has made the object's addresses read-only.
struct Protected {
  uintptr_t begin = 0;
  uintptr_t end = 0;

  explicit Protected(const dl_phdr_info& info) noexcept {
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      const ElfW(Phdr)& header = info.dlpi_phdr[i];
      if (header.p_type != PT_GNU_RELRO) continue;
      begin = info.dlpi_addr + header.p_vaddr;
      end = begin + header.p_memsz;
    }
  }

  void write(void** place, void* value) const noexcept {
    const auto size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto address = reinterpret_cast<uintptr_t>(place);
    auto* page = reinterpret_cast<void*>(address & ~(size - 1));
    const bool is_protected = address >= begin && address < (end & ~(size - 1));
    if (is_protected && mprotect(page, size, PROT_READ | PROT_WRITE) != 0) return;
    *place = value;
    if (is_protected) mprotect(page, size, PROT_READ);
  }
};

}  // namespace weft::mpi
