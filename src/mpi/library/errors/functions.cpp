// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/errors/functions.h"

#include <mutex>
#include <new>

#include "platform/futex_lock.h"

namespace weft::mpi {

namespace {

// A handler may be used long after it has been freed, so none is forgotten until its number is given again.
struct Known {
  MPI_Errhandler handler;
  MPI_Comm_errhandler_function* function;
  Known* next;
};

platform::FutexLock g_lock;
Known* g_known = nullptr;

Known* find(MPI_Errhandler handler) noexcept {
  Known* known = g_known;
  while (known != nullptr && known->handler != handler) known = known->next;
  return known;
}

}  // namespace

void remember_function(MPI_Errhandler handler, MPI_Comm_errhandler_function* function) noexcept {
  const std::lock_guard lock(g_lock);
  if (Known* known = find(handler)) {
    known->function = function;
  } else if (auto* made = new (std::nothrow) Known{handler, function, g_known}) {
    g_known = made;
  }
}

MPI_Comm_errhandler_function* function_of(MPI_Errhandler handler) noexcept {
  const std::lock_guard lock(g_lock);
  const Known* known = find(handler);
  return known != nullptr ? known->function : nullptr;
}

}  // namespace weft::mpi
