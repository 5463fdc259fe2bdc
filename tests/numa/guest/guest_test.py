#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft on a machine with two NUMA nodes, which an emulator makes: first touch, policies, calls, balancing, and whether
`weft numa` finds the faults that programs have, and none in those without.

WEFT_BUILD_DIR is the build, WEFT_TEST_REPEAT how often each program is looked at. Every command runs in a guest of its
own kernel; those of a class share one.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import guest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
BUILD = pathlib.Path(os.environ.get("WEFT_BUILD_DIR", ROOT / "build/release"))
LIBRARIES = BUILD / "lib/weft"
WEFT = BUILD / "bin/weft"
DGEMV = BUILD / "bench/dgemv"
FAULTS = {
    "serial_init": "serial_init",
    "wrong_node": "wrong_node",
    "bound_to_one": "wrong_node",
    "mismatched": "mismatched",
    "balanced_away": "balanced_away",
}
CLEAN = ("parallel_init", "interleaved", "read_mostly_shared", "one_thread", "dynamic", "short_lived")
REPEAT = int(os.environ.get("WEFT_TEST_REPEAT", "1"))

CALLS = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <weft/weft.h>
enum { PAGES = 512, PAGE = 4096 };
static char *memory;
static void show(const char *what, int result) {
  int nodes[3] = {0, 0, 0};
  for (int i = 0; i < PAGES; i++) nodes[weft_numa_node_of(memory + i * PAGE) + 1]++;
  printf("%s %d %d %d %d\n", what, result, nodes[0], nodes[1], nodes[2]);
}
int main(void) {
  memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  printf("nodes %d\n", weft_numa_nodes());
  show("new", 0);
  memset(memory, 1, PAGES * PAGE / 2);
  show("interleave", weft_numa_interleave(memory, PAGES * PAGE));
  memset(memory, 1, PAGES * PAGE);
  show("touched", 0);
  show("bind", weft_numa_bind(memory, PAGES * PAGE, 1));
  show("split", weft_numa_split(memory, PAGES * PAGE, 4));
  printf("halves %d %d\n", weft_numa_node_of(memory), weft_numa_node_of(memory + (PAGES - 1) * PAGE));
  show("absent", weft_numa_bind(memory, PAGES * PAGE, 2));
  return 0;
}
"""


def build(folder: pathlib.Path, source: pathlib.Path, *more: str) -> pathlib.Path:
    program = folder / source.stem
    subprocess.run(
        ["gcc", "-O2", "-g", "-fopenmp", f"-I{ROOT}/include", source, "-o", program, "-lm", *more], check=True
    )
    return program


def in_guest(
    commands: dict[str, str], files: list[pathlib.Path], timeout: float = 600, **machine: int
) -> dict[str, tuple[int, str]]:
    """What each command has printed, and its exit code. `machine`: nodes, cpus and memory as of guest.run()."""
    script = "\n".join(f"echo '[[{name}]]'; ( {command} ); echo \"[[end $?]]\"" for name, command in commands.items())
    _, printed = guest.run(script, files, timeout=timeout, **machine)
    found = re.findall(r"\[\[(?!end)(.*?)\]\]\n(.*?)\[\[end (\d+)\]\]", printed, re.S)
    return {name: (int(code), text) for name, text, code in found}


class InGuest(unittest.TestCase):
    results: dict[str, tuple[int, str]] = {}

    def result(self, name: str) -> str:
        self.assertIn(name, self.results)
        code, text = self.results[name]
        self.assertEqual(code, 0, text)
        return text


class Placement(InGuest):
    """Products of a matrix by threads on both nodes: which share of it is read from the other node."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.folder.name)
        source = folder / "calls.c"
        source.write_text(CALLS)
        calls = build(folder, source, f"-L{LIBRARIES}", "-l:libgomp.so.1", f"-Wl,-rpath,{LIBRARIES}")
        stacks = build(
            folder,
            HERE.parent / "runtime/stacks.c",
            "-D_GNU_SOURCE",
            f"-L{LIBRARIES}",
            "-l:libgomp.so.1",
            f"-Wl,-rpath,{LIBRARIES}",
        )
        run = f"{WEFT} run --numa"
        bound = "OMP_PROC_BIND=spread OMP_PLACES=cores"
        cls.results = in_guest(
            {
                "libgomp serial": f"{bound} {DGEMV} 1600 1600 2 serial",
                "libgomp parallel": f"{bound} {DGEMV} 1600 1600 2 parallel",
                "weft serial": f"{run} spread -- {DGEMV} 1600 1600 2 serial",
                "weft parallel": f"{run} spread -- {DGEMV} 1600 1600 2 parallel",
                "compact parallel": f"{run} compact -- {DGEMV} 1600 1600 2 parallel",
                "interleave": f"{bound} {run} interleave -- {DGEMV} 1600 1600 2 serial",
                "bind": f"{bound} {run} bind=1 -- {DGEMV} 1600 1600 2 parallel",
                "preferred": f"{bound} {run} preferred=1 -- {DGEMV} 1600 1600 2 parallel",
                "balanced": f"echo 1 > /proc/sys/kernel/numa_balancing; {run} spread -- {DGEMV} 1600 1600 16s serial",
                "absent": f"{run} bind=2 -- true; test $? -eq 2",
                "calls": f"WEFT_NUMA=spread {calls}",
                "stacks": f"{run} local -- {stacks}",
            },
            [WEFT, DGEMV, LIBRARIES / "libgomp.so.1", LIBRARIES / "libweft-audit.so", calls, stacks],
        )

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def remote(self, name: str) -> float:
        return json.loads(self.result(name))["remote_before"]

    def pages(self, name: str) -> dict[str, int]:
        return json.loads(self.result(name))["pages"]

    def test_what_one_thread_touches_first_is_remote_for_half(self) -> None:
        for runtime in ("libgomp", "weft"):
            self.assertAlmostEqual(self.remote(f"{runtime} serial"), 0.5, delta=0.02)

    def test_what_threads_touch_themselves_is_local(self) -> None:
        for runtime in ("libgomp", "weft"):
            self.assertLessEqual(self.remote(f"{runtime} parallel"), 0.02)
        self.assertLessEqual(self.remote("compact parallel"), 0.02)

    def test_policies(self) -> None:
        nodes = self.pages("interleave")
        self.assertAlmostEqual(nodes["0"] / (nodes["0"] + nodes["1"]), 0.5, delta=0.02)
        self.assertEqual(list(self.pages("bind")), ["1"])
        self.assertEqual(list(self.pages("preferred")), ["1"])
        self.assertIn("memory on node 0-1", self.result("absent"))

    def test_balancing_moves_pages_to_where_they_are_used(self) -> None:
        found = json.loads(self.result("balanced"))
        self.assertGreater(found["migrated"], 0)
        self.assertLess(found["remote"], found["remote_before"])

    def test_stacks_lie_where_user_level_threads_run(self) -> None:
        own, other = map(int, self.result("stacks").split())
        self.assertGreater(own, 4 * other)

    def test_calls(self) -> None:
        self.assertEqual(
            self.result("calls").splitlines(),
            [
                "nodes 2",
                "new 0 512 0 0",
                "interleave 0 256 128 128",
                "touched 0 0 256 256",
                "bind 0 0 0 512",
                "split 0 0 256 256",
                "halves 0 1",
                "absent 22 0 256 256",
            ],
        )


class Verdicts(InGuest):
    """Programs with planted faults, and programs without."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.folder.name)
        programs = [build(folder, HERE.parent / "programs" / f"{name}.c") for name in (*FAULTS, *CLEAN)]
        files = [
            WEFT,
            LIBRARIES / "libgomp.so.1",
            LIBRARIES / "libweft-audit.so",
            LIBRARIES / "libweft-numa.so",
            LIBRARIES / "libweft-numa-protect.so",
            *programs,
        ]
        commands = {}
        for i in range(REPEAT):
            for program in programs:
                # Balancing would mend what a fault is about while it is looked at: where it is the fault, the program
                # moves the pages. Small ones, since a large one belongs to one node with all that stands on it.
                more = "move" if program.stem == "balanced_away" else ""
                for way, options in (("", "--protect"), (" by faults", "")):
                    commands[f"{program.stem} {i}{way}"] = (
                        f"echo 0 > /proc/sys/kernel/numa_balancing; "
                        f"echo never > /sys/kernel/mm/transparent_hugepage/enabled; "
                        f"OMP_PROC_BIND=spread OMP_PLACES=cores {WEFT} numa {options} --json /tmp/report "
                        f"-- {program} 32 {3 if options else 4} {more} > /dev/null 2> /tmp/said; "
                        f"cat /tmp/report; echo; cat /tmp/said"
                    )
        cls.results = in_guest(commands, files, timeout=900)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def arrays(self, name: str) -> list[dict]:
        report, _ = json.JSONDecoder().raw_decode(self.result(name))
        return [array for process in report["processes"] for array in process["arrays"]]

    def test_planted_faults_are_found(self) -> None:
        for program, verdict in FAULTS.items():
            for i in range(REPEAT):
                with self.subTest(program, round=i):
                    arrays = self.arrays(f"{program} {i}")
                    self.assertIn(verdict, [array["verdict"] for array in arrays], self.result(f"{program} {i}"))

    def test_none_is_invented(self) -> None:
        for program in CLEAN:
            for i in range(REPEAT):
                for way in ("", " by faults"):
                    with self.subTest(program, round=i, way=way):
                        for array in self.arrays(f"{program} {i}{way}"):
                            self.assertFalse(array["fault"], json.dumps(array)[:2000])

    def test_without_protection(self) -> None:
        """Who touches first is known by page faults, who uses it by the model, and nothing is claimed beyond it."""
        for i in range(REPEAT):
            with self.subTest(round=i):
                (serial,) = self.arrays(f"serial_init {i} by faults")
                self.assertEqual((serial["verdict"], serial["modelled"]), ("serial_init", True), json.dumps(serial))
                self.assertEqual(serial["first_touch"]["threads"], 1, json.dumps(serial))
                (parallel,) = self.arrays(f"parallel_init {i} by faults")
                self.assertGreater(parallel["first_touch"]["threads"], 1, json.dumps(parallel))
                self.assertEqual(parallel["verdict"], "local", json.dumps(parallel))


if __name__ == "__main__":
    try:
        guest.machine(2, 4, 2048, "tcg")
    except guest.NoGuest as missing:
        print(missing, file=sys.stderr)
        sys.exit(77)
    unittest.main(verbosity=2)
