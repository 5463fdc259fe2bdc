// SPDX-License-Identifier: Apache-2.0
#include "settings.h"

#include <llvm/Support/raw_ostream.h>

#include <cstdlib>

namespace weft::pass {
namespace {

std::string read_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

const char* name_of(Lowering lowering) {
  switch (lowering) {
    case Lowering::none: return "none";
    case Lowering::hint: return "hint";
    case Lowering::range: return "range";
  }
  return "none";
}

Settings read_settings() {
  Settings settings;
  settings.report_file = read_variable("WEFTCC_REPORT");
  settings.keep_prefix = read_variable("WEFTCC_KEEP");
  const std::string lower = read_variable("WEFTCC_LOWER");
  for (const Lowering lowering : {Lowering::none, Lowering::hint, Lowering::range}) {
    if (lower != name_of(lowering)) continue;
    settings.most = lowering;
    return settings;
  }
  if (!lower.empty()) llvm::errs() << "weftcc: WEFTCC_LOWER=" << lower << " is not none, hint or range; range holds\n";
  return settings;
}

}  // namespace weft::pass
