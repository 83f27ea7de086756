#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Unit tests define no global function but main(): a fake is a row of functions that the test hands over.

test/unit/FAKES lists the functions of the program that tests replace by the linker instead. It only gets
shorter, in all at most FAKES_MOST.
test/unit/lib defines none of the program's functions either.
check_fakes.py TEST OBJS: reads the objects below OBJS/o/TEST, and both libraries.
"""
import re
import subprocess
import sys
from pathlib import Path

tests, objs = Path(sys.argv[1]), Path(sys.argv[2])
FAKES_MOST = 17
TOOLS = ("__asan", "__odr_asan", "__gcov", "__sanitizer", "__lsan", "__ubsan", "DW.ref.", ".")
sources = {str(obj): f.stem for f in sorted(tests.glob("test_*.c"))
           if (obj := (objs / "o" / f).with_suffix(".o")).exists()}
if not sources:
    sys.exit(f"no objects below {objs}/o/{tests}: build the units first")
defined = {}
out = subprocess.run(["nm", "-g", "-A", "--defined-only", *sources], capture_output=True, text=True, check=True)
for line in out.stdout.splitlines():
    obj, _, symbol = line.partition(":")
    name = symbol.split()[-1].removeprefix("__wrap_")
    if name not in ("main", "main_" + sources[obj]) and not name.startswith(TOOLS):
        defined.setdefault(sources[obj], set()).add(name)

listed = {}
bad = []
for line in (tests / "FAKES").read_text().splitlines():
    row = re.fullmatch(r"(test_\w+): (.+)", line)
    if row:
        listed.setdefault(row[1], set()).update(row[2].replace("(", "").replace(")", "").split())
    elif line and not line.startswith("#"):
        bad.append(f"{tests}/FAKES: not \"test_NAME: functions\": {line}")
for test in sorted({*defined, *listed}):
    are, may = defined.get(test, set()), listed.get(test, set())
    for name in sorted(are - may):
        bad.append(f"{tests}/{test}.c: defines {name}, which is in no row of FAKES: make it static, or hand it over")
    for name in sorted(may - are):
        bad.append(f"{tests}/FAKES: {test} does not define {name}: take it out")
most = sum(map(len, listed.values()))
if most > FAKES_MOST:
    bad.append(f"{tests}/FAKES: {most} functions, at most {FAKES_MOST}")

def globals_of(archive):
    out = subprocess.run(["nm", "-g", "-j", "--defined-only", archive], capture_output=True, text=True, check=True)
    return set(out.stdout.split())


for name in globals_of(objs / "test/libunit.a") & globals_of(objs / "libsrs.a"):
    if not name.startswith(TOOLS) and not name.endswith(".o:"):
        bad.append(f"{tests}/lib: the program has a {name}, too")
print("\n".join(bad))
sys.exit(len(bad) > 0)
