// SPDX-License-Identifier: Apache-2.0
// What sinks call of the runtime.
#pragma once

#include <optional>

#include "weft/omp-tools.h"
#include "weft/weft-tools.h"

namespace weft::observe {

struct Events;

struct RuntimeCalls {
  weft_get_carrier_t carrier;  // an address in the runtime, too
  weft_set_tool_threads_t count_threads;
  ompt_get_parallel_info_t parallel_info;
  int cpus;  // that the program may use at once
};

// None where the runtime is not weft.
std::optional<RuntimeCalls> runtime_calls(ompt_function_lookup_t lookup) noexcept;

// Has the runtime call `events`. False where the runtime is not weft.
bool listen(ompt_function_lookup_t lookup, const Events& events) noexcept;

}  // namespace weft::observe
