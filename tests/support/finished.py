# SPDX-License-Identifier: Apache-2.0
"""How tests run programs whose exit status and text they look at."""

import subprocess


def finished(command, **options):
    """The process at its end, with all that it has printed; options are those of subprocess.run."""
    return subprocess.run([*map(str, command)], **{"capture_output": True, "text": True, "check": False, **options})
