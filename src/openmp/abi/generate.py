#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what binds the adapters' functions to the names and version nodes of libgomp and libomp.

usage: generate.py --list LIST... --into FOLDER SOURCE...

Into FOLDER go abi_symver.h (the .symver lines of each name), abi_stubs.cpp (whatever no SOURCE exports) and
weft.map (the version script).

Nodes: a name keeps every node it has in any list, all on one implementation. One node is the default, which a linker
picks for new programs: that of the first list that has the name (libgomp, what later releases of it add, libomp).
"""

import argparse
import itertools
import pathlib
import re
import sys

HEADER = "// SPDX-License-Identifier: Apache-2.0\n// Written by src/openmp/abi/generate.py.\n"

# omp_allocator_handle_t, omp_memspace_handle_t: Fortran reads these objects, C has the same numbers as enumerators.
OBJECTS = {
    "omp_null_allocator": 0,
    "omp_default_mem_alloc": 1,
    "omp_large_cap_mem_alloc": 2,
    "omp_const_mem_alloc": 3,
    "omp_high_bw_mem_alloc": 4,
    "omp_low_lat_mem_alloc": 5,
    "omp_cgroup_mem_alloc": 6,
    "omp_pteam_mem_alloc": 7,
    "omp_thread_mem_alloc": 8,
    "llvm_omp_target_host_mem_alloc": 100,
    "llvm_omp_target_shared_mem_alloc": 101,
    "llvm_omp_target_device_mem_alloc": 102,
    "kmp_max_mem_alloc": 1024,
    "omp_null_mem_space": 0,
    "omp_default_mem_space": 0,
    "omp_large_cap_mem_space": 1,
    "omp_const_mem_space": 2,
    "omp_high_bw_mem_space": 3,
    "omp_low_lat_mem_space": 4,
    "llvm_omp_target_host_mem_space": 100,
    "llvm_omp_target_shared_mem_space": 101,
    "llvm_omp_target_device_mem_space": 102,
}

# Stubs that return: libomptarget calls this one when it is loaded, and no answer means that no tool is there.
SILENT = {"ompt_libomp_connect"}


def fail(message):
    sys.exit(f"generate.py: {message}")


def each(pattern):
    """The names that `pattern` stands for: `a{b,c}` for ab and ac."""
    parts = re.split(r"\{(.*?)\}", pattern)
    return map("".join, itertools.product(*(part.split(",") if i % 2 else [part] for i, part in enumerate(parts))))


class SymbolList:
    def __init__(self, path):
        self.parents = {}  # node -> parent or None, parents first
        self.nodes = {}  # name -> its nodes, the default one first
        self.sizes = {}  # data objects only
        text = re.sub(r",\n +", ",", pathlib.Path(path).read_text())
        for line in re.sub(r"\n +", " ", text).splitlines():
            if not line or line.startswith("#"):
                continue
            head, _, patterns = line.partition(":")
            words = head.split()
            if words[0] == "%nodes":
                self.parents.update(zip(words[1:], [None, *words[1:]]))
                continue
            size = int(words.pop()) if words[-1].isdigit() else None
            for name in itertools.chain.from_iterable(map(each, patterns.split())):
                if name in self.nodes:
                    fail(f"{path}: {name} stands in two rows; one row has all its nodes, the default one first")
                self.nodes[name] = words
                if size is not None:
                    self.sizes[name] = size


class Surface:
    """The lists as one."""

    def __init__(self, lists):
        self.parents, self.default, self.sizes, nodes = {}, {}, {}, {}
        for one in lists:
            self.parents = one.parents | self.parents
            self.default = {name: some[0] for name, some in one.nodes.items()} | self.default
            self.sizes = one.sizes | self.sizes
            for name, some in one.nodes.items():
                nodes.setdefault(name, set()).update(some)
        order = list(dict.fromkeys(node for one in lists for node in one.parents))
        self.parents = {node: self.parents[node] for node in order}
        self.nodes = {}
        for name in sorted(nodes):
            self.nodes[name] = sorted(nodes[name], key=order.index)


class Exports:
    """The names that sources export, macros that wrap WEFT_ABI included."""

    MARK = "WEFT_ABI"

    def __init__(self, sources):
        self.where = {}
        texts = {source: self.without_comments(pathlib.Path(source).read_text()) for source in sources}
        self.macros = {self.MARK: None}
        definitions = {}
        for text in texts.values():
            for name, parameters, body in re.findall(r"^\s*#\s*define\s+(\w+)\(([^)]*)\)(.*)$", text, re.MULTILINE):
                definitions[name] = ([word.strip() for word in parameters.split(",")], body)
        # A macro counts when its text leads to the mark, so that other macros cannot confuse the scan.
        grown = True
        while grown:
            grown = False
            for name, definition in definitions.items():
                if name not in self.macros and set(re.findall(r"\w+", definition[1])) & self.macros.keys():
                    self.macros[name] = definition
                    grown = True
        for source, text in texts.items():
            self.scan(source, re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE))

    @staticmethod
    def without_comments(text):
        text = text.replace("\\\n", " ")
        pattern = r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*")'
        return re.sub(pattern, lambda match: match[1] or " ", text, flags=re.DOTALL)

    @staticmethod
    def arguments(text, at):
        """The arguments of the call whose bracket opens at `at`."""
        found, depth, begin = [], 0, at + 1
        for index in range(at, len(text)):
            character = text[index]
            depth += (character in "([{") - (character in ")]}")
            if depth == 0 or (depth == 1 and character == ","):
                found.append(text[begin:index].strip())
                begin = index + 1
            if depth == 0:
                return found
        fail("a bracket is not closed after: " + text[at : at + 60])

    def scan(self, source, text, depth=0):
        if depth > 20:
            fail(f"{source}: macros around {self.MARK} never end")
        for call in re.finditer(rf"\b({'|'.join(self.macros)})\s*(?=\()", text):
            values = self.arguments(text, call.end())
            if self.macros[call[1]] is None:
                self.add(source, re.sub(r"\s*##\s*", "", values[1]))
                continue
            parameters, body = self.macros[call[1]]
            replacements = dict(zip(parameters, values))
            body = re.sub(r"\w+", lambda word: replacements.get(word[0], word[0]), body)
            self.scan(source, re.sub(r"\s*##\s*", "", body), depth + 1)

    def add(self, source, name):
        if name in self.where:
            fail(f"{source}: {name} is exported already by {self.where[name]}")
        self.where[name] = source


def symver_header(surface):
    lines = [
        HEADER,
        "#pragma once\n",
        "\n// What binds weft_abi_<name> to every node of <name>; see abi.h.\n",
    ]
    for name, nodes in surface.nodes.items():
        bindings = [f"{name}{'@@' if node == surface.default[name] else '@'}{node}" for node in nodes]
        text = "".join(f".symver weft_abi_{name}, {binding}\\n" for binding in bindings)
        lines.append(f'#define WEFT_ABI_SYMVER_{name} "{text}"\n')
    return "".join(lines)


def stub(name, surface):
    if name in surface.sizes:
        if name not in OBJECTS or surface.sizes[name] != 8:
            fail(f"the data object {name} ({surface.sizes[name]} bytes) has no value here")
        return (
            f"WEFT_ABI_OBJECT extern const unsigned long weft_abi_{name};\n"
            f"const unsigned long weft_abi_{name} = {OBJECTS[name]};\nasm(WEFT_ABI_SYMVER_{name});\n"
        )
    if name in SILENT:
        return f"WEFT_ABI(void, {name})() {{}}\n"
    return f'WEFT_ABI([[noreturn]] void, {name})() {{ weft_abi_missing("{name}"); }}\n'


def stubs(surface, exports):
    lines = [
        HEADER,
        '#include "openmp/abi/abi.h"\n\n',
        "// clang's AddressSanitizer would enlarge the objects; gcc has no such attribute.\n"
        "#ifdef __clang__\n"
        '#define WEFT_ABI_OBJECT [[gnu::visibility("default"), clang::no_sanitize("address")]]\n'
        "#else\n"
        '#define WEFT_ABI_OBJECT [[gnu::visibility("default")]]\n'
        "#endif\n"
        'static_assert(sizeof(unsigned long) == 8, "the size of the allocator objects");\n\nextern "C" {\n',
    ]
    lines += ["\n" + stub(name, surface) for name in surface.nodes if name not in exports.where]
    return "".join(lines) + "\n}\n"


def version_script(surface):
    lines = ["# Written by src/openmp/abi/generate.py.\n"]
    local = "  local: *;\n"
    for node, parent in surface.parents.items():
        names = [name for name, nodes in surface.nodes.items() if node in nodes]
        lines.append(f"{node} {{\n" + ("  global:\n" if names else "") + "".join(f"    {name};\n" for name in names))
        lines.append(local + (f"}} {parent};\n" if parent else "};\n"))
        local = ""
    return "".join(lines)


def write(path, text):
    # An unchanged file keeps its time, so that an edit of one adapter does not compile all of them.
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", required=True, action="append", dest="lists")
    parser.add_argument("--into", required=True, type=pathlib.Path)
    parser.add_argument("sources", nargs="*")
    options = parser.parse_args()
    surface = Surface([SymbolList(path) for path in options.lists])
    exports = Exports(options.sources)
    for name, source in exports.where.items():
        if name not in surface.nodes:
            fail(f"{source}: {name} is in none of the lists")
    options.into.mkdir(parents=True, exist_ok=True)
    write(options.into / "abi_symver.h", symver_header(surface))
    write(options.into / "abi_stubs.cpp", stubs(surface, exports))
    write(options.into / "weft.map", version_script(surface))


if __name__ == "__main__":
    main()
