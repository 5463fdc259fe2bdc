# SPDX-License-Identifier: Apache-2.0
"""What the system refuses, weft does without: each system call that the runtime makes, and each resource, is refused to a
program with regions of all kinds. Its results are right, and what the user should know is said in a line of weft's; or it
ends with one such line and a status that says so. It never hangs and never dies of a signal."""

import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

from everyone import runtime_for_everyone
from finished import finished

GCC = os.environ.get("WEFT_TEST_GCC", "gcc")
SOURCE = pathlib.Path(__file__).with_name("refused.c")
TIMEOUT_S = 60
NO_FILTER = 77  # the program's status where the system has no such filters
LOOPS_PER_CPU = 4  # beside a program that shares its CPUs with others
USER = 54321  # nobody else's, not even another test's

# From when on; the calls, all at once; the errors, one after the other; whether the program may be told something.
CALLS = [
    ("region", "clone,clone3", "EPERM EAGAIN ENOSYS", True),
    ("region", "clone3", "EPERM EAGAIN", True),
    ("region", "clone3", "ENOSYS", False),  # there is an older one
    ("start", "clone3", "ENOSYS", False),
    ("region", "mmap", "ENOMEM EPERM", True),
    ("region", "mprotect", "ENOMEM EPERM", True),
    ("region", "mremap", "ENOMEM", False),
    ("region", "munmap", "EPERM ENOSYS", False),
    ("start", "madvise", "EPERM ENOSYS", False),
    ("start", "rseq", "ENOSYS EPERM", False),
    ("start", "membarrier", "EPERM ENOSYS", False),
    ("start", "sched_setaffinity", "EPERM ENOSYS", True),
    ("start", "sched_getaffinity", "EPERM ENOSYS", True),  # then which CPUs there are is a guess, which binding meets
    ("start", "sched_setattr,sched_getattr,sched_getparam,sched_getscheduler", "EPERM ENOSYS", False),
    ("start", "sched_yield", "EPERM ENOSYS", False),
    ("start", "sigaltstack", "EPERM ENOSYS", False),
    ("start", "rt_sigaction", "EPERM ENOSYS", False),
    ("region", "rt_sigprocmask", "EPERM ENOSYS", False),
    ("region", "prctl", "EPERM ENOSYS", False),
    ("region", "openat,newfstatat,statx,readlink", "EPERM ENOSYS", False),
    ("region", "read,pread64", "EPERM ENOSYS", False),
    ("start", "getdents64", "EPERM ENOSYS", False),
    ("start", "getrandom", "EPERM ENOSYS", False),
    ("start", "prlimit64", "EPERM ENOSYS", False),
    ("region", "set_robust_list,get_robust_list", "EPERM ENOSYS", False),
    ("start", "clock_nanosleep,nanosleep", "EPERM ENOSYS", False),
    ("start", "process_vm_readv", "EPERM ENOSYS", False),
    ("start", "gettid,geteuid,getpid", "EPERM", False),
    ("start", "sysinfo,uname,ioctl,fcntl", "EPERM ENOSYS", False),
]
# What only processes that share the node do.
NODE_CALLS = [
    ("start", "ftruncate,fallocate", "EPERM ENOSYS ENOMEM", True),
    ("start", "linkat,unlink", "EPERM ENOSYS", True),
    ("region", "openat", "EPERM ENOSYS", True),
    ("region", "mmap", "ENOMEM", True),
    ("region", "clone,clone3", "EAGAIN", True),
    ("start", "kill,tgkill", "EPERM ENOSYS", False),
]
ENVIRONMENTS = {"usual": {}, "bound": {"OMP_PROC_BIND": "true"}, "passive": {"OMP_WAIT_POLICY": "passive"}}


class Refusals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="weft-test-")))
        folder.chmod(0o755)
        cls.runtime = runtime_for_everyone(folder)
        cls.program = folder / "refused"
        subprocess.run(
            [GCC, "-O1", "-g", "-fopenmp", str(SOURCE), "-o", str(cls.program)], check=True, timeout=TIMEOUT_S
        )

    def check(self, *arguments, told, before=(), limits=None, user=None, may_end=False, **variables):
        """`told`: lines may be said, else none must; `may_end`: one line and the end will do."""
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "GOMP_", "KMP_", "WEFT_"))
        }
        environment |= {"LD_LIBRARY_PATH": str(self.runtime), "OMP_NUM_THREADS": "4", "WEFT_NUM_CPUS": "2", **variables}

        def apply_limits():
            for which, value in (limits or {}).items():
                resource.setrlimit(which, (value, value))
            if user is not None:
                os.setgid(user)
                os.setuid(user)

        done = finished(
            [*before, str(self.program), *arguments], env=environment, timeout=TIMEOUT_S, preexec_fn=apply_limits
        )
        if done.returncode == NO_FILTER:
            self.skipTest("this system has no filters of system calls")
        lines = done.stderr.splitlines()
        for line in lines:
            self.assertTrue(line.startswith("weft: "), done.stderr)
        if may_end and done.returncode > 0 and not done.stdout:
            self.assertGreaterEqual(len(lines), 1)
        else:
            self.assertEqual((done.returncode, done.stdout), (0, "right\n"), done.stderr)
        self.assertLessEqual(len(lines), 2 if told else 0, done.stderr)
        return done

    def each(self, rows, environments):
        for when, calls, errors, told in rows:
            for error in errors.split():
                for name, variables in environments.items():
                    with self.subTest(when=when, calls=calls, error=error, environment=name):
                        self.check(when, error, calls, told=told, **variables)

    def test_nothing_refused(self):
        self.check("region", "EPERM", "membarrier", "spin", told=False)

    def test_system_calls(self):
        self.each(CALLS, ENVIRONMENTS)

    def test_system_calls_of_the_node(self):
        self.each(NODE_CALLS, {"node": {"WEFT_NODE": "1"}})

    def test_threads(self):
        """Members that wait for each other must not wait for threads that cannot be had."""
        for error in ("EAGAIN", "EPERM"):
            with self.subTest(error=error):
                self.check("region", error, "clone,clone3", "spin", told=True, may_end=True)
        for most in (1, 2, 3, 4, 5, 6, 8, 10, 12):
            for wait in ("", "spin", "sleep") if most % 4 == 2 else ("",):
                self.check_with_processes(most, wait)

    def test_threads_on_a_busy_machine(self):
        """It is told as well where other processes take the CPUs. How soon, the limit of each run says."""
        loops = [
            subprocess.Popen(["sh", "-c", "ulimit -t 600; while :; do :; done"])
            for _ in range(LOOPS_PER_CPU * len(os.sched_getaffinity(0)))
        ]
        try:
            for most in (6, 8, 10, 14):
                self.check_with_processes(most, "spin")
            self.check_with_processes(8, "sleep")
        finally:
            for loop in loops:
                loop.kill()
                loop.wait()

    def check_with_processes(self, most, wait):
        """As a user who may have so many; `wait`: how members wait for each other."""
        if os.geteuid() != 0:
            self.skipTest("the number of a user's processes is limited for another user, and only root can be that")
        limits = {resource.RLIMIT_NPROC: most}
        with self.subTest(most=most, wait=wait):
            self.check("no", "EPERM", "read", wait, told=True, may_end=True, user=USER, limits=limits)

    def test_address_space(self):
        for megabytes in (60, 80, 100, 150, 250, 400):
            with self.subTest(megabytes=megabytes):
                self.check("no", "EPERM", "read", told=True, may_end=True, limits={resource.RLIMIT_AS: megabytes << 20})

    def test_files(self):
        for name, variables in {"usual": {}, "node": {"WEFT_NODE": "1"}}.items():
            for which, value in (
                (resource.RLIMIT_NOFILE, 4),
                (resource.RLIMIT_FSIZE, 0),
                (resource.RLIMIT_CORE, 0),
                (resource.RLIMIT_MEMLOCK, 0),
                (resource.RLIMIT_SIGPENDING, 0),
            ):
                with self.subTest(name=name, which=which):
                    self.check("no", "EPERM", "read", told=name == "node", limits={which: value}, **variables)

    def test_stack(self):
        for kilobytes in (128, 256, 1024):
            with self.subTest(kilobytes=kilobytes):
                self.check("no", "EPERM", "read", told=True, limits={resource.RLIMIT_STACK: kilobytes << 10})

    def test_file_systems(self):
        unshare = shutil.which("unshare")
        hidden = [unshare, "--mount", "--propagation", "private"] if unshare else []
        if (
            not hidden
            or subprocess.run([*hidden, "true"], capture_output=True, timeout=TIMEOUT_S, check=False).returncode
        ):
            self.skipTest("no name space of mounts can be had")
        for place in ("/proc", "/sys", "/dev/shm"):
            command = [*hidden, "sh", "-c", f'mount -t tmpfs -o ro none {place} && exec "$@"', "sh"]
            for name, variables in {
                "usual": {},
                "bound": {"OMP_PROC_BIND": "true"},
                "node": {"WEFT_NODE": "1"},
            }.items():
                with self.subTest(place=place, name=name):
                    self.check("no", "EPERM", "read", told=name != "usual", before=command, **variables)


if __name__ == "__main__":
    if not sys.platform.startswith("linux"):
        sys.exit("these are Linux's")
    unittest.main()
