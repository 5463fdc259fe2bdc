// SPDX-License-Identifier: Apache-2.0
// The core: contexts, the scheduler, gangs, binding. All that other layers may include of it; core/README.md explains
// its words. One more header is for others: core/budget/guest_link.h, which src/tcm shares with the runtime without
// being linked to it.
#pragma once

#include "core/budget/guests.h"
#include "core/context/context.h"
#include "core/context/own_settings.h"
#include "core/context/send_signal.h"
#include "core/monitor/cpu_load.h"
#include "core/monitor/exit_watch.h"
#include "core/monitor/ticks.h"
#include "core/sched/binding.h"
#include "core/sched/claim_set.h"
#include "core/sched/gang.h"
#include "core/sched/gang_regions.h"
#include "core/sched/parallel_call.h"
#include "core/sched/parking.h"
#include "core/sched/persistent_team.h"
#include "core/sched/polling.h"
#include "core/sched/scheduler.h"
#include "core/sched/spinning.h"
#include "core/sched/statistics.h"
#include "core/sched/wait_queue.h"
