# SPDX-License-Identifier: MIT
"""Forward to malicious servers: the stream and its players notice nothing, memory stays bounded, and each failure is one log line
before a pause."""
import os
import re
import socket
import struct
import threading
import time

import pytest

import amf
import flv
import httpapi
import rtmpclient
from flv import VIDEO
from procs import SLOW, free_port, wait_for
from rtmpclient import CMD, PING, SET_CHUNK_SIZE, USER, WIN_ACK, ChunkReader, ChunkWriter

HANDSHAKE, CONNECT, CREATE, PUBLISH = range(4)  # how many steps it plays along


class Peer:
    """One accepted connection that behaves like a server up to a certain step."""

    def __init__(self, sock):
        self.sock = sock
        self.w = ChunkWriter()
        self.r = ChunkReader(self.exactly, lambda: None)

    def exactly(self, n):
        got = b""
        while len(got) < n:
            more = self.sock.recv(n - len(got))
            if not more:
                raise OSError("closed")
            got += more
        return got

    def message(self, type, data, csid=3, sid=0, **how):
        self.sock.sendall(self.w.message(csid, type, 0, sid, data, **how))

    def answer(self, name, *values):
        """Reads until the command, then sends these messages."""
        while True:
            m = self.r.message()
            if m.type == SET_CHUNK_SIZE:
                self.r.size = struct.unpack(">I", m.data)[0]
            if m.type == CMD and (got := amf.decode(m.data))[0] == name:
                self.message(CMD, amf.encode(values[0], got[1] if values[0] != "onStatus" else 0,
                                             None, *values[1:]))
                return

    def until(self, step):
        self.exactly(1537)
        self.sock.sendall(b"\x03" + bytes(1536) + bytes(1536))
        self.exactly(1536)
        if step >= CONNECT:
            self.answer("connect", "_result", {"code": "NetConnection.Connect.Success"})
        if step >= CREATE:
            self.answer("createStream", "_result", 1)
        if step >= PUBLISH:
            self.answer("publish", "onStatus", {"level": "status",
                                                "code": "NetStream.Publish.Start"})
        return self

    def for_ever(self, data, pause=0.0):
        while True:
            self.sock.sendall(data)
            time.sleep(pause)


def ping():
    return ChunkWriter().message(2, USER, 0, 0, struct.pack(">HI", PING, 7))


def nested(depth):
    return b"\x03" + b"\x00\x01a\x03" * depth + b"\x00\x00\x09" * (depth + 1)


def unfinished(p):
    """Claims 16 MB and sends 15."""
    p.message(SET_CHUNK_SIZE, struct.pack(">I", 0x7fffffff), csid=2)
    head = struct.pack(">B3x3sB4x", 6, b"\xff\xff\xff", 9)
    p.sock.sendall(head)
    for _ in range(15):
        p.sock.sendall(bytes(1 << 20))
    p.sock.recv(1)


def many_unfinished(p):
    for csid in range(3, 60):
        p.sock.sendall(struct.pack(">B3x3sB4x", csid, (60000).to_bytes(3, "big"), 20) + bytes(128))
        for _ in range(400):
            p.sock.sendall(bytes([0xc0 | csid]) + bytes(128))
    p.sock.recv(1)


def hold(p):
    time.sleep(60)


def at(step, then):
    return lambda p: then(p.until(step))


def say(type, data, **how):
    return lambda p: (p.message(type, data, **how), time.sleep(60))


NO = amf.encode("_error", 1, None, {"level": "error", "code": "x\n[ERROR] forged" * 9,
                                    "description": "\x01\xff\"'" * 9000})
# name: behavior on one connection, and whether it ends the connection at once
KINDS = {
    "silent": (hold, False),
    "byte a second": (lambda p: [(p.sock.sendall(b"\x03"), time.sleep(1)) for _ in range(60)], False),
    "garbage": (lambda p: p.for_ever(os.urandom(5000), 0.1), True),
    "no RTMP": (lambda p: (p.sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n" * 200), hold(p)), True),
    "ends at once": (lambda p: None, True),
    "ends in the handshake": (lambda p: p.sock.sendall(b"\x03" + bytes(2000)), True),
    **{f"ends after step {n}": (at(n, lambda p: None), True) for n in range(4)},
    "pings before": (at(HANDSHAKE, lambda p: p.for_ever(ping() * 6000, 0.01)), False),
    "talks before": (at(CONNECT, lambda p: p.for_ever(
        ChunkWriter().message(3, CMD, 0, 0, amf.encode("onBWDone", 0, None)) * 3000, 0.01)), False),
    "slow message": (at(HANDSHAKE, lambda p: (p.sock.sendall(
        struct.pack(">B3x3sB4x", 3, (60000).to_bytes(3, "big"), 20)), p.for_ever(b"\0", 1))), False),
    "unfinished before": (at(HANDSHAKE, unfinished), True),
    "unfinished after": (at(PUBLISH, unfinished), True),
    "many unfinished": (at(PUBLISH, many_unfinished), True),
    "metadata": (at(PUBLISH, say(18, bytes(1 << 20))), True),
    "nested": (at(HANDSHAKE, say(CMD, amf.encode("_result", 1) + nested(9000))), True),
    "many members": (at(HANDSHAKE, say(CMD, amf.encode("_result", 1, None, {
        f"k{i}": i for i in range(4000)}))), False),
    "chunks of 0": (at(HANDSHAKE, say(SET_CHUNK_SIZE, bytes(4), csid=2)), True),
    "chunks of 4 GB": (at(HANDSHAKE, say(SET_CHUNK_SIZE, b"\xff" * 4, csid=2)), True),
    "no number": (at(CONNECT, lambda p: (p.answer(
        "createStream", "_result", float("nan")), hold(p))), True),
    "says no": (at(HANDSHAKE, say(CMD, NO)), True),
    "acknowledge each byte": (at(PUBLISH, lambda p: (p.message(
        WIN_ACK, struct.pack(">I", 1), csid=2), p.for_ever(ping(), 0.001))), False),
    "pings after": (at(PUBLISH, lambda p: p.for_ever(ping() * 6000, 0.01)), False),
    "never reads": (at(PUBLISH, hold), False),
}


class Hostile:
    """A server of one kind."""

    def __init__(self, kind):
        self.how, self.ends = KINDS[kind]
        self.kind, self.accepted, self.open = kind, [], 0
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
        self.port = free_port()
        self.listener.bind(("127.0.0.1", self.port))
        self.listener.listen(8)
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        try:
            while True:
                sock = self.listener.accept()[0]
                self.accepted.append(time.monotonic())
                threading.Thread(target=self.serve, args=(sock,), daemon=True).start()
        except OSError:
            pass

    def serve(self, sock):
        sock.settimeout(60)
        try:
            with sock:
                self.how(Peer(sock))
        except (OSError, rtmpclient.Closed):
            pass

    def failures(self, log):
        return re.findall(rf":{self.port}/.*again in (\d+) s", log)


@pytest.mark.parametrize("seconds", [3, pytest.param(20, marks=pytest.mark.long)])
def test_hostile_destinations(srs, source, seconds):
    all_kinds = [Hostile(k) for k in KINDS]
    api = free_port()
    s = srs("forward { enabled on; destination " + " ".join(f"127.0.0.1:{h.port}" for h in all_kinds)
            + "; }", glob=f"http_api {{ enabled on; listen 127.0.0.1:{api}; }}")
    s.allow_errors = True  # errors of a destination are not ours
    own = s.watch()
    before = s.rss()
    p = s.push(source, loop=True)
    most, end = before, time.monotonic() + seconds * SLOW
    while time.monotonic() < end:
        most = max(most, s.rss())
        time.sleep(0.1)
    assert own.wait(lambda got: len(flv.frames(got, VIDEO)) >= 15 * seconds, 6) and p.error is None
    gaps = [b[0] - a[0] for a, b in zip(own.arrivals, own.arrivals[1:])]
    assert max(gaps) < 2.0 * SLOW, f"players waited {max(gaps):.2f} s"
    assert most - before < 24 << 10 or SLOW > 1, f"{before} kB became {most} kB"
    api_client = httpapi.Api(api)
    assert api_client.get("forwards")["code"] == 0
    log = s.log()
    for h in all_kinds:
        told = h.failures(log)
        pauses = [int(x) for x in told]
        assert pauses == [1, 2, 4, 8, 10, 10][:len(pauses)], f"{h.kind}: {pauses}"
        assert len(h.accepted) - len(told) in (0, 1), f"{h.kind}: not a line for each failure"
        assert not h.ends or wait_for(lambda: h.failures(s.log()), 5), f"{h.kind} is still there:\n" + log[-1500:]
        if seconds > 12 and h.kind not in ("never reads", "pings after", "acknowledge each byte"):
            assert wait_for(lambda: h.failures(s.log()), 5), f"{h.kind} is borne for ever"
    assert not re.search(r"^\[ERROR\] forged", log, re.M)
    t = time.monotonic()
    p.stop()
    p.client.close()
    s.stop()
    assert time.monotonic() - t < 5 * SLOW, "they delay the end"
