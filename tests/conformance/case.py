# SPDX-License-Identifier: Apache-2.0
"""What a suite is made of: cases, each of which one compiler builds and several runtimes run."""

import dataclasses
import pathlib

# Exit status of a script that could not build the program; no test of the suites uses it.
NOT_BUILT = 77


@dataclasses.dataclass
class Case:
    """One test by one compiler. `build` and `run` are bash scripts made for a folder of their own; a case that builds as
    it runs has no `build`."""

    suite: str
    compiler: str  # gcc or clang
    name: str
    unsupported: str = ""  # why it cannot be run here; empty when it can
    expected_to_fail: bool = False  # the suite says so for its own runtime
    should_fail: bool = False  # it passes when the program exits with an error
    output: str = ""  # a regular expression that what the program prints must match
    environment: dict = dataclasses.field(default_factory=dict)
    build: object = None  # function(folder) -> script, run once for all runtimes
    run: object = None  # function(build folder, folder of this run) -> script

    @property
    def key(self):
        return f"{self.suite}/{self.compiler}/{self.name}"

    @property
    def folder(self):
        return pathlib.Path(self.key.replace("+", "p"))


class Unsupported(Exception):
    """Raised while a test is read: it needs what this machine, compiler or runner does not have."""
