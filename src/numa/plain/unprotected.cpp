// SPDX-License-Identifier: Apache-2.0
// No page of the program is ever protected.
#include "numa/collector/protection.h"
#include "numa/plain/calls.h"

namespace weft::numa::protection {

void prepare(const Settings&) noexcept {}
void start() noexcept {}
void look_up() noexcept { look_up_calls(); }
void stop() noexcept {}
void forget() noexcept {}
void give_up() noexcept {}
void before_array(How) noexcept {}
void add_array(int, uintptr_t, size_t, How) noexcept {}
void after_array(How) noexcept {}
void remove_array(int) noexcept {}
void replace_mapping(uintptr_t, size_t) noexcept {}

}  // namespace weft::numa::protection
