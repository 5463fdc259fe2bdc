// SPDX-License-Identifier: Apache-2.0
#include "coll/profiling/data.h"

#include <algorithm>
#include <cstdlib>

#include "coll/profiling/handles.h"

namespace weft::coll {

namespace {

// So many bytes are packed at a time, since MPI_Pack counts them by an int.
constexpr size_t kMostAtOnce = 1 << 30;

// Returns the type that `type` is a duplicate or a contiguous repetition of; MPI_DATATYPE_NULL: it is neither.
MPI_Datatype base_of(MPI_Datatype type) noexcept {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = 0;
  g_mpi.Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  if (combiner != MPI_COMBINER_DUP && combiner != MPI_COMBINER_CONTIGUOUS) return MPI_DATATYPE_NULL;
  int count = 0;
  MPI_Aint address = 0;
  MPI_Datatype base = MPI_DATATYPE_NULL;
  g_mpi.Type_get_contents(type, integers, addresses, types, &count, &address, &base);
  return base;
}

}  // namespace

size_t size_of(MPI_Datatype type) noexcept {
  MPI_Count size = 0;
  g_mpi.Type_size_x(type, &size);
  return size > 0 ? static_cast<size_t>(size) : 0;
}

bool is_plain(MPI_Datatype type) noexcept {
  if (is_basic(type)) return true;
  const MPI_Datatype base = base_of(type);
  if (base == MPI_DATATYPE_NULL) return false;
  const bool plain = is_plain(base);
  if (!is_basic(base)) {
    // MPI's predefined types must not be freed; is_basic() does not know all of them.
    int integers = 0;
    int addresses = 0;
    int types = 0;
    int combiner = 0;
    g_mpi.Type_get_envelope(base, &integers, &addresses, &types, &combiner);
    MPI_Datatype freed = base;
    if (combiner != MPI_COMBINER_NAMED) g_mpi.Type_free(&freed);
  }
  return plain;
}

Blocks::Blocks(const void* start, int count, MPI_Datatype type, int number, MPI_Comm comm) noexcept
    : start_(static_cast<char*>(const_cast<void*>(start))),
      count_(count),
      type_(type),
      number_(number),
      comm_(comm),
      block_bytes_(size_of(type) * static_cast<size_t>(count)),
      bytes_(start_),
      copied_(!is_plain(type)) {
  if (!copied_) return;
  bytes_ = static_cast<char*>(std::malloc(block_bytes_ * static_cast<size_t>(number)));
  if (start_ == nullptr) name_from_elsewhere();
}

Blocks::~Blocks() {
  if (copied_) std::free(bytes_);
  if (moved_ != MPI_DATATYPE_NULL) g_mpi.Type_free(&moved_);
}

// MPI_Pack refuses data at the address 0, which MPI_BOTTOM is. So the data is named by another address, and by a type
// that leads back from there.
void Blocks::name_from_elsewhere() noexcept {
  constexpr MPI_Aint kElsewhere = 64;
  const int one = 1;
  const MPI_Aint back = -kElsewhere;
  if (g_mpi.Type_create_hindexed(1, &one, &back, type_, &moved_) != MPI_SUCCESS) return;
  g_mpi.Type_commit(&moved_);
  type_ = moved_;
  start_ = reinterpret_cast<char*>(kElsewhere);
}

template <class Convert>
void Blocks::convert(int from, int to, Convert&& one) noexcept {
  if (!copied_) return;
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  g_mpi.Type_get_extent(type_, &lower, &extent);
  const size_t size = size_of(type_);
  const int step = static_cast<int>(std::clamp<size_t>(kMostAtOnce / size, 1, static_cast<size_t>(count_)));
  for (int block = from; block < to; ++block) {
    for (int at = 0; at < count_; at += step) {
      const int count = std::min(step, count_ - at);
      const auto index = static_cast<MPI_Aint>(block) * count_ + at;
      one(start_ + index * extent, count, this->block(block) + size * static_cast<size_t>(at),
          static_cast<int>(size) * count);
      // The loop ends here, since `at + step` may be greater than INT_MAX.
      if (count_ - at <= step) break;
    }
  }
}

void Blocks::pack(int from, int to) noexcept {
  convert(from, to, [this](const void* data, int count, void* packed, int bytes) {
    int position = 0;
    g_mpi.Pack(data, count, type_, packed, bytes, &position, comm_);
  });
}

void Blocks::unpack() noexcept {
  convert(0, number_, [this](void* data, int count, const void* packed, int bytes) {
    int position = 0;
    g_mpi.Unpack(packed, bytes, &position, data, count, type_, comm_);
  });
}

}  // namespace weft::coll
