// SPDX-License-Identifier: Apache-2.0
#include "coll/profiling/handles.h"

namespace weft::coll {

namespace {

// Filled at the first call: the handles of Open MPI are known only when the program runs.
bool is_integer(MPI_Datatype type) noexcept {
  static const MPI_Datatype kTypes[] = {
      MPI_INT,      MPI_LONG,           MPI_LONG_LONG,   MPI_UNSIGNED,      MPI_UNSIGNED_LONG,
      MPI_SHORT,    MPI_UNSIGNED_SHORT, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_UNSIGNED_LONG_LONG,
      MPI_INT8_T,   MPI_INT16_T,        MPI_INT32_T,     MPI_INT64_T,       MPI_UINT8_T,
      MPI_UINT16_T, MPI_UINT32_T,       MPI_UINT64_T,    MPI_AINT,          MPI_OFFSET,
      MPI_COUNT,    MPI_INTEGER};
  return among(type, kTypes);
}

bool is_real(MPI_Datatype type) noexcept {
  static const MPI_Datatype kTypes[] = {MPI_DOUBLE, MPI_FLOAT, MPI_LONG_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION};
  return among(type, kTypes);
}

bool is_complex(MPI_Datatype type) noexcept {
  static const MPI_Datatype kTypes[] = {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_COMPLEX, MPI_DOUBLE_COMPLEX};
  return among(type, kTypes);
}

bool is_logical(MPI_Datatype type) noexcept { return type == MPI_C_BOOL || type == MPI_LOGICAL; }

}  // namespace

#if defined(OPEN_MPI) || defined(MPI_ABI_VERSION)
bool is_basic(MPI_Datatype type) noexcept {
  static const MPI_Datatype kOthers[] = {MPI_BYTE, MPI_CHAR, MPI_CHARACTER, MPI_WCHAR, MPI_PACKED, MPI_2INT};
  return is_real(type) || among(type, kOthers) || is_integer(type) || is_complex(type) || is_logical(type);
}

bool is_of_user(MPI_Op op) noexcept {
  static const MPI_Op kOps[] = {MPI_SUM,  MPI_MAX, MPI_MIN,  MPI_PROD,   MPI_LAND,   MPI_LOR,     MPI_LXOR,
                                MPI_BAND, MPI_BOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
  return !among(op, kOps);
}
#else
// MPICH's handles have it in their bits.
bool is_basic(MPI_Datatype type) noexcept {
  return (static_cast<unsigned>(type) ^ static_cast<unsigned>(MPI_BYTE)) >> 16 == 0;
}

bool is_of_user(MPI_Op op) noexcept { return (static_cast<unsigned>(op) ^ static_cast<unsigned>(MPI_SUM)) >> 26 != 0; }
#endif

bool has_meaning(MPI_Datatype type, MPI_Op op) noexcept {
  if (op == MPI_SUM || op == MPI_PROD) return is_real(type) || is_integer(type) || is_complex(type);
  if (op == MPI_MAX || op == MPI_MIN) return is_integer(type) || is_real(type);
  if (op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR) return is_integer(type) || is_logical(type);
  if (op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR) return is_integer(type) || type == MPI_BYTE;
  return (op == MPI_MINLOC || op == MPI_MAXLOC) && type == MPI_2INT;
}

}  // namespace weft::coll
