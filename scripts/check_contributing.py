#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_contributing.py: paths in documents exist, doc/README.md links all pages, pages are short, and the lists of files in CONTRIBUTING.md agree with the code.

A path is text between backquotes that begins with a folder of the tree, or that ends in .c or .h and is below src/. A word in capital letters
in a path, such as NAME, stands for any name; at least one file must match. Each recipe of CONTRIBUTING.md ("Add a codec", ...) must
list all files that the code shows to do the same for what exists."""
import functools
import glob
import re
import sys
from pathlib import Path

TOP = r"(?:src|test|scripts|doc|conf|etc|packaging|3rdparty|www)/"
# Files that the build, a test or a user makes: path in a document, reason.
MADE = {"conf/server.crt": "make", "conf/server.key": "make", "conf/my.conf": "the reader's", "conf/srs.conf.new": "make install"}
README_LINES, FIRST_SCREEN, PAGE_WORDS = 150, 40, 1500
REFERENCES = ("config.md", "api.md", "security-limits-table.md", "performance-history.md", "profiling.md")  # as long as they need
CODECS = 4  # a file that names this many codecs has a row for each


def pattern(path):
    if Path(path).exists() or Path("src", path).exists():
        return path
    return re.sub(r"\[[a-z]+\]|\{[^}]*\}|[A-Z][A-Z_]{2,}", "*", path)


def exists(path, page):
    made = pattern(path.rstrip("/"))
    places = [made, f"src/{made}", str(page.parent / made)]
    return any(glob.glob(place) for place in places)


def paths_of(text):
    for word in re.findall(r"`([^`\n]+)`", text):
        for path in re.findall(rf"(?<![\w./-])(?:\./)?({TOP}[\w.*/-]+|[a-z][\w/]*/[\w*]+\.[ch])(?![\w*])", word):
            yield path.rstrip(".")


def check_paths():
    for page in [Path("README.md"), Path("CONTRIBUTING.md"), Path("SECURITY.md"), *sorted(Path("doc").glob("*.md")), *sorted(Path("src").rglob("README.md"))]:
        if page.name == "performance-history.md":  # tells of files of the past
            continue
        for path in paths_of(page.read_text()):
            if path not in MADE and not exists(path, page):
                yield f"{page}: no file {path}"


def check_pages():
    """Pages that sources, configurations and scripts name."""
    for folder in ("src", "conf", "etc", "packaging", "scripts", "www", "test"):
        for f in sorted(Path(folder).rglob("*")):
            if f.suffix in (".c", ".h", ".md", ".conf", ".sh", ".py", ".service", ".txt", ".html", ".js", ".yml") and f.is_file():
                for page in re.findall(r"(?<![$\w])doc/[\w-]+\.md\b", f.read_text(errors="replace")):
                    if not Path(page).exists():
                        yield f"{f}: no page {page}"


def check_sizes():
    readme = Path("README.md").read_text().split("\n")
    if len(readme) > README_LINES:
        yield f"README.md: {len(readme)} lines, at most {README_LINES}"
    for needed in ("doc/home.png", "    ./scripts/run.sh", "    ffmpeg -re ", "    ffplay "):
        if needed not in "\n".join(readme[:FIRST_SCREEN]):
            yield f"README.md: no \"{needed.strip()}\" in the first {FIRST_SCREEN} lines"
    for page in [Path("README.md"), Path("CONTRIBUTING.md"), Path("SECURITY.md"), *sorted(Path("doc").glob("*.md"))]:
        words = len(page.read_text().split())
        if words > PAGE_WORDS and page.name not in REFERENCES:
            yield f"{page}: {words} words, at most {PAGE_WORDS}"


def check_contents():
    text = Path("doc/README.md").read_text()
    for page in sorted(Path("doc").glob("*.md")):
        if page.name != "README.md" and f"]({page.name}" not in text:
            yield f"doc/README.md: the contents have no link to {page.name}"


@functools.cache
def code_of(path):
    return re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)


def sources(folder="src"):
    return [f for f in sorted(Path(folder).rglob("*.[ch]")) if not str(f).startswith("src/tools/")]


def codec_files():
    text = Path("src/av/codec.h").read_text()
    names = re.findall(r"X\((\w+), \w+\)", text.split("#define AV_CODEC_LIST(X)")[1].split("enum av_codec {")[0])
    for f in sources():
        code = code_of(f)
        if sum(bool(re.search(rf"\bAV_{n}\b", code)) for n in names) >= CODECS:
            yield str(f)


def named(what):
    """Files that define an array or row of this kind."""
    return [str(f) for f in sources() if re.search(rf"^(?:static )?const struct {what} \w+(?:\[\])? = ", code_of(f), re.M)]


def sink_files():
    table = code_of(Path("src/app/sinks.c"))
    for f in named("sink_ops"):
        for name in re.findall(r"const struct sink_ops (\w+) = ", code_of(Path(f))):
            if f"&{name}," in table:
                yield "src/app/sinks.c"
            else:
                yield f  # a row that the table does not name: the list is wrong


def directive_files():
    yield from named("conf_row")
    yield "src/conf/settings.h"


def route_files():
    yield from named("api_row")
    yield from (str(f) for f in sources() if re.search(r"\bapi_rows_\w+[\[,]", code_of(f)))


# A recipe, and the files that do the same for what exists.
RECIPES = {"Add a codec": codec_files, "Add a sink": sink_files, "Add a directive": directive_files,
           "Add a counter": lambda: named("counter_row"), "Add a route to the API": route_files}


def check_recipes():
    text = Path("CONTRIBUTING.md").read_text()
    for title, files in RECIPES.items():
        if f"## {title}\n" not in text:
            yield f"CONTRIBUTING.md: no section \"{title}\""
            continue
        section = text.split(f"## {title}\n")[1].split("\n## ")[0]
        cells = "\n".join(line.split("|")[1] for line in section.split("\n") if line.startswith("|"))
        listed = {found for path in paths_of(cells) for found in glob.glob(pattern(path))}
        needed = set(files())
        if not needed:
            yield f"check_contributing.py: found no files for \"{title}\""
        for f in sorted(needed - listed):
            yield f"CONTRIBUTING.md: \"{title}\" does not list {f}"
        if title == "Add a codec":
            for f in sorted(f for f in listed - needed if not f.startswith("src/av/")):
                yield f"CONTRIBUTING.md: \"{title}\" lists {f}, which has no row for each codec"


bad = [*check_paths(), *check_pages(), *check_contents(), *check_sizes(), *check_recipes()]
print("\n".join(bad), end="\n" if bad else "")
sys.exit(bool(bad))
