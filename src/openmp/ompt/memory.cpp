// SPDX-License-Identifier: Apache-2.0
// Memory that goes from one thread to another inside of the runtime. A race detector that knows of the program's own
// accesses and of what OMPT tells (Archer) would take the end of one task and the start of the next one in the same
// memory for a race. It is told in the way in which programs tell it: by the annotations that its library defines.
#include <dlfcn.h>

#include "openmp/tool/event_bodies.h"

namespace weft::openmp::ompt {

namespace {

using Annotate = void (*)(const char* file, int line, const volatile void* address);

Annotate annotation(const char* name) noexcept { return reinterpret_cast<Annotate>(dlsym(RTLD_DEFAULT, name)); }

}  // namespace

void return_memory(const void* pool) noexcept {
  static const Annotate before = annotation("AnnotateHappensBefore");
  if (before != nullptr) before(__FILE__, __LINE__, pool);
}

void take_returned_memory(const void* pool) noexcept {
  static const Annotate after = annotation("AnnotateHappensAfter");
  if (after != nullptr) after(__FILE__, __LINE__, pool);
}

}  // namespace weft::openmp::ompt
