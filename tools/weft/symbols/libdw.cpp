// SPDX-License-Identifier: Apache-2.0
#include "symbols/libdw.h"

#include <optional>

#include <dlfcn.h>

namespace weft::tools {

namespace {

std::optional<DwarfFunctions> load() {
  // The name has not changed since elfutils 0.1.
  void* library = dlopen("libdw.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  DwarfFunctions found;
  bool all = true;
#define WEFT_LIBDW_FIND(name)                                                 \
  found.name = reinterpret_cast<decltype(found.name)>(dlsym(library, #name)); \
  all = all && found.name != nullptr;
  WEFT_LIBDW(WEFT_LIBDW_FIND)
#undef WEFT_LIBDW_FIND
  return all ? std::optional(found) : std::nullopt;
}

}  // namespace

const DwarfFunctions* libdw() {
  static const std::optional<DwarfFunctions> loaded = load();
  return loaded ? &*loaded : nullptr;
}

}  // namespace weft::tools
