# SPDX-License-Identifier: Apache-2.0
"""end_to_end_test.py MPI: the whole of `weft tune` on real ranks, within a small budget."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import jobs

MPI = ""
FILES = {"openmpi": "openmpi.conf", "mpich": "mpich.json"}


def with_mark(mark: str) -> list[str]:
    """The processes that have it in their environment."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "environ").read_bytes():
                found.append(process.name)
        except OSError:
            continue
    return found


class EndToEndTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.ranks = 4 if MPI == "openmpi" else 2

    def tune(self, *arguments: str, code: int = 0) -> str:
        done = jobs.run([jobs.WEFT, "tune", *arguments, "--for", MPI], self.folder)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        return done.stdout + done.stderr

    def test_by_itself(self) -> None:
        said = self.tune("collectives", "-n", str(self.ranks), "--only", "alltoall,allreduce,bcast", "--budget", "20s")
        self.check(said)
        out = self.folder / "weft-tune"
        self.assertIn("Messages between two", self.tune("explain", "--from", str(out / f"{MPI}.measured.json")))
        if (out / FILES[MPI]).exists():
            self.assertIn("No fault found", self.tune("check", str(out / FILES[MPI])))

    def check(self, said: str) -> None:
        out = self.folder / "weft-tune"
        raw = json.loads((out / f"{MPI}.measured.json").read_text())
        # On a busy machine there is not time for all of them, and this is said then.
        found = {line["operation"] for line in raw["measured"]}
        self.assertTrue(found == {"alltoall", "allreduce", "bcast"} or "Not measured" in said, said)
        self.assertEqual([line for line in raw["measured"] if line["fault"]], [])
        self.assertTrue(all(line["times"] for line in raw["measured"]))
        self.assertTrue("Keep the defaults" in said or (out / FILES[MPI]).exists(), said)

    def test_as_ranks(self) -> None:
        command = [*jobs.launcher(MPI, 2), jobs.WEFT, "tune", "collectives", "--only", "alltoall", "--sizes", "8,4K"]
        done = jobs.run([*command, "--budget", "8s"], self.folder)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("alltoall, 2 ranks"), 1)
        raw = json.loads((self.folder / f"weft-tune/{MPI}.measured.json").read_text())
        self.assertEqual({line["ranks"] for line in raw["measured"]}, {2})

    def test_files_that_are_there(self) -> None:
        out = self.folder / "weft-tune"
        out.mkdir()
        arguments = ("collectives", "-n", "2", "--only", "bcast", "--sizes", "8", "--budget", "4s")
        (out / FILES[MPI]).write_text("{}" if MPI == "mpich" else "1\n7\n1\n4\n1\n0 1 0 0\n")
        self.assertIn("was not written by weft tune", self.tune(*arguments, code=2))
        self.assertEqual([file.name for file in out.iterdir()], [FILES[MPI]])

    def test_folder_without_room_for_files(self) -> None:
        self.assertIn("/proc: ", self.tune("collectives", "-n", "2", "-o", "/proc", code=2))

    def test_format_that_the_mpi_does_not_read(self) -> None:
        form = "json" if MPI == "openmpi" else "text"
        said = self.tune("collectives", "-n", "2", "--format", form, "--budget", "4s", code=2)
        self.assertIn(f"--format {form}", said)

    def test_launcher_of_another_mpi(self) -> None:
        (other,) = FILES.keys() - {MPI}
        launcher = f"mpiexec.{other}"
        if shutil.which(launcher) is None:
            self.skipTest(f"no {launcher}")
        said = self.tune("collectives", "-n", "2", "--launcher", launcher, "--budget", "4s", code=1)
        self.assertIn("made a job of 1 instead of 2", said)
        self.assertIn(f"{launcher} -n 2", said)

    def test_report_of_unknown_algorithms(self) -> None:
        if MPI != "mpich":
            self.skipTest("by MPICH's selection")
        rules = {"comm_type=inter": {"algorithm=MPIR_Bcast_intra_unheard": {}}}
        (self.folder / "rules").write_text(json.dumps({"collective=bcast": rules}))
        self.assertIn("has no algorithm MPIR_Bcast_intra_unheard", self.tune("check", "rules", code=1))

    def test_report_of_what_is_slower_or_wrong(self) -> None:
        if MPI != "openmpi":
            self.skipTest("by Open MPI's rules")
        # Segments of 16 bytes, one behind the other.
        (self.folder / "slow").write_text("1\n7\n3\n0\n1\n0 0 0 0\n2\n1\n0 3 0 16\n3\n1\n0 0 0 0\n")
        said = self.tune("check", "--measure", "--sizes", "64K", "--budget", "8s", "slow", code=1)
        self.assertIn("bcast, 2 ranks, 64K bytes: slower with the file", said)
        self.assertNotIn("No fault found", said)
        self.assertIn("--sizes: 1073741824", self.tune("check", "--measure", "--sizes", "1G", "slow", code=2))

    def test_ends_its_jobs_when_it_is_ended(self) -> None:
        for number in (signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                self.end(number)

    def end(self, number: int) -> None:
        mark = f"WEFT_TEST_MARK={os.getpid()}.{number}"
        name, value = mark.split("=")
        command = [jobs.WEFT, "tune", "collectives", "-n", "2", "--for", MPI, "--only", "bcast"]
        with subprocess.Popen(
            command, cwd=self.folder, env={**jobs.ENVIRONMENT, name: value}, stderr=subprocess.PIPE, text=True
        ) as tuner:
            while "round 2" not in tuner.stderr.readline():
                pass
            tuner.send_signal(number)
            self.assertIn("interrupted", tuner.stderr.read())
        self.assertEqual(tuner.returncode, 130)
        end = time.monotonic() + 20
        while (left := with_mark(mark)) and time.monotonic() < end:
            time.sleep(0.2)
        self.assertEqual(left, [])
        # What it measured before is there, and nothing else.
        self.assertEqual([file.name for file in (self.folder / "weft-tune").iterdir()], [f"{MPI}.measured.json"])

    def test_small_budget(self) -> None:
        done = jobs.run([jobs.WEFT, "tune", "collectives", "-n", "2", "--mpi", MPI, "--budget", "1s"], self.folder)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        if done.returncode == 1:
            self.assertIn("give it more", done.stderr)

    def test_paper_and_own_exchanges(self) -> None:
        arguments = ("-n", "2", "--only", "alltoall", "--sizes", "64,4K", "--budget", "10s")
        said = self.tune("collectives", *arguments, "--paper", "--own", "--all")
        self.assertIn("the paper's method", said)
        raw = json.loads((self.folder / f"weft-tune/{MPI}.paper.json").read_text())
        names = {line["way"]["name"] for line in raw["measured"]}
        wanted = {"default", "own linear", "own pairwise", "own bruck:2"}
        self.assertTrue(wanted <= names or raw["missing"], names)
        self.assertEqual({len(line["times"]) for line in raw["measured"]}, {51})

    def test_explain(self) -> None:
        said = self.tune("explain", "-n", "2", "--only", "alltoall", "--budget", "8s")
        for words in ("flag tW", "f = sqrt(b tW / t)", "The model is off by"):
            self.assertIn(words, said)


if __name__ == "__main__":
    MPI = sys.argv.pop(1)
    unittest.main()
