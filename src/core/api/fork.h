// SPDX-License-Identifier: Apache-2.0
// Contexts and parallel calls are made, begun, joined; gangs; where they run.
#pragma once

#include "core/sched/binding.h"
#include "core/sched/gang.h"
#include "core/sched/gang_regions.h"
#include "core/sched/persistent_team.h"
#include "core/sched/scheduler.h"
#include "core/sched/start.h"
