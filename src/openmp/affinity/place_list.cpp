// SPDX-License-Identifier: Apache-2.0
#include "openmp/affinity/place_list.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace weft::openmp {

namespace {

// Text of any length into a buffer that may be too short, as snprintf does.
class Text {
 public:
  Text(char* text, size_t room) noexcept : text_(text), room_(room) {
    if (room > 0) *text = '\0';
  }
  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) noexcept {
    va_list arguments;
    va_start(arguments, format);
    size_ += static_cast<size_t>(std::vsnprintf(at(), left(), format, arguments));
    va_end(arguments);
  }
  char* at() const noexcept { return size_ < room_ ? text_ + size_ : nullptr; }
  size_t left() const noexcept { return size_ < room_ ? room_ - size_ : 0; }
  void skip(size_t size) noexcept { size_ += size; }
  size_t size() const noexcept { return size_; }

 private:
  char* text_;
  size_t room_;
  size_t size_ = 0;
};

}  // namespace

void add_groups(const platform::Topology& topology, platform::Level level, int most, PlaceList* places) noexcept {
  for (const int cpu : topology.in_order()) {
    const int leader = topology.leader(level, cpu);
    const auto holds_leader = [leader](const platform::CpuSet& place) { return place.has(leader); };
    platform::CpuSet* known = std::find_if(places->begin(), places->end(), holds_leader);
    if (known != places->end()) {
      known->add(cpu);
    } else if (places->size() < most) {
      platform::CpuSet place;
      // The leader is of the set as well; its place is found by it.
      place.add(leader);
      place.add(cpu);
      places->add(place);
    }
  }
}

platform::CpuSet restrict_places(const platform::CpuSet& cpus, PlaceList* places) noexcept {
  platform::CpuSet left_out;
  for (platform::CpuSet& place : *places) {
    platform::CpuSet outside = place;
    outside.remove_all(cpus);
    left_out.add_all(outside);
    place.keep_only(cpus);
  }
  places->remove_if([](const platform::CpuSet& place) { return place.empty(); });
  return left_out;
}

size_t format_place(const platform::CpuSet& place, char* text, size_t room) noexcept {
  Text out(text, room);
  out.add("{");
  for (int cpu = place.first(); cpu >= 0;) {
    int last = cpu;
    while (last + 1 < platform::CpuSet::kMost && place.has(last + 1)) ++last;
    if (cpu != place.first()) out.add(",");
    if (last == cpu) {
      out.add("%d", cpu);
    } else {
      out.add("%d:%d", cpu, last - cpu + 1);
    }
    cpu = place.next(last + 1);
  }
  out.add("}");
  return out.size();
}

size_t format_places(const PlaceList& places, char* text, size_t room) noexcept {
  Text out(text, room);
  for (const platform::CpuSet& place : places) {
    if (out.size() > 0) out.add(",");
    out.skip(format_place(place, out.at(), out.left()));
  }
  return out.size();
}

}  // namespace weft::openmp
