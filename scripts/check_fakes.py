#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Unit tests define no global function but main(): a fake is a row of functions that the test hands over.

A test that defines a function of the program again works only while the linker needs nothing else of the
same source file. test/unit/FAKES lists the tests that still do, with the number of such functions. The
list only gets shorter.
Nor does test/unit/lib define one of the program's.
check_fakes.py TEST OBJS: looks at the objects below OBJS/o/TEST, and at both libraries.
"""
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

tests, objs = Path(sys.argv[1]), Path(sys.argv[2])
TOOLS = ("__asan", "__odr_asan", "__gcov", "__sanitizer", "__lsan", "__ubsan", "DW.ref.", ".")
sources = {str(obj): f.stem for f in sorted(tests.glob("test_*.c"))
           if (obj := (objs / "o" / f).with_suffix(".o")).exists()}
if not sources:
    sys.exit(f"no objects below {objs}/o/{tests}: build the units first")
defined = {}
out = subprocess.run(["nm", "-g", "-A", "--defined-only", *sources], capture_output=True, text=True, check=True)
for line in out.stdout.splitlines():
    obj, _, symbol = line.partition(":")
    name = symbol.split()[-1]
    if name not in ("main", "main_" + sources[obj]) and not name.startswith(TOOLS):
        defined.setdefault(sources[obj], []).append(name)

allowed = Counter()
bad = []
for line in (tests / "FAKES").read_text().splitlines():
    row = re.fullmatch(r"(test_\w+): (\d+)( .*)?", line)
    if row:
        allowed[row[1]] = int(row[2])
    elif line and not line.startswith("#"):
        bad.append(f"{tests}/FAKES: not \"test_NAME: COUNT\": {line}")
for test in sorted({*defined, *allowed}):
    names = defined.get(test, [])
    if len(names) > allowed[test]:
        bad.append(f"{tests}/{test}.c: defines {len(names)} global names, at most {allowed[test]}: {' '.join(names)}")
    elif len(names) < allowed[test]:
        bad.append(f"{tests}/FAKES: {test} defines {len(names)} global names, not {allowed[test]}: correct its row")

def globals_of(archive):
    out = subprocess.run(["nm", "-g", "-j", "--defined-only", archive], capture_output=True, text=True, check=True)
    return set(out.stdout.split())


for name in globals_of(objs / "test/libunit.a") & globals_of(objs / "libsrs.a"):
    if not name.startswith(TOOLS) and not name.endswith(".o:"):
        bad.append(f"{tests}/lib: the program has a {name}, too")
print("\n".join(bad))
sys.exit(len(bad) > 0)
