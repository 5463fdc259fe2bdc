# SPDX-License-Identifier: Apache-2.0
"""For tests that run programs as another user: the runtime where that one can read it."""

import os
import pathlib
import shutil


def runtime_for_everyone(folder):
    """Its directory, or a copy of it in `folder`, when others may not enter where the build is: someone's home."""
    built = pathlib.Path(os.environ["WEFT_TEST_RUNTIME"]).resolve()
    if all(part.stat().st_mode & 0o005 == 0o005 for part in (built, *built.parents)):
        return built
    copy = pathlib.Path(folder) / "runtime"
    if not copy.exists():
        shutil.copytree(built, copy, symlinks=True)
        copy.chmod(0o755)
    return copy
