#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Circles of files that need each other, computed from the symbols of the objects.

File A needs file B if A uses a symbol that B defines. Files that need each other, directly or through
others, form a circle: to understand one, a reader must know them all. No circle has more than MOST
files. src/CIRCLES names files that are tables of rows (what a table refers to does not count), each
with its reason; a row that is not needed is an error.
check_circles.py SRC OBJS: reads the objects below OBJS/o. With -v it prints all circles.
"""
import subprocess
import sys
from pathlib import Path

MOST = 5
root, objs = map(Path, sys.argv[1:3])


def read_tables():
    """{file: reason}"""
    lines = (line.split("#")[0].partition(":") for line in (root / "CIRCLES").read_text().splitlines())
    return {name.strip(): reason.strip() for name, colon, reason in lines if colon}


def read_needs():
    """{file: files it needs}"""
    sources = {str(obj): str(f.relative_to(root)) for f in sorted(root.glob("*/**/*.c"))
               if (obj := (objs / "o" / f).with_suffix(".o")).exists()}
    if not sources:
        sys.exit(f"no objects below {objs}/o: build first")
    defined, used = {}, {f: set() for f in sources.values()}
    out = subprocess.run(["nm", "-g", "-A", *sources], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        obj, _, symbol = line.partition(":")
        *_, kind, name = symbol.split()
        if kind in "Uw":
            used[sources[obj]].add(name)
        elif name != "main":
            defined[name] = sources[obj]
    return {f: {defined[n] for n in names if n in defined} - {f} for f, names in used.items()}


def circles(needs):
    """Strongly connected components of more than one file (Tarjan), without recursion."""
    number, lowest, waiting, found = {}, {}, [], []
    for first in needs:
        walk = [] if first in number else [(first, iter(sorted(needs[first])))]
        while walk:
            f, rest = walk[-1]
            if f not in number:
                number[f] = lowest[f] = len(number)
                waiting.append(f)
            for other in rest:
                if other not in number:
                    walk.append((other, iter(sorted(needs[other]))))
                    break
                if other in waiting:
                    lowest[f] = min(lowest[f], number[other])
            else:
                walk.pop()
                if walk:
                    lowest[walk[-1][0]] = min(lowest[walk[-1][0]], lowest[f])
                if lowest[f] == number[f]:
                    at = waiting.index(f)
                    found.append(sorted(waiting[at:]))
                    del waiting[at:]
    return [c for c in found if len(c) > 1]


tables = read_tables()
needs = read_needs()
bad = [f"{root}/CIRCLES: there is no {f}" for f in tables if f not in needs]
bad += [f"{root}/CIRCLES: {f}: give a reason" for f, why in tables.items() if not why]
found = circles({f: set() if f in tables else to for f, to in needs.items()})
bad += [f"{len(c)} files need each other, at most {MOST}: {' '.join(c)}" for c in found if len(c) > MOST]
for f in tables:
    if f in needs and not any(f in c and len(c) > MOST for c in circles(
            {g: set() if g in tables and g != f else to for g, to in needs.items()})):
        bad.append(f"{root}/CIRCLES: {f}: its row is not needed")
if "-v" in sys.argv:
    for circle in sorted(found, key=len, reverse=True):
        print(len(circle), *circle)
print(*bad, sep="\n", end="\n" if bad else "")
sys.exit(bool(bad))
