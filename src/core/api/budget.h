// SPDX-License-Identifier: Apache-2.0
// The pool as a whole: its start, its CPUs and who shares them, its statistics.
#pragma once

#include "core/budget/guests.h"
#include "core/budget/jobserver.h"
#include "core/monitor/cpu_load.h"
#include "core/monitor/exit_watch.h"
#include "core/monitor/ticks.h"
#include "core/sched/start.h"
#include "core/sched/statistics.h"
