// SPDX-License-Identifier: Apache-2.0
// The interface between libweft-mpi.so, which programs see, and the library for the MPI of the process, which it loads.
// Both are to come from one build; the layout's number shows whether they do.
#pragma once

namespace weft::mpi {

inline constexpr int kLinkLayout = 4;

// A function of the library that replaces one of MPI's.
struct Replacement {
  const char* name;
  void (*function)();
};

struct Replacements {
  const Replacement* first;
  int count;
};

// The library exports one such object, by the name kLinkName.
struct Link {
  int layout;
  // Called once, before everything else: whether the process was started with SIGUSR1 blocked.
  void (*begin)(bool signal_blocked);
  // Called when MPI yields. Returns whether the library has let others run; otherwise the caller yields the CPU.
  bool (*yield)();
  const Replacements* lists;
  int count;
};
inline constexpr char kLinkName[] = "weft_mpi_link";

}  // namespace weft::mpi
