// SPDX-License-Identifier: Apache-2.0
// The object file that gives a program its defaults (src/base/program_defaults.h). It is written here and not by a
// compiler, since flang takes no other language.
#pragma once

#include <string>

#include "response_file.h"

namespace weft::driver {

// `settings`: NAME=VALUE each. The bytes of a relocatable ELF file that defines `weft_defaults`.
std::string defaults_object(const Words& settings);

}  // namespace weft::driver
