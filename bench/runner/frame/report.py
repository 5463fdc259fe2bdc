# SPDX-License-Identifier: Apache-2.0
"""Tables and lines on the terminal."""

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from .process import Failure
from .samples import Samples
from .spread import short, summary
from .verdict import Verdict

WIDTH = 190  # of tables that go to a file
QUIET_PERCENT = 5  # CPU time of others below which a run can be trusted


def console() -> Console:
    made = Console(highlight=False)
    return made if made.is_terminal else Console(width=WIDTH, highlight=False)


def progress(shown_on: Console) -> Progress:
    columns = (TextColumn("{task.description:56.56}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=shown_on, transient=True)


def table(title: str, columns: Iterable[str], rows: Iterable[Sequence[str]], left: int = 1) -> Table:
    """The first `left` columns are text, the rest are numbers."""
    made = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold")
    for index, column in enumerate(columns):
        made.add_column(column, justify="left" if index < left else "right", no_wrap=True)
    for row in rows:
        made.add_row(*row)
    return made


def medians(
    samples: Samples,
    names: list[str],
    policies: str = "waiting",
    title: str = "medians",
    most_seconds: float = float("inf"),
) -> Table:
    """A row for each policy and measure, columns for each series. `policies`: what they are. What took `most_seconds`
    was cut off then."""

    def cells(policy: str, measure: str, name: str) -> tuple[str, str]:
        taken = samples.get((policy, name, measure))
        if not taken:
            return "", ""
        values = summary(taken)
        cut_off = samples.units[measure] == "s" and values["median"] >= most_seconds
        return (
            f"{'> ' if cut_off else ''}{short(values['median'])}",
            f"{short(values['p10'])} .. {short(values['p90'])}",
        )

    def row(policy: str, measure: str) -> list[str]:
        found = [cell for name in names for cell in cells(policy, measure, name)]
        ratio = samples.ratio(names, policy, measure, "best") if len(names) > 1 else None
        return [measure, policy, samples.units[measure], *found, short(ratio)]

    columns = (
        "measure",
        policies,
        "unit",
        *(column for name in names for column in (name, "p10 .. p90")),
        "weft / best",
    )
    return table(title, columns, (row(*key) for key in samples.rows()), left=3)


def show_targets(console: Console, verdicts: list[Verdict]) -> None:
    if not verdicts:
        return

    def row(verdict: Verdict) -> tuple[str, ...]:
        unit = f" {verdict.unit}" if verdict.unit else ""
        met = "met" if verdict.met else "[bold red]missed[/bold red]"
        return verdict.what, verdict.measure, f"{verdict.value:.4g}{unit}", f"<= {verdict.limit:g}{unit}", met

    columns = ("what", "measure", "measured", "target", "")
    console.print(table("weft against its targets", columns, map(row, verdicts), left=2))
    console.print(f"{sum(verdict.met for verdict in verdicts)} of {len(verdicts)} targets met.")


def show_gains(console: Console, gains: dict[str, float]) -> None:
    """What a demonstration ends with: weft's time over another one, which is named."""
    rows = ((what, f"{ratio:.2g}" if ratio < 0.1 else f"{ratio:.2f}") for what, ratio in gains.items())
    console.print(table("weft's time over that of others: less is better", ("what", "ratio"), rows))


def show_trust(console: Console, others_percent: float, shown_all_the_same: str = "") -> None:
    """`shown_all_the_same`: of a demonstration, what a busy machine does not hide."""
    if others_percent <= QUIET_PERCENT:
        return
    others = f"Other programs used {others_percent:.0f} % of the CPUs"
    if shown_all_the_same:
        console.print(f"{others}. {shown_all_the_same}")
    else:
        console.print(f"{others} meanwhile: repeat this on a quiet machine.", style="bold yellow")


def show_failures(console: Console, failed: list[Failure]) -> None:
    for failure in failed:
        console.print(f"No result: {failure.runtime}: {failure.command}", style="bold red", markup=False)
        console.print(f"  {failure.reason}", markup=False)
