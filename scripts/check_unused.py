#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Global functions that no other file of src uses: dead, or to be static.

A name that its own file uses may be global for tests. One that tests alone use is dead code with
a test; src/UNUSED lists those that stay all the same, each with its reason.
check_unused.py SRC OBJS TEST: looks at the objects below OBJS/o.
"""
import re
import subprocess
import sys
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path

root, objs, tests = map(Path, sys.argv[1:4])
NOISE = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)


def words(path):
    return Counter(re.findall(r"\w+", NOISE.sub(" ", path.read_text())))


allowed = {}
for line in (root / "UNUSED").read_text().splitlines():
    name, _, why = line.partition(":")
    if name.strip() and not name.startswith("#"):
        allowed[name.strip()] = why.strip()

texts = {f: words(f) for f in sorted(root.glob("*/**/*.c"))}
users = Counter(w for text in texts.values() for w in text)
headers = sum((words(f) for f in root.glob("*/**/*.h")), Counter())
in_tests = {w for f in tests.glob("*/*.[ch]") for w in words(f)}
defined, needed = {}, set()
sources = {str(obj): f for f in texts if (obj := (objs / "o" / f).with_suffix(".o")).exists()}
if not sources:
    sys.exit(f"no objects below {objs}/o: build first")
out = subprocess.run(["nm", "-g", "-A", *sources], capture_output=True, text=True, check=True).stdout
for line in out.splitlines():
    obj, _, symbol = line.partition(":")
    *_, kind, name = symbol.split()
    if kind in "Uw":
        needed.add(name)  # also by what a header has in line
    elif kind == "T" and name != "main":
        defined[name] = sources[obj]

bad = []
for name, f in sorted(defined.items(), key=lambda d: (str(d[1]), d[0])):
    own = texts[f][name] > 1
    used = name in needed or users[name] > 1 or headers[name] > 1 or (own and name in in_tests)
    if not used and not any(fnmatchcase(name, a) for a in allowed):
        bad.append(f"{f}: no other file uses {name}: {'make it static' if own else 'remove it'}")
for name, why in allowed.items():
    if not why:
        bad.append(f"{root}/UNUSED: {name}: give a reason")
    if not any(fnmatchcase(d, name) for d in defined):
        bad.append(f"{root}/UNUSED: there is no {name}")
for line in bad:
    print(line)
sys.exit(len(bad) > 0)
