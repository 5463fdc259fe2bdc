// SPDX-License-Identifier: Apache-2.0
#include "numa/allocators.h"

#include <algorithm>
#include <string>

namespace weft::tools::numa {

namespace {

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool passes_on(const CodePlace& place) {
  static constexpr const char* kLibraries[] = {"libweft-numa",   "libc.so",        "libc-",
                                               "ld-linux",       "libstdc++.so",   "libc++.so",
                                               "libgfortran.so", "libjemalloc.so", "libtcmalloc"};
  const std::string library = last_part(place.object);
  if (std::any_of(std::begin(kLibraries), std::end(kLibraries),
                  [&](const char* name) { return library.starts_with(name); })) {
    return true;
  }
  // Templates of containers lie in the program itself; NumPy's and Python's functions behind an object's birth.
  static constexpr const char* kFunctions[] = {
      "operator new",  "std::",           "__gnu_cxx::",          "void std::",
      "void* std::",   "default_malloc",  "default_calloc",       "default_realloc",
      "PyDataMem_",    "npy_alloc_cache", "_npy_alloc_cache",     "PyArray_NewFromDescr",
      "PyArray_Empty", "PyArray_Zeros",   "PyArray_NewLikeArray", "_PyMem_",
      "PyMem_"};
  if (std::any_of(std::begin(kFunctions), std::end(kFunctions),
                  [&](const char* name) { return place.function.starts_with(name); })) {
    return true;
  }
  return place.file.find("/include/c++/") != std::string::npos;
}

}  // namespace

void name_row(const std::vector<uint64_t>& frames, Symbols* symbols, ArrayRow& row) {
  row.name.assign(1, '?');
  if (symbols == nullptr) return;
  bool found = false;
  for (const uint64_t frame : frames) {
    const CodePlace place = symbols->find(frame);
    if (!found && passes_on(place)) continue;
    const std::string name = name_of(place);
    if (!found) {
      row.name = name;
      row.function = place.function;
      found = true;
    }
    std::string line = name;
    if (!place.function.empty() && !place.file.empty()) line.append(" (").append(place.function).append(")");
    row.stack.push_back(std::move(line));
  }
}

}  // namespace weft::tools::numa
