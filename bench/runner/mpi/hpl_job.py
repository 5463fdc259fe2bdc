# SPDX-License-Identifier: Apache-2.0
"""One run of High Performance Linpack by Debian's hpcc: its input, and what it says of the result."""

import contextlib
import dataclasses
import errno
import os
import pathlib
import re
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

from . import jobs

PROGRAM = "hpcc"
INPUT, OUTPUT = "hpccinf.txt", "hpccoutf.txt"
# Of hpcc's other parts: so small that they take a part of a second.
SMALL_ORDER, SMALL_BLOCK = 64, 32
# How often the writer looks whether hpcc wants to read.
LOOK_S = 0.002


@dataclasses.dataclass(frozen=True)
class Problem:
    order: int
    block: int

    @property
    def operations(self) -> float:
        """As HPL counts them."""
        return 2 / 3 * self.order**3 + 3 / 2 * self.order**2


@dataclasses.dataclass(frozen=True)
class Solved:
    """Or why not: `reason`."""

    seconds: float = 0.0
    residual: float = 0.0
    reason: str = ""


def grid(ranks: int) -> tuple[int, int]:
    """As square as it can be, with more columns than rows."""
    rows = max(number for number in range(1, ranks + 1) if ranks % number == 0 and number * number <= ranks)
    return rows, ranks // rows


def _input(problem: Problem, ranks: int) -> str:
    """As in hpcc's example, but for order, blocks and processes."""
    rows, columns = grid(ranks)
    lines = (
        *("HPLinpack benchmark input file", "one configuration", "HPL.out", 8),
        *(1, problem.order, 1, problem.block),
        *(0, 1, rows, columns),
        16.0,
        *(1, 2, 1, 4, 1, 2, 1, 1),  # panels: right-looking, Crout in the recursion, halves down to 4 columns
        *(1, 1, 1, 1),  # modified ring of one, one panel ahead
        *(2, 64, 0, 0, 1, 8),
        "no sizes of PTRANS's own",
        *(0, 0, 0, 0),
    )
    return "".join(f"{line}\n" for line in lines)


class Input(threading.Thread):
    """Gives hpcc two inputs. It has no way to run HPL alone, and its other parts take minutes at HPL's size. It opens
    its input twice at its start, and again when HPL begins. So it gets a small problem first. A named pipe in the place
    of the file says when it is opened, and the next one takes its place before hpcc reads on."""

    def __init__(self, folder: pathlib.Path, small: str, real: str, before_real: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self._file = folder / INPUT
        self._texts = (small, small, real)
        self._before_real = before_real
        self._stopped = threading.Event()
        os.mkfifo(self._file)

    def run(self) -> None:
        last = len(self._texts) - 1
        for index, text in enumerate(self._texts):
            writer = self._await_reader()
            if writer is None:
                return
            if index < last:
                following = self._file.with_name("following")
                os.mkfifo(following)
                following.rename(self._file)
            else:
                self._before_real()
            os.write(writer, text.encode())
            os.close(writer)

    def stop(self) -> None:
        self._stopped.set()
        self.join()

    def _await_reader(self) -> int | None:
        while not self._stopped.wait(LOOK_S):
            try:
                return os.open(self._file, os.O_WRONLY | os.O_NONBLOCK)
            except OSError as error:
                if error.errno != errno.ENXIO:  # nobody reads yet
                    raise
        return None


def run(
    launcher: Sequence[str],
    ranks: int,
    variables: Mapping[str, str],
    words: Sequence[str],
    problem: Problem,
    libraries: Mapping[str, pathlib.Path],
    timeout_s: float,
) -> Solved:
    """`words` come before the program. `libraries`: what must be mapped when HPL begins, by how its name begins."""
    wrong = ["HPL did not begin"]

    def look() -> None:
        wrong[0] = _wrong_libraries(jobs.processes(job.pid), ranks, libraries)

    with tempfile.TemporaryDirectory(prefix="weft-hpl-") as name:
        folder = pathlib.Path(name)
        given = Input(folder, _input(Problem(SMALL_ORDER, SMALL_BLOCK), ranks), _input(problem, ranks), look)
        job = jobs.start(launcher, ranks, variables, [*words, PROGRAM], folder)
        given.start()
        try:
            _, reason = jobs.finish(job, timeout_s)
        finally:
            given.stop()
        if reason := reason or wrong[0]:
            return Solved(reason=reason)
        return read((folder / OUTPUT).read_text(), problem, ranks)


def _wrong_libraries(processes: Iterable[int], ranks: int, libraries: Mapping[str, pathlib.Path]) -> str:
    found = 0
    for process in processes:
        with contextlib.suppress(OSError):  # it has ended
            if pathlib.Path(f"/proc/{process}/comm").read_text().strip() != PROGRAM:
                continue
            lines = pathlib.Path(f"/proc/{process}/maps").read_text().splitlines()
            files = {pathlib.Path(line.split(maxsplit=5)[-1]) for line in lines}
            found += 1
            for name, meant in libraries.items():
                mapped = {file.resolve() for file in files if file.name.startswith(name)}
                if mapped != {meant.resolve()}:
                    return f"{meant} was meant, mapped was {', '.join(map(str, sorted(mapped))) or 'none'}"
    return "" if found == ranks else f"{ranks} ranks were meant, {found} were found"


def read(output: str, problem: Problem, ranks: int) -> Solved:
    """HPL's part of hpcc's output. It counts only if the residual check has passed and the problem is the one meant."""
    values = dict(re.findall(r"^(HPL_\w+)=(\S+)$", output, re.MULTILINE))
    checks = re.findall(r"^\|\|Ax-b\|\|.*=\s*(\S+)\s+\.+\s+(\w+)$", output, re.MULTILINE)
    if len(checks) != 1 or not values:
        return Solved(reason=f"hpcc wrote {len(checks)} residual checks of HPL, 1 was meant")
    rows, columns = grid(ranks)
    wanted = {"HPL_N": problem.order, "HPL_NB": problem.block, "HPL_nprow": rows, "HPL_npcol": columns}
    different = [f"{name}={values.get(name)}" for name, value in wanted.items() if values.get(name) != str(value)]
    if different:
        return Solved(reason=f"hpcc solved another problem than was meant: {', '.join(different)}")
    residual, verdict = checks[0]
    if verdict != "PASSED":
        return Solved(reason=f"the residual is {residual}: {verdict}")
    return Solved(seconds=float(values["HPL_time"]), residual=float(residual))
