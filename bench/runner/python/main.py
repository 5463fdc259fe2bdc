# SPDX-License-Identifier: Apache-2.0
"""The command line of bench/run python."""

import argparse
import pathlib

from rich.console import Console

from .. import files, machine, report, terminal
from ..terminal import positive
from . import modes, results, tables, workloads
from .results import Data
from .session import Limits, Session

NAME = "python"


def parse(root: pathlib.Path, words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/run python",
        description="Compares ways to share CPUs in Python programs; see docs/how-to/benchmark-python.md.",
    )
    parser.add_argument(
        "--only", default="", help=f"of {', '.join(workloads.families(1, quick=True))}; with commas between"
    )
    parser.add_argument(
        "--short",
        action="store_true",
        help=f"{', '.join(workloads.SHORT)} under {', '.join(modes.SHORT)}: some ten minutes on 2 CPUs",
    )
    parser.add_argument("--modes", help=f"of {', '.join(modes.BY_NAME)}; with commas between (default: all)")
    parser.add_argument("--rounds", type=positive, default=3, help="how often each is measured, in turn (default 3)")
    parser.add_argument(
        "--quick", action="store_true", help=f"one round of little, {', '.join(modes.QUICK)} only: does it run at all"
    )
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/release", help="the build to measure")
    parser.add_argument(
        "--python", type=pathlib.Path, default=root / "build/python/bench-venv/bin/python", help="that has the packages"
    )
    parser.add_argument("--factor", type=positive, default=20, help="times the best at which a run is cut (default 20)")
    parser.add_argument(
        "--timeout", type=positive, default=600, help="seconds at which the first run is cut (default 600)"
    )
    parser.add_argument("--out", type=pathlib.Path, help="folder of the results (default bench/results/DATE)")
    parser.add_argument("--no-plots", action="store_true")
    arguments = parser.parse_args(words)
    usual = modes.BY_NAME
    if arguments.quick:
        usual = modes.QUICK
    elif arguments.short:
        usual = modes.SHORT
    arguments.modes = arguments.modes or ",".join(usual)
    arguments.only = arguments.only or (",".join(workloads.SHORT) if arguments.short else "")
    if not arguments.python.exists():
        parser.error(f"{arguments.python} is not there: run scripts/setup-bench-python, or name another with --python")
    if not (arguments.build / "bin/weft").exists():
        parser.error(f"{arguments.build}/bin/weft is not there: build weft, or name another build with --build")
    return arguments


def main(root: pathlib.Path, words: list[str]) -> int:
    arguments = parse(root, words)
    console, stamp = terminal.console(), terminal.stamp()
    folder = terminal.results_folder(root, arguments.out, stamp)
    machine.raise_limits()
    # A virtual environment is known by the path it is called by: links stay.
    places = modes.Places(root, arguments.build.absolute(), arguments.python.absolute())
    places.make_package()
    watch = machine.OthersWatch()
    with terminal.progress(console) as progress:
        task = progress.add_task("", total=None)
        session = Session(
            places=places,
            modes=modes.chosen(arguments.modes),
            workloads=workloads.chosen(arguments.only, machine.cpus(), arguments.quick),
            rounds=1 if arguments.quick else arguments.rounds,
            quick=arguments.quick,
            limits=Limits(set_up=180, first=arguments.timeout, factor=arguments.factor, least=20),
            step=lambda text: progress.update(task, advance=1, description=text),
        )
        progress.update(task, total=session.count())
        about: Data = {"date": stamp, "machine": machine.describe(), "rounds": session.rounds, "quick": session.quick}

        def data() -> Data:
            return results.collect(session, about | {"cpu_percent_of_others": watch.percent()})

        # A run that is stopped keeps what it has measured.
        session.measure(after_workload=lambda: files.write_json(folder, NAME, data()))
    final = data()
    files.write_json(folder, NAME, final)
    (folder / f"{NAME}.md").write_text(tables.markdown(final))
    if not arguments.no_plots:
        from . import figures  # slow to load

        figures.draw(folder, final)
    _show(console, final)
    console.print(f"Results: {folder}", highlight=False, soft_wrap=True)
    return 1 if any(entry.get("failed") for entry in final["results"]) else 0


def _show(console: Console, data: Data) -> None:
    for title, (head, rows) in (
        ("seconds, medians", tables.main_table(data, spread=False)),
        ("several processes at once: time over one after the other", tables.node_table(data)),
    ):
        if rows:
            table = report.new_table(title, *head)
            for row in rows:
                table.add_row(*row)
            console.print(table)
    for reason in tables.reasons(data):
        console.print(reason, highlight=False, markup=False, soft_wrap=True)
    report.trust(console, data["cpu_percent_of_others"])
