#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft-tune-mpich takes the MPI that the user has chosen, even where the system has an MPICH beside it."""

import os
import pathlib
import subprocess
import tempfile
import unittest

TUNER = pathlib.Path(os.environ["WEFT_LIBRARIES"]) / "weft-tune-mpich"


@unittest.skipUnless(TUNER.exists(), "built without MPI")
class LoaderTest(unittest.TestCase):
    def test_chosen_before_the_systems(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            # It lacks all functions of an MPI.
            empty = pathlib.Path(folder) / "libmpi.so.12"
            subprocess.run(["cc", "-shared", "-o", empty, "-x", "c", os.devnull], check=True)
            environment = dict(os.environ, LD_LIBRARY_PATH=folder)
            done = subprocess.run([TUNER], env=environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 127, done.stderr)
        self.assertRegex(done.stderr, r"undefined symbol: MPI_")


if __name__ == "__main__":
    unittest.main()
