# SPDX-License-Identifier: MIT
"""Names that users type or search for stay: directives, API fields, metrics, callback fields, error codes, options, SRS's log lines.

test/data/names.txt has those of the last release. A name leaves that file only together with a line in CHANGELOG.md."""
import os
import re
import subprocess

from procs import ROOT

LIST = os.path.join(ROOT, "test", "data", "names.txt")
LOG = r"log_(?:trace|info|warn|error|stat|line)\w*\("


def sources():
    files = subprocess.run(["git", "ls-files", "src"], capture_output=True, text=True, cwd=ROOT, check=True).stdout.split()
    for f in files or []:
        if f.endswith((".c", ".h")) and not f.startswith("src/tools/"):
            with open(os.path.join(ROOT, f), encoding="utf-8") as opened:
                yield re.sub(r"#include[^\n]*", "", re.sub(r"/\*.*?\*/", "", opened.read(), flags=re.S))


def joined(text):
    """Adjacent string literals are one."""
    return re.sub(r'"\s*"', "", text)


def test_no_name_is_lost():
    with open(LIST, encoding="utf-8") as f:
        rows = [line.rstrip("\n").partition(" ")[::2] for line in f if line.strip() and not line.startswith("#")]
    texts = list(sources())
    found = {
        "name": set().union(*(re.findall(r'"([A-Za-z][A-Za-z0-9_.-]*)"', t) for t in texts)),
        "error": set().union(*({" ".join(e) for e in re.findall(r"XX\((\w+),\s*(\d+),", t)} for t in texts)),
    }
    whole = "\n".join(joined(t) for t in texts)
    lost = [f"{kind} {name}" for kind, name in rows if not (name in whole if kind == "log" else name in found[kind])]
    assert len(rows) > 2000 and {kind for kind, _ in rows} == {"name", "error", "log"}
    assert not lost, f"names that users know are gone: {lost}"
