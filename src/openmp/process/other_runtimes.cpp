// SPDX-License-Identifier: Apache-2.0
#include "openmp/process/other_runtimes.h"

#include <algorithm>
#include <cstdio>

#include <dlfcn.h>
#include <link.h>

#include "platform/loaded_object.h"
#include "platform/openmp_runtime.h"

namespace weft::openmp {

namespace {

struct RuntimeList {
  char* text;
  size_t room;
  size_t length = 0;
  bool first = false;  // whether weft comes before all others for a caller that asks by a function's name
};

// Whether a library that asks by a function's name gets weft's: whether gcc's name comes from the object that weft's
// own name comes from.
bool comes_first() noexcept {
  void* found = dlsym(RTLD_DEFAULT, "weft_yield_place");
  void* region = dlsym(RTLD_DEFAULT, "GOMP_parallel");
  Dl_info ours;
  Dl_info others;
  return found != nullptr && region != nullptr && dladdr(found, &ours) != 0 && dladdr(region, &others) != 0 &&
         ours.dli_fbase == others.dli_fbase;
}

int visit(dl_phdr_info* info, size_t, void* data) noexcept {
  RuntimeList& list = *static_cast<RuntimeList*>(data);
  const platform::LoadedObject object = platform::object_of(*info);
  if (info->dlpi_name == nullptr || info->dlpi_name[0] == '\0') return 0;  // the program itself
  if (!platform::defines_runtime(object) || platform::is_weft(object)) return 0;
  const int added = std::snprintf(list.text + list.length, list.room - list.length, "  %s is mapped too%s\n",
                                  info->dlpi_name, list.first ? "; weft comes first" : "");
  if (added > 0) list.length = std::min(list.length + static_cast<size_t>(added), list.room - 1);
  return 0;
}

}  // namespace

size_t list_other_runtimes(char* text, size_t room) noexcept {
  RuntimeList list{text, room};
  list.first = comes_first();
  dl_iterate_phdr(visit, &list);
  return list.length;
}

}  // namespace weft::openmp
