# SPDX-License-Identifier: Apache-2.0
"""The end of a run: the files take their names, and the user reads how to use them."""

from __future__ import annotations

import pathlib
import shlex
from collections.abc import Sequence

from .choices import Choices
from .console import say
from .deployment import Deployment
from .family import NAMES, Launcher
from .faults import Fault
from .record import Record
from .results import hash_of, is_own, replace
from .weft_choices import WeftChoices


class Publishing:
    def __init__(
        self,
        deployment: Deployment,
        record: pathlib.Path,
        rules: pathlib.Path,
        launcher: Launcher,
        counts: Sequence[int],
    ) -> None:
        self._deployment = deployment
        self._record = record
        self._rules = rules
        self._launcher = launcher
        self._counts = counts

    def write(self, measured: Record, choices: Choices, weft: WeftChoices) -> None:
        """A run that had nothing to compare says nothing against the file of an earlier one."""
        file = self._deployment.file
        if file.exists() and not is_own(file, self._record):
            raise Fault(f"{file} was written by something else in the meantime; it is left as it is")
        tables = choices.tables()
        if tables:
            text = self._deployment.text(tables, self._counts)
            measured.about["decision"] = hash_of(text)
            measured.write(self._record)
            replace(file, text)
        else:
            measured.write(self._record)
            if choices.compared and file.exists():
                file.unlink()
                say(f"\n{file} of an earlier run is removed: what it says is no gain now.")
        if weft.measured:
            replace(self._rules, weft.text())

    def say_use(self, choices: Choices, places: int) -> None:
        tables = choices.tables()
        name = NAMES[self._deployment.mpi.family]
        say("")
        if choices.compared == 0:
            say(f"Keep the defaults of {name}: there was nothing to compare them with.")
            return
        if not tables:
            say(
                f"Keep the defaults of {name}: no algorithm of it is certainly faster by more than 5 %. Others were "
                f"measured at {choices.compared} of {places} sizes of operations."
            )
            return
        say(f"Decision file: {self._deployment.file}")
        say("Use it:")
        say(f"  {self._deployment.command(tables, self._launcher.command, self._counts[-1])}")
        say("or, for all programs:")
        for variable, value in self._deployment.variables(tables).items():
            say(f"  export {variable}={shlex.quote(value)}")
        counts = ", ".join(map(str, self._counts))
        say(
            f"It holds for communicators of {counts} ranks, however many nodes they are on; it was measured with the "
            "ranks as they were placed here."
        )

    def say_weft(self, weft: WeftChoices) -> None:
        if not weft.measured:
            return
        say(f"\nRules of weft's own collectives: {self._rules}")
        if not weft.taken():
            if weft.undecided:
                say(
                    f"weft's collectives are nowhere certainly faster here, but {weft.undecided} sizes are undecided: "
                    "a longer --budget tells more."
                )
            else:
                say("weft's collectives are nowhere certainly faster here: do without them.")
            return
        launcher = shlex.join(self._launcher.command)
        say("Use them:")
        say(f"  export WEFT_COLLECTIVES_RULES={shlex.quote(str(self._rules))}")
        say(f"  {launcher} -n {self._counts[-1]} weft run --collectives ./program")
