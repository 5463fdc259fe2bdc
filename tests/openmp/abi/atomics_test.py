#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls every __kmpc_atomic_ function of the list, alone with several values and by several threads at once.

usage: atomics_test.py LIBRARY LIBOMP_LIST COMPILER...

Writes a C program from the list, declares each function by what its name says, builds the program with each COMPILER
and runs it. Members that apply the same function to one variable leave the same value in whatever order they come.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import check_exports

TYPES = {
    "fixed1": "int8_t",
    "fixed2": "int16_t",
    "fixed4": "int32_t",
    "fixed8": "int64_t",
    "fixed1u": "uint8_t",
    "fixed2u": "uint16_t",
    "fixed4u": "uint32_t",
    "fixed8u": "uint64_t",
    "float4": "float",
    "float8": "double",
    "float10": "long double",
    "cmplx4": "float _Complex",
    "cmplx8": "double _Complex",
    "cmplx10": "long double _Complex",
}
OPERATIONS = {
    "add": "x + y",
    "sub": "x - y",
    "mul": "x * y",
    "div": "x / y",
    "andb": "x & y",
    "orb": "x | y",
    "xor": "x ^ y",
    "neqv": "x ^ y",
    "eqv": "~(x ^ y)",
    "andl": "x && y",
    "orl": "x || y",
    "shl": "x << y",
    "shr": "x >> y",
    "min": "x < y ? x : y",
    "max": "x > y ? x : y",
}
# (first value, operand): nothing overflows in a step that matters, no division by 0.
PAIRS = {
    "add": [(1, 2), (-5, 3)],
    "sub": [(1, 2), (100, 3)],
    "mul": [(3, 5), (7, -1)],
    "div": [(96, 2), (100, 7)],
    "andb": [(0x5D, 0x37)],
    "orb": [(0x41, 0x17)],
    "xor": [(0x55, 0x0F)],
    "neqv": [(0x55, 0x0F)],
    "eqv": [(0x55, 0x0F)],
    "andl": [(4, 2), (4, 0), (0, 2)],
    "orl": [(0, 0), (4, 0), (0, 2)],
    "shl": [(3, 1), (1, 4)],
    "shr": [(0x70, 1), (-96, 2), (0x70, 3)],
    "min": [(5, 3), (3, 5), (-1, 1)],
    "max": [(5, 3), (3, 5), (-1, 1)],
}
REVERSED = {"sub": [(1, 2), (5, 100)], "div": [(2, 8), (3, 100)], "shl": [(2, 3), (4, 1)], "shr": [(2, 100), (4, -96)]}

NAME = re.compile(
    r"(\w+?)_(add|sub|mul|div|andb|orb|xor|neqv|eqv|andl|orl|shl|shr|min|max)"
    r"(?:_(float8|cmplx8))?(_cpt)?(_rev)?"
)

HEAD = r"""
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include "check.h"

enum { members = 4, times = 500 };

// Padding bytes are not compared.
#define SAME(got, expected, what) \
  do { \
    if (!((got) == (expected))) check_failed("atomics", 0, what, "wrong result"); \
  } while (0)
#define ALL_AT_ONCE(call) \
  _Pragma("omp parallel num_threads(members)") \
  for (int i = 0; i < times; i++) call
"""


def literal(value, kind):
    if kind.endswith("_Complex"):
        return f"({kind})({value} + {value % 3 - 1} * 1.0if)"
    return f"({kind}){value}"


def update_test(name, match):
    kind_name, operation, other, captures, is_reversed = match.groups()
    kind = TYPES[kind_name]
    operand = TYPES[other] if other else kind
    by_address = captures and kind_name == "cmplx4"
    expression = OPERATIONS[operation]
    if is_reversed:
        expression = re.sub(r"[xy]", lambda letter: "y" if letter[0] == "x" else "x", expression)
    result = "void" if by_address or not captures else kind
    extra = (f", {kind} *" if by_address else "") + (", int" if captures else "")
    yield f"extern {result} {name}(void *, int, {kind} *, {operand}{extra});"
    # Not folded by the compiler, which divides complex numbers more exactly.
    yield f"static {kind} once_{name}(volatile {kind} x, volatile {operand} y) {{ return ({kind})({expression}); }}"
    yield f"static void test_{name}(void)\n{{"
    for first, second in (REVERSED if is_reversed else PAIRS)[operation]:
        if "u" in kind_name:
            first, second = abs(first), abs(second)
        before, y = literal(first, kind), literal(second, operand)
        yield f"  {{\n    {kind} before = {before}, v = before, after = once_{name}(before, {y});"
        if not captures:
            yield f"    {name}(0, 0, &v, {y});"
            yield f'    SAME(v, after, "{name}");'
        for flag in (0, 1) if captures else ():
            call = f"{name}(0, 0, &v, {y}, &got, {flag})" if by_address else f"got = {name}(0, 0, &v, {y}, {flag})"
            yield f"    v = before;\n    {kind} got{flag};"
            yield f"    {call.replace('got', f'got{flag}')};"
            yield f'    SAME(v, after, "{name}");'
            yield f'    SAME(got{flag}, {"after" if flag else "before"}, "{name}, what it captured");'
        # Shifts by what has been shifted, and numbers too great for the type, are undefined when repeated.
        if is_reversed and operation in ("shl", "shr") or (operation, other) == ("mul", "float8"):
            yield "  }"
            continue
        step = f"expected = once_{name}(expected, {y})"
        if kind.startswith("int") and operation in ("add", "sub", "mul") and not other:
            # Wraps: computed in unsigned numbers here.
            wide = {"x": "(uint64_t)expected", "y": f"(uint64_t){y}"}
            step = f"expected = ({kind})({re.sub('[xy]', lambda letter: wide[letter[0]], expression)})"
        out, arguments = ("", ", 1" if captures else "")
        if by_address:
            out, arguments = (f"{kind} out; ", ", &out, 1")
        yield f"    {kind} expected = before;"
        yield f"    for (int i = 0; i < members * times; i++) {step};"
        yield "    v = before;"
        yield f"    ALL_AT_ONCE({{ {out}{name}(0, 0, &v, {y}{arguments}); }})"
        yield f'    if (expected == expected) SAME(v, expected, "{name}, by several");'
        yield "  }"
    yield "}"


def access_test(name, kind_name, access):
    kind = TYPES[kind_name]
    one, two = literal(7, kind), literal(-3, kind)
    if access == "rd":
        yield f"extern {kind} {name}(void *, int, {kind} *);"
        body = [f"{kind} v = {one};", f'SAME({name}(0, 0, &v), v, "{name}");']
    elif access == "wr":
        yield f"extern void {name}(void *, int, {kind} *, {kind});"
        body = [
            f"{kind} v = {one};",
            f"{name}(0, 0, &v, {two});",
            f'SAME(v, {two}, "{name}");',
            f"ALL_AT_ONCE({name}(0, 0, &v, omp_get_thread_num() % 2 ? {one} : {two});)",
            f'if (v != {one}) SAME(v, {two}, "{name}, by several");',
        ]
    else:
        by_address = kind_name == "cmplx4"
        yield f"extern {'void' if by_address else kind} {name}(void *, int, {kind} *, {kind}{f', {kind} *' if by_address else ''});"
        call = f"{name}(0, 0, &v, {two}, &got)" if by_address else f"got = {name}(0, 0, &v, {two})"
        # Of the values that go in, each comes out once but the last.
        swap = f"{name}(0, 0, &v, mine, &mine)" if by_address else f"mine = {name}(0, 0, &v, mine)"
        body = [
            f"{kind} v = {one}, got;",
            f"{call};",
            f'SAME(v, {two}, "{name}");',
            f'SAME(got, {one}, "{name}");',
            "int sum = 0;",
            "v = 0;",
            '_Pragma("omp parallel num_threads(members) reduction(+ : sum)")',
            "{",
            f"  {kind} mine = ({kind})(omp_get_thread_num() + 1);",
            f"  for (int i = 0; i < times; i++) {swap};",
            "  sum = (int)mine;",
            "}",
            f'SAME(sum + (int)v, members * (members + 1) / 2, "{name}, by several");',
        ]
    yield f"static void test_{name}(void)\n{{"
    yield from (f"  {line}" for line in body)
    yield "}"


def cas_test(name, answer, size, captures):
    kind = f"int{8 * int(size)}_t"
    result = "bool" if answer == "bool" else kind
    yield f"extern {result} {name}(void *, int, {kind} *, {kind}, {kind}{f', {kind} *' if captures else ''});"
    more = ", &out" if captures else ""
    yield f"static void test_{name}(void)\n{{"
    yield f"  {kind} v = 5, out = 77;\n  (void)out;"
    yield f'  SAME({name}(0, 0, &v, 6, 8{more}), {"false" if answer == "bool" else "5"}, "{name}");'
    yield f'  SAME(v, 5, "{name}");'
    if captures:
        yield f'  SAME(out, 5, "{name}");\n  out = 77;'
    yield f'  SAME({name}(0, 0, &v, 5, 9{more}), {"true" if answer == "bool" else "5"}, "{name}");'
    yield f'  SAME(v, 9, "{name}");'
    if captures:
        yield f'  SAME(out, {77 if answer == "bool" else 9}, "{name}");'
    success = "" if answer == "bool" else " != seen"
    yield f"""  v = 0;
  ALL_AT_ONCE({{
    {kind} seen;
    do {{
      seen = __atomic_load_n(&v, __ATOMIC_RELAXED);
    }} while ({"!" if answer == "bool" else ""}{name}(0, 0, &v, seen, ({kind})(seen + 1){", &(" + kind + "){0}" if captures else ""}){success});
  }})
  SAME(v, ({kind})(members * times), "{name}, by several");
}}"""


def any_test(name, size):
    kind = {
        "1": "int8_t",
        "2": "int16_t",
        "4": "int32_t",
        "8": "int64_t",
        "10": "struct bytes10",
        "16": "double _Complex",
        "20": "struct bytes20",
        "32": "long double _Complex",
    }[size]
    structure = kind.startswith("struct")
    if structure:
        # Like an 80-bit number and a pair of them without padding.
        yield f"{kind} {{ char first; char unused[{int(size) - 3}]; short last; }} __attribute__((packed));"
    yield f"extern void {name}(void *, int, void *, void *, void (*)(void *, void *, void *));"
    yield f"static void combine_{name}(void *result, void *value, void *operand)\n{{"
    if structure:
        yield f"  {kind} made = *({kind} *)value;\n  made.first++;\n  made.last += *(short *)operand;\n  *({kind} *)result = made;\n}}"
        start, operand, check = (
            "{0}",
            "short y = 3",
            "CHECK_EQ(v.last, 3 * members * times);\n  CHECK_EQ(v.first, (char)(members * times));",
        )
    else:
        yield f"  *({kind} *)result = *({kind} *)value + *({kind} *)operand;\n}}"
        start, operand, check = "0", f"{kind} y = 3", f'SAME(v, ({kind})(3 * members * times), "{name}");'
    yield f"""static void test_{name}(void)
{{
  {kind} v = {start};
  {operand};
  ALL_AT_ONCE({name}(0, 0, &v, &y, combine_{name});)
  {check}
}}"""


REGION = """extern void __kmpc_atomic_start(void);
extern void __kmpc_atomic_end(void);
static void test___kmpc_atomic_start(void)
{
  long v = 0;
  ALL_AT_ONCE({
    __kmpc_atomic_start();
    v++;
    __kmpc_atomic_end();
  })
  CHECK_EQ(v, members * times);
}
static void test___kmpc_atomic_end(void) {}"""


def test_of(name):
    short = name.removeprefix("__kmpc_atomic_")
    if short in ("start", "end"):
        return [REGION] if short == "start" else []
    if short.isdigit():
        return any_test(name, short)
    if match := re.fullmatch(r"(bool|val)_(\d)_cas(_cpt)?", short):
        return cas_test(name, match[1], match[2], match[3])
    if match := re.fullmatch(r"(\w+)_(rd|wr|swp)", short):
        return access_test(name, match[1], match[2])
    match = NAME.fullmatch(short)
    assert match and match[1] in TYPES, f"{name}: no test knows what this name means"
    return update_test(name, match)


# A float8 that is not aligned, as in a common block of Fortran.
UNALIGNED = """
static void test_unaligned(void)
{
  struct { char c; double v; } __attribute__((packed)) s = {0, 0};
  void *v = (char *)&s + __builtin_offsetof(__typeof__(s), v);
  ALL_AT_ONCE(__kmpc_atomic_float8_add(0, 0, v, 1.0);)
  CHECK_EQ(s.v, members * times);
}"""


def program(names):
    yield HEAD
    for name in names:
        yield from test_of(name)
    yield UNALIGNED
    yield "int main(void)\n{\n  omp_set_dynamic(0);"
    yield from (f"  test_{name}();" for name in names)
    yield "  test_unaligned();\n  return check_result();\n}"


def main():
    library, symbols, *compilers = sys.argv[1:]
    found = {name for name, _ in check_exports.wanted([symbols])[0] if name.startswith("__kmpc_atomic_")}
    assert len(found) == 340, f"{len(found)} functions in {symbols}; there were 340"
    support = pathlib.Path(__file__).resolve().parent.parent / "support"
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "atomics.c"
        source.write_text("\n".join(program(sorted(found))) + "\n")
        for compiler in compilers:
            binary = pathlib.Path(folder) / "atomics"
            subprocess.run(
                [
                    compiler,
                    "-O1",
                    "-w",
                    "-fopenmp",
                    "-std=gnu11",
                    f"-I{support}",
                    str(source),
                    "-o",
                    str(binary),
                    library,
                ],
                check=True,
            )
            where = str(pathlib.Path(library).resolve().parent)
            run = subprocess.run(
                [str(binary)], env={"LD_LIBRARY_PATH": where}, capture_output=True, text=True, timeout=200
            )
            assert run.returncode == 0 and not run.stderr, f"{compiler}: exit status {run.returncode}\n{run.stderr}"
    print(f"atomics_test: {len(found)} functions, ok")


if __name__ == "__main__":
    main()
