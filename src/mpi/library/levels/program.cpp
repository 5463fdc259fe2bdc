// SPDX-License-Identifier: Apache-2.0
#include "mpi/library/levels/program.h"

#include <algorithm>
#include <cstring>

#include <link.h>

#include "platform/loaded_object.h"

namespace weft::mpi {

namespace {

bool begins(const char* name, const char* with) noexcept { return std::strncmp(name, with, std::strlen(with)) == 0; }

// Both ABIs; those of nOS-V and TAMPI stand for libraries that pause tasks by themselves.
Parallelism shown_by(const char* name) noexcept {
  for (const char* tasks : {"GOMP_task", "__kmpc_omp_task", "__kmpc_taskloop", "alpi_task_", "nanos_", "nanos6_",
                            "weft_get_current_", "weft_mpi_detach", "TAMPI_", "tampi_"}) {
    if (begins(name, tasks)) return Parallelism::tasks;
  }
  for (const char* regions : {"GOMP_parallel", "__kmpc_fork_", "weft_parallel_for"}) {
    if (begins(name, regions)) return Parallelism::regions;
  }
  return Parallelism::none;
}

int look_at(dl_phdr_info* info, size_t, void* argument) noexcept {
  auto& most = *static_cast<Parallelism*>(argument);
  const platform::LoadedObject object = platform::object_of(*info);
  // weft's own libraries, which look names up, need none of these; another OpenMP runtime may.
  object.for_each_needed([&most](const char* name) {
    most = std::max(most, shown_by(name));
    return most == Parallelism::tasks;
  });
  return most == Parallelism::tasks ? 1 : 0;
}

}  // namespace

Parallelism parallelism_of_program() noexcept {
  Parallelism most = Parallelism::none;
  dl_iterate_phdr(look_at, &most);
  return most;
}

}  // namespace weft::mpi
