# SPDX-License-Identifier: MIT
"""The pages of doc/: configurations load, and links work."""
import glob
import os
import re
import subprocess

import pytest

import procs
import tokens
from procs import ROOT

PAGES = sorted(os.path.relpath(p, ROOT) for p in [os.path.join(ROOT, "README.md"), *glob.glob(os.path.join(ROOT, "doc", "*.md"))])


def read(page):
    with open(os.path.join(ROOT, page)) as f:
        return f.read()


def blocks(text):
    """Indented code that is a configuration of the server, not of nginx."""
    found = [re.sub(r"^    ", "", b, flags=re.M) for b in re.findall(r"(?:^    .*\n)+", text, re.M)]
    return [b for b in found if re.match(r"[a-z_]+( [\w./-]+)? \{", b) and not re.search(r"listen \d+ ssl;", b)]


def inline(text):
    """A block of a configuration between backquotes, unless it is abridged."""
    found = re.findall(r"`([a-z_]+(?: \w+)? \{ [^`]*;[^`]* \})`", text)
    return [x for x in found if "..." not in x and not re.search(r"\b(allow|deny|key|token|pull|on_\w+);|[A-Z]{3}", x)]


def loads(text, tmp_path):
    """None, or why it loads neither as a file nor as a part of a vhost, of one of its blocks, or of rtsp_server."""
    text = re.sub(r"(/etc/letsencrypt/live/[^;\s]+/)(privkey|fullchain)\.pem", str(tmp_path) + r"/\2.pem", text)
    text = text.replace("./conf/jwks.json", str(tmp_path / "jwks.json"))
    tokens.jwks(tmp_path / "jwks.json", tokens.Key(tmp_path, "ES256", "e"))
    said = []
    for shape in ("%s", "vhost __defaultVhost__ {\n%s\n}", "vhost __defaultVhost__ {\nrtsp {\nenabled on;\n%s\n}\n}",
                  "rtsp_server {\nenabled on;\n%s\n}"):
        path = tmp_path / "a.conf"
        path.write_text(("" if re.search(r"^listen ", text, re.M) else "listen 1935;\n") + shape % text + "\n")
        r = subprocess.run([procs.BINARY, "-t", "-c", str(path)], capture_output=True, text=True, cwd=tmp_path)
        if r.returncode == 0:
            return None
        said.append(r.stderr)
    return said


@pytest.mark.parametrize("page", PAGES)
def test_configurations_load(page, tmp_path):
    wrong = []
    for block in blocks(read(page)) + inline(read(page)):
        said = loads(block, tmp_path)
        if said:
            wrong.append(block + "\n" + "".join(said))
    assert not wrong, "\n\n".join(wrong)


def anchors(text):
    def anchor(title):
        return re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", title).lower()).replace(" ", "-")
    return {anchor(t) for t in re.findall(r"^#+ (.*)$", text, re.M)}


@pytest.mark.parametrize("page", PAGES)
def test_links(page):
    wrong = []
    for target in re.findall(r"\]\(([^)\s]+)\)", read(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        to = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(os.path.join(ROOT, to)):
            wrong.append(target)
        elif anchor and to.endswith(".md") and anchor not in anchors(read(to)):
            wrong.append(target)
    assert not wrong


def literals():
    """The texts in the source, each string as one line."""
    texts = []
    for path in glob.glob(os.path.join(ROOT, "src", "**", "*.[ch]"), recursive=True):
        with open(path) as f:
            joined = re.sub(r'"\s*\n?\s*"', "", f.read())
        texts += re.findall(r'"((?:\\.|[^"\\\n])*)"', joined)
    return "\n".join(texts)


def test_log_lines_are_those_of_the_server():
    """Of each line of the log in a page most runs of three words are in the source."""
    source, wrong, lines = literals(), [], 0
    for page in PAGES:
        for line in re.findall(r"^ *((?:\[(?:\d{4}-\d\d|WARN|TRACE|ERROR|INFO|DEBUG)|    (?:coroutine|streams|refused|client \w+[:,]) )[^\n]*)",
                               read(page), re.M):
            message = re.sub(r"^(\[[^\]]*\] ?)+", "", line)
            parts = [p.split() for p in re.split(r"[\d%=]+[\w.,%]*|[():;]|\b[\w.]+/[\w.]+\b|\.\.\.", message)]
            runs = [" ".join(w[i:i + 3]) for w in parts for i in range(len(w) - 2)]
            if len(runs) >= 3:
                lines += 1
                known = sum(run in source for run in runs)
                wrong += [] if known * 2 >= len(runs) else [f"{page}: {known} of {len(runs)}: {line}"]
    assert not wrong and lines >= 8, "\n".join(wrong)
