// SPDX-License-Identifier: Apache-2.0
// What the addresses of a program mean.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace weft::tools {

struct CodePlace {
  std::string object;    // the file
  std::string function;  // empty: not known
  std::string file;      // of the source, as the compiler was told; empty: not known
  int line = 0;
  uint64_t offset = 0;  // in the object
};

class Symbols {
 public:
  virtual ~Symbols() = default;
  // Of the call that returns to `address`.
  virtual CodePlace find(uint64_t address) = 0;
  // Whether it knows lines of sources; where not, functions are all there is.
  virtual bool reads_lines() const = 0;
};

// Of a process that looked like this when it ended: a copy of its /proc/PID/maps. With the lines of sources where the
// system has elfutils' libdw.so.1.
std::unique_ptr<Symbols> read_symbols(const std::string& maps_file);

// Where `symbols` reads no lines.
inline constexpr char kNoLines[] =
    "Places are named by their functions: for lines of sources, the library libdw.so.1 is missing here (Debian: "
    "libdw1; "
    "RHEL: elfutils-libs).";

// "dgemv.c:42", or "function (libfoo)", or "libfoo+0x1234".
std::string name_of(const CodePlace& place);

}  // namespace weft::tools
