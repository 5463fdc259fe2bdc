// SPDX-License-Identifier: Apache-2.0
#include "platform/launcher.h"

#include <cstdlib>

namespace weft::platform {

namespace {

// Launchers run inside others, so the order counts: mpirun in a job of Slurm or Flux, whose own variables stay. Open
// MPI's mpirun sets the variables of PMIx too, and Flux those of PMI. Of srun only SLURM_STEP_NUM_TASKS counts its
// ranks: SLURM_NTASKS is what the whole job has asked for. Open MPI 4 names a job after the launcher's process number,
// and gives it a random number besides.
constexpr Launcher kLaunchers[] = {
    // mpirun of Open MPI.
    {.mpi = Mpi::openmpi,
     .srun = Srun::no,
     .rank = "OMPI_COMM_WORLD_RANK",
     .ranks = {"OMPI_COMM_WORLD_SIZE"},
     .job = {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"},
     .job_more = {"OMPI_MCA_orte_precondition_transports"}},
    // PMIx: srun --mpi=pmix, prterun.
    {.mpi = Mpi::unknown,
     .srun = Srun::maybe,
     .rank = "PMIX_RANK",
     .ranks = {"PMIX_SIZE", "SLURM_STEP_NUM_TASKS"},
     .job = {"PMIX_NAMESPACE"},
     .job_more = {}},
    // PMI: Hydra of MPICH and its kin, srun --mpi=pmi2, PALS, Flux.
    {.mpi = Mpi::mpich,
     .srun = Srun::maybe,
     .rank = "PMI_RANK",
     .ranks = {"PMI_SIZE"},
     .job = {"PALS_APID", "PMI_JOBID", "FLUX_JOB_ID"},
     .job_more = {}},
    // Flux without PMI.
    {.mpi = Mpi::unknown,
     .srun = Srun::no,
     .rank = "FLUX_TASK_RANK",
     .ranks = {"FLUX_JOB_SIZE"},
     .job = {"FLUX_JOB_ID"},
     .job_more = {}},
    // srun without either.
    {.mpi = Mpi::unknown,
     .srun = Srun::always,
     .rank = "SLURM_PROCID",
     .ranks = {"SLURM_STEP_NUM_TASKS"},
     .job = {},
     .job_more = {}},
};

const char* value_of(const char* variable) noexcept {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// Whether srun has started this process. A batch script is in no step, or in one with the number 0xfffffffb; the shell
// of salloc is in 0xfffffffa, and the greater numbers are no steps of programs either.
bool is_in_step() noexcept {
  constexpr unsigned long kFirstOfOthers = 0xfffffffa;
  const char* step = value_of(kSlurmStep[0]);
  return step != nullptr && std::strtoul(step, nullptr, 10) < kFirstOfOthers;
}

}  // namespace

const Launcher* launcher() noexcept {
  for (const Launcher& each : kLaunchers) {
    if (value_of(each.rank) != nullptr && (each.srun != Srun::always || is_in_step())) return &each;
  }
  return nullptr;
}

const char* rank_by_launcher() noexcept {
  const Launcher* found = launcher();
  return found != nullptr ? value_of(found->rank) : nullptr;
}

Mpi mpi_by_launcher() noexcept {
  const Launcher* found = launcher();
  return found != nullptr ? found->mpi : Mpi::unknown;
}

const char* first_set(const char* const* variables) noexcept {
  for (; *variables != nullptr; ++variables) {
    if (value_of(*variables) != nullptr) return *variables;
  }
  return nullptr;
}

const char* first_value(const char* const* variables) noexcept {
  const char* variable = first_set(variables);
  return variable != nullptr ? value_of(variable) : nullptr;
}

}  // namespace weft::platform
