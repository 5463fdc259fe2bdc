// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>

#include "mpi/micro/micro.h"

const struct measurement* const families[] = {
    ping_pong_measurements, ready_receive_measurements, message_rate_measurements, waiting_measurements, NULL,
};
