# SPDX-License-Identifier: Apache-2.0
"""Signals that end a program: it dies of them as without weft, from whatever thread and at whatever moment, and handlers
that end it decide its exit status."""

import contextlib
import os
import signal
import subprocess
import time
import unittest

from support import RUNTIME, ProcessTest

# Says when its nested regions run, and goes on for ever.
BUSY = """
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void leave(int signal) { _exit(signal == SIGTERM ? 43 : 42); }
static void orderly(int signal) { exit(40 + signal); }
int main(int count, char **arguments) {
  if (count > 1 && strcmp(arguments[1], "handler") == 0) signal(SIGINT, leave), signal(SIGTERM, leave);
  if (count > 1 && strcmp(arguments[1], "exit") == 0) signal(SIGINT, orderly);
  long members = 0;
#pragma omp parallel num_threads(4)
  for (long i = 0;; i++) {
#pragma omp parallel num_threads(3)
    {
#pragma omp barrier
#pragma omp atomic
      members++;
      if (count > 1 && strcmp(arguments[1], "sleep") == 0) usleep(1000);
    }
#pragma omp master
    if (i == 20 && write(1, "r", 1) < 0) _exit(1);
  }
}
"""
# Handlers that ask for the alternate stack and need much room: where the program has set none up, they have had the
# thread's own stack.
DEEP_HANDLERS = """
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
static volatile sig_atomic_t room = 40000;
static int handled;
static void handler(int signal) {
  char *used = __builtin_alloca(room);
  memset(used, signal, room);
  __asm__ volatile("" : : "r"(used) : "memory");
  __atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
}
static int none(void) {
  stack_t now;
  return sigaltstack(NULL, &now) == 0 && (now.ss_flags & SS_DISABLE) != 0;
}
static void *other(void *own) {
  stack_t mine = {.ss_sp = own, .ss_size = 1 << 20}, now;
  sigaltstack(&mine, NULL);
  int members = 0;
#pragma omp parallel num_threads(4) reduction(+ : members)
  members++;
  if (sigaltstack(NULL, &now) != 0 || now.ss_sp != own) puts("another one");
  room = 900000;
  raise(SIGUSR1);
  return NULL;
}
int main(void) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &action, NULL);
  long sum = 0;
  for (int i = 0; i < 200; i++) {
#pragma omp parallel for num_threads(4) schedule(static, 1) reduction(+ : sum)
    for (int j = 0; j < 4; j++) {
      raise(SIGUSR1);
      sum += j;
    }
  }
  // The initial thread's handlers have its own stack, as before the first region.
  if (!none()) puts("one of weft's");
  room = 4 << 20;
  raise(SIGUSR1);
  pthread_t thread;
  pthread_create(&thread, NULL, other, malloc(1 << 20));
  pthread_join(thread, NULL);
  printf("%ld %d\\n", sum, handled);
  return 0;
}
"""
ABORTS = """
#include <stdlib.h>
int main(void) {
#pragma omp parallel num_threads(4)
  {
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
#pragma omp critical
      abort();
    }
  }
}
"""
# Sends itself the signal of a fault: program HOW SIGNAL ACTION, from a member or from main. Ends with 0 when it goes on.
SENDS = """
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void handler(int signal, siginfo_t *info, void *context) {
  (void)context;
  _exit(signal == info->si_signo && info->si_code == SI_QUEUE && info->si_value.sival_int == 77 ? 42 : 43);
}
static void send(const char *how, int signal) {
  union sigval value = {.sival_int = 77};
  if (strcmp(how, "raise") == 0) raise(signal);
  if (strcmp(how, "kill") == 0) kill(getpid(), signal);
  if (strcmp(how, "queue") == 0) sigqueue(getpid(), signal, value);
  if (strcmp(how, "fault") == 0) *(volatile int *)8 = 1;
}
int main(int count, char **arguments) {
  int signal = atoi(arguments[2]), member = count > 4;
  struct sigaction action = {.sa_flags = SA_SIGINFO, .sa_sigaction = handler};
  if (strcmp(arguments[3], "ignore") == 0) action = (struct sigaction){.sa_handler = SIG_IGN};
  if (strcmp(arguments[3], "default") != 0) sigaction(signal, &action, NULL);
#pragma omp parallel num_threads(4)
#pragma omp parallel num_threads(2)
  if (member && omp_get_ancestor_thread_num(1) == 3 && omp_get_thread_num() == 1) send(arguments[1], signal);
  if (!member) send(arguments[1], signal);
  // What was sent to the process may be another thread's to meet.
  if (strcmp(arguments[3], "ignore") != 0) sleep(10);
  return 0;
}
"""


class Signals(ProcessTest):
    def test_handlers_have_room(self):
        program = self.build("deep_handlers", DEEP_HANDLERS)
        for cpus in ("1", "2", "4"):
            with self.subTest(cpus=cpus):
                done = self.run_on_weft(program, WEFT_NUM_CPUS=cpus)
                self.assertEqual((done.returncode, done.stdout), (0, "1200 802\n"), done.stderr)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.busy = cls.build("busy", BUSY)
        cls.sends = cls.build("sends", SENDS)

    @contextlib.contextmanager
    def running(self, *arguments):
        environment = dict(os.environ, LD_LIBRARY_PATH=str(RUNTIME))
        process = subprocess.Popen([self.busy, *arguments], env=environment, stdout=subprocess.PIPE)
        try:
            self.assertEqual(process.stdout.read(1), b"r")
            time.sleep(0.01)
            yield process
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    def end_by(self, number, *arguments):
        with self.running(*arguments) as process:
            process.send_signal(number)
            return process.wait(timeout=20)

    def test_default_action(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1):
            for mode in ("", "sleep"):
                with self.subTest(signal=number, mode=mode):
                    self.assertEqual(self.end_by(number, mode), -number)

    def test_fault_that_is_sent(self):
        # weft takes SIGSEGV over, and SIGBUS where it shares the node.
        for number in (signal.SIGSEGV, signal.SIGBUS):
            for how in ("raise", "kill", "queue"):
                for place in ((), ("member",)):
                    for node in ("0", "1"):
                        with self.subTest(signal=number, how=how, place=place, node=node):

                            def status(action):
                                return self.run_on_weft(
                                    self.sends, how, int(number), action, *place, WEFT_NODE=node
                                ).returncode

                            self.assertEqual(status("default"), -number)
                            if how == "queue":
                                self.assertEqual(status("handler"), 42)
                                self.assertEqual(status("ignore"), 0)

    def test_fault_that_happens(self):
        for place in ((), ("member",)):
            for action in ("default", "ignore"):
                with self.subTest(place=place, action=action):
                    done = self.run_on_weft(self.sends, "fault", int(signal.SIGSEGV), action, *place)
                    self.assertEqual(done.returncode, -signal.SIGSEGV)
                    self.assertEqual(done.stderr, "")

    def test_handler_that_leaves(self):
        for _ in range(5):
            self.assertEqual(self.end_by(signal.SIGINT, "handler"), 42)
            self.assertEqual(self.end_by(signal.SIGTERM, "handler"), 43)

    def test_handler_that_calls_exit(self):
        self.assertEqual(self.end_by(signal.SIGINT, "exit"), 40 + signal.SIGINT)

    def test_stop_and_continue(self):
        with self.running("sleep") as process:
            process.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
            process.send_signal(signal.SIGCONT)
            time.sleep(0.05)
            self.assertIsNone(process.poll())
            process.terminate()
            self.assertEqual(process.wait(timeout=20), -signal.SIGTERM)

    def test_abort(self):
        done = self.run_on_weft(self.build("aborts", ABORTS))
        self.assertEqual(done.returncode, -signal.SIGABRT)


if __name__ == "__main__":
    unittest.main()
