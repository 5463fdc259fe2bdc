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
        wanted->found = object_of(*info).find(wanted->name);
        return wanted->found != nullptr ? 1 : 0;
      },
      &search);
  return search.found;
}

// The same of a function, as of weft's runtime, which a process may have or not: whether it is there.
template <class Function>
bool find_function(const char* name, Function*& function) noexcept {
  function = reinterpret_cast<Function*>(find_symbol(name));
  return function != nullptr;
}

}  // namespace weft::platform
