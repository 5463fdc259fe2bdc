// SPDX-License-Identifier: Apache-2.0
// The threads of a process on weft as they are now, with what each has stood still at for the third of a second before;
// or as they were when it left a core file.
#pragma once

#include <optional>
#include <string>

#include "threads/picture.h"

namespace weft::tools::threads {

// None: *fault says why, and what to do.
std::optional<Picture> look_at_process(int number, std::string* fault);
std::optional<Picture> look_at_core(const std::string& file, std::string* fault);

}  // namespace weft::tools::threads
