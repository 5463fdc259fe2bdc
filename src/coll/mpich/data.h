// SPDX-License-Identifier: Apache-2.0
// What a rank gives or gets, as contiguous bytes. Choices follow from bytes alone: ranks may describe the same bytes in
// different ways, and a rank whose data has gaps packs it for itself.
#pragma once

#include <cstddef>

#include <mpi.h>

namespace weft::coll {

// Whether MPI has it from the start, of one size and without gaps. MPICH's handles say so.
inline bool is_basic(MPI_Datatype type) noexcept {
  return (static_cast<unsigned>(type) ^ static_cast<unsigned>(MPI_BYTE)) >> 16 == 0;
}

// Of a type that is not null.
size_t size_of(MPI_Datatype type) noexcept;
// Whether its bytes lie one behind the other, from the beginning on, also of several elements.
bool is_plain(MPI_Datatype type) noexcept;

// `number` blocks of `count` elements.
class Blocks {
 public:
  Blocks(const void* start, int count, MPI_Datatype type, int number, MPI_Comm comm) noexcept;
  ~Blocks();
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  // False: there is no memory for a copy.
  explicit operator bool() const noexcept { return bytes_ != nullptr; }
  // The bytes themselves, or the copy.
  char* bytes() const noexcept { return bytes_; }
  // Those of one block.
  char* block(int index) const noexcept { return bytes_ + block_bytes_ * static_cast<size_t>(index); }

  // Between the data and its copy, if there is one.
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
