#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what a built library exports with src/openmp/abi/*.symbols; prints each difference and fails on any.

usage: check_exports.py LIBRARY LIST...

Where several lists have a name, the first says which of its nodes is the default.

Shares no code with generate.py, so that a mistake there is seen here.
"""

import itertools
import re
import subprocess
import sys

# Value, size, type, binding, visibility; then perhaps flags of the processor; then section and name.
SYMBOL = re.compile(r"\s*\d+:\s+[0-9a-f]+\s+(\S+)\s+(\w+)\s+(\w+)\s+(\w+)\s+(?:\[.*\]\s+)?(\w+)\s+(\S+)$")


def names_of(pattern):
    """What `pattern` stands for, with one of the words of each {a,b}."""
    words = [word.strip("{}").split(",") for word in re.findall(r"\{.*?\}|[^{}]+", pattern)]
    return ["".join(choice) for choice in itertools.product(*words)]


def wanted(lists):
    """({(name, node): (is default, object size)}, {node: parent})"""
    symbols, parents, defaults = {}, {}, {}
    for path in reversed(lists):
        # A row goes on in lines that begin with blanks, within a pattern behind a comma.
        for line in open(path).read().replace(",\n  ", ",").replace("\n  ", " ").split("\n"):
            nodes, _, patterns = line.split("#")[0].partition(":")
            nodes = nodes.split()
            if nodes and nodes[0] == "%nodes":
                parents.setdefault(nodes[1], None)
                parents.update(zip(nodes[2:], nodes[1:]))
                continue
            size = int(nodes.pop()) if nodes and nodes[-1].isdigit() else None
            for name in (name for pattern in patterns.split() for name in names_of(pattern)):
                symbols.update({(name, node): size for node in nodes})
                defaults[name] = nodes[0]
    return {key: (defaults.get(key[0]) == key[1], size) for key, size in symbols.items()}, parents


def readelf(library, option):
    return subprocess.run(["readelf", "-W", option, library], check=True, capture_output=True, text=True).stdout


def exported(library):
    symbols, problems = {}, []
    for line in readelf(library, "--dyn-syms").splitlines():
        match = SYMBOL.match(line)
        if not match:
            continue
        size, kind, binding, visibility, section, name = match.groups()
        if binding == "LOCAL" or section in ("UND", "ABS"):
            continue
        base, at, node = re.fullmatch(r"([^@]*)(@*)(.*)", name).groups()
        if visibility not in ("DEFAULT", "PROTECTED"):
            problems.append(f"{name}: visibility {visibility}")
        if (base, node) in symbols:
            problems.append(f"{name}: defined twice")
        symbols[base, node] = (at == "@@", int(size, 0) if kind == "OBJECT" else None)
    return symbols, problems


def defined_nodes(library):
    parents, node = {}, None
    for line in readelf(library, "-V").splitlines():
        if match := re.search(r"Rev: 1\s+Flags: (\S+).*Name: (\S+)$", line):
            # The base entry is the SONAME, not a node.
            node = match[2] if match[1] != "BASE" else None
            if node:
                parents[node] = None
        elif (match := re.search(r"Parent \d+: (\S+)$", line)) and node:
            parents[node] = match[1]
    return parents


def differences(library, *lists):
    want, want_nodes = wanted(lists)
    have, problems = exported(library)
    yield from problems
    for name, node in sorted(want.keys() - have.keys()):
        yield f"{name}@{node}: missing"
    for name, node in sorted(have.keys() - want.keys()):
        yield f"{name}@{node}: exported, but in no list"
    for name, node in sorted(want.keys() & have.keys()):
        is_default, size = have[name, node]
        want_default, want_size = want[name, node]
        if is_default != want_default:
            yield f"{name}@{node}: {'default' if is_default else 'hidden'}, should be the other"
        if size != want_size:
            yield f"{name}@{node}: object size {size}, should be {want_size}"
    have_nodes = defined_nodes(library)
    for node in sorted(want_nodes.keys() | have_nodes.keys()):
        if want_nodes.get(node, "no node") != have_nodes.get(node, "no node"):
            yield (
                f"node {node}: parent {have_nodes.get(node, 'no node')}, should be {want_nodes.get(node, 'no node')}"
            )


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.strip())
    found = list(differences(*sys.argv[1:]))
    for line in found:
        print(line)
    print(f"check_exports: {len(found)} differences")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
