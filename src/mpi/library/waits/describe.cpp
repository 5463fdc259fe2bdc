// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/waits/describe.h"

#include <cstdio>
#include <cstring>

namespace weft::mpi {

void name_communicator(MPI_Comm communicator, char* text, size_t room) noexcept {
  text[0] = '\0';
  if (communicator == MPI_COMM_NULL) return;
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  PMPI_Comm_get_name(communicator, name, &length);
  unsigned long long handle = 0;
  std::memcpy(&handle, &communicator, sizeof communicator);
  if (name[0] == '\0') std::snprintf(name, sizeof name, "%#llx", handle);
  std::snprintf(text, room, "%s", name);
  // The program's choice, on a terminal.
  for (char* c = text; *c != '\0'; ++c) {
    if (*c < ' ' || *c > '~') *c = '?';
  }
}

long long bytes_of(const Description& what) noexcept {
  if (what.count < 0 || what.type == MPI_DATATYPE_NULL) return -1;
  int size = 0;
  return PMPI_Type_size(what.type, &size) == MPI_SUCCESS && size >= 0 ? what.count * size : -1;
}

}  // namespace weft::mpi
