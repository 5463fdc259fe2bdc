// SPDX-License-Identifier: Apache-2.0
// The processes on weft as `weft top` shows them: a bar of the machine's CPUs, and a line for each process.
#pragma once

#include <string>
#include <string_view>

#include "weft_programs.h"

namespace weft::tools {

// By which column: the key that asks for it.
enum class TableOrder : char { cpu = 'c', pid = 'p', name = 'n', threads = 't', seconds = 's' };

// The keys, for people.
inline constexpr char kSortKeys[] = "sort by c CPU, t threads, s seconds, n name, p PID";

// Whether the key asks for an order.
bool is_order(char key);

// Each line ends with `line_end` and a line feed. `cpus`: of the machine.
std::string table_of(ProgramRows rows, int cpus, TableOrder order, bool colour, std::string_view line_end);

}  // namespace weft::tools
