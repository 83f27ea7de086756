# SPDX-License-Identifier: MIT
"""The publish block of a vhost: timeouts, read merging, publishers without players."""
import time

import pytest

import flv
from flv import VIDEO
from flvgen import synthetic
from procs import SLOW, wait_for
from rtmpclient import Rejected


def test_firstpkt_timeout(srs):
    """It publishes and never sends media: disconnected, and the name is free."""
    s = srs("publish { firstpkt_timeout 700; normal_timeout 600000; takeover off; }")
    begin = time.monotonic()
    c = s.publisher()
    assert c.closed(5)
    assert time.monotonic() - begin > 0.65
    assert s.wait_log(r"code=1011", 2), s.log()[-800:]
    s.publisher()


def test_normal_timeout(srs, source):
    s = srs("publish { firstpkt_timeout 600000; normal_timeout 700; takeover off; }")
    c = s.publisher()
    begin = time.monotonic()
    for t in flv.cut(source, 300):
        c.send_tag(t)
    assert c.closed(5)
    assert time.monotonic() - begin > 0.65
    s.publisher()


def test_timeouts_do_not_hit_who_sends(srs):
    s = srs("publish { firstpkt_timeout 2000; normal_timeout 2000; }")
    p = s.push(synthetic(2.4), speed=1)
    p.join(60)
    assert p.error is None


def test_kickoff_for_idle(srs):
    """A publisher without players is disconnected; one with a player stays until the player leaves."""
    s = srs("publish { kickoff_for_idle 1; }")
    c = s.push(synthetic(8), "lonely", loop=True)
    w = s.watch("seen")
    p = s.push(synthetic(8), "seen", loop=True)
    assert wait_for(lambda: c.error is not None), "it had no players"
    assert p.is_alive() and p.error is None
    assert s.wait_log(r"(?i)(idle|nobody|kick)", 2)
    w.stop()
    w.client.close()
    assert wait_for(lambda: p.error is not None)


@pytest.mark.parametrize("latency", [50, 350, pytest.param(2000, marks=pytest.mark.long)])
def test_merged_read(srs, latency):
    """mr changes when bytes are read, but not which."""
    s = srs(f"publish {{ mr on; mr_latency {latency}; }}")
    w = s.watch()
    tags = synthetic(2)
    p = s.push(tags, speed=2)
    assert w.wait(lambda got: len(flv.frames(got)) >= len(flv.frames(tags)), 8)
    assert p.error is None
    assert flv.hashes(w.stop()) == flv.hashes(tags)
    assert flv.check_monotonic(w.tags) <= 40


def test_merged_read_ends_with_the_publisher(srs):
    """Even with a long mr_latency, the end of the connection is noticed at once."""
    s = srs("publish { mr on; mr_latency 2000; takeover off; }")
    p = s.push(synthetic(1), speed=1)
    p.join(60)
    p.client.close()

    def free():
        try:
            return s.publisher()
        except Rejected:
            return None
    begin = time.monotonic()
    assert wait_for(free, step=0.1)
    assert time.monotonic() - begin < 1.9 * SLOW


def test_parse_sps_off_and_strange_sps(srs):
    """A decoder configuration that we cannot parse is still passed on."""
    s = srs("publish { parse_sps off; }")
    for i, stream in enumerate(("a", "b")):
        w = s.watch(stream)
        tags = synthetic(0.5, config=bytes([0xff] * 3) if i else b"")
        s.push(tags, stream, speed=0)
        assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= 12, 3)
        assert any(t.config for t in w.stop())
