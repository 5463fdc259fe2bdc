# SPDX-License-Identifier: Apache-2.0
"""What the studies of locks and stores between processes share."""

import argparse

from ..frame.options import Option, positive
from ..frame.study import Study


class SharedMemoryStudy(Study):
    options = (Option("--milliseconds", "of each measurement (default 200)", positive),)

    def complete(self, parser: argparse.ArgumentParser) -> None:
        self.milliseconds = self.arguments.milliseconds or (10 if self.smoke else 200)
