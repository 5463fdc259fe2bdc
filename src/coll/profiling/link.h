// SPDX-License-Identifier: Apache-2.0
// The interface between libweft-coll.so, whose names programs see and which knows nothing of MPI's arguments, and the
// library for the MPI of the process, which it loads. Both are to come from one build; the layout's number shows
// whether they do.
#pragma once

#include "mpi/link.h"

namespace weft::coll {

inline constexpr int kLinkLayout = 2;

// The library exports one such object, by the name kLinkName.
struct Link {
  int layout;
  // Called once, before the functions. `mpi`: a handle of the MPI of the process. `own`: finds the function that the
  // process would have by a name without weft; null: none. Returns what weft needs and the MPI lacks; null: nothing,
  // and the functions are there.
  const char* (*begin)(void* mpi, void* (*own)(const char* name) noexcept) noexcept;
  // weft's functions, by the names of MPI's. Called behind begin().
  mpi::Replacements (*functions)() noexcept;
};
inline constexpr char kLinkName[] = "weft_coll_link";

}  // namespace weft::coll
