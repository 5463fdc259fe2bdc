/* SPDX-License-Identifier: Apache-2.0 */
/* The interface of TAMPI, for programs that were written for it: of version 4, or with -DTAMPI_COMPAT=3 of version 3, whose
 * calls without a wait take a request as well. In C and C++; for Fortran there are tampi_iwait and tampi_iwaitall. */
#ifndef WEFT_TAMPI_H
#define WEFT_TAMPI_H

#include <mpi.h>

#ifndef TAMPI_COMPAT
#define TAMPI_COMPAT 4
#endif
#define TAMPI_VERSION_MAJOR TAMPI_COMPAT
#define TAMPI_VERSION_MINOR 0

#ifndef MPI_TASK_MULTIPLE
#define MPI_TASK_MULTIPLE (MPI_THREAD_MULTIPLE + 1)
#endif

#define TAMPI_PROPERTY_BLOCKING_MODE 1
#define TAMPI_PROPERTY_NONBLOCKING_MODE 2
#define TAMPI_PROPERTY_AUTO_INIT 3
#define TAMPI_PROPERTY_THREAD_TASKAWARE 4

#ifdef __cplusplus
extern "C" {
#endif

/* MPI_Init does it all; these are for programs that call them. */
int TAMPI_Init(int required, int *provided);
int TAMPI_Finalize(void);
int TAMPI_Property_get(int property, int *value);
int TAMPI_Property_set(int property, int value);
int TAMPI_Blocking_enabled(int *flag);
int TAMPI_Nonblocking_enabled(int *flag);

/* The calling task ends, for its dependences and whoever waits for it, when its body has and the requests have completed.
 * The requests become MPI_REQUEST_NULL at once. */
int TAMPI_Iwait(MPI_Request *request, MPI_Status *status);
int TAMPI_Iwaitall(int count, MPI_Request requests[], MPI_Status statuses[]);

#if TAMPI_COMPAT >= 4
int TAMPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
int TAMPI_Ibsend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
int TAMPI_Irsend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
int TAMPI_Issend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
int TAMPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status);
int TAMPI_Ibarrier(MPI_Comm comm);
int TAMPI_Ibcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);
int TAMPI_Igather(const void *from, int sent, MPI_Datatype send_type, void *into, int received,
                  MPI_Datatype receive_type, int root, MPI_Comm comm);
int TAMPI_Igatherv(const void *from, int sent, MPI_Datatype send_type, void *into, const int received[],
                   const int places[], MPI_Datatype receive_type, int root, MPI_Comm comm);
int TAMPI_Iscatter(const void *from, int sent, MPI_Datatype send_type, void *into, int received,
                   MPI_Datatype receive_type, int root, MPI_Comm comm);
int TAMPI_Iscatterv(const void *from, const int sent[], const int places[], MPI_Datatype send_type, void *into,
                    int received, MPI_Datatype receive_type, int root, MPI_Comm comm);
int TAMPI_Iallgather(const void *from, int sent, MPI_Datatype send_type, void *into, int received,
                     MPI_Datatype receive_type, MPI_Comm comm);
int TAMPI_Iallgatherv(const void *from, int sent, MPI_Datatype send_type, void *into, const int received[],
                      const int places[], MPI_Datatype receive_type, MPI_Comm comm);
int TAMPI_Ialltoall(const void *from, int sent, MPI_Datatype send_type, void *into, int received,
                    MPI_Datatype receive_type, MPI_Comm comm);
int TAMPI_Ialltoallv(const void *from, const int sent[], const int send_places[], MPI_Datatype send_type, void *into,
                     const int received[], const int receive_places[], MPI_Datatype receive_type, MPI_Comm comm);
int TAMPI_Ialltoallw(const void *from, const int sent[], const int send_places[], const MPI_Datatype send_types[],
                     void *into, const int received[], const int receive_places[], const MPI_Datatype receive_types[],
                     MPI_Comm comm);
int TAMPI_Ireduce(const void *from, void *into, int count, MPI_Datatype type, MPI_Op operation, int root,
                  MPI_Comm comm);
int TAMPI_Iallreduce(const void *from, void *into, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm);
int TAMPI_Ireduce_scatter(const void *from, void *into, const int counts[], MPI_Datatype type, MPI_Op operation,
                          MPI_Comm comm);
int TAMPI_Ireduce_scatter_block(const void *from, void *into, int count, MPI_Datatype type, MPI_Op operation,
                                MPI_Comm comm);
int TAMPI_Iscan(const void *from, void *into, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm);
int TAMPI_Iexscan(const void *from, void *into, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm);
#else
#include <weft/TAMPI3.h>
#endif

#ifdef __cplusplus
}
#endif

#endif
