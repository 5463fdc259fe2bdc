// SPDX-License-Identifier: Apache-2.0
// A helper that waits in MPI would look for its message all the time. MPIs yield the CPU between two looks; a helper
// sleeps instead, the longer the more it has waited already.
#pragma once

namespace weft::mpi {

// By a helper, for as long as it makes a call.
class Napping {
 public:
  Napping() noexcept;
  ~Napping();
  Napping(const Napping&) = delete;
  Napping& operator=(const Napping&) = delete;
};

// When MPI yields. False: the caller is no helper, and nothing has been done.
bool nap_in_helper() noexcept;

}  // namespace weft::mpi
