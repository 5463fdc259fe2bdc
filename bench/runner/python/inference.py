# SPDX-License-Identifier: Apache-2.0
"""Inference and training as people run them: one server or several, with more threads than CPUs, under a quota."""

from collections.abc import Iterable, Sequence

from ..frame import machine
from ..frame.options import LISTED, only
from ..frame.verdict import Verdict
from . import modes, results, workloads
from .main import RUNS, Python, which_modes
from .workloads import OPENMP, Program, Workload

CALLERS, CLIENTS = 8, 4
# Threads of a server for each CPU: once as many, and as many as a count from the whole machine may be.
ENOUGH, TOO_MANY = 1, 4
QUOTA = 0.5
MODES, NODE_MODES = (modes.DEFAULT, "by-hand", modes.OWN), (modes.DEFAULT, "by-hand", modes.OWN, "weft-node")
OF_BEST, OF_DEFAULT, OF_COUNTS = 1.05, 1.0, 1.1


def torch(case: str, callers: int, title: str, tolerance: float = 1e-3) -> Workload:
    program = Program("inference.py", (case, "--callers", str(callers)))
    return Workload(
        f"{case}-{callers}", title, (program,), OPENMP, tolerance, package="torch", modes=MODES, callers=callers
    )


def llama(name: str, title: str, threads: int, servers: int = 1, clients: int = 1, quota: float = 1) -> Workload:
    program = Program("llama.py", ("answers", "--threads", str(threads), "--clients", str(clients)))
    several = {"package": "xllamacpp", "modes": NODE_MODES if servers > 1 else MODES, "callers": servers}
    return Workload(f"llama-{name}", f"llama.cpp: {title}", (program,) * servers, OPENMP, quota=quota, **several)


def offered(cpus: int) -> dict[str, list[Workload]]:
    workers = max(2, cpus)
    transformer = Program("inference.py", ("transformer", "--callers", "2"))
    found = (
        torch("transformer", workers, f"PyTorch: a transformer, {workers} callers"),
        torch("transformer", 4 * workers, f"PyTorch: a transformer, {4 * workers} callers"),
        torch("sentences", CALLERS, f"PyTorch: sentences of many lengths, {CALLERS} callers"),
        torch("compiled", workers, f"PyTorch: torch.compile, {workers} callers"),
        torch("branches", workers, f"PyTorch: two branches at once, {workers} callers"),
        torch("training", workers, f"PyTorch: training, a DataLoader of {workers} processes"),
        llama("1", "as many threads as CPUs", ENOUGH * cpus),
        llama("4", "four times the threads", TOO_MANY * cpus),
        llama("clients", f"{CLIENTS} clients", cpus, clients=CLIENTS),
        llama("quota", f"a quota of {QUOTA:.0%} of the CPUs", cpus, quota=QUOTA),
        llama("quota-4", f"a quota of {QUOTA:.0%}, four times the threads", TOO_MANY * cpus, quota=QUOTA),
        llama("servers", "two servers", cpus, servers=2),
        Workload(
            "servers",
            "PyTorch and llama.cpp: a server each",
            (transformer, Program("llama.py", ("answers", "--threads", str(cpus)))),
            OPENMP,
            1e-3,
            package="xllamacpp",
            modes=NODE_MODES,
            callers=2,
        ),
    )
    return {workload.name: [workload] for workload in found} | {"sessions": workloads.stacks("sessions")}


class Inference(Python):
    name = "inference"
    about = "Servers and training by default, set by hand, and under weft; see docs/how-to/benchmark-python.md."
    rounds = 3
    options = (only(f"of {', '.join(offered(2))}; {LISTED}"), which_modes(NODE_MODES), *RUNS)

    def usual(self) -> tuple[Sequence[str], Iterable[str]]:
        return NODE_MODES, self.offered()

    def offered(self) -> dict[str, list[Workload]]:
        return offered(machine.cpus())

    def judge(self) -> list[Verdict]:
        data = self.results()
        if data["quick"]:
            return []
        verdicts = []
        for workload in data["workloads"]:
            of_best, of_default = results.ratios(data, workload["name"])
            if of_best and of_default:
                verdicts.append(Verdict("weft / best other", workload["title"], of_best, OF_BEST))
                verdicts.append(Verdict("weft / default", workload["title"], of_default, OF_DEFAULT))
        found = results.table_of(data)
        enough, many = (results.median(found.get((f"llama-{name}", modes.OWN))) for name in ("1", "4"))
        if enough and many:
            verdicts.append(Verdict("weft / weft with as many threads as CPUs", "llama.cpp", many / enough, OF_COUNTS))
        return verdicts
