#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws a flame graph (SVG) of sampled stacks.

    perf script -i perf.data | scripts/flame.py > flame.svg
    objs/pprof --collapsed objs/srs gperf.srs.gcp | scripts/flame.py > flame.svg

Reads the output of `perf script`, or collapsed stacks: one per line, "main;serve;read 42". The width of a
box is the number of samples in a function and its callees. Click a box to zoom in, and the lowest box to
zoom out. Colours: the server, state-threads, malloc, C library, kernel.

    --title TEXT    title of the graph
    --text          instead of a graph: a flat profile with the share of each kind
    --collapsed     instead of a graph: the stacks, one per line
"""
import argparse
import html
import re
import sys
from collections import Counter

WIDTH, ROW, CHAR = 1200, 16, 6.6
KINDS = {"ours": "#e8743b", "state-threads": "#d8a800", "malloc": "#b05cc4", "library": "#5c9ec4",
         "kernel": "#8fae5a"}
MALLOC = re.compile(r"^(tc_)?(_*libc_)?(malloc|calloc|realloc|free|cfree|memalign|posix_memalign)\b"
                    r"|^_int_(malloc|free|realloc)|malloc_consolidate|^tcmalloc|^unlink_chunk|^sysmalloc"
                    r"|^tcache_|^(do_|slow_)?(malloc|free)_|^systrim")
THREADS = re.compile(r"^_?st_|^edge_|^_ST_")
LIBRARY = re.compile(r"^(syscall|futex_|0x[0-9a-f]+|__|_IO_|_dl_|(OPENSSL|CRYPTO|OSSL|EVP|BIO|ERR|SSL|RAND)_)")
FRAME = re.compile(r"^\s+([0-9a-f]+) (.*) \((.*)\)$")


def kind(name, module):
    if "kernel" in module or module.startswith("[k") or name.endswith("_[k]"):
        return "kernel"
    if MALLOC.search(name):
        return "malloc"
    if THREADS.search(name):
        return "state-threads"
    if ".so" in module or module in ("[vdso]", "[unknown]") or (not module and LIBRARY.search(name)):
        return "library"
    return "ours"


def read(lines):
    """Returns a Counter of stacks. A stack is a tuple of (name, kind), outermost first."""
    stacks, stack = Counter(), []

    def end():
        if stack:
            stacks[tuple(reversed(stack))] += 1
        stack.clear()

    for line in lines:
        line = line.rstrip("\n")
        frame = FRAME.match(line)
        if frame:
            name = re.sub(r"\+0x[0-9a-f]+$", "", frame[2])
            stack.append((name, kind(name, frame[3])))
        elif not line.strip():
            end()
        elif not line[0].isspace():
            one = re.match(r"^(\S.*) (\d+)$", line)
            if one and (";" in one[1] or ":" not in one[1]):
                names = [re.sub(r"@@.*$", "", n) for n in one[1].split(";")]
                stacks[tuple((n, kind(n, "")) for n in names)] += int(one[2])
    end()
    return stacks


class Node:
    __slots__ = ("name", "kind", "count", "children")

    def __init__(self, name, what):
        self.name, self.kind, self.count, self.children = name, what, 0, {}

    def add(self, stack, count):
        node = self
        node.count += count
        for frame in stack:
            node = node.children.setdefault(frame, Node(*frame))
            node.count += count


def boxes(node, x, depth, out):
    out.append((x, depth, node))
    for child in sorted(node.children.values(), key=lambda c: c.name):
        boxes(child, x, depth + 1, out)
        x += child.count


SCRIPT = """
var boxes = document.querySelectorAll('g[d]'), wide = %d, all = %d;
function show(e) {
  var g = e.currentTarget, from = +g.getAttribute('f'), n = +g.getAttribute('n');
  boxes.forEach(function (b) {
    var x = (+b.getAttribute('f') - from) * wide / n, w = +b.getAttribute('n') * wide / n;
    if (x < 0 && x + w > 0) { w = Math.min(w + x, wide); x = 0; }
    var off = x >= wide || x + w <= 0 || w < 0.3;
    b.style.display = off ? 'none' : '';
    if (off) return;
    var r = b.querySelector('rect'), t = b.querySelector('text');
    r.setAttribute('x', x); r.setAttribute('width', Math.max(Math.min(w, wide - x) - 0.5, 0.2));
    t.setAttribute('x', x + 3);
    var fits = Math.floor((w - 6) / %f), name = b.getAttribute('t');
    t.textContent = fits >= name.length ? name : fits > 3 ? name.slice(0, fits - 2) + '..' : '';
  });
}
boxes.forEach(function (b) { b.addEventListener('click', show); });
"""


def picture(stacks, title, out):
    root = Node("all", "library")
    for stack, count in stacks.items():
        root.add(stack, count)
    found = []
    boxes(root, 0, 0, found)
    deep = max(d for _, d, _ in found) + 1
    height = deep * ROW + 60
    total = root.count
    out.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
              f'viewBox="0 0 {WIDTH} {height}" font-family="monospace" font-size="11">\n'
              f'<rect width="100%" height="100%" fill="#fffdf8"/>\n'
              f'<text x="8" y="18" font-size="14">{html.escape(title)} ({total} samples)</text>\n')
    for i, (name, colour) in enumerate(KINDS.items()):
        out.write(f'<rect x="{8 + i * 130}" y="26" width="10" height="10" fill="{colour}"/>'
                  f'<text x="{22 + i * 130}" y="35">{name}</text>\n')
    for x, depth, node in found:
        left, width = x * WIDTH / total, node.count * WIDTH / total
        if width < 0.2:
            continue
        y = height - (depth + 1) * ROW - 4
        name = html.escape(node.name, quote=True)
        fits = int((width - 6) / CHAR)
        shown = node.name if fits >= len(node.name) else node.name[:fits - 2] + ".." if fits > 3 else ""
        out.write(f'<g d="" f="{x}" n="{node.count}" t="{name}"><title>{name}: {node.count} samples, '
                  f'{100 * node.count / total:.2f}%</title><rect x="{left:.2f}" y="{y}" '
                  f'width="{max(width - 0.5, 0.2):.2f}" height="{ROW - 1}" fill="{KINDS[node.kind]}" '
                  f'rx="2"/><text x="{left + 3:.2f}" y="{y + 11}">{html.escape(shown)}</text></g>\n')
    out.write(f"<script><![CDATA[{SCRIPT % (WIDTH, total, CHAR)}]]></script>\n</svg>\n")


def flat(stacks, out, most=25):
    """Prints self time of each function and share of each kind, by innermost frames."""
    total = sum(stacks.values())
    kinds, own, within = Counter(), Counter(), Counter()
    for stack, count in stacks.items():
        kinds[stack[-1][1]] += count
        own[stack[-1]] += count
        for frame in set(stack):
            within[frame] += count
    out.write(f"{total} samples: " + ", ".join(
        f"{k} {100 * kinds[k] / total:.1f}%" for k in KINDS if kinds[k]) + "\n\n")
    out.write(f"{'self':>7} {'with callees':>13}  kind           function\n")
    for frame, count in own.most_common(most):
        out.write(f"{100 * count / total:6.1f}% {100 * within[frame] / total:12.1f}%  "
                  f"{frame[1]:<14} {frame[0]}\n")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--title", default="srs")
    p.add_argument("--text", action="store_true")
    p.add_argument("--collapsed", action="store_true")
    p.add_argument("file", nargs="?", help="input file (default: standard input)")
    args = p.parse_args()
    sys.setrecursionlimit(10000)
    with open(args.file, errors="replace") if args.file else sys.stdin as f:
        stacks = read(f)
    if not stacks:
        sys.exit("flame.py: no stacks in the input: record with a call graph, under load")
    if args.text:
        flat(stacks, sys.stdout)
    elif args.collapsed:
        for stack, count in stacks.most_common():
            print(";".join(name for name, _ in stack), count)
    else:
        picture(stacks, args.title, sys.stdout)


if __name__ == "__main__":
    main()
