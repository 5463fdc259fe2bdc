// SPDX-License-Identifier: Apache-2.0
// The launcher that has made this process a rank of a parallel program: mpirun, srun and others. The table in
// launcher.cpp holds the variables by which each launcher tells its ranks.
#pragma once

namespace weft::platform {

enum class Mpi { unknown, openmpi, mpich };

// Whether srun may be what has started the ranks that have a launcher's variables.
enum class Srun { no, maybe, always };

// A list of variables ends with null; the first variable that is set holds.
struct Launcher {
  Mpi mpi;  // the MPI whose programs it starts
  Srun srun;
  const char* rank;
  const char* ranks[3];
  const char* job[4];       // the same for all ranks of a job
  const char* job_more[2];  // what tells jobs apart that have the same name
};

// Null: no launcher has started this process. So has none started the script of a batch job, or an interactive shell
// in a job, though Slurm gives them a number as it gives ranks.
const Launcher* launcher() noexcept;

// The rank as the launcher writes it; null: there is no launcher.
const char* rank_by_launcher() noexcept;

Mpi mpi_by_launcher() noexcept;

// The first variable of a list that is set, and what it is set to; null: none is, or it is empty.
const char* first_set(const char* const* variables) noexcept;
const char* first_value(const char* const* variables) noexcept;

// The variables of a step of a job of Slurm.
inline constexpr const char* kSlurmJob[] = {"SLURM_JOB_ID", "SLURM_JOBID", nullptr};
inline constexpr const char* kSlurmStep[] = {"SLURM_STEP_ID", "SLURM_STEPID", nullptr};

}  // namespace weft::platform
