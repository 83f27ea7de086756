# SPDX-License-Identifier: MIT
"""Hostile clients of all protocols together: those of hostile.py and hostile_rtsp.py, and those of WebRTC, SRT, RTMFP and TLS,
and those that must wait for a response.

    python3 test/e2e/hostile_all.py --rtmp 1935 --http 8080 --https 8088 --rtc 8000 --rtsp 8554 --srt 10080 --rtmfp 1935 \
        --kind mixed --count 1000 --seconds 60

"""
import asyncio
import base64
import contextlib
import os
import random
import socket
import struct
import sys
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import amf  # noqa: E402
import hostile  # noqa: E402
import hostile_rtc as rtc  # noqa: E402
import hostile_rtmfp  # noqa: E402
import hostile_rtsp as rtsp  # noqa: E402
import hostile_srt as srt  # noqa: E402
import rtmfp  # noqa: E402
import rtmfp_client  # noqa: E402
from hostile import BLOCK, Kind, call, get, names, publishing, run, said, times  # noqa: E402
from hostile_bytes import (Ts, aac_config, avc_config, avc_frame, client_hello, grown, hevc_config, hevc_frame,  # noqa: E402
                           json_arrays, json_bodies, post, sdp_bodies, PPS, SPS)
from rtmpclient import AUDIO, DATA, VIDEO, Closed, Rejected  # noqa: E402

rng = random.Random(23)
SDP = "application/sdp"
OFFERS, BODIES, HELLO = sdp_bodies(), json_bodies(), client_hello()
SESSIONS = ThreadPoolExecutor(64)  # threads for RTMFP, whose client is not a coroutine
PORTS = {"rtmp": 1935, "http": 8080, "https": 8088, "rtmps": 1443, "rtc": 8000, "rtsp": 8554, "srt": 10080, "rtmfp": 1935}


def address(n):
    return f"127.20.{n // 200 % 250}.{1 + n % 200}"


# ---- TCP: clients that wait for responses

class Tcp:
    """A connection; use with async."""

    def __init__(self, crowd, port):
        self.crowd, self.port = crowd, port

    async def __aenter__(self):
        self.r, self.w = await asyncio.open_connection("127.0.0.1", self.crowd.ports[self.port], limit=1 << 20)
        self.crowd.connected()
        return self

    async def __aexit__(self, *_):
        self.w.close()

    async def say(self, data):
        self.w.write(data)
        self.crowd.sent += len(data)
        await self.w.drain()

    async def answer(self):
        """Returns (status, fields) of the next response and discards the body."""
        head = (await self.r.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        fields = dict((k.lower(), v.strip()) for k, _, v in (x.partition(":") for x in head[1:]))
        if fields.get("transfer-encoding") == "chunked":
            while (size := int(await self.r.readuntil(b"\r\n"), 16)) > 0:
                await self.r.readexactly(size + 2)
            await self.r.readexactly(2)
        else:
            await self.r.readexactly(int(fields.get("content-length", 0)))
        return int(head[0].split()[1]), fields

    async def end(self, fields):
        """Ends the session that was created."""
        await self.say(f"DELETE {fields['location']} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        await self.answer()

    async def swallow(self):
        while await self.r.read(1 << 16):
            pass


@contextlib.asynccontextmanager
async def swallowing(c):
    """Reads and discards everything in the background."""
    task = asyncio.ensure_future(c.swallow())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def asking(*requests):
    """Sends these requests in a cycle over one connection, each as soon as the previous one is answered."""
    async def talk(crowd, n):
        async with Tcp(crowd, "http") as c:
            i = n
            while not crowd.over():
                await c.say(requests[i % len(requests)])
                status, fields = await c.answer()
                if status == 201:
                    await c.end(fields)
                i += 1
                if fields.get("connection") == "close":
                    return
    return talk


async def sessions_of_whep(crowd, n):
    """Creates WHEP sessions and ends each at once."""
    async with Tcp(crowd, "http") as c:
        while not crowd.over():
            await c.say(post("/rtc/v1/whep/?app=live&stream=innocent", OFFERS["good"], SDP))
            status, fields = await c.answer()
            if status == 201:
                await c.end(fields)


def tunnel(chain):
    """GET and POST of an RTSP tunnel; sends upstream without a pause. chain: uses the POST of another tunnel."""
    async def talk(crowd, n):
        async with Tcp(crowd, "http") as down, Tcp(crowd, "rtsp" if chain else "http") as up, swallowing(down):
            await down.say(rtsp.get(n))
            await asyncio.sleep(0.05)
            await up.say(rtsp.post(n))
            block = rtsp.ask("OPTIONS") * 300 if not chain else (rtsp.ask("OPTIONS") + rtsp.get(n, "inner") + rtsp.post(n)) * 100
            block = base64.b64encode(block + bytes(-len(block) % 3))
            async with swallowing(up):
                while not crowd.over() and not up.w.is_closing() and not down.r.at_eof():
                    await up.say(block)
    return talk


async def tunnel_of_answers(crowd, n):
    """One request at a time through both halves, so that each half's coroutine wakes the other's."""
    async with Tcp(crowd, "http") as down, Tcp(crowd, "http") as up:
        await down.say(rtsp.get(n))
        await down.r.readuntil(b"\r\n\r\n")
        await up.say(rtsp.post(n))
        while not crowd.over():
            await up.say(base64.b64encode(rtsp.ask("OPTIONS") + b"\r\n" * 3))
            await down.r.readuntil(b"\r\n\r\n")


async def wrong_passwords(crowd, n):
    """Wrong RTSP passwords; reconnects instead of waiting for the second 401."""
    async with Tcp(crowd, "rtsp") as c, swallowing(c):
        said = b"".join(rtsp.ask("DESCRIBE", "innocent", "Authorization: Basic " + base64.b64encode(b"a:%d" % i).decode())
                        .replace(b"127.0.0.1/live", b"locked.com/live") for i in range(4))
        await c.say(said)
        await asyncio.sleep(0.2)


async def handshake_of_tls(crowd, n, port="https"):
    """Sends the first flight of TLS, and waits for the server's response."""
    async with Tcp(crowd, port) as c:
        await c.say(HELLO)
        await c.r.read(100)


async def hls_sessions(crowd, n):
    async with Tcp(crowd, "http") as c:
        while not crowd.over():
            await c.say(get("/live/innocent.m3u8") * 20)
            for _ in range(20):
                await c.answer()


# ---- UDP

class Udp:
    """A socket that sends without limits; use with async."""

    def __init__(self, crowd, port, ip="127.0.0.1"):
        self.crowd = crowd
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.bind((ip, 0))
        self.sock.connect(("127.0.0.1", crowd.ports[port]))
        self.sock.setblocking(False)

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        self.sock.close()

    def say(self, data):
        try:
            self.crowd.sent += self.sock.send(data)
        except OSError:
            pass

    async def hear(self, timeout=1.0):
        """Returns a datagram, or None."""
        try:
            return await asyncio.wait_for(asyncio.get_running_loop().sock_recv(self.sock, 4096), timeout)
        except (asyncio.TimeoutError, OSError):
            return b""

    def forget(self):
        """Discards everything received."""
        try:
            while self.sock.recv(4096):
                pass
        except OSError:
            pass

    async def flood(self, make, burst=50):
        """Sends make(i) without a pause, in bursts; alone it is fast, in a crowd each has its turn."""
        i = 0
        while not self.crowd.over():
            for _ in range(burst):
                self.say(make(i))
                i += 1
            self.forget()
            await asyncio.sleep(0.001 if self.crowd.count == 1 else 0.1)


def flooding(port, make):
    """make(n): returns the datagrams of connection n, by number."""
    async def talk(crowd, n):
        async with Udp(crowd, port, address(n)) as u:
            crowd.connected()
            await u.flood(make(n))
    return talk


class Srt(Udp, srt.Peer):
    """A caller that waits without blocking others."""

    def __init__(self, crowd, n):
        Udp.__init__(self, crowd, "srt", address(n))
        self.id, self.first, self.cookie, self.to = next(srt.ids), 1000, 0, 0

    async def shake(self, kind):
        until = time.monotonic() + 2
        while time.monotonic() < until:
            got = await self.hear(0.5)
            if not got:
                return None
            if len(got) >= 48 and got[0] >> 7 and got[1] == 0:
                return struct.unpack(">IHHIIIIII", got[16:48])
        return None

    async def induct(self):
        for _ in range(4):
            self.say(srt.handshake(srt.INDUCTION, self.id, version=4, field=2))
            h = await self.shake(1)
            if h:
                self.cookie = h[8]
                return True
        return False

    async def call(self, streamid, more=b"", **how):
        """Returns True if admitted."""
        if not await self.induct():
            return False
        self.say(self.conclusion(srt.hsreq() + srt.streamid(streamid) + more, **how))
        h = await self.shake(2)
        self.to = h[7] if h and h[6] == srt.CONCLUSION else 0
        if self.to:
            self.crowd.connected()
        return bool(self.to)


async def srt_callers(crowd, n):
    """Connects and disconnects."""
    while not crowd.over():
        async with Srt(crowd, n) as p:
            crowd.connected()
            if await p.call("#!::r=live/innocent,m=request"):
                p.tell(srt.SHUTDOWN)


STREAM_IDS = [b"#!::" + b"=," * 250, b"#!::" + b"h=," * 160, b"#!::r=" + b"a/" * 250, b"?" * 512, b"%" * 512, b"\xff" * 512, b"/" * 512,
              b"../../etc/passwd", b"#!:{r=x}", b"#!::r=live/x,m=bidirectional", b"#!::r=live/x?" + b"&=" * 200]


async def srt_stream_ids(crowd, n):
    async with Srt(crowd, n) as p:
        crowd.connected()
        while not crowd.over():
            await p.induct()
            for ident in STREAM_IDS:
                p.id = next(srt.ids)
                p.say(p.conclusion(srt.hsreq() + srt.streamid(ident)))
                await p.shake(2)


def srt_publisher(make):
    async def talk(crowd, n):
        async with Srt(crowd, n) as p:
            if await p.call(f"#!::r=live/srt{os.getpid()}-{n},m=publish"):
                say = make(p)
                try:
                    await p.flood(say, 20)
                finally:
                    p.tell(srt.SHUTDOWN)
    return talk


def noise(p):
    return lambda i: srt.data(p.first + i, rng.randbytes(1316), p.to, i + 1, i * 1000)


def changing_ts(p):
    ts, left = Ts(), bytearray()

    def make(i):
        while len(left) < 1316:
            left.extend(ts.next())
        part = bytes(left[:1316])
        del left[:1316]
        return srt.data(p.first + i, part, p.to, i + 1, i * 2000)
    return make


def far_sequences(p):
    return lambda i: srt.data(p.first + 4000 * i, b"G" * 188, p.to, i + 1, i * 1000)


async def srt_naks(crowd, n):
    async with Srt(crowd, n) as p:
        if await p.call("#!::r=live/innocent,m=request"):
            await p.flood(lambda i: srt.control(srt.NAK, 0, p.to, srt.words(0x80000000 | p.first, p.first + 2000) * 90))


async def srt_keys(crowd, n):
    """Each handshake makes the server derive a key from the passphrase."""
    async with Srt(crowd, n) as p:
        crowd.connected()
        await p.induct()

        def make(i):
            p.id = next(srt.ids)
            return p.conclusion(srt.hsreq() + srt.streamid(f"#!::h=locked.com,r=live/k{n}-{i}") + srt.extension(3, srt.key_message()),
                                encryption=2, field=7)
        await p.flood(make)


# ---- RTMFP

async def rtmfp_cookie(u):
    for _ in range(4):
        u.say(hostile_rtmfp.datagram([hostile_rtmfp.hello()]))
        got = await u.hear()
        try:
            r = hostile_rtmfp.w.Reader(hostile_rtmfp.w.parse(hostile_rtmfp.w.Way().open(got)).chunks[0].data)
            r.counted()
            return r.counted()
        except (ValueError, IndexError):
            pass
    return bytes(64)


async def rtmfp_keys(crowd, n):
    """Handshakes with a valid cookie, from one address."""
    async with Udp(crowd, "rtmfp", address(n)) as u:
        crowd.connected()
        me, cookie = rtmfp.Identity(), await rtmfp_cookie(u)
        asked = [hostile_rtmfp.datagram([hostile_rtmfp.keying(cookie, me, 1 + 1000 * n + i, skic=me.asks()[0] if i < 2 else None)])
                 for i in range(20 if crowd.count == 1 else 3)]
        await u.flood(lambda i: asked[i % len(asked)], 5)


def rtmfp_session(say):
    """Calls say(client, i) again and again within a session, on its own thread."""
    def work(crowd, n):
        with rtmfp_client.Client(crowd.ports["rtmfp"], bind=address(n), timeout=5) as c:
            c.connect()
            crowd.connected()
            i = 0
            while not crowd.over() and c.session.is_open:
                say(c, i)
                i += 1
                rtmfp_client.run_for([c], 0.001 if crowd.count == 1 else 0.1)

    async def talk(crowd, n):
        try:
            await asyncio.get_running_loop().run_in_executor(SESSIONS, work, crowd, n)
        except (Closed, Rejected, TimeoutError, AssertionError):  # rejected
            crowd.refused += 1
    return talk


def rtmfp_commands(c, i):
    body = rtmfp_client.message_bytes(20, 0, amf.encode("createStream", i, None))
    c.session.packet([hostile_rtmfp.data(100 + i % 20, 1 + i // 20, 1, body, 0)] + [hostile_rtmfp.following(body) for _ in range(20)])


def rtmfp_numbers(c, i):
    c.session.packet(hostile_rtmfp.largest())
    c.session.packet([hostile_rtmfp.w.chunk(0x22)] * 390)


def rtmfp_pings(c, i):
    for _ in range(20):
        c.session.ping(b"x" * 100)


def rtmfp_publishes(c, i):
    """Publishes a different decoder configuration with each frame."""
    if i == 0:
        c.out = c.publish(f"rtmfp{os.getpid()}-{id(c)}")
    for k in range(5):
        at = 5 * i + k
        for kind, data in ((VIDEO, avc_config(at)), (VIDEO, avc_frame()), (AUDIO, aac_config(at))):
            c.out.flow(kind).send(rtmfp_client.message_bytes(kind, 40 * at, data))


# ---- WebRTC

class Rtc(Udp):
    """A session without encryption, unless dtls; use with async."""

    def __init__(self, crowd, n, publish=False, stream="innocent", query="&dtls=false"):
        super().__init__(crowd, "rtc", address(n))
        self.path = f"/rtc/v1/{'whip' if publish else 'whep'}/?app=live&stream={stream}{query}"
        self.body, self.ip, self.serial = rtc.offer(publish), address(n), 0

    async def __aenter__(self):
        r, w = await asyncio.open_connection("127.0.0.1", self.crowd.ports["http"], local_addr=(self.ip, 0))
        w.write(post(self.path, self.body, SDP).replace(b"Host: localhost", b"Host: localhost\r\nConnection: close"))
        got = await asyncio.wait_for(r.read(), 10)
        w.close()
        text = got.decode()
        self.crowd.connected()
        if " 201 " not in text.split("\r\n")[0]:
            raise ConnectionRefusedError(text[:100])
        answer = dict(x.split(":", 1) for x in text.split("\r\n") if x.startswith("a=") and ":" in x)
        self.theirs, self.pwd = answer["a=ice-ufrag"], answer["a=ice-pwd"]
        self.ssrcs = [int(x.split(":")[1].split()[0]) for x in text.split("\r\n") if x.startswith("a=ssrc:")] or [1]
        self.ssrc = rng.getrandbits(31)
        for _ in range(5):
            self.check()
            if (await self.hear(0.5))[:1] == b"\1":
                return self
        raise ConnectionRefusedError("a check has no answer")

    def check(self):
        self.say(rtc.binding("abcd", self.theirs, self.pwd))

    def make(self, make):
        """Runs the flood and sends a check now and then to keep the session."""
        def one(i):
            return rtc.binding("abcd", self.theirs, self.pwd) if i % 997 == 0 else make(i)
        return one


def rtc_session(make, **how):
    async def talk(crowd, n):
        where = dict(how)
        if where.get("publish"):
            where["stream"] = f"rtc{os.getpid()}-{n}"
        async with Rtc(crowd, n, **where) as c:
            await c.flood(c.make(make(c)), 20)
    return talk


def rtc_checks(c):
    return lambda i: rtc.binding("abcd", c.theirs, c.pwd, id=struct.pack(">III", i, i, i))


def rtc_naks(c):
    ssrc = c.ssrcs[0]
    said = [rtc.rtcp(205, 1, rtc.words(c.ssrc, ssrc) + b"".join(struct.pack(">HH", at + 17 * k & 0xffff, 0xffff) for k in range(250)))
            for at in range(0, 65536, 4001)]
    said += [rtc.rtcp(206, 1, rtc.words(c.ssrc, ssrc)), rtc.rtcp(206, 4, rtc.words(c.ssrc, ssrc, ssrc, 7 << 16))]
    return lambda i: said[i % len(said)]


def rtc_configurations(c):
    """A key frame with different parameter sets each time."""
    def make(i):
        sets = [grown(SPS, i // 2), PPS]
        stap = b"\x78" + b"".join(struct.pack(">H", len(u)) + u for u in sets)
        payload = stap if i % 2 == 0 else b"\x65\x88" + bytes(300)
        return rtc.rtp(i, i // 2 * 3000, c.ssrc, payload, rtc.VIDEO, i % 2 == 1)
    return make


def rtc_bombs(c):
    packets = [(payload, marker, at) for at, v in enumerate(rtc.bombs("H264")) for payload, marker in v]

    def make(i):
        payload, marker, at = packets[i % len(packets)]
        return rtc.rtp(i, 3000 * (at + 1000 * (i // len(packets))), c.ssrc, payload, rtc.VIDEO, marker)
    return make


def rtc_hellos(c):
    return lambda i: rtc.record(22, rtc.message(1, 0, rtc.HELLO), number=i)


def rtc_pieces(c):
    """Fragments of handshakes that never end."""
    return lambda i: rtc.record(22, rtc.message(1, i % 40, b"x" * 1000, i * 1000 % 60000, 0xffff), number=i)


def rtc_strangers(n):
    return lambda i: rtc.stun(1, struct.pack(">III", i, n, i), rtc.attribute(6, b"abcd%04d:abcd" % (i % 10000)), "wrong" * 5)


# ---- RTMP publishers whose decoder configuration changes with each frame

def stream_of(*bodies):
    """Returns (type, body, ms) as chunks."""
    out = bytearray()
    for kind, body, ts in bodies:
        w = hostile.ChunkWriter()
        w.size = 60000
        out += w.message(6 if kind == VIDEO else 4, kind, ts, 1, body, fmt=0)
    return bytes(out)


def turns(make, n=300):
    return stream_of(*(x for i in range(n) for x in make(i)))


PUBLISHERS = [
    Kind("configurations of AVC", "rtmp", publishing, turns(lambda i: [(VIDEO, avc_config(i), 40 * i), (VIDEO, avc_frame(), 40 * i)])),
    Kind("configurations of HEVC", "rtmp", publishing, turns(lambda i: [(VIDEO, hevc_config(i), 40 * i), (VIDEO, hevc_frame(), 40 * i)])),
    Kind("configurations of AAC", "rtmp", publishing,
         turns(lambda i: [(AUDIO, aac_config(i), 23 * i), (AUDIO, b"\xaf\1" + b"\x21" * 200, 23 * i)])),
    Kind("configurations of all", "rtmp", publishing, turns(lambda i: [
        (VIDEO, (avc_config, hevc_config)[i % 2](i), 40 * i), (VIDEO, (avc_frame, hevc_frame)[i % 2](), 40 * i),
        (AUDIO, aac_config(i), 40 * i), (AUDIO, b"\xaf\1" + b"\x21" * 200, 40 * i), (DATA, amf.encode("onMetaData", {"n": i}), 40 * i)])),
    Kind("key frames that jump", "rtmp", publishing, stream_of((VIDEO, avc_config(1), 0)) +
         turns(lambda i: [(VIDEO, avc_frame(), rng.getrandbits(32)), (AUDIO, b"\xaf\1" + b"\x21" * 200, rng.getrandbits(32))])),
    Kind("key frames of a day", "rtmp", publishing, stream_of((VIDEO, avc_config(1), 0)) +
         turns(lambda i: [(VIDEO, avc_frame(), 9000 * i)])),
    Kind("configurations slowly", "rtmp", publishing, turns(lambda i: [(VIDEO, avc_config(i), 40 * i), (VIDEO, avc_frame(), 40 * i)], 20), 0.1),
    Kind("small key frames", "rtmp", publishing, stream_of((VIDEO, avc_config(1), 0)) + turns(lambda i: [(VIDEO, avc_frame(size=5), i)], 1000)),
]

SETS_OF_RTSP = rtsp.flood(lambda i: rtsp.rtp(3 * i, grown(SPS, i), i * 3000) + rtsp.rtp(3 * i + 1, PPS, i * 3000) +
                          rtsp.rtp(3 * i + 2, b"\x65\x88" + bytes(200), i * 3000, True))


def announced(i):
    sets = base64.b64encode(grown(SPS, i)).decode() + "," + base64.b64encode(PPS).decode()
    sdp = rtsp.SDP.replace("Z2QADKzZQUGfnwFsgAAAAwCAAAAZB4oUyw==,aOvjyyLA", sets)
    stream = f"again{os.getpid()}-{i}"
    return rtsp.announce(stream, sdp) + rtsp.setup(stream, more=";mode=record") + rtsp.ask("RECORD", stream) + rtsp.ask("TEARDOWN", stream)


API = [get(f"/api/v1/{x}") for x in ("versions", "summaries", "rusages", "self_proc_stats", "system_proc_stats", "meminfos", "authors",
                                     "features", "requests", "vhosts/", "streams/?count=1000", "clients/?count=1000", "tests/errors",
                                     "clusters", "forwards")] + [get("/metrics"), get("/")]

NEW = [
    # -- HTTP
    Kind("WHEP offers", "http", lambda n: b"", times(post("/rtc/v1/whep/?app=live&stream=innocent", OFFERS["good"], SDP))),
    Kind("WHEP sessions", "http", talk=sessions_of_whep),
    Kind("WHIP offers of 8 KB refused", "http", lambda n: b"", times(post("/rtc/v1/whip/?app=live&stream=x", OFFERS["8 KB refused"], SDP))),
    *(Kind(f"offers: {name}", "http", talk=asking(post("/rtc/v1/whep/?app=live&stream=none", body, SDP)))
      for name, body in OFFERS.items() if name != "good"),
    *(Kind(f"JSON: {name}", "http", talk=asking(post("/rtc/v1/play/", body), post("/rtc/v1/publish/", body)))
      for name, body in BODIES.items()),
    Kind("JSON to the API", "http", talk=asking(*(post(p, BODIES["arrays"]) for p in ("/api/v1/clients/", "/api/v1/raw", "/api/v1/vhosts/")))),
    Kind("JSON of 10 MB", "http", talk=asking(post("/rtc/v1/play/", json_arrays(10 << 20)))),
    Kind("API, each in turn", "http", talk=asking(*API)),
    Kind("all of the API", "http", lambda n: b"", b"".join(API) * 3),
    Kind("HEAD", "http", lambda n: b"", times(b"".join(get(x).replace(b"GET", b"HEAD", 1) for x in
                                                       ("/big.bin", "/live/innocent.m3u8", "/live/innocent.flv", "/", "/none")))),
    Kind("many ranges", "http", lambda n: b"", times(get("/big.bin", "Range: bytes=" + ",".join(f"{i}-{i}" for i in range(0, 3000, 2))))),
    Kind("sessions of HLS", "http", talk=hls_sessions),
    Kind("sessions of HLS, not waited for", "http", lambda n: b"", times(get("/live/innocent.m3u8"), 4000)),
    Kind("lists of DASH", "http", lambda n: b"", names(lambda i: get(f"/live/innocent.mpd?n={i}"))),
    Kind("WebSocket small frames", "http", lambda n: hostile.WS, times(b"\x82\x80abcd")),
    Kind("WebSocket and leave", "http", lambda n: hostile.WS, b""),
    Kind("TLS of HTTPS", "https", talk=handshake_of_tls),
    Kind("TLS of RTMPS", "rtmps", talk=lambda crowd, n: handshake_of_tls(crowd, n, "rtmps")),
    Kind("TLS, one after the other", "https", lambda n: HELLO, b""),
    # -- publishers
    *PUBLISHERS,
    # -- RTSP
    Kind("tunnel", "http", talk=tunnel(False)),
    Kind("tunnel in a tunnel", "http", talk=tunnel(True)),
    Kind("tunnel, an answer at a time", "http", talk=tunnel_of_answers),
    Kind("wrong passwords of RTSP", "rtsp", talk=wrong_passwords),
    Kind("RTSP sets, each key frame", "rtsp", rtsp.publishing, SETS_OF_RTSP),
    Kind("RTSP announces", "rtsp", lambda n: b"", names(announced)),
    # -- SRT
    Kind("SRT inductions", "srt", talk=flooding("srt", lambda n: lambda i: srt.handshake(srt.INDUCTION, i + 1, version=4, field=2))),
    Kind("SRT callers", "srt", talk=srt_callers),
    Kind("SRT stream ids", "srt", talk=srt_stream_ids),
    Kind("SRT keys", "srt", talk=srt_keys),
    Kind("SRT noise", "srt", talk=srt_publisher(noise)),
    Kind("SRT that changes", "srt", talk=srt_publisher(changing_ts)),
    Kind("SRT holes", "srt", talk=srt_publisher(far_sequences)),
    Kind("SRT NAKs", "srt", talk=srt_naks),
    Kind("unknown SRT peers", "srt", talk=flooding("srt", lambda n: lambda i: rng.randbytes(16 + i % 1400))),
    # -- RTMFP
    Kind("RTMFP hellos", "rtmfp", talk=flooding("rtmfp", lambda n: (lambda d: lambda i: d)(hostile_rtmfp.datagram([hostile_rtmfp.hello()])))),
    Kind("RTMFP keys", "rtmfp", talk=rtmfp_keys),
    Kind("unknown RTMFP peers", "rtmfp", talk=flooding("rtmfp", lambda n: lambda i: rng.randbytes(20 + 16 * (i % 70)))),
    Kind("RTMFP commands", "rtmfp", talk=rtmfp_session(rtmfp_commands)),
    Kind("RTMFP numbers", "rtmfp", talk=rtmfp_session(rtmfp_numbers)),
    Kind("RTMFP pings", "rtmfp", talk=rtmfp_session(rtmfp_pings)),
    Kind("RTMFP that changes", "rtmfp", talk=rtmfp_session(rtmfp_publishes)),
    # -- WebRTC
    Kind("STUN of unknown peers", "rtc", talk=flooding("rtc", rtc_strangers)),
    Kind("STUN checks", "rtc", talk=rtc_session(rtc_checks)),
    Kind("RTC asks for all again", "rtc", talk=rtc_session(rtc_naks)),
    Kind("RTC configurations", "rtc", talk=rtc_session(rtc_configurations, publish=True)),
    Kind("RTC bombs", "rtc", talk=rtc_session(rtc_bombs, publish=True)),
    Kind("DTLS hellos", "rtc", talk=rtc_session(rtc_hellos, query="")),
    Kind("DTLS pieces", "rtc", talk=rtc_session(rtc_pieces, query="")),
]
OF_RTSP = [k._replace(name="RTSP " + k.name) for k in rtsp.KINDS]
KINDS = hostile.KINDS + OF_RTSP + NEW
BY_NAME = {k.name: k for k in KINDS}
assert len(BY_NAME) == len(KINDS), "two kinds have the same name"


if __name__ == "__main__":
    run(__doc__, PORTS, KINDS, rtsp.RtspCrowd)
