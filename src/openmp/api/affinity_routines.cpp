// SPDX-License-Identifier: Apache-2.0
// The omp_ routines about places and about what a thread says of its own (OpenMP 5.2, section 18.3), for C and Fortran.
// Strings of Fortran come with their lengths behind the other arguments, and are padded with blanks.
#include <algorithm>
#include <array>
#include <cstring>

#include "openmp/affinity/affinity.h"
#include "openmp/affinity/affinity_format.h"
#include "openmp/affinity/team_affinity.h"
#include "openmp/api/fortran.h"
#include "openmp/record/team.h"

using namespace weft;
using namespace weft::openmp;

namespace {

int proc_bind() noexcept { return static_cast<int>(policy_at(affinity(), self()->team->level)); }

int num_places() noexcept { return affinity().places.size(); }

const platform::CpuSet* place_at(long long number) noexcept {
  return number >= 0 && number < num_places() ? affinity().places.begin() + number : nullptr;
}

int place_num_procs(long long place) noexcept { return place_at(place) != nullptr ? place_at(place)->count() : 0; }

template <class Int>
void place_proc_ids(long long place, Int* ids) noexcept {
  if (place_at(place) == nullptr) return;
  for (const int cpu : each(*place_at(place))) *ids++ = cpu;
}

int place_num() noexcept { return thread_place_of(self()).place; }
int partition_num_places() noexcept { return thread_place_of(self()).partition.count; }

template <class Int>
void partition_place_nums(Int* numbers) noexcept {
  const Partition mine = thread_place_of(self()).partition;
  for (int i = 0; i < mine.count; ++i) *numbers++ = mine.first + i;
}

size_t length_of(const char* format) noexcept { return format != nullptr ? std::strlen(format) : 0; }

// A Fortran string without the blanks it is padded with.
size_t length_of(const char* text, size_t length) noexcept {
  while (length > 0 && text[length - 1] == ' ') --length;
  return length;
}

// `get(room)` writes into `text` as snprintf does; Fortran wants no null, but blanks to the end. The text may need the
// byte where the null goes, so it is made in a buffer of its own.
template <class Get>
int fill(char* text, size_t length, Get&& get) noexcept {
  std::array<char, 8192> whole;
  const size_t size = get(whole.data(), whole.size());
  const size_t copied = std::min({size, length, whole.size() - 1});
  std::memcpy(text, whole.data(), copied);
  std::memset(text + copied, ' ', length - copied);
  return static_cast<int>(size);
}

}  // namespace

// ---- places ----

WEFT_ROUTINE_GET(int, omp_get_proc_bind, proc_bind());
WEFT_ROUTINE_GET(int, omp_get_num_places, num_places());
WEFT_ROUTINE_GET(int, omp_get_place_num, place_num());
WEFT_ROUTINE_GET(int, omp_get_partition_num_places, partition_num_places());
WEFT_ROUTINE_GET_BY_INT(int, omp_get_place_num_procs, place_num_procs);

WEFT_ABI(void, omp_get_place_proc_ids)(int place, int* ids) { place_proc_ids(place, ids); }

WEFT_ABI(void, omp_get_place_proc_ids_)(const int32_t* place, int32_t* ids) { place_proc_ids(*place, ids); }

WEFT_ABI(void, omp_get_place_proc_ids_8_)(const int64_t* place, int64_t* ids) { place_proc_ids(*place, ids); }

WEFT_ABI(void, omp_get_partition_place_nums)(int* numbers) { partition_place_nums(numbers); }

WEFT_ABI(void, omp_get_partition_place_nums_)(int32_t* numbers) { partition_place_nums(numbers); }

WEFT_ABI(void, omp_get_partition_place_nums_8_)(int64_t* numbers) { partition_place_nums(numbers); }

// ---- what a thread says of its own; ompc_ are the names that clang's omp.h makes of the C ones ----

#define WEFT_AFFINITY_SET(name) \
  WEFT_ABI(void, name)(const char* format) { set_affinity_format(format, length_of(format)); }
WEFT_AFFINITY_SET(omp_set_affinity_format);
WEFT_AFFINITY_SET(ompc_set_affinity_format);

WEFT_ABI(void, omp_set_affinity_format_)(const char* format, size_t length) {
  set_affinity_format(format, length_of(format, length));
}

#define WEFT_AFFINITY_GET(name) \
  WEFT_ABI(size_t, name)(char* text, size_t room) { return get_affinity_format(text, room); }
WEFT_AFFINITY_GET(omp_get_affinity_format);
WEFT_AFFINITY_GET(ompc_get_affinity_format);

WEFT_ABI(int, omp_get_affinity_format_)(char* text, size_t length) { return fill(text, length, get_affinity_format); }

#define WEFT_AFFINITY_DISPLAY(name) \
  WEFT_ABI(void, name)(const char* format) { display_affinity(self(), format, length_of(format)); }
WEFT_AFFINITY_DISPLAY(omp_display_affinity);
WEFT_AFFINITY_DISPLAY(ompc_display_affinity);

WEFT_ABI(void, omp_display_affinity_)(const char* format, size_t length) {
  display_affinity(self(), format, length_of(format, length));
}

#define WEFT_AFFINITY_CAPTURE(name)                                         \
  WEFT_ABI(size_t, name)(char* text, size_t room, const char* format) {     \
    return capture_affinity(self(), format, length_of(format), text, room); \
  }
WEFT_AFFINITY_CAPTURE(omp_capture_affinity);
WEFT_AFFINITY_CAPTURE(ompc_capture_affinity);

WEFT_ABI(int, omp_capture_affinity_)(char* text, const char* format, size_t text_length, size_t format_length) {
  return fill(text, text_length, [=](char* whole, size_t room) {
    return capture_affinity(self(), format, length_of(format, format_length), whole, room);
  });
}
