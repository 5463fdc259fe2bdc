/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of TAMPI 3 that take a request: MPI's own, and TAMPI_Iwait behind it. Included by weft/TAMPI.h. */
#ifndef WEFT_TAMPI3_H
#define WEFT_TAMPI3_H

/* Blocking, these wait as MPI's do, which weft pauses. */
#define TAMPI_Wait(request, status) MPI_Wait(request, status)
#define TAMPI_Waitall(count, requests, statuses) MPI_Waitall(count, requests, statuses)

/* MPI_<name>(given), whose request is the calling task's event. */
#define WEFT_TAMPI_STARTED(name, declared, ...) \
  static inline int TAMPI_##name declared { \
    const int code = MPI_##name(__VA_ARGS__, request); \
    return code == MPI_SUCCESS ? TAMPI_Iwait(request, MPI_STATUS_IGNORE) : code; \
  }
WEFT_TAMPI_STARTED(Isend, (const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                   MPI_Request *request), buffer, count, type, to, tag, comm)
WEFT_TAMPI_STARTED(Ibsend, (const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                   MPI_Request *request), buffer, count, type, to, tag, comm)
WEFT_TAMPI_STARTED(Irsend, (const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                   MPI_Request *request), buffer, count, type, to, tag, comm)
WEFT_TAMPI_STARTED(Issend, (const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                   MPI_Request *request), buffer, count, type, to, tag, comm)
WEFT_TAMPI_STARTED(Ibarrier, (MPI_Comm comm, MPI_Request *request), comm)
WEFT_TAMPI_STARTED(Ibcast, (void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request
                   *request), buffer, count, type, root, comm)
WEFT_TAMPI_STARTED(Igather, (const void *from, int sent, MPI_Datatype send_type, void *into, int received,
                   MPI_Datatype receive_type, int root, MPI_Comm comm, MPI_Request *request), from, sent, send_type,
                   into, received, receive_type, root, comm)
WEFT_TAMPI_STARTED(Iscatter, (const void *from, int sent, MPI_Datatype send_type, void *into, int received,
                   MPI_Datatype receive_type, int root, MPI_Comm comm, MPI_Request *request), from, sent, send_type,
                   into, received, receive_type, root, comm)
WEFT_TAMPI_STARTED(Iallgather, (const void *from, int sent, MPI_Datatype send_type, void *into, int received,
                   MPI_Datatype receive_type, MPI_Comm comm, MPI_Request *request), from, sent, send_type, into,
                   received, receive_type, comm)
WEFT_TAMPI_STARTED(Ialltoall, (const void *from, int sent, MPI_Datatype send_type, void *into, int received,
                   MPI_Datatype receive_type, MPI_Comm comm, MPI_Request *request), from, sent, send_type, into,
                   received, receive_type, comm)
WEFT_TAMPI_STARTED(Igatherv, (const void *from, int sent, MPI_Datatype send_type, void *into, const int received[],
                   const int places[], MPI_Datatype receive_type, int root, MPI_Comm comm, MPI_Request *request),
                   from, sent, send_type, into, received, places, receive_type, root, comm)
WEFT_TAMPI_STARTED(Iallgatherv, (const void *from, int sent, MPI_Datatype send_type, void *into, const int
                   received[], const int places[], MPI_Datatype receive_type, MPI_Comm comm, MPI_Request *request),
                   from, sent, send_type, into, received, places, receive_type, comm)
WEFT_TAMPI_STARTED(Iscatterv, (const void *from, const int sent[], const int places[], MPI_Datatype send_type, void
                   *into, int received, MPI_Datatype receive_type, int root, MPI_Comm comm, MPI_Request *request),
                   from, sent, places, send_type, into, received, receive_type, root, comm)
WEFT_TAMPI_STARTED(Ialltoallv, (const void *from, const int sent[], const int send_places[], MPI_Datatype send_type,
                   void *into, const int received[], const int receive_places[], MPI_Datatype receive_type, MPI_Comm
                   comm, MPI_Request *request), from, sent, send_places, send_type, into, received, receive_places,
                   receive_type, comm)
WEFT_TAMPI_STARTED(Ialltoallw, (const void *from, const int sent[], const int send_places[], const MPI_Datatype
                   send_types[], void *into, const int received[], const int receive_places[], const MPI_Datatype
                   receive_types[], MPI_Comm comm, MPI_Request *request), from, sent, send_places, send_types, into,
                   received, receive_places, receive_types, comm)
WEFT_TAMPI_STARTED(Ireduce, (const void *from, void *into, int count, MPI_Datatype type, MPI_Op operation, int root,
                   MPI_Comm comm, MPI_Request *request), from, into, count, type, operation, root, comm)
WEFT_TAMPI_STARTED(Iallreduce, (const void *from, void *into, int count, MPI_Datatype type, MPI_Op operation,
                   MPI_Comm comm, MPI_Request *request), from, into, count, type, operation, comm)
WEFT_TAMPI_STARTED(Ireduce_scatter_block, (const void *from, void *into, int count, MPI_Datatype type, MPI_Op
                   operation, MPI_Comm comm, MPI_Request *request), from, into, count, type, operation, comm)
WEFT_TAMPI_STARTED(Iscan, (const void *from, void *into, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm
                   comm, MPI_Request *request), from, into, count, type, operation, comm)
WEFT_TAMPI_STARTED(Iexscan, (const void *from, void *into, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm
                   comm, MPI_Request *request), from, into, count, type, operation, comm)
WEFT_TAMPI_STARTED(Ireduce_scatter, (const void *from, void *into, const int counts[], MPI_Datatype type, MPI_Op
                   operation, MPI_Comm comm, MPI_Request *request), from, into, counts, type, operation, comm)
#undef WEFT_TAMPI_STARTED

static inline int TAMPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                              MPI_Request *request, MPI_Status *status) {
  const int code = MPI_Irecv(buffer, count, type, from, tag, comm, request);
  return code == MPI_SUCCESS ? TAMPI_Iwait(request, status) : code;
}

#endif
