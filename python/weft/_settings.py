# SPDX-License-Identifier: Apache-2.0
"""What can be asked of weft from Python, and the environment variables that carry it."""

import os
import warnings

from weft import _files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping

MODES = ("dynamic", "static", "exclusive", "counting")
MOST_WEIGHT = 10000
MOST_CPUS = 4096


class Settings:
    """One choice for each option; None leaves what the environment says."""

    def __init__(
        self,
        *,
        mode: "str | None" = None,
        node: "bool | None" = None,
        weight: "int | None" = None,
        cpus: "int | None" = None,
        stats: "bool | str | None" = None,
        factor: "float | None" = None,
        reproducible: "bool | None" = None,
    ) -> None:
        """Raises ValueError, with the way out in its text, for what weft does not know."""
        if mode is not None and mode not in MODES:
            raise ValueError(f"mode {mode!r}: there are {', '.join(MODES[:-1])} and {MODES[-1]}")
        if weight is not None and not 1 <= weight <= MOST_WEIGHT:
            raise ValueError(f"weight {weight}: a number from 1 to {MOST_WEIGHT} is wanted")
        if weight is not None and not node and os.environ.get("WEFT_NODE") is None:
            raise ValueError("a weight counts among the processes of a node: add --node (node=True)")
        if isinstance(stats, str) and stats != "all":
            raise ValueError(f"stats {stats!r}: there are True and 'all'")
        if cpus is not None and not 1 <= cpus <= MOST_CPUS:
            raise ValueError(f"cpus {cpus}: a number from 1 to {MOST_CPUS} is wanted")
        if factor is not None and not (0 < factor < float("inf")):
            raise ValueError(f"factor {factor}: a number above 0 is wanted, as in -f 1 or -f 2")
        if factor is not None and (mode or os.environ.get("WEFT_MODE")) != "static":
            raise ValueError("a factor belongs to fixed shares: add --mode static (mode='static')")
        self.mode, self.node, self.weight, self.cpus, self.stats, self.factor = mode, node, weight, cpus, stats, factor
        self.reproducible = reproducible

    def store(self, environment: "MutableMapping[str, str]") -> None:
        """Sets the variables that stand for this choice."""
        for name, value in (
            ("WEFT_MODE", self.mode),
            ("WEFT_NODE", None if self.node is None else int(self.node)),
            ("WEFT_WEIGHT", self.weight),
            ("WEFT_NUM_CPUS", self.cpus),
            ("WEFT_STATS", self.stats if self.stats is None or self.stats == "all" else int(self.stats)),
            ("WEFT_REPRODUCIBLE", None if self.reproducible is None else str(self.reproducible).lower()),
            ("WEFT_STATIC_FACTOR", None if self.factor is None else f"{self.factor:g}"),
        ):
            if value is not None:
                environment[name] = str(value)


def is_node(environment: "Mapping[str, str]") -> bool:
    """Whether processes that are started with it share the CPUs of the node."""
    return environment.get("WEFT_NODE", "").strip().lower() in ("true", "yes", "on", "1")


def _prepend(environment: "MutableMapping[str, str]", name: str, value: str, separator: str) -> None:
    before = [part for part in environment.get(name, "").split(separator) if part and part != value]
    environment[name] = separator.join([value, *before])


def _preload(environment: "MutableMapping[str, str]", libraries: "list[str]") -> None:
    """In front of the others."""
    if any(letter in library for library in libraries for letter in ": \t\n"):
        # ld.so(8) would say so of each program.
        warnings.warn(
            f"weft.enable(): programs that are started here do not run on weft: {_files.FOLDER} has a blank or a colon "
            "in its path; install weft elsewhere",
            RuntimeWarning,
            stacklevel=4,
        )
        return
    for library in reversed(libraries):
        _prepend(environment, "LD_PRELOAD", library, ":")


_TUNABLES, _STATIC_TLS = "GLIBC_TUNABLES", "glibc.rtld.optional_static_tls"
# As in the command (platform/static_tls.h).
_USUAL_STATIC_TLS, _LINKED_STATIC_TLS = 512, 3584


def _number(text: str) -> int:
    """As the dynamic linker reads it: decimal, 0x or 0 before octal; what follows the digits does not count."""
    base = 10
    if text[:2] in ("0x", "0X"):
        text, base = text[2:], 16
    elif text[:1] == "0":
        base = 8
    number = 0
    for letter in text.lower():
        digit = "0123456789abcdef".find(letter)
        if not 0 <= digit < base:
            break
        number = number * base + digit
    return number


def _leave_room(environment: "MutableMapping[str, str]", audited: bool) -> None:
    """Room for thread-local data, of which libraries take more where they are audited; once for all descendants."""
    settings = [part for part in environment.get(_TUNABLES, "").split(":") if part]
    own = [part.partition("=")[2] for part in settings if part.startswith(_STATIC_TLS + "=")]
    wanted = _number(own[-1]) if own else _USUAL_STATIC_TLS
    if audited and wanted >= _USUAL_STATIC_TLS + _LINKED_STATIC_TLS:
        return
    others = [part for part in settings if not part.startswith(_STATIC_TLS + "=")]
    environment[_TUNABLES] = ":".join([*others, f"{_STATIC_TLS}={wanted + _LINKED_STATIC_TLS}"])


def linker_audits() -> bool:
    """Whether the dynamic linker may be given an audit library: before glibc 2.35 it audits wrongly (the command's
    dynamic_linker.h)."""
    version = (os.confstr("CS_GNU_LIBC_VERSION") or "").split()[-1:] or ["0"]
    major, _, minor = version[0].partition(".")
    return (int(major), int(minor.split(".")[0] or 0)) >= (2, 35)


def store_launch(environment: "MutableMapping[str, str]", *, audit: bool = True) -> None:
    """Sets what makes a program that is started with `environment` run on weft, and any Python in it know that.

    Without `audit` something else brings the runtime. Where the dynamic linker may not be given an audit library, the
    runtime is preloaded, as by `weft run`.
    """
    environment["WEFT_LIBRARY"] = _files.require(_files.RUNTIME)
    if audit and not linker_audits():
        _preload(environment, [_files.require(_files.PRELOAD), _files.require(_files.RUNTIME)])
    elif audit:
        # As in ld.so(8), colons.
        library = _files.require(_files.AUDIT)
        _leave_room(environment, environment.get("LD_AUDIT", "").split(":")[0] == library)
        _prepend(environment, "LD_AUDIT", library, ":")
    _prepend(environment, "PYTHONPATH", _files.STARTUP, os.pathsep)
