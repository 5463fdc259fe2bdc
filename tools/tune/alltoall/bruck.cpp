// SPDX-License-Identifier: Apache-2.0
// Bruck's algorithm: few messages, each with many blocks, which pass through other ranks on their way.
#include <cstring>

#include "alltoall.h"

namespace weft::tune {

namespace {

constexpr int kTag = 42;

// A block at index i has i ranks still to go. It travels the part of i that is one digit in base `radix`.
void round(Exchange& exchange, std::vector<char>& blocks, int weight, int digit, int radix) {
  const size_t bytes = exchange.bytes;
  std::vector<int> travel;
  for (int i = 0; i < exchange.ranks; ++i) {
    if (i / weight % radix == digit) travel.push_back(i);
  }
  std::vector<char> out(travel.size() * bytes);
  std::vector<char> in(out.size());
  for (size_t k = 0; k < travel.size(); ++k) std::memcpy(&out[k * bytes], &blocks[travel[k] * bytes], bytes);
  const int hop = digit * weight;
  MPI_Sendrecv(out.data(), static_cast<int>(out.size()), MPI_BYTE, (exchange.rank + hop) % exchange.ranks, kTag,
               in.data(), static_cast<int>(in.size()), MPI_BYTE,
               (exchange.rank - hop + exchange.ranks) % exchange.ranks, kTag, exchange.comm, MPI_STATUS_IGNORE);
  for (size_t k = 0; k < travel.size(); ++k) std::memcpy(&blocks[travel[k] * bytes], &in[k * bytes], bytes);
}

}  // namespace

void bruck(Exchange& exchange, int radix) {
  exchange.pack();
  if (exchange.bytes == 0) return;
  const size_t bytes = exchange.bytes;
  std::vector<char> blocks(bytes * exchange.ranks);
  for (int i = 0; i < exchange.ranks; ++i) {
    std::memcpy(&blocks[i * bytes], exchange.outgoing((exchange.rank + i) % exchange.ranks), bytes);
  }
  for (int weight = 1; weight < exchange.ranks; weight *= radix) {
    for (int digit = 1; digit < radix && digit * weight < exchange.ranks; ++digit) {
      round(exchange, blocks, weight, digit, radix);
    }
  }
  // A block that has travelled i ranks comes from i ranks before.
  for (int i = 0; i < exchange.ranks; ++i) {
    std::memcpy(exchange.incoming((exchange.rank - i + exchange.ranks) % exchange.ranks), &blocks[i * bytes], bytes);
  }
  exchange.finish();
}

}  // namespace weft::tune
