# SPDX-License-Identifier: MIT
"""Bad input: each peer that sends it is disconnected or limited, with one log line; memory is freed; a stream that runs at the same
time is not affected."""
import os
import socket
import struct
import time

import pytest

import amf
import flv
from flv import VIDEO
from flvgen import synthetic
from procs import SLOW, patience, wait_for
from rtmpclient import CMD, Closed, make_c1

LIMITS = "limits { handshake_timeout 1; }"


class Bystander:
    """A stream with a player during the attack."""

    def __init__(self, s):
        self.s = s
        self.w = s.watch("bystander")
        self.p = s.push(synthetic(2), "bystander", loop=True, ahead=0.5)
        assert self.w.wait(lambda got: len(got) > 10, 3)

    def check(self):
        n = len(self.w.tags)
        assert self.w.wait(lambda got: len(got) > n + 10, 3), "the other stream stopped"
        self.p.stop()
        assert self.p.error is None
        want = len(flv.frames(self.p.pushed, VIDEO))
        assert self.w.wait(lambda got: len(flv.frames(got, VIDEO)) >= want), "it lost its end"
        got = flv.hashes(self.w.stop(), VIDEO)
        assert flv.find_run(got, flv.hashes(self.p.pushed, VIDEO)) == 0, "the other stream has gaps"
        gaps = [b[0] - a[0] for a, b in zip(self.w.arrivals, self.w.arrivals[1:])]
        assert max(gaps) < 4 * SLOW, f"the other stream stood still for {max(gaps):.1f} s"


@pytest.fixture
def attack(srs):
    """(server, twice): twice(f) runs f two times and checks that the second run left nothing behind; the bystander is checked at
    the end."""
    s = srs("play { mw_latency 50; }", glob="max_connections 3000;")
    by = Bystander(s)

    def twice(f, slack_kb=4096, settle=0.3):
        f()
        time.sleep(settle)
        first = s.rss()
        f()
        assert wait_for(lambda: s.rss() - first < slack_kb * SLOW, 4, 0.2), \
            f"{first} kB became {s.rss()} kB"
    yield s, twice
    by.check()


def raw(s):
    c = s.client()
    return c.sock


def send_all(sock, data):
    try:
        sock.sendall(data)
    except OSError:
        pass


def say_no_more(sock):
    try:
        sock.shutdown(socket.SHUT_WR)
    except OSError:  # the server was faster
        pass


def ended(sock, timeout=5.0):
    """Whether the server closes the connection; reads its data until then."""
    sock.settimeout(patience(timeout))
    try:
        while sock.recv(65536):
            pass
        return True
    except socket.timeout:
        return False
    except OSError:
        return True


GARBAGE = {
    "zeros": bytes(6000),
    "ones": b"\xff" * 6000,
    "random": os.urandom(6000),
    "http": b"GET /x HTTP/1.1\r\nHost: a\r\n\r\n" * 300,
    "tls": bytes.fromhex("16030100f8010000f40303") + os.urandom(5000),
    "ssh": b"SSH-2.0-OpenSSH_9.2\r\n" + os.urandom(5000),
}


def test_garbage_instead_of_a_handshake(attack):
    s, twice = attack

    def go():
        for name, data in GARBAGE.items():
            sock = raw(s)
            send_all(sock, data)
            assert ended(sock), name
            sock.close()
    at = s.mark()
    twice(go)
    lines = [x for x in s.log()[at:].splitlines() if "[WARN]" in x]
    assert len(lines) >= len(GARBAGE), "no line for each"


def test_garbage_after_the_handshake(attack):
    s, twice = attack

    def go():
        for data in GARBAGE.values():
            c = s.client().handshake()
            send_all(c.sock, data)
            say_no_more(c.sock)
            assert ended(c.sock)
            c.close()
    twice(go)


def record(s):
    """Returns the bytes of a whole publishing session."""
    c = s.client()
    c.record = True
    c.publish("recorded")
    for t in synthetic(0.3):
        c.send_tag(t)
    c.unpublish()
    c.close()
    return c.sent


def test_truncation(attack):
    """Cuts a recorded session at many places: every 53rd byte of the handshake, each of the next 400, every 41st of the rest."""
    s, twice = attack
    data = record(s)
    after = 3073
    cuts = [*range(0, after, 53), *range(after, min(after + 400, len(data))),
            *range(after + 400, len(data), 41)]

    def go():
        for n in cuts:
            sock = raw(s)
            send_all(sock, data[:n])
            sock.close()
    twice(go)
    assert s.proc.running()


def test_reset_at_many_places(attack):
    s, twice = attack
    data = record(s)

    def go():
        for n in range(100, len(data), 211):
            c = s.client()
            send_all(c.sock, data[:n])
            c.abort()
    twice(go)


def test_bits_flipped(attack):
    """Changes a random byte of the recorded session, 150 times."""
    import random
    s, twice = attack
    data = record(s)
    rnd = random.Random(7)

    def go():
        for _ in range(150):
            broken = bytearray(data)
            for _ in range(rnd.randrange(1, 4)):
                broken[rnd.randrange(3073, len(broken))] = rnd.randrange(256)
            sock = raw(s)
            send_all(sock, bytes(broken))
            sock.close()
    twice(go)
    s.allow_errors = False


LIES = {
    "string longer than the message": b"\x02\xff\xffconnect",
    "long string of 4 GB": b"\x0c\xff\xff\xff\xffx",
    "object without end": b"\x02\x00\x07connect\x00\x3f\xf0\0\0\0\0\0\0\x03\x00\x03app\x02\x00\x04li",
    "array of 4 billion": amf.encode("connect", 1) + b"\x0a\xff\xff\xff\xff\x05",
    "ecma array of 4 billion": amf.encode("connect", 1) + b"\x08\xff\xff\xff\xff\x00\x00\x09",
    "unknown marker": amf.encode("connect", 1) + b"\x7f",
    "a number for a name": amf.encode(1, 1, {}),
    "nothing": b"",
    "no transaction id": amf.encode("connect"),
    "wrong types": amf.encode("connect", "one", [1, 2]),
    "app is a number": amf.encode("connect", 1, {"app": 5, "tcUrl": {"a": 1}}),
}


def test_amf_that_lies(attack):
    s, twice = attack

    def go():
        for name, body in LIES.items():
            c = s.client().handshake()
            try:
                c.message(3, CMD, 0, 0, body, length=max(len(body), 1))
                if not body:
                    c.send(b"\x00")
                say_no_more(c.sock)
                assert ended(c.sock), name
            except (Closed, OSError):
                pass
            c.close()
    twice(go)


@pytest.mark.parametrize("kind", ["object", "array", "ecma"])
def test_nested_amf(attack, kind):
    """Nesting as deep as the size of a command allows, in connect and in metadata."""
    s, twice = attack
    level = {"object": b"\x03\x00\x01a", "array": b"\x0a\0\0\0\x01", "ecma": b"\x08\0\0\0\1\x00\x01a"}
    deep = level[kind] * (65000 // len(level[kind])) + b"\x05"

    def go():
        c = s.client().handshake()
        send_all(c.sock, c.w.message(3, CMD, 0, 0, amf.encode("connect", 1) + deep))
        say_no_more(c.sock)
        assert ended(c.sock)
        c = s.publisher("nested")
        send_all(c.sock, c.w.message(5, 18, 0, c.sid, amf.encode("@setDataFrame", "onMetaData") + deep))
        say_no_more(c.sock)
        assert ended(c.sock)
    twice(go)


def test_message_of_16_mb(attack):
    """The largest length that a header can claim, sent completely."""
    s, twice = attack

    def go():
        c = s.publisher("big", chunk=65536)
        for t in synthetic(0.1)[:3]:
            c.send_tag(t)
        body = b"\x17\x01\0\0\0" + bytes(0xffffff - 5)
        for part in c.w.chunks(6, VIDEO, 40, c.sid, body, fmt=0):
            try:
                c.send(part)
            except Closed:
                break
        time.sleep(0.3)
        c.close()
    twice(go, slack_kb=20480, settle=1)


def test_claims_16_mb_and_sends_little(attack):
    """200 connections that each claim 16 MB: a claim allocates no memory."""
    s, twice = attack
    before = s.rss()
    held = []
    for _ in range(200):
        c = s.client().handshake()
        send_all(c.sock, b"\x03\0\0\0\xff\xff\xff\x14\0\0\0\0" + b"x" * 100)
        held.append(c)
    time.sleep(0.5)
    assert s.rss() - before < 40 * 1024 * SLOW, f"{before} kB became {s.rss()} kB"
    for c in held:
        c.close()


def test_10000_chunk_streams(attack):
    """Each has the first chunk of a message that never ends."""
    s, twice = attack

    def go():
        c = s.client().connect()
        for i in range(10000):
            head = c.w.basic(0, 64 + i) + b"\0\0\0" + (20000).to_bytes(3, "big") + b"\x09\1\0\0\0"
            try:
                c.send(head + b"y" * 128)
            except (Closed, OSError):
                break
        else:
            assert ended(c.sock, 3), "10,000 unfinished messages were accepted"
        c.close()
    twice(go)
    assert s.wait_log(r"\[WARN\].*code=(1050|1051|2001|2002)", 2), s.log()[-600:]


WRONG_CHUNKS = {
    "fmt 3 on a fresh stream": b"\xc5" + b"z" * 200,
    "fmt 2 on a fresh stream": b"\x85\0\0\1" + b"z" * 200,
    "chunk size 0": b"\x02\0\0\0\0\0\4\1\0\0\0\0" + bytes(4),
    "chunk size 2 GB": b"\x02\0\0\0\0\0\4\1\0\0\0\0\x80\0\0\0",
    "chunk size with 1 byte": b"\x02\0\0\0\0\0\1\1\0\0\0\0\x01",
    "window with 2 bytes": b"\x02\0\0\0\0\0\2\5\0\0\0\0\x01\x02",
    "user control with 1 byte": b"\x02\0\0\0\0\0\1\4\0\0\0\0\x01",
    "abort with nothing": b"\x02\0\0\0\0\0\1\2\0\0\0\0\x01",
    "length changes in mid-message": b"\x03\0\0\0\0\1\0\x14\0\0\0\0" + b"q" * 128
                                     + b"\x03\0\0\0\0\0\x20\x14\0\0\0\0" + b"q" * 32,
}


@pytest.mark.parametrize("name", WRONG_CHUNKS)
def test_wrong_chunks(srs, name):
    """An error for this connection, one line, and the next client is served."""
    s = srs()
    c = s.client().connect()
    at = s.mark()
    send_all(c.sock, WRONG_CHUNKS[name])
    c.sock.shutdown(socket.SHUT_WR)
    assert ended(c.sock)
    time.sleep(0.2)
    assert len([x for x in s.log()[at:].splitlines() if "[WARN]" in x or "[ERROR]" in x]) <= 2
    s.publisher()


def test_aggregate_that_lies(srs):
    s = srs()
    for body in (b"\x09\xff\xff\xff\0\0\0\0\0\0\0x", b"\x09\0\0\5", b"\x09\0\0\2\0\0\0\0\0\0\0ab",
                 b"\x16" * 500, b""):
        c = s.publisher()
        c.message(6, 22, 0, c.sid, body or b"\0", fmt=0)
        say_no_more(c.sock)
        assert ended(c.sock)
    s.publisher()


def test_media_before_connect_and_publish(srs):
    s = srs()
    for early in (True, False):
        c = s.client().handshake()
        if not early:
            c.connect()
        try:
            for t in synthetic(1):
                c.send_tag(t)
            say_no_more(c.sock)
        except (Closed, OSError):
            pass
        assert ended(c.sock)
    s.publisher()


@pytest.mark.long
def test_two_thousand_silent_connects(srs):
    """Silent connections end at the handshake timeout; others are served meanwhile; memory and descriptors are freed."""
    s = srs(glob=f"max_connections 3000;\n{LIMITS}")
    by = Bystander(s)
    fds = len(os.listdir(f"/proc/{s.pid}/fd"))

    def go():
        held = []
        for _ in range(2000):
            k = socket.socket()
            k.settimeout(20)
            k.connect(("127.0.0.1", s.port))
            held.append(k)
        s.publisher("meanwhile").close()
        assert ended(held[-1], 8), "it was not closed"
        assert all(ended(k, 3) for k in held)
        for k in held:
            k.close()
    go()
    first = s.rss()
    go()
    assert wait_for(lambda: s.rss() - first < 4096 * SLOW, 4, 0.2), f"{first} kB became {s.rss()} kB"
    assert wait_for(lambda: len(os.listdir(f"/proc/{s.pid}/fd")) <= fds + 2, 5)
    by.check()


def test_a_byte_a_second(srs):
    """A handshake that would take 25 minutes ends at its timeout."""
    s = srs(glob=LIMITS)
    socks = [raw(s) for _ in range(5)]
    data = b"\x03" + make_c1("simple")
    gone = 0
    for i in range(5):
        for k in socks:
            try:
                k.sendall(data[i:i + 1])
            except OSError:
                gone += 1
        time.sleep(0.4)
    assert gone or all(ended(k, 2) for k in socks)
    assert all(ended(k, 2) for k in socks)


def test_connected_and_idle(srs):
    """A client that completes the handshake, connects and then does nothing has a timeout, too."""
    s = srs(glob="limits { handshake_timeout 1; idle_timeout 1; }")
    a, b = s.client().handshake(), s.client().connect()
    assert a.closed(6) and b.closed(6)
    w = s.watch()
    time.sleep(1.3)
    assert w.ended is None, "a player that waits for its stream counts as idle"


def test_many_wrong_ones_do_not_flood_the_log(attack):
    s, twice = attack
    at = s.mark()

    def go():
        for _ in range(200):
            sock = raw(s)
            send_all(sock, b"\x09" * 1600)
            sock.close()
    twice(go)
    text = s.log()[at:]
    assert len(text.splitlines()) <= 400 * 4, "more than a few lines each"
    assert struct.calcsize("I") == 4
