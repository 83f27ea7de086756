# SPDX-License-Identifier: MIT
"""Two publishers of one name; a publisher that was killed and comes back."""
import contextlib
import os
import signal
import threading
import time

import pytest

import flv
import procs
import tools
from flv import VIDEO
from httpapi import Backend
from procs import wait_for
from rtmpclient import Closed, Rejected


def second(s, bind, **how):
    return s.publisher(client={"bind": bind}, **how)


def test_same_address_replaces_one_that_fell_silent(srs, source):
    """A returning publisher is not rejected because of its own dead connection: it waits a moment."""
    s = srs()
    w = s.watch()
    tags = flv.cut(source, 1000)
    first = s.publisher()
    for t in tags:
        first.send_tag(t)
    begun = time.monotonic()
    again = s.publisher()
    assert time.monotonic() - begun > 0.3, "it was alive a moment ago"
    assert first.closed(3), "the old connection is not ended"
    for t in tags:
        again.send_tag(t)
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= 2 * len(flv.frames(tags, VIDEO)), 4)
    assert w.ended is None
    assert flv.check_monotonic(w.stop()) < 3000
    assert s.wait_log(r"(?i)(replace|takeover|take over|taken)", 2)


def test_another_client_of_the_same_address_does_not_get_a_live_stream(srs, source):
    """Behind NAT or a balancer all publishers have one address: it proves nothing."""
    s = srs()
    p = s.push(source, loop=True)
    w = s.watch()
    assert w.wait(lambda got: len(flv.frames(got)) > 20, 3)
    for key in ("s", "s?token=guess"):
        with pytest.raises(Rejected) as e:
            s.publisher(key)
        assert "BadName" in e.value.code or "Busy" in e.value.code
    n = len(w.tags)
    assert w.wait(lambda got: len(got) > n + 20, 3), "the first one noticed"
    assert p.error is None and w.ended is None
    assert "takes over" not in s.log()


def knows_seven(event):
    return 0 if "token=7" in event["param"] else 1


@pytest.mark.parametrize("asked", [True, False])
def test_token_proves_who_it_is(srs, source, asked):
    """The same parameters, checked by a backend: at once, from any address, even if the first one is alive. Without a backend
    anyone can send them."""
    with contextlib.closing(Backend(knows_seven)) as b:
        s = srs(f"http_hooks {{ enabled on; on_publish {b.url('/hook')}; }}" if asked else "")
        p = s.push(source, "s?token=7", loop=True)
        w = s.watch()
        assert w.wait(lambda got: len(flv.frames(got)) > 10, 5)
        for other in ("s?token=8", "s?vhost=__defaultVhost__", "s?token=7&a=b", "s"):
            with pytest.raises(Rejected):
                second(s, "127.0.0.2", stream=other)
        if not asked:
            with pytest.raises(Rejected):
                second(s, "127.0.0.2", stream="s?token=7")
        assert p.error is None and "takes over" not in s.log()
        if asked:
            again = [second(s, ip, stream="s?token=7") for ip in ("127.0.0.2", "127.0.0.1")]
            assert again[0].closed(3) and wait_for(lambda: p.error, 3)


def test_key_of_the_stream_proves_who_it_is(srs, source):
    s = srs("security { enabled on; allow publish all; allow play all; key live/s secret7; }")
    p = s.push(source, "s?key=secret7", loop=True)
    w = s.watch()
    assert w.wait(lambda got: len(flv.frames(got)) > 10, 5)
    for other in ("s?key=secret8", "s"):
        with pytest.raises(Rejected):
            second(s, "127.0.0.2", stream=other)
    assert p.error is None and "takes over" not in s.log()
    again = second(s, "127.0.0.2", stream="s?key=secret7")
    assert wait_for(lambda: p.error, 3) and again


def test_big_message_on_a_thin_line_is_no_silence(srs, source):
    """Bytes arrive all the time, although no message ends for longer than the silence limit."""
    s = srs()
    first = s.publisher(chunk=65536)
    for t in flv.cut(source, 200):
        first.send_tag(t)
    halt = threading.Event()
    body = first.w.message(6, flv.VIDEO, 400, first.sid, b"\x27\x01\0\0\0" + bytes(60000))

    def drip():
        for at in range(0, len(body), 600):
            first.send(body[at:at + 600])
            if halt.wait(0.04):
                return
    slow = threading.Thread(target=drip)
    slow.start()
    try:
        assert procs.never(lambda: not slow.is_alive(), 0.7)
        with pytest.raises(Rejected):
            s.publisher()
    finally:
        halt.set()
        slow.join()
    assert "takes over" not in s.log()


def test_merged_read_is_no_silence(srs, source):
    s = srs("publish { mr on; mr_latency 500; takeover_silence_near 100; }")
    p = s.push(source, loop=True)
    assert s.wait_log("client identified", 5)
    assert procs.never(lambda: p.error, 0.6)
    with pytest.raises(Rejected):
        s.client(timeout=20).publish("s")
    assert p.error is None and "takes over" not in s.log()


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
    assert p.error is None, "the first one noticed"
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
    s = srs("publish { takeover off; takeover_silence 700; }")
    first = s.publisher()
    for t in flv.cut(source, 200):
        first.send_tag(t)
    with pytest.raises(Rejected):
        s.publisher()
    time.sleep(1)
    with pytest.raises(Rejected):
        s.publisher()
    first.close()
    assert wait_for(lambda: _can(s), 3), "not free when the first has gone"


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
    """30 publishers of one name, each replaced by the next."""
    s = srs("publish { takeover on; }")
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
    """ffmpeg is killed in the middle, another starts at once; the player stays and continues."""
    s = srs()
    w = s.watch()
    a = tools.ffmpeg_publish(s.url(), tmp_path / "a.log", rate=3)
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= 25, 6)
    a.end(signal.SIGKILL)
    n = len(flv.frames(w.tags, VIDEO))
    b = tools.ffmpeg_publish(s.url(), tmp_path / "b.log", rate=3)
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= n + 40, 6), b.text()
    b.end()
    assert w.ended is None
    assert flv.check_monotonic(w.stop()) < 3000


def test_vanished_without_a_word(srs, tmp_path, source):
    """The publisher's process is stopped (its kernel still acknowledges): it is stale after a second here."""
    s = srs("publish { takeover_silence 1000; }")
    a = tools.ffmpeg_publish(s.url(), tmp_path / "a.log")
    assert s.wait_log("publish", 5)
    time.sleep(0.5)
    os.kill(a.pid, signal.SIGSTOP)
    try:
        time.sleep(1.3)
        c = second(s, "127.0.0.2")
        c.close()
    finally:
        os.kill(a.pid, signal.SIGCONT)
    a.end()


def test_two_at_the_same_moment(srs):
    """Ten connect and then send publish at the same time, from ten addresses: exactly one is admitted."""
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
