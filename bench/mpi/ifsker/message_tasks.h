// SPDX-License-Identifier: Apache-2.0
// Tasks for all work and for all messages, with dependences only: what both Interop versions share. Fields do not wait
// for each other, so that the messages of one are under way while another is computed.
#pragma once

#include "mpi/common/calls.h"
#include "mpi/ifsker/model.h"

void run_message_tasks(const struct model* model, const struct calls* calls);
