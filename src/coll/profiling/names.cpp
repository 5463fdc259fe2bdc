// SPDX-License-Identifier: Apache-2.0
// libweft-coll.so before it knows the MPI: it gets into processes with any MPI, whose handles differ in size, or with
// none. The first call finds out whose they are and loads the library for it.
#include <cstring>

#include <dlfcn.h>

#include "coll/profiling/link.h"
#include "mpi/front/library.h"
#include "mpi/front/mapped.h"
#include "mpi/front/targets.h"

namespace weft::mpi {

const char kPart[] = "coll";
const char kLeft[] = "weft's collectives";

namespace {

// None: the process goes on with MPI's own.
Replacements g_functions{nullptr, 0};

}  // namespace

bool begin() noexcept {
  const Library library = load_library("libweft-coll", false);
  if (library.handle == nullptr) return library.kind != Kind::several;
  const auto* link = static_cast<const coll::Link*>(dlsym(library.handle, coll::kLinkName));
  if (link == nullptr || link->layout != coll::kLinkLayout) {
    say_left("the library for this MPI is of another version of weft than libweft-coll.so");
  } else if (const char* lacks = link->begin(library.mpi, find_own)) {
    say_left("this MPI has no %s", lacks);
  } else {
    g_functions = link->functions();
  }
  return true;
}

Function replacement_of(const char* name) noexcept {
  for (int i = 0; i < g_functions.count; ++i) {
    if (std::strcmp(g_functions.first[i].name, name) == 0) return g_functions.first[i].function;
  }
  return nullptr;
}

}  // namespace weft::mpi
