# SPDX-License-Identifier: Apache-2.0
"""What of the pages' commands is not run as it stands there, and why. All else is run. A mark that no page has any more fails."""

import dataclasses
import pathlib
import re


@dataclasses.dataclass(frozen=True)
class Mark:
    pages: str  # which pages, as a regular expression
    command: str  # which commands, as a regular expression that matches at their begin
    why: str

    def matches(self, page: str, command: str) -> bool:
        return re.fullmatch(self.pages, page) is not None and re.match(self.command, command) is not None


ANY = r".*"

# Text that is indented and no command: what a command prints, pictures, files.
NOT_COMMANDS = [
    Mark(
        r"docs/explanation/(collectives|numa|weftcc|scale|explore)\.md",
        r"[^$]*(-->|--\+|\+--|\|  |LD_PRELOAD$|\+<--)",
        "a picture",
    ),
    Mark(r"docs/explanation/weftcc\.md", ANY, "what the compiler makes of a loop"),
    Mark(r"docs/.*/collectives\.md", r"# (weft|operation)|(allreduce|bcast) \d", "the file of rules"),
    Mark(r"docs/how-to/debug\.md", r"[a-z ]+: \d", "what --stats prints"),
    Mark(r"docs/how-to/debug\.md", r"\d\. |   -> ", "what weft doctor says"),
    Mark(r"docs/how-to/debug\.md", r"model \(|DEADLOCK|  \w+ waits|ID  STATE|Signal 11", "what weft threads says"),
    Mark(r"docs/how-to/debug\.md", r"weft threads core", "a core file: cli/threads_test.py has some"),
    Mark(
        r"docs/how-to/debug\.md",
        r"\(gdb\)|id  state|c?\d+  ",
        "a dialogue with gdb, which process/debugger_test.py has",
    ),
    Mark(r"docs/how-to/mpi\.md", r"#include|#pragma|[{}]|  \w|TAMPI|MPI_", "a part of a program"),
    Mark(r"docs/how-to/mpi\.md", r"#!|#SBATCH|weft: mpi|\(WEFT|  +|\d+\.\d s", "a job script, and what a rank prints"),
    Mark(r"docs/how-to/numa\.md", r"(ARRAY|dgemv|  +\d)|    ", "a part of a report"),
    Mark(r"docs/how-to/top\.md", r"\[\||  +(PID|\d)", "what weft top shows"),
    Mark(r"docs/how-to/python\.md", r"(import weft|weft\.enable)", "Python; tests/python calls it with each argument"),
    Mark(
        r"examples/monitoring/README\.md",
        r"weft_process",
        "Prometheus",
    ),
    Mark(
        r"docs/how-to/shared-memory\.md",
        r"(find_package|target_link)",
        "CMake; cli/install_test.py builds such a project",
    ),
    Mark(
        r"docs/how-to/tune-collectives\.md",
        r"Use it|  mpirun|operation  |allreduce|alltoall|from and to|linear|recursive",
        "what weft tune prints",
    ),
    Mark(r"docs/tutorials/.*\.md", r"weft statistics|  it ran on weft|OpenBLAS on weft", "what --stats prints"),
]

# Commands that are run elsewhere, or cannot be run here.
NOT_RUN = [
    Mark(ANY, r"weft compare -- ", "a measurement: cli/duel_test.py has some"),
    Mark(
        ANY,
        r"weft (threads|doctor|report) PID",
        "cli/threads_test.py, cli/doctor_test.py and cli/report_ends_test.py do",
    ),
    Mark(
        ANY,
        r"(scripts/setup|make (demo|test|build|debug|deb|wheel|archive|install|uninstall|scale|conformance)|\.ci/|scripts/build)",
        "a target of its own, or set-up: CI or the definition of done runs it",
    ),
    Mark(
        ANY,
        r"(v/bin/)?(pip|python3? -m venv|v/bin/)|cmake (-S|--build|--install|--preset)|sudo ",
        "a way to install: make test-install",
    ),
    Mark(
        r"docs/(how-to/install|reference/systems)\.md",
        r"tar xf build/dist|weft-\*-linux",
        "a way to install: make test-systems",
    ),
    Mark(ANY, r"(docker|eb|rattler-build) ", "what weft is deployed by: make test-deployment"),
    Mark(ANY, r"cmake -DCMAKE_PREFIX_PATH", "a way to link: cli/install_test.py"),
    Mark(ANY, r"bench/run|.*build/release/bench/", "a measurement: minutes to hours"),
    Mark(ANY, r"ctest |.*scale_(study|explore)|tests/conformance/", "part of the project's tests"),
    Mark(
        r"CONTRIBUTING\.md",
        r"build/release/|tests/openmp/run|LD_LIBRARY_PATH=build",
        "of a tree in which something is built",
    ),
    Mark(r"docs/explanation/engines\.md", r"WEFT_ENGINE", "tests/compiler/engines, where those libraries are there"),
    Mark(
        r"docs/how-to/benchmark\.md",
        r"(cd build/hpl|LD_LIBRARY_PATH=\.\./openblas)",
        "needs OpenBLAS and Linpack built by weftcc",
    ),
    Mark(r"docs/reference/performance\.md", r"mpirun", "measurements of programs that are built by hand"),
    Mark(ANY, r"(mpirun -n 4 )?weft tune", "minutes; tests/tune runs it"),
    Mark(r"docs/how-to/install\.md", r"fpath=|source .*\.fish", "other shells: cli/pages_test.py asks them"),
    Mark(r"docs/how-to/install\.md", r"module ", "packages/uninstall_test.py, where there are modules"),
    Mark(r"docs/tutorials/nested-blas\.md", ANY, "docs/tutorial_test.py runs each of its blocks"),
    Mark(r"docs/how-to/slurm\.md", ANY, "needs Slurm: make test-deployment runs each of them"),
    Mark(r"docs/how-to/mpi\.md", r"srun|export SRUN", "needs Slurm"),
    Mark(r"docs/how-to/numa\.md", r"weft numa 4711", "cli/numa_test.py has such a process"),
    Mark(
        r"docs/how-to/frameworks\.md",
        r"dask worker|weft run --node (torchrun|python|ray|pytest)",
        "packages that are too big: tests/python/frameworks_test.py",
    ),
    Mark(r"docs/how-to/frameworks\.md", r"jupyter ", "never ends: tests/python/jupyter_server_test.py"),
    Mark(
        r"docs/how-to/share-a-node\.md",
        r"(mkdir -p /tmp/weft && )?weft top --openmetrics",
        "never ends: cli/openmetrics_places_test.py",
    ),
    Mark(r"docs/how-to/share-a-node\.md", r"python3 -m http\.server", "never ends: cli/openmetrics_places_test.py"),
    Mark(r"docs/reference/commands\.md", r"weft COMMAND", "a pattern: cli/grammar_test.py"),
    Mark(r"docs/how-to/shared-memory\.md", r"ch(mod|grp)", "needs a group; shm_tests have the modes"),
]

# What is put in place of words that stand for something of the reader's.
IN_PLACE = [
    ("PREFIX", "{prefix}"),
    ("build/release/bin/weftcc", "weftcc"),
    ("/proc/PID/", "/proc/$$/"),
]


def put_in_place(command: str, prefix: pathlib.Path) -> str:
    for word, stands_for in IN_PLACE:
        command = command.replace(word, stands_for.format(prefix=prefix))
    return command
