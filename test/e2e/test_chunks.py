# SPDX-License-Identifier: MIT
"""Chunk streams in both directions: every header form, extended timestamps as clients really send them."""
import struct
import time

import pytest

import flv
import flvgen
from flv import AUDIO, VIDEO, Tag
from rtmpclient import ABORT, ACK, AGGREGATE, SET_CHUNK_SIZE, WIN_ACK, make_aggregate


def heads(c, base=0):
    for t in flvgen.synthetic(0.04)[:3]:
        c.send_tag(t, ts=base, fmt=0)


def frame(i, ts, size=400, key=False):
    return Tag(VIDEO, ts, bytes([0x17 if key else 0x27, 1, 0, 0, 0]) + struct.pack(">I", size)
               + bytes([0x65 if key else 0x41, i & 255]) * (size // 2))


@pytest.mark.parametrize("csid,form", [(3, 1), (63, 1), (64, 2), (319, 2), (64, 3), (320, 3),
                                       (65599, 3)])
def test_chunk_stream_ids(srs, csid, form):
    s = srs()
    w = s.watch()
    c = s.publisher(chunk=128)
    heads(c)
    sent = []
    for i in range(20):
        t = frame(i, i * 40, key=i == 0)
        c.message(csid, VIDEO, t.ts, c.sid, t.data, form=form)
        sent.append(t)
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= 20, 3)
    got = flv.frames(w.stop(), VIDEO)
    assert [(t.ts, t.data) for t in got] == [(t.ts, t.data) for t in sent]


@pytest.mark.parametrize("ext3", [True, False], ids=["ext-in-fmt3", "no-ext-in-fmt3"])
@pytest.mark.parametrize("start", [0xfffff0, 0xffffff, 0x1000000, 0x7fff0000])
def test_extended_timestamps_in(srs, start, ext3):
    """ffmpeg repeats the extended timestamp in fmt 3 chunks; librtmp and some hardware encoders do not."""
    s = srs("play { time_jitter off; }")
    w = s.watch()
    c = s.publisher(chunk=128)
    heads(c, start)
    sent = []
    for i in range(10):
        t = frame(i, start + i * 40, size=1000, key=i == 0)
        c.message(6, VIDEO, t.ts, c.sid, t.data, fmt=0, ext3=ext3)
        sent.append(t)
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= 10, 3)
    got = flv.frames(w.stop(), VIDEO)
    assert [t.data for t in got] == [t.data for t in sent]
    assert [t.ts for t in got] == [t.ts for t in sent]


def test_delta_forms(srs):
    """fmt 1, 2, 3 as message starts: 3 repeats the last delta."""
    s = srs()
    w = s.watch()
    c = s.publisher(chunk=4096)
    heads(c)
    sent = []
    for i, fmt in enumerate([0, 1, 2, 3, 3, 3, 1, 3, 2, 3, 0, 3]):
        ts = i * 40
        t = frame(i, ts, key=i == 0)
        c.message(6, VIDEO, ts, c.sid, t.data, fmt=fmt)
        sent.append(t)
    # after fmt 0 at 400 a fmt 3 start repeats the delta, which fmt 0 sets to its own timestamp:
    # real clients mean the last delta, so only the data of the last message is compared
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= len(sent), 3)
    got = flv.frames(w.stop(), VIDEO)
    assert [t.data for t in got] == [t.data for t in sent]
    assert [t.ts for t in got][:11] == [t.ts for t in sent][:11]


def test_interleaved_chunks(srs):
    """A large video message with whole audio messages between its chunks."""
    s = srs()
    w = s.watch()
    c = s.publisher(chunk=128)
    heads(c)
    first, video = frame(1, 0, key=True), frame(2, 40, size=3000)
    c.send_tag(first, fmt=0)
    audio = [Tag(AUDIO, i * 20, b"\xaf\x01" + bytes([i]) * 200) for i in range(5)]
    v = c.w.chunks(6, VIDEO, 40, c.sid, video.data, fmt=0)
    out, n = b"", len(v) // len(audio)
    for i, a in enumerate(audio):
        out += b"".join(v[i * n:(i + 1) * n])
        out += c.w.message(4, AUDIO, a.ts, c.sid, a.data)
    c.send(out + b"".join(v[len(audio) * n:]))
    assert w.wait(lambda got: len(flv.frames(got)) >= 7, 3)
    got = w.stop()
    assert flv.hashes(got, VIDEO) == [first.hash(), video.hash()]
    assert flv.hashes(got, AUDIO) == [a.hash() for a in audio]


def test_chunk_size_changes_in_mid_stream(srs):
    s = srs()
    w = s.watch()
    c = s.publisher(chunk=128)
    heads(c)
    sent = []
    for i, size in enumerate([128, 1, 65536, 300, 5000, 128]):
        c.set_chunk_size(size)
        t = frame(i, i * 40, size=2000, key=i == 0)
        c.send_tag(t)
        sent.append(t.hash())
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= len(sent), 3)
    assert flv.hashes(w.stop(), VIDEO) == sent


def test_chunk_size_changes_in_mid_message(srs):
    """SetChunkSize between two chunks of another message applies from the next chunk on."""
    s = srs()
    w = s.watch()
    c = s.publisher(chunk=128)
    heads(c)
    t = frame(1, 0, size=1000, key=True)
    head = c.w.chunks(6, VIDEO, 0, c.sid, t.data, fmt=0)[0]
    out = head + c.w.message(2, SET_CHUNK_SIZE, 0, 0, struct.pack(">I", 500), fmt=0)
    rest = t.data[128:]
    for i in range(0, len(rest), 500):
        out += bytes([0xc0 | 6]) + rest[i:i + 500]
    c.send(out)
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= 1, 3)
    assert flv.hashes(w.stop(), VIDEO) == [t.hash()]


def test_abort_drops_the_message(srs):
    s = srs()
    w = s.watch()
    c = s.publisher(chunk=128)
    heads(c)
    first = frame(1, 0, key=True)
    c.send_tag(first, fmt=0)
    half = c.w.chunks(6, VIDEO, 40, c.sid, frame(2, 40, size=1000).data, fmt=0)
    c.send(b"".join(half[:3]))
    c.message(2, ABORT, 0, 0, struct.pack(">I", 6), fmt=0)
    last = frame(3, 80)
    c.send_tag(last, fmt=0)
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= 2, 3)
    assert flv.hashes(w.stop(), VIDEO) == [first.hash(), last.hash()]


def test_aggregate_is_split(srs):
    s = srs()
    w = s.watch()
    c = s.publisher()
    heads(c)
    tags = [frame(i, 100 + i * 40, key=i == 0) for i in range(4)]
    tags += [Tag(AUDIO, 100 + i * 23, b"\xaf\x01" + bytes([i]) * 50) for i in range(4)]
    tags.sort(key=lambda t: t.ts)
    # times inside are relative to the first; the message's own time counts
    inside = [Tag(t.type, t.ts - 100 + 5000, t.data) for t in tags]
    c.message(6, AGGREGATE, 100, c.sid, make_aggregate(inside), fmt=0)
    assert w.wait(lambda got: len(flv.frames(got)) >= 8, 3)
    got = flv.frames(w.stop())
    assert [(t.type, t.data) for t in got] == [(t.type, t.data) for t in tags]
    t0 = got[0].ts
    assert [t.ts - t0 for t in got] == [t.ts - 100 for t in tags]


def test_empty_messages_are_skipped(srs):
    s = srs()
    w = s.watch()
    c = s.publisher()
    heads(c)
    c.message(6, VIDEO, 0, c.sid, b"", fmt=0)
    c.message(4, AUDIO, 0, c.sid, b"", fmt=0)
    t = frame(1, 40, key=True)
    c.send_tag(t, fmt=0)
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= 1, 3)
    assert flv.hashes(w.stop(), VIDEO) == [t.hash()]


def test_tiny_tags(srs):
    """One-byte media cause no over-read and no harm to later tags."""
    s = srs()
    w = s.watch()
    c = s.publisher()
    heads(c)
    for body in (b"\x17", b"\x27", b"\xaf", b"\x2f", b"\x57", b"\x90", b"\x97", b"\x17\x01", b"\x9f"):
        c.message(6, VIDEO if body[0] != 0xaf else AUDIO, 0, c.sid, body, fmt=0)
    t = frame(1, 40, key=True)
    try:
        c.send_tag(t, fmt=0)
        w.wait(lambda got: t.hash() in flv.hashes(got, VIDEO), 1)
    except Exception:  # an error for this publisher is fine, too
        pass
    s.publisher("other")


@pytest.mark.parametrize("size", [128, 4096, 60000, 65536])
def test_chunk_size_out(srs, source, size):
    s = srs(f"chunk_size {size};")
    s.push(source, loop=True)
    c = s.player()
    c.collect(2, count=30)
    told = [struct.unpack(">I", m.data)[0] for m in c.seen if m.type == SET_CHUNK_SIZE]
    assert (told or [128])[-1] == size
    assert len(flv.frames(c.tags)) >= 30
    assert set(flv.hashes(c.tags, VIDEO)) <= set(flv.hashes(source, VIDEO))


def test_out_ack_size(srs):
    s = srs("out_ack_size 100000;")
    c = s.client().connect()
    c.create_stream()
    assert [struct.unpack(">I", m.data)[0] for m in c.seen if m.type == WIN_ACK][-1] == 100000


def acks_of(c):
    return [struct.unpack(">I", m.data)[0] for m in c.seen if m.type == ACK]


def acked(c):
    return max(acks_of(c), default=0)


def test_in_ack_size(srs, source):
    """The encoder sends no window; the server still acknowledges every 20 kB."""
    s = srs("in_ack_size 20000;")
    c = s.publisher()
    sent = 0
    for t in flv.cut(source, 6000):
        c.send_tag(t)
        sent += len(t.data)
    c.collect(1, want=lambda c: acked(c) > sent // 2 and len(acks_of(c)) >= sent // 20000 // 2)
    acks = [struct.unpack(">I", m.data)[0] for m in c.seen if m.type == ACK]
    assert len(acks) >= sent // 20000 // 2, f"{len(acks)} acknowledgements for {sent} bytes"
    assert acks == sorted(acks) and acks[-1] > sent // 2


def test_ack_window_of_the_client(srs, source):
    """The server obeys the client's window; without one it sends no acknowledgements."""
    for window in (10000, None):
        s = srs()
        c = s.client().connect()
        if window:
            c.message(2, WIN_ACK, 0, 0, struct.pack(">I", window))
        c.publish("s")
        for t in flv.cut(source, 3000):
            c.send_tag(t)
        c.collect(0.5, want=acks_of if window else None)
        acks = [m for m in c.seen if m.type == ACK]
        assert bool(acks) == bool(window), f"{len(acks)} acks, window {window}"


@pytest.mark.parametrize("start", [0xfffe00, 0xffffff, 0x5000000])
def test_extended_timestamps_out(srs, start):
    """Times beyond 24 bits reach the player (after 4.6 hours)."""
    s = srs("play { time_jitter off; }")
    w = s.watch()
    tags = flvgen.synthetic(2, start=start, size=9000)
    s.push([t if t.frame else t._replace(ts=start) for t in tags], speed=0)
    want = flv.frames(tags)
    assert w.wait(lambda got: len(flv.frames(got)) >= len(want), 3)
    assert [(t.type, t.ts, t.hash()) for t in flv.frames(w.stop())] == \
        [(t.type, t.ts, t.hash()) for t in want]
