# SPDX-License-Identifier: Apache-2.0
"""Every relative link of the tracked Markdown files leads to a file, and every anchor to a heading of it; every source file
that they name exists; src/README.md has a row for every folder; every page of docs/ can be reached from docs/index.md."""

import pathlib
import re
import subprocess
import unittest

from finished import finished

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)\s]+)\)")
FILE = re.compile(r"`([a-z_]+(?:/[\w.-]+)+\.(?:h|cpp|c|py|md|def|map|toml))`")
FOLDER_ROW = re.compile(r"^\| `([a-z/]+)` \|", re.MULTILINE)
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)


def tracked_pages() -> list[pathlib.Path]:
    try:
        listed = finished(
            ["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, check=True
        ).stdout.splitlines()
        return [ROOT / name for name in listed if (ROOT / name).exists()]
    except (OSError, subprocess.CalledProcessError):  # a source tree without git
        return [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/*.md")]


def text_of(page: pathlib.Path) -> str:
    return FENCE.sub("", page.read_text())


def anchors_of(page: pathlib.Path) -> set[str]:
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+\s+(.*)$", text_of(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def links_of(page: pathlib.Path) -> list[tuple[pathlib.Path, str]]:
    """Relative links: the file and the anchor."""
    found = []
    for target in LINK.findall(text_of(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        found.append(((page.parent / path).resolve() if path else page, anchor))
    return found


class LinksTest(unittest.TestCase):
    def test_links_lead_somewhere(self) -> None:
        broken = []
        for page in tracked_pages():
            for target, anchor in links_of(page):
                name = f"{page.relative_to(ROOT)}: {target.relative_to(ROOT) if ROOT in target.parents else target}"
                if not target.exists():
                    broken.append(name)
                elif anchor and target.suffix == ".md" and anchor not in anchors_of(target):
                    broken.append(f"{name}#{anchor}")
        self.assertEqual(broken, [])

    def test_files_that_are_named_exist(self) -> None:
        folders = [ROOT / name for name in (".", "src", "src/core", "src/openmp", "tests", "tests/openmp", "include")]
        missing = []
        for page in tracked_pages():
            beside = [*folders, page.parent]
            for name in FILE.findall(text_of(page)):
                # Other projects' tests are named by suites of theirs.
                ours = any((folder / name.split("/")[0]).is_dir() for folder in beside)
                if ours and not any((folder / name).exists() for folder in beside):
                    missing.append(f"{page.relative_to(ROOT)}: {name}")
        self.assertEqual(missing, [])

    def test_every_folder_of_the_sources_has_a_row(self) -> None:
        src = ROOT / "src"
        rows = {name for name in FOLDER_ROW.findall((src / "README.md").read_text()) if name != "assert"}
        sources = (path for path in src.rglob("*") if path.suffix in (".h", ".cpp", ".c"))
        self.assertEqual({str(path.parent.relative_to(src)) for path in sources} - rows, set())
        self.assertEqual([name for name in rows if not (src / name).is_dir()], [])

    def test_every_page_can_be_reached_from_the_index(self) -> None:
        seen = set()
        ahead = [ROOT / "docs" / "index.md"]
        while ahead:
            page = ahead.pop()
            if page in seen:
                continue
            seen.add(page)
            ahead += [target for target, _ in links_of(page) if target.suffix == ".md" and target.exists()]
        unreached = [str(page.relative_to(ROOT)) for page in sorted((ROOT / "docs").rglob("*.md")) if page not in seen]
        self.assertEqual(unreached, [])


if __name__ == "__main__":
    unittest.main()
