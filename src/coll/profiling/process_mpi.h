// SPDX-License-Identifier: Apache-2.0
// MPI's functions and objects, found in the process: the library is linked to no MPI.
#pragma once

#include <mpi.h>

namespace weft::coll {

// PMPI_X by the name X.
// clang-format off
#define WEFT_COLL_PMPI(F) \
  F(Abort) F(Allgather) F(Comm_call_errhandler) F(Comm_create_keyval) F(Comm_get_attr) F(Comm_get_name) F(Comm_group) F(Comm_rank) \
  F(Comm_set_attr) F(Comm_size) F(Comm_test_inter) F(Group_free) F(Group_translate_ranks) F(Finalized) F(Get_library_version) F(Initialized) F(Iprobe) F(Irecv) F(Isend) F(Pack) \
  F(Reduce_local) F(T_cvar_get_index) F(T_cvar_handle_alloc) F(T_cvar_handle_free) F(T_cvar_read) F(T_finalize) F(T_init_thread) F(Test) F(Type_commit) F(Type_create_hindexed) F(Type_free) F(Type_get_contents) F(Type_get_envelope) \
  F(Type_get_extent) F(Type_size_x) F(Unpack)

// The predefined handles of Open MPI are addresses of its objects. Its Fortran routines are weft's too.
#ifdef OPEN_MPI
#define WEFT_COLL_CONVERSIONS(F) F(Comm_f2c) F(Op_f2c) F(Type_f2c)
#define WEFT_COLL_OBJECTS(F) \
  F(ompi_mpi_comm_null) F(ompi_mpi_comm_self) F(ompi_mpi_comm_world) F(ompi_mpi_datatype_null) F(ompi_mpi_group_null) \
  F(ompi_mpi_op_null) F(ompi_request_null) \
  F(ompi_mpi_aint) F(ompi_mpi_byte) F(ompi_mpi_c_bool) F(ompi_mpi_c_double_complex) F(ompi_mpi_c_float_complex) F(ompi_mpi_char) \
  F(ompi_mpi_character) F(ompi_mpi_count) F(ompi_mpi_cplex) F(ompi_mpi_dblcplex) F(ompi_mpi_dblprec) F(ompi_mpi_double) \
  F(ompi_mpi_float) F(ompi_mpi_int) F(ompi_mpi_int16_t) F(ompi_mpi_int32_t) F(ompi_mpi_int64_t) F(ompi_mpi_int8_t) \
  F(ompi_mpi_integer) F(ompi_mpi_logical) F(ompi_mpi_long) F(ompi_mpi_long_double) F(ompi_mpi_long_long_int) F(ompi_mpi_offset) \
  F(ompi_mpi_packed) F(ompi_mpi_real) F(ompi_mpi_short) F(ompi_mpi_signed_char) F(ompi_mpi_uint16_t) F(ompi_mpi_uint32_t) \
  F(ompi_mpi_uint64_t) F(ompi_mpi_uint8_t) F(ompi_mpi_unsigned) F(ompi_mpi_unsigned_char) F(ompi_mpi_unsigned_long) \
  F(ompi_mpi_unsigned_long_long) F(ompi_mpi_unsigned_short) F(ompi_mpi_wchar) F(ompi_mpi_2int) \
  F(ompi_mpi_op_band) F(ompi_mpi_op_bor) F(ompi_mpi_op_bxor) F(ompi_mpi_op_land) F(ompi_mpi_op_lor) F(ompi_mpi_op_lxor) \
  F(ompi_mpi_op_max) F(ompi_mpi_op_maxloc) F(ompi_mpi_op_min) F(ompi_mpi_op_minloc) F(ompi_mpi_op_no_op) F(ompi_mpi_op_prod) \
  F(ompi_mpi_op_replace) F(ompi_mpi_op_sum)
// What the names of handles stand for in <mpi.h>.
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, object) (static_cast<type>(weft::coll::g_mpi.object))
#else
#define WEFT_COLL_CONVERSIONS(F)
#define WEFT_COLL_OBJECTS(F)
#endif
// clang-format on

// The functions with counts that the program would call without weft; they may be a tool's.
template <class Count>
struct NextCalls {
  int (*bcast)(void*, Count, MPI_Datatype, int, MPI_Comm);
  int (*reduce)(const void*, void*, Count, MPI_Datatype, MPI_Op, int, MPI_Comm);
  int (*allreduce)(const void*, void*, Count, MPI_Datatype, MPI_Op, MPI_Comm);
  int (*allgather)(const void*, Count, MPI_Datatype, void*, Count, MPI_Datatype, MPI_Comm);
  int (*alltoall)(const void*, Count, MPI_Datatype, void*, Count, MPI_Datatype, MPI_Comm);
};

struct ProcessMpi {
#define WEFT_COLL_MEMBER(name) decltype(&PMPI_##name) name;
  WEFT_COLL_PMPI(WEFT_COLL_MEMBER)
  WEFT_COLL_CONVERSIONS(WEFT_COLL_MEMBER)
#undef WEFT_COLL_MEMBER
#define WEFT_COLL_MEMBER(name) void* name;
  WEFT_COLL_OBJECTS(WEFT_COLL_MEMBER)
#undef WEFT_COLL_MEMBER
  // As NextCalls. Those for large counts are null where the MPI has none.
  NextCalls<int> next;
  NextCalls<MPI_Count> next_large;
  decltype(&MPI_Barrier) next_barrier;
  decltype(&MPI_Init) next_init;
  decltype(&MPI_Init_thread) next_init_thread;
};

// Filled before the first call.
extern ProcessMpi g_mpi;

}  // namespace weft::coll
