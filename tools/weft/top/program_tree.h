// SPDX-License-Identifier: Apache-2.0
// The order in which `weft top` lists processes: by a column, or as a tree, with those above them that have begun them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "top/weft_programs.h"

namespace weft::tools {

// By which column: the key that asks for it.
enum class TableOrder : char {
  cpu = 'c',
  regions = 'r',
  efficiency = 'e',
  work = 'w',
  threads = 'T',
  seconds = 's',
  name = 'n',
  pid = 'p',
};

// Whether the key asks for an order.
bool is_order(char key);

// A line of the list. Either `program` or `ancestor` is there.
struct ListedProcess {
  int pid = 0;
  uint64_t start = 0;
  const ProgramRow* program = nullptr;
  const Ancestor* ancestor = nullptr;
  int parent = 0;  // of those that are listed; 0: none
  int depth = 0;
  std::string branch;  // "|  `- " before its name

  const std::string& command() const { return program != nullptr ? program->command : ancestor->command; }
};

// Whether the text is a part of the command line, the name or the number, in whatever letters.
bool fits_filter(const ProgramRow& row, std::string_view filter);

// Those that fit the filter. It points into `rows`.
std::vector<ListedProcess> list_of(const ProgramRows& rows, TableOrder order, std::string_view filter);
// The same below those that have begun them: a process on weft, or the nearest one that does more than to start
// another.
std::vector<ListedProcess> tree_of(const ProgramRows& rows, TableOrder order, std::string_view filter);

}  // namespace weft::tools
