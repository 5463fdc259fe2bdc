// SPDX-License-Identifier: Apache-2.0
// What a program's file says of itself, without running it.
#pragma once

#include <string>
#include <vector>

namespace weft::tools {

struct Executable {
  bool is_elf = false;                // of this machine's word size
  std::string linker;                 // the dynamic linker that starts it; empty: none does
  bool is_library = false;            // shared, for programs to load
  std::vector<std::string> needed;    // the libraries that it is linked with
  std::vector<std::string> notes;     // whose notes it has: "GNU", "Go"
  // A version of symbols, and the library that has to have it.
  struct Version {
    std::string provider;
    std::string name;
  };
  std::vector<Version> needed_versions;  // without which the dynamic linker ends the program
  std::vector<std::string> versions;     // of a library's own symbols
};

Executable look_into_executable(const std::string& path);

// Whether the file, by its name or that of the file that it leads to, is the dynamic linker of a glibc.
bool is_linker_of_glibc(const std::string& path);

// Of a program that has called no OpenMP: what its file says of that, and what it means for the user.
std::string why_no_openmp(const std::string& path);

// Why its system calls need not go through the C library, where a preloaded one would see them; empty: as far as is
// known they do.
std::string way_past_libc(const std::string& path);

}  // namespace weft::tools
