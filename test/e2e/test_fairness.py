# SPDX-License-Identifier: MIT
"""Untrusted clients that never stop: whatever one connection sends, it gets its slice of the thread and no more. As in every test,
the end of the server checks that it never blocked the thread; these tests attack it."""
import os
import select
import socket
import ssl
import struct
import threading
import time

import pytest

import amf
import flv
from flv import VIDEO
from flvgen import synthetic
from procs import free_port
from rtmpclient import CMD, USER, ChunkWriter
from webclient import Cert, Http, once

SECONDS = 0.8
ENOUGH = 256 * 1024  # minimum number of bytes, or nothing was tested
WAITS = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class Flood:
    """Sends `words` again and again, as fast as the server reads, and reads everything it sends."""

    def __init__(self, sock, words):
        self.sock, self.said, self.heard = sock, 0, 0
        self.words = words * max(1, 65536 // len(words))
        self.sock.setblocking(False)
        self.lock = threading.Lock() # a TLS connection may be used by one thread at a time
        self.end = time.monotonic() + SECONDS
        self.threads = [threading.Thread(target=f, daemon=True) for f in (self._say, self._hear)]
        for t in self.threads:
            t.start()

    def _say(self):
        view = memoryview(self.words)
        at = 0
        while time.monotonic() < self.end:
            try:
                with self.lock:
                    n = self.sock.send(view[at:])
            except WAITS:
                select.select([], [self.sock], [], 0.2)
                continue
            except OSError:
                return
            self.said += n
            at = (at + n) % len(view)

    def _hear(self):
        while time.monotonic() < self.end:
            try:
                with self.lock:
                    got = self.sock.recv(1 << 20)
            except WAITS:
                select.select([self.sock], [], [], 0.2)
                continue
            except OSError:
                return
            if not got:
                return
            self.heard += len(got)

    def join(self):
        for t in self.threads:
            t.join(10)
        self.sock.close()


@pytest.fixture
def live(srs, tmp_path):
    """A server with a stream, an innocent player, and files; live(mw) returns (server, http port)."""
    def start(mw="0", glob="", vhost=""):
        port, metrics = free_port(), free_port()
        root = tmp_path / "html"
        root.mkdir()
        (root / "small.txt").write_text("small\n")
        with open(root / "big.bin", "wb") as f:
            f.write(os.urandom(1 << 20) * 32)
        s = srs(f"min_latency on; play {{ mw_latency {mw}; }} http_remux {{ enabled on; }} {vhost}",
                glob=f"http_server {{ enabled on; listen 127.0.0.1:{port}; dir {root}; {glob} }} "
                     f"exporter {{ enabled on; listen 127.0.0.1:{metrics}; }}")
        s.metrics = metrics
        s.push(synthetic(10, gop=25), loop=True)
        s.innocent = s.watch()
        assert s.innocent.wait(lambda got: len(flv.frames(got, VIDEO)) >= 5)
        return s, port
    return start


def held_up_nobody(s, flood):
    """Checks that the innocent player continues meanwhile and afterwards."""
    flood.join()
    seen = len(s.innocent.tags)
    assert s.innocent.wait(lambda got: len(got) >= seen + 5)
    assert flood.said >= ENOUGH, f"only {flood.said} bytes were listened to"


def commands(client, *calls):
    """Commands as one string of bytes, each complete, so that they can be repeated."""
    out = b""
    for name, *args in calls:
        w = ChunkWriter()
        w.size = client.w.size
        out += w.message(8, CMD, 0, client.sid, amf.encode(name, 0, None, *args), fmt=0)
    return out


SAYINGS = {
    "toggles": (("receiveVideo", False), ("receiveVideo", True)),
    "both": (("receiveVideo", False), ("receiveAudio", False), ("receiveVideo", True), ("receiveAudio", True)),
    "pauses": (("pause", True, 0), ("pause", False, 0)),
    "seeks": (("seek", 0),),
    "unknown": (("nonsense", 1),),
}


@pytest.mark.parametrize("saying,mw", [("toggles", "0"), ("both", "auto"), ("pauses", "350"),
                                       pytest.param("seeks", "0", marks=pytest.mark.long), ("unknown", "350")])
def test_player_that_talks(live, saying, mw):
    s, _ = live(mw)
    c = s.player()
    held_up_nobody(s, Flood(c.sock, commands(c, *SAYINGS[saying])))


def test_player_that_pings(live):
    """User control messages that each require a response."""
    s, _ = live()
    c = s.player()
    ping = ChunkWriter().message(2, USER, 0, 0, struct.pack(">HI", 6, 1), fmt=0)
    held_up_nobody(s, Flood(c.sock, ping))


@pytest.mark.parametrize("flow", ["before", "publisher"])
def test_tiny_messages(live, flow):
    """From a client that has not started anything, and from a publisher: audio of one byte."""
    s, _ = live()
    c = s.client()
    if flow == "publisher":
        c.publish("tiny")
    else:
        c.handshake()
        c.connect()
    held_up_nobody(s, Flood(c.sock, ChunkWriter().message(4, 8, 0, max(c.sid, 1), b"\xaf", fmt=0)))


def test_websocket_that_pings(live):
    s, port = live()
    h = Http(port)
    h.ask("/live/s.flv", Upgrade="websocket", Connection="Upgrade", Sec_WebSocket_Version="13",
          Sec_WebSocket_Key="AAAAAAAAAAAAAAAAAAAAAA==")
    assert h.head()[0] == 101
    held_up_nobody(s, Flood(h.sock, b"\x89\x80\0\0\0\0"))


def test_empty_lines_over_http(live):
    """Read only for a limited time: they are not requests. A client that continues is disconnected, and one that stops as well."""
    s, port = live()
    with Http(port) as h:
        h.send(b"\r\n" * 1000)
        assert h.answer().status == 400
        assert h.closed()
    f = Flood(socket.create_connection(("127.0.0.1", port)), b"\r\n")
    f.join()
    assert ENOUGH < f.said < 16 << 20


def test_requests_without_pause(live):
    s, port = live()
    held_up_nobody(s, Flood(socket.create_connection(("127.0.0.1", port)),
                            b"GET /small.txt HTTP/1.1\r\nHost: a\r\n\r\n"))


@pytest.mark.parametrize("tls", [pytest.param(False, marks=pytest.mark.long), True], ids=["http", "https"])
def test_fast_download(live, tmp_path, tls):
    https = free_port()
    cert = Cert(tmp_path)
    s, port = live(glob=f"https {{ {cert.conf(https)} }}")
    sock = socket.create_connection(("127.0.0.1", https if tls else port))
    if tls:
        sock = cert.trust().wrap_socket(sock, server_hostname="localhost")
    f = Flood(sock, b"GET /big.bin HTTP/1.1\r\nHost: localhost\r\n\r\n")
    f.join()
    assert f.heard > 1 << 20


def test_stalls_are_reported(live):
    """The counters of stalls exist in metrics, for an alarm, and in the API: 0 here."""
    s, _ = live()
    text = once(s.metrics, "/metrics").body.decode()
    assert "\nsrs_holds_total 0\n" in text, text
