// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>

#include "mpi/micro/micro.h"

const struct measurement* const families[] = {call_measurements, NULL};
