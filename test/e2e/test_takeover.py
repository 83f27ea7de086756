# SPDX-License-Identifier: MIT
"""Two publishers of one name; a publisher that was killed and comes back."""
import os
import signal
import time

import pytest

import flv
import tools
from flv import VIDEO
from procs import wait_for
from rtmpclient import Closed, Rejected


def second(s, bind, **how):
    return s.publisher(client={"bind": bind}, **how)


def test_same_address_replaces_at_once(srs, source):
    """A publisher that comes back is not told busy by its own dead connection."""
    s = srs()
    w = s.watch()
    tags = flv.cut(source, 1000)
    first = s.publisher()
    for t in tags:
        first.send_tag(t)
    again = s.publisher()
    assert first.closed(3), "the old connection is ended"
    for t in tags:
        again.send_tag(t)
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= 2 * len(flv.frames(tags, VIDEO)), 4)
    assert w.ended is None
    assert flv.check_monotonic(w.stop()) < 3000
    assert s.wait_log(r"(?i)(replace|takeover|take over|taken)", 2)


def test_other_address_is_refused_while_the_first_is_fresh(srs, source):
    s = srs()
    p = s.push(source, loop=True)
    time.sleep(0.3)
    with pytest.raises(Rejected) as e:
        second(s, "127.0.0.2")
    assert e.value.code in ("NetStream.Publish.BadName", "NetStream.Publish.StreamBusy",
                            "NetStream.Publish.Denied"), e.value.info
    assert "BadName" in e.value.code or "Busy" in e.value.code
    w = s.watch()
    assert w.wait(lambda got: len(flv.frames(got)) > 20, 3)
    assert p.error is None, "the first one did not notice"
    assert s.wait_log(r"code=1028", 2)


def test_other_address_replaces_one_silent_for_two_seconds(srs, source):
    s = srs()
    w = s.watch()
    first = s.publisher()
    tags = flv.cut(source, 500)
    for t in tags:
        first.send_tag(t)
    with pytest.raises(Rejected):
        second(s, "127.0.0.2")
    time.sleep(2.4)
    again = second(s, "127.0.0.2")
    assert first.closed(3)
    for t in tags:
        again.send_tag(t)
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= 2 * len(flv.frames(tags, VIDEO)), 4)
    assert flv.check_monotonic(w.stop()) < 5000


def test_takeover_off(srs, source):
    s = srs("publish { takeover off; }")
    first = s.publisher()
    for t in flv.cut(source, 200):
        first.send_tag(t)
    with pytest.raises(Rejected):
        s.publisher()
    time.sleep(2.5)
    with pytest.raises(Rejected):
        s.publisher()
    first.close()
    assert wait_for(lambda: _can(s), 3), "free when the first has gone"


def _can(s):
    try:
        s.publisher().close()
        return True
    except Rejected:
        return False


def test_takeover_on(srs, source):
    s = srs("publish { takeover on; }")
    p = s.push(source, loop=True)
    time.sleep(0.3)
    c = second(s, "127.0.0.2")
    time.sleep(0.5)
    p.stop()
    assert p.error is not None or p.client.closed(2)
    c.close()


def test_many_takeovers_in_a_row(srs, source):
    """30 publishers of one name, one after the other, each the next's victim."""
    s = srs()
    w = s.watch()
    held = []
    for _ in range(30):
        c = s.publisher()
        for t in flv.cut(source, 120):
            c.send_tag(t)
        held.append(c)
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= 60, 4)
    assert w.ended is None
    for c in held[:-1]:
        assert c.closed(3)
    flv.check_monotonic(w.stop())


def test_killed_and_back(srs, tmp_path, source):
    """ffmpeg is killed in the middle, another starts at once; the player stays and goes on."""
    s = srs()
    w = s.watch()
    a = tools.ffmpeg_publish(s.url(), tmp_path / "a.log")
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= 25, 6)
    a.end(signal.SIGKILL)
    n = len(flv.frames(w.tags, VIDEO))
    b = tools.ffmpeg_publish(s.url(), tmp_path / "b.log")
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= n + 40, 6), b.text()
    b.end()
    assert w.ended is None
    assert flv.check_monotonic(w.stop()) < 3000


def test_vanished_without_a_word(srs, tmp_path, source):
    """The publisher's process is stopped (its kernel still acknowledges): it is stale after 2 s."""
    s = srs()
    a = tools.ffmpeg_publish(s.url(), tmp_path / "a.log")
    assert s.wait_log("publish", 5)
    time.sleep(0.5)
    os.kill(a.pid, signal.SIGSTOP)
    try:
        time.sleep(2.3)
        c = second(s, "127.0.0.2")
        c.close()
    finally:
        os.kill(a.pid, signal.SIGCONT)
    a.end()


def test_two_at_the_same_moment(srs):
    """Ten connect and then all say publish at once, from ten addresses: exactly one is let in."""
    s = srs()
    clients = [s.client(bind=f"127.0.0.{i + 2}").connect() for i in range(10)]
    for c in clients:
        c.create_stream()
    for c in clients:
        c.call("publish", "s", "live", sid=c.sid, csid=8)
    won = 0
    for c in clients:
        try:
            c.status("NetStream.Publish.Start", 3)
            won += 1
        except (Rejected, Closed, TimeoutError):
            pass
    assert won == 1


def test_player_of_a_refused_publisher_sees_nothing(srs, source):
    s = srs()
    w = s.watch()
    tags = flv.cut(source, 400)
    first = s.publisher()
    for t in tags:
        first.send_tag(t)
    w.wait(lambda got: len(flv.frames(got)) >= len(flv.frames(tags)), 3)
    n = len(w.tags)
    c = s.client(bind="127.0.0.2").connect()
    c.create_stream()
    c.call("publish", "s", "live", sid=c.sid, csid=8)
    try:
        for t in tags:
            c.send_tag(t)
        c.closed(2)
    except Closed:
        pass
    time.sleep(0.3)
    assert len(w.stop()) == n
