/* SPDX-License-Identifier: Apache-2.0 */
/* The interface of TAMPI 3 for Fortran, beside mpif.h or `use mpi`: #include it in files that are preprocessed. The
 * routines TAMPI_Iwait, TAMPI_Iwaitall, TAMPI_Isend and so on take the arguments of MPI's, with the request; TAMPI_Irecv
 * takes a status behind the request. */
#ifndef WEFT_TAMPIF_H
#define WEFT_TAMPIF_H

#define MPI_TASK_MULTIPLE 4

#define TAMPI_PROPERTY_BLOCKING_MODE 1
#define TAMPI_PROPERTY_NONBLOCKING_MODE 2
#define TAMPI_PROPERTY_AUTO_INIT 3
#define TAMPI_PROPERTY_THREAD_TASKAWARE 4

#endif
