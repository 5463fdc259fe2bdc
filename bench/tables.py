#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/reference/performance.md, from the results of `bench/run`: tables.py FOLDER..."""

import collections
import json
import pathlib
import statistics
import sys
from collections.abc import Iterable, Sequence

from runner.frame import markdown
from runner.frame.spread import short, with_extremes
from runner.python import tables as python_tables
from runner.shm import tables as shm_tables


def show(head: Sequence[object], rows: Iterable[Sequence[object]]) -> None:
    print("\n".join(markdown.table(head, rows)))


def others(results: dict) -> str:
    return f"other programs used {results['cpu_percent_of_others']:.1f} % of the CPUs meanwhile.\n"


def targets(results: dict) -> None:
    print(f"{sum(target['met'] for target in results['targets'])} of {len(results['targets'])} met; {others(results)}")
    rows = (
        (
            target["what"],
            target["measure"],
            f"{short(target['value'])} {target['unit']}".strip(),
            f"<= {target['limit']:g}",
            "met" if target["met"] else "**missed**",
        )
        for target in results["targets"]
    )
    show(("what", "measure", "measured", "target", ""), rows)


def study(results: dict) -> None:
    """Versions of a program, or ways to run it, stand in the place of runtimes."""
    targets(results)
    medians(results)
    for hung in results.get("hung", ()):
        print(f"- {hung['what']}: {hung['reason']}")
    for way, reason in results.get("skipped", {}).items():
        print(f"- {way}: {reason}")


def medians(results: dict) -> None:
    runtimes = list(dict.fromkeys(result["runtime"] for result in results["results"]))
    found = collections.defaultdict(dict)
    for result in results["results"]:
        key = result["measure"], result["policy"], result["unit"]
        spread = f"{short(result['p10'])} .. {short(result['p90'])}"
        found[key][result["runtime"]] = f"{short(result['median'])} ({spread})"
    print("\nMedians (p10 .. p90)\n")
    rows = ((*key, *(cells.get(runtime, "") for runtime in runtimes)) for key, cells in found.items())
    show(("measure", "waiting", "unit", *runtimes), rows)


def calls(results: dict) -> None:
    ratios = [target["value"] for target in results["targets"]]
    if not ratios:
        print("Calls of BLAS were not measured under both weft and libgomp.")
        return
    met = sum(target["met"] for target in results["targets"])
    print(
        f"Of {len(ratios)} ratios {met} are within {results['targets'][0]['limit']:g}, "
        f"median {statistics.median(ratios):.3f}; {others(results)}"
    )
    medians = {(result["measure"], result["runtime"]): result["median"] for result in results["results"]}
    found = collections.defaultdict(dict)
    for target in results["targets"]:
        name, linked = target["measure"].split(", ")
        weft = short(medians[target["measure"], "weft"])
        libgomp = short(medians[target["measure"], "libgomp"])
        found[name][linked] = (weft, libgomp, f"{target['value']:.3f}")
    ways = list(dict.fromkeys(linked for cells in found.values() for linked in cells))
    head = ("call", *(cell for way in ways for cell in (f"weft, us ({way})", "libgomp", "ratio")))
    show(head, ((name, *(cell for way in ways for cell in cells.get(way, [""] * 3))) for name, cells in found.items()))


def nested(results: dict) -> None:
    ratios, answers, against = [], [], []
    rows = []
    for result in results["results"]:
        times = {(t["runtime"], t["out"], t["in"]): 1e3 * t["median"] for t in result["times"]}
        tuned = {key: time for key, time in times.items() if key[1] in (1, 2) and key[2] in (1, 2)}
        best = min(tuned, key=tuned.get)
        untuned, many = times["weft", 0, 0], times["weft", 16, 16]
        ratios.append(untuned / tuned[best])
        answers.append(many / untuned)
        against.append(untuned / min(times[peer, 2, 2] for peer in results["runtimes"] if peer != "weft"))
        name = f"{tuned[best]:.2f} ({best[0]} {best[1]}x{best[2]})"
        compared = (f"{untuned:.2f}", f"{many:.2f}", f"{ratios[-1]:.3f}", f"{answers[-1]:.3f}")
        rows.append((result["problem"]["label"], name, *compared))
    print(
        f"Of {len(rows)} problems {sum(r <= 1.02 for r in ratios)} are within 1.02 of the best tuned, "
        f"{sum(r <= 1.05 for r in ratios)} within 1.05, median {statistics.median(ratios):.3f}; "
        f"{sum(a <= 1.03 for a in answers)} answer 16 x 16 within 1.03 of untuned, "
        f"median {statistics.median(answers):.3f}. "
        f"Against the same nested program (2 x 2) under the better peer: {statistics.median(against):.2f} of the "
        f"time in the median, {min(against):.2f} at best, {max(against):.2f} at worst; {others(results)}"
    )
    show(("problem", "best tuned", "untuned", "16 x 16", "untuned / best", "16 x 16 / untuned"), rows)


def programs(results: dict) -> None:
    print(
        f"Median of each round's ratio to the program's own runtime (least .. most), {results['rounds']} rounds; "
        f"{others(results)}"
    )
    rows = []
    for result in results["results"]:
        seconds = {name: statistics.median(samples) for name, samples in result["seconds"].items()}
        ratios = {}
        for name in result["ratio"]:
            each = [a / b for a, b in zip(result["seconds"][name], result["seconds"]["own"], strict=True)]
            ratios[name] = with_extremes(each)
        own, weft = (f"{seconds[name]:.2f}" for name in ("own", "weft"))
        rows.append((result["program"], own, weft, ratios["weft"], ratios.get("libiomp5", "")))
    show(("program", "own, s", "weft, s", "weft / own", "libiomp5 / own"), rows)


def openblas(results: dict) -> None:
    print(f"Milliseconds, the median of the fastest process of {results['rounds']}; {others(results)}")
    found, peers = collections.defaultdict(dict), collections.defaultdict(list)
    for result in results["results"]:
        found[result["problem"]][result["runtime"], result["library"], result["split"]] = 1e3 * result["best"]
        if result["runtime"] != "weft":
            peers[result["problem"]].append(1e3 * result["best"])
    libraries = list(dict.fromkeys(result["library"] for result in results["results"]))
    head = ["problem", "best peer", "weftcc, outer only", "inner only"]
    rows = []
    for problem, times in found.items():
        count = max(int(split[0]) for _, _, split in times if split != "untuned")
        alone = [times["weft", "weftcc", split] for split in (f"{count} x 1", f"1 x {count}")]
        untuned = [times["weft", library, "untuned"] for library in libraries]
        ratio = times["weft", "weftcc", "untuned"] / times["weft", "Debian", "untuned"]
        cells = [min(peers[problem]), *alone, *untuned]
        rows.append((problem, *(f"{value:.2f}" for value in cells), f"{ratio:.3f}"))
    show([*head, *(f"{library}, untuned" for library in libraries), "weftcc / Debian"], rows)


def python(results: dict) -> None:
    print(python_tables.page(results), end="")


def rwlock(results: dict) -> None:
    targets(results)
    print("\n" + shm_tables.locks(results), end="")


def kv(results: dict) -> None:
    if results["targets"]:
        targets(results)
    print("\n" + shm_tables.stores(results), end="")


TABLES = {
    "micro": study,
    "blas_calls": calls,
    "nested_blas": nested,
    "openblas": openblas,
    "programs": programs,
    "python": python,
    "mpi": study,
    "collectives": study,
    "gauss_seidel": study,
    "ifsker": study,
    "hpl": study,
    "rwlock": rwlock,
    "kv": kv,
}


def main() -> None:
    for folder in sys.argv[1:]:
        for name, table in TABLES.items():
            path = pathlib.Path(folder) / f"{name}.json"
            if path.exists():
                table(json.loads(path.read_text()))


if __name__ == "__main__":
    main()
