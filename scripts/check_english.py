#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_english.py [--terms] [PATH...]: comments, texts in code, and documents are plain English.

scripts/ENGLISH lists the beginnings, words and terms that it refuses. It also refuses sentences of more than 35 words and paragraphs of
more than 120. Each term of doc/glossary.md must be used elsewhere, and each abbreviation of a "must-define" row must be in it. PATH is a file or folder in git; without one it reads everything but 3rdparty/ and the folders of
"pending" rows. Text between backquotes is not read."""
import os
import re
import subprocess
import sys

LONG, PARA = 35, 120
RULES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ENGLISH")


def rules():
    kinds = {"begin": [], "word": [], "term": [], "must-define": [], "pending": []}
    for line in open(RULES, encoding="utf-8"):
        kind, _, rest = line.strip().partition(": ")
        if kind in kinds:
            word, _, instead = rest.partition(" -> ")
            kinds[kind].append((word, instead))
    return kinds


KINDS = rules()


def any_of(rows):
    return "|".join(re.escape(w) for w, _ in sorted(rows, key=lambda r: -len(r[0])))


BEGIN = re.compile(r"(?:^|(?<=[.!?:;] )|(?<=\*\* ))(%s)\b(?!-)" % any_of(KINDS["begin"]), re.I)
WORDS = re.compile(r"(?<![\w-])(%s)(?![\w-])" % any_of(KINDS["word"] + KINDS["term"]), re.I)
TERMS = dict(KINDS["term"])
INSTEAD = dict(KINDS["word"] + KINDS["term"])
# Terms of specifications and libraries that contain a refused word.
PHRASES = re.compile(r"picture (parameter|order|timing|header|start|structure|id|loss)\w*|(access unit|coded|reference|IDR|I) pictures?|"
                     r"sound\(?[0-9a-z_]|PictureID|SoundFormat|sound (card|format|rate|size|type)|hash table of news", re.I)


def comments_c(text):
    """(line, text) of each comment: neighbouring // lines and the lines of a block are one."""
    out, line, i, n = [], 1, 0, len(text)
    run = None
    while i < n:
        c = text[i]
        if c == "\n":
            line += 1
            i += 1
        elif c in "\"'":
            q, i = c, i + 1
            while i < n and text[i] != q:
                i += 2 if text[i] == "\\" else 1
            i += 1
        elif text.startswith("//", i):
            e = text.find("\n", i)
            e = n if e < 0 else e
            body = text[i + 2:e].lstrip("/!<").strip()
            if run and run[2] == line - 1:
                run[1].append(body)
                run[2] = line
            else:
                run = [line, [body], line]
                out.append(run)
            i = e
        elif text.startswith("/*", i):
            e = text.find("*/", i)
            e = n if e < 0 else e
            raw = text[i + 2:e]
            rows = [r.strip().lstrip("*").strip() for r in raw.split("\n")]
            out.append([line, rows, line])
            line += raw.count("\n")
            i = e + 2
        else:
            i += 1
    for first, rows, _ in out:
        para = []
        for k, r in enumerate(rows + [""]):
            if not r or r.startswith(("- ", "* ", "|", "    ")):
                if para:
                    yield first + k - len(para), " ".join(para)
                para = []
            if r and not re.match(r"SPDX-", r):
                para.append(r.lstrip("-* "))


def comments_hash(text):
    rows, first = [], 0
    for k, l in enumerate(text.split("\n") + [""], 1):
        m = re.match(r"\s*#+(?!!)\s?(.*)$", l)
        if m and m[1].strip() and not re.match(r"\s{4,}", m[1]):
            if not rows:
                first = k
            rows.append(m[1].strip())
        else:
            if rows:
                yield first, " ".join(rows)
            rows = []


def paragraphs_md(text):
    rows, first, code = [], 0, False
    for k, l in enumerate(text.split("\n") + [""], 1):
        if l.startswith("```"):
            code = not code
        if code or l.startswith("    ") or not l.strip() or l.startswith(("|", "#", "```", "<", "- ", "* ", "> ")) or re.match(r"\d+\. ", l):
            if rows:
                yield first, " ".join(rows)
            rows = []
            if not code and l.startswith("|"):
                for cell in l.strip().strip("|").split("|"):
                    if cell.strip(" -:"):
                        yield k, cell.strip()
                continue
            if code or l.startswith(("    ", "```", "<")) or not l.strip():
                continue
            l = re.sub(r"^(#+|[-*>]|\d+\.) ", "", l)
            if text.split("\n")[k - 1].startswith("#"):
                yield k, l
                continue
            rows, first = [l.strip()], k
        else:
            if not rows:
                first = k
            rows.append(l.strip())


def strings_c(text):
    """(line, text) of each string literal that is prose: three words or more. Neighbouring literals are one."""
    text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)
    text = re.sub(r'("(?:\\.|[^"\\\n])*")|//[^\n]*', lambda m: m[1] or "", text)
    for m in re.finditer(r'"(?:\\.|[^"\\\n])*"(?:\s*"(?:\\.|[^"\\\n])*")*', text):
        prose = re.sub(r'"\s*"', "", m[0])[1:-1]
        prose = re.sub(r"%[-\w.*#]+", "X", re.sub(r"\\[nrt]", " ", prose))
        if len(re.findall(r"(?<![\w/=<\"])[a-z]{2,}(?![\w/=<])", prose)) >= 3:
            yield text.count("\n", 0, m.start()) + 1, prose


def faults(text):
    plain = re.sub(r"`[^`]*`|\"[^\"]{1,60}\"", "X", text)
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", plain)
    plain = re.sub(r"https?://\S+|[\w./-]+\.(?:c|h|py|sh|md|conf|svg|png)\b|\w+_\w+(\(\))?", "X", plain)
    plain = PHRASES.sub("X", plain)
    sentences = re.split(r"(?<=[.!?:;])\s+", plain)
    for s in sentences:
        m = BEGIN.match(re.sub(r"^[-*\s(]+|^\*\*.*?\*\* ", "", s))
        if m and not s.rstrip(")*").endswith("?") and not re.match(r"of course", m.string, re.I):
            yield "begins", f"{m[0]}: {s[:60]}"
        n = len(re.findall(r"[A-Za-z][\w'/-]*", s))
        if n > LONG:
            yield "long sentence", f"{n} words: {s[:60]}..."
    for m in WORDS.finditer(plain):
        instead = INSTEAD.get(m[0].lower())
        yield "word", m[0] + (f" (write: {instead})" if instead else "")
    n = len(re.findall(r"[A-Za-z][\w'/-]*", plain))
    if n > PARA:
        yield "long paragraph", f"{n} words: {plain[:60]}..."


def name_faults(path):
    """Words of a file's name that are refused terms, and characters that a shell would need quoted."""
    if not re.fullmatch(r"[\w./@+-]+", path):
        yield "file name", path
    for word in re.split(r"[/._-]", path.lower()) if path.startswith(("src/", "doc/", "scripts/")) else []:
        if word in TERMS:
            yield "file name", f"{word} (write: {INSTEAD[word]})"


def readers(path):
    if path.endswith((".c", ".h")):
        return [comments_c] if path.startswith("test/") else [comments_c, strings_c]
    if path.endswith(".md"):
        return [paragraphs_md]
    if path.endswith((".py", ".sh", ".conf", ".mk")) or os.path.basename(path) in ("Makefile", "configure"):
        return [comments_hash]
    return []


GLOSSARY, ROWS = "doc/glossary.md", 40


def glossary_faults(files):
    """(line, kind, what): terms that neither documents nor comments use, abbreviations without a row, too many rows."""
    lines = open(GLOSSARY, encoding="utf-8").read().split("\n")
    rows = [(n, line.split("|")[1].strip()) for n, line in enumerate(lines, 1) if line.startswith("| ")][1:]
    terms = [(n, t.strip("`")) for n, cell in rows for t in re.split(r", | \(|\)", cell) if t]
    texts = {}
    for path in files:
        if path != GLOSSARY and path.endswith((".md", ".c", ".h")) and not path.startswith("3rdparty/") and os.path.isfile(path):
            texts[path] = open(path, encoding="utf-8", errors="replace").read()
    pages = "\n".join(text for path, text in texts.items() if path.endswith(".md"))
    comments = "\n".join(part for path, text in texts.items() if not path.endswith(".md") for _, part in comments_c(text))
    for n, term in terms:
        if not re.search(rf"(?<![\w-]){re.escape(term)}s?(?![\w-])", pages + comments, re.I):
            yield n, "term", f"{term}: neither a document nor a comment uses it"
    defined = {t for _, t in terms}
    for word, _ in KINDS["must-define"]:
        if word not in defined:
            yield 1, "abbreviation", f"{word}: has no row"
        elif not re.search(rf"(?<![\w-]){re.escape(word)}s?(?![\w-])", pages):
            yield 1, "abbreviation", f"{word}: no document uses it"
    if len(rows) > ROWS:
        yield 1, "rows", f"{len(rows)}, at most {ROWS}"


def listed(paths):
    """Files in git below these paths; where there is no git, all but those that are built."""
    try:
        git = subprocess.run(["git", "ls-files", "-z"] + paths, capture_output=True, text=True)
        if git.returncode == 0 and git.stdout:
            return git.stdout.split("\0")
    except FileNotFoundError:
        pass
    found = []
    for path in paths or ["."]:
        if os.path.isfile(path):
            found.append(path)
        for folder, folders, names in os.walk(path):
            folders[:] = [d for d in folders if d not in ("objs", ".git", "__pycache__")]
            found += [os.path.normpath(os.path.join(folder, n)) for n in names]
    return sorted(found)


def main():
    files = listed(sys.argv[1:])
    pending = () if sys.argv[1:] else tuple(path + "/" for path, _ in KINDS["pending"])
    count = 0
    for path in files:
        if path.startswith(("3rdparty/", *pending)) or not os.path.isfile(path):
            continue
        found = [(1, fault) for fault in name_faults(path)]
        for read in readers(path):
            for line, text in read(open(path, encoding="utf-8", errors="replace").read()):
                found += [(line, fault) for fault in faults(text)]
        for line, (kind, what) in found:
            print(f"{path}:{line}: {kind}: {what}")
        count += len(found)
    if GLOSSARY in files:
        for line, kind, what in glossary_faults(listed([])):
            count += 1
            print(f"{GLOSSARY}:{line}: {kind}: {what}")
    if count:
        print(f"check_english.py: {count} faults", file=sys.stderr)
    sys.exit(1 if count else 0)


main()
