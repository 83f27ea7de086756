# SPDX-License-Identifier: MIT
"""The load tools against the real server: what they report is true."""
import json
import os
import subprocess

import pytest

import procs
from procs import SLOW, SOURCE

TOOLS = os.path.dirname(procs.BINARY)


def tool(name):
    path = os.path.join(TOOLS, name)
    if not os.path.exists(path):
        pytest.skip(f"{name} is not built")
    return path


def run(name, *args, timeout=20):
    r = subprocess.run([tool(name), *map(str, args)], capture_output=True, text=True,
                       timeout=timeout * SLOW, stdin=subprocess.DEVNULL)
    return r.returncode, r.stdout + r.stderr


def last_object(text):
    return json.loads(text[text.index("{"):text.rindex("}") + 1])


def test_players(srs, source):
    s = srs()
    s.push(source, loop=True)
    code, text = run("sb_rtmp_load", "-c", 20, "-r", s.url(), "-s", 0.1, "--duration", 3,
                     "-m", 1, "--json")
    assert code == 0, text
    assert last_object(text)["clients"] == 20
    assert s.wait_log(r"type=Play", 1, count=20)


def test_fast_players(srs, source):
    s = srs()
    s.push(source, loop=True)
    code, text = run("sb_rtmp_load_fast", "-c", 20, "-r", s.url(), "-s", 0.1, "--duration", 2, "-m", 1)
    assert code == 0 and "[report]" in text, text


def test_publishers(srs):
    s = srs()
    p = procs.Proc([tool("sb_rtmp_publish"), "-c", 10, "-i", SOURCE, "-r", s.url("s{i}"), "-s", 0.1,
                    "--duration", 4, "-m", 1], os.path.join(s.tmp, "pub.log"))
    assert s.wait_log(r"publish", 3, count=10)
    for i in (0, 9):
        c = s.player(f"s{i}")
        c.collect(2, count=20)
        assert len(c.tags) >= 20
        c.close()
    assert p.wait(10) == 0


def test_nobody_there():
    code, text = run("sb_rtmp_load", "-c", 2, "-r", f"rtmp://127.0.0.1:{procs.free_port()}/live/s",
                     "-s", 0.1, "--duration", 1.5, "-m", 1)
    assert "[report]" in text and code == 2, text
