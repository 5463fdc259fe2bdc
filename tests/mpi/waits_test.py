#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""waits_test.py MPI CASE: what weft's MPI library says of calls that wait (programs/waits.c and plain_waits.c).

Rank 0 waits until this test lets rank 1 go on. The test reads what rank 0 has written until then, and afterwards: the
program must end well. Exit code 77: skipped, the last line says why.
"""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import typing

import run

LIMIT = 50  # seconds, for a busy machine
# Long enough for a table that must not come, with a silence of a second.
QUIET = 4


class Program:
    """Rank 0 and 1 of a program; the output of each is in a file of its own."""

    def __init__(
        self,
        mpi: str,
        what: str,
        folder: pathlib.Path,
        source: str = "waits.c",
        by: typing.Sequence[str] = (),
        mask: typing.Collection[signal.Signals] = (),
        **variables: str,
    ) -> None:
        program = run.build(mpi, run.HERE / "programs" / source, folder)
        self.folder = folder
        launcher = [f"mpiexec.{mpi}", "-n", "2"]
        if mpi == "openmpi":
            launcher[1:1] = ["--allow-run-as-root", "--oversubscribe"]
        to_file = ["sh", "-c", 'exec "$@" >"out.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" 2>&1', "sh"]
        by = by or ["env", f"LD_PRELOAD={run.RUNTIME}:{run.LIBRARIES / 'libweft-mpi.so'}"]
        environment = dict(os.environ, LD_LIBRARY_PATH=str(run.LIBRARIES), OMP_NUM_THREADS="2", **variables)
        command = [*launcher, *to_file, *by, str(program), what]
        # Whatever this test was started with: MPICH's launcher hands on what it blocks.
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, mask),
        )

    def output(self, rank: int = 0) -> str:
        file = self.folder / f"out.{rank}"
        return file.read_text() if file.exists() else ""

    def fail(self, why: str) -> None:
        # The launcher ends its ranks, which would go on otherwise.
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
        sys.exit(f"{why}\n{self.output(0)}\n{self.output(1)}")

    def until(self, condition: typing.Callable[[], object], what: str) -> None:
        limit = time.monotonic() + LIMIT
        while time.monotonic() < limit:
            if condition():
                return
            if self.process.poll() is not None and not condition():
                self.fail(f"the program has ended: {what}")
            time.sleep(0.01)
        self.fail(f"in vain: {what}")

    def pid(self, name: str = "pid") -> int:
        file = self.folder / name
        self.until(file.exists, "a rank waits")
        return int(file.read_text())

    def go(self, name: str = "go") -> None:
        (self.folder / name).touch()

    def end(self) -> None:
        try:
            code = self.process.wait(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            self.fail("the program hangs")
        if code != 0 or "0: done" not in self.output() or "1: done" not in self.output(1):
            self.fail(f"the program ends with {code}")


def tables(text: str) -> list[tuple[str, list[list[str]]]]:
    """Each table: its title, and its rows as lists of cells, without the age."""
    found = []
    for line in text.splitlines():
        title = re.fullmatch(r"weft: mpi: (rank 0 of 2 on \S+, process \d+: .*)", line)
        row = re.fullmatch(
            r" *[\d.]+ s  (\S+(?: \S+)*) +(-|any|\d+) +(-|any|\d+) +(-|\d+)  (\S+(?: \S+)*) +(\d+)  (.*)", line
        )
        if title:
            found.append((title[1], []))
        elif row and found:
            found[-1][1].append(list(row.groups()))
        elif line.strip().startswith("and ") and found:
            found[-1][1].append([line.strip()])
    return found


def expect(program: Program, right: bool, what: str) -> None:
    if not right:
        program.fail(what)


def rows_of_tasks(program: Program, rows: list[list[str]]) -> None:
    cells = {tuple(row[:6]) for row in rows if len(row) > 1}
    wanted = {
        ("MPI_Recv", "1", "100", "40", "ring", "1"),
        ("MPI_Recv", "1", "101", "40", "ring", "1"),
        ("MPI_Recv", "1", "7", "40", "MPI_COMM_WORLD", "3"),
        ("MPI_Barrier", "-", "-", "-", "other", "1"),
        ("MPI_Waitall, 2 requests", "-", "-", "-", "-", "1"),
        ("MPI_Probe", "any", "any", "-", "probed", "1"),
        ("MPI_Sendrecv", "1", "401", "-", "MPI_COMM_WORLD", "1"),
        ("MPI_Comm_split", "-", "-", "-", "ring", "1"),
        ("events of a task, 1 request", "-", "-", "-", "-", "1"),
    }
    expect(program, cells == wanted, f"rows {sorted(cells ^ wanted)}")
    receives = [row[6] for row in rows if row[0] == "MPI_Recv"]
    expect(program, all(re.fullmatch(r"receive\+0x\w+ \(waits\)", at) for at in receives), f"code {receives}")
    others = [row[6] for row in rows if row[0] != "MPI_Recv"]
    expect(program, all(at.startswith("tasks._omp_fn.") for at in others), f"code {others}")


def silence(mpi: str, folder: pathlib.Path) -> None:
    program = Program(mpi, "tasks", folder, WEFT_MPI_SILENCE="1")

    # The ranks may have waited for each other before.
    def whole() -> list:
        return [rows for title, rows in tables(program.output()) if re.search("for 1 s.* 11 calls wait:$", title)]

    program.until(whole, "a table")
    time.sleep(QUIET)
    expect(program, len(whole()) == 1, "a table for each silence")
    rows_of_tasks(program, whole()[0])
    program.go()
    program.end()


def serial(mpi: str, folder: pathlib.Path) -> None:
    program = Program(mpi, "serial", folder, WEFT_MPI_SILENCE="1")
    wanted = ["MPI_Recv", "1", "42", "40", "MPI_COMM_WORLD", "1"]
    program.until(
        lambda: any([row[:6] for row in rows] == [wanted] for _, rows in tables(program.output())),
        "a table",
    )
    program.go()
    program.end()


def collective(mpi: str, folder: pathlib.Path) -> None:
    program = Program(mpi, "collective", folder, "plain_waits.c", WEFT_MPI_SILENCE="1")
    wanted = ["MPI_Barrier", "-", "-", "-", "MPI_COMM_WORLD", "1"]
    program.until(
        lambda: any([row[:6] for row in rows] == [wanted] for _, rows in tables(program.output())),
        "a table",
    )
    program.go()
    program.end()


def changing(mpi: str, folder: pathlib.Path) -> None:
    program = Program(mpi, "changing", folder, "plain_waits.c", WEFT_MPI_SILENCE="3")
    program.pid()
    before = len(tables(program.output()))
    time.sleep(2 * QUIET)
    expect(program, len(tables(program.output())) == before, "calls come and go")
    program.go()
    program.end()


def busy(mpi: str, folder: pathlib.Path) -> None:
    program = Program(mpi, "busy", folder, WEFT_MPI_SILENCE="1")
    pid = program.pid()
    before = len(tables(program.output()))
    time.sleep(QUIET)
    expect(program, len(tables(program.output())) == before, "a task computes")
    os.kill(pid, signal.SIGUSR1)
    program.until(lambda: len(tables(program.output())) > before, "a table at the signal")
    program.go()
    program.end()


def asked(mpi: str, folder: pathlib.Path) -> None:
    program = Program(mpi, "tasks", folder, WEFT_MPI_SILENCE="0")
    pid = program.pid()

    def complete() -> bool:
        os.kill(pid, signal.SIGUSR1)
        time.sleep(0.2)
        return any(title.endswith(": 11 calls wait:") for title, _ in tables(program.output()))

    program.until(complete, "a table with all calls")
    rows_of_tasks(program, next(rows for title, rows in tables(program.output()) if title.endswith("11 calls wait:")))
    program.go()
    program.end()


def many(mpi: str, folder: pathlib.Path) -> None:
    program = Program(mpi, "many", folder, WEFT_MPI_SILENCE="1")
    program.until(lambda: "960 more" in program.output(), "a table")
    title, rows = tables(program.output())[-1]
    expect(program, title.endswith("1000 calls wait:") and len(rows) == 41, title)
    program.go()
    program.end()


def weft(*arguments: str) -> str:
    return subprocess.run([run.WEFT, *arguments], check=True, capture_output=True, text=True, timeout=60).stdout


def node(mpi: str, folder: pathlib.Path) -> None:
    program = Program(mpi, "both", folder, by=[str(run.WEFT), "run", "--node", "--mpi"])
    pids = [program.pid(), program.pid("pid.1")]

    def messages(rank: int) -> dict:
        processes = json.loads(weft("node", "status", "--json"))["processes"]
        found = [process["messages"] for process in processes if process["pid"] == pids[rank]]
        expect(program, len(found) == 1, f"rank {rank} shares the node")
        return found[0]

    def expect_pending(*wanted: int) -> None:
        def shown() -> bool:
            return tuple(messages(rank)["pending"] for rank in (0, 1)) == wanted

        program.until(shown, f"{wanted} tasks of the ranks wait")
        for command in (("node", "status"), ("top", "--once")):
            # Of the table of those that share the node.
            table = weft(*command).partition("PID COMMAND")[2]
            rows = [line.split() for line in table.splitlines()]
            for pid, pending in zip(pids, wanted):
                cells = next(row[8:10] for row in rows if row and row[0] == str(pid))
                right = cells == ["-", "-"] if pending == 0 else cells[0] == str(pending) and cells[1].endswith("s")
                expect(program, right, f"{command} says {cells}, and {pending} wait")

    expect_pending(6, 1)
    program.until(lambda: min(messages(rank)["silent_seconds"] for rank in (0, 1)) > 2, "a silence")
    before = messages(1)["silent_seconds"]
    went = time.monotonic()
    program.go()
    program.until(lambda: messages(0)["pending"] == 5, "a task goes on")
    # What the clock of the one says began before that of the other.
    expect(program, messages(0)["silent_seconds"] <= time.monotonic() - went, "a silence that has ended")
    expect_pending(5, 1)
    program.go("more")
    expect_pending(0, 1)
    expect(program, messages(0)["silent_seconds"] == 0, "nothing waits")
    expect(program, messages(1)["silent_seconds"] > before, "messages for others")
    program.go("end")
    program.end()


def finalize(mpi: str, folder: pathlib.Path) -> None:
    program = Program(mpi, "finalize", folder)
    program.end()
    found = tables(program.output())
    expect(program, len(found) == 1 and found[0][1][0][0] == "events of a task, 1 request", f"{found}")


def handler(mpi: str, folder: pathlib.Path) -> None:
    program = Program(mpi, "handler", folder, WEFT_MPI_SILENCE="0")
    os.kill(program.pid(), signal.SIGUSR1)
    program.until(lambda: "own handler" in program.output(), "the program's handler")
    program.go()
    program.end()
    expect(program, not tables(program.output()), "no table")


def blocked(mpi: str, folder: pathlib.Path) -> None:
    """The launcher has left the signal blocked, in every thread of the program."""
    program = Program(mpi, "serial", folder, mask=[signal.SIGUSR1], WEFT_MPI_SILENCE="0")
    pid = program.pid()

    def shown() -> bool:
        os.kill(pid, signal.SIGUSR1)
        time.sleep(0.2)
        return any(row[:2] == ["MPI_Recv", "1"] for _, rows in tables(program.output()) for row in rows)

    program.until(shown, "a table")
    program.go()
    program.end()


def blocked_by_program(mpi: str, folder: pathlib.Path) -> None:
    """The program has blocked the signal itself, and may wait for it: it keeps it, and rank 0 says so."""
    program = Program(mpi, "blocking", folder, WEFT_MPI_SILENCE="0")
    program.pid()
    said = [
        rank for rank in (0, 1) for line in program.output(rank).splitlines() if "the program blocks SIGUSR1" in line
    ]
    expect(program, said == [0], f"said by {said}")
    program.go()
    program.end()


def late(mpi: str, folder: pathlib.Path) -> None:
    """MPI has started before there was a runtime of OpenMP: with MPICH, its handler stands."""
    library = run.LIBRARIES / "libweft-mpi.so"
    program = Program(mpi, str(run.RUNTIME), folder, "late_runtime.c", by=["env", f"LD_PRELOAD={library}"])
    os.kill(program.pid(), signal.SIGUSR1)
    program.until(lambda: tables(program.output()), "a table")
    program.go()
    program.end()


def without(mpi: str, folder: pathlib.Path) -> None:
    program = Program(mpi, "serial", folder, WEFT_MPI_SILENCE="0", WEFT_MPI_SIGNAL="false")
    os.kill(program.pid(), signal.SIGUSR1)
    if mpi == "mpich":  # which has a handler of its own
        time.sleep(QUIET)
        program.go()
        program.end()
    else:
        expect(program, program.process.wait(timeout=LIMIT) != 0, "the signal ends the program")
    expect(program, not tables(program.output()), "no table")


def pairs(mpi: str, folder: pathlib.Path) -> None:
    """Many looks at calls that come and go: what a row says belongs together."""
    program = Program(mpi, "pairs", folder, "plain_waits.c", WEFT_MPI_SILENCE="0")
    pid = program.pid()

    def rows() -> list[list[str]]:
        found = [row for title, rows in tables(program.output()) for row in rows]
        return [row for row in found if row[0] == "MPI_Recv"]

    def enough() -> bool:
        os.kill(pid, signal.SIGUSR1)
        return len(rows()) > 300

    program.until(enough, "rows")
    program.go()
    program.end()
    wanted = {("0", str(500 + i), str(4 * (i + 1)), "MPI_COMM_WORLD", "1") for i in range(4)}
    wrong = {tuple(row[1:6]) for row in rows()} - wanted
    expect(program, not wrong, f"rows {wrong}")


def left(mpi: str, folder: pathlib.Path) -> None:
    program = Program(mpi, "left", folder, "plain_waits.c", WEFT_MPI_SILENCE="0")
    os.kill(program.pid(), signal.SIGUSR1)
    program.until(lambda: tables(program.output()), "a table")
    [(title, rows)] = tables(program.output())
    expect(program, [row[:3] for row in rows] == [["MPI_Send", "99", "77"]], f"rows {rows}")
    program.go()
    program.end()


def forked(mpi: str, folder: pathlib.Path) -> None:
    program = Program(mpi, "forked", folder, "plain_waits.c")
    program.end()
    expect(program, "the child ends" not in program.output(), "SIGUSR1 ends the child")


CASES = (
    silence,
    serial,
    collective,
    changing,
    busy,
    asked,
    many,
    node,
    finalize,
    handler,
    blocked,
    blocked_by_program,
    late,
    without,
    pairs,
    left,
    forked,
)


def main() -> None:
    if len(sys.argv) != 3 or sys.argv[2] not in {case.__name__ for case in CASES}:
        sys.exit(__doc__)
    if not run.can_pause():
        run.skip(f"{run.RUNTIME} cannot pause tasks")
    case = next(case for case in CASES if case.__name__ == sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        case(sys.argv[1], pathlib.Path(folder))


if __name__ == "__main__":
    main()
