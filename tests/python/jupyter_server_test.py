# SPDX-License-Identifier: Apache-2.0
"""The extension of Jupyter's server that shows what `weft top` shows."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

from support import PATH, TIMEOUT_S, ProgramTest, environment, needs
from weft import _files


@needs("jupyter_server")
class Top(ProgramTest):
    """As users switch it on."""

    TOKEN = "of-this-test"

    def setUp(self) -> None:
        super().setUp()
        folders = {f"JUPYTER_{name}_DIR": str(self.folder / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
        self.variables = {**folders, "PATH": PATH}
        # Where pip puts it in the environment, here in the user's folder.
        shutil.copytree(f"{_files.FOLDER}/etc/jupyter", self.folder / "config")
        done = self.run_program("jupyter", "server", "extension", "enable", "--user", "weft", **self.variables)
        self.assertIn("Extension successfully enabled", done.stderr)

    def start(self) -> str:
        """A server; its address."""
        options = ("--no-browser", "--allow-root", "--ip=127.0.0.1", f"--IdentityProvider.token={self.TOKEN}")
        server = self.serve("jupyter", "server", *options, "--port=0", "--ServerApp.base_url=/base", **self.variables)
        file = self.folder / "runtime" / f"jpserver-{server.pid}.json"
        while not file.exists() or not file.read_text().endswith("}"):
            self.assertIsNone(server.poll(), (self.folder / "log").read_text())
            time.sleep(0.1)
        return json.loads(file.read_text())["url"]

    def get(self, address: str, token: str | None = TOKEN) -> tuple[int, str]:
        """The status and the text."""
        request = urllib.request.Request(address, headers={"Authorization": f"token {token}"} if token else {})
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def program(self) -> int:
        """One on weft, that shares the node until the test ends; its number."""
        code = """
    import sklearn.cluster, sys
    sklearn.cluster.KMeans(2, n_init=1).fit([[1.0], [2.0], [3.0]] * 1000)
    print("ready", flush=True)
    sys.stdin.read()
"""
        words = [sys.executable, "-m", "weft", "--node", self.write("app.py", code)]
        pipe = subprocess.PIPE
        program = subprocess.Popen(words, env=environment(), cwd=self.folder, stdin=pipe, stdout=pipe, text=True)
        self.addCleanup(program.communicate)
        self.assertEqual(program.stdout.readline(), "ready\n")
        return program.pid

    def test_page_and_json(self) -> None:
        pid, address = self.program(), self.start()
        status, page = self.get(f"{address}weft/top")
        self.assertEqual(status, 200, page)
        self.assertRegex(page, rf'(?s)http-equiv="refresh".*<pre>.*PID .*ON WEFT.*\b{pid}\b.*</pre>')
        self.assertIn('href="/base/weft/top/json"', page)
        status, text = self.get(f"{address}weft/top/json")
        self.assertEqual(status, 200, text)
        self.assertIn(pid, [process["pid"] for process in json.loads(text)["processes"]])

    def test_only_for_who_may_use_the_server(self) -> None:
        address = self.start()
        for token in None, "another":
            self.assertEqual(self.get(f"{address}weft/top/json", token)[0], 403)
            _, page = self.get(f"{address}weft/top", token)
            self.assertNotIn("ON WEFT", page)
            self.assertIn("login", page.lower())


if __name__ == "__main__":
    unittest.main()
