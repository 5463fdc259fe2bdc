// SPDX-License-Identifier: Apache-2.0
#include "operations.h"

#include <algorithm>
#include <cstring>

namespace weft::tune {

namespace {

// Block `to` of rank `from` in a call. Different in every word, so that blocks or parts in a wrong place are noticed.
uint64_t word(unsigned number, int from, int to, size_t i) {
  const uint64_t seed = (static_cast<uint64_t>(number) << 40) ^ (static_cast<uint64_t>(from) << 20) ^ to;
  return (seed + i) * 0x9e3779b97f4a7c15U;
}

void write_block(char* block, size_t bytes, unsigned number, int from, int to) {
  for (size_t at = 0, i = 0; at < bytes; at += sizeof(uint64_t), ++i) {
    const uint64_t value = word(number, from, to, i);
    std::memcpy(block + at, &value, std::min(sizeof value, bytes - at));
  }
}

bool is_block(const char* block, size_t bytes, unsigned number, int from, int to) {
  for (size_t at = 0, i = 0; at < bytes; at += sizeof(uint64_t), ++i) {
    const uint64_t value = word(number, from, to, i);
    if (std::memcmp(block + at, &value, std::min(sizeof value, bytes - at)) != 0) return false;
  }
  return true;
}

// Reductions add ints.
int summand(const Call& call, size_t i, int rank) { return static_cast<int>((call.number + i) % 1000) + rank; }

void write_summands(const Call& call, const Place& place, Buffers& buffers) {
  auto* values = reinterpret_cast<int*>(buffers.send());
  for (size_t i = 0; i < call.bytes / sizeof(int); ++i) values[i] = summand(call, i, place.rank);
}

bool are_sums(const Call& call, const Place& place, Buffers& buffers) {
  const auto* sums = reinterpret_cast<const int*>(buffers.receive());
  const int ranks = place.ranks;
  for (size_t i = 0; i < call.bytes / sizeof(int); ++i) {
    if (sums[i] != ranks * summand(call, i, 0) + ranks * (ranks - 1) / 2) return false;
  }
  return true;
}

int count(const Call& call) { return static_cast<int>(call.bytes); }
int ints(const Call& call) { return static_cast<int>(call.bytes / sizeof(int)); }

size_t one(size_t bytes, int /*ranks*/) { return bytes; }
size_t each(size_t bytes, int ranks) { return bytes * ranks; }
size_t none(size_t /*bytes*/, int /*ranks*/) { return 0; }

void write_nothing(const Call& /*call*/, const Place& /*place*/, Buffers& /*buffers*/) {}
bool is_right(const Call& /*call*/, const Place& /*place*/, Buffers& /*buffers*/) { return true; }

void write_own(const Call& call, const Place& place, Buffers& buffers) {
  write_block(buffers.send(), call.bytes, call.number, place.rank, 0);
}

void write_all(const Call& call, const Place& place, Buffers& buffers) {
  for (int to = 0; to < place.ranks; ++to) {
    write_block(buffers.send() + to * call.bytes, call.bytes, call.number, place.rank, to);
  }
}

// From each rank the block for `to`.
bool are_from_all(const Call& call, const Place& place, Buffers& buffers, int to) {
  for (int from = 0; from < place.ranks; ++from) {
    if (!is_block(buffers.receive() + from * call.bytes, call.bytes, call.number, from, to)) return false;
  }
  return true;
}

constexpr Operation kOperations[] = {
    {"allgather", one, each, write_own,
     [](const Call& call, const Place& place, Buffers& buffers) {
       return MPI_Allgather(buffers.send(), count(call), MPI_BYTE, buffers.receive(), count(call), MPI_BYTE,
                            place.comm);
     },
     [](const Call& call, const Place& place, Buffers& buffers) { return are_from_all(call, place, buffers, 0); }},
    {"allreduce", one, one, write_summands,
     [](const Call& call, const Place& place, Buffers& buffers) {
       return MPI_Allreduce(buffers.send(), buffers.receive(), ints(call), MPI_INT, MPI_SUM, place.comm);
     },
     are_sums},
    {"alltoall", each, each, write_all,
     [](const Call& call, const Place& place, Buffers& buffers) {
       return MPI_Alltoall(buffers.send(), count(call), MPI_BYTE, buffers.receive(), count(call), MPI_BYTE, place.comm);
     },
     [](const Call& call, const Place& place, Buffers& buffers) {
       return are_from_all(call, place, buffers, place.rank);
     }},
    {"barrier", none, none, write_nothing,
     [](const Call& /*call*/, const Place& place, Buffers& /*buffers*/) { return MPI_Barrier(place.comm); }, is_right},
    {"bcast", one, none,
     [](const Call& call, const Place& place, Buffers& buffers) {
       if (place.rank == call.root) write_block(buffers.send(), call.bytes, call.number, call.root, 0);
     },
     [](const Call& call, const Place& place, Buffers& buffers) {
       return MPI_Bcast(buffers.send(), count(call), MPI_BYTE, call.root, place.comm);
     },
     [](const Call& call, const Place& /*place*/, Buffers& buffers) {
       return is_block(buffers.send(), call.bytes, call.number, call.root, 0);
     }},
    {"gather", one, each, write_own,
     [](const Call& call, const Place& place, Buffers& buffers) {
       return MPI_Gather(buffers.send(), count(call), MPI_BYTE, buffers.receive(), count(call), MPI_BYTE, call.root,
                         place.comm);
     },
     [](const Call& call, const Place& place, Buffers& buffers) {
       return place.rank != call.root || are_from_all(call, place, buffers, 0);
     }},
    {"reduce", one, one, write_summands,
     [](const Call& call, const Place& place, Buffers& buffers) {
       return MPI_Reduce(buffers.send(), buffers.receive(), ints(call), MPI_INT, MPI_SUM, call.root, place.comm);
     },
     [](const Call& call, const Place& place, Buffers& buffers) {
       return place.rank != call.root || are_sums(call, place, buffers);
     }},
    {"scatter", each, one,
     [](const Call& call, const Place& place, Buffers& buffers) {
       if (place.rank == call.root) write_all(call, place, buffers);
     },
     [](const Call& call, const Place& place, Buffers& buffers) {
       return MPI_Scatter(buffers.send(), count(call), MPI_BYTE, buffers.receive(), count(call), MPI_BYTE, call.root,
                          place.comm);
     },
     [](const Call& call, const Place& place, Buffers& buffers) {
       return is_block(buffers.receive(), call.bytes, call.number, call.root, place.rank);
     }},
};

}  // namespace

Buffers::Buffers(size_t send, size_t receive) : send_(send, 1), receive_(receive, 1) {}

const Operation* find_operation(const std::string& name) {
  const auto* found = std::find_if(std::begin(kOperations), std::end(kOperations),
                                   [&name](const Operation& operation) { return name == operation.name; });
  return found != std::end(kOperations) ? found : nullptr;
}

}  // namespace weft::tune
