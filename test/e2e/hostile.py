# SPDX-License-Identifier: MIT
"""Hostile peers, each described by its first bytes, the bytes it repeats as fast as possible, and whether it reads.

Run as a program it is a crowd of them, each replaced when the server ends it:

    python3 test/e2e/hostile.py --rtmp 1935 --http 8080 --kind mixed --count 1000 --seconds 60

"""
import argparse
import asyncio
import itertools
import json
import os
import random
import socket
import struct
import sys
import time
from collections import namedtuple

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import amf  # noqa: E402
from rtmpclient import (ABORT, AMF3_CMD, AUDIO, CMD, DATA, PING, SET_BUFFER, SET_CHUNK_SIZE, USER,  # noqa: E402
                        VIDEO, WIN_ACK, ChunkWriter, make_c1)

# port: "rtmp" or "http"; opening(n): the first bytes of connection n; flood: bytes repeated without
# end, or None; pace: seconds between two of them; read: False never reads from the server;
# talk(crowd, n): a coroutine that runs connection n instead, and calls crowd.connected() itself
Kind = namedtuple("Kind", "name port opening flood pace read talk", defaults=(None, None, 0.0, True, None))
BLOCK = 64 * 1024  # bytes of a flood sent at once
rng = random.Random(7)


def times(what, size=BLOCK):
    return what * max(1, size // len(what))


class Talk:
    """Messages of an RTMP client that does not wait for responses."""

    def __init__(self, app="live"):
        self.w = ChunkWriter()
        self.out = bytearray(b"\x03" + make_c1("simple") + bytes(1536))
        self.command("connect", {"app": app, "tcUrl": f"rtmp://127.0.0.1/{app}"})
        self.set_chunk_size(60000)

    def message(self, csid, type, sid, body, ts=0):
        self.out += self.w.message(csid, type, ts, sid, body)
        return self

    def command(self, name, *args, sid=0, csid=3, tid=1.0):
        return self.message(csid, CMD, sid, amf.encode(name, tid, *args))

    def set_chunk_size(self, n):
        self.message(2, SET_CHUNK_SIZE, 0, struct.pack(">I", n))
        self.w.size = n
        return self

    def play(self, stream="innocent", sid=1.0):
        return self.command("createStream", None).command("play", None, stream, sid=int(sid), csid=8)

    def publish(self, stream):
        return self.command("createStream", None).command("publish", None, stream, "live", sid=1, csid=8)


def said(*messages, size=60000):
    """Returns messages (csid, type, sid, body) as chunks that do not depend on earlier ones."""
    out = bytearray()
    for csid, type, sid, body in messages:
        w = ChunkWriter()
        w.size = size
        out += w.message(csid, type, 0, sid, body, fmt=0)
    return bytes(out)


def call(name, *args, sid=0, csid=3):
    return csid, CMD, sid, amf.encode(name, 0.0, *args)


def connected(n):
    return bytes(Talk().out)


def playing(n):
    return bytes(Talk().play().out)


def publishing(n):
    return bytes(Talk().publish(f"hostile{n}").out)


KEYS = 250


def in_turn(parts, n):
    """Returns n of them in a cycle."""
    return b"".join(parts) * (n // len(parts)) + b"".join(parts[:n % len(parts)])


def same_keys_amf3(repeats, size=500):
    """An AMF3 object whose long keys repeat by reference: cheap to send, expensive to compare."""
    obj = b"\x0a\x0b\x01"  # an anonymous dynamic object
    for i in range(KEYS):
        key = b"k" * (size - 3) + b"%03d" % i
        obj += u29(len(key) << 1 | 1) + key + b"\x01"
    obj += in_turn([u29(i << 1) + b"\x01" for i in range(KEYS)], repeats)
    return b"\x00" + amf.encode("connect", 1.0) + b"\x11" + obj + b"\x01"


def u29(n):
    if n < 0x80:
        return bytes([n])
    if n < 0x4000:
        return bytes([n >> 7 | 0x80, n & 0x7f])
    return bytes([n >> 14 | 0x80, n >> 7 & 0x7f | 0x80, n & 0x7f])


def same_keys_amf0(n):
    """A call with an AMF0 object of n members, 250 of them different."""
    parts = [struct.pack(">H", 500) + b"k" * 497 + b"%03d" % i + b"\x05" for i in range(KEYS)]
    return amf.encode("call", 0.0) + b"\x03" + in_turn(parts, n) + b"\0\0\x09"


def unfinished(csid, size, length):
    """The first chunk of a message that claims to be longer."""
    w = ChunkWriter()
    w.size = 60000
    return w.chunks(csid, VIDEO, 0, 1, bytes(size), fmt=0, length=length)[0]


def video(size, key=True, body=0x41):
    return bytes([0x17 if key else 0x27, 1, 0, 0, 0]) + size.to_bytes(4, "big") + bytes([body]) * size


AVC = bytes.fromhex("1700000000" "0164001fffe1001867640 01facd9405005bb016a02020280000003008000001e478c18cb"
                    "01000568ebecb22c".replace(" ", ""))


def names(make):
    """A flood of unique names."""
    return b"".join(make(i) for i in range(200))


def get(path, *headers):
    return ("\r\n".join([f"GET {path} HTTP/1.1", "Host: localhost", *headers]) + "\r\n\r\n").encode()


WS = get("/live/innocent.flv", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
         "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")

KINDS = [
    # -- before authorization
    Kind("connect and leave", "rtmp", lambda n: b"", b""),
    Kind("silent", "rtmp", lambda n: b""),
    Kind("garbage", "rtmp", lambda n: b"\x03" + rng.randbytes(3072), rng.randbytes(BLOCK)),
    Kind("handshakes", "rtmp", lambda n: b"\x03" + make_c1("complex0") + bytes(1536), b""),
    Kind("a byte at a time", "rtmp", lambda n: b"\x03", b"\x00", 0.02),
    Kind("AMF3 keys by reference", "rtmp", connected, said((3, AMF3_CMD, 0, same_keys_amf3(1000000)))),
    Kind("short AMF3 keys by reference", "rtmp", connected, said((3, AMF3_CMD, 0, same_keys_amf3(30000, 120)))),
    Kind("AMF0 keys alike", "rtmp", connected, said((3, CMD, 0, same_keys_amf0(20000)))),
    Kind("AMF0 keys, small", "rtmp", connected, said((3, CMD, 0, same_keys_amf0(120)))),
    Kind("nested AMF", "rtmp", connected, said((3, CMD, 0, amf.encode("call", 0.0) + b"\x03\x00\x01a" * 9000))),
    Kind("commands without end", "rtmp", connected, times(said(call("createStream", None)))),
    Kind("unknown commands", "rtmp", connected, times(said(call("\n[forged]\n" + "x" * 100, "y" * 100)))),
    Kind("messages that do not end", "rtmp", connected,
         b"".join(unfinished(4 + i, 60000, 66000) for i in range(350)), 0.01),
    Kind("chunk streams", "rtmp", connected,
         b"".join(unfinished(64 + i, 60000, 60001) for i in range(500))),
    Kind("aborts and acks", "rtmp", connected,
         times(said((2, ABORT, 0, bytes(4)), (2, WIN_ACK, 0, struct.pack(">I", 1))))),
    # -- players
    Kind("wants neither", "rtmp", playing,
         said(call("receiveVideo", None, False, sid=1), call("receiveAudio", None, False, sid=1)), 0.5),
    Kind("receiveVideo", "rtmp", playing,
         times(said(call("receiveVideo", None, False, sid=1), call("receiveVideo", None, True, sid=1)))),
    Kind("pause", "rtmp", playing,
         times(said(call("pause", None, True, 0.0, sid=1), call("pause", None, False, 0.0, sid=1)))),
    Kind("pings", "rtmp", playing, times(said((2, USER, 0, struct.pack(">HI", PING, 7))))),
    Kind("buffer lengths", "rtmp", playing, times(said((2, USER, 0, struct.pack(">HII", SET_BUFFER, 1, 9))))),
    Kind("plays again", "rtmp", playing,
         names(lambda i: said(call("closeStream", None, sid=1), call("play", None, f"other{i}", sid=1)))),
    Kind("never reads", "rtmp", playing, None, 0.0, False),
    # -- publishers
    Kind("metadata", "rtmp", publishing,
         said((4, DATA, 1, amf.encode("@setDataFrame", "onMetaData", {f"k{i}": "v" * 50 for i in range(900)})))),
    Kind("configurations", "rtmp", publishing,
         times(said((6, VIDEO, 1, AVC), (6, VIDEO, 1, video(10)), (6, VIDEO, 1, AVC[:-1] + b"\x2d")))),
    Kind("small messages", "rtmp", publishing, times(said((6, VIDEO, 1, b"\x27"), (4, AUDIO, 1, b"\xaf")))),
    Kind("large key frames", "rtmp", publishing, said((6, VIDEO, 1, AVC), (6, VIDEO, 1, video(1 << 20)))),
    Kind("publishes and stops", "rtmp", connected,
         names(lambda i: said(call("createStream", None), call("publish", None, f"many{i}-{rng.random()}", sid=1),
                              call("deleteStream", None, 1.0)))),
    # -- HTTP
    Kind("empty lines", "http", lambda n: b"", times(b"\r\n")),
    Kind("slow head", "http", lambda n: b"GET / HTTP/1.1\r\n", b"X-A: b\r\n", 0.05),
    Kind("long head", "http", lambda n: b"GET / HTTP/1.1\r\n", times(b"X-Long: " + b"y" * 200 + b"\r\n")),
    Kind("many requests", "http", lambda n: b"", times(get("/none"))),
    Kind("files", "http", lambda n: b"", times(get("/big.bin"), 1000)),
    Kind("texts", "http", lambda n: b"", times(get("/big.js", "Accept-Encoding: gzip"), 1000)),
    Kind("ranges", "http", lambda n: b"", times(get("/big.bin", "Range: bytes=0-1,5-6,9-10,20-,-5"))),
    Kind("lists", "http", lambda n: b"", names(lambda i: get(f"/live/innocent.m3u8?n={i}"))),
    Kind("API", "http", lambda n: b"", times(get("/api/v1/clients/?count=1000") + get("/api/v1/streams/"), 4000)),
    Kind("wrong passwords", "http", lambda n: b"", times(get("/api/v1/raw?rpc=raw", "Authorization: Basic YTpi"), 4000)),
    Kind("WebSocket pings", "http", lambda n: WS, times(b"\x89\x84abcdabcd")),
    Kind("WebSocket fragments", "http", lambda n: WS, b"\x01\x81abcda" + times(b"\x00\x81abcda")),
    Kind("HTTP-FLV never read", "http", lambda n: get("/live/innocent.flv"), None, 0.0, False),
    Kind("chunked body", "http",
         lambda n: b"POST /api/v1/clients/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
         times(b"1\r\nx\r\n")),
]
BY_NAME = {k.name: k for k in KINDS}


class Crowd:
    """Connections of some kinds, each replaced when it ends."""

    def __init__(self, ports, kinds, count, seconds):
        self.ports, self.kinds, self.count = ports, kinds, count
        self.until = time.monotonic() + seconds
        self.serial = itertools.count()
        self.connects = self.refused = self.sent = 0

    def over(self):
        return time.monotonic() >= self.until

    async def read_all(self, sock):
        loop = asyncio.get_running_loop()
        while await loop.sock_recv(sock, 1 << 16):
            pass

    async def speak(self, sock, kind):
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(sock, kind.opening(next(self.serial)))
        while kind.flood and not self.over():
            await loop.sock_sendall(sock, kind.flood)
            self.sent += len(kind.flood)
            await asyncio.sleep(kind.pace)
        if kind.flood is None:
            await asyncio.sleep(max(0, self.until - time.monotonic()))

    def connected(self):
        self.connects += 1

    async def talk(self, kind):
        try:
            await asyncio.wait_for(kind.talk(self, next(self.serial)), max(0.0, self.until - time.monotonic()))
        except asyncio.TimeoutError:
            pass
        except (OSError, EOFError):  # rejected, or ended by the server
            self.refused += 1

    async def session(self, kind):
        """Runs one connection until either side ends it."""
        if kind.talk:
            return await self.talk(kind)
        loop = asyncio.get_running_loop()
        sock = socket.socket()
        sock.setblocking(False)
        parts = []
        try:
            await loop.sock_connect(sock, ("127.0.0.1", self.ports[kind.port]))
            self.connected()
            parts = [asyncio.ensure_future(self.speak(sock, kind))]
            if kind.read:
                parts.append(asyncio.ensure_future(self.read_all(sock)))
            await asyncio.wait(parts, timeout=max(0.0, self.until - time.monotonic()),
                               return_when=asyncio.FIRST_COMPLETED)
        except OSError:
            self.refused += 1
        finally:
            for p in parts:
                p.cancel()
            await asyncio.gather(*parts, return_exceptions=True)
            sock.close()

    async def peer(self, kind):
        while not self.over():
            await self.session(kind)
            await asyncio.sleep(0.001 if self.count == 1 else 0.2)

    async def run(self):
        kinds = itertools.cycle(self.kinds)
        await asyncio.gather(*(self.peer(next(kinds)) for _ in range(self.count)))
        return {"connects": self.connects, "refused": self.refused, "sent": self.sent}


def run(doc, ports, kinds, crowd):
    """Main program of such a crowd; ports: option names and default numbers."""
    by_name = {k.name: k for k in kinds}
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, usual in ports.items():
        p.add_argument(f"--{name}", type=int, default=usual)
    p.add_argument("--kind", default="mixed", help="mixed, or some of these, one after the other, those with | between them at once: " + "; ".join(by_name))
    p.add_argument("--count", type=int, default=1)
    p.add_argument("--seconds", type=float, default=10)
    p.add_argument("--go", help="say that it is ready, and begin when there is such a file")
    a = p.parse_args()
    if a.go:
        print("ready", flush=True)
    while a.go and not os.path.exists(a.go):
        time.sleep(0.02)
    groups = [list(kinds)] if a.kind == "mixed" else [[by_name[k] for k in g.split("|")] for g in a.kind.split(";")]
    for group in groups:
        done = asyncio.run(crowd(vars(a), group, a.count, a.seconds / len(groups)).run())
        assert done["connects"] > 0, group
    print(json.dumps(done))


if __name__ == "__main__":
    run(__doc__, {"rtmp": 1935, "http": 8080}, KINDS, Crowd)
