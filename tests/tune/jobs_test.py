# SPDX-License-Identifier: Apache-2.0
"""What the driver makes of jobs that are not as they should be: with programs that stand in for launcher and ranks."""

import contextlib
import io
import json
import pathlib
import tempfile
import unittest
import unittest.mock

from tune.family import OPENMPI, Launcher
from tune.faults import Fault
from tune.jobs import ENDED, Entry, Jobs

# Stands for the measuring program: what it writes, and how it ends.
PROGRAM = """#!/bin/sh
for last; do :; done
cat > "$last" <<'END'
{}
END
echo the ranks have something to say
exit {}
"""
LAUNCHER = """#!/bin/sh
shift 2
exec "$@"
"""
ENTRIES = [Entry("bcast", 8, 2, "- mpi")] * 3


class JobsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.said = io.StringIO()
        self.enterContext(contextlib.redirect_stderr(self.said))

    def jobs(self, ranks: int, measured: int, code: int) -> Jobs:
        """`measured` -1: not even a line about the job."""
        lines = [{"ranks": ranks, "library": "Open MPI v4.1.4", "path": "/lib/libmpi.so"}]
        lines += [{"number": i, "times": [1.0], "skew": 0, "fault": ""} for i in range(measured)]
        text = PROGRAM.format("\n".join(map(json.dumps, lines if measured >= 0 else [])), code)
        for name, content in (("weft-tune-openmpi", text), ("launcher", LAUNCHER)):
            (self.folder / name).write_text(content)
            (self.folder / name).chmod(0o755)
        return Jobs(Launcher(OPENMPI, (str(self.folder / "launcher"),)), str(self.folder), self.folder)

    def test_number_of_ranks_is_checked(self) -> None:
        self.assertEqual(len(self.jobs(4, 3, 0).measure(4, ENTRIES, {}, 1)), 3)
        with self.assertRaises(Fault) as caught:
            self.jobs(1, 3, 0).measure(4, ENTRIES, {}, 1)
        for words in (f"{self.folder}/launcher -n 4", "/lib/libmpi.so: Open MPI v4.1.4", "1 instead of 4"):
            self.assertIn(words, str(caught.exception))

    def test_a_job_that_ends_early_is_said(self) -> None:
        found = self.jobs(2, 1, 3).measure(2, ENTRIES, {}, 1)
        self.assertEqual([one.fault for _, one in sorted(found.items())], ["", ENDED])
        self.assertIn("exit code 3", self.said.getvalue())
        self.assertIn("the ranks have something to say", self.said.getvalue())

    def test_a_job_that_hangs(self) -> None:
        jobs = self.jobs(2, 1, 0)
        program = self.folder / "weft-tune-openmpi"
        program.write_text(program.read_text().replace("exit 0", "sleep 60"))
        with unittest.mock.patch("tune.jobs._GRACE", 1.0):
            found = jobs.measure(2, ENTRIES, {}, 0.1)
        self.assertEqual([one.fault for _, one in sorted(found.items())], ["", ENDED])
        self.assertIn("has not ended", self.said.getvalue())
        self.assertIn("the ranks have something to say", self.said.getvalue())

    def test_a_job_that_ends_at_once(self) -> None:
        with self.assertRaises(Fault):
            self.jobs(2, -1, 3).measure(2, ENTRIES, {}, 1)
        # Where others have measured something, that counts.
        jobs = self.jobs(2, 3, 0)
        jobs.measure(2, ENTRIES, {}, 1)
        self.jobs(2, -1, 3)
        self.assertEqual(jobs.measure(2, ENTRIES, {}, 1), {})
        self.assertIn("exit code 3", self.said.getvalue())

    def test_a_job_that_had_no_time_for_all_has_not_ended_early(self) -> None:
        self.assertEqual(list(self.jobs(2, 1, 0).measure(2, ENTRIES, {}, 1)), [0])
        self.assertEqual(self.said.getvalue(), "")


if __name__ == "__main__":
    unittest.main()
