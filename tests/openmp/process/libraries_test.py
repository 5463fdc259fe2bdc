# SPDX-License-Identifier: Apache-2.0
"""Libraries that are answered in their own way: who asks is found out without a look at the file system, and again when another
library has taken the place of one. Their calls may have to wait for each other."""

import os
import platform
import re
import subprocess
import unittest

from support import TIMEOUT_S, ProcessTest

WEFT = os.environ["WEFT_COMMAND"]

# What a library that is known sets, when that is what it has just been told, is not the program's setting.
ASKING = r"""
#include <omp.h>
int ask(void) { return omp_get_max_threads(); }
void work(int threads)
{
  if (omp_in_parallel() || threads == 1) return;
#pragma omp parallel num_threads(threads)
  for (volatile int i = 0; i < 10000; i++) {}
}
int members_of(int threads)
{
  int members = 0;
#pragma omp parallel num_threads(threads) reduction(+ : members)
  members++;
  return members;
}
void set(int threads) { omp_set_num_threads(threads); }
"""

# From the second round on, a call that takes a path, or opens a file, ends the process.
ALTERNATE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REFUSE(call) \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
static void refuse_paths(void)
{
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
#ifdef SYS_readlink
      REFUSE(SYS_readlink), REFUSE(SYS_open), REFUSE(SYS_stat), REFUSE(SYS_lstat), REFUSE(SYS_access),
#endif
      REFUSE(SYS_readlinkat), REFUSE(SYS_openat), REFUSE(SYS_newfstatat), REFUSE(SYS_statx), REFUSE(SYS_faccessat),
      REFUSE(SYS_getcwd), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    perror("seccomp");
    exit(77);
  }
}

int main(int count, char **names)
{
  int (*ask[16])(void), sum = 0;
  const int rounds = atoi(names[1]);
  for (int i = 2; i < count; i++) {
    void *library = dlopen(names[i], RTLD_NOW);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
    ask[i] = (int (*)(void))dlsym(library, "ask");
  }
  errno = 0;
  for (int round = 0; round < rounds; round++) {
    if (round == 1) refuse_paths();
    sum += omp_get_max_threads();
    for (int i = 2; i < count; i++) sum += ask[i]();
  }
  char line[64];
  const int size = snprintf(line, sizeof line, "%d %d\n", sum, errno);
  return write(1, line, size) != size;  // printf would look at what it writes to
}
"""

# Says of each library how many questions passed until it was known for what it is, and whether all lay at one place.
RELOAD = r"""
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
int main(int count, char **names)
{
  void *first = NULL;
  int moved = 0;
  for (int i = 1; i < count; i += 2) {
    void *library = dlopen(names[i], RTLD_NOW);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
    int (*ask)(void) = (int (*)(void))dlsym(library, "ask");
    void (*set)(int) = (void (*)(int))dlsym(library, "set");
    if (first == NULL) first = (void *)set;
    if (first != (void *)set) moved = 1;
    const int known = names[i + 1][0] == 'k';
    int wrong = 0;
    for (; wrong < 100000; wrong++) {
      omp_set_num_threads(4);
      int told = ask();
      omp_set_num_threads(2);
      set(told);
      if ((omp_get_max_threads() == 2) == known) break;
    }
    printf("%d ", wrong);
    dlclose(library);
  }
  printf("%d\n", moved);
  return 0;
}
"""

# More members than CPUs call a library; `kind` says what their calls come to.
TURNS = r"""
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int ask(void);
void work(int threads);

static volatile int stop;
// Another initial thread, whose calls do not take turns with those of the region.
static void *disturb(void *unused)
{
  while (!stop) work(ask());
  return unused;
}

static int rounds(int nothing, int some)
{
  int calls = 0;
  // In turns every third time.
  for (int round = 0; round < 18; round++) {
#pragma omp parallel num_threads(8) reduction(+ : calls)
    for (int call = 0; call < 3; call++, calls++) {
      const int threads = ask();
      if (nothing || (some && (call + omp_get_thread_num()) % 2)) continue;
      work(threads);
    }
  }
  return calls;
}

int main(int count, char **words)
{
  const char *kind = words[count - 1];
  const int forks = strcmp(kind, "forks") ? 0 : 5, other = forks || !strcmp(kind, "other");
  pthread_t thread;
  if (other) pthread_create(&thread, NULL, disturb, NULL);
  int calls = rounds(!strcmp(kind, "nothing"), !strcmp(kind, "some"));
  for (int i = 0; i < forks; i++) {
    const pid_t child = fork();
    if (child == 0) _exit(rounds(0, 0) == calls ? 0 : 1);
    int status = 1;
    if (waitpid(child, &status, 0) != child || status != 0) calls = -status;
  }
  stop = 1;
  if (other) pthread_join(thread, NULL);
  printf("%d\n", calls);
  return 0;
}
"""


# As many threads as the pool has room for use OpenMP; one more calls a library, whose regions have one member then.
BEYOND = r"""
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
enum { room = 4096, stack = 64 << 10 };
int ask(void);
int members_of(int threads);
static sem_t there, over;
static void *stay(void *unused)
{
#pragma omp parallel num_threads(2)
  __asm__ volatile("");
  sem_post(&there);
  while (sem_wait(&over) != 0) continue;
  return unused;
}
static int told, members;
static void *call(void *unused)
{
  told = ask();
  members = members_of(told);
  return unused;
}
int main(void)
{
  static pthread_t ids[room + 1];
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack);
  sem_init(&there, 0, 0);
  sem_init(&over, 0, 0);
  for (int i = 0; i < room; i++)
    if (pthread_create(&ids[i], &attributes, stay, NULL) != 0) return perror("pthread_create"), 77;
  for (int i = 0; i < room; i++) while (sem_wait(&there) != 0) continue;
  for (int round = 0; round < 2; round++) {
    pthread_create(&ids[room], NULL, call, NULL);
    pthread_join(ids[room], NULL);
    printf("%d %d\n", told, members);
    for (int i = 0; round == 0 && i < room; i++) sem_post(&over);
    for (int i = 0; round == 0 && i < room; i++) pthread_join(ids[i], NULL);
  }
  return 0;
}
"""


# Takes itself for an OpenBLAS of 0.3.32 or later: once it has been told a number it asks nobody, and opens its regions
# without a number. Each of its items waits for all others.
COUNTING = r"""
#include <omp.h>
int blas_cpu_number = 1, blas_is_num_threads_set_explicitly;
void openblas_set_num_threads(int threads) { blas_cpu_number = threads, blas_is_num_threads_set_explicitly = 1; }
void exec_blas(int items)
{
  int here = 0;
#pragma omp parallel for schedule(static)
  for (int i = 0; i < items; i++) {
    __atomic_add_fetch(&here, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&here, __ATOMIC_SEQ_CST) < items) {}
  }
}
void cblas_dgemm(void)
{
  if (!blas_is_num_threads_set_explicitly && omp_get_max_threads() > 1 && !omp_in_parallel()) return;
  exec_blas(blas_cpu_number);
}
__attribute__((constructor)) static void begin(void) { omp_get_max_threads(); }
"""
COUNTING_CALLER = r"""
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
void cblas_dgemm(void);
void openblas_set_num_threads(int);
int main(int count, char **words)
{
  const int threads = atoi(words[1]), calls = count > 2 ? atoi(words[2]) : 1;
  omp_set_max_active_levels(1);
  openblas_set_num_threads(threads);
  cblas_dgemm();
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < calls; i++) {
#pragma omp task
    cblas_dgemm();
  }
  openblas_set_num_threads(1);
#pragma omp parallel num_threads(2)
  cblas_dgemm();
  puts("over");
  return 0;
}
"""

FLAT_CALLER = r"""
#include <stdio.h>
#include <stdlib.h>
void cblas_dgemm(void);
void openblas_set_num_threads(int);
int main(int count, char **words)
{
  openblas_set_num_threads(atoi(words[1]));
  for (int i = 0; i < (count > 2 ? atoi(words[2]) : 1); i++) cblas_dgemm();
  puts("over");
  return 0;
}
"""

# Takes itself for an OpenBLAS: told less than before, it frees buffers, which a region of another thread may be using.
# Some calls open several regions after one question.
SHRINKING = r"""
#include <omp.h>
#include <time.h>
enum { MOST = 64 };
static int number, taken, buffers[MOST], in_use[MOST];
int freed, regions_of_several;
static void compute(int us)
{
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  const long end = now.tv_sec * 1000000 + now.tv_nsec / 1000 + us;
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while (now.tv_sec * 1000000 + now.tv_nsec / 1000 < end);
}
static int available(void)
{
  const int told = omp_get_max_threads();
  if (told == 1 || omp_in_parallel()) return 1;
  if (told == number) return told;
  number = told;
  compute(300);
  for (int i = 0; i < told; i++) buffers[i] = 1;
  for (int i = told; i < MOST; i++)
    if (__atomic_exchange_n(&buffers[i], 0, __ATOMIC_SEQ_CST) && __atomic_load_n(&in_use[i], __ATOMIC_SEQ_CST)) freed = 1;
  return told;
}
static void region(int items)
{
  while (__atomic_exchange_n(&taken, 1, __ATOMIC_SEQ_CST)) {}
#pragma omp parallel for schedule(static) num_threads(items)
  for (int i = 0; i < items; i++) {
    const int buffer = __atomic_load_n(&buffers[i], __ATOMIC_SEQ_CST);
    if (buffer) __atomic_store_n(&in_use[i], 1, __ATOMIC_SEQ_CST);
    compute(1000);
    if (buffer) __atomic_store_n(&in_use[i], 0, __ATOMIC_SEQ_CST);
  }
  __atomic_store_n(&taken, 0, __ATOMIC_SEQ_CST);
}
void call(int regions)
{
  const int items = available();
  if (items == 1) return compute(1000);
  __atomic_add_fetch(&regions_of_several, regions, __ATOMIC_RELAXED);
  for (int i = 0; i < regions; i++) region(items);
}
"""
SHRINKING_CALLER = r"""
#include <stdio.h>
void call(int regions);
extern int freed, regions_of_several;
int main(void)
{
  for (int round = 0; round < 12; round++) {
#pragma omp parallel num_threads(4)
#pragma omp for schedule(dynamic)
  for (int i = 0; i < 60; i++) call(i % 3 == 0 ? 5 : 1);
  }
  if (regions_of_several == 0) return 2;
  puts(freed ? "freed buffers in use" : "over");
  return 0;
}
"""

# Threads with settings of their own.
SETTINGS = r"""
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
void call(int regions);
extern int freed, regions_of_several;
static void *calls(void *threads)
{
  omp_set_num_threads((int)(long)threads);
  for (int i = 0; i < 60; i++) call((long)threads == 4 ? 5 : 1);
  return 0;
}
int main(void)
{
  pthread_t threads[2];
  for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, calls, (void *)(2 + 2 * i));
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  if (regions_of_several == 0) return 2;
  puts(freed ? "freed buffers in use" : "over");
  return 0;
}
"""

# The initial thread has been told a number, which is smaller than another's, and ends. The kernel keeps what is left of it.
ENDS = r"""
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int ask(void);
int members_of(int threads);
static pthread_barrier_t told;
static void *other(void *none)
{
  omp_set_num_threads(4);
  const int first = ask();
  usleep(100000);
  pthread_barrier_wait(&told);
  pthread_barrier_wait(&told);
  usleep(100000);
  printf("%d %d\n", first, members_of(4));
  exit(0);
  return none;
}
int main(void)
{
  pthread_t thread;
  pthread_barrier_init(&told, 0, 2);
  pthread_create(&thread, 0, other, 0);
  pthread_barrier_wait(&told);
  omp_set_num_threads(2);
  while (ask() < 2) usleep(10000);
  pthread_barrier_wait(&told);
  pthread_exit(0);
}
"""

# The same kind of library that no name tells: a region inside a task, whose members wait for each other.
UNKNOWN = r"""
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **words)
{
  (void)count;
  const int threads = atoi(words[1]);
  int members = 0;
  omp_set_dynamic(0);
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp task
  {
    int here = 0;
#pragma omp parallel num_threads(threads) reduction(+ : members)
    {
      const int all = omp_get_num_threads();
      members++;
      __atomic_add_fetch(&here, 1, __ATOMIC_SEQ_CST);
      while (__atomic_load_n(&here, __ATOMIC_SEQ_CST) < all) {}
    }
  }
  printf("%d\n", members);
  return 0;
}
"""


def lent_in(done):
    return int(re.search(r"compensations: (\d+)", done.stderr)[1])


class RegionsInsideTasks(ProcessTest):
    """Their members wait for each other without a call, and are more than there are CPUs."""

    def test_libraries_that_ask_no_more(self):
        library = self.build("libopenblas-counts.so", COUNTING, "-shared", "-fPIC")
        program = self.build("counting", COUNTING_CALLER, str(library))
        for threads in ("2", "3", "4", "8"):
            for variables in ({}, {"OMP_THREAD_LIMIT": "2"}, {"OMP_PROC_BIND": "true"}):
                with self.subTest(threads=threads, **variables):
                    done = self.run_on_weft(program, threads, "3", WEFT_NUM_CPUS="2", **variables)
                    self.assertEqual((done.returncode, done.stdout), (0, "over\n"), done.stderr)

    def test_each_call_outside_of_regions_gets_its_threads(self):
        """Waits of which nothing is seen: without threads of its own each call would last until the monitor lends some."""
        library = self.build("libopenblas-counts.so", COUNTING, "-shared", "-fPIC")
        program = self.build("calling", FLAT_CALLER, str(library))
        done = self.run_on_weft(program, "6", "20", WEFT_NUM_CPUS="2", WEFT_STATS="all")
        self.assertEqual((done.returncode, done.stdout), (0, "over\n"), done.stderr)
        self.assertGreaterEqual(lent_in(done), 4 * 20)

    @unittest.skipUnless(platform.machine() == "x86_64", "waits are seen on x86-64")
    def test_calls_whose_members_yield_need_none(self):
        library = self.build("libopenblas-counts.so", COUNTING, "-shared", "-fPIC", "-O1")
        program = self.build("calling", FLAT_CALLER, str(library))
        words = [WEFT, "run", "--stats=all", program, "6", "20"]
        two = os.environ | {"WEFT_NUM_CPUS": "2"}
        done = subprocess.run(words, env=two, capture_output=True, text=True, timeout=TIMEOUT_S)
        self.assertEqual((done.returncode, done.stdout), (0, "over\n"), done.stderr)
        # Those of the first call; and where other processes take the CPUs, the monitor may try whether a thread helps.
        self.assertLess(lent_in(done), 20)

    def test_libraries_in_the_program(self):
        source = COUNTING + COUNTING_CALLER.replace("void cblas_dgemm(void);", "")
        source = source.replace("void openblas_set_num_threads(int);", "")
        program = self.build("embedded", source)
        done = self.run_on_weft(program, "4", WEFT_NUM_CPUS="2")
        self.assertEqual((done.returncode, done.stdout), (0, "over\n"), done.stderr)

    def test_libraries_that_nobody_knows(self):
        program = self.build("unknown", UNKNOWN)
        for threads in ("4", "8"):
            with self.subTest(threads=threads):
                done = self.run_on_weft(program, threads, WEFT_NUM_CPUS="2")
                self.assertEqual((done.returncode, done.stdout), (0, f"{threads}\n"), done.stderr)


class NumbersOfThreads(ProcessTest):
    def test_a_smaller_number_is_told_while_no_region_runs(self):
        library = self.build("libopenblas-shrinks.so", SHRINKING, "-shared", "-fPIC")
        program = self.build("shrinking", SHRINKING_CALLER, str(library))
        for cpus in ("2", "4", "8"):
            with self.subTest(cpus=cpus):
                done = self.run_on_weft(program, WEFT_NUM_CPUS=cpus, OMP_NUM_THREADS="8")
                self.assertEqual((done.returncode, done.stdout), (0, "over\n"), done.stderr)

    def test_reproducible_numbers_of_threads_with_settings_of_their_own(self):
        library = self.build("libopenblas-settings.so", SHRINKING, "-shared", "-fPIC")
        program = self.build("settings", SETTINGS, str(library), "-pthread")
        done = self.run_on_weft(program, WEFT_NUM_CPUS="4", WEFT_REPRODUCIBLE="true")
        self.assertEqual((done.returncode, done.stdout), (0, "over\n"), done.stderr)

    def test_a_thread_that_was_told_a_number_ends(self):
        library = self.build("libopenblas-ends.so", ASKING, "-shared", "-fPIC")
        program = self.build("ends", ENDS, str(library), "-pthread")
        done = self.run_on_weft(program, WEFT_NUM_CPUS="4")
        self.assertEqual((done.returncode, done.stdout), (0, "4 4\n"), done.stderr)


class Turns(ProcessTest):
    """Members that wait for their turn sleep; somebody must wake the last of them, whatever became of the one before."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.folder / "openblas").mkdir()
        cls.build("asking", ASKING, "-shared", "-fPIC").rename(cls.folder / "openblas" / "libasking.so")
        paths = [f"-L{cls.folder}/openblas", f"-Wl,-rpath,{cls.folder}/openblas"]
        cls.turns = cls.build("turns", TURNS, *paths, "-lasking")
        cls.beyond = cls.build("beyond", BEYOND, *paths, "-lasking")

    def go_on(self, kind, **variables):
        done = self.run_on_weft(self.turns, kind, **variables)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, f"{18 * 8 * 3}\n", ""))

    def test_calls_that_open_no_region(self):
        self.go_on("nothing", WEFT_NUM_CPUS="2")

    def test_calls_of_which_some_open_a_region(self):
        self.go_on("some", WEFT_NUM_CPUS="2")
        self.go_on("some", WEFT_NUM_CPUS="4")

    def test_calls_beside_those_of_another_thread(self):
        self.go_on("other", WEFT_NUM_CPUS="2")

    def test_calls_in_the_child_of_a_fork(self):
        self.go_on("forks", WEFT_NUM_CPUS="2")

    def test_waiting_on_one_cpu(self):
        self.go_on("some", OMP_PLACES="{0}", OMP_PROC_BIND="true")
        self.go_on("nothing", OMP_PLACES="{0}", OMP_PROC_BIND="true")

    def test_threads_that_have_regions_of_one_member(self):
        """A library that is told more would wait for members that do not come."""
        for reproducible in "true", "false":
            with self.subTest(reproducible=reproducible):
                done = self.run_on_weft(
                    self.beyond,
                    OMP_NUM_THREADS="4",
                    WEFT_NUM_CPUS="4",
                    OMP_STACKSIZE="64K",
                    WEFT_REPRODUCIBLE=reproducible,
                )
                self.assertEqual((done.returncode, done.stdout), (0, "1 1\n4 4\n"), done.stderr)


class Callers(ProcessTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.known, cls.ordinary = [], []
        # One path per library, since the folder decides; the loader sees a link, as with Debian's alternatives.
        for kind, libraries in (("openblas", cls.known), ("other", cls.ordinary)):
            (cls.folder / kind).mkdir()
            for i in range(4):
                built = cls.build(f"{kind}{i}", ASKING, "-shared", "-fPIC")
                target = cls.folder / kind / f"lib{i}.so"
                built.rename(target)
                link = cls.folder / f"{kind[:2]}{i}.so"
                link.symlink_to(target)
                libraries.append(link)
        cls.alternate = cls.build("alternate", ALTERNATE, "-ldl")
        cls.reload = cls.build("reload", RELOAD, "-ldl")

    def statistics(self, *libraries, rounds):
        """Callers looked up, and paths resolved, in so many rounds of questions."""
        done = self.run_on_weft(
            self.alternate, rounds, *libraries, WEFT_STATS="all", OMP_NUM_THREADS="3", WEFT_NUM_CPUS="3"
        )
        if done.returncode == 77:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, f"a system call with a path?\n{done.stderr}")
        self.assertEqual(done.stdout.split(), [str(3 * rounds * (1 + len(libraries))), "0"])
        return [int(re.search(rf"{what}: (\d+)", done.stderr)[1]) for what in ("callers looked up", "paths resolved")]

    def test_two_libraries_in_turn(self):
        looked_up, resolved = self.statistics(self.known[0], self.known[1], rounds=10000)
        self.assertEqual(resolved, 2)
        # Three of each 1024 questions, to find out about libraries that have gone.
        self.assertLess(looked_up, 200)

    def test_more_libraries_than_a_thread_remembers(self):
        looked_up, resolved = self.statistics(*self.known, *self.ordinary, rounds=2000)
        self.assertEqual(resolved, 8)
        self.assertGreater(looked_up, 2000)  # the counter counts

    def test_a_library_in_the_place_of_another(self):
        known, ordinary = self.known[0], self.ordinary[0]
        order = [known, "known", ordinary, "ordinary", known, "known", ordinary, "ordinary"]
        done = self.run_on_weft(self.reload, *order, OMP_NUM_THREADS="4", WEFT_NUM_CPUS="4")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        *wrong, moved = [int(word) for word in done.stdout.split()]
        self.assertEqual(moved, 0, "the loader has put them at different addresses: this test says nothing")
        self.assertLess(max(wrong), 1024, done.stdout)


if __name__ == "__main__":
    unittest.main()
