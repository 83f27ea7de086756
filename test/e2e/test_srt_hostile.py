# SPDX-License-Identifier: MIT
"""Hostile SRT peers during playback of RTMP and SRT players that must notice nothing: each is rejected with a code, or is one log
line, and memory is freed."""
import json
import os
import re
import struct
import sys
import threading
import time

import pytest

import hostile_srt as h
import procs
from hostile_srt import Peer, extension, hsreq, key_message, streamid, text, words
from httpapi import Backend
from procs import SLOW, Proc, free_port, wait_for
from server import LINE
from test_bench_tools import last_object

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hostile_srt.py")
GOOD = hsreq() + streamid("live/x")


class Player(threading.Thread):
    """An SRT player that acknowledges its packets, and misses none."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.peer, self.n, self.gap, self.wrong, self.halt = Peer(port).connect("bystander"), 0, 0.0, None, False
        self.counts = False
        self.start()

    def run(self):
        p, want, number, at, told = self.peer, self.peer.first, 0, time.monotonic(), 0.0
        p.sock.settimeout(0.1)
        while not self.halt and not self.wrong:
            try:
                got = p.sock.recv(2048)
            except TimeoutError:
                continue
            now = time.monotonic()
            if got[0] >> 7:
                if struct.unpack(">H", got[:2])[0] & 0x7fff == h.SHUTDOWN:
                    self.wrong = "it was ended"
                continue
            seq = struct.unpack(">I", got[:4])[0]
            if seq != want:
                self.wrong = f"packet {want} is missing, {seq} came"
            if self.counts:  # the initial burst from the cache does not count
                self.gap = max(self.gap, now - at)
            want, self.n, at = seq + 1, self.n + 1, now
            if now - told > 0.01:
                number, told = number + 1, now
                p.tell(h.ACK, number, words(want, 1000, 100, 8000))


class Scene:
    def __init__(self, srs, source, vhost="", server="", glob=""):
        self.port = free_port()
        self.s = srs(f"srt {{ enabled on; }} tcp_nodelay on; min_latency on; publish {{ mr off; }} play {{ mw_latency 0; }} {vhost}",
                     f"srt_server {{ enabled on; listen 127.0.0.1:{self.port}; {server} }} {glob}")
        self.pusher = self.s.push(source, "bystander", loop=True, ahead=1)
        self.rtmp = self.s.watch("bystander")
        assert self.rtmp.wait(lambda tags: len(tags) > 20)
        self.srt = Player(self.port)
        assert wait_for(lambda: self.srt.n > 50 or self.srt.wrong, 5)
        time.sleep(0.3)  # until the initial burst is over for both
        self.begin, self.srt.counts = time.monotonic(), True

    def peer(self, ip="127.0.0.1"):
        return Peer(self.port, ip)

    def gap(self):
        """Longest time that the RTMP player has waited so far."""
        at = [self.begin] + [t for t, _ in list(self.rtmp.arrivals) if t > self.begin]
        return max((b - a for a, b in zip(at, at[1:])), default=99.0)

    def check(self, most=0.3):
        n, m = self.srt.n, len(self.rtmp.arrivals)
        assert wait_for(lambda: self.srt.wrong or (self.srt.n > n + 3 and len(self.rtmp.arrivals) > m + 3), 5)
        self.srt.halt = True
        self.srt.join(5)
        assert not self.srt.wrong, f"the player of SRT: {self.srt.wrong}\n{self.s.log()[-2000:]}"
        self.rtmp.stop()
        self.pusher.stop()
        print(f"longest gap: RTMP {1000 * self.gap():.0f} ms, SRT {1000 * self.srt.gap:.0f} ms")
        assert self.gap() <= most * SLOW, f"the player of RTMP waited {self.gap():.2f} s"
        assert self.srt.gap <= most * SLOW, f"the player of SRT waited {self.srt.gap:.2f} s"


@pytest.fixture
def scene(srs, source):
    return lambda **how: Scene(srs, source, **how)


# ---- handshakes: content of the conclusion, its header, the code of the rejection

CONCLUSIONS = {
    "no extensions": (b"", {}, 1004),
    "an extension longer than the packet": (hsreq() + extension(5, b"abcd", 500), {}, 1004),
    "an extension of 256 KB": (hsreq() + extension(99, b"", 65535), {}, 1004),
    "half a head of an extension": (GOOD + b"\0", {}, 1004),
    "an HSREQ of one word": (extension(1, b"abcd"), {}, 1004),
    "HSREQ twice": (hsreq() + GOOD, {}, 1004),
    "stream id twice": (GOOD + streamid("live/y"), {}, 1004),
    "a stream id of 516 bytes": (hsreq() + streamid("a" * 516), {}, 1004),
    "a key message of nothing": (GOOD + extension(3, b""), {"encryption": 2}, 1004),
    "a key message of two words": (GOOD + extension(3, bytes(8)), {"encryption": 2}, 1004),
    "a key message of zeros": (GOOD + extension(3, bytes(56)), {"encryption": 2}, 1004),
    "a key message that is cut": (GOOD + extension(3, key_message()[:-4]), {"encryption": 2}, 1004),
    "a key message of 32 for 16": (GOOD + extension(3, key_message(32)), {"encryption": 2}, 1004),
    "a key message of 1,200 bytes": (GOOD + extension(3, key_message() + bytes(1144)), {"encryption": 2}, 1004),
    "a key where there is none": (GOOD + extension(3, key_message()), {"encryption": 2}, 1011),
    "encryption of one byte": (GOOD, {"encryption": 1}, 1004),
    "a sequence of 32 bits": (GOOD, {"first": 0x80000000}, 1004),
    "an MTU of 0": (GOOD, {"mtu": 0}, 1004),
    "a window of 0": (GOOD, {"window": 0}, 1004),
    "handshake 4": (b"", {"version": 4, "field": 1}, 1008),
    "SRT 1.2": (hsreq(0x10203) + streamid("live/x"), {}, 1008),
    "stream mode": (hsreq(flags=0x7f) + streamid("live/x"), {}, 1012),
    "file": (GOOD + extension(6, text("file")), {}, 1013),
    "congestion of 400 bytes": (GOOD + extension(6, b"%n%s" * 100), {}, 1013),
    "FEC": (GOOD + extension(7, text("fec,cols:10")), {}, 1014),
    "a group": (GOOD + extension(8, bytes(8)), {}, 1015),
    "nested": (hsreq() + streamid("#!:{r=x}"), {}, 2400),
    "both ways": (hsreq() + streamid("#!::r=live/x,m=bidirectional"), {}, 2405),
    "a file to take": (hsreq() + streamid("#!::r=live/x,t=file"), {}, 2415),
    "security": (hsreq() + streamid("#!::r=secret/x"), {}, 2403),
}
FORGED = b"x\r\n[2026-01-01 00:00:00.000][TRACE][1][forged] FORGED"
STREAM_IDS = [FORGED, b"#!::r=live/a,k=" + FORGED, b"#!::u=" + FORGED + b",m=no", b"%23!::r=live/%0aFORGED%0d%00", b"%s%n%x" * 80,
              bytes(range(256)) * 2, b"\xff" * 512, "ä€𝄞".encode() * 50, b"a\0b" * 100, b"/" * 512, b"." * 512,
              b"../../etc/passwd", b"#!::" + b"=," * 250, b"#!::" + b"h=," * 160, b"#!::r=" + b"a/" * 250, b"?" * 512, b"%" * 512,
              b"\x1b[31mFORGED\x1b[0m", b"\xe2\x80\xa8FORGED\xc2\x85FORGED", b"#!::r=live/x?" + b"&=" * 200]


def told_once(s, at):
    """Every line of the log is one of ours."""
    lines = s.log()[at:].split("\n")[:-1]
    wrong = [x for x in lines if not LINE.match(x) or not x.isprintable()]
    assert not wrong, wrong[:5]
    return lines


def test_handshakes(scene):
    """Each is rejected with its code and a line; stream ids with any content forge no lines; repeats are counted."""
    c = scene(vhost="security { enabled on; allow publish all; allow play 127.0.0.1; }")
    s, at = c.s, c.s.mark()
    got = {}
    for i, (name, (extensions, how, _)) in enumerate(CONCLUSIONS.items()):
        p = c.peer(f"127.0.1.{i + 1}").induct()
        got[name] = p.conclude(extensions, **how)
        p.close()
    want = {name: code for name, (_, _, code) in CONCLUSIONS.items()}
    assert got == want, {k: (got[k], v) for k, v in want.items() if got[k] != v}
    for i, ident in enumerate(STREAM_IDS):
        p = c.peer(f"127.0.2.{i + 1}").induct()
        assert p.conclude(hsreq() + streamid(ident)) is not None, ident
        p.close()
    p = c.peer("127.0.3.1")
    p.say(h.handshake(0, p.id, extensions=GOOD))  # rendezvous
    assert p.hear_handshake()[6] == 1004
    p.induct()
    assert p.conclude(b"", version=4, field=1) == 1008
    for _ in range(1000):
        p.say(p.conclusion(b"", version=4, field=1))
    p.close()
    assert s.wait_log("127.0.3.1.* is refused with 1008", 3)
    lines = told_once(s, at)
    assert sum("127.0.3.1" in x and "1008" in x for x in lines) <= 3
    c.check()


def test_no_answer_is_larger_than_what_was_asked(scene):
    """With a forged source address nothing larger is sent to the victim: before the cookie returns, answers are as long as requests."""
    c, answered = scene(), 0
    for kind in (h.INDUCTION, 0, h.CONCLUSION, 5):
        for extensions in (b"", GOOD, GOOD * 10):
            for version in (4, 5):
                p = c.peer("127.0.8.1")
                said = h.handshake(kind, p.id, extensions=extensions, version=version, field=2)
                p.say(said)
                if (got := p.hear(h.HANDSHAKE, 0.05)):
                    answered += 1
                    assert len(got) + 16 <= len(said), f"{len(said)} bytes were answered by {len(got) + 16}"
                p.close()
    assert answered > 6, answered
    c.check()


# ---- packets

def key_request(p, body):
    p.tell(h.EXTENSION, body=body, subtype=3)


def flood_of(p, make, n=300):
    for i in range(n):
        p.say(make(i))


def everything(p, n=200):
    for _ in range(n):
        p.say(struct.pack(">IIII", h.rng.getrandbits(32), h.rng.getrandbits(32), h.rng.getrandbits(32), p.to)
              + h.rng.randbytes(h.rng.randrange(1456)))


# name: messages of an admitted player, whether they must end the session
PLAYERS = {
    "acknowledges what was not sent": (lambda p: p.tell(h.ACK, 1, words(p.first + 1000000, 1, 1, 1)), True),
    "acknowledges from the other side": (lambda p: p.tell(h.ACK, 1, words(p.first + 0x3fffffff, 1, 1, 1)), True),
    "acknowledges what was before": (lambda p: flood_of(p, lambda i: h.control(h.ACK, i, p.to, words(p.first - i))), False),
    "ACKs of odd sizes": (lambda p: flood_of(p, lambda i: h.control(h.ACK, i, p.to, bytes(i % 40))), None),
    "a NAK of 2^31 packets": (lambda p: p.tell(h.NAK, 0, words(0x80000000, h.FAR)), None),
    "NAKs of 2^31 packets, 180 times each": (lambda p: flood_of(p, lambda i: h.control(h.NAK, 0, p.to, words(0x80000000, h.FAR) * 180)),
                                             None),
    "NAKs of the same packet": (lambda p: flood_of(p, lambda i: h.control(h.NAK, 0, p.to, words(p.first) * 360)), False),
    "NAKs of all in steps": (lambda p: flood_of(p, lambda i: h.control(h.NAK, 0, p.to, words(*range(p.first + 40, p.first, -1)))), None),
    "NAKs from end to begin": (lambda p: p.tell(h.NAK, 0, words(0x80000000 | p.first + 9, p.first)), None),
    "a NAK that is cut": (lambda p: p.tell(h.NAK, 0, words(0x80000000 | p.first)), None),
    "ACKACK for nothing": (lambda p: flood_of(p, lambda i: h.control(h.ACKACK, i, p.to)), False),
    "drops everything": (lambda p: p.tell(h.DROP, 0, words(0, h.FAR)), False),
    "sends media": (lambda p: flood_of(p, lambda i: h.data(p.first + i, b"G" * 188, p.to)), False),
    "key messages of all sizes": (lambda p: [key_request(p, h.rng.randbytes(n)) for n in range(200)], False),
    "unknown types": (lambda p: flood_of(p, lambda i: h.control(8 + i, i, p.to)), False),
    "everything": (everything, None),
    "acknowledges nothing": (lambda p: None, False),
}
PUBLISHERS = {
    "noise": (lambda p: flood_of(p, lambda i: h.data(p.first + i, h.rng.randbytes(1316), p.to, i + 1, i * 1000)), None),
    "packets of 0 to 1,456 bytes": (lambda p: flood_of(p, lambda i: h.data(p.first + i, bytes(i * 5 % 1456), p.to, i + 1)), None),
    "nothing": (lambda p: None, False),
    "sequences far away": (lambda p: flood_of(p, lambda i: h.data(p.first + 100000 * i + 50000, b"G" * 188, p.to)), None),
    "sequences of before": (lambda p: flood_of(p, lambda i: h.data(p.first - i - 1, b"G" * 188, p.to)), None),
    "the same packet": (lambda p: flood_of(p, lambda i: h.data(p.first, b"G" * 188, p.to)), False),
    "every other packet": (lambda p: flood_of(p, lambda i: h.data(p.first + 2 * i, b"G" * 188, p.to)), None),
    "both keys": (lambda p: flood_of(p, lambda i: h.data(p.first + i, b"G" * 188, p.to, i, 0, 0xd8000000)), None),
    "an odd key": (lambda p: flood_of(p, lambda i: h.data(p.first + i, b"G" * 188, p.to, i, 0, 0xd0000000)), None),
    "pieces of messages": (lambda p: flood_of(p, lambda i: h.data(p.first + i, b"G" * 188, p.to, 1, 0, 0)), None),
    "times that jump": (lambda p: flood_of(p, lambda i: h.data(p.first + i, b"G" * 188, p.to, i, h.rng.getrandbits(32))), None),
    "drops everything": (lambda p: p.tell(h.DROP, 0, words(0, h.FAR)), None),
    "drops from end to begin": (lambda p: p.tell(h.DROP, 0, words(p.first + 9, p.first)), None),
    "drops half a range": (lambda p: p.tell(h.DROP, 0, words(p.first)), None),
    "ACKACK for nothing": (lambda p: flood_of(p, lambda i: h.control(h.ACKACK, i * 7919, p.to, time=i * 7919)), False),
    "ACK and NAK": (lambda p: [p.tell(h.ACK, 1, words(p.first + 9)), p.tell(h.NAK, 0, words(0x80000000, h.FAR))], None),
    "key messages of all sizes": (lambda p: [key_request(p, h.rng.randbytes(n)) for n in range(200)], False),
    "everything": (everything, None),
}


def strangers(c):
    """Effect of other peers on admitted ones, and of guessed ids."""
    good = c.srt.peer.to
    p = c.peer("127.0.4.1")
    for to in [good, good + 1, good ^ 1, 0xffffffff, 1] + [h.rng.getrandbits(30) for _ in range(300)]:
        p.to = to
        for say in (h.SHUTDOWN, h.KEEPALIVE, h.ACKACK, 9):
            p.tell(say)
        p.tell(h.ACK, 1, words(5))
        p.tell(h.NAK, 0, words(0x80000000, h.FAR))
        p.tell(h.DROP, 0, words(0, h.FAR))
        p.say(h.data(1, b"G" * 188, to))
    for n in list(range(70)) + [1456, 1472, 1473, 2048, 9000]:
        p.say(bytes(n))
        p.say(b"\xff" * n)
    p.to = 0
    p.close()


def packets_of(c, i):
    at = c.s.mark()
    peers, want = [], []
    for kinds, publish in ((PLAYERS, False), (PUBLISHERS, True)):
        for n, (name, (say, ends)) in enumerate(kinds.items()):
            p = c.peer(f"127.0.{5 + publish}.{n + 1}").connect(f"hostile{i}-{n}" if publish else "bystander", publish)
            peers.append(p)
            if ends:
                want.append((name, p))
            say(p)
    for name, p in want:
        assert p.ended(), f"{name}: it goes on"
    strangers(c)
    for p in peers:
        p.close()
    n = len(peers)
    if i == 0:  # later the log's limit is reached
        assert c.s.wait_log("client finished", 5, at, n), c.s.log()[-3000:]
    lines = told_once(c.s, at)
    assert len(lines) < 30 * n, f"{len(lines)} lines of {n} clients"


def test_packets(scene):
    """After admission: impossible values end the session, other invalid packets are dropped."""
    c = scene()
    packets_of(c, 0)
    beside = [c.peer("127.0.7.1").induct() for _ in range(2)]  # behind one address
    wish = hsreq() + streamid("live/bystander")
    assert [beside[0].conclude(wish + extension(7, text("fec"))), beside[1].conclude(wish)] == [1014, 0]
    for p in beside:
        p.close()
    c.check()


@pytest.mark.long
def test_packets_again(scene):
    """Repeated any number of times, they leave nothing behind."""
    c = scene()
    for i in range(5):
        packets_of(c, i)
    before = c.s.rss()
    for i in range(5, 25):
        packets_of(c, i)
    assert wait_for(lambda: c.s.rss() - before < 4096 * SLOW, 10, 0.2), f"{before} kB became {c.s.rss()} kB"
    c.check()


@pytest.mark.long
def test_one_that_stays_silent(scene):
    """A publisher that sends nothing, or noise, is disconnected after 10 s; a player that acknowledges nothing is sent nothing."""
    c = scene()
    silent, noise, deaf = c.peer().connect("silent", True), c.peer().connect("noise", True), c.peer().connect("bystander")
    begin, n = time.monotonic(), 0
    while time.monotonic() - begin < 13 * SLOW:
        for p in (silent, deaf):
            p.tell(h.KEEPALIVE)
        for _ in range(10):
            noise.say(h.data(noise.first + n, h.rng.randbytes(1316), noise.to, n + 1, int((time.monotonic() - begin) * 1e6)))
            n += 1
        time.sleep(0.1)
    assert silent.ended(0.5) and noise.ended(0.5)
    deaf.sock.setblocking(False)
    bytes_of = 0
    try:
        while True:
            bytes_of += len(deaf.sock.recv(2048))
    except BlockingIOError:
        pass
    assert bytes_of < 1 << 20, bytes_of
    for p in (silent, noise, deaf):
        p.close()
    c.check()


# ---- floods

def flood(c, what, rate, seconds):
    """Returns the rate that was sent, and how long admitting a valid client took meanwhile."""
    p = Proc([sys.executable, PROGRAM, what, "--srt", str(c.port), "--rate", str(rate), "--seconds", str(seconds)],
             os.path.join(c.s.tmp, what + ".out"))
    before, took, most = c.s.rss(), [], 0
    while p.running():
        begin = time.monotonic()
        while True:  # like real clients: they repeat, and retry
            q = c.peer("127.0.9.9").induct()
            code = q.conclude(hsreq() + streamid("#!::r=live/bystander,m=request"), 0.25)
            if code == 0 or time.monotonic() - begin > 10:
                break
            q.sock.close()
        took.append(time.monotonic() - begin)
        q.close()
        most = max(most, c.s.rss())
        time.sleep(0.2)
    assert p.wait(5) == 0, p.text()
    after = wait_for(lambda: c.s.rss() - before < 4096 * SLOW, 5, 0.2)
    print(f"{what}: {p.text().strip()}, {before} kB became {most} kB, then {c.s.rss()} kB; let in after "
          f"{1000 * max(took):.0f} ms at most, of {len(took)}")
    assert after, f"{before} kB became {c.s.rss()} kB"
    assert max(took) < 3 * SLOW, took
    return json.loads(p.text().strip().splitlines()[-1])["per_second"]


@pytest.mark.alone
@pytest.mark.long
@pytest.mark.parametrize("what,rate,seconds", [("inductions", 50000, 5), ("keys", 2000, 20)])
def test_flood(scene, what, rate, seconds):
    c = scene(glob="vhost keys.com { srt { enabled on; passphrase 0123456789abc; } }")
    assert flood(c, what, rate, seconds) > rate / 4
    c.check(0.2)


@pytest.mark.alone
@pytest.mark.long
def test_connect_storm(scene, tmp_path):
    """1,000 players in 2 s, each authorized by a backend: all play within 4 s."""
    b = Backend()
    events = f"on_connect {b.url('/hook')}; on_play {b.url('/hook')};"
    c = scene(vhost=f"http_hooks {{ enabled on; {events} }}", glob="max_connections 3000;")
    out = tmp_path / "storm.json"
    p = Proc([os.path.join(os.path.dirname(procs.BINARY), "sb_srt_load"), "-c", "1000", "--ramp", "500", "--duration", "6",
              "--json", "--bind", "127.0.0.2-127.0.0.41", "-r", f"srt://127.0.0.1:{c.port}?streamid=live/bystander"], tmp_path / "storm.log",
             stdout=open(out, "wb"))
    assert p.wait(30) == 0, p.text()
    got = last_object(out.read_text())
    b.close()
    told = {k: got.get(k) for k in ("alive", "failed", "refused", "connect_ms", "first_byte_ms", "gap_ms")}
    print(told, f"{len(b.events)} hooks")
    assert got["alive"] == got["first_byte_ms"]["count"] == 1000, told
    assert got["first_byte_ms"]["max"] < 4000 * SLOW, told
    c.check(0.2)
