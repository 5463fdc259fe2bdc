# SPDX-License-Identifier: Apache-2.0
"""The studies that have one command line and can run together, and the demonstration made of three of them."""

import argparse
import pathlib
from collections.abc import Sequence

from .frame import study
from .frame.study import Demonstration
from .node.shares import Node
from .openmp.blas_calls import BlasCalls
from .openmp.callers import Callers
from .openmp.micro import Micro
from .openmp.nested_blas import NestedBlas
from .openmp.programs import Programs
from .openmp.study import OpenMpStudy

STUDIES: dict[str, type[OpenMpStudy]] = {
    made.name: made for made in (Callers, NestedBlas, BlasCalls, Micro, Programs, Node)
}
DEMO, ALL = "demo", "all"
# On a busy machine.
SHOWN = "What the pool gains shows all the same; what nested BLAS gains shows on a machine that is quiet."


def main(root: pathlib.Path, words: Sequence[str], studies: str) -> int:
    """`studies`: what there is, for --help."""
    parser = study.parser_of(NestedBlas(root))
    parser.prog, parser.epilog = "bench/run", studies
    parser.description = "Compares weft with other OpenMP runtimes, each measured in turn."
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("what", choices=(DEMO, *STUDIES, ALL), metavar="STUDY", help="a study, demo, or all; see below")
    arguments = parser.parse_args(words)
    if arguments.what == DEMO:
        callers, nested, calls = Callers(root, demo=True), NestedBlas(root, demo=True), BlasCalls(root, demo=True)
        demonstration = Demonstration(lambda: callers.gains() | nested.gains(), SHOWN)
        return study.run([callers, nested, calls], parser, arguments, demonstration)
    chosen = [STUDIES[arguments.what]] if arguments.what != ALL else [made for made in STUDIES.values() if made.in_all]
    return study.run([made(root) for made in chosen], parser, arguments)
