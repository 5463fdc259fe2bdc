// SPDX-License-Identifier: Apache-2.0
// What the other layers see of core. They include this header and no other of its headers; scripts/check-layers holds
// them to it. The library for oneTBB alone, which is not linked with core, has budget/guest_link.h instead.
#pragma once

#include "core/budget/guests.h"
#include "core/context/context.h"
#include "core/monitor/cpu_load.h"
#include "core/monitor/ticks.h"
#include "core/sched/binding.h"
#include "core/sched/claim_set.h"
#include "core/sched/gang.h"
#include "core/sched/gang_regions.h"
#include "core/sched/parallel_call.h"
#include "core/sched/parking.h"
#include "core/sched/persistent_team.h"
#include "core/sched/scheduler.h"
#include "core/sched/statistics.h"
#include "core/sched/wait_queue.h"
