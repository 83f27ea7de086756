# SPDX-License-Identifier: MIT
"""A server with RTSP, and an RTSP client that sends one request at a time, to test what real clients do not do.

    s = rtsp_server(srs)              s.rtsp_url("s"), s.rtsp_port, s.rtsp("s") is a client of it
    c = s.rtsp()
    c.request("DESCRIBE", url)        the Answer: status, fields, body
    c.play(url, tracks=(0, 1))        DESCRIBE to PLAY over TCP; then c.frame() returns the media

"""
import base64
import hashlib
import re
import socket
import struct
import time
from collections import namedtuple

from procs import free_port, patience

Packet = namedtuple("Packet", "channel type marker seq time ssrc payload")
Report = namedtuple("Report", "channel type ssrc ntp time packets octets")


def free_pair():
    """Returns an even free UDP port whose successor is free as well."""
    while True:
        port = free_port() & ~1
        try:
            for p in (port, port + 1):
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                    s.bind(("127.0.0.1", p))
            return port
        except OSError:
            pass


def rtsp_server(srs, vhost="", glob="", rtsp="", server="", **how):
    """Starts a server of the fixture `srs` with RTSP. rtsp: additional directives of vhost.rtsp (a complete vhost has its own);
    server: those of rtsp_server."""
    port = free_port()
    words = f"rtsp_server {{ enabled on; listen 127.0.0.1:{port};"
    if "udp_port" not in server:
        words += f" udp_port {free_pair()};"
    if "vhost " not in vhost:
        vhost = f"rtsp {{ enabled on; {rtsp} }}\n{vhost}"
    s = srs(vhost=vhost, glob=f"{glob}\n{words} {server} }}", **how)
    s.rtsp_port = port
    s.rtsp_url = lambda stream="s", app="live", user="": \
        f"rtsp://{user + '@' if user else ''}127.0.0.1:{port}/{app}/{stream}"
    s.rtsp = lambda **more: RtspClient(port, **more)
    return s


class Answer:
    def __init__(self, head, body):
        lines = head.split("\r\n")
        self.line, self.body = lines[0], body
        self.pairs = [(k.strip().lower(), v.strip()) for k, _, v in (x.partition(":") for x in lines[1:])]
        self.status = int(lines[0].split()[1]) if lines[0].startswith("RTSP/") else 0

    def __getitem__(self, name):
        return next((v for k, v in self.pairs if k == name.lower()), None)

    def all(self, name):
        return [v for k, v in self.pairs if k == name.lower()]

    def __repr__(self):
        return f"<{self.line} {self.pairs}>"


class Closed(Exception):
    """The server ended the connection."""


class RtspClient:
    def __init__(self, port, host="127.0.0.1", timeout=5.0):
        self.sock = socket.create_connection((host, port), timeout=patience(timeout))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buf, self.cseq, self.session = b"", 0, None
        self.kept = []  # frames that arrived before a response

    def close(self):
        self.sock.close()

    # -- receiving

    def _more(self):
        got = self.sock.recv(262144)
        if not got:
            raise Closed("it closed the connection")
        self.buf += got

    def _need(self, n):
        while len(self.buf) < n:
            self._more()

    def item(self):
        """Returns the next item: an Answer (or a request, with status 0), or a frame (channel, bytes)."""
        while True:
            self._need(1)
            if self.buf[:1] == b"$":
                self._need(4)
                size = int.from_bytes(self.buf[2:4], "big")
                self._need(4 + size)
                out = self.buf[1], self.buf[4:4 + size]
                self.buf = self.buf[4 + size:]
                return out
            if self.buf[:1] in b"\r\n":
                self.buf = self.buf[1:]
                continue
            while b"\r\n\r\n" not in self.buf:
                self._more()
            head, _, self.buf = self.buf.partition(b"\r\n\r\n")
            a = Answer(head.decode("latin-1"), b"")
            size = int(a["content-length"] or 0)
            self._need(size)
            a.body, self.buf = self.buf[:size], self.buf[size:]
            return a

    def answer(self):
        """Returns the next response; keeps earlier frames for frame()."""
        end = time.monotonic() + self.sock.gettimeout()
        while time.monotonic() < end:
            x = self.item()
            if isinstance(x, Answer):
                if x["session"]:
                    self.session = x["session"].partition(";")[0]
                return x
            self.kept.append(x)
        raise TimeoutError("no answer, but frames")

    def frame(self):
        """Returns the next frame unparsed: (channel, bytes)."""
        while not self.kept:
            x = self.item()
            if not isinstance(x, Answer):
                return x
        return self.kept.pop(0)

    def packet(self):
        """Returns the next frame parsed: an RTP Packet, or a Report if RTCP begins with one (or None)."""
        channel, data = self.frame()
        return read_rtcp(channel, data) if channel & 1 else read_rtp(channel, data)

    # -- requests

    def send(self, raw):
        self.sock.sendall(raw if isinstance(raw, bytes) else raw.encode())

    def words(self, method, url, fields=None, body=b""):
        self.cseq += 1
        lines = [f"{method} {url} RTSP/1.0", f"CSeq: {self.cseq}"]
        given = {k.lower() for k in fields or {}}
        if self.session and "session" not in given:
            lines.append(f"Session: {self.session}")
        lines += [f"{k}: {v}" for k, v in (fields or {}).items() if v is not None]
        if body:
            lines.append(f"Content-Length: {len(body)}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + (body if isinstance(body, bytes) else body.encode())

    def request(self, method, url, fields=None, body=b""):
        self.send(self.words(method, url, fields, body))
        a = self.answer()
        assert a["cseq"] == str(self.cseq), a
        return a

    def setup(self, url, track=None, channels=None, transport=None):
        if transport is None:
            n = 2 * (track or 0) if channels is None else channels
            transport = f"RTP/AVP/TCP;unicast;interleaved={n}-{n + 1}"
        where = url if track is None else f"{url}/trackID={track}"
        return self.request("SETUP", where, {"Transport": transport})

    def play(self, url, tracks=(0, 1), fields=None):
        """Sends DESCRIBE, SETUP of these tracks over TCP, and PLAY; returns the response to PLAY."""
        a = self.request("DESCRIBE", url, {"Accept": "application/sdp"})
        assert a.status == 200, a
        self.sdp = a.body.decode()
        for t in tracks:
            a = self.setup(url, t)
            assert a.status == 200, a
        a = self.request("PLAY", url, {"Range": "npt=0.000-", **(fields or {})})
        assert a.status == 200, a
        return a


def read_rtp(channel, data):
    b0, b1, seq, time, ssrc = struct.unpack(">BBHII", data[:12])
    at = 12 + 4 * (b0 & 15)
    if b0 & 16:
        at += 4 + 4 * int.from_bytes(data[at + 2:at + 4], "big")
    end = len(data) - (data[-1] if b0 & 32 else 0)
    return Packet(channel, b1 & 127, bool(b1 & 128), seq, time, ssrc, data[at:end])


def read_rtcp(channel, data):
    if len(data) < 28 or data[1] != 200:
        return None
    ssrc, high, low, time, packets, octets = struct.unpack(">IIIIII", data[4:28])
    return Report(channel, 200, ssrc, high + low / 2**32, time, packets, octets)


def rtp_info(a):
    """[(url, seq, rtptime)] of the response to PLAY."""
    out = []
    for part in (a["rtp-info"] or "").split(","):
        p = dict(x.strip().split("=", 1) for x in part.split(";") if "=" in x)
        if p:
            out.append((p["url"], int(p["seq"]), int(p["rtptime"])))
    return out


# -- login

def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def challenge(a, scheme):
    """Returns the parameters of this WWW-Authenticate, or None."""
    for v in a.all("www-authenticate"):
        if v.lower().startswith(scheme.lower() + " "):
            return dict(re.findall(r'(\w+)="?([^",]*)"?', v[len(scheme):]))
    return None


def digest(ask, method, uri, user, password):
    def md5(text):
        return hashlib.md5(text.encode()).hexdigest()
    realm, nonce = ask["realm"], ask["nonce"]
    response = md5(f"{md5(f'{user}:{realm}:{password}')}:{nonce}:{md5(f'{method}:{uri}')}")
    return f'Digest username="{user}", realm="{realm}", nonce="{nonce}", uri="{uri}", response="{response}"'
