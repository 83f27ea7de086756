# SPDX-License-Identifier: MIT
"""A camera: an RTSP server in a thread of the test, with selectable faults.

    cam = Camera(camera_rtp.tracks_of(source), Quirks(marker="none", user="u", password="p"))
    cam.url()                     rtsp://u:p@127.0.0.1:port/cam/main?channel=1
    cam.requests                  [(method, url, fields)], in the order of arrival
    cam.close()

"""
import base64
import hashlib
import os
import random
import select
import socket
import struct
import threading
import time
from dataclasses import dataclass, field
from urllib.parse import quote

from camera_rtp import Media
from procs import free_port

PUBLIC = "OPTIONS, DESCRIBE, SETUP, PLAY, PAUSE, TEARDOWN"


@dataclass
class Quirks:
    # -- description and packets
    marker: str = "last"          # "none": never set; "each": on the last packet of each NAL unit
    sprop: bool = True            # whether the description has the parameter sets
    sprop_end: str = ""           # suffix of the parameter sets: "," as Hikvision sends it
    sets_in_stream: bool = False  # whether each key frame has parameter sets
    fragment_all: bool = False    # small units are sent as one fragment with both bits
    reports: bool = True          # sends sender reports
    control: str = "relative"     # "absolute", "host" (of another machine), "slash" (both end and begin with one), "none" (one track)
    content_base: str = "right"   # "none", "bare" (without the final slash), "host" (of another machine)
    metadata: bool = False        # adds a third track with ONVIF metadata
    length_more: int = 0          # error of the description's Content-Length
    # -- login
    user: str = ""
    password: str = ""
    auth: str = "digest"          # "basic", "both"
    stale_every: int = 0          # requests after which the nonce becomes stale
    stale_said: bool = True
    fresh_realm: bool = False     # new realm and nonce in each 401
    # -- requests
    public: str = PUBLIC + ", GET_PARAMETER"
    get_parameter: int = 200      # status of the response; 0: no response
    moved: list = field(default_factory=list)  # urls for DESCRIBE, each answered with a 302
    timeout: str = ";timeout=60"  # suffix of the session id
    life: float = 0               # closes after this many seconds without a request
    not_found: int = 0            # the first n DESCRIBEs get 404
    # -- transport
    tcp: bool = True
    udp: str = "sends"            # "refuses" (461), "silent": sends nothing
    lose: int = 0                 # drops each n-th datagram
    swap: int = 0                 # sends each n-th datagram after the next one
    channels: int = 0             # the first channel of its responses, regardless of the request
    # -- stream
    garbage: int = 0              # after n packets, sends garbage bytes
    unasked: int = 0              # after n packets, sends an unrequested response
    die_after: int = 0            # after n packets, closes in the middle of a frame
    restart_after: int = 0        # after n packets, changes sequence numbers and ssrc
    jump_after: int = 0           # after n packets, its clock jumps
    jump: int = 90000 * 3600
    silent_after: int = 0         # after n packets, falls silent but keeps the connection
    speed: float = 1.0


class Session:
    """One player."""

    def __init__(self, cam):
        self.cam, self.q = cam, cam.quirks
        self.id = "%016X" % random.getrandbits(64)
        self.tracks = {}      # number: ("tcp", channel) or ("udp", (ip, port), socket)
        self.seq = [random.getrandbits(16) for _ in cam.media]
        self.base = [random.getrandbits(32) for _ in cam.media]
        self.ssrc = [random.getrandbits(32) for _ in cam.media]
        self.counts = [[0, 0] for _ in cam.media]
        self.sent = self.datagrams = 0
        self.held = []        # delayed datagrams
        self.plan = None
        self.began = self.reported = 0.0

    def play(self):
        if self.plan is None:
            self.plan, self.began = self.samples(), time.monotonic()
            self.next = next(self.plan)

    def samples(self):
        """Yields the samples of all tracks in order of time, in an endless loop."""
        once = sorted(((s.when, i, s) for i, m in enumerate(self.cam.media) for s in m.samples), key=lambda x: x[:2])
        length, turn = max(m.seconds for m in self.cam.media), 0
        while True:
            for when, i, s in once:
                yield when + turn * length, i, s.ticks + round(turn * length * self.cam.media[i].rate), s
            turn += 1

    def due(self):
        return self.began + self.next[0] / self.q.speed if self.plan else None

    def packet(self, i, ticks, payload, marker):
        m = self.cam.media[i]
        if self.q.restart_after and self.sent == self.q.restart_after:
            self.seq = [random.getrandbits(16) for _ in self.seq]
            self.base = [random.getrandbits(32) for _ in self.base]
            self.ssrc = [random.getrandbits(32) for _ in self.ssrc]
        if self.q.jump_after and self.sent == self.q.jump_after:
            self.base = [(b + self.q.jump) & 0xffffffff for b in self.base]
        head = struct.pack(">BBHII", 0x80, m.type | (0x80 if marker else 0), self.seq[i],
                           (self.base[i] + ticks) & 0xffffffff, self.ssrc[i])
        self.seq[i] = (self.seq[i] + 1) & 0xffff
        self.counts[i][0] += 1
        self.counts[i][1] += len(payload)
        self.sent += 1
        return head + payload

    def report(self, i, at):
        """Makes a sender report: the wall clock time of a timestamp. All tracks start together."""
        now = time.time()
        ntp = now + 2208988800
        ticks = round(at * self.cam.media[i].rate)
        return struct.pack(">BBHIIIIII", 0x80, 200, 6, self.ssrc[i], int(ntp), int((ntp % 1) * 2**32),
                           (self.base[i] + ticks) & 0xffffffff, *self.counts[i])

    def turn(self, conn):
        """Sends what is due. Returns False if the connection must end."""
        while self.plan and self.due() <= time.monotonic():
            when, i, ticks, s = self.next
            self.next = next(self.plan)
            if self.q.reports and when - self.reported >= (0 if self.reported == 0 else 5):
                self.reported = when + 0.001
                for n in self.tracks:
                    self.send(conn, n, self.report(n, when), True)
            if i not in self.tracks:
                continue
            for payload, marker in s.payloads:
                if self.q.silent_after and self.sent >= self.q.silent_after:
                    continue
                p = self.packet(i, ticks, payload, marker)
                if self.q.die_after and self.sent >= self.q.die_after:
                    if self.tracks[i][0] == "tcp":
                        conn.write(self.frame(i, p, False)[:len(p) // 2])
                    return False
                self.send(conn, i, p, False)
                self.interrupt(conn)
        return True

    def interrupt(self, conn):
        if self.q.garbage and self.sent % self.q.garbage == 0:
            conn.write(b"\x00\x17$\xf0\xffnothing$" + os.urandom(40).replace(b"$", b"#"))
        if self.q.unasked and self.sent % self.q.unasked == 0:
            conn.write(b"RTSP/1.0 200 OK\r\nCSeq: 9999\r\nContent-Length: 0\r\n\r\n")

    def frame(self, i, data, rtcp):
        return b"$" + bytes([self.tracks[i][1] + rtcp]) + struct.pack(">H", len(data)) + data

    def send(self, conn, i, data, rtcp):
        to = self.tracks[i]
        if to[0] == "tcp":
            conn.write(self.frame(i, data, rtcp))
        elif self.q.udp == "sends":
            self.datagram(to[2 + rtcp], data, (to[1][0], to[1][1] + rtcp))

    def datagram(self, sock, data, to):
        self.datagrams += 1
        if self.q.lose and self.datagrams % self.q.lose == 0:
            return
        if self.q.swap and self.datagrams % self.q.swap == 0:
            self.held.append((sock, data, to))
            return
        sock.sendto(data, to)
        for s, d, t in self.held:
            s.sendto(d, t)
        self.held.clear()


class Conn:
    """One connection, in its own thread."""

    def __init__(self, cam, sock):
        self.cam, self.q, self.sock = cam, cam.quirks, sock
        self.buf, self.session, self.sockets = b"", None, []
        self.nonce, self.used, self.realm = "%032x" % random.getrandbits(128), 0, "cam"
        self.heard = time.monotonic()
        self.out = b""

    def write(self, data):
        self.out += data

    def flush(self):
        if self.out:
            self.sock.sendall(self.out)
            self.out = b""

    def run(self):
        try:
            self.sock.settimeout(10)
            while self.turn():
                pass
            self.flush()
        except OSError:
            pass
        finally:
            for s in self.sockets:
                s.close()
            self.sock.close()
            self.cam.gone(self)

    def turn(self):
        due = self.session.due() if self.session else None
        wait = 0.2 if due is None else min(0.2, max(0, due - time.monotonic()))
        ready = select.select([self.sock, *self.sockets], [], [], wait)[0]
        for s in ready:
            if s is not self.sock:
                data = s.recv(65536)
                self.cam.reports.append(data)
                continue
            got = s.recv(65536)
            if not got:
                return False
            self.buf += got
            if not self.take():
                return False
        if self.q.life and time.monotonic() - self.heard > self.q.life:
            return False
        if self.session and not self.session.turn(self):
            return False
        self.flush()
        return not self.cam.closed

    def take(self):
        """Handles complete frames and requests."""
        while self.buf:
            if self.buf[:1] == b"$":
                if len(self.buf) < 4 or len(self.buf) < 4 + int.from_bytes(self.buf[2:4], "big"):
                    break
                size = int.from_bytes(self.buf[2:4], "big")
                self.cam.reports.append(self.buf[4:4 + size])
                self.buf = self.buf[4 + size:]
                continue
            if b"\r\n\r\n" not in self.buf:
                break
            head, _, rest = self.buf.partition(b"\r\n\r\n")
            lines = head.decode("latin-1").split("\r\n")
            fields = {k.strip().lower(): v.strip() for k, _, v in (x.partition(":") for x in lines[1:])}
            size = int(fields.get("content-length", "0"))
            if len(rest) < size:
                break
            self.buf = rest[size:]
            method, url = lines[0].split(" ")[:2]
            self.heard = time.monotonic()
            self.cam.requests.append((method, url, fields))
            if self.request(method, url, fields) is False:
                return False
        return True

    # -- requests

    def answer(self, status, fields, more=(), body=b"", length=None):
        text = {200: "OK", 302: "Found", 401: "Unauthorized", 404: "Not Found", 454: "Session Not Found",
                461: "Unsupported Transport"}.get(status, "Whatever")
        lines = [f"RTSP/1.0 {status} {text}", f"CSeq: {fields.get('cseq', '0')}", *more]
        if self.session:
            lines.append(f"Session: {self.session.id}{self.q.timeout}")
        if body:
            lines.append(f"Content-Length: {len(body) if length is None else length}")
        self.write(("\r\n".join(lines) + "\r\n\r\n").encode() + body)
        self.flush()

    def known(self, method, url, fields):
        """Returns whether the client has logged in; if not, sends a 401."""
        if not self.q.user or method == "OPTIONS":
            return True
        said, stale = fields.get("authorization", ""), False
        if said.startswith("Basic ") and self.q.auth != "digest":
            if base64.b64decode(said[6:]).decode() == f"{self.q.user}:{self.q.password}":
                return True
        elif said.startswith("Digest ") and self.q.auth != "basic":
            p = {k.strip(): v.strip('" ') for k, _, v in (x.partition("=") for x in said[7:].split(","))}
            stale = p.get("nonce") != self.nonce
            self.used += 1
            if self.q.stale_every and self.used > self.q.stale_every:
                stale = True
            if not stale and p.get("response") == self.digest(method, p.get("uri", ""), p.get("realm", "")):
                return True
        if said:
            self.cam.refused += 1
        if stale or self.q.fresh_realm:
            self.nonce, self.used = "%032x" % random.getrandbits(128), 0
        if self.q.fresh_realm:
            self.realm = "cam%d" % random.getrandbits(16)
        ask = []
        if self.q.auth != "basic":
            ask.append(f'WWW-Authenticate: Digest realm="{self.realm}", nonce="{self.nonce}"'
                       + (', stale="TRUE"' if stale and self.q.stale_said else ""))
        if self.q.auth != "digest":
            ask.append('WWW-Authenticate: Basic realm="cam"')
        self.answer(401, fields, ask)
        return False

    def digest(self, method, uri, realm):
        def md5(text):
            return hashlib.md5(text.encode()).hexdigest()
        return md5(f"{md5(f'{self.q.user}:{realm}:{self.q.password}')}:{self.nonce}:{md5(f'{method}:{uri}')}")

    def request(self, method, url, fields):
        if not self.known(method, url, fields):
            return None
        do = getattr(self, "on_" + method.lower(), None)
        if do is None:
            return self.answer(501, fields)
        return do(url, fields)

    def on_options(self, url, fields):
        self.answer(200, fields, ["Public: " + self.q.public])

    def on_describe(self, url, fields):
        if self.q.moved:
            self.answer(302, fields, ["Location: " + self.q.moved.pop(0)])
            return False
        if self.q.not_found > 0:
            self.q.not_found -= 1
            return self.answer(404, fields)
        body = self.cam.sdp(url).encode()
        base = {"right": url + "/", "bare": url, "host": f"rtsp://10.9.8.7:99{self.cam.path}/"}
        more = ["Content-Type: application/sdp"]
        if self.q.content_base != "none":
            more.append("Content-Base: " + base[self.q.content_base])
        self.answer(200, fields, more, body, len(body) + self.q.length_more)

    def on_setup(self, url, fields):
        number = self.cam.track(url)
        if number is None:
            return self.answer(404, fields)
        self.session = self.session or Session(self.cam)
        for offer in fields.get("transport", "").split(","):
            how = offer.strip().split(";")
            p = dict(x.split("=", 1) for x in how if "=" in x)
            if how[0] == "RTP/AVP/TCP" and self.q.tcp:
                self.session.tracks[number] = ("tcp", self.q.channels + number * 2)
                ch = self.session.tracks[number][1]
                return self.answer(200, fields, [f"Transport: RTP/AVP/TCP;unicast;interleaved={ch}-{ch + 1}"])
            if how[0] in ("RTP/AVP", "RTP/AVP/UDP") and self.q.udp != "refuses":
                port = int(p["client_port"].split("-")[0])
                a, b = self.pair()
                self.session.tracks[number] = ("udp", (self.sock.getpeername()[0], port), a, b)
                return self.answer(200, fields, [f"Transport: RTP/AVP;unicast;client_port={port}-{port + 1};"
                                                 f"server_port={a.getsockname()[1]}-{b.getsockname()[1]}"])
        self.session = None if not self.session.tracks else self.session
        return self.answer(461, fields)

    def pair(self):
        """Returns sockets of two adjacent ports, the first one even."""
        while True:
            port, out = free_port() & ~1, []
            try:
                for i in range(2):
                    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                    s.bind(("127.0.0.1", port + i))
                    out.append(s)
            except OSError:
                for s in out:
                    s.close()
                s.close()
                continue
            self.sockets += out
            return out

    def on_play(self, url, fields):
        if not self.session:
            return self.answer(454, fields)
        s = self.session
        info = ",".join(f"url={url}/trackID={i};seq={s.seq[i]};rtptime={s.base[i]}" for i in s.tracks)
        self.answer(200, fields, ["Range: npt=0.000-", "RTP-Info: " + info])
        s.play()

    def on_pause(self, url, fields):
        self.answer(200, fields)

    def on_get_parameter(self, url, fields):
        if self.q.get_parameter:
            self.answer(self.q.get_parameter, fields)

    on_set_parameter = on_get_parameter

    def on_teardown(self, url, fields):
        self.answer(200, fields)
        return False


class Camera:
    """Listens until close(). `path` is the camera's name for the stream."""

    def __init__(self, tracks, quirks=None, path="/cam/main?channel=1", port=None):
        self.quirks = quirks or Quirks()
        self.media = [Media(t, self.quirks) for t in tracks]
        self.path, self.port = path, port or free_port()
        self.requests, self.reports = [], []
        self.connections = self.refused = 0
        self.times = []       # threads of connections
        self.conns = []
        self.closed = False
        self.lock = threading.Lock()
        self.sock = socket.socket()
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.sock.bind(("127.0.0.1", self.port))
        self.sock.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()

    def url(self, login=True):
        user = ":".join(quote(x, safe="") for x in (self.quirks.user, self.quirks.password)) + "@"
        user = user if login and self.quirks.user else ""
        return f"rtsp://{user}127.0.0.1:{self.port}{self.path}"

    def methods(self):
        return [r[0] for r in self.requests]

    def playing(self):
        with self.lock:
            return sum(1 for c in self.conns if c.session and c.session.plan)

    def accept(self):
        try:
            while True:
                sock = self.sock.accept()[0]
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with self.lock:
                    self.connections += 1
                    self.times.append(time.monotonic())
                    conn = Conn(self, sock)
                    self.conns.append(conn)
                threading.Thread(target=conn.run, daemon=True).start()
        except OSError:
            pass

    def gone(self, conn):
        with self.lock:
            if conn in self.conns:
                self.conns.remove(conn)

    def cut(self):
        """Breaks all connections."""
        with self.lock:
            for c in self.conns:
                try:
                    c.sock.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def close(self):
        """Switches the camera off."""
        self.closed = True
        try:
            self.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.sock.close()
        self.cut()

    def control(self, i, url):
        own = {"relative": f"trackID={i}", "absolute": f"{url}/trackID={i}", "slash": f"/trackID={i}",
               "host": f"rtsp://10.9.8.7:99{self.path}/trackID={i}", "none": None}
        return own[self.quirks.control]

    def sdp(self, url):
        lines = ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=camera", "c=IN IP4 0.0.0.0", "t=0 0", "a=range:npt=now-"]
        for i, m in enumerate(self.media):
            lines += m.sdp(self.control(i, url))
        if self.quirks.metadata:
            lines += ["m=application 0 RTP/AVP 107", "a=rtpmap:107 vnd.onvif.metadata/90000",
                      f"a=control:trackID={len(self.media)}"]
        return "\r\n".join(lines) + "\r\n"

    def track(self, url):
        """Returns the number of this url's track; the url must begin with that of the stream."""
        end = url.rpartition("trackID=")[2]
        if self.quirks.control == "none":
            return 0
        if f"127.0.0.1:{self.port}{self.path}" not in url or not end.isdigit() or int(end) >= len(self.media):
            return None
        return int(end)
