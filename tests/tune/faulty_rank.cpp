// SPDX-License-Identifier: Apache-2.0
// For LD_PRELOAD: on rank 1, MPI_Bcast has a fault in its first call of each size. WEFT_TEST_FAULT says which.
#include <cstdlib>
#include <cstring>

#include <mpi.h>

extern "C" int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  static int last_count = 0;
  const int code = PMPI_Bcast(data, count, type, root, comm);
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  const char* fault = std::getenv("WEFT_TEST_FAULT");
  // The measuring program's own messages are shorter.
  if (rank != 1 || fault == nullptr || type != MPI_BYTE || count < 1000 || count == last_count) return code;
  last_count = count;
  if (std::strcmp(fault, "error") == 0) return MPI_ERR_OTHER;
  static_cast<char*>(data)[0] ^= 1;
  return code;
}
