# SPDX-License-Identifier: Apache-2.0
"""Reads any decision file."""

from __future__ import annotations

import json
import pathlib

from . import mpich_rules, openmpi_json, openmpi_rules, weft_rules
from .decision import Decision
from .family import MPICH, OPENMPI
from .faults import Fault

FAMILY_OF = {openmpi_rules.FORMAT: OPENMPI, openmpi_json.FORMAT: OPENMPI, mpich_rules.FORMAT: MPICH}


def read(file: pathlib.Path) -> Decision:
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise Fault(f"{file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Fault(f"{file}: no text, and so no decision file") from None
    if not text.strip():
        raise Fault(f"{file}: empty; write it again with weft tune collectives")
    if text.startswith("# weft collectives"):
        return weft_rules.parse(text, str(file))
    if text.lstrip().startswith(("{", "[")):
        return _json(text, file)
    return openmpi_rules.parse(text, str(file))


def _json(text: str, file: pathlib.Path) -> Decision:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise Fault(f"{file}, line {error.lineno}: damaged JSON: {error.msg}; write it again") from None
    except (ValueError, RecursionError) as error:
        raise Fault(f"{file}: damaged JSON: {error}; write it again") from None
    if openmpi_json.is_such(document):
        return openmpi_json.parse(document, str(file))
    if mpich_rules.is_such(document):
        return mpich_rules.parse(document, str(file))
    raise Fault(
        f"{file}: JSON of something else: neither Open MPI's rules (rule_file_version, collectives) nor MPICH's "
        "selection (collective=...)"
    )
