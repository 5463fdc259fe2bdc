// SPDX-License-Identifier: Apache-2.0
#include "observe/record/profile/code_range.h"

#include <link.h>

namespace weft::observe {

CodeRange code_around(const void* address) noexcept {
  struct Search {
    const void* address;
    CodeRange found;
  } search{address, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* argument) {
        auto* wanted = static_cast<Search*>(argument);
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = object->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD) continue;
          // Addresses of objects are numbers in their file, from where the object was loaded.
          const auto* begin = reinterpret_cast<const char*>(object->dlpi_addr + segment.p_vaddr);
          const CodeRange range{begin, begin + segment.p_memsz};
          if (!range.has(wanted->address)) continue;
          wanted->found = range;
          return 1;
        }
        return 0;
      },
      &search);
  return search.found;
}

}  // namespace weft::observe
