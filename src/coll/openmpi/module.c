// SPDX-License-Identifier: Apache-2.0
// Choices follow from bytes alone: ranks may describe the same bytes in different ways. A rank whose data has gaps packs
// it for itself.
#include "coll/openmpi/module.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>

#include "coll/openmpi/bridge.h"
#include "coll/openmpi/other_versions.h"
#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/coll/base/base.h"
#include "opal/datatype/opal_convertor.h"

// ---- data ----

// `number` blocks of `count` elements, one behind the other.
struct blocks {
  const void* start;
  size_t count;
  struct ompi_datatype_t* type;
  size_t number;
};

static size_t bytes_of(size_t count, struct ompi_datatype_t* type) {
  size_t size = 0;
  ompi_datatype_type_size(type, &size);
  return size * count;
}

// Where its bytes are when there are no gaps between them; null: there are.
static void* plain(const struct blocks* blocks) {
  // Only whether it is one element or more matters there.
  const int32_t count = blocks->count * blocks->number > 1 ? 2 : 1;
  if (!ompi_datatype_is_contiguous_memory_layout(blocks->type, count)) return NULL;
  return (char*)(uintptr_t)blocks->start + blocks->type->super.true_lb;
}

static char* block(const struct blocks* blocks, size_t index) {
  ptrdiff_t lower = 0;
  ptrdiff_t extent = 0;
  ompi_datatype_get_extent(blocks->type, &lower, &extent);
  return (char*)(uintptr_t)blocks->start + (ptrdiff_t)(index * blocks->count) * extent;
}

static void convert(const struct blocks* blocks, size_t index, char* packed, bool pack) {
  opal_convertor_t convertor;
  OBJ_CONSTRUCT(&convertor, opal_convertor_t);
  size_t bytes = bytes_of(blocks->count, blocks->type);
  struct iovec piece = {packed, bytes};
  uint32_t pieces = 1;
  if (pack) {
    opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &blocks->type->super, blocks->count,
                                             block(blocks, index), 0, &convertor);
    opal_convertor_pack(&convertor, &piece, &pieces, &bytes);
  } else {
    opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &blocks->type->super, blocks->count,
                                             block(blocks, index), 0, &convertor);
    opal_convertor_unpack(&convertor, &piece, &pieces, &bytes);
  }
  OBJ_DESTRUCT(&convertor);
}

static void convert_all(const struct blocks* blocks, char* packed, bool pack) {
  const size_t bytes = bytes_of(blocks->count, blocks->type);
  for (size_t i = 0; i < blocks->number; ++i) convert(blocks, i, packed + i * bytes, pack);
}

// Contiguous bytes that stand for blocks: their own, or a copy.
struct bytes {
  char* data;
  void* copy;
};

// False: no memory.
static bool open_bytes(struct bytes* bytes, const struct blocks* blocks) {
  bytes->copy = NULL;
  bytes->data = plain(blocks);
  if (bytes->data != NULL) return true;
  bytes->data = bytes->copy = malloc(bytes_of(blocks->count, blocks->type) * blocks->number);
  return bytes->data != NULL;
}

static void pack(struct bytes* bytes, const struct blocks* blocks) {
  if (bytes->copy != NULL) convert_all(blocks, bytes->data, true);
}

static void unpack(struct bytes* bytes, const struct blocks* blocks) {
  if (bytes->copy != NULL) convert_all(blocks, bytes->data, false);
}

// ---- the communicator ----

static bool gather_by_previous(void* context, const void* mine, void* all, size_t bytes) {
  weft_module* module = context;
  const int count = (int)bytes;
  return module->previous.allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, module->comm,
                                    module->previous.modules[kWeftAllgather]) == OMPI_SUCCESS;
}

void weft_module_name(void* module, char* text, size_t size) {
  snprintf(text, size, "%s", ((weft_module*)module)->comm->c_name);
}

static void* take(mca_coll_base_module_t* super, enum weft_operation operation, size_t bytes,
                  struct weft_timing* timing) {
  weft_module* module = (weft_module*)super;
  const struct weft_bootstrap bootstrap = {ompi_comm_rank(module->comm), ompi_comm_size(module->comm),
                                           gather_by_previous, module};
  return weft_coll_take(module->front, operation, bytes, &bootstrap, timing);
}

// Behind a call that may have been measured, weft's or not.
static int ended(const struct weft_timing* timing, int result) {
  weft_coll_end(timing);
  return result;
}

#define PREVIOUS(name) ((weft_module*)module)->previous.name
#define MODULE(index) ((weft_module*)module)->previous.modules[index]

// A rank that gives another number of bytes than it gets from each is wrong. What becomes of it is MPI's.
static bool fits(const void* send, int count, struct ompi_datatype_t* type, size_t bytes) {
  return send == MPI_IN_PLACE || bytes_of(count, type) == bytes;
}

// ---- operations ----
// A call without bytes waits for nobody, and is not counted: Open MPI ends some of them before they come here.

static int weft_barrier(struct ompi_communicator_t* comm, mca_coll_base_module_t* module) {
  struct weft_timing timing = {NULL, 0};
  void* group = take(module, kWeftBarrier, 0, &timing);
  if (group == NULL) return ended(&timing, PREVIOUS(barrier)(comm, MODULE(kWeftBarrier)));
  weft_coll_barrier(group);
  return ended(&timing, OMPI_SUCCESS);
}

static int weft_bcast(void* buffer, int count, struct ompi_datatype_t* type, int root, struct ompi_communicator_t* comm,
                      mca_coll_base_module_t* module) {
  const size_t bytes = bytes_of(count, type);
  if (bytes == 0) return OMPI_SUCCESS;
  struct weft_timing timing = {NULL, 0};
  void* group = take(module, kWeftBcast, bytes, &timing);
  if (group == NULL) {
    return ended(&timing, PREVIOUS(bcast)(buffer, count, type, root, comm, MODULE(kWeftBcast)));
  }
  const struct blocks blocks = {buffer, count, type, 1};
  struct bytes data;
  if (!open_bytes(&data, &blocks)) return OMPI_ERR_OUT_OF_RESOURCE;
  if (ompi_comm_rank(comm) == root) pack(&data, &blocks);
  weft_coll_bcast(group, data.data, bytes, root);
  if (ompi_comm_rank(comm) != root) unpack(&data, &blocks);
  free(data.copy);
  return ended(&timing, OMPI_SUCCESS);
}

static int weft_allgather(const void* send, int send_count, struct ompi_datatype_t* send_type, void* receive,
                          int receive_count, struct ompi_datatype_t* receive_type, struct ompi_communicator_t* comm,
                          mca_coll_base_module_t* module) {
  const size_t bytes = bytes_of(receive_count, receive_type);
  if (bytes == 0) return OMPI_SUCCESS;
  struct weft_timing timing = {NULL, 0};
  void* group = fits(send, send_count, send_type, bytes) ? take(module, kWeftAllgather, bytes, &timing) : NULL;
  if (group == NULL) {
    return ended(&timing, PREVIOUS(allgather)(send, send_count, send_type, receive, receive_count, receive_type, comm,
                                             MODULE(kWeftAllgather)));
  }
  const int rank = ompi_comm_rank(comm);
  const struct blocks to = {receive, receive_count, receive_type, ompi_comm_size(comm)};
  struct bytes all;
  if (!open_bytes(&all, &to)) return OMPI_ERR_OUT_OF_RESOURCE;
  char* own = all.data + rank * bytes;
  if (send == MPI_IN_PLACE) {
    if (all.copy != NULL) convert(&to, rank, own, true);
    weft_coll_allgather(group, own, all.data, bytes);
  } else {
    const struct blocks from = {send, send_count, send_type, 1};
    const void* mine = plain(&from);
    if (mine == NULL) {
      convert(&from, 0, own, true);
      mine = own;
    }
    weft_coll_allgather(group, mine, all.data, bytes);
  }
  unpack(&all, &to);
  free(all.copy);
  return ended(&timing, OMPI_SUCCESS);
}

static int weft_alltoall(const void* send, int send_count, struct ompi_datatype_t* send_type, void* receive,
                         int receive_count, struct ompi_datatype_t* receive_type, struct ompi_communicator_t* comm,
                         mca_coll_base_module_t* module) {
  const size_t bytes = bytes_of(receive_count, receive_type);
  if (bytes == 0) return OMPI_SUCCESS;
  struct weft_timing timing = {NULL, 0};
  void* group = fits(send, send_count, send_type, bytes) ? take(module, kWeftAlltoall, bytes, &timing) : NULL;
  if (group == NULL) {
    return ended(&timing, PREVIOUS(alltoall)(send, send_count, send_type, receive, receive_count, receive_type, comm,
                                            MODULE(kWeftAlltoall)));
  }
  const struct blocks to = {receive, receive_count, receive_type, ompi_comm_size(comm)};
  struct bytes out;
  if (!open_bytes(&out, &to)) return OMPI_ERR_OUT_OF_RESOURCE;
  int result = OMPI_SUCCESS;
  if (send == MPI_IN_PLACE) {
    pack(&out, &to);
    weft_coll_alltoall(group, out.data, out.data, bytes);
    unpack(&out, &to);
  } else {
    const struct blocks from = {send, send_count, send_type, ompi_comm_size(comm)};
    struct bytes in;
    if (open_bytes(&in, &from)) {
      pack(&in, &from);
      weft_coll_alltoall(group, in.data, out.data, bytes);
      unpack(&out, &to);
      free(in.copy);
    } else {
      result = OMPI_ERR_OUT_OF_RESOURCE;
    }
  }
  free(out.copy);
  return ended(&timing, result);
}

// ---- reductions ----

struct combination {
  struct ompi_datatype_t* type;
  struct ompi_op_t* op;
};

static void combine(void* context, const void* in, void* inout, size_t count) {
  const struct combination* combination = context;
  PMPI_Reduce_local(in, inout, (int)count, combination->type, combination->op);
}

// Ranks combine elements that lie in queues, one behind the other. MPI wants the same type on all ranks.
static bool can_combine(const struct ompi_datatype_t* type) {
  return ompi_datatype_is_contiguous_memory_layout(type, 2) && type->super.lb == 0 && type->super.true_lb == 0;
}

static int weft_reduce(const void* send, void* receive, int count, struct ompi_datatype_t* type, struct ompi_op_t* op,
                       int root, struct ompi_communicator_t* comm, mca_coll_base_module_t* module) {
  const size_t bytes = bytes_of(count, type);
  if (bytes == 0) return OMPI_SUCCESS;
  struct weft_timing timing = {NULL, 0};
  if (!can_combine(type)) weft_coll_leave(((weft_module*)module)->front, kWeftReduce);
  void* group = can_combine(type) ? take(module, kWeftReduce, bytes, &timing) : NULL;
  if (group == NULL) {
    return PREVIOUS(reduce)(send, receive, count, type, op, root, comm, MODULE(kWeftReduce));
  }
  struct combination combination = {type, op};
  const struct weft_reduction reduction = {combine, &combination, bytes / count};
  weft_coll_reduce(group, send == MPI_IN_PLACE ? receive : send, receive, count, &reduction, root);
  return OMPI_SUCCESS;
}

static int weft_allreduce(const void* send, void* receive, int count, struct ompi_datatype_t* type, struct ompi_op_t* op,
                          struct ompi_communicator_t* comm, mca_coll_base_module_t* module) {
  const size_t bytes = bytes_of(count, type);
  if (bytes == 0) return OMPI_SUCCESS;
  struct weft_timing timing = {NULL, 0};
  if (!can_combine(type)) weft_coll_leave(((weft_module*)module)->front, kWeftAllreduce);
  void* group = can_combine(type) ? take(module, kWeftAllreduce, bytes, &timing) : NULL;
  if (group == NULL) {
    return PREVIOUS(allreduce)(send, receive, count, type, op, comm, MODULE(kWeftAllreduce));
  }
  struct combination combination = {type, op};
  const struct weft_reduction reduction = {combine, &combination, bytes / count};
  weft_coll_allreduce(group, send == MPI_IN_PLACE ? receive : send, receive, count, &reduction);
  return OMPI_SUCCESS;
}

// ---- the module ----

static int enable(mca_coll_base_module_t* super, struct ompi_communicator_t* comm) {
  weft_module* module = (weft_module*)super;
  const mca_coll_base_comm_coll_t* had = comm->c_coll;
  mca_coll_base_module_t* const modules[] = {had->coll_barrier_module,   had->coll_bcast_module,
                                             had->coll_reduce_module,    had->coll_allreduce_module,
                                             had->coll_allgather_module, had->coll_alltoall_module};
  module->previous.barrier = had->coll_barrier;
  module->previous.bcast = had->coll_bcast;
  module->previous.reduce = had->coll_reduce;
  module->previous.allreduce = had->coll_allreduce;
  module->previous.allgather = had->coll_allgather;
  module->previous.alltoall = had->coll_alltoall;
  for (int i = 0; i < kWeftOperations; ++i) {
    if (modules[i] == NULL) return OMPI_ERR_NOT_AVAILABLE;
  }
  module->front = weft_coll_front();
  if (module->front == NULL) return OMPI_ERR_OUT_OF_RESOURCE;
  module->comm = comm;
  for (int i = 0; i < kWeftOperations; ++i) {
    OBJ_RETAIN(modules[i]);
    module->previous.modules[i] = modules[i];
  }
  return OMPI_SUCCESS;
}

static void construct(weft_module* module) {
  module->front = NULL;
  module->comm = NULL;
  for (int i = 0; i < kWeftOperations; ++i) module->previous.modules[i] = NULL;
}

static void destruct(weft_module* module) {
  if (module->front != NULL) weft_coll_forget(module->front);
  for (int i = 0; i < kWeftOperations; ++i) {
    if (module->previous.modules[i] != NULL) OBJ_RELEASE(module->previous.modules[i]);
  }
}

OBJ_CLASS_INSTANCE(weft_module, mca_coll_base_module_t, construct, destruct);

mca_coll_base_module_t* weft_module_new(void) {
  weft_module* module = OBJ_NEW(weft_module);
  if (module == NULL) return NULL;
  module->super.coll_module_enable = enable;
  module->super.coll_barrier = weft_barrier;
  module->super.coll_bcast = weft_bcast;
  module->super.coll_reduce = weft_reduce;
  module->super.coll_allreduce = weft_allreduce;
  module->super.coll_allgather = weft_allgather;
  module->super.coll_alltoall = weft_alltoall;
  return &module->super;
}
