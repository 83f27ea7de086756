# SPDX-License-Identifier: MIT
"""Pages about the code: links lead somewhere, and files and identifiers between backquotes exist."""
import fnmatch
import os
import re
from pathlib import Path

import pytest

from procs import ROOT
from test_documents import anchors

ROOT = Path(ROOT)
PAGES = sorted(str(p.relative_to(ROOT)) for p in [*(ROOT / "src").rglob("README.md"), ROOT / "CONTRIBUTING.md",
               *(ROOT / "doc" / f"{n}.md" for n in ("architecture", "workers", "PRINCIPLES", "performance-history"))])
FOLDERS = ("src", "test", "scripts", "conf", "doc", "www", "3rdparty", "etc")
# Placeholders (NAME, x_), system headers, and names of the kernel, OpenSSL and removed code.
NOT_OURS = re.compile(r"[A-Z]{3}|\bx_|\bx\.[ch]$|st\.h|find_inode_bit|io_submit")

FILES = [str(p.relative_to(ROOT)) for folder in FOLDERS for p in (ROOT / folder).rglob("*")
         if p.is_file() and "__pycache__" not in p.parts]

NAMES = {os.path.basename(f) for f in FILES}
CODE = (".c", ".h", ".py", ".sh", ".S", ".conf", ".js")


@pytest.fixture(scope="module")
def words():
    return {w for f in FILES if f.endswith(CODE) for w in re.findall(r"\w+", (ROOT / f).read_text(errors="ignore"))}


def quoted(page):
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.S)
    for code in re.findall(r"`([^`\n]+)`", text):
        if not NOT_OURS.search(code):
            yield from (w.rstrip(".,") for w in re.findall(r"[\w./*\[\]-]+", code))


@pytest.mark.parametrize("page", PAGES)
def test_files_exist(page):
    """A path may begin at the root or at any folder, such as that of the page."""
    missing = []
    for name in quoted(page):
        if re.search(r"\.(c|h|\[ch\]|md|sh|py|svg)$", name) and not name.startswith("objs/"):
            beside = os.path.normpath(os.path.join(os.path.dirname(page), name))
            if not any(fnmatch.fnmatch(f, p) for f in FILES for p in (name, "*/" + name, beside)):
                missing.append(name)
    assert not missing


@pytest.mark.parametrize("page", PAGES)
def test_identifiers_exist(page, words):
    found = {w.replace("()", "") for w in quoted(page)}
    assert not sorted(w for w in found if re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)+", w) and w not in words | NAMES)


@pytest.mark.parametrize("page", PAGES)
def test_links(page):
    wrong = []
    for target in re.findall(r"\]\(([^)\s]+)\)", (ROOT / page).read_text()):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        to = (ROOT / page).parent / path if path else ROOT / page
        if not to.exists() or (anchor and to.suffix == ".md" and anchor not in anchors(to.read_text())):
            wrong.append(target)
    assert not wrong
