# SPDX-License-Identifier: Apache-2.0
"""What is installed can be linked against glibc 2.28, as `make archive` and `make wheel` do it: told by what the build's own files
need, so that it costs no second build."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import check_symbols

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["WEFT_BUILD_DIR"])
NEWEST = (2, 28)
# What 2.28 has too: by another name inside (stat), in a library that has become part of libc.so.6 (dl, pthread, rt), or
# with a newer version that does something better.
MOVED = re.compile(
    r"dl\w+|l?f?stat(64)?|shm_(open|unlink)|log|pow|hypot|__libc_start_main|__pthread_key_create"
    r"|pthread_(?!(cond|mutex|rwlock)_clock|clockjoin|attr_[gs]etsigmask_np|cond_clockwait)\w+"
)
# What packaging/portable brings.
BROUGHT = set(
    re.findall(r"^HIDDEN [^(=;\n]*?(\w+)(?:\(| =|;)", (ROOT / "packaging/portable/newer_libc.c").read_text(), re.M)
)


def too_new(file: pathlib.Path) -> "list[str]":
    names = []
    for symbol in check_symbols.undefined(file):
        name, _, version = symbol.partition("@")
        number = version.lstrip("@").removeprefix("GLIBC_")
        if not number.replace(".", "").isdigit() or check_symbols.number(number) <= NEWEST:
            continue
        if name not in BROUGHT and not MOVED.fullmatch(name):
            names.append(symbol)
    return names


class Portable(unittest.TestCase):
    def test_no_file_needs_what_is_newer(self) -> None:
        files = [
            file
            for file in [*(BUILD / "bin").iterdir(), *(BUILD / "lib/weft").rglob("*")]
            if check_symbols.is_elf(file)
        ]
        self.assertGreater(len(files), 10)
        for file in files:
            with self.subTest(file=file.name):
                self.assertEqual(
                    too_new(file), [], "glibc 2.28 lacks it: packaging/portable/newer_libc.c brings such functions"
                )

    def test_what_is_newer_is_seen(self) -> None:
        source = (
            "#define _GNU_SOURCE\n#include <pthread.h>\n#include <time.h>\n#include <dlfcn.h>\n"
            "int wait(pthread_cond_t *c, pthread_mutex_t *m, struct timespec *t) {"
            ' return pthread_cond_clockwait(c, m, CLOCK_MONOTONIC, t) + pthread_create(0, 0, 0, 0) + (dlopen("", 1) != 0); }'
        )
        with tempfile.TemporaryDirectory(prefix="weft-portable-") as folder:
            file = pathlib.Path(folder) / "libnew.so"
            subprocess.run(
                ["gcc", "-shared", "-fPIC", "-w", "-x", "c", "-", "-o", file],
                input=source,
                text=True,
                check=True,
                timeout=60,
            )
            self.assertEqual([name.partition("@")[0] for name in too_new(file)], ["pthread_cond_clockwait"])


if __name__ == "__main__":
    unittest.main()
