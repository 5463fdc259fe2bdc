# SPDX-License-Identifier: Apache-2.0
"""conda.py build RECIPE FOLDER: makes the recipe's package in FOLDER, a channel of its own, as `rattler-build build` does, runs the
recipe's tests, and prints the name of the package's file. conda.py install FOLDER PREFIX: installs it."""

import asyncio
import pathlib
import sys


def build(recipe: pathlib.Path, folder: pathlib.Path) -> None:
    import rattler_build

    (folder / "noarch").mkdir(parents=True)
    (folder / "noarch/repodata.json").write_text('{"info": {"subdir": "noarch"}, "packages": {}, "packages.conda": {}}')
    (made,) = rattler_build.Stage0Recipe.from_file(recipe).run_build(
        tool_config=rattler_build.ToolConfiguration(test_strategy="native"),
        output_dir=folder,
        channels=[folder.as_uri()],
    )
    (package,) = made.packages
    print(package.name)


async def install(folder: pathlib.Path, prefix: pathlib.Path) -> None:
    import rattler

    records = await rattler.solve(
        [rattler.Channel(folder.as_uri())],
        ["weft"],
        platforms=[rattler.Platform.current(), rattler.Platform("noarch")],
        virtual_packages=rattler.VirtualPackage.detect(),
    )
    await rattler.install(records, target_prefix=prefix, cache_dir=prefix.with_name("cache"))


if sys.argv[1] == "build":
    build(*map(pathlib.Path, sys.argv[2:]))
else:
    asyncio.run(install(*map(pathlib.Path, sys.argv[2:])))
