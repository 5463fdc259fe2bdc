// SPDX-License-Identifier: Apache-2.0
// The caller's OS thread, and what a member has as a thread has it: settings, signals, CPU time.
#pragma once

#include "core/context/context.h"
#include "core/context/own_settings.h"
#include "core/context/send_signal.h"
#include "core/context/set_ids.h"
#include "core/context/stack_overflow.h"
#include "core/sched/binding.h"
