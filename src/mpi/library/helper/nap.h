// SPDX-License-Identifier: Apache-2.0
// Naps of helpers. A helper that waits in MPI would test for its message all the time. MPIs yield the CPU between two
// tests; a helper sleeps instead, longer the longer it has waited.
#pragma once

namespace weft::mpi {

// While the object lives, the calling thread is a helper that makes a call.
class Napping {
 public:
  Napping() noexcept;
  ~Napping();
  Napping(const Napping&) = delete;
  Napping& operator=(const Napping&) = delete;
};

// To be called when MPI yields. Returns false, and has done nothing, where the caller is no helper.
bool nap_in_helper() noexcept;

}  // namespace weft::mpi
