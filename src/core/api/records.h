// SPDX-License-Identifier: Apache-2.0
// Types of the core that other layers have as members: contexts, parallel calls, persistent teams, queues.
#pragma once

#include "core/context/context.h"
#include "core/sched/claim_set.h"
#include "core/sched/parallel_call.h"
#include "core/sched/post.h"
#include "core/sched/settings.h"
#include "core/sched/wait_queue.h"
