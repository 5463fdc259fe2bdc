// SPDX-License-Identifier: Apache-2.0
// setuid() and its kin: libc's, of which core knows how long they take (core/context/set_ids.h).
#pragma once

#include "platform/libc_calls.h"

namespace weft::openmp {

platform::LibcCalls id_calls() noexcept;

}  // namespace weft::openmp
