#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What guest.py says when there is no machine, or one that does not do as it should. The emulator is a script."""

import contextlib
import io
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

import guest

# It writes what it was told to, to the file of the second serial port and of the first.
EMULATOR = """#!/bin/sh
for word; do
  case $word in file:*) if [ -z "$console" ]; then console=${word#file:}; else output=${word#file:}; fi ;; esac
done
%s
"""


class Runner(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tools = pathlib.Path(folder.name, "tools")
        self.parts = pathlib.Path(folder.name, "parts")
        for path in (self.tools, self.parts):
            path.mkdir()
        for name, text in (("busybox", "exit 0"), ("cpio", "exec /bin/cat")):
            self.tool(name, f"#!/bin/sh\n{text}\n")
        self.emulator("exit 1")
        (self.parts / "vmlinuz").write_text("a kernel")
        for patch in (
            mock.patch.object(guest, "PARTS", self.parts),
            mock.patch.dict(os.environ, {"PATH": f"{self.tools}:/usr/bin:/bin"}),
        ):
            patch.start()
            self.addCleanup(patch.stop)

    def tool(self, name: str, text: str) -> None:
        (self.tools / name).write_text(text)
        (self.tools / name).chmod(0o755)

    def emulator(self, text: str) -> None:
        self.tool("qemu-system-x86_64", EMULATOR % text)

    def why(self, **options: float) -> str:
        with self.assertRaises(guest.NoGuest) as missing:
            guest.run("true", [], how="tcg", **options)
        return str(missing.exception)

    def test_exit_code_and_output(self) -> None:
        self.emulator("printf 'one\\ntwo\\n[guest: exit 3]\\n' > $output")
        self.assertEqual(guest.run("true", [], how="tcg"), (3, "one\ntwo\n"))

    def test_no_kernel(self) -> None:
        (self.parts / "vmlinuz").unlink()
        self.assertRegex(self.why(), "vmlinuz; run scripts/setup-numa")

    def test_no_emulator_and_no_busybox(self) -> None:
        for name in ("busybox", "qemu-system-x86_64"):
            (self.tools / name).unlink()
            with mock.patch.dict(os.environ, {"PATH": str(self.tools)}):
                self.assertRegex(self.why(), f"no {name}; run scripts/setup-numa")

    def test_an_emulator_that_complains(self) -> None:
        self.emulator("echo 'no such machine' >&2; exit 1")
        self.assertIn("no such machine", self.why())

    def test_a_guest_that_hangs_is_killed_and_its_console_shown(self) -> None:
        self.emulator("echo 'Kernel panic: no init' > $console; echo 'as far as this' > $output; exec sleep 60")
        said = self.why(timeout=1)
        for text in ("not done after 1 seconds", "Kernel panic: no init", "as far as this"):
            self.assertIn(text, said)

    def test_a_guest_that_ends_early(self) -> None:
        self.emulator("echo 'half a line' > $output")
        self.assertRegex(self.why(), "did not end: .*\nhalf a line")

    def test_without_kvm_it_is_emulated_and_said_so(self) -> None:
        self.emulator("printf '[guest: exit 0]\\n' > $output")
        for access in (False, True):
            with (
                self.subTest(device=access),
                mock.patch.object(guest.os, "access", return_value=access),
                contextlib.redirect_stderr(io.StringIO()) as said,
            ):
                (self.parts / "accelerator").unlink(missing_ok=True)
                self.assertEqual(guest.accelerator(None), "tcg")
                self.assertIn("no KVM", said.getvalue())

    def test_kvm_where_a_kernel_says_something(self) -> None:
        self.emulator("echo Linux version 6")
        with mock.patch.object(guest.os, "access", return_value=True):
            self.assertEqual(guest.accelerator(None), "kvm")
        self.assertEqual(guest.accelerator("tcg"), "tcg")

    def test_the_command_says_that_there_was_no_machine(self) -> None:
        (self.parts / "vmlinuz").unlink()
        with (
            mock.patch.object(sys, "argv", ["guest.py", "--accelerator", "tcg", "--", "true"]),
            contextlib.redirect_stderr(io.StringIO()) as said,
        ):
            self.assertEqual(guest.main(), guest.FAILED)
        self.assertIn("guest.py: no ", said.getvalue())

    def test_files_come_with_their_libraries_and_at_their_paths(self) -> None:
        program = pathlib.Path("/bin/sh")
        root = self.parts / "root"
        root.mkdir()
        guest.make_root(root, [program], "echo hello")
        self.assertTrue((root / "bin/sh").is_file())
        self.assertTrue(list(root.rglob("libc.so.6")))
        self.assertEqual((root / "command").read_text(), "echo hello\n")

    def test_a_file_that_is_not_there(self) -> None:
        with self.assertRaisesRegex(guest.NoGuest, "/nonexistent/program"):
            guest.run("true", [pathlib.Path("/nonexistent/program")], how="tcg")


if __name__ == "__main__":
    unittest.main()
