/* SPDX-License-Identifier: Apache-2.0 */
/* For sources that say <TAMPI.h>: compile them with this folder in the path of headers (-I), and not with the one above,
 * whose mpi.h is not MPI's. */
#include "../TAMPI.h"
