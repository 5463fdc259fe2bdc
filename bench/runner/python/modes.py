# SPDX-License-Identifier: Apache-2.0
"""The modes that are compared: how Python is entered, and with which variables. Data, so that another is one row."""

import dataclasses
import pathlib
from collections.abc import Mapping

# Arrow takes OpenMP's. onnxruntime has none: stacks.py reads this one.
ONE_THREAD = {
    name: "1"
    for name in (
        *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"),
        *("POLARS_MAX_THREADS", "OPENCV_FOR_THREADS_NUM", "ORT_INTRA_OP_NUM_THREADS"),
    )
}

# What a careful user sets: the CPUs divided by the programs, and those of a program by its callers.
BY_HAND = dict.fromkeys((*ONE_THREAD, "LLAMA_ARG_THREADS"), "{share}")

# How a program is entered: the words before the script's name.
ENTRIES = {
    "": ("{python}",),
    "run": ("{weft}", "run", "--", "{python}"),
    "static": ("{python}", "-m", "weft", "--mode", "static"),
}
# Where Python finds the module that `static` enters by: as a wheel holds it.
MODULE_PATH = "{package}"


@dataclasses.dataclass(frozen=True)
class Mode:
    name: str
    title: str
    colour: str  # in figures
    entry: str = ""  # a key of ENTRIES
    variables: Mapping[str, str] = dataclasses.field(default_factory=dict)
    probe: str = ""  # what bench/python/probe.py must find before the mode is measured

    @property
    def weft(self) -> bool:
        return bool(self.entry)


DEFAULT, OWN, BY_HAND_NAME = "default", "weft", "by-hand"

ALL = (
    Mode(DEFAULT, "default", "#8c8c8c"),
    Mode("one-thread", "1 thread", "#c9a227", variables=ONE_THREAD),
    Mode(OWN, "weft", "#1f6fb4", "run"),
    Mode("weft-static", "weft static", "#6aaed6", "static", {"PYTHONPATH": MODULE_PATH}, "static"),
    Mode("weft-exclusive", "weft exclusive", "#2a9d6f", "run", {"WEFT_MODE": "exclusive"}, "exclusive"),
    Mode("weft-counting", "weft counting", "#8bc8a5", "run", {"WEFT_MODE": "counting"}, "counting"),
    Mode("weft-node", "weft --node", "#b04a7a", "run", {"WEFT_NODE": "1"}, "node"),
)
# bench/turns, docs/explanation/all-threads.md.
TURNS = {"LD_PRELOAD": "{build}/bench/libbench_turns.so"}
# Measured where they are named.
OTHERS = (
    Mode(BY_HAND_NAME, "by hand", "#e0b93f", variables=BY_HAND),
    # For libgomp: members that wait sleep at once, or never.
    Mode("no-spin", "no spinning", "#b5b5b5", variables={"GOMP_SPINCOUNT": "0"}),
    Mode("spin", "spinning", "#5c5c5c", variables={"GOMP_SPINCOUNT": "30000000000"}),
    Mode("turns", "turns", "#d9824f", variables=TURNS),
    Mode("weft-turns", "weft, turns", "#7a5ea8", "run", TURNS),
)
NAMES = tuple(mode.name for mode in ALL)
QUICK = (DEFAULT, "one-thread", OWN)
SHORT = (*QUICK, "weft-static")
BY_NAME = {mode.name: mode for mode in (*ALL, *OTHERS)}


@dataclasses.dataclass(frozen=True)
class Places:
    """What the entries stand on."""

    root: pathlib.Path
    build: pathlib.Path
    python: pathlib.Path
    package: pathlib.Path  # the folder in which the package `weft` lies, with this build inside

    @property
    def weft(self) -> pathlib.Path:
        return self.build / "bin/weft"

    def fill(self, word: str, share: int = 1) -> str:
        places = {"root": self.root, "build": self.build, "python": self.python, "package": self.package}
        return word.format(weft=self.weft, share=share, **places)

    def command(self, mode: Mode) -> list[str]:
        return [self.fill(word) for word in ENTRIES[mode.entry]]

    def variables(self, mode: Mode, share: int = 1) -> dict[str, str]:
        """`share`: the CPUs of one caller."""
        return {name: self.fill(value, share) for name, value in mode.variables.items()}
