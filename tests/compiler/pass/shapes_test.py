#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lowers the files of shapes/ and holds the result to the comments in them.

`CHECK` lines are for the code that the pass makes, `REPORT` lines for what it says of each construct (FileCheck). The
code is valid, with and without debug information.
"""

import pathlib
import tempfile
import unittest

import tools

SHAPES = pathlib.Path(__file__).resolve().parent / "shapes"


class ShapesTest(unittest.TestCase):
    def lower(self, source, folder, *flags):
        """The code after the pass, as a file, and the report."""
        before, after, report = (folder / name for name in ("before.ll", "after.ll", "report.json"))
        for old in (report, after):
            old.unlink(missing_ok=True)
        if source.suffix == ".ll":
            before = source
        else:
            tools.front_end(source, before, *flags)
        tools.run(
            tools.OPT,
            f"-load-pass-plugin={tools.PLUGIN}",
            "-passes=weft,verify",
            "-S",
            before,
            "-o",
            after,
            WEFTCC_REPORT=report,
        )
        return after, report

    def test_shapes(self):
        for source in sorted(SHAPES.iterdir()):
            if source.suffix == ".f90" and not tools.FLANG:
                continue
            with self.subTest(source=source.name), tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                after, report = self.lower(source, folder)
                text = source.read_text()
                for prefix, result in (("CHECK", after), ("REPORT", report)):
                    if f" {prefix}" in text:
                        tools.run(tools.FILECHECK, f"--check-prefix={prefix}", f"--input-file={result}", source)
                if source.suffix != ".ll":
                    after, report = self.lower(source, folder, "-g")
                    tools.run(tools.FILECHECK, "--check-prefix=REPORT", f"--input-file={report}", source)

    def test_second_run_changes_nothing(self):
        with tempfile.TemporaryDirectory() as name:
            after, _ = self.lower(SHAPES / "parallel_for.c", pathlib.Path(name))
            again = pathlib.Path(name) / "again.ll"
            tools.run(tools.OPT, f"-load-pass-plugin={tools.PLUGIN}", "-passes=weft", "-S", after, "-o", again)

            def code(file):
                return [line.split(";")[0] for line in file.read_text().splitlines()]

            self.assertEqual(code(after), code(again))

    def test_remarks(self):
        source = SHAPES / "not_one_loop.c"
        result = tools.compile(source, "/dev/null", "-O1", "-Rpass=weft", "-Rpass-missed=weft")
        self.assertIn("not_one_loop.c:8:1: remark: parallel is left as it is: several worksharing loops", result.stderr)
        self.assertIn("is announced only: ordered [-Rpass-missed=weft]", result.stderr)

    def test_bad_settings(self):
        source = SHAPES / "parallel_for.c"
        result = tools.compile(source, "/dev/null", WEFTCC_LOWER="most", WEFTCC_REPORT="/nowhere/report")
        self.assertIn("WEFTCC_LOWER=most is not none, hint or range", result.stderr)
        self.assertIn("WEFTCC_REPORT=/nowhere/report: No such file", result.stderr)

    def test_kept_files(self):
        with tempfile.TemporaryDirectory() as name:
            tools.compile(SHAPES / "parallel_for.c", "/dev/null", WEFTCC_KEEP=f"{name}/kept")
            self.assertNotIn("weft_loop", pathlib.Path(f"{name}/kept.before.ll").read_text())
            self.assertIn("weft_loop", pathlib.Path(f"{name}/kept.after.ll").read_text())


if __name__ == "__main__":
    unittest.main()
