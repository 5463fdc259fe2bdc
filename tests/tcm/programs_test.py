#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that use oneTBB, as PyPI's wheels bring it, beside OpenMP: results, threads at once, forks, and which
libraries they run on."""

import os
import pathlib
import subprocess
import tempfile
import unittest

from finished import finished

COMMAND = os.environ["WEFT_COMMAND"]
RUNTIME = os.environ["WEFT_TEST_RUNTIME"]
COMPILER = os.environ["WEFT_TEST_GCC"].replace("gcc", "g++")
VENV = pathlib.Path(os.environ["WEFT_TEST_PYTHON"]).parent.parent
CPUS = 4
PROGRAM = None


def setUpModule():
    global PROGRAM
    if not (VENV / "include/tbb/task_arena.h").exists():
        raise unittest.SkipTest(f"no oneTBB in {VENV} (scripts/setup-python puts it there, where there are wheels)")
    folder = tempfile.TemporaryDirectory(prefix="weft-tcm-")
    unittest.addModuleCleanup(folder.cleanup)
    PROGRAM = f"{folder.name}/programs"
    subprocess.run(
        [
            COMPILER,
            "-std=c++17",
            "-O1",
            "-fopenmp",
            pathlib.Path(__file__).parent / "programs.cpp",
            f"-I{VENV}/include",
            f"-L{VENV}/lib",
            "-ltbb",
            f"-Wl,-rpath,{VENV}/lib",
            "-pthread",
            "-o",
            PROGRAM,
        ],
        check=True,
    )


def run(what, cpus=CPUS, launch=(COMMAND, "run", "--"), **settings):
    """(stdout, stderr) of a program that must end well."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("WEFT_", "OMP_", "TCM_", "LD_"))}
    settings = {"WEFT_NUM_CPUS": cpus} | settings
    done = finished(
        [*launch, PROGRAM, str(cpus), what],
        timeout=240,
        env=kept | {name: str(value) for name, value in settings.items()},
    )
    if done.returncode != 0:
        raise AssertionError(f"{what}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout, done.stderr


class Libraries(unittest.TestCase):
    def found(self, **settings):
        return run("libraries", **settings)[0].split()

    def test_weft_answers_the_search(self):
        """The wheel's own folder is in the program's RPATH, and has a library of that name."""
        self.assertTrue((VENV / "lib/libtcm.so.1").exists())
        self.assertEqual(self.found(), [f"{RUNTIME}/libgomp.so.1", f"{RUNTIME}/libtcm.so.1"])

    def test_on_the_path_of_libraries(self):
        found = self.found(launch=(), LD_LIBRARY_PATH=RUNTIME)
        self.assertIn(f"{RUNTIME}/libgomp.so.1", found)

    def test_not_wanted(self):
        self.assertNotIn(f"{RUNTIME}/libtcm.so.1", self.found(WEFT_ADOPT_LIBRARIES="false"))
        out, err = run("alone", 2, WEFT_STATS="all")
        self.assertIn("of oneTBB", err)
        out, err = run("explicit_concurrency", WEFT_STATS="all", TCM_ENABLE="0")
        self.assertNotIn("of oneTBB", err)


class Programs(unittest.TestCase):
    def test_all(self):
        for what in (
            "alone explicit_concurrency nested_arenas several_arenas side_by_side in_turns tbb_in_openmp "
            "openmp_in_tbb enqueued_while_members_spin reduction forks forks_beside many_threads"
        ).split():
            with self.subTest(what):
                run(what)


class Variants(unittest.TestCase):
    def test_one_cpu(self):
        for what in "explicit_concurrency", "many_threads", "enqueued_while_members_spin":
            run(what, 1)

    def test_modes(self):
        for mode in "exclusive", "counting":
            run("many_threads", WEFT_MODE=mode)

    def test_passive_waiting(self):
        for what in "in_turns", "side_by_side":
            run(what, OMP_WAIT_POLICY="passive")

    def test_node(self):
        for what in "side_by_side", "many_threads", "forks":
            run(what, WEFT_NODE="true")


if __name__ == "__main__":
    unittest.main()
