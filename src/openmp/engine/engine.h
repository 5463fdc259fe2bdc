// SPDX-License-Identifier: Apache-2.0
// The library that WEFT_ENGINE names (include/weft/engine.h): found beside the runtime, and loaded by the first loop
// that could run on it.
#pragma once

#include "weft/engine.h"

namespace weft::openmp {

// Whether WEFT_ENGINE names another one than weft itself.
bool wants_engine() noexcept;
// The same, known when the library has been loaded. Regions ask the engine then.
extern const bool g_engine_wanted;

// The engine; null: there is none that can be used, which has been said, or the process is the child of a fork, where
// the engine's threads are missing. Thread-safe.
const weft_engine* engine() noexcept;

}  // namespace weft::openmp
