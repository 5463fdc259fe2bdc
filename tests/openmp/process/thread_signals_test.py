# SPDX-License-Identifier: Apache-2.0
"""Signals to members by whatever way a program comes to pthread_kill."""

import unittest

from support import ProcessTest

# More members than CPUs: some run on other OS threads than their own. Each gets 20 signals while it computes.
SENDS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
enum { size = 5, times = 20 };
static pthread_t members[size];
static int came[size], wrong;
static _Thread_local volatile int number = -1;
static void handler(int signal) {
  if (number < 0 || !pthread_equal(members[number], pthread_self())) __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
  else __atomic_fetch_add(&came[number], 1, __ATOMIC_RELAXED);
}
static int calls(pthread_t thread, int signal) { return pthread_kill(thread, signal); }
static void send(const char *how, int (*send)(pthread_t, int)) {
  int lost = 0;
  wrong = 0;
#pragma omp parallel num_threads(size)
  {
    const int self = omp_get_thread_num();
    members[self] = pthread_self();
    came[self] = 0;
    number = self;
#pragma omp barrier
    for (int i = 0; self == 0 && i < times; i++) {
      for (int other = 1; other < size; other++) {
        send(members[other], SIGUSR1);
        for (int k = 0; __atomic_load_n(&came[other], __ATOMIC_RELAXED) <= i && k < 5000; k++) usleep(100);
        if (came[other] <= i) lost++, i = times, other = size;
      }
    }
#pragma omp barrier
    number = -1;
  }
  printf("%s: %d lost, %d wrong\\n", how, lost, wrong);
}
int main(void) {
  signal(SIGUSR1, handler);
  send("called", calls);
  send("by address", pthread_kill);
  send("looked up", (int (*)(pthread_t, int))dlsym(RTLD_DEFAULT, "pthread_kill"));
  return 0;
}
"""
RIGHT = "".join(f"{how}: 0 lost, 0 wrong\n" for how in ("called", "by address", "looked up"))
# As libraries do that count or filter signals.
WRAPPER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
int pthread_kill(pthread_t thread, int signal) {
  return ((int (*)(pthread_t, int))dlsym(RTLD_NEXT, "pthread_kill"))(thread, signal);
}
"""


class ThreadSignals(ProcessTest):
    def check(self, name, source, *flags, **variables):
        done = self.run_on_weft(self.build(name, source, *flags), **variables)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, RIGHT, ""))

    def test_calls_bound_late_and_at_once(self):
        for way in "lazy", "now":
            with self.subTest(way=way):
                self.check(way, SENDS, f"-Wl,-z,{way}")

    def test_program_at_a_fixed_place(self):
        """It has a stub of its own for a function whose address it takes."""
        for way in "lazy", "now":
            with self.subTest(way=way):
                self.check(f"fixed_{way}", SENDS, "-fno-pie", "-no-pie", f"-Wl,-z,{way}")

    def test_wrapper_in_a_library(self):
        wrapper = self.build("libwrapper.so", WRAPPER, "-shared", "-fPIC")
        self.check("wrapped", SENDS, LD_PRELOAD=str(wrapper))

    def test_wrapper_in_the_program(self):
        self.check("own", WRAPPER + SENDS.replace("#define _GNU_SOURCE\n", ""), "-rdynamic")


if __name__ == "__main__":
    unittest.main()
