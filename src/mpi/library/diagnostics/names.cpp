// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/diagnostics/names.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>

#include "mpi/library/calls/helped.h"
#include "mpi/library/calls/tested.h"
#include "platform/futex_lock.h"

namespace weft::mpi {

namespace {

struct Name {
  MPI_Comm communicator;
  char text[40];
  Name* next;
};

platform::FutexLock g_lock;
Name* g_first = nullptr;

void forget(MPI_Comm communicator) noexcept {
  const std::lock_guard lock(g_lock);
  for (Name** link = &g_first; *link != nullptr; link = &(*link)->next) {
    if ((*link)->communicator != communicator) continue;
    Name* name = *link;
    *link = name->next;
    delete name;
    return;
  }
}

void remember(MPI_Comm communicator, const char* text) noexcept {
  forget(communicator);
  auto* name = new (std::nothrow) Name{communicator, "", nullptr};
  if (name == nullptr) return;
  std::snprintf(name->text, sizeof name->text, "%s", text);
  // It goes to a terminal.
  for (char* c = name->text; *c != '\0'; ++c) {
    if (*c < ' ' || *c > '~') *c = '?';
  }
  const std::lock_guard lock(g_lock);
  name->next = g_first;
  g_first = name;
}

}  // namespace

int set_name(MPI_Comm communicator, const char* name) noexcept {
  const int code = PMPI_Comm_set_name(communicator, name);
  if (code == MPI_SUCCESS) remember(communicator, name);
  return code;
}

int free_communicator(MPI_Comm* communicator) noexcept {
  if (communicator != nullptr) forget(*communicator);
  return InPlace<PMPI_Comm_free>::call(communicator);
}

int disconnect_communicator(MPI_Comm* communicator) noexcept {
  if (communicator != nullptr) forget(*communicator);
  return Helped<PMPI_Comm_disconnect, kUnordered>::call_from(__builtin_return_address(0), communicator);
}

void name_communicator(MPI_Comm communicator, char* text, size_t room) noexcept {
  text[0] = '\0';
  if (communicator == MPI_COMM_NULL) return;
  {
    const std::lock_guard lock(g_lock);
    for (const Name* name = g_first; name != nullptr; name = name->next) {
      if (name->communicator != communicator) continue;
      std::snprintf(text, room, "%s", name->text);
      return;
    }
  }
  if (communicator == MPI_COMM_WORLD || communicator == MPI_COMM_SELF) {
    std::snprintf(text, room, "%s", communicator == MPI_COMM_WORLD ? "MPI_COMM_WORLD" : "MPI_COMM_SELF");
    return;
  }
  uint64_t handle = 0;
  std::memcpy(&handle, &communicator, sizeof communicator);
  std::snprintf(text, room, "%#llx", static_cast<unsigned long long>(handle));
}

}  // namespace weft::mpi
