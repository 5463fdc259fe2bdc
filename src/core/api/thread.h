// SPDX-License-Identifier: Apache-2.0
// The caller's OS thread, and what a member has of a thread's own: settings, signals, CPU time.
#pragma once

#include "core/context/context.h"
#include "core/context/own_settings.h"
#include "core/context/send_signal.h"
#include "core/sched/binding.h"
