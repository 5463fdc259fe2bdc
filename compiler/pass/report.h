// SPDX-License-Identifier: Apache-2.0
// What became of each construct, for people: remarks of the compiler's (-Rpass=weft, -Rpass-missed=weft), and lines of
// JSON in the file that WEFTCC_REPORT names.
#pragma once

#include <llvm/IR/InstrTypes.h>

#include <string>

#include "settings.h"

namespace weft::pass {

struct Outcome {
  Lowering lowering = Lowering::none;
  const char* construct = "parallel";
  std::string reason;  // why not more
};

void report(const llvm::CallBase& fork, const Outcome& outcome, const Settings& settings);

}  // namespace weft::pass
