# SPDX-License-Identifier: Apache-2.0
"""The decision file of an MPI: its name, what is in it, and how a program gets it."""

from __future__ import annotations

import pathlib
import shlex
from collections.abc import Mapping, Sequence

from . import mpich_rules, openmpi_json, openmpi_rules
from .decision import Rule, Table
from .family import NAMES, OPENMPI
from .faults import usage
from .mpich import Mpich, device_variable
from .mpis import Mpi
from .openmpi import OpenMpi
from .ways import Way

_JSON_SINCE = 6


def way_rule(size: int, way: Way) -> Rule:
    return Rule(size, way.algorithm, "" if way.algorithm == 0 else way.name, way.fanout, way.segment)


class Deployment:
    def __init__(self, mpi: Mpi, folder: pathlib.Path, form: str | None = None) -> None:
        self.mpi = mpi
        major = int(mpi.version.split(".")[0])
        if mpi.family == OPENMPI and form == "json" and major < _JSON_SINCE:
            raise usage(f"--format json: {NAMES[OPENMPI]} {mpi.version} does not read it; version {_JSON_SINCE} does")
        if mpi.family != OPENMPI and form == "text":
            raise usage(f"--format text: {NAMES[mpi.family]} reads JSON only")
        as_json = mpi.family != OPENMPI or form == "json" or (form is None and major >= _JSON_SINCE)
        self._text = not as_json
        self.file = (folder / f"{mpi.family}.{'conf' if self._text else 'json'}").absolute()

    @property
    def record(self) -> pathlib.Path:
        return record_of(self.file)

    @property
    def record_of_paper(self) -> pathlib.Path:
        return self.file.with_suffix(".paper.json")

    def text(self, tables: Sequence[Table], ranks: Sequence[int]) -> str:
        """Of the decision file."""
        if isinstance(self.mpi, Mpich):
            return mpich_rules.write(tables, mpich_rules.built_in(self.mpi.mpi_library))
        return openmpi_rules.write(tables, self._title(ranks)) if self._text else openmpi_json.write(tables)

    def variables(self, tables: Sequence[Table], file: pathlib.Path | None = None) -> dict[str, str]:
        """What a program must have in its environment."""
        return environment(self.mpi, file or self.file, [table.operation for table in tables])

    def command(self, tables: Sequence[Table], launcher: Sequence[str], ranks: int) -> str:
        if isinstance(self.mpi, OpenMpi):
            prefix = "OMPI_MCA_"
            options = [
                word for name, value in self.variables(tables).items() for word in ("--mca", name[len(prefix) :], value)
            ]
        else:
            options = [word for name, value in self.variables(tables).items() for word in ("-genv", name, value)]
        return shlex.join([*launcher, "-n", str(ranks), *options, "./program"])

    def _title(self, ranks: Sequence[int]) -> str:
        counts = ", ".join(map(str, ranks))
        return f"Written by weft tune collectives for {NAMES[self.mpi.family]} {self.mpi.version}, {counts} ranks"


def record_of(file: pathlib.Path) -> pathlib.Path:
    """The raw data beside a decision file."""
    return file.with_suffix(".measured.json")


def environment(mpi: Mpi, file: pathlib.Path, operations: Sequence[str]) -> dict[str, str]:
    if isinstance(mpi, Mpich):
        off = {device_variable(name): "0" for name in dict.fromkeys(operations) if mpi.has_device(name)}
        return {mpi.file_variable: str(file), **off}
    return {**mpi.measuring, mpi.file_variable: str(file)}


def tables_of(chosen: Mapping[tuple[int, str], Sequence[tuple[int, Way]]]) -> list[Table]:
    """By ranks and operation: from which size on which way. Without those that stay with the default."""
    return [
        Table(operation, ranks, [way_rule(size, way) for size, way in rules])
        for (ranks, operation), rules in sorted(chosen.items(), key=lambda item: (item[0][1], item[0][0]))
        if any(way.algorithm for _, way in rules)
    ]
