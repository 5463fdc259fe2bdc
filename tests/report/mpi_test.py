#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`weft report` of several ranks leaves one report of all of them: by each MPI's launcher, and by environments that say
what a launcher does. Waits for messages are transfer, at the line of the call.

WEFT_REPORT_ALL=1 takes what waits for ranks that do not come, too.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import planted
from finished import finished

ALL = os.environ.get("WEFT_REPORT_ALL") == "1"
MPIS = [mpi for mpi in ("openmpi", "mpich") if shutil.which(f"mpicc.{mpi}") and shutil.which(f"mpiexec.{mpi}")]
SOURCE = planted.FOLDER / "uneven_ranks.c"
SMALL = r"""
#include <omp.h>
#include <stdlib.h>
#include <unistd.h>
int main(int count, char **words) {
#pragma omp parallel
  usleep(1000 * (count > 1 ? atoi(words[1]) : 1));
  return count > 2 ? atoi(words[2]) : 0;
}
"""
# No file of a rank's report can be written: the disk is full.
FULL = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
ssize_t write(int file, const void *data, size_t size) {
  char link[64], name[4096] = "";
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  if (readlink(link, name, sizeof name - 1) > 0 && strstr(name, ".part") != NULL && size > ROOM) {
    errno = ENOSPC;
    return -1;
  }
  return syscall(SYS_write, file, data, size);
}
"""
TIMEOUT_S = 60


def line_of(text: str) -> int:
    """The only line of the program that has it."""
    (line,) = (number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line)
    return line


class WithFolder(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.programs = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="weft-report-mpi-")))

    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weft-report-mpi-")))

    def check_files(self, *names: str) -> None:
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), sorted(names))

    def report(self, name: str = "report.json") -> dict:
        return json.loads((self.folder / name).read_text())

    def notes(self) -> str:
        return "\n".join(self.report()["run"]["notes"])


@unittest.skipUnless(MPIS, "there is no MPI")
class Launched(WithFolder):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        for mpi in MPIS:
            subprocess.run(
                [f"mpicc.{mpi}", "-g", "-O2", "-fopenmp", SOURCE, "-o", cls.programs / mpi],
                check=True,
                env=dict(os.environ, OMPI_CC=planted.GCC, MPICH_CC=planted.GCC),
            )

    def run_ranks(self, mpi: str, *arguments: str, ranks: int = 2) -> subprocess.CompletedProcess[str]:
        """Each rank on a CPU of its own where there are as many, since what others take is blocked."""
        bound = ["-bind-to", "core"] if len(os.sched_getaffinity(0)) >= ranks else []
        launcher = [f"mpiexec.{mpi}", *bound, "-n", str(ranks)]
        if mpi == "openmpi":
            launcher[1:1] = ["--allow-run-as-root", "--oversubscribe"]
        return finished(
            [*launcher, planted.WEFT, "report", "--mpi", "--json", "report.json", self.programs / mpi, *arguments],
            env=planted.environment(),
            cwd=self.folder,
            timeout=TIMEOUT_S,
        )

    def lost_at(self, report: dict, line: int, callee: str) -> float:
        """To transfer, at the call."""
        sites = [
            site
            for site in report["sites"]
            if site["callee"] == callee
            and site["place"]["line"] == line
            and site["place"]["file"].endswith(SOURCE.name)
        ]
        self.assertEqual(len(sites), 1, f"{callee} in line {line}: {[site['name'] for site in report['sites']]}")
        for loss, value in sites[0]["lost"].items():
            if loss != "transfer":
                self.assertEqual(value, 0, loss)
        self.assertEqual(sites[0]["useful"], 0)
        return sites[0]["lost"]["transfer"]

    def check_waits(self, mpi: str) -> None:
        done = self.run_ranks(mpi)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_files("report.json", "weft-report.html")
        self.assertEqual(done.stderr.count("weft report:"), 1, done.stderr)
        self.assertRegex(done.stderr, r"Rank 0 worked most .*, rank 1 least")
        report = self.report()
        ranks = report["ranks"]
        self.assertEqual([rank["rank"] for rank in ranks], [0, 1])
        self.assertEqual(report["run"]["cpus"], sum(rank["cpus"] for rank in ranks))
        self.assertEqual(len(report["timeline"]["cpus"]), report["run"]["cpus"])
        self.assertEqual((report["run"]["rank"], report["run"]["ranks"]), (-1, 2))
        # Half a second and 0.3 s by the program, of each CPU. What other processes take of it is theirs.
        cpus = ranks[1]["cpus"]
        received = self.lost_at(report, line_of("// ranks wait here"), "MPI_Recv")
        passed = self.lost_at(report, line_of("// and here"), "MPI_Barrier")
        self.assertGreater(received, 0.1 * cpus)
        self.assertGreater(passed, 0.05 * cpus)
        self.assertGreater(ranks[1]["lost"]["transfer"], 0.9 * (received + passed) - 0.05)
        self.assertLess(ranks[0]["lost"]["transfer"], 0.5 * ranks[1]["lost"]["transfer"])
        waited = {(row["rank"], row["call"], row["peer"]): row["count"] for row in report["messages"]}
        self.assertEqual(waited[1, "MPI_Recv", 0], 1)
        self.assertEqual(waited[0, "MPI_Send", 1], 1)
        self.assertEqual(waited[0, "MPI_Barrier", -1], 1)
        self.assertGreater(ranks[1]["waited"], 0.4)
        sums = sum(site["useful"] + sum(site["lost"].values()) for site in report["sites"])
        self.assertAlmostEqual(sums, report["run"]["cpus"] * report["run"]["seconds"], delta=0.05 * sums)

    def check_abort(self, mpi: str) -> None:
        began = time.monotonic()
        done = self.run_ranks(mpi, "abort")
        self.assertLess(time.monotonic() - began, 20)
        self.assertNotEqual(done.returncode, 0)
        self.check_files("report.json", "weft-report.html")
        self.assertIn("Rank 0 has left no report: signal 6 (Aborted) has ended it.", self.notes())
        self.assertIn("Rank 1 still ran when rank 0 ended with code 134", self.notes())
        self.assertGreater(self.lost_at(self.report(), line_of("// ranks wait here"), "MPI_Recv"), 0.2)

    def check_tasks(self, mpi: str) -> None:
        done = self.run_ranks(mpi, "tasks", ranks=3)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_files("report.json", "weft-report.html")
        self.assertEqual(len(self.report()["ranks"]), 3)
        self.assertGreater(self.lost_at(self.report(), line_of("// tasks wait here"), "MPI_Recv"), 0.1)

    def check_mpi_abort(self, mpi: str) -> None:
        self.assertNotEqual(self.run_ranks(mpi, "mpi_abort").returncode, 0)
        # Hydra kills all at once.
        if (self.folder / "report.json").exists():
            self.assertNotIn("called no OpenMP", self.notes())

    def check_silent(self, mpi: str) -> None:
        # To MPICH's launcher a rank that ends with 0 has ended well; rank 0 may end before it is told of an error.
        code = self.run_ranks(mpi, "silent").returncode
        if mpi == "openmpi":
            self.assertNotEqual(code, 0)
        self.check_files("report.json", "weft-report.html")
        self.assertIn("Rank 1 has left no report: it has ended without MPI_Finalize", self.notes())
        self.assertIn("Rank 0 still ran when rank 1 had ended without MPI_Finalize", self.notes())

    def check_exit(self, mpi: str) -> None:
        # To MPICH's launcher a rank that ends with 0 has ended well.
        code = self.run_ranks(mpi, "exit").returncode
        if mpi == "openmpi":
            self.assertNotEqual(code, 0)
        self.check_files("report.json", "weft-report.html")
        self.assertIn("Rank 0 still ran when rank 1 had ended without MPI_Finalize", self.notes())


def add_tests() -> None:
    for mpi in MPIS:
        # Hydra kills the others at once. Open MPI's launcher gives them a second, which takes that long.
        few = ("waits", "abort") if mpi == "mpich" else ("waits",)
        for case in ("waits", "abort", "mpi_abort", "tasks", "exit", "silent") if ALL else few:

            def test(self: Launched, mpi: str = mpi, case: str = case) -> None:
                getattr(self, f"check_{case}")(mpi)

            setattr(Launched, f"test_{mpi}_{case}", test)


class Told(WithFolder):
    """No MPI: environments like a launcher's."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.program = cls.programs / "small"
        subprocess.run(
            [planted.GCC, "-g", "-fopenmp", "-x", "c", "-", "-o", cls.program], input=SMALL, text=True, check=True
        )

    def start(
        self,
        rank: int,
        *command: object,
        ranks: int = 2,
        job: str = "job",
        page: str = "page.html",
        cpus: set[int] | None = None,
        **variables: str,
    ) -> subprocess.Popen[str]:
        json_name = page.replace("page.html", "report.json")
        if page == json_name:
            json_name = "report.json"
        report = [planted.WEFT, "report", "-o", page, "--json", json_name]
        return self.start_rank(
            rank, *report, *(command or [self.program]), ranks=ranks, job=job, cpus=cpus, **variables
        )

    def start_rank(
        self,
        rank: int,
        *command: object,
        ranks: int = 2,
        job: str = "job",
        cpus: set[int] | None = None,
        **variables: str,
    ) -> subprocess.Popen[str]:
        told = {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(ranks), "PMIX_NAMESPACE": job}
        bound = ["taskset", "--cpu-list", ",".join(map(str, cpus))] if cpus else []
        return subprocess.Popen(
            [*bound, *map(str, command)],
            env=planted.environment(**told, **variables),
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def folder_of_job(self) -> pathlib.Path:
        """Where its ranks meet, empty."""
        first = self.start(0, self.program, 20000)
        self.wait_for("0.here")
        (folder,) = self.folders()
        self.kill(first)
        shutil.rmtree(folder)
        return folder

    def wait_for(self, name: str) -> pathlib.Path:
        while not (found := list(self.folder.glob(f".page.html.*/{name}"))):
            time.sleep(0.02)
        return found[0]

    def end(self, *processes: subprocess.Popen) -> list[tuple[int, str]]:
        ends = [(process.communicate(timeout=TIMEOUT_S)[1], process.returncode) for process in processes]
        return [(code, said) for said, code in ends]

    def kill(self, process: subprocess.Popen) -> None:
        """The command, and then its program."""
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.kill()
        for child in children:
            os.kill(int(child), signal.SIGKILL)
        process.communicate()

    def folders(self) -> list[pathlib.Path]:
        return [path for path in self.folder.iterdir() if path.is_dir()]

    def test_one_of_all(self) -> None:
        ends = self.end(*(self.start(rank, ranks=3) for rank in range(3)))
        self.check_files("page.html", "report.json")
        self.assertEqual([code for code, _ in ends], [0, 0, 0])
        self.assertEqual(sum("The whole report: page.html" in said for _, said in ends), 1)
        self.assertEqual([rank["rank"] for rank in self.report()["ranks"]], [0, 1, 2])
        (sites,) = [site for site in self.report()["sites"] if site["kind"] == "region"] or [None]
        self.assertEqual(sites["count"], 3)

    def test_one_of_one(self) -> None:
        self.end(self.start(0, ranks=1))
        self.check_files("page.html", "report.json")
        self.assertEqual(len(self.report()["ranks"]), 1)

    def test_a_page_for_each_rank(self) -> None:
        self.end(*(self.start(rank, page="page.html-%r") for rank in range(2)))
        self.check_files("page.html-0", "page.html-1", "report.json-0", "report.json-1")
        self.assertEqual(self.report("report.json-1")["ranks"], [])

    def test_a_rank_without_openmp(self) -> None:
        ends = self.end(self.start(0), self.start(1, "/bin/true"))
        self.check_files("page.html", "report.json")
        self.assertEqual([code for code, _ in ends], [0, 0])
        self.assertIn(
            "Rank 1 has left no report: it has called no OpenMP, or has ended by _exit or MPI_Abort.", self.notes()
        )

    def test_none_has_openmp(self) -> None:
        ends = self.end(self.start(0, "/bin/true"), self.start(1, "/bin/true"))
        self.check_files()
        self.assertEqual(sorted(code for code, _ in ends), [0, 1])
        self.assertIn("Ranks 0 and 1 have left no report", "".join(said for _, said in ends))

    def test_a_rank_that_fails_does_not_wait_for_its_end(self) -> None:
        began = time.monotonic()
        long = self.start(0, self.program, 8000)
        while not list(self.folder.glob(".page.html.*/0.here")):
            time.sleep(0.02)
        ends = self.end(self.start(1, self.program, 300, 3))
        self.assertLess(time.monotonic() - began, 7)
        self.assertEqual(ends[0][0], 3)
        self.check_files("page.html", "report.json")
        self.assertIn("Rank 0 still ran when rank 1 ended with code 3, and is shown as until then.", self.notes())
        self.assertEqual([rank["exit_code"] for rank in self.report()["ranks"]], [0, 3])
        long.send_signal(signal.SIGTERM)
        self.end(long)
        self.check_files("page.html", "report.json")

    def test_what_another_job_of_that_name_has_left(self) -> None:
        """Nothing of it is in the report, and nobody waits for it."""
        first = self.start(0, self.program, 20000)
        while not list(self.folder.glob(".page.html.*/0.here")):
            time.sleep(0.02)
        (folder,) = self.folders()
        self.kill(first)
        head = {
            "rank": 1,
            "exit_code": 77,
            "why": "stale",
            "is_early": False,
            "program": "old",
            "host": "old",
            "cpus": "0",
            "began": 1,
        }
        for rank in range(2):
            (folder / f"{rank}.part").write_text(json.dumps(head | {"rank": rank}) + "\n{}")
            os.utime(folder / f"{rank}.part", (1, 1))
        (folder / "ending").write_text("1")
        os.utime(folder / "ending", (1, 1))
        self.end(self.start(0, self.program, 1), self.start(1, self.program, 500))
        self.check_files("page.html", "report.json")
        self.assertNotIn("stale", self.notes())
        self.assertEqual(len(self.report()["ranks"]), 2)

    def test_folders_of_jobs_that_were_killed_go(self) -> None:
        old = [self.start(rank, self.program, 20000, job="old") for rank in range(2)]
        while len(list(self.folder.glob(".page.html.*/*.here"))) < 2:
            time.sleep(0.02)
        for process in old:
            self.kill(process)
        self.assertEqual(len(self.folders()), 1)
        self.end(self.start(0), self.start(1))
        self.check_files("page.html", "report.json")

    def test_two_jobs_with_one_page(self) -> None:
        jobs = [self.start(rank, self.program, 200, job=job) for rank in range(2) for job in ("one", "two")]
        self.assertEqual([code for code, _ in self.end(*jobs)], [0] * 4)
        self.check_files("page.html", "report.json")
        self.assertEqual([rank["rank"] for rank in self.report()["ranks"]], [0, 1])

    def test_programs_one_after_the_other(self) -> None:
        """Rank 0 begins with its second one while rank 1 is in its first one."""
        first = self.start(0, self.program, 1), self.start(1, self.program, 400)
        self.end(first[0])
        self.end(*first[1:], self.start(0), self.start(1))
        self.check_files("page.html", "report.json")
        self.assertEqual(len(self.report()["ranks"]), 2)

    def test_programs_whose_ranks_end_apart(self) -> None:
        """Rank 0 still waits for its first one to be gathered when the other one's next one makes the folder anew."""
        script = '"$0" report -o page.html "$1" "$2"; "$0" report -o page.html --json report.json "$3" 300'
        other = self.programs / "other"
        other.unlink(missing_ok=True)
        shutil.copy(self.program, other)
        command = ["sh", "-c", script, planted.WEFT, self.program]
        ends = self.end(*(self.start_rank(rank, *command, ms, other) for rank, ms in enumerate((20, 1900))))
        self.assertEqual([code for code, _ in ends], [0, 0])
        self.check_files("page.html", "report.json")
        self.assertEqual([rank["rank"] for rank in self.report()["ranks"]], [0, 1])
        self.assertNotIn("Rank", self.notes())

    def test_a_program_whose_rank_is_ahead(self) -> None:
        """Its part of the one before is not gathered yet: nobody takes it away, and nobody takes it for this one's."""
        other = self.start(1, self.program, 1200)
        here = self.wait_for("1.here")
        head = {
            "rank": 0,
            "exit_code": 0,
            "why": "planted",
            "is_early": False,
            "program": "a",
            "host": "b",
            "cpus": "0",
        }
        began = json.loads(here.read_text())["came"]
        (here.parent / "0.part").write_text(json.dumps(head | {"began": began}))
        ahead = self.start(0, self.program, 1)
        while len(self.folders()) < 2:
            self.assertIsNone(ahead.poll())
            time.sleep(0.02)
        self.end(other)
        self.assertIn("Rank 0 has left no report: planted.", self.notes())
        self.end(self.start(1), ahead)
        self.check_files("page.html", "report.json")
        self.assertEqual([rank["rank"] for rank in self.report()["ranks"]], [0, 1])

    def test_different_programs(self) -> None:
        self.end(self.start(0), self.start(1, "/bin/sh", "-c", f"{self.program}; true"))
        self.assertIn(f"The ranks ran different programs: rank 1 /bin/sh, rank 0 {self.program}.", self.notes())

    def test_a_full_disk(self) -> None:
        for room, files in ((1000, ["page.html", "report.json"]), (0, [])):
            with self.subTest(room=room):
                library = self.programs / f"full{room}.so"
                build = [planted.GCC, "-shared", "-fPIC", f"-DROOM={room}", "-x", "c", "-", "-o", library]
                subprocess.run(build, input=FULL, text=True, check=True)
                ranks = [self.start(0, LD_PRELOAD=str(library))] if not files else []
                ranks = ranks or [self.start(0, LD_PRELOAD=str(library)), self.start(1)]
                ends = self.end(*ranks)
                self.assertEqual(ends[0][0], 1)
                self.assertRegex(ends[0][1], r"/\.page\.html\.\w+: No space left on device; name a page \(-o\)")
                self.assertNotIn("has been made without", ends[0][1])
                self.check_files(*files)
                if files:
                    self.assertIn("Rank 0 has left no report: what it knows could not be left", self.notes())
                    for file in files:
                        (self.folder / file).unlink()

    def test_folders_of_others(self) -> None:
        folder = self.folder_of_job()
        elsewhere = self.programs / "elsewhere"
        elsewhere.mkdir(exist_ok=True)
        for how in ("link", "open", "file"):
            with self.subTest(how=how):
                if how == "link":
                    folder.symlink_to(elsewhere)
                elif how == "open":
                    folder.mkdir()
                    folder.chmod(0o777)
                else:
                    folder.touch()
                ((code, said),) = self.end(self.start(0))
                self.assertEqual(code, 1)
                self.assertIn(f"{folder}, in which the ranks meet: it is no folder of this user's own", said)
                self.assertEqual(list(elsewhere.iterdir()), [])
                shutil.rmtree(folder) if how == "open" else folder.unlink()
        self.check_files()

    def test_files_of_others(self) -> None:
        """Pipes are not waited for, links not followed, and what is damaged ends nothing."""
        target = self.programs / "target"
        target.write_text("as it was")
        folder = self.folder_of_job()
        folder.mkdir(0o700)
        os.mkfifo(folder / "0.here")
        (folder / "0.here.new").symlink_to(target)
        (folder / "0.part.new").symlink_to(target)
        (folder / "1.here").write_text('{"machine": 1}')
        old = folder.with_name(folder.name[:-16] + "0" * 16)
        old.mkdir(0o700)
        (old / "0.here").write_text('{"machine": 1}')
        (old / "1.here").write_text('{"machine": "' + "x" * 40)
        ends = self.end(self.start(0), self.start(1))
        self.assertEqual([code for code, _ in ends], [0, 0])
        self.assertEqual(target.read_text(), "as it was")
        shutil.rmtree(old)
        self.check_files("page.html", "report.json")
        self.assertEqual(len(self.report()["ranks"]), 2)

    def test_a_page_that_is_no_file(self) -> None:
        for page in ("/dev/null", "-"):
            with self.subTest(page=page):
                ranks = [self.start(rank, self.program, 200, page=page) for rank in range(2)]
                seen = set()
                while ranks[0].poll() is None:
                    seen |= {folder.name for folder in self.folders()}
                    time.sleep(0.01)
                self.assertEqual([code for code, _ in self.end(*ranks)], [0, 0])
                self.assertTrue(all(name.startswith(".report.json.") for name in seen) and seen, seen)
                self.check_files("report.json")
                self.assertEqual(len(self.report()["ranks"]), 2)

    def test_ranks_on_the_same_cpus(self) -> None:
        (cpu, *_) = os.sched_getaffinity(0)
        self.end(*(self.start(rank, self.program, 100, cpus={cpu}) for rank in range(2)))
        self.assertRegex(self.notes(), r"The ranks on \S+ count 2 CPUs together, and may use 1: they share them")

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "there is one CPU")
    def test_ranks_on_cpus_of_their_own(self) -> None:
        cpus = list(os.sched_getaffinity(0))
        self.end(*(self.start(rank, self.program, 100, cpus={cpus[rank]}) for rank in range(2)))
        self.assertNotIn("they share them", self.notes())

    def test_what_is_damaged(self) -> None:
        other = self.start(1, self.program, 600)
        while not self.folders():
            time.sleep(0.02)
        first = self.start(0)
        while not (parts := list(self.folder.glob(".page.html.*/0.part"))):
            time.sleep(0.02)
        head = parts[0].read_text().splitlines()[0]
        parts[0].write_text(head + '\n{"format": "weft report 1"}')
        self.end(first, other)
        self.check_files("page.html", "report.json")
        self.assertIn("Rank 0 has left no report: not a complete report of weft: run: is missing", self.notes())

    def test_a_folder_that_cannot_be_made(self) -> None:
        ends = self.end(self.start(0, page="none/page.html"))
        self.assertEqual(ends[0][0], 1)
        self.assertIn("none/page.html: there is no folder none; make it", ends[0][1])

    def refused(self, *options: str) -> str:
        """What a rank says whose options are refused before the program runs."""
        done = finished(
            [planted.WEFT, "report", *options, self.program],
            env=planted.environment(OMPI_COMM_WORLD_RANK="0", OMPI_COMM_WORLD_SIZE="2", PMIX_NAMESPACE="job"),
            cwd=self.folder,
        )
        self.assertEqual(done.returncode, 2)
        return done.stderr

    def test_a_page_by_rank_and_one_for_all(self) -> None:
        said = self.refused("-o", "page-%r.html", "--json", "report.json")
        self.assertIn("report.json: each rank would write it; put %r into its name", said)

    def test_a_second_run_of_a_rank(self) -> None:
        """Launchers let a rank use MPI once."""
        said = self.refused("--mpi", "--against", "stock")
        self.assertIn("--against stock: a rank of MPI can be started once", said)
        self.check_files()

    @unittest.skipUnless(ALL, "make test-report takes it")
    def test_a_rank_that_is_never_seen(self) -> None:
        self.end(self.start(0))
        self.check_files("page.html", "report.json")
        self.assertIn("Rank 1 has not been seen", self.notes())

    @unittest.skipUnless(ALL, "make test-report takes it")
    def test_who_has_ended_leaves_it_to_the_last_one(self) -> None:
        began = time.monotonic()
        last = self.start(1, self.program, 8000)
        ends = self.end(self.start(0))
        self.assertLess(time.monotonic() - began, 7)
        self.assertNotIn("weft report:", ends[0][1])
        self.end(last)
        self.check_files("page.html", "report.json")
        self.assertEqual(len(self.report()["ranks"]), 2)

    @unittest.skipUnless(ALL, "make test-report takes it")
    def test_a_rank_without_openmp_ends_first(self) -> None:
        """Which is no failure, also with MPI."""
        last = self.start(1, self.program, 7000)
        self.end(self.start_rank(0, planted.WEFT, "report", "--mpi", "-o", "page.html", "/bin/true"))
        self.end(last)
        self.check_files("page.html", "report.json")
        self.assertIn("Rank 0 has left no report: it has called no OpenMP", self.notes())
        self.assertNotIn("still ran", self.notes())
        self.assertGreater(self.report()["run"]["seconds"], 6.9)

    @unittest.skipUnless(ALL, "make test-report takes it")
    def test_programs_whose_ranks_end_far_apart(self) -> None:
        """Rank 0 is done with both when the other one begins with its second one."""
        script = (
            '"$0" report -o one.html --json one.json "$1" "$2"; "$0" report -o one.html --json report.json "$1" 300'
        )
        command = ["sh", "-c", script, planted.WEFT, self.program]
        ends = self.end(*(self.start_rank(rank, *command, ms) for rank, ms in enumerate((20, 13000))))
        self.assertEqual([code for code, _ in ends], [0, 0])
        self.check_files("one.html", "one.json", "report.json")
        for name in ("one.json", "report.json"):
            self.assertEqual([rank["rank"] for rank in self.report(name)["ranks"]], [0, 1])
        self.assertGreater(self.report("one.json")["run"]["seconds"], 12.9)
        self.assertLess(self.report()["run"]["seconds"], 5)

    @unittest.skipUnless(ALL, "make test-report takes it")
    def test_a_rank_whose_command_is_killed(self) -> None:
        killed = self.start(1, self.program, 500)
        while not list(self.folder.glob(".page.html.*/1.here")):
            time.sleep(0.02)
        killed.kill()
        self.end(self.start(0), killed)
        self.check_files("page.html", "report.json")
        self.assertRegex(self.notes(), re.escape("Rank 1 has left no report: weft report was killed there."))


add_tests()

if __name__ == "__main__":
    unittest.main(verbosity=2)
