// SPDX-License-Identifier: Apache-2.0
// Between libweft-mpi.so, which programs see, and the library for the MPI of the process, which it loads. Both come
// from one build; the layout's number says whether they do.
#pragma once

namespace weft::mpi {

inline constexpr int kLinkLayout = 4;

// What the library has in the place of a function of MPI's.
struct Replacement {
  const char* name;
  void (*function)();
};

struct Replacements {
  const Replacement* first;
  int count;
};

// Of the library, under the name kLinkName.
struct Link {
  int layout;
  // Called once, before everything else: whether the process was started with SIGUSR1 blocked.
  void (*begin)(bool signal_blocked);
  // Called when MPI yields. Whether the library has done what the caller needs; otherwise the CPU is yielded.
  bool (*yield)();
  const Replacements* lists;
  int count;
};
inline constexpr char kLinkName[] = "weft_mpi_link";

}  // namespace weft::mpi
