// SPDX-License-Identifier: Apache-2.0
// What a program's processes have left in the folder of the records.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "child.h"
#include "report/model/model.h"

namespace weft::tools {

// Of the process that has used most of the CPUs, without advice; none: nothing was left. `own`: how the program ran on
// its own runtime, if it did. A process that was killed, or has ended past all finalizers, has left what its recorder
// knew some time before; so has one that still runs, which `ending` names then.
enum class CutOff { left_out, taken, running };
std::optional<report::Report> report_left(const std::filesystem::path& folder, const std::vector<std::string>& command,
                                          const Ending& ending, const Ending& own, CutOff cut_off = CutOff::left_out);

// "it has called no OpenMP, or has ended by _exit or MPI_Abort"
std::string why_nothing(const std::filesystem::path& folder, const Ending& ending);

// Whether a process of the program has called MPI_Init, and has not come out of MPI_Finalize: launchers take its end
// for a failure. Known where weft's MPI library was there.
bool is_in_mpi(const std::filesystem::path& folder);

}  // namespace weft::tools
