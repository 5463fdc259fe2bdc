// SPDX-License-Identifier: Apache-2.0
// <mpi.h> for what weft uses of the standard's ABI (MPI 5.0, chapter 20 and appendix A): the handles that MPI defines
// are constants, the others pointers. Many MPIs have it in a library of its own, libmpi_abi.so.1.
#pragma once

#include <cstddef>
#include <cstdint>

#define MPI_ABI_VERSION 1

using MPI_Aint = intptr_t;
using MPI_Count = int64_t;
using MPI_Offset = int64_t;
using MPI_Comm = struct MPI_ABI_Comm*;
using MPI_Datatype = struct MPI_ABI_Datatype*;
using MPI_Errhandler = struct MPI_ABI_Errhandler*;
using MPI_File = struct MPI_ABI_File*;
using MPI_Group = struct MPI_ABI_Group*;
using MPI_Info = struct MPI_ABI_Info*;
using MPI_Message = struct MPI_ABI_Message*;
using MPI_Op = struct MPI_ABI_Op*;
using MPI_Request = struct MPI_ABI_Request*;
using MPI_Win = struct MPI_ABI_Win*;
using MPI_T_enum = struct MPI_ABI_T_enum*;
using MPI_T_cvar_handle = struct MPI_ABI_T_cvar_handle*;
#define MPI_T_ENUM_NULL (static_cast<MPI_T_enum>(nullptr))

struct MPI_Status {
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
  int internal[5];
};

inline constexpr int MPI_SUCCESS = 0;
inline constexpr int MPI_ERR_ARG = 13;
inline constexpr int MPI_ERR_IN_STATUS = 19;
inline constexpr int MPI_ERR_NO_MEM = 39;
inline constexpr int MPI_ERR_OTHER = 16;
inline constexpr int MPI_ERR_REQUEST = 7;
inline constexpr int MPI_ANY_SOURCE = -1;
inline constexpr int MPI_ANY_TAG = -2;
inline constexpr int MPI_PROC_NULL = -3;
inline constexpr int MPI_UNDEFINED = -32766;
inline constexpr int MPI_KEYVAL_INVALID = 0;
inline constexpr int MPI_TAG_UB = 501;
inline constexpr int MPI_THREAD_SINGLE = 0;
inline constexpr int MPI_THREAD_FUNNELED = 1024;
inline constexpr int MPI_THREAD_SERIALIZED = 2048;
inline constexpr int MPI_THREAD_MULTIPLE = 4096;
inline constexpr int MPI_COMBINER_NAMED = 101;
inline constexpr int MPI_COMBINER_DUP = 102;
inline constexpr int MPI_COMBINER_CONTIGUOUS = 103;
inline constexpr int MPI_COMM_TYPE_SHARED = 221;
inline constexpr int MPI_MAX_ERROR_STRING = 512;
inline constexpr int MPI_MAX_OBJECT_NAME = 128;
inline constexpr int MPI_MAX_PROCESSOR_NAME = 256;
inline constexpr int MPI_MAX_LIBRARY_VERSION_STRING = 8192;

#define MPI_BOTTOM (static_cast<void*>(nullptr))
#define MPI_IN_PLACE reinterpret_cast<void*>(1)
#define MPI_STATUS_IGNORE (static_cast<MPI_Status*>(nullptr))
#define MPI_STATUSES_IGNORE (static_cast<MPI_Status*>(nullptr))

#define MPI_COMM_NULL reinterpret_cast<MPI_Comm>(0x100)
#define MPI_COMM_WORLD reinterpret_cast<MPI_Comm>(0x101)
#define MPI_COMM_SELF reinterpret_cast<MPI_Comm>(0x102)

#define MPI_GROUP_NULL reinterpret_cast<MPI_Group>(0x108)
#define MPI_GROUP_EMPTY reinterpret_cast<MPI_Group>(0x109)

#define MPI_WIN_NULL reinterpret_cast<MPI_Win>(0x110)

#define MPI_FILE_NULL reinterpret_cast<MPI_File>(0x118)

#define MPI_INFO_NULL reinterpret_cast<MPI_Info>(0x130)

#define MPI_REQUEST_NULL reinterpret_cast<MPI_Request>(0x180)

#define MPI_ERRHANDLER_NULL reinterpret_cast<MPI_Errhandler>(0x140)
#define MPI_ERRORS_ARE_FATAL reinterpret_cast<MPI_Errhandler>(0x141)
#define MPI_ERRORS_RETURN reinterpret_cast<MPI_Errhandler>(0x143)
#define MPI_ERRORS_ABORT reinterpret_cast<MPI_Errhandler>(0x142)

#define MPI_OP_NULL reinterpret_cast<MPI_Op>(0x20)
#define MPI_SUM reinterpret_cast<MPI_Op>(0x21)
#define MPI_MIN reinterpret_cast<MPI_Op>(0x22)
#define MPI_MAX reinterpret_cast<MPI_Op>(0x23)
#define MPI_PROD reinterpret_cast<MPI_Op>(0x24)
#define MPI_BAND reinterpret_cast<MPI_Op>(0x28)
#define MPI_BOR reinterpret_cast<MPI_Op>(0x29)
#define MPI_BXOR reinterpret_cast<MPI_Op>(0x2a)
#define MPI_LAND reinterpret_cast<MPI_Op>(0x30)
#define MPI_LOR reinterpret_cast<MPI_Op>(0x31)
#define MPI_LXOR reinterpret_cast<MPI_Op>(0x32)
#define MPI_MINLOC reinterpret_cast<MPI_Op>(0x38)
#define MPI_MAXLOC reinterpret_cast<MPI_Op>(0x39)
#define MPI_REPLACE reinterpret_cast<MPI_Op>(0x3c)
#define MPI_NO_OP reinterpret_cast<MPI_Op>(0x3d)

#define MPI_DATATYPE_NULL reinterpret_cast<MPI_Datatype>(0x200)
#define MPI_AINT reinterpret_cast<MPI_Datatype>(0x201)
#define MPI_COUNT reinterpret_cast<MPI_Datatype>(0x202)
#define MPI_OFFSET reinterpret_cast<MPI_Datatype>(0x203)
#define MPI_PACKED reinterpret_cast<MPI_Datatype>(0x207)
#define MPI_SHORT reinterpret_cast<MPI_Datatype>(0x208)
#define MPI_INT reinterpret_cast<MPI_Datatype>(0x209)
#define MPI_LONG reinterpret_cast<MPI_Datatype>(0x20a)
#define MPI_LONG_LONG reinterpret_cast<MPI_Datatype>(0x20b)
#define MPI_UNSIGNED_SHORT reinterpret_cast<MPI_Datatype>(0x20c)
#define MPI_UNSIGNED reinterpret_cast<MPI_Datatype>(0x20d)
#define MPI_UNSIGNED_LONG reinterpret_cast<MPI_Datatype>(0x20e)
#define MPI_UNSIGNED_LONG_LONG reinterpret_cast<MPI_Datatype>(0x20f)
#define MPI_FLOAT reinterpret_cast<MPI_Datatype>(0x210)
#define MPI_C_FLOAT_COMPLEX reinterpret_cast<MPI_Datatype>(0x212)
#define MPI_DOUBLE reinterpret_cast<MPI_Datatype>(0x214)
#define MPI_C_DOUBLE_COMPLEX reinterpret_cast<MPI_Datatype>(0x216)
#define MPI_LOGICAL reinterpret_cast<MPI_Datatype>(0x218)
#define MPI_INTEGER reinterpret_cast<MPI_Datatype>(0x219)
#define MPI_REAL reinterpret_cast<MPI_Datatype>(0x21a)
#define MPI_COMPLEX reinterpret_cast<MPI_Datatype>(0x21b)
#define MPI_DOUBLE_PRECISION reinterpret_cast<MPI_Datatype>(0x21c)
#define MPI_DOUBLE_COMPLEX reinterpret_cast<MPI_Datatype>(0x21d)
#define MPI_CHARACTER reinterpret_cast<MPI_Datatype>(0x21e)
#define MPI_LONG_DOUBLE reinterpret_cast<MPI_Datatype>(0x220)
#define MPI_2INT reinterpret_cast<MPI_Datatype>(0x22b)
#define MPI_C_BOOL reinterpret_cast<MPI_Datatype>(0x238)
#define MPI_BYTE reinterpret_cast<MPI_Datatype>(0x247)
#define MPI_CHAR reinterpret_cast<MPI_Datatype>(0x243)
#define MPI_SIGNED_CHAR reinterpret_cast<MPI_Datatype>(0x244)
#define MPI_UNSIGNED_CHAR reinterpret_cast<MPI_Datatype>(0x245)
#define MPI_WCHAR reinterpret_cast<MPI_Datatype>(0x23c)
#define MPI_INT8_T reinterpret_cast<MPI_Datatype>(0x240)
#define MPI_INT16_T reinterpret_cast<MPI_Datatype>(0x248)
#define MPI_INT32_T reinterpret_cast<MPI_Datatype>(0x250)
#define MPI_INT64_T reinterpret_cast<MPI_Datatype>(0x258)
#define MPI_UINT8_T reinterpret_cast<MPI_Datatype>(0x241)
#define MPI_UINT16_T reinterpret_cast<MPI_Datatype>(0x249)
#define MPI_UINT32_T reinterpret_cast<MPI_Datatype>(0x251)
#define MPI_UINT64_T reinterpret_cast<MPI_Datatype>(0x259)

#include "mpi/declarations/functions.h"
