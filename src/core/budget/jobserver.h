// SPDX-License-Identifier: Apache-2.0
// GNU make's jobserver: below `make -jN` the process uses one CPU for its job, and one for each token that it has taken
// (docs/explanation/process.md, Make's jobserver). CPUs for which there is no token are held back: they count as slots
// of roots, so that the paths of the scheduler are the same with a jobserver and without.
#pragma once

#include <cstdint>

#include "core/sched/job_tokens.h"

namespace weft::core {

struct Pool;

// To be called once, when the library is loaded: what make has left at a descriptor's number may be something else
// later. `flags` is the value of MAKEFLAGS, or null. Returns whether there is a jobserver; `named` says whether there
// should be one.
struct JobserverFound {
  bool named = false;
  bool usable = false;
};
JobserverFound find_jobserver(const char* flags) noexcept;

bool has_jobserver() noexcept;

// How many CPUs the process may use by its tokens; all slots without a jobserver.
int cpus_by_job_tokens() noexcept;

// What has come of it: the most CPUs that the process could use at once, and how often it has taken a token.
struct JobTokenUse {
  bool takes_part = false;
  int most_cpus = 1;
  uint64_t taken = 0;
};
JobTokenUse job_token_use() noexcept;

// end_job_tokens() is declared in core/sched/job_tokens.h. This one: the process has not become another program.
void resume_job_tokens() noexcept;

// ---- for the core itself ----
// To be called at each tick of the monitor; and whether the monitor has to go on ticking for tokens.
void tick_job_tokens(Pool& pool) noexcept;
bool job_tokens_need_ticks() noexcept;

// There is no monitor: nobody would take tokens, so the process does without the jobserver.
void leave_jobserver() noexcept;

}  // namespace weft::core
