# SPDX-License-Identifier: Apache-2.0
"""The results as tables of text: for the terminal and, in Markdown, for the documentation."""

from ..frame import markdown
from ..frame.spread import short
from . import results
from .results import Data, Entry

MISSING, FAILED = "missing", "failed"


def cell(entry: Entry | None, spread: bool) -> str:
    if entry is None:
        return ""
    if entry.get("failed"):
        return FAILED
    if entry.get("missing"):
        return MISSING
    if entry.get("cut_seconds"):
        return f"> {short(entry['cut_seconds'])}"
    if "median" not in entry:
        return ""
    shown = short(entry["median"])
    return f"{shown} ({short(entry['p10'])} .. {short(entry['p90'])})" if spread else shown


def main_table(data: Data, spread: bool) -> tuple[list[str], list[list[str]]]:
    found = results.table_of(data)
    titles = {mode["name"]: mode["title"] for mode in data["modes"]}
    head = ["workload", *titles.values(), "weft / best other", "weft / default"]
    rows = [
        [
            workload["title"],
            *(cell(found.get((workload["name"], mode)), spread) for mode in titles),
            *(f"{ratio:.3g}" if ratio else "" for ratio in results.ratios(data, workload["name"])),
        ]
        for workload in data["workloads"]
    ]
    return head, rows


def node_table(data: Data) -> tuple[list[str], list[list[str]]]:
    """How much longer several processes take at once than one after the other."""
    found = results.table_of(data)
    points = results.studies(data).get("node", [])
    titles = {mode["name"]: mode["title"] for mode in data["modes"]}
    ideals = {mode: results.node_ideal(data, mode) for mode in titles}
    shown = [mode for mode in titles if ideals[mode]]
    rows = []
    for point in points:
        row = [str(point["x"])]
        for mode in shown:
            value = results.median(found.get((point["name"], mode)))
            row.append(f"{value / ideals[mode][point['x']]:.3g}" if value else "")
        rows.append(row)
    return ["processes", *(titles[mode] for mode in shown)], rows if shown else []


def reasons(data: Data) -> list[str]:
    """Why there is no number, once for each reason of a mode."""
    titles = {mode["name"]: mode["title"] for mode in data["modes"]}
    found: dict[tuple[str, str, str], list[str]] = {}
    for entry in data["results"]:
        for kind in (FAILED, MISSING):
            if entry.get(kind):
                found.setdefault((titles[entry["mode"]], kind, entry[kind]), []).append(entry["workload"])
    return [f"{title}, {kind} for {', '.join(names)}: {why}" for (title, kind, why), names in found.items()]


def page(data: Data) -> str:
    lines = [
        "Seconds of the parallel part: median (p10 .. p90). Less is better; the ratios are of medians. Other programs "
        f"used {data['cpu_percent_of_others']:.1f} % of the CPUs meanwhile.",
        "",
        *markdown.table(*main_table(data, spread=True)),
    ]
    head, rows = node_table(data)
    if rows:
        lines += ["", "Several processes at once: time over that of one after the other.", ""]
        lines += markdown.table(head, rows)
    why = reasons(data)
    if why:
        lines += ["", *(f"- {' '.join(reason.split())}" for reason in why)]
    return "\n".join(lines) + "\n"
