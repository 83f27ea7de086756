# SPDX-License-Identifier: MIT
"""Hostile WebRTC clients: handwritten offers, checks, handshakes and packets. Media are not encrypted (?dtls=false, which only clients
on this machine may use), so that tests can send any SRTP content.

Run as a program it is a flood of one kind:

    python3 test/e2e/hostile_rtc.py offers --api 1985 --rtc 8000 --seconds 5

"""
import argparse
import binascii
import hashlib
import hmac
import http.client
import itertools
import json
import os
import random
import socket
import struct
import threading
import time

from flood import paced

rng = random.Random(13)
TWCC = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
PWD, COOKIE = "0123456789012345678901", 0x2112a442
VIDEO, SOUND = 102, 111  # payload types
FMTP = {"H264": "packetization-mode=1;profile-level-id=42e01f;level-asymmetry-allowed=1", "VP9": "profile-id=0"}
numbers = itertools.count(rng.randrange(1 << 20))


def offer(publish, codec="H264", ufrag="abcd", more=""):
    way = "sendonly" if publish else "recvonly"
    head = f"c=IN IP4 0.0.0.0\na=ice-ufrag:{ufrag}\na=ice-pwd:{PWD}\na=setup:actpass\na=rtcp-mux\na={way}\n"
    head += "a=fingerprint:sha-256 " + ":".join(["AB"] * 32) + f"\na=extmap:5 {TWCC}\n"
    video = f"m=video 9 UDP/TLS/RTP/SAVPF {VIDEO}\na=mid:0\na=rtpmap:{VIDEO} {codec}/90000\n{head}"
    video += "".join(f"a=rtcp-fb:{VIDEO} {x}\n" for x in ("nack", "nack pli", "ccm fir", "transport-cc"))
    video += f"a=fmtp:{VIDEO} {FMTP[codec]}\n" if codec in FMTP else ""
    sound = f"m=audio 9 UDP/TLS/RTP/SAVPF {SOUND}\na=mid:1\na=rtpmap:{SOUND} opus/48000/2\n{head}"
    return ("v=0\no=- 1 1 IN IP4 0.0.0.0\ns=-\nt=0 0\na=group:BUNDLE 0 1\n" + video + more + sound).replace("\n", "\r\n")


# ---- STUN

def attribute(type, value):
    return struct.pack(">HH", type, len(value)) + value + bytes(-len(value) % 4)


def stun(kind, id, attributes=b"", password=None, fingerprint=True):
    def head(more):
        return struct.pack(">HHI", kind, len(attributes) + more, COOKIE) + id
    body = attributes
    if password is not None:
        mac = hmac.new(password.encode(), head(24) + body, hashlib.sha1).digest()
        attributes = body = body + attribute(8, mac)
    if fingerprint:
        crc = binascii.crc32(head(8) + body) ^ 0x5354554e
        attributes = body + attribute(0x8028, struct.pack(">I", crc))
    return head(0) + attributes


def binding(ours, theirs, password, use=True, id=None):
    a = attribute(6, f"{theirs}:{ours}".encode()) + attribute(0x24, bytes(4)) + attribute(0x802a, bytes(8))
    return stun(1, id or rng.randbytes(12), a + (attribute(0x25, b"") if use else b""), password)


# ---- RTP

def rtp(seq, ts, ssrc, payload, type=VIDEO, marker=False):
    return struct.pack(">BBHII", 0x80, type | marker << 7, seq & 0xffff, ts & 0xffffffff, ssrc) + payload


def rtcp(type, count, body):
    body += bytes(-len(body) % 4)
    return struct.pack(">BBH", 0x80 | count, type, len(body) // 4) + body


def words(*v):
    return struct.pack(f">{len(v)}I", *v)


class Client:
    """A client that publishes or plays, step by step."""

    def __init__(self, api, port, stream, publish=False, ip="127.0.0.1", query="&dtls=false", codec="H264", body=None):
        self.ssrc, self.ours = rng.getrandbits(31), "abcd"
        path = f"/rtc/v1/{'whip' if publish else 'whep'}/?app=live&stream={stream}{query}"
        c = http.client.HTTPConnection("127.0.0.1", api, timeout=10, source_address=(ip, 0))
        c.request("POST", path, body or offer(publish, codec), {"Content-Type": "application/sdp"})
        got = c.getresponse()
        text, self.status, self.location = got.read().decode(), got.status, got.headers["Location"]
        c.close()
        self.answer = dict(x.split(":", 1) for x in text.split("\r\n") if x.startswith("a=") and ":" in x)
        self.text, self.seen = text, []
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.bind((ip, 0))
        self.sock.connect(("127.0.0.1", port))
        if self.status == 201:
            self.theirs, self.pwd = self.answer["a=ice-ufrag"], self.answer["a=ice-pwd"]
            self.ssrcs = [int(x.split(":")[1].split()[0]) for x in text.split("\r\n") if x.startswith("a=ssrc:")]

    def say(self, data):
        try:
            self.sock.send(data)
        except OSError:
            pass

    def hear(self, timeout=0.0):
        self.sock.settimeout(timeout or 0.000001)
        try:
            return self.sock.recv(2048)
        except OSError:
            return b""

    def check(self, timeout=3.0, **how):
        """Returns True if the check was answered."""
        id, until = rng.randbytes(12), time.monotonic() + timeout
        self.say(binding(self.ours, self.theirs, self.pwd, id=id, **how))
        while (left := until - time.monotonic()) > 0:
            got = self.hear(left)
            if got[:2] == b"\1\1" and got[8:20] == id:
                return True
            self.answers(got)
        return False

    def answers(self, got):
        """Answers a check of the server."""
        if got[:2] == b"\0\1":
            self.say(stun(0x101, got[8:20], attribute(0x20, bytes(2) + bytes(6)), PWD))

    def connect(self, timeout=5.0):
        assert self.status == 201, (self.status, self.text)
        assert self.check(timeout), "a check was not answered"
        return self

    def end(self, api):
        c = http.client.HTTPConnection("127.0.0.1", api, timeout=5)
        c.request("DELETE", self.location)
        c.getresponse().read()
        c.close()
        self.sock.close()

    def close(self):
        self.sock.close()


# ---- payloads that are not frames, or oversized

def of_units(head, sizes):
    return head + b"".join(struct.pack(">H", n) + b"\x41" * min(n, 8) for n in sizes)


def bombs(codec):
    """Packets of (payload, marker): each list has one timestamp."""
    fu = {"H264": (b"\x7c\x85", b"\x7c\x05", b"\x7c\x45"), "H265": (b"\x62\x01\x93", b"\x62\x01\x13", b"\x62\x01\x53")}
    start, middle, end = fu.get(codec, (b"\x50", b"\xd0", b"\x90"))
    many = b"\x18" if codec == "H264" else b"\x60\x01" if codec == "H265" else b"\0"
    yield [(start + bytes(1190), False)] + [(middle + bytes(1190), False)] * 3700 + [(end, True)]  # over 4 MB
    yield [(many + b"\0\1\x41" * 390, False)] * 20 + [(many + b"\0\1\x41", True)]  # over 4,000 units
    yield [(of_units(many, [0] * 500), True)]
    yield [(of_units(many, [65535]), True)]
    yield [(of_units(many, [8, 8, 9]), True)]
    yield [(middle + bytes(100), False)] * 300 + [(end, True)]  # its start is missing
    yield [(start, False)] * 300
    yield [(b"", True)] * 300
    yield [(bytes([b]), True) for b in range(256)]
    yield [(bytes([b, c]) + bytes(20), True) for b in range(0, 256, 5) for c in (0, 1, 127, 128, 255)]
    yield [(b"\xff" * n, True) for n in range(1, 1200, 7)]
    yield [(rng.randbytes(rng.randrange(1400)), rng.random() < 0.1) for _ in range(1000)]
    if codec == "AV1":
        yield [(b"\0" + b"\x01\x10" * 500, False)] * 9 + [(b"\0\x01\x10", True)]
        yield [(b"\x08" + b"\xff" * 9 + bytes(100), True), (b"\x30\xff\xff\xff\x0f", True), (b"\x38\x81\x80\x80", True)]
    if codec == "VP9":
        yield [(bytes([0x8a | b]) + rng.randbytes(40), True) for b in range(128)]
        yield [(b"\x8a\xff\xff\xff" + b"\xff" * n, True) for n in range(60)]


def bomb(a, codec):
    c = Client(a.api, a.rtc, f"bomb{codec}", True, codec=codec, query=f"&dtls=false&codec={codec.lower()}").connect()
    packets = [(payload, marker, at) for at, v in enumerate(bombs(codec)) for payload, marker in v]

    def one(i):
        payload, marker, at = packets[i % len(packets)]
        ts = 3000 * (at + 1000 * (i // len(packets)))
        c.say(rtp(i, ts, c.ssrc, payload, VIDEO, marker))
        if i % 7 == 0:
            c.say(rtp(i // 7, 48 * i, c.ssrc + 1, payload, SOUND))
        if i % 4000 == 0:
            c.check(0.1)
    n = paced(a.rate, a.seconds, one)
    c.end(a.api)
    return n


# ---- floods

def sockets(port, n):
    """Opens sockets on n addresses."""
    v = []
    for i in range(n):
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.bind((f"127.{1 + i % 50}.{i // 50 % 250}.{1 + i % 250}", 0))
        s.connect(("127.0.0.1", port))
        s.setblocking(False)
        v.append(s)
    return v


def say(s, data):
    try:
        s.send(data)
    except OSError:
        pass


def heard(v):
    """Number of datagrams that all sockets received."""
    n = 0
    for s in v:
        try:
            while s.recv(2048):
                n += 1
        except OSError:
            pass
    return n


def requests(a, make):
    """Sends make(i): method, path, body, headers, over eight persistent connections. Returns the number of responses by status."""
    statuses, lock, serial = {}, threading.Lock(), itertools.count()
    until = time.monotonic() + a.seconds

    def run(k):
        c = None
        while time.monotonic() < until:
            method, path, body, headers = make(next(serial))
            try:
                c = c or http.client.HTTPConnection("127.0.0.1", a.api, timeout=5, source_address=(f"127.9.{k}.1", 0))
                c.request(method, path, body, headers)
                r = c.getresponse()
                r.read()
                status = r.status
                if r.headers.get("Connection") == "close":
                    c.close()
                    c = None
            except (OSError, http.client.HTTPException):
                status, c = 0, None
            with lock:
                statuses[status] = statuses.get(status, 0) + 1
            time.sleep(8 / a.rate)
    threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return sum(statuses.values()), {"statuses": statuses}


def offers(a):
    good = offer(False)
    bodies = [good, offer(True), good + "\0", good.replace("a=mid:0", "a=mid:0\0\0"), good.replace("abcd", "ab:cd"),
              good + "".join(f"a=candidate:{i} 1 udp 1 10.0.{i >> 8}.{i & 255} {i} typ host\r\n" for i in range(10000)),
              good + "a=x:" + "y" * 70000, "v=0\r\n" + "a=\r\n" * 15000, good + "m=audio 9 UDP/TLS/RTP/SAVPF 0\r\n" * 5000,
              rng.randbytes(3000), "", good.replace("\r\n", ""), good * 20]

    def make(i):
        body = bodies[i // 2 % len(bodies)] if i % 2 else good[:i // 2 % len(good)]
        path = f"/rtc/v1/{'whip' if i % 3 else 'whep'}/?app=live&stream=o{i}"
        return "POST", path, body, {"Content-Type": "application/sdp"}
    return requests(a, make)


def strangers(a):
    """DELETE and PATCH of sessions of others."""
    c = Client(a.api, a.rtc, "mine").connect()
    wrong = c.location.replace("token=", "token=x")
    kind = {"Content-Type": "application/trickle-ice-sdpfrag"}
    body = "a=ice-ufrag:wxyz\r\na=ice-pwd:0123456789012345678901\r\n"

    def make(i):
        path = wrong if i % 3 == 0 else f"/rtc/v1/whip/?token={'t' * 16}&session={'AB+'[i % 3]}{i:07d}:abcd"
        return ("DELETE", path, None, {}) if i % 2 else ("PATCH", path, body, kind)
    n, more = requests(a, make)
    assert c.check(), "the session is gone"
    return n, more


def unused(a):
    """Answers that no client uses."""
    v = [Client(a.api, a.rtc, f"u{k}-{i}", i % 2 == 0, ip=f"127.8.{k}.1").status for k in range(10) for i in range(70)]
    return len(v), {"statuses": {s: v.count(s) for s in set(v)}}


def checks(a):
    """Checks of unknown peers, and of one that knows the names of a session: none is answered."""
    c = Client(a.api, a.rtc, "bystander").connect()
    v = sockets(a.rtc, 100)
    names = attribute(6, f"{c.theirs}:{c.ours}".encode())
    kinds = [lambda i: stun(1, rng.randbytes(12), names), lambda i: stun(1, rng.randbytes(12), names, "wrong" * 5),
             lambda i: binding(c.ours, "ABCDabcd"[i % 8] + f"{i:07d}", c.pwd),
             lambda i: binding("other", c.theirs, c.pwd), lambda i: stun(0x101, rng.randbytes(12), b"", c.pwd),
             lambda i: stun(0x111, bytes([i % 5]) + rng.randbytes(11), b"", PWD), lambda i: bytes([i & 3]) + rng.randbytes(i % 600),
             lambda i: stun(1, rng.randbytes(12), names, c.pwd)[:i % 60], lambda i: stun(0x11, rng.randbytes(12), names, c.pwd),
             lambda i: stun(1, rng.randbytes(12), names + attribute(0x7fff, rng.randbytes(i % 300)), "wrong")]
    n = paced(a.rate, a.seconds, lambda i: say(v[i % 100], kinds[i // 100 % len(kinds)](i)))
    assert c.check(), "the session is gone"
    return n, {"answered": heard(v)}


def replays(a):
    """Replays packets of the session from other addresses: none is answered, and its media keep their address."""
    c = Client(a.api, a.rtc, "bystander").connect()
    v = sockets(a.rtc, 100)
    said = [binding(c.ours, c.theirs, c.pwd) for _ in range(20)]
    for s in said:
        c.say(s)
        c.say(rtcp(201, 0, words(c.ssrc)))
        time.sleep(0.03)
    n = paced(a.rate, a.seconds, lambda i: say(v[i % 100], said[i // 100 % 20]))
    got = heard(v)
    assert c.check(), "the session is gone"
    begin, media = time.monotonic(), 0
    while time.monotonic() - begin < 1:
        media += c.hear(0.1)[:1] in (b"\x80", b"\x90")
    return n, {"answered": got, "media": media}


def many_checks(a):
    """Valid checks, more than the server answers."""
    v = [Client(a.api, a.rtc, "bystander", ip=f"127.7.0.{i + 1}").connect() for i in range(20)]
    return paced(a.rate, a.seconds, lambda i: v[i % 20].say(binding("abcd", v[i % 20].theirs, v[i % 20].pwd)))


HELLO = bytes.fromhex("fefd") + bytes(range(32)) + b"\0\0" + b"\0\4\xc0\x2b\xc0\x2f" + b"\1\0" + bytes.fromhex(
    "002a" "000a00040002001d" "000b00020100" "000d0006000404030804" "000e0005000200070000"[:-4] + "170000"[:0])


def record(type, body, epoch=0, number=0, length=None):
    return struct.pack(">BHHHIH", type, 0xfefd, epoch, 0, number, len(body) if length is None else length) + body


def message(type, seq, body, at=0, total=None, length=None):
    n = len(body) if length is None else length
    total = len(body) if total is None else total
    return bytes([type]) + total.to_bytes(3, "big") + struct.pack(">H", seq) + at.to_bytes(3, "big") + n.to_bytes(3, "big") + body


def handshakes(a):
    v = [Client(a.api, a.rtc, "bystander", ip=f"127.6.{i // 50}.{i % 50 + 1}", query="").connect() for i in range(100)]
    kinds = [lambda i: record(22, message(1, 0, HELLO), number=i), lambda i: record(22, rng.randbytes(i % 1200), number=i),
             lambda i: record(22, message(1, 0, b"x", i % 30000, 30000), number=i),
             lambda i: record(22, message(1, i % 40, b"x", 0, 0xffffff), number=i), lambda i: record(22, b"", number=i),
             lambda i: record(22, b"\1" * 20, number=i, length=0) + bytes(20), lambda i: record(23, rng.randbytes(100), 1, i),
             lambda i: record(20, b"\1", number=i), lambda i: record(21, b"\1\0", number=i) if i % 50 == 0 else b"\x16",
             lambda i: bytes([20 + i % 44]) + rng.randbytes(i % 1400), lambda i: b"", lambda i: record(22, bytes(1400), length=20000),
             lambda i: b"".join(record(22, message(1, 0, HELLO[:i % 40]), number=i + k) for k in range(20))]
    n = paced(a.rate, a.seconds, lambda i: v[i % 100].say(kinds[i // 100 % len(kinds)](i)))
    return n, {"answered": heard([c.sock for c in v if not c.sock.setblocking(False)])}


def reports(a):
    """Players that request everything, and report impossible values."""
    v = [Client(a.api, a.rtc, "bystander", ip=f"127.5.0.{i + 1}").connect() for i in range(20)]

    def lists(c):
        ssrc, at = c.ssrcs[0] if c.ssrcs else 1, rng.getrandbits(16)
        return [rtcp(205, 1, words(c.ssrc, ssrc) + b"".join(struct.pack(">HH", at + 17 * k & 0xffff, 0xffff) for k in range(250))),
                rtcp(206, 1, words(c.ssrc, ssrc)), rtcp(206, 4, words(c.ssrc, ssrc, ssrc, at << 16)),
                rtcp(205, 15, words(c.ssrc, ssrc) + rng.randbytes(400)), rtcp(201, 31, words(c.ssrc) + rng.randbytes(744)),
                rtcp(201, 1, words(c.ssrc, ssrc, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0)),
                rtcp(200, 0, words(c.ssrc, *[rng.getrandbits(32) for _ in range(5)])), rtcp(203, 31, b""), rtcp(202, 31, b"\1\xff"),
                rtcp(207, 0, words(c.ssrc) + rng.randbytes(200)), struct.pack(">BBH", 0x81, 205, 65535) + bytes(40),
                rtcp(206, 15, words(c.ssrc, 0) + b"REMB\xff\xff\xff\xff"), bytes([0x80, 192 + at % 32]) + rng.randbytes(at % 1200)]
    return paced(a.rate, a.seconds, lambda i: v[i % 20].say(lists(v[i % 20])[i // 20 % 13]))


def sources(a):
    """A publisher with 100,000 sources whose numbers and times jump."""
    c = Client(a.api, a.rtc, "sources", True).connect()

    def one(i):
        ssrc = c.ssrc if i % 3 == 0 else i
        c.say(rtp(rng.getrandbits(16), rng.getrandbits(32), ssrc, b"\x65" + bytes(40), VIDEO if i % 2 else SOUND, i % 4 == 0))
        if i % 100 == 0:
            c.say(rtcp(200, 0, words(ssrc, *[rng.getrandbits(32) for _ in range(5)])))
            c.say(rtcp(203, 1, words(ssrc)))
            c.say(bytes([0x9f | i & 0x20, VIDEO]) + rng.randbytes(i % 100 + 10))
    n = paced(a.rate, a.seconds, one)
    assert c.check(), "the session is gone"
    return n


KINDS = {"offers": offers, "strangers": strangers, "unused": unused, "checks": checks, "replays": replays,
         "many checks": many_checks, "handshakes": handshakes, "reports": reports, "sources": sources,
         **{f"bombs of {c}": lambda a, c=c: bomb(a, c) for c in ("H264", "H265", "AV1", "VP9", "VP8")}}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=KINDS)
    parser.add_argument("--api", type=int, default=1985)
    parser.add_argument("--rtc", type=int, default=8000)
    parser.add_argument("--rate", type=int, default=20000)
    parser.add_argument("--seconds", type=float, default=5)
    args = parser.parse_args()
    os.nice(5)
    sent = KINDS[args.what](args)
    sent, facts = sent if isinstance(sent, tuple) else (sent, {})
    print(json.dumps({"sent": sent, "per_second": round(sent / args.seconds), **facts}))
