#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A protocol touches its own folders and the files that CONTRIBUTING.md lists, no others.

Looks for the name of NEWEST in all files of src but its own ones. Comments do not count. A file of
the list that does not have the name is a mistake, too.
"""
import re
import sys
from pathlib import Path

NEWEST = "rtmfp"
MOST = 4
OWN = re.compile(rf"(proto|serve)/{NEWEST}/|conf/protocol/{NEWEST}\.c$|wire/{NEWEST}\.[ch]$|tools/load/")


def listed(contributing):
    chapter = contributing.read_text().split("## Add a protocol")[1].split("\n## ")[0]
    files = re.search(r"existing files[^:]*: (.*?)\.\n", chapter, re.S)
    return set(re.findall(r"`src/([\w/.]+)`", files[1])) if files else set()


def named(src):
    for f in sorted(src.rglob("*.[ch]")):
        path = str(f.relative_to(src))
        code = re.sub(r"/\*.*?\*/", "", f.read_text(), flags=re.S)
        if not OWN.match(path) and NEWEST in code.lower():
            yield path


src = Path(sys.argv[1])
allowed, found = listed(src.parent / "CONTRIBUTING.md"), set(named(src))
bad = [f"{src}/{f}: names {NEWEST}, and CONTRIBUTING.md does not list it" for f in sorted(found - allowed)]
bad += [f"CONTRIBUTING.md lists {src}/{f}, which does not name {NEWEST}" for f in sorted(allowed - found)]
if len(allowed) > MOST:
    bad.append(f"CONTRIBUTING.md lists {len(allowed)} files for a protocol, at most {MOST}")
print("\n".join(bad), end="\n" if bad else "")
sys.exit(bool(bad))
