// SPDX-License-Identifier: Apache-2.0
// What holds for every call of the driver: weftcc.cfg beside it, and the environment, which goes first.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "language.h"
#include "options.h"
#include "response_file.h"

namespace weft::driver {

struct Configuration {
  std::string compiler;  // empty: the default one
  std::string compiler_from;  // where that has been said
  std::optional<Lowering> lowering;
  std::string libraries;  // the folder of the runtime; empty: beside the command
  Words compile_flags;
  Words link_flags;
};

// `folder`: of the command. Throws Refusal for what cannot be.
Configuration read_configuration(const std::filesystem::path& folder, Language language);

}  // namespace weft::driver
