# SPDX-License-Identifier: Apache-2.0
"""The files that the pages' commands name: small programs, so that each command does what it is for within a second or two."""

import pathlib
import re
import shutil
import subprocess

from commands.pages import fenced

OPENMP = """
#include <stdio.h>
int main(void) {
  double sum = 0;
  for (int round = 0; round < 20; ++round) {
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 200000; ++i) sum += 1.0 / (1 + i);
  }
  printf("%.6f\\n", sum);
  return 0;
}
"""
MPI = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int given, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double sum = 0, all = 0;
  for (int round = 0; round < 20; ++round) {
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 200000; ++i) sum += 1.0 / (1 + i);
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(&all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("%.6f\\n", all);
  MPI_Finalize();
  return 0;
}
"""
BLAS = """
#include <cblas.h>
#include <stdlib.h>
int main(void) {
#pragma omp parallel for
  for (int i = 0; i < 4; ++i) {
    double *a = calloc(3 * 200 * 200, sizeof *a);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, 200, 200, 200, 1, a, 200, a + 40000, 200, 0, a + 80000, 200);
    free(a);
  }
  return 0;
}
"""
FORTRAN = """
program blocks
  implicit none
  integer :: i
  real(8) :: s(4)
  s = 0
!$omp parallel do
  do i = 1, 4
    call solve_block(i, s(i))
  end do
  print *, sum(s)
contains
  subroutine solve_block(i, s)
    integer, intent(in) :: i
    real(8), intent(out) :: s
    real(8) :: part
    integer :: k
    part = 0
!$omp parallel do reduction(+:part)
    do k = 1, 10000
      part = part + 1d0 / (i + k)
    end do
    s = part
  end subroutine
end program
"""
NUMPY = """
import numpy
a = numpy.random.rand(300, 300)
print(float((a @ a).sum() > 0))
"""
LOCK = """
#include <weft/rwlock.h>
int main(void) { return sizeof(struct weft_rwlock *) == 0; }
"""

RULES = """# weft collectives 1
# operation ranks bytes use
allreduce 2 0 weft
allreduce 2 65536 mpi
"""

# Programs that are there before the commands, and what they are made of. The pages' own compile lines make the others.
BUILT = {
    "program": OPENMP,
    "simulate": OPENMP,
    "before": OPENMP,
    "after": OPENMP,
    "a": OPENMP,
    "model": OPENMP,
    "nested": OPENMP,
}
# Of programs that a page prints: the page, the language.
PRINTED = {
    "docs/how-to/frameworks.md": {"search.py": ("docs/how-to/frameworks.md", "python")},
    "docs/tutorials/python-service.md": {"service.py": ("docs/tutorials/python-service.md", "python")},
}
SOURCES = {
    "docs/how-to/shared-memory.md": {"program.c": LOCK},
    "README.md": {"solver.c": BLAS},
    "docs/how-to/mpi.md": {"program.c": MPI},
    "docs/how-to/collectives.md": {"rules": RULES},
}
EVERYWHERE = {
    "program.c": OPENMP,
    "solver.c": OPENMP,
    "model.c": OPENMP,
    "blocks.f90": FORTRAN,
    "app.py": NUMPY,
    "train.py": NUMPY,
}


def make(page: str, commands: "list[str]", folder: pathlib.Path, environment: "dict[str, str]") -> None:
    """Makes those of the files that the page's commands name."""
    words = set(re.findall(r"[\w.-]+", "\n".join(commands)))
    mpi = any("mpirun" in command or "mpiexec" in command for command in commands)
    for name, text in (EVERYWHERE | SOURCES.get(page, {})).items():
        if name in words:
            (folder / name).write_text(text)
    for name, (printed_by, language) in PRINTED.get(page, {}).items():
        (folder / name).write_text(fenced(printed_by, language))
    for name, text in BUILT.items():
        made_by_page = any(re.search(rf"-o {name}( |$)", command) for command in commands)
        if f"./{name}" not in "\n".join(commands) or made_by_page:
            continue
        compiler, text = ("mpicc", MPI) if mpi and name in ("program", "a") else (shutil.which("gcc") or "cc", text)
        source = folder / f".{name}.c"
        source.write_text(text)
        subprocess.run([compiler, "-O1", "-g", "-fopenmp", source, "-o", folder / name], check=True, env=environment)
