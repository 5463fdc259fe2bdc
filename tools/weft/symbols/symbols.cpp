// SPDX-License-Identifier: Apache-2.0
#include "symbols/symbols.h"

#include "symbols/readers.h"

namespace weft::tools {

std::unique_ptr<Symbols> read_symbols(const std::string& maps_file) {
#ifdef WEFT_HAS_LIBDW
  if (auto lines = read_source_lines(maps_file)) return lines;
#endif
  return read_function_names(maps_file);
}

}  // namespace weft::tools
