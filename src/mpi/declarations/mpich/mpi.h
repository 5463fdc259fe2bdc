// SPDX-License-Identifier: Apache-2.0
// <mpi.h> for what weft uses of MPICH's ABI: handles, statuses and constants as MPICH has them since 3.1, and the MPIs
// that share its ABI by the initiative of that name (https://www.mpich.org/abi).
#pragma once

#include <cstddef>

using MPI_Aint = long;
using MPI_Count = long long;
using MPI_Offset = long long;
using MPI_Fint = int;
using MPI_Comm = int;
using MPI_Datatype = int;
using MPI_Errhandler = int;
using MPI_File = struct ADIOI_FileD*;
using MPI_Group = int;
using MPI_Info = int;
using MPI_Message = int;
using MPI_Op = int;
using MPI_Request = int;
using MPI_Win = int;
using MPI_T_enum = struct MPIR_T_enum_s*;
using MPI_T_cvar_handle = struct MPIR_T_cvar_handle_s*;
#define MPI_T_ENUM_NULL (static_cast<MPI_T_enum>(nullptr))

struct MPI_Status {
  int count_lo;
  int count_hi_and_cancelled;
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
};

inline constexpr int MPI_SUCCESS = 0;
inline constexpr int MPI_ERR_ARG = 12;
inline constexpr int MPI_ERR_IN_STATUS = 17;
inline constexpr int MPI_ERR_NO_MEM = 34;
inline constexpr int MPI_ERR_OTHER = 15;
inline constexpr int MPI_ERR_REQUEST = 19;
inline constexpr int MPI_ANY_SOURCE = -2;
inline constexpr int MPI_ANY_TAG = -1;
inline constexpr int MPI_PROC_NULL = -1;
inline constexpr int MPI_UNDEFINED = -32766;
inline constexpr int MPI_KEYVAL_INVALID = 603979776;
inline constexpr int MPI_TAG_UB = 1681915905;
inline constexpr int MPI_THREAD_SINGLE = 0;
inline constexpr int MPI_THREAD_FUNNELED = 1;
inline constexpr int MPI_THREAD_SERIALIZED = 2;
inline constexpr int MPI_THREAD_MULTIPLE = 3;
inline constexpr int MPI_COMBINER_NAMED = 1;
inline constexpr int MPI_COMBINER_DUP = 2;
inline constexpr int MPI_COMBINER_CONTIGUOUS = 3;
inline constexpr int MPI_COMM_TYPE_SHARED = 1;
inline constexpr int MPI_MAX_ERROR_STRING = 512;
inline constexpr int MPI_MAX_OBJECT_NAME = 128;
inline constexpr int MPI_MAX_PROCESSOR_NAME = 128;
inline constexpr int MPI_MAX_LIBRARY_VERSION_STRING = 8192;

#define MPI_BOTTOM (static_cast<void*>(nullptr))
#define MPI_IN_PLACE reinterpret_cast<void*>(-1)
#define MPI_STATUS_IGNORE reinterpret_cast<MPI_Status*>(1)
#define MPI_STATUSES_IGNORE reinterpret_cast<MPI_Status*>(1)

#define MPI_COMM_NULL static_cast<MPI_Comm>(0x04000000)
#define MPI_COMM_WORLD static_cast<MPI_Comm>(0x44000000)
#define MPI_COMM_SELF static_cast<MPI_Comm>(0x44000001)

#define MPI_GROUP_NULL static_cast<MPI_Group>(0x08000000)
#define MPI_GROUP_EMPTY static_cast<MPI_Group>(0x48000000)

#define MPI_WIN_NULL static_cast<MPI_Win>(0x20000000)

#define MPI_FILE_NULL (static_cast<MPI_File>(nullptr))

#define MPI_INFO_NULL static_cast<MPI_Info>(0x1c000000)

#define MPI_REQUEST_NULL static_cast<MPI_Request>(0x2c000000)

#define MPI_ERRHANDLER_NULL static_cast<MPI_Errhandler>(0x14000000)
#define MPI_ERRORS_ARE_FATAL static_cast<MPI_Errhandler>(0x54000000)
#define MPI_ERRORS_RETURN static_cast<MPI_Errhandler>(0x54000001)
#define MPI_ERRORS_ABORT static_cast<MPI_Errhandler>(0x54000003)

#define MPI_OP_NULL static_cast<MPI_Op>(0x18000000)
#define MPI_SUM static_cast<MPI_Op>(0x58000003)
#define MPI_MIN static_cast<MPI_Op>(0x58000002)
#define MPI_MAX static_cast<MPI_Op>(0x58000001)
#define MPI_PROD static_cast<MPI_Op>(0x58000004)
#define MPI_BAND static_cast<MPI_Op>(0x58000006)
#define MPI_BOR static_cast<MPI_Op>(0x58000008)
#define MPI_BXOR static_cast<MPI_Op>(0x5800000a)
#define MPI_LAND static_cast<MPI_Op>(0x58000005)
#define MPI_LOR static_cast<MPI_Op>(0x58000007)
#define MPI_LXOR static_cast<MPI_Op>(0x58000009)
#define MPI_MINLOC static_cast<MPI_Op>(0x5800000b)
#define MPI_MAXLOC static_cast<MPI_Op>(0x5800000c)
#define MPI_REPLACE static_cast<MPI_Op>(0x5800000d)
#define MPI_NO_OP static_cast<MPI_Op>(0x5800000e)

#define MPI_DATATYPE_NULL static_cast<MPI_Datatype>(0x0c000000)
#define MPI_AINT static_cast<MPI_Datatype>(0x4c000843)
#define MPI_COUNT static_cast<MPI_Datatype>(0x4c000845)
#define MPI_OFFSET static_cast<MPI_Datatype>(0x4c000844)
#define MPI_PACKED static_cast<MPI_Datatype>(0x4c00010f)
#define MPI_SHORT static_cast<MPI_Datatype>(0x4c000203)
#define MPI_INT static_cast<MPI_Datatype>(0x4c000405)
#define MPI_LONG static_cast<MPI_Datatype>(0x4c000807)
#define MPI_LONG_LONG static_cast<MPI_Datatype>(0x4c000809)
#define MPI_UNSIGNED_SHORT static_cast<MPI_Datatype>(0x4c000204)
#define MPI_UNSIGNED static_cast<MPI_Datatype>(0x4c000406)
#define MPI_UNSIGNED_LONG static_cast<MPI_Datatype>(0x4c000808)
#define MPI_UNSIGNED_LONG_LONG static_cast<MPI_Datatype>(0x4c000819)
#define MPI_FLOAT static_cast<MPI_Datatype>(0x4c00040a)
#define MPI_C_FLOAT_COMPLEX static_cast<MPI_Datatype>(0x4c000840)
#define MPI_DOUBLE static_cast<MPI_Datatype>(0x4c00080b)
#define MPI_C_DOUBLE_COMPLEX static_cast<MPI_Datatype>(0x4c001041)
#define MPI_LOGICAL static_cast<MPI_Datatype>(0x4c00041d)
#define MPI_INTEGER static_cast<MPI_Datatype>(0x4c00041b)
#define MPI_REAL static_cast<MPI_Datatype>(0x4c00041c)
#define MPI_COMPLEX static_cast<MPI_Datatype>(0x4c00081e)
#define MPI_DOUBLE_PRECISION static_cast<MPI_Datatype>(0x4c00081f)
#define MPI_DOUBLE_COMPLEX static_cast<MPI_Datatype>(0x4c001022)
#define MPI_CHARACTER static_cast<MPI_Datatype>(0x4c00011a)
#define MPI_LONG_DOUBLE static_cast<MPI_Datatype>(0x4c00100c)
#define MPI_2INT static_cast<MPI_Datatype>(0x4c000816)
#define MPI_C_BOOL static_cast<MPI_Datatype>(0x4c00013f)
#define MPI_BYTE static_cast<MPI_Datatype>(0x4c00010d)
#define MPI_CHAR static_cast<MPI_Datatype>(0x4c000101)
#define MPI_SIGNED_CHAR static_cast<MPI_Datatype>(0x4c000118)
#define MPI_UNSIGNED_CHAR static_cast<MPI_Datatype>(0x4c000102)
#define MPI_WCHAR static_cast<MPI_Datatype>(0x4c00040e)
#define MPI_INT8_T static_cast<MPI_Datatype>(0x4c000137)
#define MPI_INT16_T static_cast<MPI_Datatype>(0x4c000238)
#define MPI_INT32_T static_cast<MPI_Datatype>(0x4c000439)
#define MPI_INT64_T static_cast<MPI_Datatype>(0x4c00083a)
#define MPI_UINT8_T static_cast<MPI_Datatype>(0x4c00013b)
#define MPI_UINT16_T static_cast<MPI_Datatype>(0x4c00023c)
#define MPI_UINT32_T static_cast<MPI_Datatype>(0x4c00043d)
#define MPI_UINT64_T static_cast<MPI_Datatype>(0x4c00083e)

#include "mpi/declarations/functions.h"

// Handles are the same in C and in Fortran.
extern "C" {
extern MPI_Fint* MPI_F_STATUS_IGNORE;
extern MPI_Fint* MPI_F_STATUSES_IGNORE;
}
inline MPI_Request PMPI_Request_f2c(MPI_Fint request) { return request; }
inline MPI_Fint PMPI_Request_c2f(MPI_Request request) { return request; }
