# SPDX-License-Identifier: MIT
"""The play block of a vhost: caches, queues, times, write merging."""
import statistics
import time

import pytest

import amf
import flv
import flvgen
from flv import AUDIO, DATA, VIDEO, Tag
from flvgen import synthetic
from procs import SLOW, cpu_seconds, wait_for
from rtmpclient import CMD


def reached(pusher, ts):
    return bool(pusher.pushed) and pusher.pushed[-1].ts >= ts


def test_gop_cache_on(srs):
    """A player that joins late starts at the key frame of the current GOP, at once."""
    s = srs("play { gop_cache on; }")
    p = s.push(synthetic(10, gop=250), speed=1, ahead=1.9)
    assert wait_for(lambda: reached(p, 2000))
    c = s.player()
    c.collect(2, count=1)
    first = flv.frames(c.tags, VIDEO)[0]
    assert first.key and first.ts == 0
    c.collect(2, count=100)
    assert len(flv.frames(c.tags, VIDEO)) >= 45, "not the whole GOP so far"


def test_gop_cache_off(srs):
    """A new player waits for the next key frame."""
    s = srs("play { gop_cache off; }")
    p = s.push(synthetic(10, gop=50), loop=True, ahead=1)
    assert wait_for(lambda: reached(p, 1200))
    c = s.player()
    c.collect(3, want=lambda c: bool(flv.frames(c.tags, VIDEO)))
    first = flv.frames(c.tags, VIDEO)[0]
    assert first.key and first.ts >= 2000, "not the next one, but an earlier one"
    assert any(t.config and t.type == VIDEO for t in c.tags)


def test_gop_cache_max_frames(srs):
    """A longer GOP is not kept: a new player waits for the next key frame."""
    s = srs("play { gop_cache on; gop_cache_max_frames 20; }")
    p = s.push(synthetic(10, gop=60), loop=True, ahead=1.3)
    assert wait_for(lambda: reached(p, 1500))
    c = s.player()
    c.collect(3, want=lambda c: bool(flv.frames(c.tags, VIDEO)))
    first = flv.frames(c.tags, VIDEO)[0]
    assert first.key and first.ts >= 2400


def test_slow_reader_drops_to_a_key_frame(srs):
    """A player that sleeps is not disconnected: it continues at a newer key frame, the others notice nothing, and memory is
    bounded."""
    s = srs("play { queue_length 2; mw_latency 100; }")
    other = s.watch()
    slow = s.player(client={"rcvbuf": 32768})
    tags = synthetic(16, size=60000)  # 1.5 MB of media per second
    p = s.push(tags, speed=5)
    time.sleep(0.8)
    first = s.rss()
    p.join(20)
    assert p.error is None
    grown = s.rss() - first
    assert other.wait(lambda got: len(flv.frames(got, VIDEO)) >= 400, 5)
    assert flv.hashes(other.stop(), VIDEO) == flv.hashes(tags, VIDEO)
    slow.collect(4 * SLOW, want=lambda c: any(t.ts == 15960 for t in flv.frames(c.tags, VIDEO)))
    video = flv.frames(slow.tags, VIDEO)
    want = flv.frames(tags, VIDEO)
    assert video[-1].hash() == want[-1].hash(), "it does not reach the end of the stream"
    gaps = [(a.ts, b) for a, b in zip(video, video[1:]) if b.ts - a.ts > 40]
    assert gaps, "it must have lost something"
    assert all(b.key for _, b in gaps), f"continues in the middle of a GOP: {gaps}"
    assert {t.hash() for t in video} <= {t.hash() for t in want}
    assert len(video) < 380
    assert grown < 16 * 1024 * SLOW, f"grew by {grown} kB"
    assert s.wait_log(r"(?i)\[(WARN|TRACE|INFO)\].*(drop|slow|behind|skip)", 2)


def test_reader_of_small_pieces(srs):
    """A narrow window and reads of 700 bytes: every write is split somewhere, no byte is wrong."""
    s = srs("play { queue_length 30; }")
    c = s.player(client={"rcvbuf": 4096})
    tags = synthetic(2, size=9000)
    s.push(tags, speed=0)
    recv = c.sock.recv

    class Slowly:
        def recv(self, n):
            return recv(700)

        def __getattr__(self, name):
            return getattr(real, name)
    real, c.sock = c.sock, Slowly()
    c.collect(10 * SLOW, count=len(flv.frames(tags)))
    assert flv.hashes(c.tags) == flv.hashes(tags)


def test_peer_that_never_reads(srs):
    """It uses no more memory than its queue, and the others continue."""
    s = srs("play { queue_length 2; mw_latency 350; }")
    other = s.watch()
    dead = [s.player(client={"rcvbuf": 4096}) for _ in range(5)]
    tags = synthetic(6, size=40000)
    p = s.push(tags, loop=True, speed=6)
    time.sleep(1)
    first = s.rss()
    time.sleep(1.5)
    grown = s.rss() - first
    p.stop()
    assert p.error is None
    assert grown < 8 * 1024 * SLOW, f"grew by {grown} kB"
    assert len(flv.frames(other.tags, VIDEO)) > 200
    for c in dead:
        c.abort()


def test_reduce_sequence_header(srs):
    for on in (True, False):
        s = srs(f"play {{ reduce_sequence_header {'on' if on else 'off'}; }}")
        w = s.watch()
        tags = synthetic(1)
        heads = [t for t in tags if t.config]
        mid = len(tags) // 2
        again = [h._replace(ts=tags[mid].ts) for h in heads]
        s.push(tags[:mid] + again + tags[mid:], speed=0).join(5)
        assert w.wait(lambda got: len(flv.frames(got)) >= len(flv.frames(tags)), 3)
        got = [t for t in w.stop() if t.config and t.type == VIDEO]
        assert len(got) == (1 if on else 2)


JITTER = {
    # mode: (start, jump) -> (first time, step over the jump)
    "full": (0, lambda step: step <= 100),
    "zero": (0, lambda step: step >= 3600000),
    "off": (90000, lambda step: step >= 3600000),
}


@pytest.mark.parametrize("mode", JITTER)
def test_time_jitter(srs, mode):
    """A stream that starts at 90 s and jumps by an hour in the middle."""
    s = srs(f"play {{ time_jitter {mode}; }}")
    w = s.watch()
    tags = synthetic(2, start=90000)
    tags = [t._replace(ts=t.ts + 3600000) if t.ts >= 91000 else t for t in tags]
    s.push(tags, speed=0).join(5)
    assert w.wait(lambda got: len(flv.frames(got)) >= len(flv.frames(tags)), 3)
    video = flv.frames(w.stop(), VIDEO)
    first, step_ok = JITTER[mode]
    assert video[0].ts == first
    step = max(b.ts - a.ts for a, b in zip(video, video[1:]))
    assert step_ok(step), step


def test_time_jitter_full_goes_never_back(srs):
    """Times that jump back by ten seconds are corrected."""
    s = srs()
    w = s.watch()
    tags = synthetic(2, start=20000)
    tags = [t._replace(ts=t.ts - 10000) if t.ts >= 21000 else t for t in tags]
    s.push(tags, speed=0).join(5)
    assert w.wait(lambda got: len(flv.frames(got)) >= len(flv.frames(tags)), 3)
    assert flv.check_monotonic(w.stop()) <= 100


def test_a_24_day_old_encoder(srs):
    """The publisher's clock wraps at 32 bits: the player's continues."""
    s = srs()
    w = s.watch()
    start = 0xffffffff - 1000
    tags = [t._replace(ts=t.ts & 0xffffffff) for t in synthetic(2, start=start)]
    p = s.publisher()
    for t in tags:
        p.send_tag(t, fmt=0)
    assert w.wait(lambda got: len(flv.frames(got)) >= len(flv.frames(tags)), 3)
    assert flv.check_monotonic(w.stop()) <= 100


def test_atc(srs):
    """The encoder's absolute times reach the player."""
    s = srs("play { atc on; }")
    w = s.watch()
    tags = synthetic(1, start=500000)
    s.push(tags, speed=0).join(5)
    assert w.wait(lambda got: len(flv.frames(got)) >= len(flv.frames(tags)), 3)
    assert [t.ts for t in flv.frames(w.stop(), VIDEO)] == [t.ts for t in flv.frames(tags, VIDEO)]


def test_mix_correct(srs):
    """Audio that arrives 120 ms late is put in its place."""
    s = srs("play { mix_correct on; }")
    w = s.watch()
    tags = [t for t in synthetic(3) if t.type != DATA]
    late = sorted(tags, key=lambda t: t.ts + (120 if t.type == AUDIO and t.frame else 0))
    s.push(late, speed=2).join(5)
    w.wait(lambda got: len(flv.frames(got)) >= 100, 3)
    got = flv.frames(w.stop())
    assert len(got) >= 100
    times = [t.ts for t in got]
    assert times == sorted(times), [(a, b) for a, b in zip(times, times[1:]) if b < a][:5]


def arrivals(s, seconds=1.6):
    """When each frame was pushed and when it arrived, in seconds."""
    w = s.watch()
    sent = {}
    p = s.publisher()
    tags = synthetic(seconds, audio=False)
    begin = time.monotonic()
    for t in tags:
        wait = t.ts / 1000 - (time.monotonic() - begin)
        if wait > 0:
            time.sleep(wait)
        p.send_tag(t)
        sent[t.hash()] = time.monotonic()
    assert w.wait(lambda got: len(flv.frames(got)) >= len(flv.frames(tags)))
    w.stop()
    return [(sent[t.hash()], at) for at, t in w.arrivals if t.type == VIDEO and t.hash() in sent]


def bursts(pairs):
    """Number of bursts, with arrivals within 10 ms counted as one."""
    n, last = 0, 0
    for _, at in pairs:
        if at - last > 0.010:
            n += 1
        last = at
    return n


def test_min_latency(srs):
    s = srs("min_latency on; tcp_nodelay on; play { mw_latency 0; gop_cache off; }")
    pairs = arrivals(s)
    late = [b - a for a, b in pairs]
    assert len(late) >= 38
    assert statistics.median(late) < 0.1 * SLOW, f"median {statistics.median(late) * 1000:.1f} ms"


def test_mw_latency(srs):
    """350 ms of merging: several frames arrive at once, none later than that."""
    s = srs("play { mw_latency 350; mw_msgs 128; }")
    pairs = arrivals(s)
    late = [b - a for a, b in pairs]
    assert len(pairs) >= 38
    assert bursts(pairs) <= len(pairs) / 4, f"{bursts(pairs)} bursts for {len(pairs)} frames"
    assert statistics.median(late) < 0.5 * SLOW and max(late) < 3 * SLOW


def test_mw_msgs(srs):
    """At least this many at once, but a stream with few messages is not delayed forever."""
    s = srs("play { mw_latency 0; mw_msgs 6; }")
    pairs = arrivals(s)
    late = [b - a for a, b in pairs]
    assert len(pairs) >= 38
    assert bursts(pairs) <= len(pairs) / 3, f"{bursts(pairs)} bursts for {len(pairs)} frames"
    assert statistics.median(late) < 0.5 * SLOW and max(late) < 3 * SLOW


def test_one_frame_a_second(srs):
    """Each frame arrives within the merging time, even if there are few."""
    s = srs()
    w = s.watch()
    p = s.publisher()
    for t in synthetic(0.04):
        p.send_tag(t)
    for i in range(1, 3):
        time.sleep(1)
        p.send_tag(synthetic(4, fps=1, gop=10, audio=False)[2 + i])
        assert w.wait(lambda got: any(t.ts == i * 1000 for t in flv.frames(got, VIDEO)), 0.9), i


def test_send_min_interval(srs):
    """One message at a time, 20 ms apart."""
    s = srs("play { send_min_interval 20; }")
    w = s.watch()
    s.push(synthetic(2, audio=False), speed=0).join(3)
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= 40, 5)
    w.stop()
    video = [(at, t) for at, t in w.arrivals if t.type == VIDEO and t.frame]
    assert video[39][0] - video[0][0] >= 0.4, "40 messages in less than 400 ms"


def test_two_players_of_different_options(srs):
    """Two vhosts with different chunk sizes, the same bytes from the publisher."""
    s = srs("vhost a { chunk_size 128; }\nvhost b { chunk_size 60000; }")
    tags = synthetic(1)
    for v in ("a", "b"):
        w = s.watch(tcurl=f"rtmp://{v}:{s.port}/live")
        s.push(tags, speed=0, tcurl=f"rtmp://{v}:{s.port}/live")
        assert w.wait(lambda got: len(flv.frames(got)) >= len(flv.frames(tags)), 3)
        assert flv.hashes(w.stop()) == flv.hashes(tags)


def test_large_frames(srs):
    """A key frame of 2 MB and small frames after it."""
    s = srs()
    w = s.watch()
    tags = synthetic(2, size=lambda i: 2000000 if i % 25 == 0 else 300)
    p = s.push(tags, speed=0, chunk=60000)
    p.join(10)
    assert p.error is None
    assert w.wait(lambda got: len(flv.frames(got)) >= len(flv.frames(tags)), 5)
    assert flv.hashes(w.stop()) == flv.hashes(tags)


def test_flvgen_is_what_it_says():
    tags = flvgen.synthetic(1, fps=10, gop=5)
    assert len(flv.frames(tags, VIDEO)) == 10 and sum(t.key for t in flv.frames(tags)) == 2
    assert isinstance(tags[0], Tag)


def test_words_behind_play_count(srs):
    """A player that sends everything at once and then nothing: commands after `play` apply."""
    s = srs("play { mw_latency 0; }")
    s.push(synthetic(10, gop=10), loop=True)
    c = s.client().connect()
    sid = c.create_stream()
    said = [amf.encode("play", 5.0, None, "s"), amf.encode("receiveVideo", 6.0, None, False)]
    c.send(b"".join(c.w.message(8, CMD, 0, sid, body, fmt=0) for body in said))
    c.collect(5, count=10)
    assert flv.frames(c.tags, AUDIO) and not flv.frames(c.tags, VIDEO)


@pytest.mark.parametrize("latency,gop_cache", [("0", "on"), ("0", "off"), ("auto", "on")])
def test_player_that_wants_nothing(srs, latency, gop_cache):
    """Neither audio nor video: it costs nothing, and the others are served as before."""
    s = srs(f"min_latency on; play {{ gop_cache {gop_cache}; mw_latency {latency}; }}")
    s.push(synthetic(10, gop=10), loop=True, speed=2)
    silent = s.player()
    silent.collect(3, count=3)
    silent.call("receiveVideo", False, sid=silent.sid)
    silent.call("receiveAudio", False, sid=silent.sid)
    other = s.watch()
    assert other.wait(lambda got: len(flv.frames(got, VIDEO)) >= 15)
    silent.collect(0.1)
    said, before = len(silent.tags), cpu_seconds(s.pid)
    assert other.wait(lambda got: len(flv.frames(got, VIDEO)) >= 30)
    assert cpu_seconds(s.pid) - before < 0.2 * SLOW
    silent.collect(0.1)
    assert len(silent.tags) == said, "something is sent to it"
