#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/reference/performance.md, from the results of `bench/run`: tables.py FOLDER..."""

import collections
import json
import pathlib
import statistics
import sys

from runner import shared_memory_tables
from runner.python import tables as python_tables


def number(value: float, unit: str = "") -> str:
    text = f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
    return f"{text} {unit}".strip()


def row(*cells: object) -> None:
    print("| " + " | ".join(str(cell) for cell in cells) + " |")


def head(*cells: str) -> None:
    row(*cells)
    print("|" + "---|" * len(cells))


def targets(results: dict) -> None:
    met = sum(target["met"] for target in results["targets"])
    others = results["cpu_percent_of_others"]
    print(f"{met} of {len(results['targets'])} met; other programs used {others:.1f} % of the CPUs meanwhile.\n")
    head("what", "measure", "measured", "target", "")
    for target in results["targets"]:
        verdict = "met" if target["met"] else "**missed**"
        row(
            target["what"],
            target["measure"],
            number(target["value"], target["unit"]),
            f"<= {target['limit']:g}",
            verdict,
        )


def micro(results: dict) -> None:
    targets(results)
    medians(results, list(results["runtimes"]))


def study(results: dict) -> None:
    """Of an MPI program: its versions, each under a runtime, stand in the place of runtimes."""
    targets(results)
    medians(results, list(dict.fromkeys(result["runtime"] for result in results["results"])))
    for hung in results["hung"]:
        print(f"- {hung['what']}: {hung['reason']}")


def hpl(results: dict) -> None:
    """Places are rows, ways columns."""
    targets(results)
    medians(results, list(dict.fromkeys(result["runtime"] for result in results["results"])))
    for way, reason in results["skipped"].items():
        print(f"- {way}: {reason}")


def medians(results: dict, runtimes: list[str]) -> None:
    found = collections.defaultdict(dict)
    for result in results["results"]:
        key = result["measure"], result["policy"], result["unit"]
        spread = f"{number(result['p10'])} .. {number(result['p90'])}"
        found[key][result["runtime"]] = f"{number(result['median'])} ({spread})"
    print("\nMedians (p10 .. p90)\n")
    head("measure", "waiting", "unit", *runtimes)
    for (measure, policy, unit), cells in found.items():
        row(measure, policy, unit, *(cells.get(runtime, "") for runtime in runtimes))


def calls(results: dict) -> None:
    ratios = [target["value"] for target in results["targets"]]
    if not ratios:
        print("Calls of BLAS were not measured under both weft and libgomp.")
        return
    met = sum(target["met"] for target in results["targets"])
    print(
        f"Of {len(ratios)} ratios {met} are within {results['targets'][0]['limit']:g}, "
        f"median {statistics.median(ratios):.3f}; "
        f"other programs used {results['cpu_percent_of_others']:.1f} % of the CPUs meanwhile.\n"
    )
    medians = {(result["measure"], result["runtime"]): result["median"] for result in results["results"]}
    found = collections.defaultdict(dict)
    for target in results["targets"]:
        name, linked = target["measure"].split(", ")
        weft = number(medians[target["measure"], "weft"])
        libgomp = number(medians[target["measure"], "libgomp"])
        found[name][linked] = (weft, libgomp, f"{target['value']:.3f}")
    ways = list(dict.fromkeys(linked for cells in found.values() for linked in cells))
    head("call", *(cell for way in ways for cell in (f"weft, us ({way})", "libgomp", "ratio")))
    for name, cells in found.items():
        row(name, *(cell for way in ways for cell in cells.get(way, ("", "", ""))))


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
        rows.append(
            (
                result["problem"]["label"],
                name,
                f"{untuned:.2f}",
                f"{many:.2f}",
                f"{ratios[-1]:.3f}",
                f"{answers[-1]:.3f}",
            )
        )
    print(
        f"Of {len(rows)} problems {sum(r <= 1.02 for r in ratios)} are within 1.02 of the best tuned, "
        f"{sum(r <= 1.05 for r in ratios)} within 1.05, median {statistics.median(ratios):.3f}; "
        f"{sum(a <= 1.03 for a in answers)} answer 16 x 16 within 1.03 of untuned, "
        f"median {statistics.median(answers):.3f}. "
        f"Against the same nested program (2 x 2) under the better peer: {statistics.median(against):.2f} of the "
        f"time in the median, {min(against):.2f} at best, {max(against):.2f} at worst. "
        f"Other programs used {results['cpu_percent_of_others']:.1f} % of the CPUs meanwhile.\n"
    )
    head("problem", "best tuned", "untuned", "16 x 16", "untuned / best", "16 x 16 / untuned")
    for cells in rows:
        row(*cells)


def programs(results: dict) -> None:
    print(
        f"Median of each round's ratio to the program's own runtime (least .. most), {results['rounds']} rounds; "
        f"other programs used {results['cpu_percent_of_others']:.1f} % of the CPUs meanwhile.\n"
    )
    head("program", "own, s", "weft, s", "weft / own", "libiomp5 / own")
    for result in results["results"]:
        seconds = {name: statistics.median(samples) for name, samples in result["seconds"].items()}
        ratios = {}
        for name in result["ratio"]:
            each = [a / b for a, b in zip(result["seconds"][name], result["seconds"]["own"], strict=True)]
            ratios[name] = f"{statistics.median(each):.3f} ({min(each):.3f} .. {max(each):.3f})"
        row(
            result["program"],
            f"{seconds['own']:.2f}",
            f"{seconds['weft']:.2f}",
            ratios["weft"],
            ratios.get("libiomp5", ""),
        )


def openblas(results: dict) -> None:
    print(
        f"Milliseconds, the median of the fastest process of {results['rounds']}; "
        f"other programs used {results['cpu_percent_of_others']:.1f} % of the CPUs meanwhile.\n"
    )
    found, peers = collections.defaultdict(dict), collections.defaultdict(list)
    for result in results["results"]:
        found[result["problem"]][result["runtime"], result["library"], result["split"]] = 1e3 * result["best"]
        if result["runtime"] != "weft":
            peers[result["problem"]].append(1e3 * result["best"])
    libraries = list(dict.fromkeys(result["library"] for result in results["results"]))
    head(
        *("problem", "best peer", "weftcc, outer only", "inner only"),
        *(f"{library}, untuned" for library in libraries),
        "weftcc / Debian",
    )
    for problem, times in found.items():
        count = max(int(split[0]) for _, _, split in times if split != "untuned")
        alone = [times["weft", "weftcc", split] for split in (f"{count} x 1", f"1 x {count}")]
        untuned = [times["weft", library, "untuned"] for library in libraries]
        ratio = times["weft", "weftcc", "untuned"] / times["weft", "Debian", "untuned"]
        cells = [min(peers[problem]), *alone, *untuned]
        row(problem, *(f"{value:.2f}" for value in cells), f"{ratio:.3f}")


def python(results: dict) -> None:
    print(python_tables.markdown(results), end="")


def rwlock(results: dict) -> None:
    targets(results)
    print("\n" + shared_memory_tables.locks(results), end="")


def kv(results: dict) -> None:
    if results["targets"]:
        targets(results)
    print("\n" + shared_memory_tables.stores(results), end="")


TABLES = {
    "micro": micro,
    "blas_calls": calls,
    "nested_blas": nested,
    "openblas": openblas,
    "programs": programs,
    "python": python,
    "mpi": micro,
    "collectives": micro,
    "gauss_seidel": study,
    "ifsker": study,
    "hpl": hpl,
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
