#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Global functions of src that no program reaches: dead, or only tests call them.

A definition mentions names. All names that main() of a program mentions, directly or through the text of
functions, tables, macros and inline functions, are reached. src/UNUSED lists exceptions, each with its
reason; a row that is not needed is an error.
A global function that neither another file nor a test mentions must be static.
check_unused.py SRC OBJS TEST: reads the objects below OBJS/o.
"""
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

root, objs, tests = map(Path, sys.argv[1:4])
NOISE = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)
ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)", re.S)


def read(path):
    return NOISE.sub(" ", path.read_text()).replace("\\\n", " ")


def definitions(text):
    """Each macro, and each piece of text that ends at the left margin."""
    piece = ""
    for line in text.splitlines():
        if line.startswith("#"):
            if line.startswith("#define"):
                yield line
            continue
        piece += line + "\n"
        if line.startswith("}") or (line.rstrip().endswith(";") and piece.count("{") == piece.count("}")):
            yield piece
            piece = ""


def names_of(piece):
    """What a definition defines; None: it is a declaration or a type."""
    if piece.startswith("#define"):
        return re.findall(r"\w+", piece)[1:2]
    head = ATTRIBUTE.sub(" ", piece.split("{")[0])
    left = re.sub(r"\[[^]]*\]", "", head.split("=")[0])
    words = re.findall(r"\w+", left)
    if "typedef" in words or "extern" in words or re.match(r"\s*(struct|enum|union)\s*\w*\s*$", head):
        return None
    if "(" in left and "=" not in head:
        return re.findall(r"(\w+)\s*\(", left)[:1] if "{" in piece else None
    return words if "," in left else words[-1:]


class Reach:
    """Definitions, and those that are reached."""

    def __init__(self, texts):
        self.words, self.file = [], []
        self.globals, self.statics = defaultdict(list), defaultdict(lambda: defaultdict(list))
        self.roots = []
        for f, text in texts.items():
            for piece in definitions(text):
                names = names_of(piece)
                if names is not None:
                    self.add(f, piece, names)

    def add(self, f, piece, names):
        own = f.suffix == ".c" and (re.search(r"\bstatic\b", piece.split("{")[0]) or piece.startswith("#"))
        for name in names:
            (self.statics[f] if own else self.globals)[name].append(len(self.words))
        if not names or "main" in names:
            self.roots.append(len(self.words))
        self.words.append(set(re.findall(r"\w+", piece)))
        self.file.append(f)

    def run(self):
        reached, todo = set(), list(self.roots)
        while todo:
            at = todo.pop()
            if at not in reached:
                reached.add(at)
                own = self.statics[self.file[at]]
                for word in self.words[at]:
                    todo += own[word] if word in own else self.globals.get(word, [])
        return reached


def pasted(reach, counts, defined, needed):
    """Names that macros paste together (## in rows) occur nowhere as such: they count as reached."""
    for f, name in needed:
        if name in defined and name not in counts[f]:
            reach.roots += reach.globals.get(name, [])
    for f, own in reach.statics.items():
        for name, at in own.items():
            if counts[f][name] == len(at):
                reach.roots += at


def read_symbols():
    """{global name: (file, whether it is a function)}, and pairs of files and names that they need."""
    sources = {str(obj): f for f in sorted(root.glob("*/**/*.c")) if (obj := (objs / "o" / f).with_suffix(".o")).exists()}
    if not sources:
        sys.exit(f"no objects below {objs}/o: build first")
    defined, needed = {}, set()
    out = subprocess.run(["nm", "-g", "-A", *sources], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        obj, _, symbol = line.partition(":")
        *_, kind, name = symbol.split()
        if kind in "Uw":
            needed.add((sources[obj], name))
        elif kind in "TDRB" and name != "main":
            defined[name] = sources[obj], kind == "T"
    return defined, needed


def read_rows():
    rows = {}
    for line in (root / "UNUSED").read_text().splitlines():
        name, _, why = line.partition(":")
        if name.strip() and not name.startswith("#"):
            rows[name.strip()] = why.strip()
    return rows


texts = {f: read(f) for f in sorted(root.glob("*/**/*.[ch]"))}
counts = {f: Counter(re.findall(r"\w+", t)) for f, t in texts.items()}
everywhere, headers = Counter(), Counter()
for f, count in counts.items():
    everywhere.update(count)
    if f.suffix == ".h":
        headers.update(count)
in_tests = {w for f in tests.glob("**/*.[ch]") for w in re.findall(r"\w+", read(f))}
defined, needed = read_symbols()
reach = Reach(texts)
pasted(reach, counts, defined, needed)
reached = reach.run()
rows = read_rows()
needs = {name for _, name in needed}

bad, excused = [], set()
for name, (f, is_function) in sorted(defined.items(), key=lambda d: (str(d[1][0]), d[0])):
    if not is_function or not reach.globals[name]:  # a macro defines it
        continue
    if reached.isdisjoint(reach.globals[name]):
        excused.add(name)
        if name not in rows:
            bad.append(f"{f}: no program reaches {name}: remove it, or move it to the tests")
    elif not (name in needs or everywhere[name] - headers[name] > counts[f][name] or headers[name] > 1 or name in in_tests):
        bad.append(f"{f}: no other file uses {name}: make it static")
for name, why in rows.items():
    if not re.fullmatch(r"\w+", name):
        bad.append(f"{root}/UNUSED: {name}: write the name of one function")
    elif not why:
        bad.append(f"{root}/UNUSED: {name}: give a reason")
    elif name not in excused:
        bad.append(f"{root}/UNUSED: {name}: its row is not needed")
print(*bad, sep="\n", end="\n" if bad else "")
sys.exit(bool(bad))
