// SPDX-License-Identifier: Apache-2.0
#include "language.h"

namespace weft::driver {

namespace {

// The names with the release of LLVM that the pass is built for go first.
#define WEFT_RELEASE "-" WEFT_LLVM_MAJOR
constexpr LanguageNames kNames[] = {
    {"weftcc", "C", "WEFT_CC", "cc", "clang" WEFT_RELEASE, {"clang" WEFT_RELEASE, "clang"}},
    {"weftc++", "C++", "WEFT_CXX", "cxx", "clang" WEFT_RELEASE, {"clang++" WEFT_RELEASE, "clang++"}},
    {"weftfort",
     "Fortran",
     "WEFT_FC",
     "fc",
     "flang" WEFT_RELEASE,
     {"flang-new" WEFT_RELEASE, "flang" WEFT_RELEASE, "flang-new", "flang"}},
};
#undef WEFT_RELEASE

}  // namespace

Language language_of(std::string_view called_as) {
  const std::string_view name = called_as.substr(called_as.rfind('/') + 1);
  if (name.find("++") != std::string_view::npos) return Language::cxx;
  if (name.find("fort") != std::string_view::npos) return Language::fortran;
  return Language::c;
}

const LanguageNames& names_of(Language language) { return kNames[static_cast<int>(language)]; }

}  // namespace weft::driver
