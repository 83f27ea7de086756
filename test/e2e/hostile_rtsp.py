# SPDX-License-Identifier: MIT
"""Hostile RTSP peers, each described by its first bytes, the bytes it repeats as fast as possible, and whether it reads.

Run as a program it is a crowd of them, each replaced when the server ends it:

    python3 test/e2e/hostile_rtsp.py --rtsp 8554 --http 8080 --kind mixed --count 100 --seconds 60

"""
import asyncio
import base64
import os
import random
import re
import struct
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from hostile import BLOCK, Crowd, Kind, names, run, times  # noqa: E402

rng = random.Random(11)
HOST = "rtsp://127.0.0.1/live/"
TUNNEL = "application/x-rtsp-tunnelled"
# In opening bytes: waits for a response with a session, and inserts that session's id here.
WAIT, SESSION = b"@WAIT@", b"@SESSION@"


def ask(method, stream="innocent", *fields, track=None, body=b""):
    url = HOST + stream + ("" if track is None else f"/trackID={track}")
    head = "\r\n".join([f"{method} {url} RTSP/1.0", "CSeq: 1", *fields]) + "\r\n"
    return head.encode() + (b"Content-Length: %d\r\n\r\n" % len(body) + body if body else b"\r\n")


def in_session(method, stream="innocent", *fields):
    return ask(method, stream, "Session: " + SESSION.decode(), *fields)


def setup(stream="innocent", track=0, more=""):
    return ask("SETUP", stream, f"Transport: RTP/AVP/TCP;unicast;interleaved={2 * track}-{2 * track + 1}{more}",
               track=track)


def playing(_):
    return ask("DESCRIBE") + setup() + WAIT + in_session("PLAY")


SDP = ("v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nc=IN IP4 0.0.0.0\r\nt=0 0\r\n"
       "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:trackID=0\r\n"
       "a=fmtp:96 packetization-mode=1;sprop-parameter-sets=Z2QADKzZQUGfnwFsgAAAAwCAAAAZB4oUyw==,aOvjyyLA\r\n"
       "m=audio 0 RTP/AVP 97\r\na=rtpmap:97 MPEG4-GENERIC/48000/2\r\na=control:trackID=1\r\n"
       "a=fmtp:97 streamtype=5;profile-level-id=1;mode=AAC-hbr;config=1190;sizelength=13;indexlength=3;"
       "indexdeltalength=3\r\n")


def announce(stream, sdp=SDP):
    return ask("ANNOUNCE", stream, "Content-Type: application/sdp", body=sdp.encode())


def publishing(n):
    stream = f"hostile-{os.getpid()}-{n}"
    return announce(stream) + setup(stream, more=";mode=record") + WAIT + in_session("RECORD", stream)


def frame(channel, data):
    return b"$" + bytes([channel]) + struct.pack(">H", len(data)) + data


def rtp(seq, payload, time=0, marker=False, first=0x80, type=96, channel=0):
    return frame(channel, struct.pack(">BBHII", first, type | 0x80 * marker, seq & 0xffff, time & 0xffffffff, 7) + payload)


def flood(make, size=BLOCK):
    """Concatenates packets up to this many bytes: make(i) is number i."""
    out, i = bytearray(), 0
    while len(out) < size:
        out += make(i)
        i += 1
    return bytes(out)


def fields(n):
    return "\r\n".join(f"m=video -{n} RTP/AVP {i % 128}" for i in range(n)) + "\r\n"


def base64_of(data):
    return base64.b64encode(data)


def get(n, cookie=None):
    cookie = cookie or f"c{os.getpid()}-{n}"
    return f"GET /live/innocent HTTP/1.0\r\nx-sessioncookie: {cookie}\r\nAccept: {TUNNEL}\r\n\r\n".encode()


def post(n):
    return (f"POST /live/innocent HTTP/1.0\r\nx-sessioncookie: c{os.getpid()}-{n}\r\nContent-Type: {TUNNEL}\r\n"
            "Content-Length: 32767\r\n\r\n").encode()


WS = ("GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: rtsp.onvif.org\r\n\r\n").encode()

KEY, START, MIDDLE = b"\x65", b"\x7c\x85", b"\x7c\x05"

KINDS = [
    # -- before authorization
    Kind("connect and leave", "rtsp", lambda n: b"", b""),
    Kind("silent", "rtsp", lambda n: b""),
    Kind("garbage", "rtsp", lambda n: rng.randbytes(3000), rng.randbytes(BLOCK)),
    Kind("a byte at a time", "rtsp", lambda n: b"OPTIONS * ", b"x", 0.02),
    Kind("empty lines", "rtsp", lambda n: b"", times(b"\r\n")),
    Kind("long head", "rtsp", lambda n: b"OPTIONS * RTSP/1.0\r\n", times(b"X-Long: " + b"y" * 200 + b"\r\n")),
    Kind("OPTIONS", "rtsp", lambda n: b"", times(ask("OPTIONS"))),
    Kind("OPTIONS, answers not read", "rtsp", lambda n: b"", times(ask("OPTIONS")), 0.0, False),
    Kind("unknown methods", "rtsp", lambda n: b"", names(lambda i: ask(f"WHAT{i}"))),
    Kind("DESCRIBE", "rtsp", lambda n: b"", times(ask("DESCRIBE"))),
    Kind("DESCRIBE of what is not there", "rtsp", lambda n: b"",
         names(lambda i: ask("DESCRIBE", f"none{i}-{rng.random()}"))),
    Kind("SETUP and TEARDOWN", "rtsp", lambda n: ask("DESCRIBE"), times(setup() + ask("TEARDOWN"))),
    Kind("SETUP of all kinds", "rtsp", lambda n: ask("DESCRIBE"),
         names(lambda i: ask("SETUP", "innocent", f"Transport: RTP/AVP;unicast;client_port={i * 331 % 70000}-{i}",
                             track=i % 20))),
    Kind("bodies", "rtsp", lambda n: b"", times(ask("SET_PARAMETER", body=b"x: y\r\n" * 10000))),
    Kind("answers", "rtsp", lambda n: b"", times(b"RTSP/1.0 200 OK\r\nCSeq: 1\r\n\r\n")),
    # -- players
    Kind("never reads", "rtsp", playing, None, 0.0, False),
    Kind("PLAY and PAUSE", "rtsp", playing, times(in_session("PAUSE") + in_session("PLAY"))),
    Kind("PLAY from everywhere", "rtsp", playing,
         names(lambda i: in_session("PLAY", "innocent", f"Range: npt={i}e{i}-{-i}", f"Scale: {i - 50}e{i}"))),
    Kind("GET_PARAMETER", "rtsp", playing, times(in_session("GET_PARAMETER"))),
    Kind("frames to a player", "rtsp", playing, flood(lambda i: frame(i % 256, rng.randbytes(i * 37 % 3000)))),
    Kind("empty frames to a player", "rtsp", playing, times(b"$\0\0\0")),
    Kind("reports to a player", "rtsp", playing,
         flood(lambda i: frame(i % 4, b"\x81\xc9\0\x07" + rng.randbytes(28) + b"\x9f\xca\xff\xff" + bytes(i % 9)))),
    Kind("plays another", "rtsp", playing, names(lambda i: ask("DESCRIBE", f"other{i}") + ask("SETUP", f"other{i}"))),
    # -- publishers
    Kind("SDP of 60 KB", "rtsp", lambda n: b"", names(lambda i: announce(f"sdp{i}", "v=0\r\n" + fields(2000)))),
    Kind("SDP with much base64", "rtsp", lambda n: b"",
         announce("sprop", SDP.replace("Z2QA", "Z2QA" * 12000))),
    Kind("SDP that does not end", "rtsp", lambda n: ask("ANNOUNCE", "sdp", "Content-Length: 60000"), b"a=x\r\n", 0.05),
    Kind("publishes and stops", "rtsp", lambda n: b"",
         names(lambda i: announce(f"again{i}-{rng.random()}") + ask("TEARDOWN", f"again{i}"))),
    Kind("RTP of 0 to 30 bytes", "rtsp", publishing, flood(lambda i: frame(i % 4, rng.randbytes(i % 31)))),
    Kind("RTP with extensions past the end", "rtsp", publishing,
         flood(lambda i: rtp(i, b"\xbe\xde\xff\xff" + bytes(i % 50), first=0x9f))),
    Kind("RTP with too much padding", "rtsp", publishing, flood(lambda i: rtp(i, bytes(30) + bytes([i % 256]), first=0xa0))),
    Kind("FU that begins and never ends", "rtsp", publishing, flood(lambda i: rtp(i, START + bytes(1300)))),
    Kind("FU without begin", "rtsp", publishing, flood(lambda i: rtp(i, MIDDLE + bytes(1300)))),
    Kind("a frame without end", "rtsp", publishing,
         rtp(0, START + bytes(1300)) + flood(lambda i: rtp(i + 1, MIDDLE + bytes(1300)))),
    Kind("STAP past the end", "rtsp", publishing, flood(lambda i: rtp(i, b"\x78\xff\xff" + bytes(i % 100), i * 3000))),
    Kind("STAP of nothing", "rtsp", publishing, flood(lambda i: rtp(i, b"\x78" + bytes(1300), i * 3000, True))),
    Kind("small key frames", "rtsp", publishing, flood(lambda i: rtp(i, KEY + b"\x88", i * 3000, True))),
    Kind("sets that change", "rtsp", publishing,
         flood(lambda i: rtp(2 * i, b"\x67\x64\0\x0c" + rng.randbytes(20), i) + rtp(2 * i + 1, KEY + b"\x88", i, True))),
    Kind("clocks that jump", "rtsp", publishing,
         flood(lambda i: rtp(i * 4001, KEY + b"\x88", rng.getrandbits(32), True))),
    Kind("large frames", "rtsp", publishing,
         flood(lambda i: rtp(i, KEY + bytes(60000), i * 3000, True), 1 << 20)),
    Kind("empty audio", "rtsp", lambda n: publishing(n).replace(b"interleaved=0-1", b"interleaved=0-1"),
         flood(lambda i: rtp(i, b"\xff\xf0" + b"\xff" * 1000, i * 1024, True, type=97, channel=2))),
    Kind("reports to a server", "rtsp", publishing,
         flood(lambda i: frame(1, b"\x80\xc8\0\x06" + rng.randbytes(24) + b"\x81\xcb\0\x01" + rng.randbytes(4)))),
    # -- tunnels
    Kind("GETs", "rtsp", get),
    Kind("GETs with one cookie", "http", lambda n: get(n, "one")),
    Kind("POSTs", "http", post, times(base64_of(ask("OPTIONS") * 3))),
    Kind("what comes up by the GET", "rtsp", get, times(b"OPTIONS * RTSP/1.0\r\n\r\n")),
    Kind("WebSocket pings", "http", lambda n: WS, times(b"\x89\x84abcdabcd")),
    Kind("WebSocket pings, answers not read", "rtsp", lambda n: WS, times(b"\x89\x84abcdabcd"), 0.0, False),
    Kind("WebSocket fragments", "rtsp", lambda n: WS, b"\x02\x80\0\0\0\0" + times(b"\x00\x80abcd")),
    Kind("WebSocket of zeros", "http", lambda n: WS, times(b"\x82\xfe\xff\xff\0\0\0\0" + b"\r\n" * 32767 + b"\r")),
]
BY_NAME = {k.name: k for k in KINDS}


class RtspCrowd(Crowd):
    def __init__(self, *args):
        super().__init__(*args)
        self.opened = {}

    async def open(self, sock, kind):
        """Sends the opening bytes; inserts a session id that it waits for into everything after."""
        loop = asyncio.get_running_loop()
        *first, last = kind.opening(next(self.serial)).split(WAIT)
        session = b"none"
        for part in first:
            await loop.sock_sendall(sock, part)
            heard = b""
            while not (found := re.search(rb"Session: (\w+)", heard)) and len(heard) < 1 << 20:
                got = await loop.sock_recv(sock, 1 << 16)
                if not got:
                    return None
                heard += got
            session = found[1] if found else session
        await loop.sock_sendall(sock, last.replace(SESSION, session))
        return session

    async def speak(self, sock, kind):
        loop = asyncio.get_running_loop()
        session = await self.open(sock, kind)
        self.opened.setdefault(sock, asyncio.Event()).set()
        flood = kind.flood and session and kind.flood.replace(SESSION, session)
        while flood and not self.over():
            await loop.sock_sendall(sock, flood)
            self.sent += len(flood)
            await asyncio.sleep(kind.pace)
        if kind.flood is None:
            await asyncio.sleep(max(0, self.until - time.monotonic()))

    async def read_all(self, sock):
        await self.opened.setdefault(sock, asyncio.Event()).wait()
        await super().read_all(sock)

    async def session(self, kind):
        await super().session(kind)
        self.opened = {k: v for k, v in self.opened.items() if k.fileno() >= 0}


if __name__ == "__main__":
    run(__doc__, {"rtsp": 8554, "http": 8080}, KINDS, RtspCrowd)
