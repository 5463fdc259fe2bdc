// SPDX-License-Identifier: Apache-2.0
// Names for addresses in the program.
#pragma once

#include <map>
#include <string>

namespace weft::trace {

class Symbols {
 public:
  // "function+0x1f (file)", or as much of it as is known.
  const std::string& name(const void* address);

 private:
  std::map<const void*, std::string> known_;
};

}  // namespace weft::trace
