# SPDX-License-Identifier: MIT
"""The commands in the pages: each line of indented or fenced code that begins with a program."""
import glob
import os
import re
import shlex

from procs import ROOT

# Without the pages whose output and commands test/profile runs, and the record of measurements of the past.
PAGES = sorted(os.path.relpath(p, ROOT) for p in
               [*(os.path.join(ROOT, f) for f in ("README.md", "CONTRIBUTING.md", "SECURITY.md")), *glob.glob(os.path.join(ROOT, "doc", "*.md"))]
               if os.path.basename(p) not in ("profiling.md", "performance-history.md"))

# Programs that no test runs from a page, and why.
NOT_RUN = {
    "apt": "installs packages on this machine", "certbot": "needs a domain", "docker": "needs a Docker daemon", "git": "changes the tree",
    "systemctl": "needs systemd as the first process", "gdb": "test/profile runs it", "perf": "test/profile runs it",
    "vlc": "needs a window; test_desktop.py plays with it", "srt-live-transmit": "not packaged everywhere; test_srt_caller.py has its dialect",
    "openssl": "needs a server with a certificate of its own", "kill": "test_reload.py sends the signal",
    "cp": "needs a file of the reader's", "mkdir": "makes a folder in the tree", "cat": "prints a file", "mv": "needs a file of the reader's", "printf": "a part of another command",
}
RUN = {"ffmpeg", "ffplay", "gst-launch-1.0", "curl", "grep", "make"}
OURS = r"\.?/?(?:objs|scripts|etc|test|3rdparty)/(?:[\w.-]+/)*[\w.-]*[\w-]|\./configure"
PROGRAM = re.compile(rf"(?:{OURS}|{'|'.join(re.escape(p) for p in [*NOT_RUN, *RUN])})(?=\s|$)")
# A line that looks like a command, of any program: options or an address behind a word.
LIKE = re.compile(r"[a-z./][\w./-]* (?:\S+ )*(?:--?[a-z]\S*|['\"]?[a-z]+://\S+)(?: |$)")
# Text of other kinds that looks so: configurations, logs, output of programs, HTML, scripts.
OTHER = re.compile(r"[;{}<>]|^\[|, |\)|^(?:pull|url|destination|output) ")


class Command:
    def __init__(self, page, line, text):
        self.page, self.line = page, line
        self.text = text

    @property
    def abridged(self):
        return "..." in re.sub(r"#.*", "", self.text)

    def words(self):
        return shlex.split(self.text, comments=True)

    def stages(self):
        """The words of each program of a line with && or |, without variables in front."""
        out = [[]]
        for word in self.words():
            if word in ("&&", "|"):
                out.append([])
            else:
                out[-1].append(word)
        for stage in out:
            while stage and (re.match(r"[A-Z_]+=", stage[0]) or stage[0] in ("env", "sudo")):
                stage.pop(0)
        return [stage for stage in out if stage]

    @property
    def program(self):
        return self.stages()[0][0]

    def __repr__(self):
        return f"{self.page}:{self.line}: {self.text}"


def code(text):
    """(number, line) of code, each block followed by (0, "")."""
    fenced = False
    for n, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            yield 0, ""
        elif fenced or line.startswith("    "):
            yield n, line.strip()
        elif not line.strip():
            yield 0, ""


def commands(page):
    """[Command] of a page, and the lines that look like a command and begin with no known program."""
    found, unknown, last = [], [], None
    with open(os.path.join(ROOT, page)) as f:
        lines = list(code(f.read()))
    for n, line in lines:
        if last is not None:
            last.text = last.text[:-1].rstrip() + " " + line
        else:
            line = re.sub(r"^\$ ", "", line)
            bare = re.sub(r"^(?:env |sudo )?(?:[A-Z_]+=\S+ )*", "", line)
            if PROGRAM.match(bare) and not bare.endswith(";"):
                found.append(last := Command(page, n, line))
            elif LIKE.match(bare) and not OTHER.search(re.sub(r"#.*", "", bare)):
                unknown.append(f"{page}:{n}: {line}")
        if last is not None and not line.endswith("\\"):
            last = None
    return found, unknown


def inline(page):
    """[Command] between backquotes, which are checked but not run."""
    with open(os.path.join(ROOT, page)) as f:
        return [Command(page, n, text) for n, line in enumerate(f, 1) for text in re.findall(r"`([^`]+)`", line)
                if PROGRAM.match(text) and " " in text and "..." not in text and not re.search(r"\b(FILE|YOUR\.conf)\b|[;{]", text)]


def every():
    return [c for page in PAGES for c in commands(page)[0]]
