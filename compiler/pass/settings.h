// SPDX-License-Identifier: Apache-2.0
// What the environment asks of the pass.
#pragma once

#include <string>

namespace weft::pass {

enum class Lowering { none, hint, range };

const char* name_of(Lowering lowering);

struct Settings {
  Lowering most = Lowering::range;  // WEFTCC_LOWER: nothing beyond it
  std::string report_file;  // WEFTCC_REPORT
  std::string keep_prefix;  // WEFTCC_KEEP
};

Settings read_settings();

}  // namespace weft::pass
