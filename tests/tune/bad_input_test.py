# SPDX-License-Identifier: Apache-2.0
"""Wrong use of `weft tune`: a message that says what, and an exit code; no job is started."""

import os
import pathlib
import shutil
import tempfile
import unittest

import jobs


class BadInputTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def expect(self, arguments: list[str], code: int, words: str, **variables: str) -> None:
        done = jobs.run([jobs.WEFT, "tune", *arguments], self.folder, **variables)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(words, done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_commands(self) -> None:
        self.expect(["nonsense"], 2, "no such command")
        self.expect([], 2, "weft tune --help")

    def test_options(self) -> None:
        self.expect(["collectives"], 2, "how many ranks")
        self.expect(["collectives", "-n", "1"], 2, "two ranks at least")
        self.expect(["collectives", "-n", "four"], 2, "-n four")
        self.expect(["collectives", "-n", "2", "--only", "dance,bcast"], 2, "--only: dance: there are")
        self.expect(["collectives", "-n", "2", "--budget", "soon"], 2, "--budget: soon")
        self.expect(["collectives", "-n", "2", "--sizes", "8,many"], 2, "--sizes: many")
        self.expect(["collectives", "-n", "2", "--mpi", "lam"], 2, "lam")
        self.expect(["collectives", "-n", "2", "-o", "/proc/nowhere"], 2, "-o /proc/nowhere")
        for arguments in (["-n", "2", "--only", "bcast"], ["-n", "2,2000000"]):
            self.expect(["collectives", *arguments, "--sizes", "8,1G"], 2, "--sizes: 1073741824")
        self.expect(["collectives", "-n", "2", "--sizes", "9" * 5000], 2, "--sizes")
        self.expect(["collectives", "-n", "2", "--sizes", ""], 2, "--sizes")
        self.expect(["collectives", "-n", "2", "--sizes", "8", "--budget", "9" * 5000], 2, "--budget")

    def test_launchers(self) -> None:
        self.expect(["collectives", "-n", "2", "--launcher", "no-such-launcher"], 2, "no such program")
        self.expect(["collectives", "-n", "2", "--launcher", "true"], 2, "neither Open MPI's nor MPICH's")
        self.expect(["collectives", "-n", "2", "--launcher", "true 'x"], 2, "No closing quotation")
        self.expect(["collectives", "-n", "2"], 2, "on several hosts", WEFT_TUNE_HOSTS="2")
        # Python alone is on this PATH.
        alone = self.folder / "bin"
        alone.mkdir()
        (alone / "python3").symlink_to(shutil.which("python3"))
        self.expect(["collectives", "-n", "2"], 1, "no mpirun or mpiexec on the PATH", PATH=str(alone))

    def test_no_python(self) -> None:
        if (pathlib.Path(jobs.WEFT).parent / "python3").exists():
            self.skipTest("there is one beside the command")
        empty = self.folder / "empty"
        empty.mkdir()
        self.expect(["collectives", "-n", "2"], 127, "install python3", PATH=str(empty))

    def test_files(self) -> None:
        self.expect(["check"], 2, "FILE")
        self.expect(["check", "missing.conf"], 1, "missing.conf: No such file")
        for text, words in (("hello", "line 1: hello"), ("{", "line 1"), ("", "empty"), ('{"a": 1}', "something else")):
            (self.folder / "rules").write_text(text)
            self.expect(["check", "rules"], 1, words)
        self.expect(["explain", "--from", "rules"], 1, "no measurements of weft tune")
        for level in ("{}", "5", '{"ranks": 2}', '{"ranks": 2, "points": [], "flag": 1, "copy": 1}'):
            text = f'{{"format": "weft tune 3", "levels": [{level}], "measured": [], "verified": []}}'
            (self.folder / "levels").write_text(text)
            self.expect(["explain", "--from", "levels"], 1, "damaged")
        (self.folder / "levels").write_text(
            '{"format": "weft tune 3", "cpus": 0, "levels": [{"ranks": 2}], "measured": [], "verified": []}'
        )
        self.expect(["explain", "--from", "levels"], 1, "damaged")


if __name__ == "__main__":
    os.environ.pop("OMPI_COMM_WORLD_RANK", None)
    unittest.main()
