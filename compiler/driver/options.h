// SPDX-License-Identifier: Apache-2.0
// weft's own options of the driver.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "language.h"
#include "response_file.h"

namespace weft::driver {

// What becomes of the program's parallel loops, weakest first.
enum class Lowering { none, hint, range };

const char* name_of(Lowering lowering);
// `from`: where the text stands, for the message.
Lowering lowering_of(const std::string& text, const std::string& from);

struct Options {
  std::string compiler;
  std::optional<Lowering> lowering;
  std::optional<std::string> report;  // the file; empty: stderr
  bool keep = false;
  Words defaults;                       // NAME=VALUE, of the runtime
  std::optional<std::string> show;      // of --showme; empty: the whole command
};

// Throws Refusal for what is unknown, wrong or contradictory.
Options read_options(const Words& own);

std::string help(Language language);

}  // namespace weft::driver
