# SPDX-License-Identifier: Apache-2.0
"""What the studies of OpenMP share: one command line, since several of them run together."""

import argparse
import pathlib

from ..frame import runtimes
from ..frame.comparison import Comparison
from ..frame.options import BEFORE, RUNTIMES, Option, only, repeat


class OpenMpStudy(Comparison):
    rounds = 3
    options = (
        RUNTIMES,
        BEFORE,
        repeat("what suits the measure"),
        only("nested-blas: these problems only, such as dgemm,ztrsm; programs: parts of names"),
        Option("--openblas", "another OpenBLAS: the library, or a folder that has it", pathlib.Path),
    )
    in_all = True  # `bench/run all` has it

    def __init__(self, root: pathlib.Path, demo: bool = False) -> None:
        super().__init__(root)
        self.demo = demo  # few measurements, of what shows on every machine

    def complete(self, parser: argparse.ArgumentParser) -> None:
        super().complete(parser)
        if self.arguments.openblas:
            self.blas = runtimes.openblas(self.arguments.build, self.arguments.openblas)
