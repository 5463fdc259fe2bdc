// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/errors/functions.h"

#include <new>

#include <pthread.h>

namespace weft::mpi {

namespace {

// A handler may be used long after it has been freed, so none is forgotten until its number is given again.
struct Known {
  MPI_Errhandler handler;
  MPI_Comm_errhandler_function* function;
  Known* next;
};

pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
Known* g_known = nullptr;

class Locked {
 public:
  Locked() noexcept { pthread_mutex_lock(&g_lock); }
  ~Locked() { pthread_mutex_unlock(&g_lock); }
};

Known* find(MPI_Errhandler handler) noexcept {
  Known* known = g_known;
  while (known != nullptr && known->handler != handler) known = known->next;
  return known;
}

}  // namespace

void remember_function(MPI_Errhandler handler, MPI_Comm_errhandler_function* function) noexcept {
  const Locked lock;
  if (Known* known = find(handler)) {
    known->function = function;
  } else if (auto* made = new (std::nothrow) Known{handler, function, g_known}) {
    g_known = made;
  }
}

MPI_Comm_errhandler_function* function_of(MPI_Errhandler handler) noexcept {
  const Locked lock;
  const Known* known = find(handler);
  return known != nullptr ? known->function : nullptr;
}

}  // namespace weft::mpi
