// SPDX-License-Identifier: Apache-2.0
#include "openmp/affinity/place_syntax.h"

#include <algorithm>

namespace weft::openmp {

namespace {

using base::Scanner;
using platform::CpuSet;

// Beyond this nothing is meant seriously, and no product of two of them overflows.
constexpr long long kMostNumber = 1 << 20;

bool signed_number(Scanner& in, long long* value) noexcept {
  const bool negative = in.take('-');
  if (!negative) static_cast<void>(in.take('+'));
  if (!in.number(0, kMostNumber, value)) return false;
  if (negative) *value = -*value;
  return true;
}

// What may stand behind a CPU or a place: how many of them, and how far apart.
struct Repetition {
  long long count = 1;
  long long stride = 1;
};

bool parse_repetition(Scanner& in, Repetition* repetition) noexcept {
  if (!in.take(':')) return true;
  if (!in.number(1, kMostNumber, &repetition->count)) return false;
  return !in.take(':') || signed_number(in, &repetition->stride);
}

bool add_cpu(long long cpu, CpuSet* set) noexcept {
  if (cpu < 0 || cpu >= CpuSet::kMost) return false;
  set->add(static_cast<int>(cpu));
  return true;
}

bool add_cpus(long long first, const Repetition& repetition, CpuSet* set) noexcept {
  for (long long i = 0; i < repetition.count; ++i) {
    if (!add_cpu(first + i * repetition.stride, set)) return false;
  }
  return true;
}

// {0:4,!2}, or a single CPU without braces. What is excluded is so wherever it stands.
bool parse_place(Scanner& in, CpuSet* place) noexcept {
  long long cpu = 0;
  if (!in.take('{')) return in.number(0, CpuSet::kMost - 1, &cpu) && add_cpu(cpu, place);
  CpuSet excluded;
  do {
    const bool exclude = in.take('!');
    Repetition repetition;
    if (!in.number(0, CpuSet::kMost - 1, &cpu)) return false;
    if (!exclude && !parse_repetition(in, &repetition)) return false;
    if (!add_cpus(cpu, repetition, exclude ? &excluded : place)) return false;
  } while (in.take(','));
  place->remove_all(excluded);
  return in.take('}') && !place->empty();
}

bool add_place(const CpuSet& place, PlaceList* places) noexcept {
  if (places->size() == kMostPlaces) return false;
  places->add(place);
  return true;
}

bool add_shifted(const CpuSet& place, long long distance, PlaceList* places) noexcept {
  CpuSet shifted;
  for (const int cpu : each(place)) {
    if (!add_cpu(cpu + distance, &shifted)) return false;
  }
  return add_place(shifted, places);
}

// A list of places and of those that are to be left out of it.
bool parse_list(Scanner& in, PlaceList* places, PlaceList* excluded) noexcept {
  do {
    const bool exclude = in.take('!');
    CpuSet place;
    Repetition repetition;
    if (!parse_place(in, &place)) return false;
    if (exclude) {
      if (!add_place(place, excluded)) return false;
      continue;
    }
    if (!parse_repetition(in, &repetition)) return false;
    for (long long i = 0; i < repetition.count; ++i) {
      if (!add_shifted(place, i * repetition.stride, places)) return false;
    }
  } while (in.take(','));
  return in.at_end();
}

// Excluding what is not there is a slip of the user's.
bool remove_excluded(const PlaceList& excluded, PlaceList* places) noexcept {
  for (const CpuSet& unwanted : excluded) {
    const int before = places->size();
    places->remove_if([&unwanted](const CpuSet& place) { return place == unwanted; });
    if (places->size() == before) return false;
  }
  return places->size() > 0;
}

bool parse_abstract_name(Scanner& in, platform::Level* level) noexcept {
  static constexpr struct {
    const char* word;
    platform::Level level;
  } kNames[] = {{"threads", platform::Level::threads},
                {"cores", platform::Level::cores},
                {"ll_caches", platform::Level::ll_caches},
                {"numa_domains", platform::Level::numa_domains},
                {"sockets", platform::Level::sockets}};
  for (const auto& name : kNames) {
    if (!in.word(name.word)) continue;
    *level = name.level;
    return true;
  }
  return false;
}

// a, a-b, a-b:stride as CPUs in their order.
struct Range {
  long long first = 0;
  long long last = 0;
  long long stride = 1;
};

bool parse_range(Scanner& in, Range* range) noexcept {
  if (!in.number(0, CpuSet::kMost - 1, &range->first)) return false;
  range->last = range->first;
  if (!in.take('-')) return true;
  if (!in.number(range->first, CpuSet::kMost - 1, &range->last)) return false;
  return !in.take(':') || in.number(1, kMostNumber, &range->stride);
}

bool parse_places_of_range(Scanner& in, PlaceList* places) noexcept {
  Range range;
  if (!parse_range(in, &range)) return false;
  for (long long cpu = range.first; cpu <= range.last; cpu += range.stride) {
    CpuSet place;
    place.add(static_cast<int>(cpu));
    if (!add_place(place, places)) return false;
  }
  return true;
}

bool parse_set_of_ranges(Scanner& in, CpuSet* set) noexcept {
  do {
    Range range;
    if (!parse_range(in, &range)) return false;
    for (long long cpu = range.first; cpu <= range.last; cpu += range.stride) set->add(static_cast<int>(cpu));
  } while (in.take(','));
  return in.take('}');
}

}  // namespace

bool parse_places(const char* text, PlacesText* places) noexcept {
  Scanner in(text);
  places->abstract = parse_abstract_name(in, &places->level);
  if (places->abstract) {
    long long most = kMostPlaces;
    if (in.take('(') && !(in.number(1, kMostNumber, &most) && in.take(')'))) return false;
    places->most = static_cast<int>(std::min<long long>(most, kMostPlaces));
    return in.at_end();
  }
  PlaceList excluded;
  const bool good = parse_list(in, &places->list, &excluded) && remove_excluded(excluded, &places->list);
  excluded.free_memory();
  return good;
}

bool parse_cpu_affinity(const char* text, PlaceList* places) noexcept {
  Scanner in(text);
  do {
    if (!parse_places_of_range(in, places)) return false;
  } while (in.take(',') || in.sees_digit());
  return in.at_end();
}

bool parse_proclist(Scanner& in, PlaceList* places) noexcept {
  if (!in.take('[')) return false;
  do {
    CpuSet place;
    if (in.take('{')) {
      if (!parse_set_of_ranges(in, &place) || !add_place(place, places)) return false;
    } else if (!parse_places_of_range(in, places)) {
      return false;
    }
  } while (in.take(','));
  return in.take(']');
}

}  // namespace weft::openmp
