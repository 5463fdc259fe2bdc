// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/levels/environment.h"

#include <cstdlib>

#include "mpi/library/mpi.h"

namespace weft::mpi {

namespace {

constexpr char kYield[] = "OMPI_MCA_mpi_yield_when_idle";

// With the standard's ABI it is not known before MPI has started; other MPIs do not read the variable.
bool may_be_open_mpi() noexcept {
#if defined(OPEN_MPI) || defined(MPI_ABI_VERSION)
  return true;
#else
  return false;
#endif
}

}  // namespace

StartEnvironment::StartEnvironment(bool pausing) noexcept
    : set_(pausing && may_be_open_mpi() && std::getenv(kYield) == nullptr) {
  if (set_) setenv(kYield, "1", 0);
}

StartEnvironment::~StartEnvironment() {
  if (set_) unsetenv(kYield);
}

}  // namespace weft::mpi
