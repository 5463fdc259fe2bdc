# SPDX-License-Identifier: Apache-2.0
"""What a run has shown: differences, the table, the machine-readable file, the table of docs/reference/conformance.md."""

import collections
import dataclasses
import datetime
import json
import os
import platform
import re
import subprocess

import runtimes
from suites import SUITES

STATUSES = ("passed", "failed", "timed out")
BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"


def with_references(results):
    """Each result of weft, and the one that it is compared with: under the compiler's own runtime, or of the compiler under
    weftcc."""
    found = {(result.suite, result.compiler, result.test, result.runtime): result for result in results}
    for result in results:
        if result.runtime == "weft":
            other = runtimes.COMPARED_WITH.get(result.compiler)
            what = (
                (other, result.test, "weft") if other else (result.compiler, result.test, runtimes.OWN[result.compiler])
            )
            yield result, found.get((result.suite, *what))


def differing(results):
    """Those of weft that fail where what they are compared with passes."""
    for weft, own in with_references(results):
        if own and own.status == "passed" and weft.status != "passed":
            yield weft


def unexplained(results, explained):
    return [result for result in differing(results) if not any(known.covers(result) for known in explained)]


def better(results):
    """Those that pass under weft and not under the compiler's own runtime."""
    for weft, own in with_references(results):
        if own and weft.status == "passed" and own.status in ("failed", "timed out"):
            yield weft


def rows(results, explained):
    """One row a suite, compiler and runtime."""
    groups = collections.defaultdict(list)
    for result in results:
        groups[result.suite, result.compiler, result.runtime].append(result)
    differences = collections.Counter((result.suite, result.compiler) for result in differing(results))
    left = collections.Counter((result.suite, result.compiler) for result in unexplained(results, explained))
    for (suite, compiler, runtime), found in sorted(groups.items()):
        count = collections.Counter(result.status for result in found)
        left_out = count["unsupported"] + count["not built"]
        cells = [SUITES[suite].TITLE, compiler, runtime, len(found), left_out, *(count[status] for status in STATUSES)]
        if runtime == "weft":
            cells += [differences[suite, compiler], left[suite, compiler]]
        else:
            cells += ["", ""]
        yield [str(cell) for cell in cells]


HEAD = [
    "suite",
    "compiler",
    "runtime",
    "tests",
    "not run",
    "passed",
    "failed",
    "timed out",
    "only weft fails",
    "unexplained",
]


def table(results, explained):
    found = [HEAD, *rows(results, explained)]
    widths = [max(len(row[at]) for row in found) for at in range(len(HEAD))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in found)


def lowered(file):
    """How many combined loops weftcc has lowered in which way, each as often as it was compiled, and the reasons where it has
    not."""
    if not file.exists():
        return None
    constructs = [json.loads(line) for line in file.read_text().splitlines()]
    loops = [construct for construct in constructs if construct["construct"] != "parallel"]
    ways = collections.Counter(construct["lowering"] for construct in loops)
    reasons = collections.Counter(construct["reason"] for construct in loops if construct["lowering"] == "none")
    return {
        "loops": len(loops),
        **{way: ways[way] for way in ("range", "hint", "none")},
        "reasons": dict(reasons.most_common()),
    }


def describe_lowered(counts):
    """A sentence for people."""
    share = 100 * (counts["range"] + counts["hint"]) / max(counts["loops"], 1)
    return (
        f"weftcc: {counts['loops']} combined loops; {counts['range']} run in ranges, {counts['hint']} are announced, "
        f"{counts['none']} are left as they are ({share:.1f} % lowered)"
    )


def first_line(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown"


def version(package):
    return first_line("dpkg-query", "-W", "-f=${Version}\\n", package)


def surroundings(options):
    return {
        "date": datetime.date.today().isoformat(),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "weft": first_line("git", "-C", str(runtimes.ROOT), "describe", "--always", "--dirty"),
        "gcc": version("gcc-12"),
        "libgomp": version("libgomp1"),
        "clang": version("clang-19"),
        "libomp": version("libomp5-19"),
        "repeat": options.repeat,
        "load": options.load,
        "timeout_s": options.timeout,
    }


def write_json(path, results, explained, options, loops):
    left = [result.key for result in unexplained(results, explained)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        json.dumps(
            {
                "surroundings": surroundings(options),
                "unexplained": left,
                "lowered": loops,
                "differences": sorted(result.key for result in differing(results)),
                "results": [dataclasses.asdict(result) for result in results],
            },
            indent=1,
        )
        + "\n"
    )


def write_docs(path, results, explained, options, loops):
    """Puts the table between the two marks of the page."""
    about = surroundings(options)
    lines = [
        f"{about['date']}, {about['machine']}, {about['cpus']} CPUs, gcc {about['gcc']}, libgomp {about['libgomp']}, "
        f"clang {about['clang']}, libomp {about['libomp']}, {options.timeout:g} s a test",
        "",
    ]
    lines += ["| " + " | ".join(row) + " |" for row in (HEAD, ["---"] * len(HEAD), *rows(results, explained))]
    if loops:
        lines += [
            "",
            describe_lowered(loops) + ".",
            "",
            "| why a loop is left as it is | loops |",
            "|---|---|",
            *(f"| {reason} | {count} |" for reason, count in loops["reasons"].items()),
        ]
    text = path.read_text()
    if BEGIN not in text or END not in text:
        raise ValueError(f"{path} has no place for the results: {BEGIN} ... {END}")
    block = "\n".join([BEGIN, "", *lines, "", END])
    path.write_text(re.sub(re.escape(BEGIN) + ".*" + re.escape(END), lambda _: block, text, flags=re.DOTALL))
