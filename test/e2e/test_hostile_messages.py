# SPDX-License-Identifier: MIT
"""Messages of untrusted clients that are huge, endless, or expensive to parse: each costs only its own connection, and a stream that
runs meanwhile notices nothing."""
import os
import re
import resource
import socket
import time

import pytest

import amf
from flv import AUDIO, DATA, VIDEO
from flvgen import synthetic
from hostile import AVC
from procs import SLOW, WORKERS, cpu_seconds, free_port, wait_for
from rtmpclient import CMD, Closed

MB = 1 << 20


class Stream:
    """An innocent publisher and player; measures the gaps."""

    def __init__(self, s):
        self.w = s.watch("innocent")
        self.p = s.push(synthetic(2), "innocent", loop=True, ahead=0.5)
        assert self.w.wait(lambda got: len(got) > 10)
        self.begin = time.monotonic()

    def gap(self):
        """The longest silence since the start."""
        times = [self.begin] + [t for t, _ in self.w.arrivals if t > self.begin] + [time.monotonic()]
        return max(b - a for a, b in zip(times, times[1:]))

    def end(self):
        n = len(self.w.tags)
        assert self.w.wait(lambda got: len(got) > n + 10), "it stopped"
        self.p.stop()
        self.w.stop()
        assert self.p.error is None and self.w.ended is None


@pytest.fixture
def beside(srs):
    """beside(glob) starts a server with a stream; the stream is checked at the end."""
    streams = []

    def start(glob="", **how):
        how.setdefault("vhost", "play { mw_latency 50; }")
        s = srs(glob=glob, **how)
        streams.append(Stream(s))
        return s, streams[-1]
    yield start
    for stream in streams:
        stream.end()


def u29(n):
    out = bytes([n & 0x7f])
    while n > 0x7f:
        n >>= 7
        out = bytes([n & 0x7f | 0x80]) + out
    return out


def alike3(keys, size, again):
    """An AMF3 object in AMF0: long keys with different ends, then each again by reference."""
    body = b"\x11\x0a\x0b\x01"
    for i in range(keys):
        body += u29(size << 1 | 1) + b"k" * (size - 3) + b"%03d" % i + b"\x01"
    refs = b"".join(u29(i << 1) + b"\x01" for i in reversed(range(keys)))
    return body + refs * (again // keys) + b"\x01"


def alike0(keys, size, again):
    one = b"".join(size.to_bytes(2, "big") + b"k" * (size - 3) + b"%03d" % i + b"\x05"
                   for i in range(keys))
    return b"\x03" + one * again + b"\0\0\x09"


COMMANDS = {
    "AMF3 of 15 MB": lambda: alike3(250, 1500, 5000 * 1000),
    "AMF3 of 60 KB": lambda: alike3(60, 500, 10000),
    "AMF0 of 15 MB": lambda: alike0(250, 1500, 40),
    "AMF0 of 60 KB": lambda: alike0(250, 100, 2),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_is_work(beside, name):
    """Before authorization."""
    s, stream = beside()
    body = amf.encode("connect", 1) + COMMANDS[name]()
    c = s.client().handshake()
    c.set_chunk_size(65536)
    used = cpu_seconds(s.pid)
    try:
        c.message(3, CMD, 0, 0, body)
    except (Closed, OSError):
        pass
    assert c.closed(), "it is not rejected"
    assert cpu_seconds(s.pid) - used < 0.5 * SLOW
    assert stream.gap() < 1 * SLOW
    assert s.wait_log(r"\[WARN\].*client finished.*code=(1050|1051|2004)"), s.log()[-800:]


def test_metadata_that_is_work(beside):
    """From a publisher: too large to add our field, it passes unchanged; over 1 MB it does not."""
    s, stream = beside()
    c = s.publisher("meta", chunk=65536)
    used = cpu_seconds(s.pid)
    for _ in range(20):
        c.message(5, DATA, 0, c.sid, amf.encode("@setDataFrame", "onMetaData")
                  + alike3(250, 1500, 100 * 1000))
    c.result(c.call("FCPublish", "meta"))
    assert cpu_seconds(s.pid) - used < 1 * SLOW
    try:
        c.message(5, DATA, 0, c.sid, amf.encode("onMetaData") + b"\x0c" + (1 << 20).to_bytes(4, "big")
                  + bytes(1 << 20))
    except (Closed, OSError):
        pass
    assert c.closed()
    assert s.wait_log(r"\[WARN\].*metadata of \d+ bytes, limit 1048576"), s.log()[-800:]
    assert stream.gap() < 1 * SLOW


# -- messages that do not end

def push(c, data):
    """Sends what the server accepts; returns false if it closed."""
    try:
        c.sock.sendall(data)
        return True
    except (Closed, OSError):
        return False


def begin(c, csid, size, data, type=VIDEO):
    """The beginning of a message of this size."""
    return push(c, c.w.basic(0, csid) + b"\0\0\0" + size.to_bytes(3, "big") + bytes([type])
                + bytes(4) + data)


def connected(s):
    c = s.client().connect()
    c.set_chunk_size(0xffffff)
    return c


def player(s):
    c = s.player("nothing", wait=False)
    c.set_chunk_size(0xffffff)
    return c


@pytest.mark.parametrize("who", [connected, player])
def test_untrusted_clients_use_little_memory(beside, who):
    """60 of them begin messages of the maximum size. None is read beyond 64 KB, whether sent at once or byte by byte."""
    s, stream = beside("max_connections 200;")
    before = s.rss()
    held = [who(s) for _ in range(60)]
    for i, c in enumerate(held):
        for csid in range(4, 8) if i % 2 else [6]:
            if not begin(c, csid, 0xffffff, b""):
                break
            if not push(c, bytes(200 * 1024)):
                break
    for c in held:
        assert c.closed(), "too much in flight"
    assert s.rss() - before < 24 * 1024 * SLOW, f"{before} kB became {s.rss()} kB"
    assert s.wait_log(r"\[WARN\].*code=1050.*incomplete messages", count=len(held)), s.log()[-800:]
    assert stream.gap() < 1 * SLOW


def test_60_kb_are_held_by_each(beside):
    """This is allowed: memory is what was received, regardless of claims."""
    s, stream = beside("max_connections 200;")
    before = s.rss()
    held = [connected(s) for _ in range(100)]
    for c in held:
        assert begin(c, 6, 0xffffff, bytes(60 * 1024))
    assert wait_for(lambda: s.rss() - before > 4 * 1024)
    assert s.rss() - before < 24 * 1024 * SLOW, f"{before} kB became {s.rss()} kB"
    for c in held:
        c.close()
    assert stream.gap() < 1 * SLOW


def test_a_message_must_end(beside):
    """From any client, and even if other messages complete meanwhile."""
    s, stream = beside("limits { message_timeout 1; }")
    at = s.mark()
    silent = [connected(s), player(s)]
    for c in silent:
        begin(c, 6, 1000, bytes(100), CMD)
    p = s.publisher("trickle", chunk=100)
    begin(p, 6, 100000, bytes(100))
    began = time.monotonic()
    while time.monotonic() - began < 10 * SLOW:
        p.w.last.pop(4, None)
        if not push(p, p.w.message(4, AUDIO, 0, p.sid, b"\xaf\1" + bytes(50))) or \
                not push(p, p.w.basic(3, 6) + bytes(100)):
            break
        time.sleep(0.05)
    assert 0.9 < time.monotonic() - began < 5 * SLOW
    for c in silent:
        assert c.closed()
    assert s.wait_log(r"code=1011.*message incomplete after 1000 ms", 5, at, 3), s.log()[at:]
    s.publisher("well").close()
    assert stream.gap() < 1 * SLOW


def test_one_bound_for_all_messages(beside):
    """Publishers hoard as much as allowed, each in a different way, until the limit. Another one that sends frames of 2 MB continues,
    and so does one that sends small ones."""
    s, stream = beside("max_connections 200; limits { max_partial_total 16m; }")
    before = s.rss()
    big = s.publisher("big", chunk=0xffff)
    hoarders = [s.publisher(f"hoard{i}", chunk=0xffff) for i in range(12)]
    for turn in range(4):
        for c in hoarders:
            if turn == 0:
                begin(c, 6, 0xffffff, b"")
                c.at = 0
            if c.at is not None:
                for _ in range(16):
                    if not push(c, (c.w.basic(3, 6) if c.at else b"") + bytes(0xffff)):
                        c.at = None
                        break
                    c.at += 1
        for _ in range(3):
            big.message(6, VIDEO, turn * 40, big.sid, b"\x17\1\0\0\0" + bytes(2 * MB))
    big.result(big.call("FCPublish", "big"))
    assert s.wait_log(r"\[WARN\].*code=1050.*peer holds most for longest", count=4), s.log()[-800:]
    assert s.rss() - before < (16 + 40) * 1024 * SLOW
    assert stream.gap() < 1 * SLOW
    big.close()
    for c in hoarders:
        c.close()


# -- streams that fill the memory

BOUND = (r"\[WARN\].*streams of one worker use \d+ MB, its share of limits.memory is \d+ MB: .*fill" if WORKERS
         else r"\[WARN\].*streams use \d+ MB, limits.memory is 32 MB: .*fill")


def fill(c, ms, total, size=100 * 1024):
    """Frames without a key frame after the first."""
    for i in range(total // size):
        first = b"\x17" if i == 0 else b"\x27"
        if not push(c, c.w.message(6, VIDEO, ms + i, c.sid, first + b"\1\0\0\0" + bytes(size))):
            return False
    return True


def test_streams_have_one_bound(beside):
    """Publishers without key frames and with players, each within its own limit."""
    s, stream = beside("limits { memory 32m; max_partial_total 8m; }")
    before = s.rss()
    many = [s.publisher(f"fill{i}", chunk=65536) for i in range(4)]
    players = [s.player(f"fill{i}", client={"rcvbuf": 4096}) for i in range(4)]
    for turn in range(4):
        for c in many:
            assert fill(c, turn * 1000, 12 * MB)
    for i, c in enumerate(many):
        c.result(c.call("FCPublish", f"fill{i}"))
    assert s.rss() - before < (32 + 24) * 1024 * SLOW, f"{before} kB became {s.rss()} kB"
    line = s.wait_log(BOUND)
    assert line, s.log()[-800:]
    assert len(re.findall("streams.* remember", s.log())) <= 3 * int(WORKERS or 1), "a line for each packet"
    assert stream.gap() < 1 * SLOW
    for c in players + many:
        c.close()


def test_segments_and_recordings_count_with_streams(beside, tmp_path):
    """The same with HLS, DASH and a recording, whose segments find no key frame to end at."""
    s, stream = beside("limits { memory 32m; max_partial_total 8m; }", vhost=f"""
        hls {{ enabled on; hls_path {tmp_path}/hls; hls_fragment 2; }}
        dash {{ enabled on; dash_path {tmp_path}/dash; }}
        dvr {{ enabled on; dvr_path {tmp_path}/[stream].[timestamp].mp4; }}""")
    before = most = s.rss()
    many = [s.publisher(f"fill{i}", chunk=65536) for i in range(3)]
    picture = (100 << 10).to_bytes(4, "big") + b"\x41" * (100 << 10)
    for c in many:
        c.message(6, VIDEO, 0, c.sid, AVC)
    for ms in range(400):
        for c in many:
            c.message(6, VIDEO, ms, c.sid, (b"\x27" if ms else b"\x17") + b"\1\0\0\0" + picture)
        most = max(most, s.rss())
    for i, c in enumerate(many):
        c.result(c.call("FCPublish", f"fill{i}"))
    assert most - before < (32 + 16) * 1024 * SLOW, f"{before} kB became {most} kB"
    line = s.wait_log(BOUND)
    assert line, s.log()[-800:]
    assert stream.gap() < 1 * SLOW
    for c in many:
        c.close()


# -- a system without memory

def little_memory():
    resource.setrlimit(resource.RLIMIT_AS, (300000 * 1024, 300000 * 1024))


@pytest.mark.skipif("asan" in os.environ.get("SRS_BINARY", ""), reason="needs address space")
@pytest.mark.parametrize("limits", ["", "limits { memory 1g; max_partial_total 1g; }"])
def test_under_ulimit(beside, limits):
    """If the system cannot provide what a peer needs, that peer is disconnected: with limits that fit the machine, and with absurd
    ones."""
    s, stream = beside("max_connections 500;" + limits, preexec=little_memory)
    s.allow_errors = True  # "out of memory" is one
    held = []
    for i in range(40):
        try:
            c = s.publisher(f"fill{i}", chunk=0xffff)
        except (Closed, OSError, AssertionError):
            continue
        held.append(c)
        begin(c, 6, 0xffffff, b"")
        for k in range(15 * MB // 0xffff):
            if not push(c, (c.w.basic(3, 6) if k else b"") + bytes(0xffff)):
                break
        if i % 4 == 0:
            try:
                fill(s.publisher(f"log{i}", chunk=65536), 0, 30 * MB)
            except (Closed, OSError, AssertionError):
                pass
    assert s.proc.running()
    assert s.wait_log(r"client finished.*code=10(50|52)"), s.log()[-800:]
    assert stream.gap() < 2 * SLOW
    for c in held:
        c.close()
    s.publisher("after").close()


@pytest.mark.skipif("asan" in os.environ.get("SRS_BINARY", ""), reason="needs address space")
def test_many_under_ulimit(beside):
    """More connections than memory allows, each with its maximum: those that are too many are rejected, over RTMP and HTTP."""
    port = free_port()
    s, stream = beside("max_connections 5000; limits { per_address 5000; connects_per_second 5000; "
                       "memory 1g; max_partial_total 1g; }\n"
                       f"http_server {{ enabled on; listen 127.0.0.1:{port}; }}",
                       preexec=little_memory)
    s.allow_errors = True
    held = []
    refused = None
    while not refused and len(held) < 3000:
        try:
            c = s.client().connect()
            c.set_chunk_size(0xffffff)
            begin(c, 6, 0xffffff, bytes(60 * 1024))
            held.append(c)
            h = socket.create_connection(("127.0.0.1", port))
            h.sendall(b"GET /x HTTP/1.1\r\nHost: a\r\n" + b"x: %s\r\n" % (b"y" * 300) * 90)
            held.append(h)
        except (Closed, OSError):
            refused = s.wait_log(r"refused \d+ connections: the system is out of memory")
    assert refused, s.log()[-800:]
    assert s.proc.running()
    assert stream.gap() < 2 * SLOW
    for c in held:
        c.close()
    assert wait_for(lambda: try_publish(s)), "memory was not freed"


def try_publish(s):
    try:
        s.publisher("after").close()
        return True
    except (Closed, OSError, AssertionError):
        return False
