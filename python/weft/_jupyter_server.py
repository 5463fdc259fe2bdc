# SPDX-License-Identifier: Apache-2.0
"""Jupyter's server shows what `weft top` shows: a page at weft/top, and its JSON at weft/top/json.

`jupyter server extension enable weft` switches it on. Only who may use the server sees it.
"""

from __future__ import annotations

import asyncio
import html

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler, JupyterHandler
from jupyter_server.utils import url_path_join
from tornado.web import HTTPError, authenticated

from weft._files import command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta http-equiv="refresh" content="2"><title>weft top</title></head>
<body><pre>{text}</pre><p><a href="{json}">JSON</a></p></body>
</html>
"""


async def _top(*options: str) -> str:
    """What the command prints. Raises HTTPError, with the command's own words."""
    try:
        words = command(), "top", "--once", *options
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(*words, stdout=pipe, stderr=pipe)
        output, errors = await process.communicate()
    except OSError as error:
        raise HTTPError(500, "%s", error) from error
    if process.returncode != 0:
        raise HTTPError(500, "%s", errors.decode("utf-8", "replace").strip())
    return output.decode("utf-8", "replace")


class _PageHandler(JupyterHandler):
    auth_resource = "weft"

    @authenticated
    @authorized
    async def get(self) -> None:
        text = await _top()
        self.set_header("Cache-Control", "no-store")
        self.finish(_PAGE.format(text=html.escape(text), json=url_path_join(self.base_url, "weft", "top", "json")))


class _JsonHandler(APIHandler):
    auth_resource = "weft"
    _track_activity = False  # who looks on does not work

    @authenticated
    @authorized
    async def get(self) -> None:
        text = await _top("--json", "-")
        self.set_header("Cache-Control", "no-store")
        self.finish(text)


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """Where the server finds the function below."""
    return [{"module": "weft._jupyter_server"}]


def _load_jupyter_server_extension(app: ServerApp) -> None:
    place = url_path_join(app.web_app.settings["base_url"], "weft", "top")
    app.web_app.add_handlers(".*$", [(place, _PageHandler), (url_path_join(place, "json"), _JsonHandler)])
