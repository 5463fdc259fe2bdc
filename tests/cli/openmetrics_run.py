# SPDX-License-Identifier: Apache-2.0
"""For tests of `weft top --openmetrics`: the command while it runs, and others' parsers for what it says."""

import contextlib
import pathlib
import signal
import subprocess
import sys
import tempfile

import own_node
from own_node import NodeTest, Program

try:
    import prometheus_client.openmetrics.parser
except ImportError:
    # Debian's package is for Debian's python, and needs nothing of it.
    sys.path.append("/usr/lib/python3/dist-packages")
try:
    import prometheus_client.openmetrics.parser
    import prometheus_client.parser
except ImportError:
    raise SystemExit("python3-prometheus-client is missing: scripts/setup installs it") from None

# Some regions, one of a second member that goes on until a line of the input comes, and then nothing until its end.
# `idle`: without that one.
STEADY = r"""
#include <poll.h>
#include <stdio.h>
#include <string.h>
int main(int count, char** arguments) {
  char line[10];
  for (int i = 0; i < 7; i++) {
#pragma omp parallel num_threads(2)
    __asm__ volatile("" ::: "memory");
  }
  printf("runs\n"), fflush(stdout);
  if (strcmp(arguments[count - 1], "idle") != 0) {
#pragma omp parallel num_threads(2)
    {
      struct pollfd input = {0, POLLIN, 0};
      while (poll(&input, 1, 0) == 0) continue;
    }
  }
  while (fgets(line, sizeof line, stdin) != NULL) continue;
  return 0;
}
"""


def families(text):
    """By name; the parser holds the text to the standard."""
    return {family.name: family for family in prometheus_client.openmetrics.parser.text_string_to_metric_families(text)}


def families_of_prometheus(text):
    return {family.name: family for family in prometheus_client.parser.text_string_to_metric_families(text)}


def samples(found):
    """Of all families: the value by name and labels."""
    values = {}
    for family in found.values():
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            assert key not in values, key
            values[key] = sample.value
    return values


def by_pid(values, name):
    return {int(dict(labels)["pid"]): value for (sample, labels), value in values.items() if sample == name}


def wait_for_line(stream):
    line = stream.readline()
    assert line, "it has ended"
    return line


class Exporter:
    """`weft top --openmetrics PLACE`, which ends with the test at the latest."""

    def __init__(self, place, *arguments, ignores=()):
        def prepare():
            # Whoever has started the tests may have them ignore some.
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_IGN if number in ignores else signal.SIG_DFL)

        self.process = subprocess.Popen(
            [own_node.WEFT, "top", "--openmetrics", str(place), *map(str, arguments)],
            env=own_node.clean_environment(),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=prepare,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def end(self, number=signal.SIGTERM):
        """Its exit code and what it has said on stderr."""
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=own_node.TIMEOUT_S)
        return self.process.returncode, said


class OpenMetricsTest(NodeTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.steady = cls.build("steady", STEADY)

    def setUp(self):
        self.place = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weft-metrics-")))
        self.file = self.place / "weft.prom"

    @contextlib.contextmanager
    def program(self, kind, **variables):
        """A program whose numbers do not change."""
        with Program([self.steady, kind], **({"WEFT_NUM_CPUS": "2"} | variables)) as program:
            program.await_first_region()
            yield program

    def written(self):
        """The file, when it is there."""
        self.eventually(self.file.exists)
        return self.file.read_text()

    def names(self):
        return sorted(path.name for path in self.place.iterdir())

    def texts(self):
        """The same in both formats: as the command prints it, and as it writes a file. Names may have any line ends."""

        def run(*place):
            command = [own_node.WEFT, "top", *place]
            done = subprocess.run(command, env=own_node.clean_environment(), capture_output=True, check=True)
            self.assertEqual(done.stderr, b"")
            return done.stdout.decode()

        printed = run("--openmetrics", "-")
        run("--once", "--openmetrics", str(self.file))
        return printed, self.file.read_bytes().decode()
