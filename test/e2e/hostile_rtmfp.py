# SPDX-License-Identifier: MIT
"""Hostile RTMFP peers: handshakes chunk by chunk, and sessions with messages that no real client sends.

Run as a program it is a flood of one kind, from many addresses of 127.0.0.0/8:

    python3 test/e2e/hostile_rtmfp.py hellos --rtmfp 1935 --rate 20000 --seconds 5

"""
import argparse
import json
import os
import random
import socket
import struct

import rtmfp
import rtmfp_wire as w
from flood import addresses, paced
from rtmfp_flow import tc
from rtmfp_wire import chunk, counted, option, vlu

rng = random.Random(17)
MOST = 2 ** 64 - 1
URI = w.to_uri("rtmfp://127.0.0.1/live")


def hello(epd=URI, tag=b"0123456789abcdef"):
    return chunk(w.IHELLO, counted(epd) + tag)


def keying(cookie, identity, id=77, certificate=None, skic=None):
    asked = identity.asks()[0] if skic is None else skic
    return chunk(w.IIKEYING, struct.pack(">I", id) + counted(cookie) +
                 counted(identity.certificate if certificate is None else certificate) + counted(asked) + b"X")


def with_key(key, group=2):
    """Returns a SKIC with this public key."""
    return option(0x0d, vlu(group) + key) + option(0x0e, rng.randbytes(64))


def datagram(chunks, mode=w.STARTUP, id=0):
    return w.Way().seal(id, w.plain(mode, chunks, 1))


class Stranger:
    """A socket that sends arbitrary packets to session 0."""

    def __init__(self, port, ip="127.0.0.1"):
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.bind((ip, 0))
        self.sock.connect(("127.0.0.1", port))

    def say(self, *chunks, **how):
        self.raw(datagram(chunks, **how))

    def raw(self, data):
        try:
            self.sock.send(data)
        except OSError:
            pass

    def hear(self, timeout=2.0):
        """Returns (session id, first chunk), or None. Ignores packets sealed with other keys."""
        self.sock.settimeout(timeout)
        while True:
            try:
                data = self.sock.recv(4096)
                return w.ident_of(data), w.parse(w.Way().open(data)).chunks[0]
            except ValueError:
                continue
            except OSError:
                return None

    def cookie(self):
        self.say(hello())
        r = w.Reader(self.hear()[1].data)
        r.counted()
        return r.counted()

    def opened(self, timeout=2.0):
        """Returns SKRC of the RIKeying that arrives, or None."""
        got = self.hear(timeout)
        if not got or got[1].type != w.RIKEYING:
            return None
        r = w.Reader(got[1].data)
        r.u32()
        return r.counted()


# ---- messages of a session

def data(flow=9, seq=1, offset=1, body=b"", flags=0, metadata=tc(0)):
    options = option(0, metadata) + b"\0" if metadata else b""
    return chunk(w.DATA, bytes([flags | (0x80 if options else 0)]) + vlu(flow) + vlu(seq) + vlu(offset) + options + body)


def following(body=b"", flags=0):
    return chunk(w.NEXT_DATA, bytes([flags]) + body)


def ack(flow, upto, window=64, *more):
    return chunk(w.ACK_RANGES, vlu(flow) + vlu(window) + vlu(upto) + b"".join(map(vlu, more)))


def largest():
    """Sets every number to 64 one bits."""
    return [data(MOST, MOST, MOST), data(1, MOST, 1), data(2, MOST, MOST - 1, b"x", 1), following(b"y"),
            ack(1, MOST, MOST, MOST, MOST), ack(MOST, 0), ack(1, 0, 2 ** 63),
            chunk(w.ACK_BITS, vlu(1) + vlu(1) + vlu(MOST) + b"\xff"), chunk(w.PROBE, vlu(MOST)),
            chunk(w.EXCEPTION, vlu(MOST) + vlu(MOST)), chunk(w.DATA, b"\0" + b"\xff" * 10 + b"\x7f\1\1")]


# ---- floods

def strangers(a, n=200):
    return [Stranger(a.rtmfp, ip) for ip in addresses(n)]


def hellos(a):
    """Hellos that are never continued."""
    peers, asked = strangers(a), datagram([hello()])
    return paced(a.rate, a.seconds, lambda n: peers[n % len(peers)].raw(asked))


def cookies(a):
    """Keys with invented cookies."""
    peers, me = strangers(a), rtmfp.Identity()
    skic = me.asks()[0]
    asked = [datagram([keying(rng.randbytes(64), me, 1 + i, skic=skic)]) for i in range(256)]
    return paced(a.rate, a.seconds, lambda n: peers[n % len(peers)].raw(asked[n % 256]))


def keys(a):
    """Handshakes with valid cookies: each costs a helper thread an exponentiation."""
    peers, me = strangers(a), rtmfp.Identity()
    skic = me.asks()[0]
    own = [p.cookie() for p in peers]

    def say(n):
        i = n % len(peers)
        peers[i].raw(datagram([keying(own[i], me, 1 + n, skic=skic)]))
    return paced(a.rate, a.seconds, say)


def noise(a):
    """Packets to sessions that do not exist."""
    peers = strangers(a)
    made = [rng.randbytes(4 + 16 * (1 + i % 70)) for i in range(500)]
    return paced(a.rate, a.seconds, lambda n: peers[n % len(peers)].raw(made[n % 500]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["hellos", "cookies", "keys", "noise"])
    parser.add_argument("--rtmfp", type=int, default=1935)
    parser.add_argument("--rate", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=5)
    args = parser.parse_args()
    os.nice(5)
    sent = {"hellos": hellos, "cookies": cookies, "keys": keys, "noise": noise}[args.what](args)
    print(json.dumps({"sent": sent, "per_second": round(sent / args.seconds)}))
