/* SPDX-License-Identifier: Apache-2.0 */
/* What weft's MPI library has beside MPI's own calls, which need no header: link with -lweft-mpi before the MPI. */
#ifndef WEFT_MPI_H
#define WEFT_MPI_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A level for MPI_Init_thread that tasks may block in MPI calls. Accepted, never needed: they may at each level. */
#define MPI_TASK_MULTIPLE (MPI_THREAD_MULTIPLE + 1)

/* The request, which becomes MPI_REQUEST_NULL at once, completes the event of an OpenMP task: the variable of its
 * `detach` clause, an omp_event_handle_t. `status` is written before the event comes, or MPI_STATUS_IGNORE. The event
 * comes even if the operation fails; then the code stands in the status. */
int weft_mpi_detach(MPI_Request *request, void *event, MPI_Status *status);

/* Likewise for all of `count` requests; `statuses` may be MPI_STATUSES_IGNORE. */
int weft_mpi_detach_all(int count, MPI_Request requests[], void *event, MPI_Status statuses[]);

#ifdef __cplusplus
}
#endif

#endif
