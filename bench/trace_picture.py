#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws a trace of `weft trace` as a picture: a row for each carrier; what is inside something else stands on it.

gcc -O1 -fopenmp bench/trace_example.c -o example -lm
build/release/bin/weft trace --cpus 2 -o example.json ./example
.venv/bin/python bench/trace_picture.py example.json docs/images/trace.png
"""

import argparse
import json
import pathlib
import sys
from collections.abc import Iterator
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import colormaps, pyplot
from matplotlib.patches import Patch

Event = dict[str, Any]  # of the Trace Event Format

HEIGHT = 0.24  # of one layer; a row of a carrier is 1 high
WAIT, TASK = "#d9d9d9", "#555555"


def layers(events: list[Event]) -> Iterator[tuple[Event, int]]:
    """Each event with how many lie around it."""
    open_ends = []
    for event in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        while open_ends and open_ends[-1] <= event["ts"] + 0.002:
            open_ends.pop()
        yield event, len(open_ends)
        open_ends.append(event["ts"] + event["dur"])


def read(path: pathlib.Path) -> list[Event]:
    try:
        events = [e for e in json.loads(path.read_text())["traceEvents"] if e["ph"] == "X" and e["cat"] != "idle"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"{path}: {error}; a file written by `weft trace` is wanted")
    if not events:
        sys.exit(f"{path} shows nothing: did the program open a parallel region?")
    return events


def draw(events: list[Event], output: pathlib.Path, width: float) -> None:
    tracks = sorted({event["tid"] for event in events})
    start = min(event["ts"] for event in events)
    teams = sorted({(e["args"]["level"], e["args"]["team"]) for e in events if e["cat"] == "member"})
    palette = colormaps["tab10"].colors
    colors = {team: palette[i % len(palette)] for i, (_, team) in enumerate(teams)}
    figure, axes = pyplot.subplots(figsize=(width, 0.8 + 0.9 * len(tracks)))
    for row, track in enumerate(tracks):
        # Worksharing constructs would hide the member they belong to.
        shown = [event for event in events if event["tid"] == track and event["cat"] != "work"]
        for event, layer in layers(shown):
            if layer > 3:
                continue
            color = {"member": colors.get(event.get("args", {}).get("team")), "wait": WAIT, "task": TASK}[event["cat"]]
            axes.broken_barh(
                [((event["ts"] - start) / 1e3, event["dur"] / 1e3)],
                (row + layer * HEIGHT, HEIGHT * 0.95),
                facecolor=color,
                edgecolor="white",
                linewidth=0.4,
            )
    axes.set_yticks([row + 2 * HEIGHT for row in range(len(tracks))], [f"carrier {track}" for track in tracks])
    axes.set_ylim(-0.1, len(tracks))
    axes.set_xlabel("milliseconds")
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    names = [
        Patch(color=colors[team], label=f"team {team}" + (" (outer)" if level == 1 else ""))
        for level, team in teams[:10]
    ]
    kinds = {event["cat"] for event in events}
    names += [
        Patch(color=color, label=label)
        for kind, color, label in (("task", TASK, "task"), ("wait", WAIT, "waits"))
        if kind in kinds
    ]
    axes.legend(handles=names, ncols=1, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    output.parent.mkdir(parents=True, exist_ok=True)
    figure.tight_layout()
    figure.savefig(output, dpi=110)
    pyplot.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", type=pathlib.Path, help="written by `weft trace`")
    parser.add_argument("picture", type=pathlib.Path, help="the file to write; its ending says the format")
    parser.add_argument("--width", type=float, default=9, help="inches")
    options = parser.parse_args()
    draw(read(options.trace), options.picture, options.width)


if __name__ == "__main__":
    main()
