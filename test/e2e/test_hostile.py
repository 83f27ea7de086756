# SPDX-License-Identifier: MIT
"""An innocent player during attacks: it must not notice them, and resources are freed afterwards."""
import json
import os
import random
import sys

import pytest

import hostile
import procs
from procs import SLOW, wait_for

OBJS = os.path.dirname(procs.BINARY)
HOSTILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hostile.py")


class Scene:
    """A server configured for low latency, with a real-time publisher."""

    def __init__(self, srs, tmp_path, memory=64):
        self.tmp, self.http = tmp_path, procs.free_port()
        html = tmp_path / "html"
        html.mkdir()
        (html / "big.bin").write_bytes(random.Random(1).randbytes(32 << 20))
        (html / "big.js").write_text("let abc = 'something that compresses well';\n" * 40000)
        self.s = srs(glob=f"""
            max_connections 3000;
            limits {{ memory {memory}m; }}
            http_server {{ enabled on; listen 127.0.0.1:{self.http}; dir {html}; }}
            http_api {{ enabled on; listen 127.0.0.1:{self.http}; }}
            exporter {{ enabled on; listen 127.0.0.1:{procs.free_port()}; }}""", vhost=f"""
            tcp_nodelay on; min_latency on;
            play {{ queue_length 10; mw_latency 0; }}
            publish {{ mr off; }}
            hls {{ enabled on; hls_path {html}; hls_fragment 2; hls_window 10; }}
            http_remux {{ enabled on; mount [vhost]/[app]/[stream].flv; }}""")
        self.s.allow_errors = True
        self.s.holds_allowed = (1000, 50)  # memory by the gigabyte: page faults cost the server's time
        self.pub = self.tool("sb_rtmp_publish", "-c", "1", "-i", procs.SOURCE, "-r", self.s.url("innocent"))
        assert self.s.wait_log("publish|CPB", 10)

    def tool(self, name, *args):
        return procs.Proc([os.path.join(OBJS, name), *args], self.tmp / f"{name}.{random.random()}")

    def crowd(self, kind, count, seconds):
        return procs.Proc(["nice", "-n", "5", sys.executable, HOSTILE, "--rtmp", str(self.s.port), "--http",
                           str(self.http), "--kind", kind, "--count", str(count), "--seconds", str(seconds)],
                          self.tmp / f"crowd.{random.random()}")

    def longest_gap(self, seconds, kind=None, count=1, players=1, meanwhile=lambda: None):
        """Longest time in ms that the innocent player waited for media during the attack."""
        player = self.tool("sb_rtmp_load", "-c", str(players), "-s", "0.2", "--warmup", "0.3", "--json", "--duration",
                           str(seconds + 1.5), "-r", self.s.url("innocent"))
        crowd = self.crowd(kind, count, seconds) if kind else None
        assert wait_for(lambda: meanwhile() or not player.running(), seconds + 30, 0.05), "the player hangs"
        if crowd:
            crowd.wait(30)
            assert json.loads(crowd.text())["connects"] > 0, crowd.text()
        report = json.loads(player.text())
        assert report["failed"] == 0 and report["alive"] == players, player.text()
        return report["gap_ms"]["max"]


@pytest.fixture
def scene(srs, tmp_path):
    return Scene(srs, tmp_path)


GROUPS = 8


@pytest.mark.parametrize("group", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, GROUPS))])
def test_a_second_of_each(scene, group):
    """Tests run in parallel, so the limit is what a viewer notices; alone and in long runs it is 100 ms."""
    kinds = list(hostile.BY_NAME)[group::GROUPS]
    gap = scene.longest_gap(0.6 * len(kinds), ";".join(kinds))
    assert gap <= 700 * SLOW, f"the player waited {gap:.0f} ms during one of: {kinds}"


@pytest.mark.alone
@pytest.mark.long
@pytest.mark.parametrize("kind", list(hostile.BY_NAME))
def test_one_hostile_peer(scene, kind):
    idle = scene.longest_gap(3)
    gap = scene.longest_gap(10, kind)
    assert gap <= idle + 100 * SLOW, f"the longest gap grew from {idle:.0f} to {gap:.0f} ms"


@pytest.mark.alone
@pytest.mark.long
def test_a_thousand_hostile_peers(srs, tmp_path):
    """If all clients may publish, `limits { memory }` bounds their streams. The rest are connections, their buffers and incomplete
    messages, and fragmentation of malloc: 30 to 34 MB."""
    memory = 8
    scene = Scene(srs, tmp_path, memory)
    scene.s.holds_allowed = (10000, 250)
    scene.longest_gap(3, "mixed", 40)  # one-time allocations are done
    before = scene.s.rss()
    seen = []
    gap = scene.longest_gap(60, "mixed", 1000, players=20, meanwhile=lambda: seen.append(scene.s.rss()))
    wait_for(lambda: scene.s.rss() - before <= 4096 * SLOW, 30, 0.5)
    figures = f"gap {gap:.0f} ms, {before} kB became {max(seen)} kB, then {scene.s.rss()} kB"
    print(figures)
    assert gap <= 500 * SLOW and max(seen) - before <= (memory + 40) * 1024, figures
    assert scene.s.rss() - before <= 4096 * SLOW, figures
