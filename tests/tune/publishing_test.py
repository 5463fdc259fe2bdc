# SPDX-License-Identifier: Apache-2.0
"""The end of a run, by measurements that are made up: which files there are, and what is said of them."""

import contextlib
import io
import pathlib
import tempfile
import unittest

from tune import verifying
from tune.choices import Choices
from tune.deployment import Deployment
from tune.family import OPENMPI, Launcher
from tune.openmpi import OpenMpi
from tune.publishing import Publishing
from tune.record import Record
from tune.ways import DEFAULT, WEFT, Way
from tune.weft_choices import WeftChoices

LAUNCHER = Launcher(OPENMPI, ("mpirun",))
MPI = OpenMpi({"library": "Open MPI v4.1.4"}, {})


def measured(**times: float) -> Record:
    record = Record()
    for size in (8, 64):
        for name, time in times.items():
            way = DEFAULT if name == "default" else Way(name, algorithm=1, only_measured=name == "barred")
            record.add((4, "bcast", size), way, [time] * 40, 0.0, "")
    return record


class PublishingTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "a b"
        self.folder.mkdir()
        self.deployment = Deployment(MPI, self.folder)
        self.file = self.deployment.file

    def publish(self, record: Record) -> str:
        choices = Choices(record, MPI)
        weft = WeftChoices(record, choices.chosen)
        publishing = Publishing(self.deployment, self.deployment.record, self.folder / "weft.rules", LAUNCHER, [4])
        with contextlib.redirect_stdout(io.StringIO()) as said:
            publishing.write(record, choices, weft)
            publishing.say_use(choices, 3)
        return said.getvalue()

    def test_a_gain(self) -> None:
        said = self.publish(measured(default=100.0, basic_linear=50.0))
        self.assertTrue(self.file.exists())
        self.assertIn(f"export {MPI.file_variable}='{self.file}'", said)

    def test_no_gain(self) -> None:
        self.publish(measured(default=100.0, basic_linear=50.0))
        said = self.publish(measured(default=100.0, basic_linear=97.0))
        self.assertIn("Others were measured at 2 of 3", said)
        self.assertIn("of an earlier run is removed", said)
        self.assertFalse(self.file.exists())

    def test_weft_where_nothing_is_certain(self) -> None:
        record = measured(default=100.0)
        for size in (8, 64):
            record.add((4, "bcast", size), WEFT, [50.0] * 40, 0.0, "")
        publishing = Publishing(self.deployment, self.deployment.record, self.folder / "weft.rules", LAUNCHER, [4])
        for times, words in (([50.0] * 3, "2 sizes are undecided"), ([100.0] * 9, "do without them")):
            weft = WeftChoices(record, {})
            turns = [{"default": [100.0], "weft": [time]} for time in times]
            record.verified = {(4, "bcast", size): turns for size in (8, 64)}
            weft.keep_confirmed(verifying.verdicts(record, weft.taken(), "weft"))
            with contextlib.redirect_stdout(io.StringIO()) as said:
                publishing.say_weft(weft)
            self.assertIn(words, said.getvalue())

    def test_nothing_to_compare(self) -> None:
        self.publish(measured(default=100.0, basic_linear=50.0))
        for record in (measured(default=100.0), measured(default=100.0, barred=50.0)):
            self.assertIn("nothing to compare", self.publish(record))
            self.assertTrue(self.file.exists())


if __name__ == "__main__":
    unittest.main()
