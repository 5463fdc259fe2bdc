# SPDX-License-Identifier: Apache-2.0
"""A server of Redis for the time of a study."""

import contextlib
import pathlib
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator


def program() -> str | None:
    # Debian's package redis-tools has the server under the second name, and starts no daemon.
    return shutil.which("redis-server") or shutil.which("redis-check-rdb")


@contextlib.contextmanager
def server() -> Iterator[pathlib.Path | None]:
    """The socket of a server of our own, in memory alone; None: there is none."""
    found = program()
    if found is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="weft-bench-redis-") as name:
        socket = pathlib.Path(name) / "socket"
        options = ["--port", "0", "--unixsocket", str(socket), "--save", "", "--appendonly", "no", "--dir", name]
        running = subprocess.Popen(
            ["redis-server", *options], executable=found, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            end = time.monotonic() + 10
            while not socket.exists() and running.poll() is None and time.monotonic() < end:
                time.sleep(0.01)
            yield socket if socket.exists() else None
        finally:
            running.kill()
            running.wait()
