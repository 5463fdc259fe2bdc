// SPDX-License-Identifier: Apache-2.0
// The lines of `weft top`: a bar of the machine's CPUs, and a line for each process. None has more than `width`
// columns, beside what colours it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "colour.h"
#include "top/program_tree.h"

namespace weft::tools {

// "[|||||ooo   ]  1.20 of 2 CPUs on weft, 0.55 others, 0.25 idle". `cpus`: of the machine.
std::string bar_of(const ProgramRows& rows, int cpus, size_t width, const Colour& paint);

std::string titles_of(size_t width, const Colour& paint);

std::string line_of(const ListedProcess& process, bool is_selected, size_t width, const Colour& paint);

// In place of processes, where there are none.
const char* nobody_of(const std::string& filter);

// What the others use. `more`: what else there is to say of the list.
std::string others_of(const ProgramRows& rows, const std::string& more, size_t width);

// Why there are columns without numbers, a line for each reason; `yama`: what kernel.yama.ptrace_scope is.
std::vector<std::string> notes_of(const std::vector<ListedProcess>& listed, int yama, size_t width);

}  // namespace weft::tools
