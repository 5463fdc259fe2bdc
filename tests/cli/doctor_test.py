# SPDX-License-Identifier: Apache-2.0
"""`weft doctor`: each fault is found, with what mends it, and where there is none nothing is said."""

import json
import os
import resource
import subprocess
import unittest

from command_test import GCC, WEFT, CommandTest
from finished import finished

PLAIN = "static volatile int met;\nint main(void) {\n#pragma omp parallel\nmet = 1;\nreturn 0; }"


class Doctor(CommandTest):
    KEPT = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "WEFT_", "LD_", "OPENBLAS_", "MKL_"))}

    def findings(self, *words, limits=None, **variables):
        """What is found, by its JSON; what this machine has by itself is left out."""

        def apply_limits():
            for which, value in (limits or {}).items():
                resource.setrlimit(which, (value, value))

        command = [WEFT, "doctor", "--json", "-", *map(str, words)]
        done = finished(command, env=self.KEPT | variables, timeout=60, preexec_fn=apply_limits)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        findings = json.loads(done.stdout)["findings"]
        # What other programs do changes from one second to the next.
        return {each["what"]: each["mend"] for each in findings if not each["what"].startswith("other programs are at")}

    def found(self, word, *words, **more):
        """The only new finding: beside those that there are without."""
        own = self.findings(*words)
        new = {what: mend for what, mend in self.findings(*words, **more).items() if what not in own}
        self.assertEqual([word in what for what in new], [True], new)
        return next(iter(new.items()))

    def test_variables(self):
        for name, value, word in (
            ("OPENBLAS_NUM_THREADS", "1", "1 of "),
            ("MKL_NUM_THREADS", "1", "1 of "),
            ("OMP_NUM_THREADS", "1", "1 of "),
            ("OMP_NUM_THREADS", "4000", "more threads than twice"),
            ("OMP_MAX_ACTIVE_LEVELS", "1", "regions inside regions are serial"),
            ("GOMP_SPINCOUNT", "infinite", "another runtime's"),
            ("OMP_NUM_THREADS", "abc", "no value that it can have"),
            ("WEFT_NUM_CPU", "3", "there is no such variable"),
            ("WEFT_ADOPT_LIBRARIES", "false", "bring threads of their own"),
        ):
            if os.cpu_count() < 2 and word == "1 of ":
                continue
            with self.subTest(name=name):
                what, mend = self.found(f"{name}={value}: ", **{name: value})
                self.assertIn(word, what)
                self.assertTrue(any(way in mend for way in ("unset", "numbers from", "WEFT_NUM_CPUS")), mend)
        what, mend = self.found("say where threads run", OMP_PROC_BIND="close", KMP_AFFINITY="none")
        self.assertIn("OMP_PROC_BIND, KMP_AFFINITY", what)
        self.assertIn("keep one", mend)
        own = self.findings()
        self.assertEqual(self.findings(OMP_PROC_BIND="close", OMP_PLACES="cores"), own)

    def test_limits(self):
        for which, value, word in (
            (resource.RLIMIT_STACK, 1 << 20, "stacks of 1 MiB"),
            (resource.RLIMIT_AS, 4 << 30, "addresses are limited to 4 GiB"),
        ):
            with self.subTest(word=word):
                self.found(word, limits={which: value})

    def test_affinity(self):
        if os.cpu_count() < 2:
            self.skipTest("needs two CPUs")
        cpu = str(min(os.sched_getaffinity(0)))
        for variables, word in (
            ({}, "mpirun --bind-to none, srun"),
            ({"SLURM_JOB_ID": "7"}, "srun or sbatch --cpus-per-task=N"),
            ({"SLURM_JOB_ID": "7", "SLURM_CPUS_PER_TASK": "2"}, "srun --cpus-per-task=2;"),
            ({"SLURM_JOB_ID": "7", "SLURM_CPUS_PER_TASK": "1"}, None),  # what the job has asked for
        ):
            with self.subTest(variables=variables):
                outside = {k: v for k, v in self.KEPT.items() if not k.startswith("SLURM_")}
                said = finished(["taskset", "-c", cpu, WEFT, "doctor"], env=outside | variables, timeout=60).stdout
                self.assertEqual("the affinity mask allows 1 of " in said, word is not None, said)
                self.assertIn(word or "", said)

    def test_programs(self):
        program = self.build("plain", PLAIN)
        own = self.findings()
        self.assertEqual(self.findings("--", program), own)
        archive = subprocess.run([GCC, "-print-file-name=libgomp.a"], capture_output=True, text=True, check=True)
        inside = self.folder / "inside"
        (self.folder / "inside.c").write_text(PLAIN)
        command = [GCC, "-fopenmp", "-c", self.folder / "inside.c", "-o", self.folder / "inside.o"]
        subprocess.run(command, check=True)
        subprocess.run([GCC, self.folder / "inside.o", archive.stdout.strip(), "-lpthread", "-o", inside], check=True)
        self.assertTrue(any("an OpenMP runtime beside weft" in what for what in self.findings("--", inside)))
        static = self.build("static", "int main(void) { return 0; }", "-static")
        self.assertTrue(any(str(static) in what for what in self.findings("--", static)))

    def test_processes(self):
        program = self.build("sleeps", "#include <unistd.h>\n" + PLAIN.replace("return 0", "sleep(1000); return 0"))
        own = self.findings()
        for command, word in (
            ([WEFT, "run", program], None),
            ([program], "runs on "),
            (["sleep", "1000"], "has no OpenMP runtime"),
        ):
            with self.subTest(word=word), subprocess.Popen(command, env=self.KEPT) as process:
                try:
                    found = {}
                    for _ in range(50):
                        found = {what for what in self.findings(process.pid) if what not in own}
                        if found == set() if word is None else any(word in what for what in found):
                            break
                    else:
                        self.fail(found)
                finally:
                    process.kill()

    def test_nothing_wrong_and_usage(self):
        done = self.weft("doctor", "/nonexistent")
        self.assertEqual(done.returncode, 127)
        self.one_complaint(done, "/nonexistent")
        done = self.weft("doctor", str(2**22 + 1))
        self.assertEqual(done.returncode, 1)
        self.one_complaint(done, "there is no such process")
        said = self.weft("doctor").stdout
        if not self.findings() and "other programs are at work" not in said:
            self.assertIn("Nothing that weft knows of is wrong here.", said)


if __name__ == "__main__":
    unittest.main()
