# SPDX-License-Identifier: MIT
"""The publish block of a vhost: timeouts, merged reads, publishers nobody watches."""
import time

import pytest

import flv
from flv import VIDEO
from flvgen import synthetic


def test_firstpkt_timeout(srs):
    """Publishes and never sends: ended, and the name is free."""
    s = srs("publish { firstpkt_timeout 700; normal_timeout 5000; takeover off; }")
    c = s.publisher()
    begin = time.monotonic()
    assert c.closed(5)
    assert 0.5 < time.monotonic() - begin < 4
    assert s.wait_log(r"code=1011", 2), s.log()[-800:]
    s.publisher()


def test_normal_timeout(srs, source):
    s = srs("publish { firstpkt_timeout 9000; normal_timeout 700; takeover off; }")
    c = s.publisher()
    for t in flv.cut(source, 300):
        c.send_tag(t)
    begin = time.monotonic()
    assert c.closed(5)
    assert 0.5 < time.monotonic() - begin < 4
    s.publisher()


def test_timeouts_do_not_hit_who_sends(srs):
    s = srs("publish { firstpkt_timeout 700; normal_timeout 700; }")
    p = s.push(synthetic(3), speed=1)
    p.join(6)
    assert p.error is None


def test_kickoff_for_idle(srs):
    """A publisher nobody watches is dropped, one with a player stays, until the player goes."""
    s = srs("publish { kickoff_for_idle 1; }")
    c = s.push(synthetic(8), "lonely", speed=1)
    w = s.watch("seen")
    p = s.push(synthetic(8), "seen", speed=1)
    time.sleep(2.5)
    assert c.error is not None or not c.is_alive() or c.client.closed(2), "nobody watched it"
    assert p.is_alive() and p.error is None
    assert s.wait_log(r"(?i)(idle|nobody|kick)", 2)
    w.stop()
    w.client.close()
    time.sleep(2.5)
    assert not p.is_alive() and p.error is not None


@pytest.mark.parametrize("latency", [50, 350, 2000])
def test_merged_read(srs, latency):
    """mr changes when bytes are read, never which."""
    s = srs(f"publish {{ mr on; mr_latency {latency}; }}")
    w = s.watch()
    tags = synthetic(2)
    p = s.push(tags, speed=1)
    assert w.wait(lambda got: len(flv.frames(got)) >= len(flv.frames(tags)), 8)
    assert p.error is None
    assert flv.hashes(w.stop()) == flv.hashes(tags)
    assert flv.check_monotonic(w.tags) <= 40


def test_merged_read_ends_with_the_publisher(srs):
    """With a long mr_latency the end of the connection is still seen at once."""
    s = srs("publish { mr on; mr_latency 2000; takeover off; }")
    p = s.push(synthetic(1), speed=1)
    p.join(4)
    p.client.close()
    time.sleep(0.8)
    s.publisher()


def test_parse_sps_off_and_strange_sps(srs):
    """A decoder configuration that we cannot read is still passed on."""
    s = srs("publish { parse_sps off; }")
    for i, stream in enumerate(("a", "b")):
        w = s.watch(stream)
        tags = synthetic(0.5, config=bytes([0xff] * 3) if i else b"")
        s.push(tags, stream, speed=0)
        assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= 12, 3)
        assert any(t.config for t in w.stop())
