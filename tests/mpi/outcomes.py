# SPDX-License-Identifier: Apache-2.0
"""Test suites of others, run by an MPI's launcher without weft and with it: what became of each test, what differs."""

import collections
import os
import pathlib
import subprocess
import time
from collections.abc import Callable, Iterable

ROOT = pathlib.Path(__file__).resolve().parents[2]
WEFT = os.environ.get("WEFT_COMMAND", str(ROOT / "build/release/bin/weft"))
SKIPPED = 77
# The key of the whole run, among those of its tests.
RUN = ""
# What Open MPI needs to run as root, and more ranks than there are CPUs; and what version 5 calls the latter.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
Outcomes = dict[str, str]


def launch(
    command: list[str], folder: pathlib.Path, output: pathlib.Path, seconds: float, more: dict[str, str]
) -> int | None:
    """The exit code; None: it took too long. Launchers end their ranks when they are asked to."""
    with output.open("wb") as file:
        launched = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **ENVIRONMENT, **more},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
        )
        try:
            return launched.wait(seconds)
        except subprocess.TimeoutExpired:
            launched.terminate()
        try:
            launched.wait(10)
        except subprocess.TimeoutExpired:
            launched.kill()
            launched.wait()
        return None


def text(found: Outcomes) -> str:
    kinds = collections.Counter(outcome.split(":")[0] for test, outcome in found.items() if test != RUN)
    texts = [f"{count} {kind}" for kind, count in sorted(kinds.items())]
    return ", ".join([*texts, found[RUN]] if RUN in found else texts)


def differences(plain: Outcomes, weft: Outcomes) -> list[str]:
    return [
        f"{test or 'the run'}: {plain.get(test, 'missing')} -> {weft.get(test, 'missing')}"
        for test in sorted(plain.keys() | weft.keys())
        if plain.get(test) != weft.get(test)
    ]


class Comparison:
    """What differs must do so in each of `tries`: some tests wait for what may come late on a busy machine, with weft
    or without."""

    def __init__(self, ways: Iterable[str], tries: int) -> None:
        self.ways, self.tries = list(ways), tries
        self.compared, self.different = 0, []

    def add(self, name: str, run: Callable[[str], Outcomes]) -> None:
        """`run`: the outcomes by a way, "plain" among them."""
        for _ in range(self.tries):
            begin = time.monotonic()
            plain = run("plain")
            print(f"{name}: {text(plain)} in {time.monotonic() - begin:.0f} s", flush=True)
            different = []
            for way in self.ways:
                begin = time.monotonic()
                weft = run(way)
                found = differences(plain, weft)
                print(f"  {way}: {text(weft) if found else 'the same'} in {time.monotonic() - begin:.0f} s", flush=True)
                different += [f"{name}, {way}: {line}" for line in found]
            if not different:
                break
            print(*different, sep="\n", flush=True)
        self.compared += len(self.ways) * len(plain)
        self.different += different

    def end(self) -> int:
        """The exit code."""
        print(f"{self.compared} outcomes compared, {len(self.different)} differences")
        for line in self.different:
            print(f"  {line}")
        return 1 if self.different or not self.compared else 0
