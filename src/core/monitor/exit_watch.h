// SPDX-License-Identifier: Apache-2.0
// The end of a program whose initial thread ends before others.
#pragma once

namespace weft::core {

// How many threads of tools there are. They stay as those of the pool do: the process does not go on for them.
void set_other_service_threads(int threads) noexcept;

}  // namespace weft::core
