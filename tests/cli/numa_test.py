# SPDX-License-Identifier: Apache-2.0
"""`weft numa`: what it says of programs and processes on this machine, what it refuses, and that programs do not notice."""

import concurrent.futures
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree

from command_test import GCC, CommandTest

NUMA = pathlib.Path(__file__).resolve().parents[1] / "numa"
NODES = len(list(pathlib.Path("/sys/devices/system/node").glob("node[0-9]*")))
# An allocator that holds a lock while it maps, and that a thread's start needs.
ALLOCATOR = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *room;
static size_t left;
struct head { size_t bytes; char *mapped; };
static void *take(size_t alignment, size_t bytes) {
  pthread_mutex_lock(&lock);
  const size_t whole = bytes + alignment + sizeof(struct head);
  if (whole > left) {
    left = whole > (4 << 20) ? whole : 4 << 20;
    room = mmap(NULL, left, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  char *block = (char *)(((uintptr_t)room + sizeof(struct head) + alignment - 1) / alignment * alignment);
  left -= (size_t)(block + bytes - room);
  room = block + bytes;
  ((struct head *)block)[-1].bytes = bytes;
  pthread_mutex_unlock(&lock);
  return block;
}
void *malloc(size_t bytes) { return take(16, bytes); }
void *calloc(size_t count, size_t size) { return memset(take(16, count * size), 0, count * size); }
void *memalign(size_t alignment, size_t bytes) { return take(alignment < 16 ? 16 : alignment, bytes); }
void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void **block, size_t alignment, size_t bytes) { *block = memalign(alignment, bytes); return 0; }
void free(void *block) { pthread_mutex_lock(&lock); (void)block; pthread_mutex_unlock(&lock); }
void *realloc(void *block, size_t bytes) {
  void *other = take(16, bytes);
  if (block != NULL) {
    const size_t before = ((struct head *)block)[-1].bytes;
    memcpy(other, block, before < bytes ? before : bytes);
  }
  return other;
}
"""
FORTRAN = """
program vectors
  use omp_lib
  real(8), allocatable :: a(:), b(:)
  integer :: i, pass
  allocate(a(4000000), b(4000000))
  a = 1
  b = 2
  do pass = 1, 100
    !$omp parallel do
    do i = 1, size(a)
      a(i) = a(i) + b(i)
    end do
  end do
  print *, a(1)
end program
"""
# Runs its arguments where perf_event_open fails with EPERM, as containers have it; 99: that cannot be.
WITHOUT_PERF = """
import ctypes, os, platform, struct, sys
number = {"x86_64": 298, "aarch64": 241}[platform.machine()]
rules = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(rules), ctypes.addressof(code)))
libc = ctypes.CDLL(None)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.addressof(program), 0, 0):
    sys.exit(99)
os.execv(sys.argv[1], sys.argv[1:])
"""


class Numa(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.programs = {}
        sources = [*(NUMA / "programs").glob("*.c"), *(NUMA / "hosts").glob("*.c")]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(cls.compile, sources))

    @classmethod
    def compile(cls, source):
        program = cls.folder / source.stem
        cls.compile_one(source, program)
        cls.programs[source.stem] = program

    @classmethod
    def compile_one(cls, source, program):
        flags = ["-O1", "-g", "-fopenmp", "-pthread", "-Wall", "-Wextra", "-Werror"]
        subprocess.run([GCC, *flags, str(source), "-o", str(program)], check=True)

    def numa(self, *arguments, protect=True, **options):
        file = self.folder / f"report-{time.monotonic_ns()}.json"
        done = self.weft("numa", "--json", file, *(["--protect"] if protect else []), *arguments, **options)
        return done, json.loads(file.read_text()) if file.exists() else None

    def one_process(self, report):
        self.assertEqual(len(report["processes"]), 1, report)
        return report["processes"][0]

    def test_arrays_and_their_places(self):
        done, report = self.numa(self.programs["serial_init"], 16, 0.5)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"^[0-9.e+]+\n$")
        self.assertIn("weft numa: process", done.stderr)
        process = self.one_process(report)
        (array,) = process["arrays"]
        self.assertEqual((array["bytes"], array["instances"], array["how"]), (16 << 20, 1, "aligned"))
        self.assertAlmostEqual(sum(array["pages"].values()), 1)
        self.assertNotIn("untouched", array["pages"])
        self.assertRegex(array["site"], r"^program\.h:\d+$")
        self.assertTrue(any("(main)" in frame for frame in array["stack"]), array["stack"])
        if NODES == 1:
            self.assertEqual(array["verdict"], "one_node")
            self.assertIn("nothing to place", done.stderr)

    def test_who_touches(self):
        _, report = self.numa(self.programs["serial_init"], 64, 1)
        (array,) = self.one_process(report)["arrays"]
        self.assertEqual(array["first_touch"]["threads"], 1)
        self.assertRegex(array["first_touch"]["at"], r"^program\.h:\d+$")
        self.assertRegex(array["use"]["at"], r"^program\.h:\d+$")
        self.assertNotEqual(array["use"]["at"], array["first_touch"]["at"])
        self.assertGreater(array["use"]["touches"], 50)
        self.assertLess(array["use"]["writes"], 5)  # the end of the initialisation, at most
        if (os.cpu_count() or 1) > 1:
            _, report = self.numa(self.programs["parallel_init"], 64, 0.5)
            (array,) = self.one_process(report)["arrays"]
            self.assertGreater(array["first_touch"]["threads"], 1)

    def test_touch_options(self):
        for touch, first, later in (("off", False, False), ("first", True, False), ("sample", True, True)):
            with self.subTest(touch=touch):
                protect = touch != "off"
                _, report = self.numa("--touch", touch, self.programs["parallel_init"], 32, 0.7, protect=protect)
                (array,) = self.one_process(report)["arrays"]
                self.assertEqual(array["first_touch"]["threads"] > 0, first)
                self.assertEqual(array["use"]["touches"] > 0, later)

    def test_page_faults_that_happen_in_any_case(self):
        """Without --protect no page is protected. Who touches first is known all the same, where perf may be used."""
        _, report = self.numa(self.programs["serial_init"], 64, 0.3, protect=False)
        process = self.one_process(report)
        self.assertEqual(process["collected"]["means"], "page_faults")
        self.assertEqual(process["collected"]["rounds"], 0)
        if any("perf_event" in note for note in process["notes"]):
            self.skipTest("perf is forbidden here")
        self.assertLessEqual({"page_faults", "move_pages", "numa_maps"}, set(process["collected"]["sources"]))
        self.assertNotIn("protection", process["collected"]["sources"])
        (array,) = process["arrays"]
        self.assertEqual(array["first_touch"]["threads"], 1, array)
        self.assertRegex(array["first_touch"]["at"], r"^program\.h:\d+$")
        samples = process["collected"]["memory_samples"]
        self.assertEqual("memory_samples" in process["collected"]["sources"], samples > 0)
        if samples == 0:
            self.assertIsNone(array["use"]["writes"])
            if NODES > 1:
                self.assertTrue(any("there are no memory samples" in note for note in process["notes"]))
        _, report = self.numa(self.programs["parallel_init"], 64, 0.3, protect=False)
        (array,) = self.one_process(report)["arrays"]
        if (os.cpu_count() or 1) > 1:
            self.assertGreater(array["first_touch"]["threads"], 1)

    def test_without_protection_a_program_is_as_it_was(self):
        program = self.folder / "as_it_was"
        self.compile_one(NUMA / "as_it_was.c", program)
        self.assertEqual(self.command(program, 0.1).returncode, 0)
        done, report = self.numa(program, 1, protect=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertEqual(self.one_process(report)["collected"]["arrays"], 1)
        # It does see what it looks for.
        done, report = self.numa(program, 1)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("libweft-numa-protect.so", done.stdout)
        self.assertIn("protection", self.one_process(report)["collected"]["sources"])

    def test_which_collector_is_loaded(self):
        self.assertRegex(self.collector(), r"/libweft-numa\.so$")
        self.assertRegex(self.collector("--touch", "off"), r"/libweft-numa\.so$")
        self.assertRegex(self.collector("--protect"), r"/libweft-numa-protect\.so$")

    def test_page_faults_that_perf_does_not_tell(self):
        done = self.command(
            sys.executable, "-c", WITHOUT_PERF, os.environ["WEFT_COMMAND"], "numa", self.programs["one_thread"], 16, 0
        )
        if done.returncode == 99:
            self.skipTest("no filters of system calls here")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("page faults are not seen here (perf_event_open", done.stderr.replace("\n  ", " "))
        self.assertIn("weft numa --protect", done.stderr.replace("\n  ", " "))

    def test_system_calls_past_the_c_library(self):
        program = self.folder / "past_libc"
        self.compile_one(NUMA / "past_libc.c", program)
        for how in ("read", "write", "masks", "from_outside", "fork"):
            with self.subTest(how=how):
                done, report = self.numa(program, how, 0.3, protect=False)
                self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
                self.assertGreater(self.one_process(report)["collected"]["arrays"], 0)

    def test_protection_is_refused(self):
        body = "int main(void) { char *volatile block = malloc(4 << 20); block[4096] = 1; return 0; }"
        note = '__asm__(".section .note.go.buildid,\\"a\\",@note\\n.long 4, 4, 4\\n.asciz \\"Go\\\\0\\"\\n.long 1\\n.text");'
        go = self.build("go", f"#include <stdlib.h>\n{note}\n{body}")
        static = self.build("static_one", f"#include <stdlib.h>\n{body}", "-static")
        rust = self.build("rustix", f'#include <stdlib.h>\nconst char *at = "src/backend/linux_raw/c.rs";\n{body}')
        for program, why in ((go, "Go program"), (static, "statically linked"), (rust, "rustix")):
            with self.subTest(program=program):
                done = self.weft("numa", "--protect", program)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(str(program), done.stderr)
                self.assertIn(why, done.stderr)
                self.assertEqual(self.weft("numa", program).returncode, 1 if program == static else 0)
        # Started by others it is the collector that leaves its pages alone.
        _, report = self.numa("--", "sh", "-c", f"{go}; true")
        process = self.one_process(report)
        self.assertEqual((process["collected"]["touches"], process["collected"]["arrays"]), (0, 1))
        self.assertTrue(any("(Go)" in note for note in process["notes"]), process["notes"])
        done = self.weft("numa", "--protect", "--touch", "off", go)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--touch off", done.stderr)
        done = self.weft("numa", "--protect", os.getpid())
        self.assertEqual(done.returncode, 2)
        self.assertIn("--protect", done.stderr)

    def test_smallest_size(self):
        for size, arrays in (("16M", 1), ("17M", 0)):
            _, report = self.numa("--min-size", size, self.programs["one_thread"], 16, 0)
            self.assertEqual(len(self.one_process(report)["arrays"]), arrays)
        for size in ("0", "1", "-1M", "x", "1T", "1MM", "99999999999999999999", "18014398509481984M", ""):
            done = self.weft("numa", "--min-size", size, "true")
            self.assertEqual(done.returncode, 2, size)
            self.assertIn("--min-size", done.stderr)

    def test_programs_are_not_called_faulty_here(self):
        if NODES > 1:
            self.skipTest("faults are planted for machines with several nodes")
        for name in sorted(path.stem for path in (NUMA / "programs").glob("*.c")):
            with self.subTest(program=name):
                done, report = self.numa(self.programs[name], 16, 0.2, 1)
                self.assertEqual(done.returncode, 0, done.stderr)
                for array in self.one_process(report)["arrays"]:
                    self.assertFalse(array["fault"], array)

    def test_programs_do_not_notice(self):
        hosts = sorted(path.stem for path in (NUMA / "hosts").glob("*.c"))
        for protect, seconds in ((True, 1), (False, 0.3)):
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                every = pool.map(lambda name: self.numa(self.programs[name], seconds, protect=protect), hosts)
                for name, (done, report) in zip(hosts, every):
                    with self.subTest(host=name, protect=protect):
                        self.assertEqual(done.returncode, 0, done.stderr)
                        self.assertGreater(self.one_process(report)["collected"]["arrays"], 0)

    def test_handlers_on_small_stacks(self):
        # Without the collector a stack of 2 KB is enough, where the CPU has few registers.
        for size in (2048, 8192, 12288, 16384, 32768, 65536):
            for end, code in (((), 7), (("exec",), 8)):
                if self.command(self.programs["handler_stacks"], 0.1, size, *end).returncode != code:
                    continue
                with self.subTest(size=size, end=end):
                    done, report = self.numa(self.programs["handler_stacks"], 0.1, size, *end)
                    self.assertEqual(done.returncode, code, done.stderr)
                    self.assertGreater(self.one_process(report)["collected"]["arrays"], 0)

    def test_filters_of_system_calls(self):
        for by in ((), ("syscall",)):
            for touch in ("sample", "off"):
                done, report = self.numa("--touch", touch, self.programs["sandbox"], 0.3, *by, protect=touch != "off")
                self.assertEqual(done.returncode, 0, done.stderr)
                process = self.one_process(report)
                self.assertAlmostEqual(sum(process["arrays"][0]["pages"].values()), 1)

    def test_sampling_goes_on_after_cancelled_threads(self):
        _, report = self.numa(self.programs["cancelled"], 1)
        self.assertGreater(self.one_process(report)["arrays"][0]["use"]["touches"], 50)

    def test_many_allocations(self):
        body = """
        #include <stdlib.h>
        int main(void) {
          free(malloc(16 << 20));
          for (int i = 0; i < 300000; ++i) {
            char *volatile block = malloc(1 << 20);
            block[0] = 1;
            free(block);
          }
          char *volatile last = malloc(64 << 20);
          for (int i = 0; i < 64 << 20; i += 4096) last[i] = 1;
          return 0;
        }"""
        program = self.build("many", body)
        for touch in ("sample", "off"):
            done, report = self.numa("--touch", touch, program, protect=touch != "off")
            self.assertEqual(done.returncode, 0, done.stderr)
            process = self.one_process(report)
            self.assertGreater(process["collected"]["left_out"], 0)
            self.assertLess(process["collected"]["seconds"], 2)
            self.assertTrue(any("left out" in note for note in process["notes"]), process["notes"])

    def test_allocators_that_hold_locks(self):
        source = self.folder / "allocator.c"
        source.write_text(ALLOCATOR)
        library = self.folder / "liballocator.so"
        subprocess.run([GCC, "-shared", "-fPIC", "-O1", str(source), "-o", str(library)], check=True)
        libraries = [str(library), *map(str, pathlib.Path("/usr/lib").glob("*-linux-gnu/libjemalloc.so.2"))]
        for library in libraries:
            with self.subTest(library=library):
                program = [self.programs["parallel_init"], 16, 0.3]
                for protect in (True, False):
                    collector = self.collector(*(["--protect"] if protect else []))
                    preload = f"LD_PRELOAD={collector}:{library}"
                    done, report = self.numa("--", "env", preload, *program, protect=protect)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    (array,) = self.one_process(report)["arrays"]
                    self.assertEqual(array["bytes"], 16 << 20)

    def collector(self, *options):
        return self.weft("numa", *options, "--", "printenv", "LD_PRELOAD").stdout.strip()

    def test_a_full_disk(self):
        program = f"{os.environ['WEFT_COMMAND']} numa --protect {self.programs['parallel_init']} 16 0.3"
        small = "mount -t tmpfs -o size={} small {} 2> /dev/null || exit 99; "
        for size in ("8k", "16k", "300k"):
            script = small.format(size, "/dev/shm") + small.format(size, self.folder / "small") + program
            (self.folder / "small").mkdir(exist_ok=True)
            done = self.command("env", f"TMPDIR={self.folder / 'small'}", "unshare", "-m", "sh", "-c", script)
            if done.returncode == 99 or "unshare" in done.stderr:
                self.skipTest("no mounts here")
            with self.subTest(size=size):
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stdout, r"^[0-9.e+]+\n$")
                self.assertEqual("no room" in done.stderr, size != "300k", done.stderr)

    def test_programs_that_start_many_others(self):
        many = "for i in 1 2 3 4 5 6 7 8 9; do {}; done; {} ls $WEFT_NUMA_RECORD; du -k $WEFT_NUMA_RECORD"
        quick = self.build("quick", "#include <unistd.h>\nint main(void) { _exit(0); }")
        # Of programs whose end nobody sees in them the command removes what they leave: it looks all the time.
        for protect, script in ((True, many.format("/bin/true", "")), (False, many.format(quick, "sleep 1.5;"))):
            done = self.weft("numa", *(["--protect"] if protect else []), "--", "sh", "-c", script)
            self.assertEqual(done.returncode, 0, done.stderr)
            *names, usage = done.stdout.splitlines()
            self.assertLessEqual(len(names), 3)  # the settings, the shell, ls
            self.assertLess(int(usage.split()[0]), 100)

    def test_ends(self):
        for how, code in (
            ("return", 0),
            ("exit", 3),
            ("_exit", 4),
            ("quick_exit", 5),
            ("exec", 6),
            ("abort", 128 + signal.SIGABRT),
            ("kill", 128 + signal.SIGKILL),
            ("fault", 128 + signal.SIGSEGV),
            ("raise", 128 + signal.SIGSEGV),
        ):
            for protect in (True, False):
                with self.subTest(how=how, protect=protect):
                    done, report = self.numa(self.programs["ends"], 0.4, how, protect=protect)
                    self.assertEqual(done.returncode, code, done.stderr)
                    process = self.one_process(report)
                    (array,) = process["arrays"]
                    self.assertAlmostEqual(sum(array["pages"].values()), 1)
                    self.assertRegex(array["site"], r"^busy\.h:\d+$")
                    seen = {"return", "exit", "quick_exit"} | ({"_exit", "exec"} if protect else set())
                    noted = any("not ended by itself" in note for note in process["notes"])
                    self.assertEqual(noted, how not in seen, process["notes"])

    def test_another_program_in_the_same_process(self):
        """The pages of the first one are those that it had, though nothing in it sees that it becomes another."""
        body = """
        #include <stdlib.h>
        #include <unistd.h>
        int main(int count, char **arguments) {
          const size_t bytes = (count > 1 ? 32 : 16) << 20;
          volatile char *block = malloc(bytes);
          for (size_t i = 0; i < bytes; i += 4096) block[i] = 1;
          usleep(1000000);
          if (count > 1) execl(arguments[0], arguments[0], (char *)0);
          return 0;
        }"""
        program = self.build("becomes", body)
        for protect in (True, False):
            done, report = self.numa(program, "first", protect=protect)
            self.assertEqual(done.returncode, 0, done.stderr)
            first, second = report["processes"]
            self.assertEqual(first["pid"], second["pid"])
            for process, bytes_ in ((first, 32 << 20), (second, 16 << 20)):
                (array,) = process["arrays"]
                self.assertEqual(array["bytes"], bytes_)
                self.assertAlmostEqual(sum(array["pages"].values()), 1)
                self.assertNotIn("untouched", array["pages"])

    def test_running_process(self):
        with subprocess.Popen([self.programs["one_thread"], "64", "30"], stdout=subprocess.DEVNULL) as program:
            time.sleep(0.5)
            done, report = self.numa(program.pid, protect=False)
            program.kill()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"process {program.pid} ", done.stdout)
        largest = self.one_process(report)["arrays"][0]
        self.assertGreaterEqual(largest["bytes"], 64 << 20)
        self.assertGreater(sum(largest["pages"].values()), 0.99)
        self.assertEqual(largest["how"], "mmap")
        self.assertIn("not started by weft numa", done.stdout)

    def test_running_process_with_a_collector(self):
        numa = [os.environ["WEFT_COMMAND"], "numa", "--protect", str(self.programs["serial_init"]), "64", "3"]
        with subprocess.Popen(numa, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as command:
            time.sleep(1)
            (child,) = pathlib.Path(f"/proc/{command.pid}/task/{command.pid}/children").read_text().split()
            done, report = self.numa(child, protect=False)
            self.assertEqual(command.wait(), 0)
        self.assertEqual(done.returncode, 0, done.stderr)
        (array,) = self.one_process(report)["arrays"]
        self.assertEqual((array["bytes"], array["live"]), (64 << 20, True))
        self.assertGreater(array["first_touch"]["threads"], 0)

    def test_processes_that_cannot_be_looked_at(self):
        with subprocess.Popen(["sleep", "30"]) as gone:
            gone.kill()
        for pid, words in ((gone.pid, "no such process"), (2, "thread of the kernel|no such process")):
            done = self.weft("numa", pid)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertRegex(done.stderr, words)
        zombie = subprocess.Popen(["true"])
        try:
            os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
            self.assertRegex(self.weft("numa", zombie.pid).stderr, "has ended|no memory of its own")
        finally:
            zombie.wait()
        if os.getuid() == 0 and shutil.which("setpriv"):
            with subprocess.Popen(["sleep", "30"]) as others:
                self.folder.chmod(0o755)
                done = self.command(
                    "setpriv", "--reuid", "65534", "--clear-groups", os.environ["WEFT_COMMAND"], "numa", others.pid
                )
                others.kill()
            if "cannot execute" not in done.stderr and "Permission denied" not in done.stderr:
                self.assertEqual(done.returncode, 1)
                self.assertIn("another user", done.stderr)

    def test_picture(self):
        file = self.folder / "picture.svg"
        done = self.weft("numa", "--svg", file, self.programs["parallel_init"], 16, 0.5)
        self.assertEqual(done.returncode, 0)
        picture = xml.etree.ElementTree.parse(file).getroot()
        words = "".join(picture.itertext())
        self.assertIn("pages lie on", words)
        self.assertIn("node 0", words)

    def test_reports_that_cannot_be_written(self):
        for options in (
            ("--json", "/nonexistent/x"),
            ("--json", "/dev/full"),
            ("--svg", "/dev/full"),
            ("--json", self.folder),
        ):
            with self.subTest(options=options):
                done = self.weft("numa", *options, "true")
                self.assertEqual(done.returncode, 1)
                self.assertIn(str(options[1]), done.stderr)
        done = self.command("sh", "-c", f"{os.environ['WEFT_COMMAND']} numa --json - true > /dev/full 2> /dev/null")
        self.assertEqual(done.returncode, 1)
        done = self.command("sh", "-c", f"{os.environ['WEFT_COMMAND']} numa true 2>&1 >/dev/null | true; echo over")
        self.assertEqual(done.stdout, "over\n")

    def test_the_program_does_not_run_for_a_report_that_has_no_place(self):
        done = self.weft("numa", "--json", "/nonexistent/x", "touch", self.folder / "ran")
        self.assertEqual(done.returncode, 1)
        self.assertFalse((self.folder / "ran").exists())

    def test_limits_on_files(self):
        program = self.programs["one_thread"]
        done = self.command("sh", "-c", f"ulimit -f 100; {os.environ['WEFT_COMMAND']} numa {program} 16 0")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(done.stdout, r"^[0-9.e+]+\n$")
        self.assertIn("ulimit -f", done.stderr)

    def test_json_on_stdout(self):
        done = self.weft("numa", "--json", "-", "true")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(json.loads(done.stdout)["version"], 1)
        self.assertEqual(done.stderr, "")

    def test_programs_that_cannot_be_run(self):
        self.assertEqual(self.weft("numa", "/nonexistent").returncode, 127)
        self.assertEqual(self.weft("numa", "/etc/passwd").returncode, 126)
        done = self.weft("numa")
        self.assertEqual(done.returncode, 2)
        self.assertIn("which program", done.stderr)
        self.assertEqual(self.weft("numa", "--touch", "often", "true").returncode, 2)

    def test_statically_linked_program(self):
        program = self.build("static", "int main(void) { return 0; }", "-static")
        done = self.weft("numa", program)
        self.assertIn("statically linked", done.stderr)
        self.assertIn("nothing to report", done.stderr)

    def test_under_the_runtime(self):
        done, report = self.numa("--", os.environ["WEFT_COMMAND"], "run", self.programs["parallel_init"], 16, 0.5)
        self.assertEqual(done.returncode, 0, done.stderr)
        (array,) = self.one_process(report)["arrays"]
        self.assertEqual(array["bytes"], 16 << 20)

    def test_programs_whose_memory_others_reach_into(self):
        stand_in = self.folder / "mpi.c"
        stand_in.write_text("int stand_in(void) { return 0; }")
        library = self.folder / "libmpi.so.40"
        subprocess.run([GCC, "-shared", "-fPIC", str(stand_in), "-o", str(library)], check=True)
        body = "extern int stand_in(void);\nint main(int count, char **arguments) {"
        source = (NUMA / "programs/one_thread.c").read_text().replace("int main(int count, char **arguments) {", body)
        program = self.build(
            "peers",
            source.replace("read_arguments(", "stand_in(); read_arguments("),
            str(library),
            f"-Wl,-rpath,{self.folder}",
            f"-I{NUMA / 'programs'}",
        )
        _, report = self.numa(program, 16, 0.5)
        process = self.one_process(report)
        self.assertEqual(process["collected"]["touches"], 0)
        self.assertTrue(any("MPI" in note for note in process["notes"]), process["notes"])
        self.assertAlmostEqual(sum(process["arrays"][0]["pages"].values()), 1)

    def test_scripts_and_their_programs(self):
        script = self.folder / "script"
        script.write_text(f"#!/bin/sh\n{self.programs['one_thread']} 16 0\n{self.programs['one_thread']} 8 0\nexit 7\n")
        script.chmod(0o755)
        done, report = self.numa(script)
        self.assertEqual(done.returncode, 7)
        self.assertEqual([process["arrays"][0]["bytes"] for process in report["processes"]], [16 << 20, 8 << 20])

    def test_fortran(self):
        gfortran = shutil.which("gfortran-12")
        if gfortran is None:
            self.skipTest("no gfortran-12")
        source = self.folder / "vectors.f90"
        source.write_text(FORTRAN)
        subprocess.run([gfortran, "-O1", "-g", "-fopenmp", str(source), "-o", str(self.folder / "vectors")], check=True)
        done, report = self.numa(self.folder / "vectors")
        self.assertEqual(done.returncode, 0, done.stderr)
        for array in self.one_process(report)["arrays"]:
            self.assertEqual(array["site"], "vectors.f90:6")

    def test_python(self):
        code = "import ctypes; b = bytearray(8 << 20); print(sum(b[::4096]))"
        done, report = self.numa("--", sys.executable, "-c", code)
        self.assertEqual((done.returncode, done.stdout), (0, "0\n"))
        sizes = [array["bytes"] for array in self.one_process(report)["arrays"]]
        self.assertTrue(any(8 << 20 <= size < 9 << 20 for size in sizes), sizes)

    def test_java(self):
        javac = shutil.which("javac")
        if javac is None:
            self.skipTest("no javac")
        source = """
        public class Faults {
          public static void main(String[] arguments) {
            int caught = 0;
            Object nothing = null;
            int[] array = new int[4000000];
            for (int i = 0; i < 200; ++i) {
              for (int k = 0; k < array.length; k += 16) array[k] += i;
              try { nothing.hashCode(); } catch (NullPointerException fault) { ++caught; }
              if (i % 50 == 0) System.gc();
            }
            System.out.println(caught + " " + array[0]);
          }
        }"""
        (self.folder / "Faults.java").write_text(source)
        subprocess.run([javac, "-d", str(self.folder), str(self.folder / "Faults.java")], check=True)
        for options in ((), ("--protect",)):
            done = self.weft("numa", *options, "--", "java", "-cp", self.folder, "Faults")
            self.assertEqual((done.returncode, done.stdout), (0, "200 19900\n"), done.stderr)

    def test_nothing_is_left_behind(self):
        def left():
            return set(pathlib.Path("/dev/shm").glob("weft-numa-*")) | set(pathlib.Path("/tmp").glob("weft-numa-*.*.*"))

        before = left()
        self.weft("numa", self.programs["one_thread"], 8, 0)
        self.weft("numa", self.programs["ends"], 0.1, "kill")
        self.command("sh", "-c", f"{os.environ['WEFT_COMMAND']} numa true 2>&1 >/dev/null | true")
        self.assertFalse(left() - before)

    def test_signals_reach_the_program(self):
        numa = [os.environ["WEFT_COMMAND"], "numa", str(self.programs["one_thread"]), "8", "30"]
        with subprocess.Popen(numa, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as command:
            time.sleep(0.5)
            command.terminate()
            _, said = command.communicate(timeout=20)
        self.assertEqual(command.returncode, 128 + signal.SIGTERM)
        self.assertIn("not ended by itself", said)

    def test_the_second_signal_kills(self):
        shell = "trap '' TERM; while :; do sleep 0.1; done"
        numa = [os.environ["WEFT_COMMAND"], "numa", "--", "sh", "-c", shell]
        with subprocess.Popen(numa, stderr=subprocess.PIPE, text=True) as command:
            time.sleep(0.5)
            command.terminate()
            time.sleep(0.3)
            self.assertIsNone(command.poll())
            command.terminate()
            command.communicate(timeout=20)
        self.assertEqual(command.returncode, 128 + signal.SIGKILL)


if __name__ == "__main__":
    unittest.main()
