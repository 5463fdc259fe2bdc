// SPDX-License-Identifier: Apache-2.0
// The grammars in which users write places and CPUs. Nothing here knows the machine: CPUs need not exist.
#pragma once

#include "base/scanner.h"
#include "openmp/affinity/place_list.h"

namespace weft::openmp {

// What OMP_PLACES says (OpenMP 5.2, section 21.1.6): groups of a level of the machine, or a list.
struct PlacesText {
  bool abstract = false;
  platform::Level level = platform::Level::threads;
  int most = kMostPlaces;  // of them
  PlaceList list;
};

// All of these: false when the text is not of the grammar, names a CPU beyond any that Linux knows, or more places than
// kMostPlaces; what they have written then means nothing.
bool parse_places(const char* text, PlacesText* places) noexcept;

// GOMP_CPU_AFFINITY: CPUs a, ranges a-b and a-b:stride, with blanks or commas between. Each CPU is a place.
bool parse_cpu_affinity(const char* text, PlaceList* places) noexcept;

// The list behind proclist= of KMP_AFFINITY, with its brackets: as above with commas between, and {a,b-c} for one
// place.
bool parse_proclist(base::Scanner& in, PlaceList* places) noexcept;

}  // namespace weft::openmp
