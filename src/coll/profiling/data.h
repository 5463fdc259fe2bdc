// SPDX-License-Identifier: Apache-2.0
// The data that a rank gives or gets, as contiguous bytes. Choices follow from the number of bytes alone: ranks may
// describe the same bytes by different types, and a rank whose data has gaps packs it for itself.
#pragma once

#include <cstddef>

#include "coll/profiling/process_mpi.h"

namespace weft::coll {

// The size of a type that is not MPI_DATATYPE_NULL.
size_t size_of(MPI_Datatype type) noexcept;
// Whether the bytes of elements of the type lie one behind the other, without gaps, from the beginning on.
bool is_plain(MPI_Datatype type) noexcept;

// `number` blocks of `count` elements.
class Blocks {
 public:
  Blocks(const void* start, int count, MPI_Datatype type, int number, MPI_Comm comm) noexcept;
  ~Blocks();
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  // Whether there was memory for a copy, if one is needed.
  explicit operator bool() const noexcept { return bytes_ != nullptr; }
  // The data itself where it has no gaps, or its copy.
  char* bytes() const noexcept { return bytes_; }
  // The bytes of one block.
  char* block(int index) const noexcept { return bytes_ + block_bytes_ * static_cast<size_t>(index); }

  // Copies from the data to its copy, or back, if there is one.
  void pack() noexcept { pack(0, number_); }
  void pack_block(int index) noexcept { pack(index, index + 1); }
  void unpack() noexcept;

 private:
  void name_from_elsewhere() noexcept;
  void pack(int from, int to) noexcept;
  template <class Convert>
  void convert(int from, int to, Convert&& one) noexcept;

  char* start_;
  int count_;
  MPI_Datatype type_;
  int number_;
  MPI_Comm comm_;
  size_t block_bytes_;
  char* bytes_;
  bool copied_;
  MPI_Datatype moved_ = MPI_DATATYPE_NULL;
};

}  // namespace weft::coll
