// SPDX-License-Identifier: Apache-2.0
// <mpi.h> for what weft uses of Open MPI's ABI: handles, statuses and constants as Open MPI has them from 4.0 to 6.0. A
// handle that MPI defines is the address of an object of Open MPI's.
#pragma once

#include <cstddef>

#define OPEN_MPI 1

using MPI_Aint = ptrdiff_t;
using MPI_Count = long long;
using MPI_Offset = long long;
using MPI_Fint = int;
using MPI_Comm = struct ompi_communicator_t*;
using MPI_Datatype = struct ompi_datatype_t*;
using MPI_Errhandler = struct ompi_errhandler_t*;
using MPI_File = struct ompi_file_t*;
using MPI_Group = struct ompi_group_t*;
using MPI_Info = struct ompi_info_t*;
using MPI_Message = struct ompi_message_t*;
using MPI_Op = struct ompi_op_t*;
using MPI_Request = struct ompi_request_t*;
using MPI_Win = struct ompi_win_t*;
using MPI_T_enum = struct mca_base_var_enum_t*;
using MPI_T_cvar_handle = struct ompi_mpit_cvar_handle_t*;
#define MPI_T_ENUM_NULL (static_cast<MPI_T_enum>(nullptr))

struct MPI_Status {
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
  int cancelled;
  size_t bytes;
};

inline constexpr int MPI_SUCCESS = 0;
inline constexpr int MPI_ERR_ARG = 13;
inline constexpr int MPI_ERR_IN_STATUS = 18;
inline constexpr int MPI_ERR_NO_MEM = 39;
inline constexpr int MPI_ERR_OTHER = 16;
inline constexpr int MPI_ERR_REQUEST = 7;
inline constexpr int MPI_ANY_SOURCE = -1;
inline constexpr int MPI_ANY_TAG = -1;
inline constexpr int MPI_PROC_NULL = -2;
inline constexpr int MPI_UNDEFINED = -32766;
inline constexpr int MPI_KEYVAL_INVALID = -1;
inline constexpr int MPI_TAG_UB = 0;
inline constexpr int MPI_THREAD_SINGLE = 0;
inline constexpr int MPI_THREAD_FUNNELED = 1;
inline constexpr int MPI_THREAD_SERIALIZED = 2;
inline constexpr int MPI_THREAD_MULTIPLE = 3;
inline constexpr int MPI_COMBINER_NAMED = 0;
inline constexpr int MPI_COMBINER_DUP = 1;
inline constexpr int MPI_COMBINER_CONTIGUOUS = 2;
inline constexpr int MPI_COMM_TYPE_SHARED = 0;
inline constexpr int MPI_MAX_ERROR_STRING = 256;
inline constexpr int MPI_MAX_OBJECT_NAME = 64;
inline constexpr int MPI_MAX_PROCESSOR_NAME = 256;
inline constexpr int MPI_MAX_LIBRARY_VERSION_STRING = 256;

#define MPI_BOTTOM (static_cast<void*>(nullptr))
#define MPI_IN_PLACE reinterpret_cast<void*>(1)
#define MPI_STATUS_IGNORE (static_cast<MPI_Status*>(nullptr))
#define MPI_STATUSES_IGNORE (static_cast<MPI_Status*>(nullptr))

// The objects themselves are not seen: only their addresses count.
extern "C" {
extern char ompi_mpi_2int[];
extern char ompi_mpi_aint[];
extern char ompi_mpi_byte[];
extern char ompi_mpi_c_bool[];
extern char ompi_mpi_c_double_complex[];
extern char ompi_mpi_c_float_complex[];
extern char ompi_mpi_char[];
extern char ompi_mpi_character[];
extern char ompi_mpi_comm_null[];
extern char ompi_mpi_comm_self[];
extern char ompi_mpi_comm_world[];
extern char ompi_mpi_count[];
extern char ompi_mpi_cplex[];
extern char ompi_mpi_datatype_null[];
extern char ompi_mpi_dblcplex[];
extern char ompi_mpi_dblprec[];
extern char ompi_mpi_double[];
extern char ompi_mpi_errhandler_null[];
extern char ompi_mpi_errors_are_fatal[];
extern char ompi_mpi_errors_return[];
extern char ompi_mpi_file_null[];
extern char ompi_mpi_float[];
extern char ompi_mpi_group_empty[];
extern char ompi_mpi_group_null[];
extern char ompi_mpi_info_null[];
extern char ompi_mpi_int[];
extern char ompi_mpi_int16_t[];
extern char ompi_mpi_int32_t[];
extern char ompi_mpi_int64_t[];
extern char ompi_mpi_int8_t[];
extern char ompi_mpi_integer[];
extern char ompi_mpi_logical[];
extern char ompi_mpi_long[];
extern char ompi_mpi_long_double[];
extern char ompi_mpi_long_long_int[];
extern char ompi_mpi_offset[];
extern char ompi_mpi_op_band[];
extern char ompi_mpi_op_bor[];
extern char ompi_mpi_op_bxor[];
extern char ompi_mpi_op_land[];
extern char ompi_mpi_op_lor[];
extern char ompi_mpi_op_lxor[];
extern char ompi_mpi_op_max[];
extern char ompi_mpi_op_maxloc[];
extern char ompi_mpi_op_min[];
extern char ompi_mpi_op_minloc[];
extern char ompi_mpi_op_no_op[];
extern char ompi_mpi_op_null[];
extern char ompi_mpi_op_prod[];
extern char ompi_mpi_op_replace[];
extern char ompi_mpi_op_sum[];
extern char ompi_mpi_packed[];
extern char ompi_mpi_real[];
extern char ompi_mpi_short[];
extern char ompi_mpi_signed_char[];
extern char ompi_mpi_uint16_t[];
extern char ompi_mpi_uint32_t[];
extern char ompi_mpi_uint64_t[];
extern char ompi_mpi_uint8_t[];
extern char ompi_mpi_unsigned[];
extern char ompi_mpi_unsigned_char[];
extern char ompi_mpi_unsigned_long[];
extern char ompi_mpi_unsigned_long_long[];
extern char ompi_mpi_unsigned_short[];
extern char ompi_mpi_wchar[];
extern char ompi_mpi_win_null[];
extern char ompi_request_null[];
}
#define OMPI_PREDEFINED_GLOBAL(type, object) reinterpret_cast<type>(object)

#define MPI_COMM_NULL OMPI_PREDEFINED_GLOBAL(MPI_Comm, ompi_mpi_comm_null)
#define MPI_COMM_WORLD OMPI_PREDEFINED_GLOBAL(MPI_Comm, ompi_mpi_comm_world)
#define MPI_COMM_SELF OMPI_PREDEFINED_GLOBAL(MPI_Comm, ompi_mpi_comm_self)

#define MPI_GROUP_NULL OMPI_PREDEFINED_GLOBAL(MPI_Group, ompi_mpi_group_null)
#define MPI_GROUP_EMPTY OMPI_PREDEFINED_GLOBAL(MPI_Group, ompi_mpi_group_empty)

#define MPI_WIN_NULL OMPI_PREDEFINED_GLOBAL(MPI_Win, ompi_mpi_win_null)

#define MPI_FILE_NULL OMPI_PREDEFINED_GLOBAL(MPI_File, ompi_mpi_file_null)

#define MPI_INFO_NULL OMPI_PREDEFINED_GLOBAL(MPI_Info, ompi_mpi_info_null)

#define MPI_REQUEST_NULL OMPI_PREDEFINED_GLOBAL(MPI_Request, ompi_request_null)

#define MPI_ERRHANDLER_NULL OMPI_PREDEFINED_GLOBAL(MPI_Errhandler, ompi_mpi_errhandler_null)
#define MPI_ERRORS_ARE_FATAL OMPI_PREDEFINED_GLOBAL(MPI_Errhandler, ompi_mpi_errors_are_fatal)
#define MPI_ERRORS_RETURN OMPI_PREDEFINED_GLOBAL(MPI_Errhandler, ompi_mpi_errors_return)

#define MPI_OP_NULL OMPI_PREDEFINED_GLOBAL(MPI_Op, ompi_mpi_op_null)
#define MPI_SUM OMPI_PREDEFINED_GLOBAL(MPI_Op, ompi_mpi_op_sum)
#define MPI_MIN OMPI_PREDEFINED_GLOBAL(MPI_Op, ompi_mpi_op_min)
#define MPI_MAX OMPI_PREDEFINED_GLOBAL(MPI_Op, ompi_mpi_op_max)
#define MPI_PROD OMPI_PREDEFINED_GLOBAL(MPI_Op, ompi_mpi_op_prod)
#define MPI_BAND OMPI_PREDEFINED_GLOBAL(MPI_Op, ompi_mpi_op_band)
#define MPI_BOR OMPI_PREDEFINED_GLOBAL(MPI_Op, ompi_mpi_op_bor)
#define MPI_BXOR OMPI_PREDEFINED_GLOBAL(MPI_Op, ompi_mpi_op_bxor)
#define MPI_LAND OMPI_PREDEFINED_GLOBAL(MPI_Op, ompi_mpi_op_land)
#define MPI_LOR OMPI_PREDEFINED_GLOBAL(MPI_Op, ompi_mpi_op_lor)
#define MPI_LXOR OMPI_PREDEFINED_GLOBAL(MPI_Op, ompi_mpi_op_lxor)
#define MPI_MINLOC OMPI_PREDEFINED_GLOBAL(MPI_Op, ompi_mpi_op_minloc)
#define MPI_MAXLOC OMPI_PREDEFINED_GLOBAL(MPI_Op, ompi_mpi_op_maxloc)
#define MPI_REPLACE OMPI_PREDEFINED_GLOBAL(MPI_Op, ompi_mpi_op_replace)
#define MPI_NO_OP OMPI_PREDEFINED_GLOBAL(MPI_Op, ompi_mpi_op_no_op)

#define MPI_DATATYPE_NULL OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_datatype_null)
#define MPI_AINT OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_aint)
#define MPI_COUNT OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_count)
#define MPI_OFFSET OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_offset)
#define MPI_PACKED OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_packed)
#define MPI_SHORT OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_short)
#define MPI_INT OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_int)
#define MPI_LONG OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_long)
#define MPI_LONG_LONG OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_long_long_int)
#define MPI_UNSIGNED_SHORT OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_unsigned_short)
#define MPI_UNSIGNED OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_unsigned)
#define MPI_UNSIGNED_LONG OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_unsigned_long)
#define MPI_UNSIGNED_LONG_LONG OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_unsigned_long_long)
#define MPI_FLOAT OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_float)
#define MPI_C_FLOAT_COMPLEX OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_c_float_complex)
#define MPI_DOUBLE OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_double)
#define MPI_C_DOUBLE_COMPLEX OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_c_double_complex)
#define MPI_LOGICAL OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_logical)
#define MPI_INTEGER OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_integer)
#define MPI_REAL OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_real)
#define MPI_COMPLEX OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_cplex)
#define MPI_DOUBLE_PRECISION OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_dblprec)
#define MPI_DOUBLE_COMPLEX OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_dblcplex)
#define MPI_CHARACTER OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_character)
#define MPI_LONG_DOUBLE OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_long_double)
#define MPI_2INT OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_2int)
#define MPI_C_BOOL OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_c_bool)
#define MPI_BYTE OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_byte)
#define MPI_CHAR OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_char)
#define MPI_SIGNED_CHAR OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_signed_char)
#define MPI_UNSIGNED_CHAR OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_unsigned_char)
#define MPI_WCHAR OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_wchar)
#define MPI_INT8_T OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_int8_t)
#define MPI_INT16_T OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_int16_t)
#define MPI_INT32_T OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_int32_t)
#define MPI_INT64_T OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_int64_t)
#define MPI_UINT8_T OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_uint8_t)
#define MPI_UINT16_T OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_uint16_t)
#define MPI_UINT32_T OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_uint32_t)
#define MPI_UINT64_T OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_uint64_t)

#include "mpi/declarations/functions.h"

// Between the handles of C and of Fortran.
extern "C" {
extern MPI_Fint* MPI_F_STATUS_IGNORE;
extern MPI_Fint* MPI_F_STATUSES_IGNORE;
MPI_Comm PMPI_Comm_f2c(MPI_Fint);
MPI_Datatype PMPI_Type_f2c(MPI_Fint);
MPI_File PMPI_File_f2c(MPI_Fint);
MPI_Op PMPI_Op_f2c(MPI_Fint);
MPI_Request PMPI_Request_f2c(MPI_Fint);
MPI_Win PMPI_Win_f2c(MPI_Fint);
MPI_Fint PMPI_Comm_c2f(MPI_Comm);
MPI_Fint PMPI_Request_c2f(MPI_Request);
int PMPI_Status_f2c(const MPI_Fint*, MPI_Status*);
int PMPI_Status_c2f(const MPI_Status*, MPI_Fint*);
}
