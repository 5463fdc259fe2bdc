# SPDX-License-Identifier: Apache-2.0
"""Started by the folder: `tune` is a package of its own then."""

import os
import sys

if sys.version_info < (3, 9):  # noqa: UP036
    sys.exit("weft: tune: Python 3.9 or newer is wanted, this is " + sys.version.split()[0])
if __package__ in (None, ""):
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from tune.main import main

sys.exit(main(sys.argv[1:]))
