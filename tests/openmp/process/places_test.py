# SPDX-License-Identifier: Apache-2.0
"""Places and those of members on machines that are not there: the same as under the system's own libgomp, where OpenMP
leaves no choice or where weft has made the same one."""

import os
import pathlib
import unittest

from support import ProcessTest

HERE = pathlib.Path(__file__).resolve().parent

PROBE = r"""
#include <omp.h>
#include <stdio.h>

// Without the policy of regions with a clause: in libgomp the clause changes bind-var, by OpenMP it does not.
static void show(const char *who, int outer)
{
  int policy = who[0] == '-' ? 0 : omp_get_proc_bind();
  int nums[4096] = {-1}, count = omp_get_partition_num_places();
  omp_get_partition_place_nums(nums);
#pragma omp critical
  printf("%s %d.%d of %d: place %d, policy %d, partition %d from %d\n", who, outer, omp_get_thread_num(),
         omp_get_num_threads(), omp_get_place_num(), policy, count, count ? nums[0] : -1);
}

int main(void)
{
  printf("policy %d, %d places:", omp_get_proc_bind(), omp_get_num_places());
  for (int place = 0; place < omp_get_num_places(); place++) {
    int ids[4096], count = omp_get_place_num_procs(place);
    omp_get_place_proc_ids(place, ids);
    printf(" {");
    for (int i = 0; i < count; i++) printf(i ? ",%d" : "%d", ids[i]);
    printf("}");
  }
  printf("\n");
  show("initial", 0);
#pragma omp parallel
  {
    int outer = omp_get_thread_num();
    show("outer", 0);
#pragma omp parallel num_threads(2)
    show("inner", outer);
  }
#pragma omp parallel num_threads(2) proc_bind(spread)
  show("-spread", 0);
#pragma omp parallel num_threads(2) proc_bind(close)
  show("-close", 0);
#pragma omp parallel num_threads(2) proc_bind(primary)
  show("-primary", 0);
  return 0;
}
"""


def as_list(cpus):
    return ",".join(str(cpu) for cpu in cpus)


class Machine:
    """/sys of `sockets` sockets with `cores` cores of `threads` threads; CPU numbers go round the cores first, as on
    most machines, so that siblings are far apart. Each socket has two caches of the last level and is a NUMA node."""

    def __init__(self, folder, sockets, cores, threads):
        self.cpus = sockets * cores * threads
        root = folder / f"machine-{sockets}-{cores}-{threads}"
        system = root / "sys/devices/system"
        all_cores = sockets * cores

        def write(path, text):
            (system / path).parent.mkdir(parents=True, exist_ok=True)
            (system / path).write_text(text + "\n")

        for cpu in range(self.cpus):
            core, socket = cpu % all_cores, cpu % all_cores // cores
            half = core % cores * 2 // cores
            siblings = as_list(range(core, self.cpus, all_cores))
            of_socket = [c for c in range(self.cpus) if c % all_cores // cores == socket]
            cached = as_list(c for c in of_socket if c % cores * 2 // cores == half)
            for name in ("core_siblings_list", "package_cpus_list"):
                write(f"cpu/cpu{cpu}/topology/{name}", as_list(of_socket))
            for name in ("thread_siblings_list", "core_cpus_list"):
                write(f"cpu/cpu{cpu}/topology/{name}", siblings)
            for index, (level, shared) in enumerate(((1, siblings), (1, siblings), (2, siblings), (3, cached))):
                write(f"cpu/cpu{cpu}/cache/index{index}/level", str(level))
                write(f"cpu/cpu{cpu}/cache/index{index}/shared_cpu_list", shared)
            write(f"node/node{socket}/cpulist", as_list(of_socket))
        write("node/online", f"0-{sockets - 1}" if sockets > 1 else "0")
        self.root = root


class Places(ProcessTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        source = (HERE.parent / "support/fake_machine.c").read_text()
        cls.fake = cls.build("fake_machine.so", source, "-shared", "-fPIC", "-ldl", "-fno-openmp")
        cls.probe = cls.build("probe", PROBE)
        cls.small = Machine(cls.folder, 1, 4, 1)
        cls.large = Machine(cls.folder, 2, 4, 2)

    def ask(self, machine, weft, cpus=None, **variables):
        variables = {
            "LD_PRELOAD": str(self.fake),
            "WEFT_TEST_ROOT": str(machine.root),
            "WEFT_TEST_CPUS": cpus or f"0-{machine.cpus - 1}",
            "OMP_MAX_ACTIVE_LEVELS": "2",
            **variables,
        }
        if not weft:
            variables["LD_LIBRARY_PATH"] = os.environ.get("LD_LIBRARY_PATH", "")
        done = self.run_on_weft(self.probe, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        first, *rest = done.stdout.splitlines()
        return [first, *sorted(rest)], done.stderr

    def check_same(self, machine, cpus=None, **variables):
        shown = " ".join(f"{name}={value}" for name, value in variables.items())
        with self.subTest(cpus=machine.cpus, mask=cpus, variables=shown):
            self.assertEqual(
                self.ask(machine, True, cpus, **variables)[0], self.ask(machine, False, cpus, **variables)[0]
            )

    def test_names(self):
        for machine in (self.small, self.large):
            for name in ("threads", "cores", "sockets", "numa_domains", "cores(2)", "THREADS (3)", "sockets(9)"):
                self.check_same(machine, OMP_PLACES=name, OMP_NUM_THREADS="2")
        # libgomp 12 sees only the first cache.
        self.check_places("{0,1,8,9} {2,3,10,11} {4,5,12,13} {6,7,14,15}", OMP_PLACES="ll_caches")
        self.check_places("{1,9} {3,11} {5}", cpus="1,3,5,9,11", OMP_PLACES="ll_caches")

    def test_numa(self):
        """WEFT_NUMA stands for places and a policy. The domains of the large machine: 0-3,8-11 and 4-7,12-15."""
        for value, places, policy, of_four in (
            ("compact", "cores", "close", [0, 1, 2, 3]),
            ("spread", "numa_domains", "spread", [0, 0, 1, 1]),
            ("local", "numa_domains", "spread", [0, 0, 1, 1]),
        ):
            for machine in (self.small, self.large):
                for threads in ("2", "4", "16"):
                    with self.subTest(value=value, cpus=machine.cpus, threads=threads):
                        said, stderr = self.ask(machine, True, WEFT_NUMA=value, OMP_NUM_THREADS=threads)
                        self.assertEqual(stderr, "")
                        wanted, _ = self.ask(
                            machine, True, OMP_PLACES=places, OMP_PROC_BIND=policy, OMP_NUM_THREADS=threads
                        )
                        self.assertEqual(said, wanted)
            said, _ = self.ask(self.large, True, WEFT_NUMA=value, OMP_NUM_THREADS="4")
            found = [int(line.split("place ")[1].split(",")[0]) for line in said if line.startswith("outer")]
            self.assertEqual(found, of_four, value)
        unbound, _ = self.ask(self.large, True, WEFT_NUMA="none", OMP_NUM_THREADS="2")
        self.assertIn("policy 0, 0 places:", unbound[0])

    def test_numa_and_others(self):
        for name, value in (
            ("OMP_PLACES", "cores"),
            ("OMP_PROC_BIND", "false"),
            ("GOMP_CPU_AFFINITY", "0-3"),
            ("KMP_AFFINITY", "compact"),
        ):
            with self.subTest(name=name):
                said, stderr = self.ask(self.large, True, WEFT_NUMA="spread", OMP_NUM_THREADS="2", **{name: value})
                self.assertEqual(said, self.ask(self.large, True, OMP_NUM_THREADS="2", **{name: value})[0])
                self.assertEqual(stderr.count("\n"), 1, stderr)
                for word in ("WEFT_NUMA is ignored", name):
                    self.assertIn(word, stderr)

    def test_lists(self):
        for places in (
            "{0},{1},{2},{3}",
            "{0:4}:4:4",
            "{0:2}:8:2",
            "{3},{2},{1}",
            "{15}:4:-4",
            "{0:4:2},{1:4:2}",
            "0:8:2",
            "5,{1,2},7",
            "{0:8,!3,!4},{3,4}",
            "{0}:8,!{3}",
            " { 0 : 2 } : 3 : 4 , { 15 } ",
        ):
            self.check_same(self.large, OMP_PLACES=places, OMP_NUM_THREADS="2")

    def test_policies(self):
        # Fewer members than places, as many, and a multiple. Where there are more and it does not come out even, OpenMP
        # wants the members of a place to have consecutive numbers, which libgomp does not see to.
        for policy in ("true", "close", "spread", "master", "close,spread", "spread,close", "spread,spread"):
            for threads in ("3", "5", "8", "16"):
                self.check_same(self.large, OMP_PROC_BIND=policy, OMP_PLACES="{0}:8", OMP_NUM_THREADS=threads)
        for policy in ("false", "primary", "primary,spread", "spread,master"):
            self.check_same(self.large, OMP_PROC_BIND=policy, OMP_PLACES="cores", OMP_NUM_THREADS="3")
            self.check_same(self.large, OMP_PROC_BIND=policy, OMP_NUM_THREADS="1")

    def test_gomp_cpu_affinity(self):
        for cpus in ("0-15", "0 3 1-2 4-15:2", "3,1", "4-7 0"):
            self.check_same(self.large, GOMP_CPU_AFFINITY=cpus, OMP_NUM_THREADS="2")
        self.check_same(self.large, GOMP_CPU_AFFINITY="0-3", OMP_PLACES="cores", OMP_NUM_THREADS="3")
        self.check_same(self.large, GOMP_CPU_AFFINITY="0-3", OMP_PROC_BIND="spread", OMP_NUM_THREADS="2")
        self.check_same(self.large, GOMP_CPU_AFFINITY="0-3", OMP_PROC_BIND="false", OMP_NUM_THREADS="2")

    def test_restricted_masks(self):
        for cpus in ("1", "3-6", "1,3,5,9,11", "8-15"):
            for places in ("threads", "cores", "sockets", "{0:8},{8:8}", "{0:2}:8:2"):
                self.check_same(self.large, cpus, OMP_PLACES=places, OMP_NUM_THREADS="2")

    def test_consecutive_members(self):
        """More members than places, not a multiple."""
        for policy in ("close", "spread"):
            lines, _ = self.ask(
                self.small,
                True,
                OMP_PROC_BIND=policy,
                OMP_PLACES="{0}:4",
                OMP_NUM_THREADS="6",
                OMP_MAX_ACTIVE_LEVELS="1",
            )
            places = [int(line.split("place ")[1].split(",")[0]) for line in lines if line.startswith("outer")]
            self.assertEqual(places, [0, 0, 1, 2, 2, 3])

    def check_places(self, expected, *words, machine=None, cpus=None, **variables):
        """The line about places, and words of the one warning, if any."""
        lines, warnings = self.ask(machine or self.large, True, cpus, OMP_NUM_THREADS="2", **variables)
        with self.subTest(**variables):
            self.assertEqual(lines[0].split(":", 1)[1].strip(), expected)
            self.assertEqual(warnings.count("\n"), 1 if words else 0, warnings)
            for word in words:
                self.assertIn(word, warnings)
        return lines

    def test_what_is_not_there_is_left_out(self):
        self.check_places("{4} {5}", "OMP_PLACES", "CPU 0-3,6-7;", "4-5", cpus="4-5", OMP_PLACES="{0}:8")
        self.check_places("{4} {5}", "GOMP_CPU_AFFINITY", "CPU 0-3;", cpus="4-5", GOMP_CPU_AFFINITY="0-5")
        self.check_places("", "OMP_PLACES", "no place is left", cpus="4-5", OMP_PLACES="{0},{8000}")

    def test_kmp_affinity(self):
        # 2 sockets of 4 cores of 2 threads: CPU c has the sibling c + 8.
        pairs = " ".join(f"{{{core},{core + 8}}}" for core in range(8))
        self.check_places(pairs, KMP_AFFINITY="compact")
        self.check_places(pairs, KMP_AFFINITY="granularity=fine,balanced")
        self.check_places(
            "{0} {8} {1} {9} {2} {10} {3} {11} {4} {12} {5} {13} {6} {14} {7} {15}",
            KMP_AFFINITY="granularity=fine,compact",
        )
        self.check_places(
            "{0} {4} {1} {5} {2} {6} {3} {7} {8} {12} {9} {13} {10} {14} {11} {15}",
            KMP_AFFINITY="granularity=thread,scatter,respect",
        )
        self.check_places(
            "{0} {1} {2} {3} {4} {5} {6} {7} {8} {9} {10} {11} {12} {13} {14} {15}",
            KMP_AFFINITY="granularity=fine,compact,1",
        )
        self.check_places("{0,1,2,3,8,9,10,11} {4,5,6,7,12,13,14,15}", KMP_AFFINITY="granularity=socket,scatter")
        self.check_places("{3} {0,1} {4} {6}", KMP_AFFINITY="explicit,proclist=[3,{0-1},4-6:2]")
        self.check_places("", KMP_AFFINITY="none")
        self.check_places("", KMP_AFFINITY="noverbose,disabled")
        self.check_places("", "KMP_AFFINITY", "OMP_PLACES", KMP_AFFINITY="none", OMP_PLACES="threads")
        self.check_places("{0} {1}", KMP_AFFINITY="granularity=fine", OMP_PLACES="{0},{1}")
        self.check_places("{0} {1}", "places {0},{1}", KMP_AFFINITY="verbose,explicit,proclist=[0,1]")
        lines = self.check_places("{0} {1} {2} {3}", machine=self.small, KMP_AFFINITY="compact,0,3")
        self.assertIn("outer 0.0 of 2: place 3, policy 1, partition 4 from 0", lines)
        self.assertIn("outer 0.1 of 2: place 0, policy 1, partition 4 from 0", lines)

    def test_hw_subset(self):
        lines = self.check_places("{4,5,12,13}", KMP_HW_SUBSET="1s@1,2c")
        self.assertIn("policy 0", lines[0])
        self.assertIn("outer 0.1 of 2: place 0, policy 0, partition 1 from 0", lines)
        self.check_places("{1} {2} {5} {6}", KMP_HW_SUBSET="2c@1,1t", OMP_PLACES="threads")
        self.check_places("{0,1,8,9} {4,5,12,13}", KMP_HW_SUBSET="1ll", KMP_AFFINITY="granularity=socket,compact")
        lines, _ = self.ask(self.large, True, KMP_HW_SUBSET="1s,3c,1t")
        self.assertEqual(sum(line.startswith("outer") for line in lines), 3, "the default number of threads")

    def test_bad_values(self):
        for name, value in (
            ("OMP_PLACES", "nodes"),
            ("OMP_PLACES", "cores(0)"),
            ("OMP_PLACES", "cores(2"),
            ("OMP_PLACES", "{0"),
            ("OMP_PLACES", "{0},"),
            ("OMP_PLACES", "{}"),
            ("OMP_PLACES", "{0:0}"),
            ("OMP_PLACES", "{0:2:-1}"),
            ("OMP_PLACES", "{0}:3:-1"),
            ("OMP_PLACES", "{8192}"),
            ("OMP_PLACES", "{0}:9000"),
            ("OMP_PLACES", "{0,!0}"),
            ("OMP_PLACES", "{0},!{1}"),
            ("OMP_PLACES", "{0};{1}"),
            ("OMP_PLACES", "threads,cores"),
            ("OMP_PLACES", "{-1}"),
            ("GOMP_CPU_AFFINITY", "a"),
            ("GOMP_CPU_AFFINITY", "0-"),
            ("GOMP_CPU_AFFINITY", "3-1"),
            ("GOMP_CPU_AFFINITY", "0,"),
            ("GOMP_CPU_AFFINITY", "0-4:0"),
            ("OMP_PROC_BIND", "near"),
            ("OMP_PROC_BIND", "close,true"),
            ("OMP_PROC_BIND", "true,close"),
            ("OMP_PROC_BIND", "close,"),
            ("KMP_AFFINITY", "dense"),
            ("KMP_AFFINITY", "compact,scatter"),
            ("KMP_AFFINITY", "explicit"),
            ("KMP_AFFINITY", "0,compact"),
            ("KMP_AFFINITY", "compact,0,0,0"),
            ("KMP_AFFINITY", "granularity=tiny,compact"),
            ("KMP_AFFINITY", "explicit,proclist=[0"),
            ("KMP_AFFINITY", "compact,proclist=[0]"),
            ("KMP_HW_SUBSET", "2"),
            ("KMP_HW_SUBSET", "1c,1c"),
            ("KMP_HW_SUBSET", "3s"),
            ("KMP_HW_SUBSET", "1t:eff0"),
        ):
            self.check_places("", name, value, "ignored" if name != "OMP_PROC_BIND" else "default", **{name: value})

    def test_no_sys(self):
        nothing = Machine.__new__(Machine)
        nothing.root, nothing.cpus = self.folder / "nothing", 4
        self.check_places("{0} {1} {2} {3}", machine=nothing, OMP_PLACES="cores")
        self.check_places("{0,1,2,3}", machine=nothing, OMP_PLACES="numa_domains")
        self.check_places("{0,1,2,3}", machine=nothing, OMP_PLACES="sockets")


if __name__ == "__main__":
    unittest.main()
