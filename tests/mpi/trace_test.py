#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trace_test.py MPI: `weft trace --mpi` on two ranks, and `weft merge`: each call of MPI is there with what it waited
for, and an arrow leads from each message's sender to who has received it. So it is beside a report, too. Exit code 77:
skipped."""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import run

TASKS, SAME = 4, 3


def trace(mpi: str, folder: pathlib.Path, *arguments: str) -> dict:
    program = run.build(mpi, run.HERE / "programs" / "arrows.c", folder)
    launcher = [f"mpiexec.{mpi}", "-n", "2"]
    if mpi == "openmpi":
        launcher[1:1] = ["--allow-run-as-root", "--oversubscribe"]
    command = [*launcher, str(run.WEFT), *arguments, "--mpi", str(program)]
    environment = dict(os.environ, OMP_NUM_THREADS="2")
    subprocess.run(command, check=True, cwd=folder, env=environment, timeout=100)
    merged = [str(run.WEFT), "merge", "weft-trace-0.json", "weft-trace-1.json"]
    subprocess.run(merged, check=True, cwd=folder, timeout=60)
    return json.loads((folder / "weft-trace.json").read_text())


def check(right: bool, what: str) -> None:
    if not right:
        sys.exit(f"wrong: {what}")


def calls(events: list[dict]) -> dict[tuple, list[dict]]:
    found = collections.defaultdict(list)
    for event in events:
        if event.get("cat") == "mpi":
            found[event["pid"], event["name"]].append(event)
    return found


def arrows(events: list[dict]) -> list[tuple[dict, dict]]:
    """The calls at both ends of each."""

    def call_at(end: dict) -> dict:
        here = [
            event
            for event in events
            if event.get("cat") == "mpi"
            and (event["pid"], event["tid"]) == (end["pid"], end["tid"])
            and event["ts"] - 0.01 <= end["ts"] <= event["ts"] + event["dur"] + 0.01
        ]
        check(len(here) > 0, f"{end} is in no call")
        return min(here, key=lambda event: abs(event["ts"] + (event["dur"] if end["ph"] == "f" else 0) - end["ts"]))

    ends = {kind: {e["id"]: e for e in events if e["ph"] == kind} for kind in "sf"}
    check(ends["s"].keys() == ends["f"].keys(), f"ends without another: {ends['s'].keys() ^ ends['f'].keys()}")
    for number, begin in ends["s"].items():
        check(begin["ts"] <= ends["f"][number]["ts"], f"an arrow back in time: {begin}")
    return [(call_at(ends["s"][number]), call_at(ends["f"][number])) for number in ends["s"]]


def main() -> None:
    if not run.can_pause():
        run.skip(f"{run.RUNTIME} cannot pause tasks")
    if not run.WEFT.exists():
        run.skip(f"no {run.WEFT}")
    with tempfile.TemporaryDirectory() as folder:
        check_calls(trace(sys.argv[1], pathlib.Path(folder), "trace")["traceEvents"])
    with tempfile.TemporaryDirectory() as folder:
        both = ("report", "--quiet", "--json", "report.json", "--trace", "weft-trace-%r.json")
        check_calls(trace(sys.argv[1], pathlib.Path(folder), *both)["traceEvents"])
        made = json.loads((pathlib.Path(folder) / "report.json").read_text())
        waited = {(row["rank"], row["call"], row["peer"]): row["count"] for row in made["messages"]}
        check(waited.get((0, "MPI_Ssend", 1)) == TASKS, f"messages of the report {waited}")


def check_calls(events: list[dict]) -> None:
    names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    check(names == {1: "rank 0 of 2", 2: "rank 1 of 2"}, f"{names}")

    found = calls(events)
    sent = {(e["args"]["peer"], e["args"]["tag"], e["args"]["bytes"]) for e in found[1, "MPI_Ssend"]}
    check(sent == {(1, tag, 4) for tag in range(TASKS)}, f"MPI_Ssend {sent}")
    check(len(found[2, "MPI_Recv"]) == TASKS + 2 * SAME, "MPI_Recv")
    check(all("_omp_fn" in e["args"]["at"] for e in found[1, "MPI_Ssend"]), "code addresses")
    check([e["args"]["communicator"] for e in found[1, "MPI_Barrier"]] == ["ring"], "MPI_Barrier")

    joined = collections.Counter(
        (begin["pid"], end["pid"], begin["name"], begin["args"]["communicator"]) for begin, end in arrows(events)
    )
    check(
        joined
        == {
            (1, 2, "MPI_Ssend", "MPI_COMM_WORLD"): TASKS,
            (1, 2, "MPI_Send", "MPI_COMM_WORLD"): SAME,
            (1, 2, "MPI_Send", "ring"): SAME,
            (1, 2, "MPI_Sendrecv", "MPI_COMM_WORLD"): 1,
            (2, 1, "MPI_Sendrecv", "MPI_COMM_WORLD"): 1,
        },
        f"arrows {joined}",
    )
    for begin, end in arrows(events):
        if begin["name"] != "MPI_Sendrecv":
            check(begin["args"]["tag"] == end["args"]["tag"], f"{begin} and {end}")


if __name__ == "__main__":
    main()
