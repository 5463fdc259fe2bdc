#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The original TAMPI on weft: tasks that exchange messages in opposite order, in two processes, with one thread each and
with more. TAMPI must be installed: pkg-config knows it, or WEFT_TEST_TAMPI names the folder that has include and lib. With
version 4 that folder's build must allow as many CPUs as WEFT_ALPI_CPUS says. Without TAMPI nothing is tested."""

import os
import pathlib
import shlex
import shutil
import subprocess
import unittest

from finished import finished
from support import RUNTIME, TIMEOUT_S, ProcessTest

PROGRAM = r"""
#include <mpi.h>
#include <TAMPI.h>
#include <omp.h>
#include <stdio.h>

enum { kMessages = 24 };

int main(int argc, char **argv) {
  int provided, rank, wrong = 0, values[kMessages], later[kMessages];
  MPI_Init_thread(&argc, &argv, MPI_TASK_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < kMessages; i++) {
    const int k = rank == 0 ? i : kMessages - 1 - i;
#pragma omp task firstprivate(k) shared(values, wrong)
    if (rank == 0) {
      values[k] = 3 * k;
      MPI_Ssend(&values[k], 1, MPI_INT, 1, k, MPI_COMM_WORLD);
    } else {
      MPI_Recv(&values[k], 1, MPI_INT, 0, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (values[k] != 3 * k) {
#pragma omp atomic
        wrong++;
      }
    }
#pragma omp task firstprivate(k) shared(later) depend(out : later[k])
    {
#if defined(TAMPI_VERSION_MAJOR) && TAMPI_VERSION_MAJOR >= 4
      if (rank == 0) {
        later[k] = 5 * k;
        TAMPI_Issend(&later[k], 1, MPI_INT, 1, 100 + k, MPI_COMM_WORLD);
      } else {
        TAMPI_Irecv(&later[k], 1, MPI_INT, 0, 100 + k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
#else
      MPI_Request request;
      if (rank == 0) {
        later[k] = 5 * k;
        MPI_Issend(&later[k], 1, MPI_INT, 1, 100 + k, MPI_COMM_WORLD, &request);
      } else {
        MPI_Irecv(&later[k], 1, MPI_INT, 0, 100 + k, MPI_COMM_WORLD, &request);
      }
      TAMPI_Iwait(&request, MPI_STATUS_IGNORE);
#endif
    }
#pragma omp task firstprivate(k) shared(later, wrong) depend(in : later[k])
    if (later[k] != 5 * k) {
#pragma omp atomic
      wrong++;
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  printf("rank %d: %d wrong, %s\n", rank, wrong, provided == MPI_TASK_MULTIPLE ? "task-aware" : "not task-aware");
  MPI_Finalize();
  return wrong != 0;
}
"""


def tampi_flags():
    """What a compiler needs to build with TAMPI; None: it is not there."""
    folder = os.environ.get("WEFT_TEST_TAMPI")
    if folder:
        return [f"-I{folder}/include", f"-L{folder}/lib", f"-Wl,-rpath,{folder}/lib", "-ltampi-c"]
    if shutil.which("pkg-config") is None:
        return None
    found = subprocess.run(["pkg-config", "--cflags", "--libs", "tampi"], capture_output=True, text=True)
    if found.returncode != 0:
        return None
    # The library for both languages wants MPI's Fortran library, which a program of C has not.
    flags = ["-ltampi-c" if flag == "-ltampi" else flag for flag in shlex.split(found.stdout)]
    # It may be installed where the dynamic linker does not look.
    return flags + [f"-Wl,-rpath,{flag[2:]}" for flag in flags if flag.startswith("-L")]


FLAGS = tampi_flags()
MPICC = shutil.which("mpicc")
MPIRUN = shutil.which("mpirun") or shutil.which("mpiexec")


@unittest.skipUnless(FLAGS and MPICC and MPIRUN, "TAMPI, or MPI's commands, are not installed")
class TampiTest(ProcessTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        source = cls.folder / "messages.c"
        source.write_text(PROGRAM)
        cls.program = cls.folder / "messages"
        subprocess.run(
            [MPICC, "-O1", "-fopenmp", str(source), "-o", str(cls.program), *FLAGS], check=True, timeout=TIMEOUT_S
        )

    def exchange(self, threads):
        environment = dict(
            os.environ,
            LD_LIBRARY_PATH=str(RUNTIME),
            OMP_NUM_THREADS=str(threads),
            OMPI_ALLOW_RUN_AS_ROOT="1",
            OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
            OMPI_MCA_rmaps_base_oversubscribe="1",
            OMPI_MCA_mpi_yield_when_idle="1",
        )
        done = finished([MPIRUN, "-n", "2", str(pathlib.Path(self.program))], env=environment, timeout=TIMEOUT_S)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(
            sorted(done.stdout.split("\n"))[-2:], ["rank 0: 0 wrong, task-aware", "rank 1: 0 wrong, task-aware"]
        )

    def test_one_thread(self):
        self.exchange(1)

    def test_four_threads(self):
        self.exchange(4)


if __name__ == "__main__":
    unittest.main()
