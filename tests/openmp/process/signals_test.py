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


class Signals(ProcessTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.busy = cls.build("busy", BUSY)

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
