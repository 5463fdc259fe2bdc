/* SPDX-License-Identifier: Apache-2.0 */
/* What weft's MPI library has beside MPI's own calls, which need no header: link with -lweft-mpi before the MPI. */
#ifndef WEFT_MPI_H
#define WEFT_MPI_H

#include <mpi.h>
#include <omp.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A level for MPI_Init_thread: tasks may block in MPI's calls. Accepted, never needed: they may at each level. */
#define MPI_TASK_MULTIPLE (MPI_THREAD_MULTIPLE + 1)

/* When the request has completed, it completes the event of a task's `detach` clause (omp_fulfill_event). The request
 * becomes MPI_REQUEST_NULL at once. The event comes even if the operation fails; its error goes to MPI's handlers. */
int weft_mpi_detach(MPI_Request *request, omp_event_handle_t event);

/* When all of them have. `statuses` are written before the event comes; or MPI_STATUSES_IGNORE. */
int weft_mpi_detach_all(int count, MPI_Request requests[], MPI_Status statuses[], omp_event_handle_t event);

#ifdef __cplusplus
}
#endif

#endif
