# SPDX-License-Identifier: Apache-2.0
"""Programs that wait for ever under weft are told why, where that can be told."""

import os
import subprocess
import threading
import unittest

from support import RUNTIME, TIMEOUT_S, ProcessTest

# A mutex that a member locks, of those that have no OS thread for themselves; another one waits for it in the kernel when
# it is unlocked.
CONTENDED = """
#include <omp.h>
#include <pthread.h>
#include <unistd.h>
int main(int count, char **arguments) {
  (void)arguments;
  pthread_mutexattr_t attributes;
  pthread_mutex_t mutex;
  int locked = 0;
  pthread_mutexattr_init(&attributes);
  if (count > 1) pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
  pthread_mutex_init(&mutex, &attributes);
#pragma omp parallel num_threads(3)
  if (omp_get_thread_num() == 2) {
    pthread_mutex_lock(&mutex);
    __atomic_store_n(&locked, 1, __ATOMIC_RELEASE);
    sleep(1);
    pthread_mutex_unlock(&mutex);
  } else if (omp_get_thread_num() == 0) {
    while (!__atomic_load_n(&locked, __ATOMIC_ACQUIRE)) usleep(1000);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  return 0;
}
"""


class PriorityInheritance(ProcessTest):
    def test_usual_mutex(self):
        done = self.run_on_weft(self.build("usual", CONTENDED))
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    @unittest.skipUnless(os.path.exists("/proc/self/syscall"), "the kernel does not say what threads wait for")
    def test_mutex_of_the_kernel(self):
        program = self.build("inherit", CONTENDED)
        environment = os.environ | {"LD_LIBRARY_PATH": str(RUNTIME), "WEFT_NUM_CPUS": "2"}
        with subprocess.Popen([program, "inherit"], env=environment, stderr=subprocess.PIPE, text=True) as process:
            limit = threading.Timer(TIMEOUT_S, process.kill)
            limit.start()
            line = process.stderr.readline()
            limit.cancel()
            process.kill()
        self.assertTrue(line.startswith("weft: "), line)
        for word in ("PTHREAD_PRIO_INHERIT", "PTHREAD_PRIO_NONE"):
            self.assertIn(word, line)


if __name__ == "__main__":
    unittest.main()
