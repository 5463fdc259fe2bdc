// SPDX-License-Identifier: Apache-2.0
#include "coll/mpich/reductions.h"

#include "coll/mpich/data.h"

namespace weft::coll {

namespace {

template <class Handle, size_t N>
bool among(Handle wanted, const Handle (&list)[N]) noexcept {
  for (const Handle handle : list) {
    if (handle == wanted) return true;
  }
  return false;
}

constexpr MPI_Datatype kIntegers[] = {
    MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_SHORT,         MPI_UNSIGNED_SHORT, MPI_INT,
    MPI_UNSIGNED,    MPI_LONG,          MPI_UNSIGNED_LONG, MPI_LONG_LONG,      MPI_UNSIGNED_LONG_LONG,
    MPI_INT8_T,      MPI_INT16_T,       MPI_INT32_T,       MPI_INT64_T,        MPI_UINT8_T,
    MPI_UINT16_T,    MPI_UINT32_T,      MPI_UINT64_T,      MPI_AINT,           MPI_OFFSET,
    MPI_COUNT,       MPI_INTEGER};
constexpr MPI_Datatype kReals[] = {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION};
constexpr MPI_Datatype kComplex[] = {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_COMPLEX, MPI_DOUBLE_COMPLEX};
constexpr MPI_Datatype kLogicals[] = {MPI_C_BOOL, MPI_LOGICAL};

bool has_meaning(MPI_Datatype type, MPI_Op op) noexcept {
  switch (op) {
    case MPI_MAX:
    case MPI_MIN: return among(type, kIntegers) || among(type, kReals);
    case MPI_SUM:
    case MPI_PROD: return among(type, kReals) || among(type, kIntegers) || among(type, kComplex);
    case MPI_LAND:
    case MPI_LOR:
    case MPI_LXOR: return among(type, kIntegers) || among(type, kLogicals);
    case MPI_BAND:
    case MPI_BOR:
    case MPI_BXOR: return among(type, kIntegers) || type == MPI_BYTE;
    case MPI_MINLOC:
    case MPI_MAXLOC: return type == MPI_2INT;
    default: return false;
  }
}

// MPICH's handles say whether MPI has it from the start.
bool is_of_user(MPI_Op op) noexcept { return (static_cast<unsigned>(op) ^ static_cast<unsigned>(MPI_SUM)) >> 26 != 0; }

}  // namespace

bool can_combine(MPI_Datatype type, MPI_Op op) noexcept {
  if (op == MPI_OP_NULL) return false;
  return is_of_user(op) ? is_plain(type) : has_meaning(type, op);
}

}  // namespace weft::coll
