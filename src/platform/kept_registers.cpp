// SPDX-License-Identifier: Apache-2.0
#include "platform/kept_registers.h"

uint64_t weft_vector_state_size = 0;
