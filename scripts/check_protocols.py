#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A protocol is named by its own files and those that CONTRIBUTING.md lists, no others.

Its own are those in a folder of its name, and files whose name begins with it. src/PROTOCOLS lists
all other files that name one, with a reason each. Comments and prose (strings with a space) do not
count. A row that is not needed is an error, and so is a listed file that does not name NEWEST.
"""
import re
import sys
from pathlib import Path

NEWEST = "rtmfp"
NAMES = ("rtmp", "rtsp", "srt", "rtmfp", "rtc", "hls")  # the API and callbacks use HTTP, too
MOST = 4


def listed(contributing):
    chapter = contributing.read_text().split("## Add a protocol")[1].split("\n## ")[0]
    files = re.search(r"existing files[^:]*: (.*?)\.\n", chapter, re.S)
    return set(re.findall(r"`src/([\w/.]+)`", files[1])) if files else set()


def code_of(path):
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    return re.sub(r'"(?:\\.|[^"\\\n])* (?:\\.|[^"\\\n])*"', '""', text).lower()


def is_own(path, name):
    *folders, file = path.split("/")
    return name in folders or re.match(rf"{name}[._]", file)


def named(src):
    """Pairs: a file, and a protocol of another folder that it names."""
    for f in sorted(src.rglob("*.[ch]")):
        path, code = str(f.relative_to(src)), code_of(f)
        if not path.startswith("tools/"):
            yield from ((path, n) for n in NAMES if not is_own(path, n) and re.search(rf"(?<![a-z]){n}s?(?![a-z])", code))


src = Path(sys.argv[1])
allowed, found, bad, used = listed(src.parent / "CONTRIBUTING.md"), set(named(src)), [], set()
rows = {}
for line in (src / "PROTOCOLS").read_text().splitlines():
    if not line.startswith("#") and line.strip():
        path, names, _ = line.split(":", 2)
        rows.update({(path, n): line for n in names.split()})
for path, name in sorted(found):
    keys = {(path, name), (f"{path.rsplit('/', 1)[0]}/", name)} & set(rows)
    used |= keys
    if path not in allowed and not keys:
        bad.append(f"{src}/{path}: names {name}, and neither CONTRIBUTING.md nor {src}/PROTOCOLS lists it")
bad += [f"{src}/PROTOCOLS: {path} does not name {name}" for path, name in sorted(set(rows) - used)]
bad += [f"CONTRIBUTING.md lists {src}/{f}, which does not name {NEWEST}" for f in sorted(allowed) if (f, NEWEST) not in found]
if len(allowed) > MOST:
    bad.append(f"CONTRIBUTING.md lists {len(allowed)} files for a protocol, at most {MOST}")
print("\n".join(bad), end="\n" if bad else "")
sys.exit(bool(bad))
