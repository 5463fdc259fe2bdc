# SPDX-License-Identifier: Apache-2.0
"""`weft trace`: the file loads, what it shows nests, and nested regions are seen to spread."""

import json
import os
import pathlib
import resource
import signal
import unittest

from command_test import CLANG, DEATHS, DIES, GCC, WEFT, CommandTest

NESTED = r"""
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static volatile double sink;
static void busy(int n) { double s = 0; for (int i = 0; i < n; i++) s += sin(i); sink = s; }
__attribute__((noinline)) static void inner_region(void) {
#pragma omp parallel for num_threads(4) schedule(dynamic)
  for (int i = 0; i < 16; i++) busy(20000);
}
int main(int count, char **arguments) {
#pragma omp parallel num_threads(2)
  {
    for (int k = 0; k < 4; k++) inner_region();
#pragma omp barrier
#pragma omp single
    for (int i = 0; i < 6; i++) {
#pragma omp task
      busy(5000);
    }
#pragma omp critical
    busy(5000);
  }
  if (count > 1) exit(atoi(arguments[1]));
  return 0;
}
"""
# Opens many regions once there is a trace, in the file of its argument, of the first one.
GROWS = r"""
#include <unistd.h>
static void region(void) {
#pragma omp parallel num_threads(2)
  {
    volatile int sink = 0;
    sink++;
  }
}
int main(int count, char **arguments) {
  region();
  while (access(arguments[count - 1], F_OK) != 0) usleep(1000);
  for (int i = 0; i < 2000; i++) region();
  return 0;
}
"""
LEAGUES = (
    NESTED[: NESTED.index("__attribute__")]
    + r"""
__attribute__((noinline)) static void wide_league(void) {
#pragma omp teams num_teams(2)
  busy(20000);
  sink = 0;  // else the call is a jump
}
__attribute__((noinline)) static void narrow_league(void) {
#pragma omp teams num_teams(1)
  busy(20000);
  sink = 0;  // else the call is a jump
}
__attribute__((noinline)) static void region_after(void) {
#pragma omp parallel num_threads(2)
  busy(20000);
  sink = 0;  // else the call is a jump
}
int main(void) {
  wide_league();
  narrow_league();
  region_after();
  return 0;
}
"""
)
EVERY_EVENT = pathlib.Path(__file__).resolve().parents[1] / "openmp/tools/every_event.c"
ROUNDING_US = 0.002


class Trace(CommandTest):
    def trace(self, program, *arguments, options=(), **more):
        file = self.folder / "trace.json"
        file.unlink(missing_ok=True)
        done = self.weft("trace", *options, "-o", file, program, *arguments, **more)
        return done, json.loads(file.read_text()) if file.exists() else None

    def slices(self, trace):
        """By track, as they stand in the file; checks that they nest."""
        self.assertEqual(trace["otherData"]["lost"], 0)
        tracks = {}
        for event in trace["traceEvents"]:
            if event["ph"] == "X":
                tracks.setdefault(event["tid"], []).append(event)
        for events in tracks.values():
            ends = []
            for event in events:
                begin, end = event["ts"], event["ts"] + event["dur"]
                self.assertGreaterEqual(event["dur"], 0)
                while ends and ends[-1] <= begin + ROUNDING_US:
                    ends.pop()
                if ends:
                    self.assertLessEqual(end, ends[-1] + ROUNDING_US, event)
                ends.append(end)
        return tracks

    def test_nested_regions_spread(self):
        for compiler in (GCC, CLANG):
            program = self.build("nested", NESTED, "-lm", compiler=compiler)
            with self.subTest(compiler=compiler):
                spread = 0
                for _ in range(10):  # a busy machine may not let them, once
                    done, trace = self.trace(program, options=("--set", "WEFT_NUM_CPUS=4"))
                    self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
                    tracks = self.slices(trace)
                    teams = {}
                    for track, events in tracks.items():
                        for event in events:
                            if event["cat"] == "member":
                                what = event["args"]
                                self.assertLess(what["member"], what["of"])
                                teams.setdefault((what["level"], what["team"]), []).append((track, what["member"]))
                    self.assertEqual(sum(level == 1 for level, _ in teams), 1)
                    inner = [members for (level, _), members in teams.items() if level == 2]
                    self.assertEqual(len(inner), 8)
                    for members in inner:
                        self.assertEqual({member for _, member in members}, {0, 1, 2, 3})
                    spread = max(spread, *(len({track for track, _ in members}) for members in inner))
                    if spread > 1:
                        break
                self.assertGreater(spread, 1)
                names = {(event["cat"], event["name"]) for events in tracks.values() for event in events}
                for wanted in (
                    ("work", "loop"),
                    ("work", "single"),
                    ("wait", "barrier"),
                    ("wait", "waits for critical"),
                    ("wait", "end of the region"),
                ):
                    self.assertIn(wanted, names)
                tasks = [event for events in tracks.values() for event in events if event["cat"] == "task"]
                self.assertEqual(len({event["args"]["task"] for event in tasks}), 6)
                places = {event.get("args", {}).get("at", "") for events in tracks.values() for event in events}
                self.assertTrue(any(place.startswith("inner_region") for place in places), places)
                self.assertTrue(any(event["cat"] == "idle" for events in tracks.values() for event in events))

    def test_every_event(self):
        for compiler in (GCC, CLANG):
            program = self.build("every", EVERY_EVENT.read_text(), "-ldl", compiler=compiler)
            with self.subTest(compiler=compiler):
                done, trace = self.trace(program, options=("--set", "OMP_CANCELLATION=true"))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.slices(trace)

    def test_leagues_end(self):
        for compiler in (GCC, CLANG):
            program = self.build("leagues", LEAGUES, "-lm", compiler=compiler)
            with self.subTest(compiler=compiler):
                done, trace = self.trace(program)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                members = {}
                for events in self.slices(trace).values():
                    for event in events:
                        if event["cat"] == "member":
                            members.setdefault(event["args"]["at"].split("+")[0].split(" ")[0], []).append(event)
                ends = {place: max(event["ts"] + event["dur"] for event in events) for place, events in members.items()}
                self.assertEqual({event["args"]["member"] for event in members["wide_league"]}, {0, 1})
                self.assertEqual({event["args"]["member"] for event in members["narrow_league"]}, {0})
                after = min(event["ts"] for event in members["region_after"])
                for place in ("wide_league", "narrow_league"):
                    self.assertLessEqual(ends[place], after + ROUNDING_US, place)

    def test_programs_that_exit(self):
        program = self.build("exits", NESTED, "-lm")
        done, trace = self.trace(program, 7)
        self.assertEqual((done.returncode, done.stderr), (7, ""))
        self.assertTrue(self.slices(trace))

    def test_programs_that_are_killed(self):
        program = self.build("dies", DIES)
        file = self.folder / "trace.json"
        for how, code, why in DEATHS:
            with self.subTest(how=how):
                done, trace = self.trace(program, how, file)
                self.assertEqual(done.returncode, code)
                self.one_complaint(done, why, str(file), "some time before")
                self.assertIs(trace["otherData"]["cut_off"], True)
                self.assertTrue(self.slices(trace))
                self.assertFalse(list(self.folder.glob("trace.json.*")))
                said = self.weft("report", "-o", self.folder / "page.html", file)
                self.assertEqual(said.returncode, 0)
                self.assertIn("has not come to its end", (self.folder / "page.html").read_text())
                # Too early for any.
                done, trace = self.trace(program, how)
                self.assertEqual((done.returncode, trace), (code, None))
                self.one_complaint(done, str(file), "_exit" if how == "_exit" else why, "half")

    def test_programs_without_openmp(self):
        plain = self.build("plain", "int main(void) { return 3; }", "-Wl,--no-as-needed", "-lgomp")
        for program, words in ((plain, "linked with libgomp.so.1"), ("/bin/true", "-fopenmp")):
            with self.subTest(program=program):
                done, trace = self.trace(program)
                self.assertEqual((done.returncode, trace), (3 if program == plain else 1, None))
                self.one_complaint(done, str(program), "no parallel region", words)
        # The processes that a script starts have files of their own, of which this cannot know.
        nested = self.build("of_script", NESTED, "-lm")
        done = self.weft("trace", "-o", self.folder / "of-%p.json", "sh", "-c", f"{nested}; {nested}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(list(self.folder.glob("of-*.json"))), 2)

    def test_exit_inside_a_region(self):
        program = self.build(
            "inside",
            """
#include <stdlib.h>
int main(void) {
#pragma omp parallel num_threads(3)
  {
#pragma omp barrier
#pragma omp master
    exit(5);
#pragma omp barrier
  }
  return 0;
}
""",
        )
        done, trace = self.trace(program)
        self.assertEqual((done.returncode, done.stderr), (5, ""))
        self.assertTrue(self.slices(trace))

    def test_a_program_that_goes_elsewhere(self):
        program = self.build(
            "elsewhere",
            "#include <unistd.h>\n"
            + NESTED.replace(
                "int main(int count, char **arguments) {",
                'int main(int count, char **arguments) { if (chdir("/")) return 9;',
            ),
            "-lm",
        )
        done = self.weft("trace", "-o", "here-%p.json", program, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = list(self.folder.glob("here-*.json"))
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0].stem[5:].isdigit())

    def test_the_default_file(self):
        program = self.build("default", NESTED, "-lm")
        done = self.weft("trace", "--", program, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.slices(json.loads((self.folder / "weft-trace.json").read_text()))

    def test_children_of_a_fork_leave_the_file_alone(self):
        program = self.build(
            "forks",
            "#include <sys/wait.h>\n#include <unistd.h>\n"
            + NESTED.replace(
                "int main(int count, char **arguments) {",
                "int main(int count, char **arguments) { inner_region(); if (fork() == 0) exit(0); wait(NULL);",
            ),
            "-lm",
        )
        done, trace = self.trace(program)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        events = [event for events in self.slices(trace).values() for event in events]
        self.assertGreater(len({event["args"]["team"] for event in events if event["cat"] == "member"}), 8)

    def test_files_that_cannot_be_written(self):
        program = self.build("unwritten", NESTED, "-lm")
        for file, words in (
            ("/no/such/folder/t.json", ["there is no folder /no/such/folder"]),
            (self.folder, ["directory"]),
        ):
            with self.subTest(file=file):
                done = self.weft("trace", "-o", file, program)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.one_complaint(done, file, *words)
        os.mkfifo(self.folder / "pipe")
        done = self.weft("trace", "-o", self.folder / "pipe", program)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.one_complaint(done, "pipe", "reader")
        for more, code in ((), 1), ((7,), 7):
            done = self.weft("trace", "-o", "/dev/full", program, *more)
            self.assertEqual(done.returncode, code)
            self.one_complaint(done, "/dev/full", "No space left")
        done = self.weft("trace", "-o", "/dev/null", program)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_what_others_have_put_beside_it(self):
        """By names that can be guessed: none of it is written, followed or waited for."""
        program = self.build("guessed", NESTED, "-lm")
        file, precious = self.folder / "z.json", self.folder / "precious"
        precious.write_text("precious")
        for put in (f"ln -s {precious}", f"ln -s {self.folder}/nothing", "mkfifo", f"cp {precious}"):
            for end in "end", "new":
                with self.subTest(put=put, end=end):
                    file.unlink(missing_ok=True)
                    script = f"{put} {file}.$$.{end}; exec {program}"
                    done = self.weft("trace", "-o", file, "sh", "-c", script)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.slices(json.loads(file.read_text()))
        self.assertEqual(precious.read_text(), "precious")
        self.assertFalse((self.folder / "nothing").exists())
        script = f'ln -s nothing .z.json.$$.waits; exec "$0" trace -o z.json {program}'
        done = self.command("sh", "-c", script, WEFT, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertFalse((self.folder / "nothing").exists())
        self.assertEqual(len(list(self.folder.glob(".z.json.*.waits"))), 1)

    def test_programs_that_remove_files(self):
        """Also the one by which the command knows what has been said."""
        source = NESTED.replace("if (count > 1)", 'if (system("rm .*.waits")) return 9;\n  if (count > 1)')
        program = self.build("removes", source, "-lm")
        done = self.weft("trace", "-o", "removes.json", program, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.slices(json.loads((self.folder / "removes.json").read_text()))

    @unittest.skipIf(os.geteuid() != 0, "only root can give a file to somebody else")
    def test_owners_stay(self):
        program = self.build("owned", NESTED, "-lm")
        file = self.folder / "own.json"
        file.write_text("{}")
        os.chown(file, 65534, 65534)
        done = self.weft("trace", "-o", file, program)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.slices(json.loads(file.read_text()))
        self.assertEqual((file.stat().st_uid, file.stat().st_gid), (65534, 65534))

    def test_hard_links_stay(self):
        program = self.build("linked_hard", NESTED, "-lm")
        file, other = self.folder / "hard.json", self.folder / "other.json"
        file.write_text("{}")
        other.hardlink_to(file)
        done = self.weft("trace", "-o", file, program)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(other.samefile(file))
        self.slices(json.loads(other.read_text()))

    def test_names_that_cannot_be(self):
        """Said before the program runs."""
        (self.folder / "plain").touch()
        for option in ("trace", "-o"), ("report", "-o", "page.html", "--trace"):
            for name, words in ("plain/x", "Not a directory"), (256 * "x", "too long"):
                with self.subTest(option=option, name=name):
                    done = self.weft(*option, name, "touch", "ran", cwd=self.folder)
                    self.assertEqual((done.returncode, done.stdout), (1, ""))
                    self.one_complaint(done, f"{option[-1]} {name}", words)
        self.assertFalse((self.folder / "ran").exists())

    def test_no_room_for_the_file(self):
        """There is none, or the older one; what could not be completed is gone."""
        program = self.build("roomless", NESTED, "-lm")

        def limit(handler, most=1024):
            signal.signal(signal.SIGXFSZ, handler)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))

        older = self.folder / "older.json"
        older.write_text("{}")
        link = self.folder / "link.json"
        link.symlink_to("older.json")
        before = set(self.folder.iterdir())
        for file in self.folder / "new.json", older, link:
            with self.subTest(file=file):
                done = self.weft("trace", "-o", file, program, preexec_fn=lambda: limit(signal.SIG_IGN))
                self.assertEqual(done.returncode, 1)
                self.one_complaint(done, f"{file} could not be written: File too large")
                done = self.weft("trace", "-o", file, program, preexec_fn=lambda: limit(signal.SIG_DFL))
                self.assertEqual(done.returncode, 128 + signal.SIGXFSZ)
                self.one_complaint(done, "signal 25", f"while {file} was written; there is no trace")
                self.assertEqual(set(self.folder.iterdir()), before)
                self.assertEqual(older.read_text(), "{}")
        # For what had happened before there was.
        grows, grown = self.build("grows", GROWS), self.folder / "grown.json"
        done = self.weft("trace", "-o", grown, grows, grown, preexec_fn=lambda: limit(signal.SIG_IGN, 200_000))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(
            done.stderr, r"^weft: the trace .* could not be written: .*\nweft: trace: .* some time before\n$"
        )
        self.assertIs(json.loads(grown.read_text())["otherData"]["cut_off"], True)
        before = set(self.folder.iterdir())
        # There is room: links stay, and so do the rights of the file.
        older.chmod(0o600)
        done = self.weft("trace", "-o", link, program)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.slices(json.loads(older.read_text()))
        self.assertEqual(older.stat().st_mode & 0o777, 0o600)
        self.assertEqual(set(self.folder.iterdir()), before)
        self.assertTrue(link.is_symlink())

    def test_usage(self):
        for arguments, words in (
            (("trace",), "program"),
            (("trace", "-o"), "--output"),
            (("trace", "--frob", "x"), "--frob"),
        ):
            with self.subTest(arguments=arguments):
                done = self.weft(*arguments)
                self.assertEqual(done.returncode, 2)
                self.one_complaint(done, words)
        self.assertIn("perfetto", self.weft("trace", "--help").stdout)

    def test_other_tools_go_on(self):
        """A user's own tool is tried after ours, which takes part: said by nobody, so nothing is printed."""
        program = self.build("two", NESTED, "-lm")
        done, trace = self.trace(program, env={"OMP_TOOL_LIBRARIES": "/no/such/tool.so"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(self.slices(trace))


if __name__ == "__main__":
    unittest.main()
