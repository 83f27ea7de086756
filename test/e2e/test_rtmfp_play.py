# SPDX-License-Identifier: MIT
"""What RTMFP players get: from a key frame on and in order, over lossy networks, after an absence, when the stream changes, and on a
worker that does not own the stream."""
import time

import pytest

pytest.importorskip("cryptography")

import flv                      # noqa: E402
import flvgen                   # noqa: E402
import rtmfp_client as rc       # noqa: E402
import udprelay                 # noqa: E402
from flv import AUDIO, VIDEO    # noqa: E402
from httpapi import Api, conf   # noqa: E402
from procs import SLOW, free_port         # noqa: E402
from rtmfp_serve import Driver, clients, rtmfp_server  # noqa: E402

FPS = 25
QUEUE = "play { queue_length 1; }"


class Noted(list):
    """Tags, and the time of arrival of each."""

    def __init__(self):
        super().__init__()
        self.at = []

    def append(self, tag):
        super().append(tag)
        self.at.append(time.monotonic())


def noted(c, name="s"):
    stream = c.create_stream()
    stream.tags = Noted()
    stream.command("play", name, -2)
    stream.status("NetStream.Play.Start")
    return stream


def delays(tags):
    """Delay of each video frame relative to the fastest one, in seconds."""
    each = [(t.ts, at - t.ts / 1000) for t, at in zip(tags, tags.at) if t.frame and t.type == VIDEO]
    least = min(late for _, late in each)
    return {ts: late - least for ts, late in each}


def media(seconds, gop=25):
    """About 900 kbit/s; all payloads differ."""
    return flvgen.synthetic(seconds=seconds, fps=FPS, gop=gop, size=lambda i: 14000 if i % gop == 0 else 4000)


def complete(got, whole):
    """Checks that all audio from first to last is there, in order."""
    assert flv.find_run(flv.hashes(got, AUDIO), flv.hashes(whole, AUDIO)) >= 0
    for kind in (AUDIO, VIDEO):
        times = [t.ts for t in got if t.frame and t.type == kind]
        assert times == sorted(set(times)), "repeated or out of order"


@pytest.fixture
def relay():
    """relay(s, loss=...) starts one to server s; all are ended."""
    them = []

    def begin(s, **how):
        them.append(udprelay.Relay(s.rtmfp_port, **how))
        return them[-1]
    yield begin
    for r in them:
        r.stop()


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_bad_way(srs, relay, seed):
    """5 % lost, 5 % late, 2 % twice, round trip 40 ms: all audio, and video within a second."""
    s, whole = rtmfp_server(srs, vhost=QUEUE), media(14)
    r = relay(s, loss=0.05, twice=0.02, late=0.05, one_way=0.02, seed=seed)
    with rc.Client(r.port).connect() as c:
        pushed = s.push(whole)
        stream = noted(c)
        c.wait(lambda: not pushed.is_alive(), 20)
        rc.run_for([c], 1.0)
        pushed.stop()
        got = stream.tags
        complete(got, whole)
        assert r.lost > 50
    sound, came = flv.frames(got, AUDIO), delays(got)
    assert sound[-1].ts == whole[-1].ts
    asked = round((whole[-1].ts - min(came)) * FPS / 1000) + 1
    in_time = sum(late <= 1.0 * SLOW for late in came.values())
    assert in_time >= 0.97 * asked, (in_time, asked, sorted(came.values())[-5:])


@pytest.mark.long
def test_a_way_gets_well(srs, relay):
    """A fifth is lost for 10 s, then nothing: 3 s later all is complete and on time, in both directions, with the same sessions."""
    s, whole = rtmfp_server(srs, vhost=QUEUE), media(20)
    r = relay(s, one_way=0.02, seed=3)
    with rc.Client(r.port).connect() as a, rc.Client(r.port).connect() as b, Driver(a, a.publish("in"), whole, False) as up:
        watcher = s.watch("in")
        s.push(whole)
        stream = noted(b)
        began = time.monotonic()
        b.wait(lambda: time.monotonic() > began + 2)
        r.loss = 0.2
        b.wait(lambda: time.monotonic() > began + 12, 15)
        r.loss, well = 0, whole[-1].ts - 5000
        b.wait(lambda: stream.tags and stream.tags[-1].ts >= whole[-1].ts, 20)
        complete(stream.tags, whole)
        late = {ts: x for ts, x in delays(stream.tags).items() if ts >= well}
        assert len(late) >= 5 * FPS and max(late.values()) < 0.3 * SLOW, late
        assert watcher.wait(lambda got: got and got[-1].ts >= whole[-1].ts, 10)
        assert up.error is None and len(a.endpoint.sessions) == len(b.endpoint.sessions) == 1
    got = watcher.stop()
    flv.check_monotonic(got)
    assert flv.hashes(got, AUDIO)[-5 * FPS:] == flv.hashes(whole, AUDIO)[-5 * FPS:]
    assert flv.hashes(got, VIDEO)[-5 * FPS:] == flv.hashes(whole, VIDEO)[-5 * FPS:]


@pytest.mark.long
def test_who_was_away_goes_on_at_a_key_frame(srs):
    """Four seconds away with a queue of one: video of that time is dropped, audio and configurations are not."""
    s, whole = rtmfp_server(srs, vhost=QUEUE), media(10)
    with clients(s) as [c]:
        pushed = s.push(whole)
        stream = c.play("s")
        c.wait(lambda: len(flv.frames(stream.tags)) > FPS)
        time.sleep(4)  # the client does not read
        c.wait(lambda: stream.tags[-1].ts >= whole[-1].ts, 15)
        pushed.stop()
    complete(stream.tags, whole)
    pictures = flv.frames(stream.tags, VIDEO)
    gaps = [b for a, b in zip(pictures, pictures[1:]) if b.ts - a.ts > 1000 / FPS]
    assert gaps and all(t.key for t in gaps), [(t.ts, t.key) for t in gaps]
    assert s.wait_log("slow player: it goes on at a key frame", 5)


def test_it_begins_at_a_key_frame(srs):
    """The newest one, at once, with the current configurations; an audio-only stream begins with the available data."""
    s = rtmfp_server(srs)
    tags = flv.cut(media(2, gop=20), 1000)
    with clients(s) as [c]:
        p = s.publisher("s")
        for t in tags:
            p.send_tag(t)
        other = s.publisher("sound")
        for t in tags:
            if t.type == AUDIO:
                other.send_tag(t)
        assert s.watch("s").wait(lambda got: len(flv.frames(got)) > 5, 5)
        stream, sound = c.play("s"), c.play("sound")
        c.wait(lambda: len(flv.frames(stream.tags, VIDEO)) >= 5 and sound.tags)
        video = [t for t in stream.tags if t.type == VIDEO]
        assert video[0].config and video[1].key and video[1].ts == 800
        assert flv.hashes(stream.tags, VIDEO) == flv.hashes(tags, VIDEO)[20:]
        for t in (flv.Tag(AUDIO, ts, b"\xaf\x01" + bytes([ts // 40]) * 90) for ts in range(1000, 1400, 40)):
            other.send_tag(t)
        c.wait(lambda: len(flv.frames(sound.tags, AUDIO)) >= 10)
        assert [t for t in sound.tags if t.type == AUDIO][0].config
        assert not [t for t in sound.tags if t.type == VIDEO]


def test_another_configuration(srs):
    """In the middle of a stream: it comes at its place, and later players get only the new one."""
    s = rtmfp_server(srs)
    first, second = media(1), [flv.Tag(t.type, t.ts + 1000, t.data) for t in
                               flvgen.synthetic(seconds=1, fps=FPS, config=b"\7" * 12, seed=2) if t.type != flv.DATA]
    with clients(s, 2) as [a, b]:
        early = a.play("s")
        pushed = s.push(first + second, speed=2)
        a.wait(lambda: len(flv.frames(early.tags)) >= len(flv.frames(first + second)))
        video = [t for t in early.tags if t.type == VIDEO]
        assert [t.data for t in video] == [t.data for t in first + second if t.type == VIDEO]
        late = b.play("s")
        b.wait(lambda: len(flv.frames(late.tags, VIDEO)) >= FPS)
        assert [t.data for t in late.tags if t.config and t.type == VIDEO] == [second[0].data]
        assert flv.hashes(late.tags, VIDEO) == flv.hashes(second, VIDEO)
        pushed.stop()


def test_at_any_worker(srs):
    """Players stay where the kernel put them: the stream is copied there, once for all players of that worker."""
    api = Api(free_port())
    s, whole = rtmfp_server(srs, glob=f"workers 4; {conf(api.port)}"), media(2, gop=50)
    with clients(s, 12) as them:
        streams = [c.play("s") for c in them]
        pushed = s.push(whole, speed=4)
        assert rc.run(them, lambda: all(x.tags and x.tags[-1].ts >= whole[-1].ts for x in streams), 15)
        pushed.stop()
        for x in streams:
            complete(x.in_order(), whole)
            assert flv.hashes(x.tags, VIDEO) == flv.hashes(whole, VIDEO)

        def with_players():
            return sum(1 for w in api.get("workers")["workers"] if w["players"])
        assert rc.run(them, lambda: with_players() > 1, 5), api.get("workers")
