# SPDX-License-Identifier: Apache-2.0
"""`weft report` that is asked to end, cannot write, or was killed."""

import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

from command_test import DEATHS, DIES, WEFT, CommandTest

# Says that it is there, and ends in order at SIGINT and SIGTERM.
WAITS = r"""
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile sig_atomic_t asked;
static void ask(int number) { asked = number; }
int main(void) {
  signal(SIGINT, ask);
  signal(SIGTERM, ask);
#pragma omp parallel num_threads(2)
  usleep(10);
  puts("ready");
  fflush(stdout);
  while (!asked) usleep(1000);
  return asked == SIGINT ? 4 : 5;
}
"""


# Two members take two locks in turn, each the other one first.
HANGS = r"""
#include <omp.h>
#include <unistd.h>
int main(void) {
  omp_lock_t lock[2];
  omp_init_lock(&lock[0]);
  omp_init_lock(&lock[1]);
#pragma omp parallel num_threads(2)
  for (volatile int i = 0; i < 300000000; i++) {
  }
#pragma omp parallel num_threads(2)
  {
    const int me = omp_get_thread_num();
    omp_set_lock(&lock[me]);
    usleep(100000);
    omp_set_lock(&lock[1 - me]);
    omp_unset_lock(&lock[1 - me]);
    omp_unset_lock(&lock[me]);
  }
  return 0;
}
"""


class ReportEnds(CommandTest):
    def start(self, program):
        command = [WEFT, "report", "--quiet", "-o", str(self.folder / "page.html"), str(program)]
        # A group of its own, as a shell gives it.
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def test_signals_to_the_command_alone(self):
        program = self.build("waits", WAITS)
        for number, code in ((signal.SIGINT, 4), (signal.SIGTERM, 5)):
            with self.subTest(number=number):
                (self.folder / "page.html").unlink(missing_ok=True)
                process = self.start(program)
                process.send_signal(number)
                self.assertEqual((process.wait(timeout=20), process.stderr.read()), (code, ""))
                self.assertIn("<html", (self.folder / "page.html").read_text())

    def test_what_a_terminal_sends_is_not_sent_again(self):
        """Both get it by the terminal: the program once."""
        counts = WAITS.replace("asked = number", "asked += number")
        program = self.build(
            "counts", counts.replace("return", "for (int i = 0; i < 200; i++) usleep(1000);\n  return")
        )
        parent, child = os.forkpty()
        if parent == 0:
            os.execv(WEFT, [WEFT, "report", "--quiet", "-o", str(self.folder / "page.html"), str(program)])
        said = b""
        while b"ready" not in said:
            said += os.read(child, 100)
        time.sleep(0.1)
        os.write(child, b"\x03")
        _, status = os.waitpid(parent, 0)
        os.close(child)
        self.assertEqual(os.waitstatus_to_exitcode(status), 4)  # 2 signals would have made it 5

    def test_a_full_disk(self):
        program = self.build("waits_not", WAITS.replace("!asked", "0"))
        with pathlib.Path("/dev/full").open("w") as full:
            command = [WEFT, "report", "--quiet", "--json", "-", "-o", str(self.folder / "page.html")]
            for more, code in (((program,), 5), ((self.folder / "r.json",), 1)):
                with self.subTest(more=more):
                    self.report_of(program)
                    done = subprocess.run(
                        [*command, *map(str, more)], stdout=full, stderr=subprocess.PIPE, text=True, check=False
                    )
                    self.assertEqual(done.returncode, code)
                    self.one_complaint(done, "standard output", "No space left")

    def report_of(self, program):
        page = self.folder / "page.html"
        self.weft("report", "--quiet", "-o", page, "--json", self.folder / "r.json", program)

    def test_a_reader_that_has_gone(self):
        program = self.build("waits_not", WAITS.replace("!asked", "0"))
        self.report_of(program)
        read, write = os.pipe()
        os.close(read)
        command = [WEFT, "report", "--quiet", "--json", "-", "-o", str(self.folder / "page.html")]
        done = subprocess.run(
            [*command, str(self.folder / "r.json")], stdout=write, stderr=subprocess.PIPE, text=True, check=False
        )
        os.close(write)
        self.assertEqual(done.returncode, 1)
        self.one_complaint(done, "standard output", "Broken pipe")

    def test_programs_that_are_killed(self):
        """What was known some time before, and a note that says so; too early, a line."""
        program = self.build("dies", DIES)
        page = self.folder / "page.html"
        for how, code, why in DEATHS:
            with self.subTest(how=how):
                done = self.weft("report", "--json", self.folder / "r.json", "-o", page, program, how, ".so-far")
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(f"ended with code {code}", done.stderr)
                report = json.loads((self.folder / "r.json").read_text())
                self.assertIn(why.replace("s", "S", 1) if "signal" in why else why, report["run"]["notes"][0])
                self.assertIn("The figures are those of its first", report["run"]["notes"][0])
                self.assertIn("region", {site["kind"] for site in report["sites"]})
                page.unlink()
                done = self.weft("report", "-o", page, program, how)
                self.assertEqual((done.returncode, page.exists()), (code, False))
                self.one_complaint(done, why, "quarter of a second")

    def test_a_time_limit(self):
        page = self.folder / "page.html"
        stubborn = WAITS.replace("signal(SIGTERM, ask)", "signal(SIGTERM, SIG_IGN)")
        plain = stubborn.replace("SIG_IGN", "SIG_DFL")
        for name, source, code in (("waits", WAITS, 5), ("stubborn", stubborn, 0), ("plain", plain, 0)):
            with self.subTest(name=name):
                page.unlink(missing_ok=True)
                done = self.weft("report", "--time-limit", "1.5s", "--quiet", "-o", page, self.build(name, source))
                self.assertEqual((done.returncode, done.stderr), (code, ""))
                self.assertIn("<html", page.read_text())
        for time_limit in "", "s", "0", "-1", "5x", "1e9h":
            with self.subTest(time_limit=time_limit):
                done = self.weft("report", "--time-limit", time_limit, "true")
                self.assertEqual(done.returncode, 2)
                self.one_complaint(done, "--time-limit")

    def test_a_program_that_hangs(self):
        """It is said while it hangs, and in the report whatever has ended the program."""
        page, report = self.folder / "page.html", self.folder / "r.json"
        program = self.build("hangs", HANGS, "-g")
        command = [WEFT, "report", "-o", str(page), "--json", str(report)]
        for how in "limit", "interrupt", "running":
            with self.subTest(how=how):
                limit = ["--time-limit", "4s"] if how == "limit" else []
                process = subprocess.Popen(
                    [*command, *limit, str(program)], stderr=subprocess.PIPE, text=True, process_group=0
                )
                self.addCleanup(process.stderr.close)
                said = [process.stderr.readline() for _ in range(4)]
                self.assertIn("the program hangs (process ", said[0])
                self.assertIn("DEADLOCK: 2 threads can never go on. These wait for each other:", said[1])
                if how == "running":
                    number = re.search(r"process (\d+)", said[0])[1]
                    done = self.weft("report", "-o", page, "--json", report, number)
                    self.assertEqual((done.returncode, json.loads(report.read_text())["run"]["exit_code"]), (0, 0))
                if how != "limit":
                    process.send_signal(signal.SIGINT)
                code = process.wait(timeout=20)
                self.assertEqual(code, 0 if how == "limit" else 128 + signal.SIGINT)
                lines = json.loads(report.read_text())["run"]["deadlock"]
                self.assertIn("DEADLOCK: 2 threads", lines[0])
                for line in lines[1:]:
                    self.assertRegex(line, r"waits for lock 0x[0-9a-f]+, which \S+ has; at \S+ at hangs\.c:\d+")
                    self.assertIn(f"weft: report: {line}\n", said)
                text = process.stderr.read()
                self.assertIn(lines[0], text.splitlines()[1])
                self.assertIn("DEADLOCK", page.read_text())

    def test_a_program_that_hung_for_a_while(self):
        """Another signal opens the locks: what is over at the end is in no report."""
        report = self.folder / "r.json"
        source = HANGS.replace("#include <omp.h>", "#include <omp.h>\n#include <signal.h>").replace(
            "omp_lock_t lock[2];",
            """static omp_lock_t lock[2];
  void open_locks(int number) { omp_unset_lock(&lock[0]); omp_unset_lock(&lock[1]); }
  signal(SIGUSR1, open_locks);""",
        )
        program = self.build("recovers", source, "-g")
        command = [WEFT, "report", "--quiet", "-o", str(self.folder / "page.html"), "--json", str(report)]
        process = subprocess.Popen([*command, str(program)], stderr=subprocess.PIPE, text=True, process_group=0)
        self.addCleanup(process.stderr.close)
        self.assertIn("the program hangs (process ", process.stderr.readline())
        process.send_signal(signal.SIGUSR1)
        self.assertEqual(process.wait(timeout=20), 0)
        run = json.loads(report.read_text())["run"]
        self.assertEqual((run["deadlock"], run["stood_still"]), ([], 0))

    def test_a_process_that_runs(self):
        process = self.start(self.build("waits", WAITS))
        program = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0]
        report = self.folder / "running.json"
        command = ("report", "--quiet", "-o", self.folder / "running.html", "--json", report, program)
        end = time.monotonic() + 20
        while (done := self.weft(*command)).returncode != 0 and time.monotonic() < end:
            self.one_complaint(done, program, "has not been recorded for a second yet")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("The program still runs.", json.loads(report.read_text())["run"]["notes"][0])
        self.assertIn("<html", (self.folder / "running.html").read_text())
        for more in ("--cpus", "1"), ("--against", "stock"), ("--time-limit", "5"):
            with self.subTest(more=more):
                done = self.weft("report", *more, program)
                self.assertEqual(done.returncode, 2)
                self.one_complaint(done, more[0], f"process {program} runs already")
        self.assertEqual(self.weft("report", program, program).returncode, 2)
        process.send_signal(signal.SIGTERM)
        self.assertEqual((process.wait(timeout=20), process.stderr.read()), (5, ""))
        done = self.weft("report", str(os.getpid()))
        self.assertEqual(done.returncode, 1)
        self.one_complaint(done, f"process {os.getpid()} is not recorded", "weft threads")

    def test_programs_without_openmp(self):
        plain = self.build("plain", "int main(void) { return 0; }", "-Wl,--no-as-needed", "-lgomp")
        for program, words in ((plain, "linked with libgomp.so.1"), ("/bin/true", "-fopenmp")):
            with self.subTest(program=program):
                done = self.weft("report", "-o", self.folder / "page.html", program)
                self.assertEqual(done.returncode, 1)
                self.one_complaint(done, str(program), "no parallel region", words)
                self.assertNotIn("--stats", done.stderr)

    def folders(self, place):
        return {folder.name for folder in pathlib.Path(place).glob("weft-report-*")}

    def test_what_a_killed_command_has_left(self):
        program = self.build("waits", WAITS)
        before = self.folders("/dev/shm")
        killed, living = self.start(program), self.start(program)
        own = {
            process: {name for name in self.folders("/dev/shm") - before if f"-{process.pid}." in name}
            for process in (killed, living)
        }
        self.assertEqual([len(names) for names in own.values()], [1, 1])
        killed.kill()
        killed.wait()
        (name,) = own[killed]
        with tempfile.TemporaryDirectory() as elsewhere:
            # A link of the same dead process, and one whose name says nothing of a process.
            kept = pathlib.Path(elsewhere) / "kept"
            kept.write_text("x")
            link = pathlib.Path("/dev/shm") / (name[:-6] + "aaaaaa")
            link.symlink_to(elsewhere)
            self.addCleanup(link.unlink)
            other = pathlib.Path("/dev/shm") / "weft-report-1.x.Abcdef"
            other.mkdir()
            self.addCleanup(other.rmdir)
            self.report_of(self.build("waits_not", WAITS.replace("!asked", "0")))
            self.assertTrue(kept.exists())
            self.assertTrue(link.is_symlink())
            self.assertTrue(other.is_dir())
        self.assertFalse(own[killed] & self.folders("/dev/shm"))
        self.assertEqual(own[living] & self.folders("/dev/shm"), own[living])
        living.send_signal(signal.SIGTERM)
        self.assertEqual(living.wait(timeout=20), 5)
        self.assertFalse(own[living] & self.folders("/dev/shm"))
        # The program of the killed one goes on, in its group.
        os.killpg(killed.pid, signal.SIGTERM)


if __name__ == "__main__":
    unittest.main()
