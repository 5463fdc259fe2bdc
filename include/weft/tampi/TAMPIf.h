/* SPDX-License-Identifier: Apache-2.0 */
/* As TAMPI.h beside it, for Fortran. */
#include "../TAMPIf.h"
