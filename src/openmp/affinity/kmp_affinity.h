// SPDX-License-Identifier: Apache-2.0
// KMP_AFFINITY, the variable of LLVM's and Intel's runtimes: [modifier,...]type[,permute][,offset].
#pragma once

#include <cstdint>

#include "openmp/affinity/place_list.h"

namespace weft::openmp {

struct KmpAffinity {
  // unset: there were modifiers only.
  enum class Type : uint8_t { unset, none, compact, scatter, balanced, explicit_ };
  Type type = Type::unset;
  platform::Level granularity = platform::Level::cores;
  bool verbose = false;
  int permute = 0;
  int offset = 0;
  PlaceList proclist;  // for Type::explicit_
};

bool parse_kmp_affinity(const char* text, KmpAffinity* affinity) noexcept;

// The places of a type other than unset and none, in the order in which threads get them.
void add_places(const KmpAffinity& affinity, const platform::Topology& topology, PlaceList* places) noexcept;

}  // namespace weft::openmp
