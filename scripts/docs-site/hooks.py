# SPDX-License-Identifier: Apache-2.0
"""What lies outside of docs/ is no part of the site: links to it become the file's name."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "cmake"))
from installed_pages import name_what_is_outside  # noqa: E402


def on_page_markdown(markdown, page, config, files):
    docs = pathlib.Path(config.docs_dir)
    return name_what_is_outside(markdown, pathlib.Path(page.file.abs_src_path), ROOT, lambda path: docs in path.parents)
