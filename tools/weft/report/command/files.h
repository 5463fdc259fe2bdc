// SPDX-License-Identifier: Apache-2.0
// Reports of files that an earlier run has left.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/model/model.h"

namespace weft::tools::report {

enum class FileKind { report, trace };

// By what is in it. Throws std::runtime_error with a text for the user where it is neither.
FileKind kind_of_file(const std::string& name);

// Whether `weft report NAME` means a file to read: its name ends in .json, and it is no program.
bool is_for_reading(const std::string& name);

// With advice; of several files, which are those of ranks of MPI, one report. Throws std::runtime_error with a text for
// the user, the file's name included. `folder` takes files that are needed meanwhile.
Report read_files(const std::vector<std::string>& names, const std::filesystem::path& folder);

}  // namespace weft::tools::report
