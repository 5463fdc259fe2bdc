# SPDX-License-Identifier: Apache-2.0
"""Inference and training as people run them: one server or several, with more threads than CPUs, under a quota."""

import dataclasses
from collections.abc import Iterable, Sequence

from ..frame import machine
from ..frame.options import LISTED, only
from ..frame.verdict import Verdict
from . import modes, results, workloads
from .main import RUNS, Python, which_modes
from .workloads import OPENMP, Program, Workload

CALLERS, CLIENTS = 8, 4
TOO_MANY = 4  # threads for each CPU, as where a server counts those of a machine of which it has a part
QUOTA = 0.5
AS_IT_COMES = (modes.DEFAULT, modes.OWN)  # by hand nothing else would be set
MODES = (*AS_IT_COMES, modes.BY_HAND_NAME)
NODE_MODES = (*MODES, "weft-node")
LLAMA = ("xllamacpp", "gguf")
OF_BEST, OF_DEFAULT, OF_COUNTS = 1.05, 1.0, 1.1


def torch(name: str, case: str, callers: int, title: str, threads: int = 0) -> Workload:
    """`threads`: that call its libraries; 0: the callers."""
    program = Program("inference.py", (case, "--callers", str(callers)), threads or callers)
    return Workload(
        name,
        f"PyTorch: {title}",
        (program,),
        OPENMP,
        tolerance=1e-3,
        packages=("torch",),
        modes=AS_IT_COMES if program.callers == 1 else MODES,
    )


def llama(
    name: str,
    title: str,
    threads: int,
    of_modes: tuple[str, ...] = MODES,
    servers: int = 1,
    clients: int = 1,
    quota: float = 1,
) -> Workload:
    program = Program("llama.py", ("answers", "--threads", str(threads), "--clients", str(clients)), 1)
    return Workload(
        name,
        f"llama.cpp: {title}",
        (program,) * servers,
        OPENMP,
        packages=LLAMA,
        modes=of_modes,
        quota=quota,
    )


def workloads_for(cpus: int) -> dict[str, list[Workload]]:
    workers = max(2, cpus)
    server_of_torch = Program("inference.py", ("transformer", "--callers", "2"), 2)
    server_of_llama = Program("llama.py", ("answers", "--threads", str(cpus)), 1)
    found = (
        torch("transformer", "transformer", workers, f"a transformer, {workers} callers"),
        torch("transformer-many", "transformer", 4 * workers, f"a transformer, {4 * workers} callers"),
        torch("sentences", "sentences", CALLERS, f"sentences of many lengths, {CALLERS} callers"),
        torch("compiled", "compiled", workers, f"torch.compile, {workers} callers"),
        torch("branches", "branches", workers, f"two branches at once, {workers} callers"),
        # PyTorch gives each process of the DataLoader a thread.
        torch("training", "training", workers, f"training, a DataLoader of {workers} processes", threads=1),
        llama("llama", "as many threads as CPUs", cpus, AS_IT_COMES),
        llama("llama-many", f"{TOO_MANY} times the threads", TOO_MANY * cpus),
        llama("llama-clients", f"{CLIENTS} clients", cpus, AS_IT_COMES, clients=CLIENTS),
        llama("llama-quota", f"a quota of {QUOTA:.0%} of the CPUs", cpus, quota=QUOTA),
        llama("llama-quota-many", f"that quota, {TOO_MANY} times the threads", TOO_MANY * cpus, quota=QUOTA),
        llama("llama-servers", "two servers", cpus, NODE_MODES, servers=2),
        Workload(
            "servers",
            "PyTorch and llama.cpp: a server each",
            (server_of_torch, server_of_llama),
            OPENMP,
            tolerance=1e-3,
            packages=("torch", *LLAMA),
            modes=NODE_MODES,
        ),
    )
    sessions = [dataclasses.replace(workload, modes=MODES) for workload in workloads.stacks("sessions")]
    return {workload.name: [workload] for workload in found} | {"sessions": sessions}


class Inference(Python):
    name = "inference"
    about = "Servers and training by default, set by hand, and under weft; see docs/how-to/benchmark-python.md."
    rounds = 3
    options = (only(f"of {', '.join(workloads_for(2))}; {LISTED}"), which_modes(NODE_MODES), *RUNS)

    def usual(self) -> tuple[Sequence[str], Iterable[str]]:
        return NODE_MODES, self.offered()

    def offered(self) -> dict[str, list[Workload]]:
        return workloads_for(machine.cpus())

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
        enough, many = (results.median(found.get((name, modes.OWN))) for name in ("llama", "llama-many"))
        if enough and many:
            verdicts.append(Verdict("weft / weft with as many threads as CPUs", "llama.cpp", many / enough, OF_COUNTS))
        return verdicts
