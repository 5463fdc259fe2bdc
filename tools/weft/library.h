// SPDX-License-Identifier: Apache-2.0
// Where the runtime lies that belongs to this command.
#pragma once

#include <filesystem>

namespace weft::tools {

struct Libraries {
  std::filesystem::path runtime;  // libgomp.so.1
  std::filesystem::path audit;    // libweft-audit.so
  std::filesystem::path preload;  // libweft-preload.so
  std::filesystem::path observe;  // libweft-observe.so
  std::filesystem::path page;  // report-page.html
  std::filesystem::path mpi;      // libweft-mpi.so
  std::filesystem::path numa;     // libweft-numa.so
  std::filesystem::path tune;     // the Python of `weft tune`
  // mca_coll_weft.so, the component for Open MPI 4.1, which a build without its headers lacks; and libweft-coll.so
  std::filesystem::path openmpi_component;
  std::filesystem::path collectives;
  std::filesystem::path python;  // the folder that each Python on weft has first in its PYTHONPATH; empty: no package
};

// This program's file, with no link in the path. Without /proc: what the system says it has started.
std::filesystem::path own_path();

// Looks beside the command: as built, as installed, then as a wheel is. Ends the process with a message when there is
// none.
Libraries find_libraries();

}  // namespace weft::tools
