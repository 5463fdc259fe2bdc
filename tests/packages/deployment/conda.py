# SPDX-License-Identifier: Apache-2.0
"""conda.py RECIPE FOLDER PREFIX: makes the recipe's package in FOLDER, a channel of its own, as `rattler-build build` does, runs the
recipe's tests, and installs the package into PREFIX. Prints the name of its file."""

import asyncio
import os
import pathlib
import sys

import rattler
import rattler_build


def build(recipe: pathlib.Path, folder: pathlib.Path) -> str:
    (folder / "noarch").mkdir(parents=True)
    (folder / "noarch/repodata.json").write_text('{"info": {"subdir": "noarch"}, "packages": {}, "packages.conda": {}}')
    (made,) = rattler_build.Stage0Recipe.from_file(recipe).run_build(
        tool_config=rattler_build.ToolConfiguration(test_strategy="native"),
        output_dir=folder,
        channels=[folder.as_uri()],
    )
    (package,) = made.packages
    return package.name


async def install(folder: pathlib.Path, prefix: pathlib.Path) -> None:
    records = await rattler.solve(
        [rattler.Channel(folder.as_uri())],
        ["weft"],
        platforms=[rattler.Platform.current(), rattler.Platform("noarch")],
        virtual_packages=rattler.VirtualPackage.detect(),
    )
    await rattler.install(records, target_prefix=prefix, cache_dir=prefix.with_name("cache"))


def main() -> None:
    recipe, folder, prefix = map(pathlib.Path, sys.argv[1:])
    made = build(recipe, folder)
    asyncio.run(install(folder, prefix))
    print(made, flush=True)
    # What was waited for is done. py-rattler's threads may still be on their way back into Python, and crash where they
    # find it gone.
    os._exit(0)


main()
