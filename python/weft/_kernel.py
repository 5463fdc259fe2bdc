# SPDX-License-Identifier: Apache-2.0
"""`python -m weft --install-kernel`: a Jupyter kernel whose process starts on weft, with the recorder waiting."""

from __future__ import annotations

import importlib.util
import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = "Python 3 (weft)"


def _folders() -> list[str]:
    """Where Jupyter looks for the kernels of this Python, and for the user's."""
    own = os.environ.get("JUPYTER_DATA_DIR") or os.path.join(
        os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share"), "jupyter"
    )
    return [os.path.join(sys.prefix, "share", "jupyter"), own]


def _write(folder: str, options: Sequence[str]) -> str:
    place = os.path.join(folder, "kernels", "weft")
    os.makedirs(place, exist_ok=True)
    description = {
        "argv": [
            *(sys.executable, "-m", "weft", *options, "--notebook"),
            *("-m", "ipykernel_launcher", "-f", "{connection_file}"),
        ],
        "display_name": NAME,
        "language": "python",
        "metadata": {"debugger": True},
    }
    with open(os.path.join(place, "kernel.json"), "w", encoding="utf-8") as file:
        json.dump(description, file, indent=1)
        file.write("\n")
    return place


def install(options: Sequence[str]) -> str:
    """What to tell the user. The kernel starts with these options of weft. Raises OSError."""
    fault: OSError | None = None
    for folder in _folders():
        try:
            place = _write(folder, options)
        except OSError as error:
            fault = fault or error
            continue
        text = f'weft: the kernel "{NAME}" is in {place}'
        if importlib.util.find_spec("ipykernel") is None:
            text += "; it needs ipykernel in this Python (pip install ipykernel)"
        return text
    raise OSError(f"--install-kernel: {fault}; JUPYTER_DATA_DIR names a folder that may be written")
