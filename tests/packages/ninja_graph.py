# SPDX-License-Identifier: Apache-2.0
"""What a target of a build by Ninja makes, and what its rules of installation want: read from build.ninja and
cmake_install.cmake, so that nothing has to be built."""

import dataclasses
import pathlib
import re

# Of a path in build.ninja: `$` before a character that would mean something.
PATH = r"(?:\$.|[^\s:|$])+"


def paths(text: str) -> "list[str]":
    return [re.sub(r"\$(.)", r"\1", path) for path in re.findall(PATH, text)]


@dataclasses.dataclass
class Edge:
    outputs: "list[str]"
    inputs: "list[str]"
    command: str = ""


class Graph:
    def __init__(self, build: pathlib.Path) -> None:
        self.build = build
        self.made_by: dict[str, Edge] = {}
        text = (build / "build.ninja").read_text().replace("$\n", "").replace("${cmake_ninja_workdir}", "")
        edge = None
        for line in text.splitlines():
            if line.startswith("build "):
                outputs, _, rest = re.fullmatch(rf"build ((?:{PATH}|[ |])+):( *)(.*)", line).groups()
                edge = Edge(paths(outputs), paths(rest)[1:])  # the first is the rule
                for output in edge.outputs:
                    self.made_by[self.name(output)] = edge
            elif line.startswith("  COMMAND = ") and edge:
                edge.command = line
            elif not line.startswith(" "):
                edge = None

    def name(self, path: str) -> str:
        """As the build's own folder calls it."""
        return path.removeprefix(f"{self.build}/")

    def edges_of(self, target: str) -> "list[Edge]":
        """All that is run for the target in an empty build."""
        found: dict[int, Edge] = {}
        ahead = [target]
        while ahead:
            edge = self.made_by.get(self.name(ahead.pop()))
            if edge and id(edge) not in found:
                found[id(edge)] = edge
                ahead += edge.inputs
        return list(found.values())

    def lacking_for(self, target: str) -> "set[str]":
        """Sources that no edge makes, and that are not there."""
        inputs = {name for edge in self.edges_of(target) for name in edge.inputs}
        return {name for name in inputs if self.name(name) not in self.made_by and not (self.build / name).exists()}

    def made_for(self, target: str) -> "set[str]":
        return {self.name(output) for edge in self.edges_of(target) for output in edge.outputs}


def installed(build: pathlib.Path, component: str) -> "list[str]":
    """What the rules of the component install; folders end in a slash."""
    found = []
    ahead = [build / "cmake_install.cmake"]
    while ahead:
        text = ahead.pop().read_text()
        ahead += map(pathlib.Path, re.findall(r'^ *include\("(.*cmake_install\.cmake)"\)', text, re.MULTILINE))
        for rule in re.split(r"^if\(CMAKE_INSTALL_COMPONENT ", text, flags=re.MULTILINE)[1:]:
            if rule.startswith(f'STREQUAL "{component}"'):
                for call in re.findall(r"file\(INSTALL (.*?)\)\n", rule, re.DOTALL):
                    kind, files = re.search(r'TYPE (\w+).*? FILES((?:\s+"[^"]*")*)', call, re.DOTALL).groups()
                    names = re.findall(r'"([^"]*)"', files)
                    found += [f"{name.rstrip('/')}/" if kind == "DIRECTORY" else name for name in names]
    return found
