# SPDX-License-Identifier: MIT
"""Hostile SRT peers: handwritten handshakes and packets, one at a time or at a given rate.

Run as a program it is a flood, from many addresses of 127.0.0.0/8:

    python3 test/e2e/hostile_srt.py inductions --srt 10080 --rate 50000 --seconds 5
    python3 test/e2e/hostile_srt.py keys --srt 10080 --rate 2000 --seconds 20

"""
import argparse
import itertools
import json
import os
import random
import socket
import struct
import time

from flood import addresses, paced

rng = random.Random(11)
HANDSHAKE, KEEPALIVE, ACK, NAK, SHUTDOWN, ACKACK, DROP, EXTENSION = 0, 1, 2, 3, 5, 6, 7, 0x7fff
INDUCTION, CONCLUSION, FAR = 1, 0xffffffff, 0x7fffffff
HSREQ, KMREQ, STREAMID, CONGESTION, FILTER, GROUP = 1, 3, 5, 6, 7, 8
VERSION, FLAGS = 0x10501, 0x3f
ids = itertools.count(rng.randrange(1 << 20, 1 << 28))


def control(type, info=0, to=0, body=b"\0\0\0\0", subtype=0, time=0):
    return struct.pack(">HHIII", 0x8000 | type, subtype, info, time & CONCLUSION, to) + body


def data(seq, payload, to, message=1, time=0, flags=0xc0000000):
    return struct.pack(">IIII", seq & FAR, flags | message & 0x3ffffff, time & CONCLUSION, to) + payload


def words(*v):
    return struct.pack(f">{len(v)}I", *(x & CONCLUSION for x in v))


def extension(type, content, length=None):
    content += bytes(-len(content) % 4)
    return struct.pack(">HH", type, len(content) // 4 if length is None else length) + content


def text(s):
    """Encodes the text of an extension: the bytes of each word are reversed."""
    s = s if isinstance(s, bytes) else s.encode()
    s += bytes(-len(s) % 4)
    return b"".join(s[i:i + 4][::-1] for i in range(0, len(s), 4))


def hsreq(version=VERSION, flags=FLAGS, latency=120):
    return extension(HSREQ, struct.pack(">IIHH", version, flags, latency, latency))


def streamid(s):
    return extension(STREAMID, text(s))


def key_message(size=16, keys=1):
    return (bytes([0x12, 0x20, 0x29, keys, 0, 0, 0, 0, 2, 0, 2, 0, 0, 0, 4, size // 4]) + rng.randbytes(16)
            + rng.randbytes(8 + size * (2 if keys == 3 else 1)))


def handshake(kind, id, cookie=0, extensions=b"", version=5, encryption=0, field=5, first=1000, mtu=1500, window=8192):
    return control(HANDSHAKE, body=struct.pack(">IHHIIIIII", version, encryption, field, first, mtu, window, kind, id, cookie)
                   + b"\1\0\0\x7f" + bytes(12) + extensions)


class Peer:
    """A caller under the control of the test."""

    def __init__(self, port, ip="127.0.0.1", timeout=3.0):
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.bind((ip, 0))
        self.sock.connect(("127.0.0.1", port))
        self.sock.settimeout(timeout)
        self.id, self.first, self.cookie, self.to = next(ids), 1000, 0, 0

    def say(self, packet):
        try:
            self.sock.send(packet)
        except OSError:
            pass

    def hear(self, type, timeout=3.0):
        """Returns the body of the next control packet of this type, or None."""
        until = time.monotonic() + timeout
        while (left := until - time.monotonic()) > 0:
            self.sock.settimeout(left)
            try:
                got = self.sock.recv(2048)
            except OSError:
                return None
            if len(got) >= 16 and got[0] >> 7 and struct.unpack(">H", got[:2])[0] & 0x7fff == type:
                return got[16:]
        return None

    def hear_handshake(self, timeout=3.0):
        got = self.hear(HANDSHAKE, timeout)
        return struct.unpack(">IHHIIIIII", got[:32]) if got else None

    def induct(self):
        for _ in range(8):
            self.say(handshake(INDUCTION, self.id, version=4, field=2))
            if (h := self.hear_handshake(0.5)):
                self.cookie = h[8]
                return self
        raise AssertionError("no answer to an induction")

    def conclusion(self, extensions, **how):
        how.setdefault("first", self.first)
        return handshake(CONCLUSION, self.id, self.cookie, extensions, **how)

    def conclude(self, extensions, timeout=3.0, **how):
        """Returns the rejection code, 0 if admitted, None without a response."""
        self.say(self.conclusion(extensions, **how))
        h = self.hear_handshake(timeout)
        if not h:
            return None
        if h[6] != CONCLUSION:
            return h[6]
        self.to = h[7]
        return 0

    def connect(self, stream, publish=False, **how):
        mode = "publish" if publish else "request"
        code = self.induct().conclude(hsreq() + streamid(f"#!::r=live/{stream},m={mode}"), **how)
        assert code == 0, f"{stream}: {code}"
        return self

    def tell(self, type, info=0, body=b"\0\0\0\0", subtype=0):
        self.say(control(type, info, self.to, body, subtype))

    def ended(self, timeout=3.0):
        return self.hear(SHUTDOWN, timeout) is not None

    def close(self):
        if self.to:
            self.tell(SHUTDOWN)
        self.sock.close()


# ---- floods

def inductions(a):
    peers = [Peer(a.srt, ip) for ip in addresses(200)]
    asked = [handshake(INDUCTION, p.id, version=4, field=2) for p in peers]
    return paced(a.rate, a.seconds, lambda n: peers[n % 200].say(asked[n % 200]))


def keys(a):
    peers = [Peer(a.srt, ip).induct() for ip in addresses(200)]

    def say(n):
        p = peers[n % 200]
        p.id = next(ids)
        p.say(p.conclusion(hsreq() + streamid(f"#!::h=keys.com,r=live/flood{n}") + extension(KMREQ, key_message()), encryption=2, field=7))
    return paced(a.rate, a.seconds, say)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["inductions", "keys"])
    parser.add_argument("--srt", type=int, default=10080)
    parser.add_argument("--rate", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=5)
    args = parser.parse_args()
    os.nice(5)
    sent = {"inductions": inductions, "keys": keys}[args.what](args)
    print(json.dumps({"sent": sent, "per_second": round(sent / args.seconds)}))
