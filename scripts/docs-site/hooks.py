# SPDX-License-Identifier: Apache-2.0
"""What lies outside of docs/ is no part of the site: links to it become the file's name."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\[([^\]]*)\]\(((?:\.\./)+[^)\s#]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown, page, config, files):
    def name_of(match):
        target = (pathlib.Path(page.file.abs_src_path).parent / match[2]).resolve()
        if pathlib.Path(config.docs_dir) in target.parents:
            return match[0]
        path = f"`{target.relative_to(ROOT)}`"
        text = match[1].strip("`")
        return path if text in path else f"{match[1]} ({path})"

    return LINK.sub(name_of, markdown)
