// SPDX-License-Identifier: Apache-2.0
// A symbol of any object of the process, whether it is in the global scope or not.
#pragma once

#include <link.h>

#include "platform/loaded_object.h"

namespace weft::platform {

// The address in the first object that defines it; null: none does.
inline void* find_symbol(const char* name) noexcept {
  struct Search {
    const char* name;
    void* found;
  } search{name, nullptr};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* argument) {
        auto* wanted = static_cast<Search*>(argument);
        for (int i = 0; i < info->dlpi_phnum && wanted->found == nullptr; ++i) {
          const ElfW(Phdr)& header = info->dlpi_phdr[i];
          if (header.p_type != PT_DYNAMIC) continue;
          const auto* dynamic = reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + header.p_vaddr);
          wanted->found = LoadedObject(info->dlpi_addr, dynamic).find(wanted->name);
        }
        return wanted->found != nullptr ? 1 : 0;
      },
      &search);
  return search.found;
}

}  // namespace weft::platform
