# SPDX-License-Identifier: Apache-2.0
"""`python -m weft --explain`: the pools of threads in a process, at its end."""

from __future__ import annotations

import atexit
import os
import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from weft._pools import Pool

_GROUPS = (
    (("replaced", "adopted"), "on weft"),
    (("permits",), "own threads, but weft says how many may run"),
    (("own",), "not on weft"),
)


def _text(pools: list[Pool]) -> str:
    lines = [f"weft: pools of threads in process {os.getpid()}, which may use {len(os.sched_getaffinity(0))} CPUs"]
    for treatments, title in _GROUPS:
        members = [pool for pool in pools if pool.treatment in treatments]
        if members:
            lines.append(f"  {title}:")
        for pool in members:
            limit = "" if pool.limit is None else f", at most {pool.limit} at once"
            threads = "1 thread" if pool.threads == 1 else f"{pool.threads} threads"
            lines.append(f"    {pool.kind} ({pool.owner}): {threads}{limit}; {pool.note}")
            lines.append(f"      {pool.file or 'file unknown'}")
    if not pools:
        lines.append("  none")
    return "\n".join(lines)


def _peaks() -> dict[str, int]:
    """Python's own pools have ended by now: most threads of each name that were alive at once."""
    return {name: max(tuple(counts)) for name, counts in sorted(_alive.items())}


# All counts that were seen: threads add to a set without a lock, and none is lost.
_alive: dict[str, set[int]] = {}


def _series(name: str) -> str:
    """ThreadPoolExecutor-0_3 and Thread-7 (f) without what tells them from their siblings."""
    return re.sub(r"[-_0-9]+$", "", re.sub(r"^Thread-[0-9]+", "Thread", name)) or name


def _watch_threads() -> None:
    import threading

    start = threading.Thread.start

    def start_and_count(self: threading.Thread) -> None:
        start(self)
        name = _series(self.name)
        alive = sum(_series(thread.name) == name for thread in threading.enumerate())
        _alive.setdefault(name, set()).add(alive)

    threading.Thread.start = start_and_count  # type: ignore[method-assign]


def _report(process: str, file: str) -> None:
    if process != str(os.getpid()):  # a fork's child that ends as a program does
        return
    from weft._pools import pools

    try:
        found = pools()
        if not file:
            text = _text(found)
            for name, count in _peaks().items():
                text += f"\n  threads of Python named {name}: up to {count} at once; they run Python and call the above"
            print(text, file=sys.stderr)
            return
        import json

        with open(file, "w", encoding="utf-8") as out:
            json.dump(
                {
                    "process": os.getpid(),
                    "cpus": len(os.sched_getaffinity(0)),
                    "pools": [pool._asdict() for pool in found],
                    "python threads": _peaks(),
                },
                out,
                indent=2,
            )
            out.write("\n")
    except Exception as error:  # the program's own end must not suffer
        option = "--explain-json" if file else "--explain"
        print(f"weft: {option}: {type(error).__name__}: {error}", file=sys.stderr)


def install(wanted: str) -> None:
    """`wanted`: number of the process that is to report, a colon, and the file for JSON, empty for text on stderr."""
    process, _, file = wanted.partition(":")
    if process == str(os.getpid()):
        _watch_threads()
        # Registered first, so called last.
        atexit.register(_report, process, file)
