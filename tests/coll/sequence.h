// SPDX-License-Identifier: Apache-2.0
// Operations with data that says whether each came out right.
#pragma once

#include <cstdint>
#include <random>

#include "coll/coll.h"

namespace test {

// What all ranks do in one operation.
struct Call {
  weft::coll::Operation operation;
  size_t bytes;  // of one rank or block; whole words for reductions
  int root;
  bool in_place;
  uint64_t salt;  // of its data
};

Call random_call(std::mt19937_64& random, int ranks, size_t most_bytes);

// Performs the call as `rank`; false: something else than what was due came out.
bool perform(weft::coll::Group& group, int rank, int ranks, const Call& call);

const char* name_of(weft::coll::Operation operation);

}  // namespace test
