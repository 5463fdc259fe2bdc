# SPDX-License-Identifier: Apache-2.0
"""`weft report` of files: traces that are made up, so that each figure is known, one of a real program, and reports."""

import collections
import copy
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

from command_test import CLANG, DEATHS, DIES, GCC, WEFT, CommandTest

# By recorded.c there, on two CPUs, under a weft of before the recorders had a table of words.
RECORDED = pathlib.Path(__file__).resolve().parents[1] / "report/recorded"
MS = 1000  # microseconds, as traces have them
PROGRAM = r"""
static volatile double sink;
static void busy(long n) { double s = 0; for (long i = 0; i < n; i++) s += i * 0.5; sink = s; }
__attribute__((noinline)) static void inner(void) {
#pragma omp parallel for num_threads(2) schedule(dynamic)
  for (int i = 0; i < 4; i++) busy(200000);
  sink = 1;  // else the call is a jump
}
__attribute__((noinline)) static void uneven(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < 2; i++) busy(200000 + 2000000L * i);
#pragma omp critical
    busy(1000);
#pragma omp barrier
#pragma omp single
    for (int i = 0; i < 5; i++) {
#pragma omp task
      busy(20000);
    }
#pragma omp masked
    inner();
  }
  sink = 2;
}
int main(void) {
  for (int k = 0; k < 10; k++) uneven();
  return 0;
}
"""


# As OpenBLAS's threads wait for each other inside a region.
YIELDS = r"""
#include <sched.h>
int main(void) {
  for (int k = 0; k < 30; k++) {
    volatile int turn = 0;
#pragma omp parallel num_threads(8)
    for (int i = 0; i < 20; i++) {
#pragma omp atomic
      turn++;
      while (turn < 8 * (i + 1)) sched_yield();
      for (volatile int n = 0; n < 20000; n++) {
      }
    }
  }
  return 0;
}
"""


class Made:
    """A trace of two CPUs. Times are milliseconds; context 0 is the thread of the program's."""

    def __init__(self, end, contexts=2):
        self.events = []
        self.places = {}
        self.run = {
            "format": "weft trace 2",
            "nanoseconds": end * 1e6,
            "nanoseconds_before": 0,
            "cpu_before": 0,
            "cpu": contexts * end * 1e6,
            "version": "weft 0",
            "process": 7,
            "host": "made-up",
            "began": 0,
            "cpus": 2,
            "others_cpu": 0,
            "memory_nodes": 1,
            "memory_on_one_node": 0,
            "command": ["./made"],
            "settings": {},
            "threads": [],
            "maps": "",
            "runtime": 0,
            "roots": [[0, 0, end * 1e6]],
        }
        self.other = {"lost": 0, "rank": -1, "ranks": 0, "host": "made-up", "began": 5, "together": 0}

    def add(self, category, name, carrier, begin, end, at=None, **more):
        args = dict(more)
        if at:
            args["at"] = at
            self.places.setdefault(at, 0x1000 + 16 * len(self.places))
        event = {"ph": "X", "pid": 1, "tid": carrier, "name": name, "cat": category}
        self.events.append(event | {"ts": begin * MS, "dur": (end - begin) * MS, "args": args})
        return self

    def member(self, number, carrier, begin, end, context=None, team=1, **more):
        context = number if context is None else context
        what = {"team": team, "member": number, "of": 2, "context": context}
        return self.add("member", "team", carrier, begin, end, "region", **(what | more))

    def wait(self, name, carrier, begin, end, at=None, **more):
        return self.add("wait", name, carrier, begin, end, at, level=1, **more)

    def text(self):
        places = [[name, address, ""] for name, address in self.places.items()]
        other = self.other | {"run": self.run, "places": places}
        return json.dumps({"traceEvents": self.events, "otherData": other})


class ReportFiles(CommandTest):
    def report(self, *arguments, **more):
        return self.weft("report", "-o", self.folder / "page.html", *arguments, **more)

    def read(self, trace):
        """The report of a made-up trace; all CPU time is handed out, and no more."""
        file = self.folder / "made.json"
        file.write_text(trace if isinstance(trace, str) else trace.text())
        done = self.report("--quiet", "--json", self.folder / "report.json", file)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        made = json.loads((self.folder / "report.json").read_text())
        handed_out = sum(site["useful"] + sum(site["lost"].values()) for site in made["sites"])
        self.assertAlmostEqual(handed_out, made["run"]["cpus"] * made["run"]["seconds"], places=9)
        return made

    def lost(self, made, kind, why):
        """Milliseconds."""
        return round(sum(site["lost"][why] for site in made["sites"] if site["kind"] == kind) * 1e3, 6)

    def useful(self, made, kind):
        return round(sum(site["useful"] for site in made["sites"] if site["kind"] == kind) * 1e3, 6)

    def test_imbalance_and_serial_parts(self):
        trace = Made(20).member(0, 0, 2, 10, requested=4, opened=1 * MS).member(1, 1, 2, 10)
        made = self.read(trace.wait("end of the region", 1, 6, 10))
        self.assertEqual(self.useful(made, "region"), 8 + 4)
        # While it is opened the other member is not there yet.
        self.assertEqual(self.lost(made, "region", "imbalance"), 4 + 1)
        self.assertEqual(self.lost(made, "region", "overhead"), 1)
        self.assertEqual(self.useful(made, "serial"), 11)
        self.assertEqual(self.lost(made, "serial", "serial"), 11)
        region = next(site for site in made["sites"] if site["kind"] == "region")
        self.assertEqual((region["count"], region["members"], region["requested"]), (1, 2, 4))
        self.assertEqual((region["lengths"]["timed"], round(region["lengths"]["mean"] * 1e3, 6)), (1, 9))
        self.assertTrue(made["run"]["is_trace"])

    def test_a_loop_is_blamed_for_the_wait_behind_it(self):
        trace = Made(10)
        for number in (0, 1):
            trace.member(number, number, 0, 10)
            trace.add("work", "loop", number, 0, 10 if number == 0 else 4, "loop", level=1, iterations=100)
        made = self.read(trace.wait("barrier of a construct", 1, 4, 10, "loop"))
        loop = next(site for site in made["sites"] if site["kind"] == "loop")
        self.assertEqual((loop["count"], loop["iterations"]), (1, 100))
        self.assertEqual(self.lost(made, "loop", "imbalance"), 6)

    def test_critical_regions(self):
        """Who holds it works in it, though the trace has no slice for that."""
        trace = Made(10).member(0, 0, 0, 10).wait("waits for critical", 0, 1, 1.001, "critical", held=5999)
        trace.member(1, 1, 0, 10).wait("waits for critical", 1, 2, 7, "critical", held=1000)
        made = self.read(trace.wait("end of the region", 1, 9, 10))
        critical = next(site for site in made["sites"] if site["kind"] == "critical")
        self.assertEqual(critical["count"], 2)
        self.assertEqual(self.lost(made, "critical", "synchronisation"), 5.001)
        self.assertEqual(self.useful(made, "critical"), 5.999 + 1)

    def test_contexts_that_pause(self):
        """Member 1 waits for a lock without a CPU: the CPU that nobody uses is lost by the lock."""
        trace = Made(10).member(0, 0, 0, 10)
        trace.member(1, 1, 0, 3, paused=True).wait("waits for a lock", 1, 2, 3, "lock")
        made = self.read(trace.member(1, 1, 7, 10).wait("waits for a lock", 1, 7, 8, "lock"))
        lock = next(site for site in made["sites"] if site["kind"] == "lock")
        self.assertEqual(lock["count"], 1)
        self.assertEqual(self.lost(made, "lock", "synchronisation"), 6)
        self.assertEqual(self.useful(made, "region"), 10 + 2 + 2)

    def test_tasks(self):
        """Counted where their region is, also those that a context of nobody's runs."""
        trace = Made(10, contexts=3).member(0, 0, 0, 10).member(1, 1, 0, 4).wait("end of the region", 1, 3, 4)
        trace.add("task", "task 1", 1, 4, 10, "task", task=1, team=1, context=9)
        made = self.read(trace)
        task = next(site for site in made["sites"] if site["kind"] == "task")
        self.assertEqual(made["sites"][task["parent"]]["kind"], "region")
        self.assertEqual((task["count"], round(task["useful"] * 1e3, 6)), (1, 6))

    def test_inner_regions(self):
        trace = Made(10).member(0, 0, 0, 10).member(1, 1, 0, 10)
        trace.add("member", "team", 1, 2, 9, "inner", team=2, member=0, of=1)
        made = self.read(trace)
        levels = {site["level"]: site for site in made["sites"] if site["kind"] == "region"}
        self.assertEqual(sorted(levels), [0, 1])
        self.assertEqual(round(levels[1]["useful"] * 1e3, 6), 7)

    def test_no_cpu_for_a_quarter_of_the_work(self):
        trace = Made(10).member(0, 0, 0, 10).member(1, 1, 0, 10)
        trace.run["cpu"] = 15e6
        made = self.read(trace)
        self.assertEqual((self.useful(made, "region"), self.lost(made, "region", "blocked")), (15, 5))
        self.assertTrue(any("25 %" in note for note in made["run"]["notes"]), made["run"]["notes"])

    def test_messages(self):
        trace = Made(10).add("mpi", "MPI_Recv", 200000, 2, 5, peer=1, context=0)
        made = self.read(trace)
        self.assertEqual(made["messages"], [{"call": "MPI_Recv", "peer": 1, "count": 1, "waited": 0.003, "rank": -1}])
        self.assertEqual(self.lost(made, "serial", "transfer"), 6)

    def test_a_pause_awaits_messages_in_a_call_alone(self):
        for call, why in ((2.5, 7.5), "transfer"), ((8, 9), "blocked"), (None, "blocked"):
            with self.subTest(call=call):
                trace = Made(10).member(0, 0, 0, 10).member(1, 1, 0, 3, paused=True).member(1, 1, 7, 10)
                if call:
                    trace.add("mpi", "MPI_Recv", 200000, *call, peer=1, context=1)
                made = self.read(trace)
                self.assertEqual(
                    {loss: self.lost(made, "region", loss) for loss in ("transfer", "blocked")},
                    {"transfer": 0, "blocked": 0, why: 4},
                )

    def test_members_that_let_others_run_await_no_messages(self):
        """In the recorder's account as in that of a trace."""
        program = self.build("yields", YIELDS)
        trace, report = self.folder / "trace.json", self.folder / "yields.json"
        done = self.weft("report", "-o", self.folder / "page.html", "--json", report, "--trace", trace, program)
        self.assertEqual(done.returncode, 0, done.stderr)
        for made in json.loads(report.read_text()), self.read(trace.read_text()):
            self.assertEqual(sum(site["lost"]["transfer"] for site in made["sites"]), 0)

    def counts(self, made):
        """What was met, by kind and line."""
        counts = collections.Counter()
        for site in made["sites"]:
            key = (site["kind"], site["place"]["line"])
            for what in ("count", "iterations"):
                counts[(*key, what)] += site[what]
            counts[(*key, "members")] = max(counts[(*key, "members")], site["members"])
        return counts

    def test_a_real_program(self):
        """The trace of a program has what the recorder counts of it, at the same lines."""
        program = self.build("real", PROGRAM, "-g")
        trace, json_file = self.folder / "trace.json", self.folder / "sampled.json"
        done = self.weft("trace", "--cpus", 2, "-o", trace, program)
        # On a machine with one CPU a line says that these are more than it has.
        complaints = [line for line in done.stderr.splitlines() if "--cpus 2" not in line]
        self.assertEqual((done.returncode, complaints), (0, []))
        made = self.read(trace.read_text())
        self.assertEqual(made["run"]["command"], [str(program)])
        self.assertEqual(made["run"]["cpus"], 2)
        self.assertEqual(self.report("--cpus", 2, "--json", json_file, program).returncode, 0)
        self.assertEqual(self.counts(made), self.counts(json.loads(json_file.read_text())))
        kinds = {site["kind"] for site in made["sites"] if site["count"] > 0}
        self.assertGreaterEqual(kinds, {"region", "loop", "critical", "barrier", "single", "task", "serial"})
        self.assertGreater(self.lost(made, "loop", "imbalance"), 0)
        # Built again, and gone.
        os.utime(program, (time.time() + 100, time.time() + 100))
        self.assertIn("real was changed", json.dumps(self.read(trace.read_text())["run"]["notes"]))
        program.unlink()
        self.assertIn("real is not there", json.dumps(self.read(trace.read_text())["run"]["notes"]))

    def test_lines_where_the_system_can_read_them(self):
        """By libdw, which need not be there: then functions are named."""
        program = self.build("real", PROGRAM, "-g")
        empty = self.build("empty", "int nothing;", "-shared", "-fPIC").rename(self.folder / "libdw.so.1")
        json_file = self.folder / "sites.json"
        for variables, wanted, other in (
            ({}, "real.c:", "uneven (real)"),
            ({"LD_LIBRARY_PATH": str(empty.parent)}, "uneven (real)", "real.c:"),
        ):
            with self.subTest(**variables):
                done = self.report("--cpus", 2, "--json", json_file, program, env=variables)
                self.assertEqual(done.returncode, 0, done.stderr)
                text = json_file.read_text()
                self.assertIn(wanted, text)
                self.assertNotIn(other, text)
                self.assertEqual("libdw1" in "".join(json.loads(text)["run"]["notes"]), bool(variables))

    def test_a_program_that_does_not_start(self):
        script = self.folder / "starts_nothing"
        script.write_text("#!/bin/sh\nexec nothing-by-this-name\n")
        script.chmod(0o755)
        done = self.report("--cpus", 2, script)
        self.assertEqual(done.returncode, 127)
        self.assertIn(
            "starts_nothing has ended with code 127, as a program does that could not be started", done.stderr
        )
        self.assertNotIn("opened no parallel region", done.stderr)

    def test_a_page_and_a_trace_of_one_run(self):
        """Each has the counts of the run, as if it were alone."""
        trace, json_file = self.folder / "both-%p.json", self.folder / "page.json"
        for compiler in (GCC, CLANG):
            with self.subTest(compiler=compiler):
                program = self.build("both", PROGRAM, "-g", compiler=compiler)
                done = self.report("--quiet", "--cpus", 2, "--trace", trace, "--json", json_file, program)
                complaints = [line for line in done.stderr.splitlines() if "--cpus 2" not in line]
                self.assertEqual((done.returncode, complaints), (0, []))
                made = json.loads(json_file.read_text())
                [file] = self.folder.glob("both-*.json")
                self.assertEqual(self.counts(self.read(file.read_text())), self.counts(made))
                self.assertFalse(made["run"]["is_trace"])
                self.assertNotIn("WEFT_TRACE_FILE", made["run"]["settings"])
                file.unlink()
        # One that is killed leaves what was known before, in both.
        waits_for_both = "(access(file, F_OK) != 0 || access(arguments[3], F_OK) != 0)"
        dies = self.build("dies", DIES.replace("access(file, F_OK) != 0", waits_for_both))
        file = self.folder / "killed.json"
        how, code, _ = DEATHS[0]
        done = self.report("--quiet", "--trace", file, "--json", json_file, dies, how, ".so-far", file)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn("some time before", done.stderr)
        self.assertIs(json.loads(file.read_text())["otherData"]["cut_off"], True)
        self.assertGreater(len(json.loads(json_file.read_text())["sites"]), 1)
        for wanted, code, words in (
            ("/no/such/folder/t.json", 1, ["--trace", "there is no folder /no/such/folder"]),
            (json_file, 2, ["--trace", "--json"]),
            (self.folder, 1, ["--trace", "directory"]),
        ):
            done = self.report("--trace", wanted, "--json", json_file, dies)
            self.assertEqual((done.returncode, done.stdout), (code, ""))
            self.one_complaint(done, *words)

    def test_links_stay(self):
        """Where they lead to a file, to none yet, and to an open file that has no name any more."""
        trace = self.folder / "good.json"
        trace.write_text(Made(10).member(0, 0, 0, 10).text())
        link, file = self.folder / "link", self.folder / "behind.html"
        link.symlink_to("behind.html")
        for _ in range(2):
            done = self.weft("report", "--quiet", "-o", link, trace)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertTrue(link.is_symlink())
            self.assertIn("<html", file.read_text())
            self.assertFalse(file.is_symlink())
        link.unlink()
        link.symlink_to("/proc/self/fd/1")
        with tempfile.TemporaryFile() as unlinked:
            done = subprocess.run([WEFT, "report", "--quiet", "-o", link, trace], stdout=unlinked, check=False)
            self.assertEqual(done.returncode, 0)
            self.assertTrue(link.is_symlink())
            unlinked.seek(0)
            self.assertIn(b"<html", unlinked.read())

    def test_a_trace_that_is_lost(self):
        """Its folder goes while the program runs. There is a report, but not all that was asked for."""
        away = "#include <stdlib.h>\n" + PROGRAM.replace("int main(void) {", 'int main(void) { system("rm -r lost");')
        program = self.build("away", away)
        (self.folder / "lost").mkdir()
        done = self.report("--quiet", "--trace", "lost/trace.json", program, cwd=self.folder)
        self.assertEqual(done.returncode, 1)
        self.one_complaint(done, "lost/trace.json could not be written", "no folder")
        self.assertIn("<html", (self.folder / "page.html").read_text())

    def test_traces_that_are_none(self):
        good = Made(10).member(0, 0, 0, 10)
        old = json.loads(good.text())
        del old["otherData"]["run"], old["otherData"]["places"]
        merged = json.loads(good.text())
        merged["otherData"] = {"ranks": 2}
        two = copy.deepcopy(good)
        two.member(1, 1, 0, 10)
        two.events[-1]["pid"] = 2
        other = {"traceEvents": good.events}
        no_cpus = copy.deepcopy(good)
        no_cpus.run["cpus"] = "many"
        for text, words in (
            (json.dumps(old), ["another version"]),
            (json.dumps(merged), ["one rank"]),
            (two.text(), ["one rank"]),
            (json.dumps(other), ["another program"]),
            (good.text()[:-9], ["cut off"]),
            (good.text()[:90], ["cut off"]),
            (good.text().replace('"cat"', "cat"), ["not JSON", "byte"]),
            (no_cpus.text(), ["damaged", "cpus"]),
            (json.dumps(good.events), ["neither", "weft trace"]),
            ('{"format": "weft compare 1"}', ["weft compare 1", "neither"]),
            ('{"format": "weft report 1"}', ["run", "missing"]),
            ('{"format": "weft report 2"}', ["weft report 2"]),
            ("", ["not JSON"]),
            ("#!/bin/sh\n", ["not JSON"]),
        ):
            with self.subTest(words=words, text=text[:60]):
                file = self.folder / "bad.json"
                file.write_text(text)
                (self.folder / "page.html").unlink(missing_ok=True)
                done = self.report(file)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.one_complaint(done, "bad.json", *words)
                self.assertFalse((self.folder / "page.html").exists())

    def test_strange_events(self):
        """Figures that cannot be are not believed; nobody waits for ever."""
        trace = Made(10).member(0, 0, 0, 10).member(1, 1, 0, 10)
        for args in (
            {"context": 1e300},
            {"context": -5, "team": -1},
            {"held": 1e300},
            {"member": "one"},
            [1],
            "x",
            None,
        ):
            trace.add("wait", "waits for critical", 1, 3, 4)
            trace.events[-1]["args"] = args
        trace.add("member", "team", 0, 8, 30, "region", team=1, member=0, of=2)
        trace.add("wait", "barrier", -7, 3, 4, "nowhere")
        trace.events += [{"ph": "X", "cat": "work", "name": "loop", "ts": "late"}, {"ph": "X"}, {}, {"ph": 5}]
        # Regions that lie in one another.
        for team, within in ((5, 6), (6, 5)):
            trace.member(1, 2, 20 + team, 20.5 + team, context=team, team=within)
            trace.add("member", "team", 2, 20 + team, 20.4 + team, "region", team=team, member=0, of=2)
        file = self.folder / "strange.json"
        file.write_text(trace.text()[:-1] + ', "traceEvents": [[[[[]]]], 5, "x", null]}')
        done = self.report(file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("could not be used", self.read(trace)["run"]["notes"][0])

    def test_what_is_left_out_is_counted(self):
        trace = Made(10).member(0, 0, 0, 10).add("weather", "rain", 0, 2, 4).add("weather", "snow", 0, 5, 6)
        trace.add("mpi", "MPI_Recv", 200000, -2, 5, context=0).add("wait", "barrier", 0, 3, -4)
        trace.wait("waits for critical", 0, 7, 8, held=-1)
        self.assertEqual(
            self.read(trace)["run"]["notes"][0],
            '5 events of the trace could not be used in full (2 of a category "weather" that this weft does not know, 1 '
            'of the category "mpi" with times that cannot be, 2 of the category "wait" with times that cannot be): that '
            "time counts as time of what is around.",
        )
        for number in range(9):
            trace.add(f"kind {number}", "x", 0, 2, 4)
        note = self.read(trace)["run"]["notes"][0]
        self.assertIn("14 events", note)
        self.assertRegex(note, r", \d+ of other kinds\): ")

    def test_words_that_are_not_known(self):
        """A later weft may have written them. What a context did then cannot be guessed."""
        for category, name, words in (
            ("wait", "waits for luck", ["wait", "waits for luck"]),
            ("work", "lottery", ["construct", "lottery"]),
        ):
            with self.subTest(name):
                file = self.folder / "later.json"
                file.write_text(Made(10).member(0, 0, 0, 10).add(category, name, 0, 2, 4, level=1).text())
                done = self.report(file)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.one_complaint(done, "later.json", *words, "does not know")
        later = json.loads(Made(10).member(0, 0, 0, 10).text())
        later["otherData"]["places"] = [["region", 0x1000, "lucky"]]
        file.write_text(json.dumps(later))
        self.one_complaint(self.report(file), "later.json", "lucky", "does not know")
        # Slices of another category say nothing of what a context does: they are left out, and that is said.
        made = self.read(Made(10).member(0, 0, 0, 10).add("weather", "rain", 0, 2, 4))
        self.assertIn("weather", json.dumps(made["run"]["notes"]))
        self.assertEqual(self.useful(made, "region"), 10)

    def test_files_of_an_earlier_version(self):
        """They are read, and say what they said then. Advice and notes may have other words, and members may be new."""

        def figures(file):
            made = json.loads(file.read_text())
            del made["advice"], made["run"]["notes"]
            made.pop("headline", None)
            for name in "deadlock", "stood_still":
                made["run"].pop(name, None)
            return made

        made, profile = self.folder / "made.json", self.folder / "profile"
        shutil.copytree(RECORDED / "profile", profile)
        for arguments, expected in (
            ((RECORDED / "trace.json",), "trace.report.json"),
            (("--profile", profile), "profile.report.json"),
            ((RECORDED / "trace.report.json",), "trace.report.json"),
            ((RECORDED / "profile.report.json",), "profile.report.json"),
        ):
            with self.subTest(arguments):
                done = self.report("--quiet", "--json", made, *arguments)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
                self.assertEqual(figures(made), figures(RECORDED / expected))

    def test_a_report_again(self):
        program = self.build("again", PROGRAM, "-g")
        first, second = self.folder / "first.json", self.folder / "second.json"
        self.assertEqual(self.report("--json", first, program).returncode, 0)
        page = (self.folder / "page.html").read_text()
        (self.folder / "page.html").unlink()
        done = self.weft("report", first, "-o", self.folder / "page.html", "--json", second)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertTrue(done.stderr.startswith("weft report: "), done.stderr)
        self.assertEqual(json.loads(first.read_text()), json.loads(second.read_text()))
        self.assertEqual(page, (self.folder / "page.html").read_text())
        self.assertEqual(self.report("--quiet", first).stderr, "")

    def excerpts(self, *options):
        made = self.folder / "made.json"
        self.report("--quiet", "--json", made, *options)
        sites = json.loads(made.read_text())["sites"]
        return {site["place"]["line"]: site["place"]["excerpt"] for site in sites if "excerpt" in site["place"]}

    def test_lines_of_the_source(self):
        program = self.build("lines", PROGRAM, "-g")
        source = PROGRAM.splitlines()
        found = self.excerpts(program)
        self.assertIn(9, found)
        for line, excerpt in found.items():
            first, lines = excerpt["first"], excerpt["lines"]
            self.assertEqual((first, lines), (max(1, line - 3), source[first - 1 : line + 8]))
        self.assertIn("inner(void)", (self.folder / "page.html").read_text())
        self.assertEqual(self.excerpts("--no-source", program), {})
        self.assertNotIn("inner(void)", (self.folder / "page.html").read_text())
        # Of an earlier report too; and those of a file that has changed since are others.
        self.report("--quiet", "--json", self.folder / "first.json", program)
        self.assertEqual(self.excerpts("--no-source", self.folder / "first.json"), {})
        os.utime(self.folder / "lines.c", (time.time() + 100, time.time() + 100))
        self.assertEqual(self.excerpts(program), {})
        (self.folder / "lines.c").unlink()
        self.assertEqual(self.excerpts(program), {})

    def test_files_and_programs(self):
        good = self.folder / "good.json"
        good.write_text(Made(10).member(0, 0, 0, 10).text())
        program = self.folder / "program.json"
        program.write_text("#!/bin/sh\nexit 3\n")
        program.chmod(0o755)
        (self.folder / "folder.json").mkdir()
        os.mkfifo(self.folder / "pipe.json")
        self.assertEqual(self.report(program).returncode, 3)
        for arguments, code, words in (
            ((good, good), 1, ["one rank", "compare"]),
            (("--cpus", 2, good), 2, ["--cpus", "good.json"]),
            (("--against", "stock", good), 2, ["--against"]),
            (("--trace", self.folder / "t.json", good), 2, ["--trace", "good.json"]),
            ((good, "--frob"), 2, ["--frob"]),
            (("--json", good, good), 2, ["good.json", "another"]),
            (("--", good), 126, ["not executable"]),
            ((self.folder / "none.json",), 1, ["none.json", "No such file"]),
            ((self.folder / "folder.json",), 1, ["directory"]),
            ((self.folder / "pipe.json",), 1, ["plain file"]),
        ):
            with self.subTest(arguments=arguments):
                done = self.report(*arguments)
                self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
                self.one_complaint(done, *words)
        self.assertEqual(self.report("--json", "/dev/full", good).returncode, 1)


if __name__ == "__main__":
    unittest.main()
