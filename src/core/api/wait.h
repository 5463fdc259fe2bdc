// SPDX-License-Identifier: Apache-2.0
// Waiting, in place or not, and being woken.
#pragma once

#include "core/sched/blocking.h"
#include "core/sched/parking.h"
#include "core/sched/polling.h"
#include "core/sched/spinning.h"
#include "core/sched/wait_queue.h"
