// SPDX-License-Identifier: Apache-2.0
// Tokens of make's jobserver (core/budget/jobserver.h), as far as the scheduler knows them; core/budget defines the
// functions. Internal to core.
#pragma once

namespace weft::core {

struct Pool;

// To be called when a pool starts.
void begin_job_tokens(Pool& pool) noexcept;

// Takes tokens for that many CPUs, if some are lacking and there are any, at most once per tick: for a caller that uses
// them at once. Without a jobserver it is one load.
void want_cpus(int cpus) noexcept;

// The process ends, or becomes another program: gives all tokens back, and takes no more.
void end_job_tokens() noexcept;

// In the child of a fork: the tokens are the parent's.
void forget_job_tokens() noexcept;

}  // namespace weft::core
