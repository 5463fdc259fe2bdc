#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the constructs of scale_study on the machines of presets/ and writes what it finds.

    study.py --study BUILD/tests/scale/scale_study --page docs/reference/scale.md --json BUILD/tests/scale/study.json

Exit code 1 when a construct does not end; the page then says which."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator

HERE = pathlib.Path(__file__).resolve().parent
MACHINES = {
    "epyc-2x96": (8, 16, 32, 64, 128, 192),
    "kunpeng-4x48": (16, 48, 96, 192),
    "desktop-16": (4, 8, 16),
}
# Repetitions, and up to how many threads: what is larger takes too long to simulate.
CONSTRUCTS = {
    "flat": (21, 192),
    "barrier": (21, 192),
    "barrier, central": (21, 192),
    "barrier, tree": (21, 192),
    "flat-after-pause": (5, 192),
    "first-region": (1, 192),
    "static": (5, 192),
    "dynamic": (5, 192),
    "critical": (3, 64),
    "reduction": (21, 192),
    "tasks": (3, 64),
    "task-tree": (3, 192),
    "nested": (5, 192),
    "nested, bound": (5, 192),
    "nested-empty": (5, 16),
}
# What another row has in a program whose threads are bound: outer members apart, inner ones close to each other.
BOUND = {"nested, bound": "nested"}
BINDING = {"OMP_PROC_BIND": "spread,close", "OMP_PLACES": "cores"}
# What the project wants on the EPYC: (construct, threads): microseconds.
TARGETS = {
    ("flat", 16): 1.5,
    ("flat", 64): 3.0,
    ("flat", 192): 6.0,
    ("barrier", 64): 1.2,
    ("barrier", 192): 2.5,
}
SECONDS = 600
Results = dict[tuple[str, str, int], dict]  # by machine, construct, threads
BEGIN = "<!-- figures: written by make scale -->"
END = "<!-- end of figures -->"


def run(study: pathlib.Path, machine: str, construct: str, threads: int) -> dict:
    repetitions = CONSTRUCTS[construct][0]
    command = [study, "--machine", HERE / "presets" / f"{machine}.json"]
    command += ["--construct", BOUND.get(construct, construct)]
    command += ["--cpus", str(threads), "--repetitions", str(repetitions), "--json"]
    try:
        environment = {**os.environ, **(BINDING if construct in BOUND else {})}
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False, env=environment)
    except subprocess.TimeoutExpired:
        return {"failed": f"not ended after {SECONDS} s"}
    if done.returncode != 0:
        return {"failed": done.stderr.strip()[-400:] or f"exit code {done.returncode}"}
    return json.loads(done.stdout)


def rows_of(results: Results, machine: str) -> Iterator[tuple[str, list[str]]]:
    for construct in CONSTRUCTS:
        cells = []
        for threads in MACHINES[machine]:
            result = results.get((machine, construct, threads))
            if result is None:
                cells.append("")
            elif "failed" in result:
                cells.append("failed")
            else:
                cells.append(f"{result['us']:.2f}" if result["us"] < 100 else f"{result['us']:.0f}")
        yield construct, cells


def page_of(results: Results) -> list[str]:
    lines = []
    for machine, counts in MACHINES.items():
        known = [result for key, result in results.items() if key[0] == machine and "failed" not in result]
        if not known:
            continue
        lines += [f"### {known[0]['machine']}", "", "Microseconds for one construct, by threads (one a CPU):", ""]
        lines.append("| construct | " + " | ".join(str(count) for count in counts) + " |")
        lines.append("|---|" + "---:|" * len(counts))
        lines += [f"| {construct} | " + " | ".join(cells) + " |" for construct, cells in rows_of(results, machine)]
        lines.append("")
    lines += ["### Against the targets (EPYC)", "", "| what | target, us | simulated, us |", "|---|---:|---:|"]
    for (construct, threads), target in TARGETS.items():
        result = results.get(("epyc-2x96", construct, threads), {"failed": "not run"})
        found = "failed" if "failed" in result else f"{result['us']:.2f}"
        lines.append(f"| {construct}, {threads} threads | {target} | {found} |")
    lines += ["", "### Wakes, updates and efficiency (EPYC)", ""]
    lines.append("| construct | threads | wakes by the first thread | most updates of a line | efficiency |")
    lines.append("|---|---:|---:|---:|---:|")
    for construct in CONSTRUCTS:
        for threads in (16, 64, 192):
            result = results.get(("epyc-2x96", construct, threads))
            if result is None or "failed" in result:
                continue
            updates = max((line["updates"] for line in result["lines"]), default=0)
            efficiency = result.get("measures", {}).get("efficiency")
            share = f"{efficiency:.2f}" if efficiency is not None else ""
            wakes = result["each"]["wakes_by_first_thread"]
            lines.append(f"| {construct} | {threads} | {wakes:.0f} | {updates:.0f} | {share} |")
    return lines


def write_page(page: pathlib.Path, lines: list[str]) -> None:
    text = page.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    page.write_text(before + BEGIN + "\n\n" + "\n".join(lines) + "\n\n" + END + after)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", required=True, type=pathlib.Path)
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    jobs = [
        (machine, construct, threads)
        for machine, counts in MACHINES.items()
        for construct, (_, most) in CONSTRUCTS.items()
        for threads in counts
        if threads <= most
    ]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda job: run(options.study, *job), jobs)
        results = {}
        for job, result in zip(jobs, found, strict=True):
            results[job] = result
            print(*job, result.get("failed") or f"{result['us']:.2f} us", flush=True)
    if options.json:
        options.json.write_text(json.dumps([{"job": job, **result} for job, result in results.items()], indent=1))
    if options.page:
        write_page(options.page, page_of(results))
    return 1 if any("failed" in result for result in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
