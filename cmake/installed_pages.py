# SPDX-License-Identifier: Apache-2.0
"""Makes the pages as they are installed: installed_pages.py SOURCE INTO

Links from page to page stay. What is not installed, such as sources, is named in place of a link to it. What stands
between the comments `sources only` and `end` is left out.
"""

import pathlib
import re
import shutil
import sys
from collections.abc import Callable

LINK = re.compile(r"\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
SOURCES_ONLY = re.compile(r"<!-- sources only -->\n.*?<!-- end -->\n\n", re.DOTALL)
PAGES = ("README.md", "CHANGELOG.md", "SECURITY.md", "LICENSE", "docs/**/*.md", "docs/images/*")


def name_what_is_outside(
    text: str, page: pathlib.Path, root: pathlib.Path, inside: Callable[[pathlib.Path], bool]
) -> str:
    """The text of the page, with names in place of links to files of `root` that are not inside."""

    def name_of(match: re.Match) -> str:
        target = (page.parent / match[2]).resolve()
        if re.match(r"[a-z]+:", match[2]) or inside(target):
            return match[0]
        path = f"`{target.relative_to(root)}`"
        words = match[1].strip("`")
        return path if words in path else f"{match[1]} ({path})"

    return LINK.sub(name_of, text)


def main(source: pathlib.Path, into: pathlib.Path) -> None:
    source = source.resolve()
    pages = {page for pattern in PAGES for page in source.glob(pattern)}
    shutil.rmtree(into, ignore_errors=True)
    for page in sorted(pages):
        copy = into / page.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if page.suffix == ".md":
            text = SOURCES_ONLY.sub("", page.read_text())
            copy.write_text(name_what_is_outside(text, page, source, pages.__contains__))
        else:
            shutil.copyfile(page, copy)


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:]))
