# SPDX-License-Identifier: Apache-2.0
"""The little of Tcl that the directives of DejaGnu's tests are written in: lists, and selectors made of them."""

import fnmatch
import re

ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def unescape(text):
    return re.sub(r"\\(.)", lambda match: ESCAPES.get(match[1], match[1]), text, flags=re.DOTALL)


def braced(text, start):
    """Where the group that opens at `start` ends."""
    depth, at = 0, start
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] == "{":
            depth += 1
        elif text[at] == "}":
            depth -= 1
            if depth == 0:
                return at
        at += 1
    raise ValueError("a brace is not closed")


def words(text):
    """The elements of a list."""
    found, at = [], 0
    while at < len(text):
        if text[at].isspace():
            at += 1
        elif text[at] == "{":
            end = braced(text, at)
            found.append(text[at + 1 : end])
            at = end + 1
        elif text[at] == '"':
            match = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL).match(text, at)
            if not match:
                raise ValueError("a quote is not closed")
            found.append(unescape(match[1]))
            at = match.end()
        else:
            match = re.compile(r"(?:[^\s\\]|\\.)+").match(text, at)
            found.append(unescape(match[0]))
            at = match.end()
    return found


def directives(text):
    """(name, arguments) of each { dg-NAME ... } of a source."""
    for match in re.finditer(r"\{[ \t]+dg-([\w-]+)", text):
        line_end = text.find("\n", match.start())
        line = text[match.start() : line_end if line_end >= 0 else len(text)]
        try:
            yield match[1], words(line[len(match[0]) : braced(line, 0)])
        except ValueError:
            continue  # prose that looks like a directive, or one that DejaGnu would not accept


def selected(selector, is_target):
    """Whether a selector (`c`, `! lto`, `{ x86_64-*-* && lp64 }`, `*-*-linux* *-*-gnu*`) holds. `is_target` answers for
    one name."""
    parts = words(selector)
    for operator, combine in (("||", any), ("&&", all)):
        if operator in parts:
            groups, group = [], []
            for part in [*parts, operator]:
                if part == operator:
                    groups.append(group)
                    group = []
                else:
                    group.append(part)
            return combine([of_group(group, is_target) for group in groups])
    return of_group(parts, is_target)


def of_group(parts, is_target):
    if parts and parts[0] == "!":
        return not of_group(parts[1:], is_target)
    return any(selected(part, is_target) if re.search(r"\s|[{]", part) else is_target(part) for part in parts)


def matches_machine(pattern, machine):
    return fnmatch.fnmatchcase(machine, pattern)
