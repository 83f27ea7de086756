# SPDX-License-Identifier: MIT
"""What somebody sees who builds: how far it is, and the server before the load tools."""
import os
import re
import subprocess

import pytest

from procs import ROOT, SLOW

ENV = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "OBJS")}
pytestmark = pytest.mark.needs("make")


def make(objs, *arguments):
    r = subprocess.run(["make", f"OBJS={objs}", *arguments], cwd=ROOT, env=ENV, capture_output=True, text=True,
                       timeout=120 * SLOW)
    assert r.returncode == 0, r.stdout[-2000:] + r.stderr[-2000:]
    return r.stdout


@pytest.fixture
def objs(tmp_path):
    subprocess.run(["./configure", f"--objs={tmp_path}/o", "--jobs=2"], cwd=ROOT, check=True, capture_output=True)
    return f"{tmp_path}/o"


def test_each_compilation_is_numbered(objs):
    count = lambda text: sorted(re.findall(r"^  CC (\d+ of \d+) ", text, re.M))
    two = [f"{objs}/o/src/base/{name}.o" for name in ("base64", "ip")]
    assert count(make(objs, *two)) == ["1 of 2", "2 of 2"]
    assert count(make(objs, *two)) == []
    os.unlink(two[0])
    assert count(make(objs, "CFLAGS=-DX -g0", *two)) == ["1 of 1"], "what is there is not counted"
    os.unlink(two[0])
    assert not count(make(objs, "V=1", *two))


def test_the_server_comes_before_the_load_tools(objs):
    """With as many compilers at a time as you like: no file of a tool waits for less than the server."""
    plan = make(objs, "-n", "-j50")
    server, tools = plan.index(f"LD {objs}/srs'"), [m.start() for m in re.finditer(r"\bsrc/tools/load/\w+\.o'", plan)]
    assert len(tools) > 20 and server < min(tools)
    rules = make(objs, "-n", "-p", "all")
    for name in set(re.findall(r"src/tools/load/(\w+)\.o'", plan)):
        after = re.search(rf"^{re.escape(objs)}/o/src/tools/load/{name}\.o:[^|\n]*\|(.*)$", rules, re.M)
        assert after and f"{objs}/srs" in after[1].split(), name
    assert "src/tools/load" not in make(objs, "-n", "server") and "LD" in make(objs, "-n", "server")
