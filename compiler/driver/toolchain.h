// SPDX-License-Identifier: Apache-2.0
// What the driver works with in one call: the compiler, weft's files, and what the options and the configuration say.
#pragma once

#include <string>

#include "compiler.h"
#include "configuration.h"
#include "options.h"

namespace weft::driver {

struct Toolchain {
  Language language = Language::c;
  Compiler compiler;
  Family family = Family::other;
  std::string libraries;      // the folder of the runtime
  std::string headers;        // the folder that has weft/weft.h, where a compiler would not look; empty: none
  Lowering lowering = Lowering::none;
  std::string pass;           // the plugin to load; empty: nothing is lowered
  std::string not_lowered;    // why not, where it has been asked for
  bool reports = false;     // the pass is to say where in the source a construct stands
  Words compile_flags;        // to be appended
  Words link_flags;
};

// Looks for the files. Throws Refusal.
Toolchain assemble_toolchain(Language language, Compiler compiler, const Options& options,
                             const Configuration& configuration);

}  // namespace weft::driver
