# SPDX-License-Identifier: MIT
"""Messages that strangers make large, endless, or costly to read: each costs its own connection,
and a stream that runs beside it notices nothing."""
import time

import pytest

import amf
from flv import DATA
from flvgen import synthetic
from procs import SLOW, cpu_seconds
from rtmpclient import CMD, Closed


class Stream:
    """A publisher and a player who know of nothing. Its gaps are measured while it is looked at."""

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
    """An AMF3 object in AMF0: long keys that differ in their ends, then each again by reference."""
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
    """Before any permission."""
    s, stream = beside()
    body = amf.encode("connect", 1) + COMMANDS[name]()
    c = s.client().handshake()
    c.set_chunk_size(65536)
    used = cpu_seconds(s.pid)
    try:
        c.message(3, CMD, 0, 0, body)
    except (Closed, OSError):
        pass
    assert c.closed(), "it is refused"
    assert cpu_seconds(s.pid) - used < 0.5 * SLOW
    assert stream.gap() < 1 * SLOW
    assert s.wait_log(r"\[WARN\].*client finished.*code=(1050|1051|2004)"), s.log()[-800:]


def test_metadata_that_is_work(beside):
    """Of a publisher: too much for us to add our field is passed on as it came, over 1 MB is not."""
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
