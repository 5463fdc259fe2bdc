# SPDX-License-Identifier: Apache-2.0
"""Every command that README.md and the pages of docs/ show is run as it stands there, with an installed weft, on small programs with the
names that the pages use; or commands/marks.py says why it is not. The commands of a page share a folder and a shell."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

from commands import files, marks, pages

BUILD = pathlib.Path(os.environ["WEFT_BUILD_DIR"])
PYTHON = pathlib.Path(os.environ["WEFT_TEST_PYTHON"])
CLANG = pathlib.Path(os.environ["WEFT_TEST_CLANG"]).resolve()  # in its own folder it has its plain name
MPI = shutil.which("mpirun") and shutil.which("mpicc")
TIMEOUT_S = 240
UNSET = ("LD_", "OMP_", "WEFT_", "KMP_", "GOMP_", "OPENBLAS_", "PYTHON")


def to_run(commands: "list[pages.Command]") -> "list[pages.Command]":
    marked = [*marks.NOT_COMMANDS, *marks.NOT_RUN]
    return [command for command in commands if not any(mark.matches(command.page, command.text) for mark in marked)]


class CommandsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.addClassCleanup(
            lambda folder: shutil.rmtree(folder, ignore_errors=True), folder := tempfile.mkdtemp(prefix="weft-docs-")
        )
        cls.folder = pathlib.Path(folder)
        cls.prefix = cls.folder / "prefix"
        subprocess.run(["cmake", "--install", BUILD, "--prefix", cls.prefix], check=True, capture_output=True)
        package = cls.folder / "python" / "weft"
        for component, prefix in (("tsan", cls.prefix), ("python", package)):
            install = ["cmake", "--install", BUILD, "--component", component, "--prefix", prefix]
            subprocess.run(install, check=True, capture_output=True)
        (cls.folder / "weft").symlink_to(cls.prefix)
        library = next(cls.prefix.glob("lib*/**/weft/libgomp.so.1")).parent
        cls.environment = {name: value for name, value in os.environ.items() if not name.startswith(UNSET)}
        cls.environment |= {
            "HOME": str(cls.folder),
            "PATH": f"{cls.prefix}/bin:{PYTHON.parent}:{CLANG.parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(package.parent),
            "PYTHONDONTWRITEBYTECODE": "1",
            "WEFT": str(library),
            # A rank per CPU is what Open MPI takes by itself, and no rank of root's.
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1",
        }

    def run_page(self, page: pathlib.Path, commands: "list[pages.Command]") -> None:
        name = str(page.relative_to(pages.ROOT))
        folder = self.folder / name.replace("/", "-")
        folder.mkdir()
        files.make(name, [command.text for command in commands], folder, self.environment)
        script = ["set -e", "trap 'echo \"FAILED: $BASH_COMMAND (line $at)\" >&2' ERR"]
        for command in commands:
            script += [f"at={command.line}", marks.put_in_place(command.text, self.prefix)]
        script.append("wait")
        with open(folder / "output", "w+") as output:
            shell = subprocess.Popen(
                ["bash", "-c", "\n".join(script)],
                cwd=folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                status = shell.wait(TIMEOUT_S)
            except subprocess.TimeoutExpired:
                status = "too late"
                os.killpg(shell.pid, signal.SIGKILL)
                shell.wait()
            output.seek(0)
            self.assertEqual(status, 0, f"{name}:\n{output.read()[-6000:]}")

    def test_commands_run(self) -> None:
        for page in pages.pages():
            commands = to_run(pages.commands_of(page))
            if commands:
                with self.subTest(page=str(page.relative_to(pages.ROOT))):
                    if not MPI and any("mpirun" in command.text for command in commands):
                        self.skipTest("no MPI: scripts/setup-mpi")
                    self.run_page(page, commands)

    def test_each_mark_is_needed(self) -> None:
        commands = [command for page in pages.pages() for command in pages.commands_of(page)]
        unused = [
            f"{mark.pages}: {mark.command}"
            for mark in (*marks.NOT_COMMANDS, *marks.NOT_RUN)
            if not any(mark.matches(command.page, command.text) for command in commands)
        ]
        self.assertEqual(unused, [])
        self.assertGreater(len(to_run(commands)), 60)


if __name__ == "__main__":
    unittest.main()
