# SPDX-License-Identifier: Apache-2.0
"""The commands that the pages show: what is indented by four spaces, and blocks fenced as `sh`."""

import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[3]
FENCE = re.compile(r"^(```|~~~)(\w*)")
INDENT = "    "


@dataclasses.dataclass(frozen=True)
class Command:
    page: str  # its path from the project's folder
    line: int  # of its first line
    block: int  # commands that are shown together have the same number
    text: str  # lines that end with a backslash are joined with the next


def pages() -> "list[pathlib.Path]":
    return [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *sorted((ROOT / "docs").rglob("*.md")),
        *sorted((ROOT / "examples").rglob("*.md")),
    ]


def blocks_of(text: str) -> "list[list[tuple[int, str]]]":
    """Each block: its lines with their numbers."""
    blocks: list[list[tuple[int, str]]] = []
    fence = ""
    after_blank = True
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        mark = FENCE.match(line)
        if mark:
            fence = "" if fence else mark.group(2) or "text"
            inside = fence == "sh"
            if inside:
                blocks.append([])
            continue
        if fence:
            if inside:
                blocks[-1].append((number, line))
            continue
        indented = line.startswith(INDENT) and (inside or after_blank)
        if indented and not inside:
            blocks.append([])
        if indented:
            blocks[-1].append((number, line[len(INDENT) :]))
        inside = indented or (inside and not line.strip())
        after_blank = not line.strip()
    return blocks


def commands_of(page: pathlib.Path) -> "list[Command]":
    """In a block with lines that begin with `$ `, only these are commands, and the others are what they print."""
    found = []
    for block, lines in enumerate(blocks_of(page.read_text())):
        prompts = any(line.startswith("$ ") for _, line in lines)
        joined: list[tuple[int, str]] = []
        goes_on = False
        for number, line in lines:
            if goes_on:
                joined[-1] = (joined[-1][0], f"{joined[-1][1][:-1].rstrip()} {line.strip()}")
            elif line.strip() and (not prompts or line.startswith("$ ")):
                joined.append((number, line.removeprefix("$ ")))
            else:
                continue
            goes_on = line.endswith("\\")
        found += [Command(str(page.relative_to(ROOT)), number, block, line.rstrip()) for number, line in joined]
    return found


def fenced(page: str, language: str, index: int = 0) -> str:
    """A program that a page prints."""
    text = (ROOT / page).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[index]
