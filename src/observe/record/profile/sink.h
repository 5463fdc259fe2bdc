// SPDX-License-Identifier: Apache-2.0
// The sink of `weft report`.
#pragma once

#include "observe/record/sink/sink.h"

namespace weft::observe {

// Null: the environment does not ask for it.
const Sink* profile_sink();

// Whether it waits for calls (calls.h), and records nothing until then.
bool is_paused() noexcept;

}  // namespace weft::observe
