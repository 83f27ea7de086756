# SPDX-License-Identifier: MIT
"""RTSP clients inside of HTTP: through a GET and a POST, and through a WebSocket."""
import base64
import os
import socket
import struct

from procs import patience
from rtspclient import Closed, RtspClient

TYPE = "application/x-rtsp-tunnelled"


def connect(port, tls=None, rcvbuf=None):
    sock = socket.socket()
    if rcvbuf:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
    sock.settimeout(patience(10))
    sock.connect(("127.0.0.1", port))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return tls.wrap_socket(sock, server_hostname="localhost") if tls else sock


def head(sock):
    """Returns the head of the response, and the bytes after it."""
    got = b""
    while b"\r\n\r\n" not in got:
        piece = sock.recv(4096)
        if not piece:
            raise Closed(got.decode("latin-1"))
        got += piece
    text, _, rest = got.partition(b"\r\n\r\n")
    return text.decode(), rest


def get(port, cookie, tls=None, path="/live/s", **how):
    """Opens the downstream half; returns the head of the response."""
    sock = connect(port, tls, **how)
    sock.sendall(f"GET {path} HTTP/1.0\r\nx-sessioncookie: {cookie}\r\nAccept: {TYPE}\r\n\r\n".encode())
    return sock, head(sock)


def post(port, cookie, tls=None, path="/live/s", behind=b""):
    """Opens the upstream half."""
    sock = connect(port, tls)
    sock.sendall(f"POST {path} HTTP/1.0\r\nx-sessioncookie: {cookie}\r\nContent-Type: {TYPE}\r\n"
                 "Content-Length: 32767\r\n\r\n".encode() + behind)
    return sock


class Tunnel(RtspClient):
    """A tunnel of a GET and a POST; `port` may be two, one for each."""

    def __init__(self, port, tls=None, cookie=None, **how):
        self.ports = port if isinstance(port, tuple) else (port, port)
        self.tls, self.cookie = tls, cookie or os.urandom(8).hex()
        self.buf, self.cseq, self.session, self.kept = b"", 0, None, []
        self.down, (self.answered, self.buf) = get(self.ports[0], self.cookie, tls, **how)
        assert " 200 " in self.answered, self.answered
        self.up, self.sock = None, self
        self.post()

    def post(self):
        """Replaces the upstream half."""
        old, self.up = self.up, post(self.ports[1], self.cookie, self.tls)
        if old:
            old.close()

    def recv(self, n):
        return self.down.recv(n)

    def gettimeout(self):
        return self.down.gettimeout()

    def sendall(self, data):
        self.up.sendall(base64.b64encode(data))

    def close(self):
        self.up.close()
        self.down.close()


class WebSocket(RtspClient):
    def __init__(self, port, tls=None, rcvbuf=None):
        self.below = connect(port, tls, rcvbuf)
        self.buf, self.cseq, self.session, self.kept = b"", 0, None, []
        self.controls = []
        key = base64.b64encode(os.urandom(16)).decode()
        self.below.sendall(("GET /rtsp-over-websocket HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
                            "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Protocol: rtsp.onvif.org\r\n\r\n").encode())
        self.answered, self.raw = head(self.below)
        assert " 101 " in self.answered and "rtsp.onvif.org" in self.answered, self.answered
        self.sock = self

    def _read(self, n):
        while len(self.raw) < n:
            got = self.below.recv(262144)
            if not got:
                raise Closed("it closed the WebSocket")
            self.raw += got
        out, self.raw = self.raw[:n], self.raw[n:]
        return out

    def recv(self, _):
        while True:
            first, second = self._read(2)
            assert first & 0x80 and not second & 0x80
            size = second
            if size == 126:
                size = struct.unpack(">H", self._read(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self._read(8))[0]
            data = self._read(size)
            if first & 0xf == 2:
                assert data, "an empty message"
                return data
            self.controls.append((first & 0xf, data))
            if first & 0xf == 8:
                return b""

    def say(self, op, data=b"", fin=True):
        mask = os.urandom(4)
        n = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + struct.pack(">H", len(data))
        self.below.sendall(bytes([0x80 * fin | op]) + n + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def gettimeout(self):
        return self.below.gettimeout()

    def sendall(self, data):
        self.say(2, data)

    def close(self):
        self.below.close()
