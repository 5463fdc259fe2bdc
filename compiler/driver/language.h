// SPDX-License-Identifier: Apache-2.0
// The language that the driver compiles: it is told by the name under which it is called.
#pragma once

#include <array>
#include <string_view>

namespace weft::driver {

enum class Language { c, cxx, fortran };

struct LanguageNames {
  const char* command;                   // weftcc
  const char* what;                      // C
  const char* variable;                  // of the environment: which compiler
  const char* key;                       // the same in the configuration file
  const char* package;                   // Debian's, that has the compiler
  std::array<const char*, 4> compilers;  // tried in this order; null where there are fewer
};

Language language_of(std::string_view called_as);
const LanguageNames& names_of(Language language);

}  // namespace weft::driver
