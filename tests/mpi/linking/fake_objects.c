/* SPDX-License-Identifier: Apache-2.0 */
/* What Open MPI has in another library than its functions since version 6. */
int ompi_mpi_comm_world;
