# SPDX-License-Identifier: Apache-2.0
"""The command line of bench/run: which study runs."""

import importlib
import pathlib
import sys

from . import everything, studies, together
from .frame import study


def main(root: pathlib.Path) -> int:
    name, words = sys.argv[1] if sys.argv[1:] else "", sys.argv[2:]
    if name == "everything":
        return everything.main(root, words)
    written = next((entry.written for entry in studies.STUDIES if entry.name == name), "")
    if not written:
        return together.main(root, sys.argv[1:], studies.listed())
    module, _, made = written.rpartition(".")
    return study.main(getattr(importlib.import_module(f".{module}", __package__), made)(root), words)
