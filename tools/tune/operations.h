// SPDX-License-Identifier: Apache-2.0
// The operations that are measured: their data before a call, the call, and what must have come out.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <mpi.h>

namespace weft::tune {

// Calls are told apart by their number, so that data of an earlier one is noticed.
struct Call {
  size_t bytes = 0;  // of the vector for bcast, reduce and allreduce; of one block for the others
  unsigned number = 0;
  int root = 0;
};

struct Place {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  int ranks = 1;
};

class Buffers {
 public:
  // For calls of up to that many bytes on each side. The pages are taken here.
  Buffers(size_t send, size_t receive);
  char* send() { return send_.data(); }
  char* receive() { return receive_.data(); }

 private:
  std::vector<char> send_;
  std::vector<char> receive_;
};

struct Operation {
  const char* name;
  // Bytes of a rank's buffers, by those of a call.
  size_t (*send_bytes)(size_t bytes, int ranks);
  size_t (*receive_bytes)(size_t bytes, int ranks);
  void (*fill)(const Call& call, const Place& place, Buffers& buffers);
  int (*run)(const Call& call, const Place& place, Buffers& buffers);
  bool (*right)(const Call& call, const Place& place, Buffers& buffers);
};

// Null: there is none of that name.
const Operation* find_operation(const std::string& name);

}  // namespace weft::tune
