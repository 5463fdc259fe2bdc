// SPDX-License-Identifier: Apache-2.0
#include "program_runtimes.h"

#include <algorithm>
#include <utility>

#include "dynamic_linker.h"
#include "linked_objects.h"
#include "openblas_file.h"
#include "own_openmp.h"
#include "platform/openmp_runtime.h"

namespace weft::tools {

namespace {

// What is preloaded is there, whether something asks for a runtime or not.
bool asks_for_runtime(const Program& program, const Libraries& libraries) {
  const std::vector<LinkedObject> objects = linked_objects(program.path, libraries, With::nothing);
  return std::any_of(objects.begin(), objects.end(),
                     [](const LinkedObject& object) { return platform::has_runtime_name(object.name.c_str()); });
}

}  // namespace

ProgramRuntimes look_at_runtimes(const Program& program, const Libraries& libraries) {
  ProgramRuntimes found;
  const std::string archive = own_openmp(program.path);
  if (!archive.empty()) found.others.push_back({program.path, archive + " was linked into it"});
  if (!program.complaint.empty()) return found;
  const bool audits = linker_audits();
  for (const auto& [name, file] : linked_objects(program.path, libraries, audits ? With::audit : With::preload)) {
    found.known = true;
    if (file.empty()) continue;
    if (std::string blas = look_into_openblas(file, audits); !blas.empty())
      found.openblas.push_back({file, std::move(blas)});
    if (file == libraries.runtime) {
      found.on_weft = audits || asks_for_runtime(program, libraries);
    } else if (platform::has_runtime_name(file.c_str())) {
      found.others.push_back({file, audits ? "the dynamic linker maps it all the same"
                                           : "it is mapped, and not called: weft's stands before it"});
    } else if (const std::string inside = own_openmp(file); !inside.empty()) {
      found.others.push_back({file, inside + " was linked into it"});
    }
  }
  return found;
}

}  // namespace weft::tools
