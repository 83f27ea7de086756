# SPDX-License-Identifier: MIT
"""HTTP by hand: requests as bytes, parsed responses, FLV and WebSocket streams, certificates."""
import base64
import functools
import hashlib
import os
import socket
import ssl
import struct
import subprocess
import threading
import time
from collections import namedtuple

import flv
from flv import Tag
from procs import patience

Answer = namedtuple("Answer", "status headers body")


class Http:
    """One connection. get() sends a request and reads the response; send() and answer() do one half each."""

    def __init__(self, port, tls=None, host="127.0.0.1", timeout=5.0, name="localhost", rcvbuf=None):
        self.sock = socket.socket()
        if rcvbuf:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
        self.sock.settimeout(patience(timeout))
        self.sock.connect((host, port))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls:
            self.sock = tls.wrap_socket(self.sock, server_hostname=name)
        self.buf = b""

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def close(self):
        self.sock.close()

    def send(self, data):
        self.sock.sendall(data if isinstance(data, bytes) else data.encode())

    def ask(self, path, method="GET", body=b"", version="1.1", **headers):
        fields = {"Host": "localhost"}
        fields.update({k.replace("_", "-"): v for k, v in headers.items()})
        if body:
            fields.setdefault("Content-Length", len(body))
        head = f"{method} {path} HTTP/{version}\r\n"
        head += "".join(f"{k}: {v}\r\n" for k, v in fields.items() if v is not None)
        self.send(head.encode() + b"\r\n" + body)

    def more(self):
        got = self.sock.recv(262144)
        if not got:
            raise EOFError(f"the server closed after {self.buf[:200]!r}")
        self.buf += got

    def take(self, n):
        got = bytearray()
        while True:
            part = self.buf[:n - len(got)]
            got += part
            self.buf = self.buf[len(part):]
            if len(got) == n:
                return bytes(got)
            self.more()

    def line(self):
        while b"\r\n" not in self.buf:
            self.more()
        got, _, self.buf = self.buf.partition(b"\r\n")
        return got.decode()

    def head(self):
        version, status, _ = (self.line() + " ").split(" ", 2)
        assert version == "HTTP/1.1"
        headers = {}
        while (line := self.line()):
            k, _, v = line.partition(":")
            headers[k.lower()] = v.strip()
        return int(status), headers

    def answer(self, method="GET"):
        status, headers = self.head()
        body = b""
        if method == "HEAD" or status in (101, 204, 304):
            pass
        elif headers.get("transfer-encoding") == "chunked":
            while (n := int(self.line().split(";")[0], 16)):
                body += self.take(n)
                self.take(2)
            self.line()
        elif "content-length" in headers:
            body = self.take(int(headers["content-length"]))
        else:
            body = self.rest()
        return Answer(status, headers, body)

    def get(self, path, method="GET", **how):
        self.ask(path, method, **how)
        return self.answer(method)

    def rest(self):
        """Reads everything until the server closes."""
        got, self.buf = bytearray(self.buf), b""
        while (piece := self.sock.recv(262144)):
            got += piece
        return bytes(got)

    def closed(self, timeout=5.0):
        """Whether the server closes within this time."""
        self.sock.settimeout(patience(timeout))
        try:
            while self.sock.recv(65536):
                pass
        except ConnectionError:
            return True
        except TimeoutError:
            return False
        return True


def once(port, path, method="GET", tls=None, **how):
    with Http(port, tls) as h:
        return h.get(path, method, **how)


class FlvWatcher(threading.Thread):
    """Plays HTTP-FLV, or over WebSocket, and keeps the tags."""

    def __init__(self, port, path="/live/s.flv", ws=False, tls=None, **headers):
        super().__init__(daemon=True)
        self.ws, self.tags, self.ended = ws, [], None
        self.flags, self.messages = None, []
        self.lock, self.halt = threading.Lock(), False
        self.http = Http(port, tls, timeout=30)
        if ws:
            self.key = base64.b64encode(os.urandom(16)).decode()
            headers.update(Connection="Upgrade", Upgrade="websocket", Sec_WebSocket_Key=self.key,
                           Sec_WebSocket_Version="13")
        self.http.ask(path, **headers)
        self.status, self.headers = self.http.head()
        self.start()

    def _read(self, n):
        while len(self.http.buf) < n:
            self.http.more()
        got, self.http.buf = self.http.buf[:n], self.http.buf[n:]
        return got

    def frame(self):
        """One whole WebSocket frame: (opcode, payload)."""
        first, second = self._read(2)
        assert first & 0x80 and not first & 0x70 and not second & 0x80
        size = second & 0x7f
        if size == 126:
            size = struct.unpack(">H", self._read(2))[0]
        elif size == 127:
            size = struct.unpack(">Q", self._read(8))[0]
        return first & 0xf, self._read(size)

    def say(self, op, data=b""):
        mask = os.urandom(4)
        assert len(data) < 126
        self.http.send(bytes([0x80 | op, 0x80 | len(data)]) + mask
                       + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def _tag(self, data):
        kind, size, low, high = data[0], int.from_bytes(data[1:4], "big"), data[4:7], data[7]
        assert len(data) == size + 15, (len(data), size)
        assert int.from_bytes(data[-4:], "big") == size + 11
        with self.lock:
            self.tags.append(Tag(kind, int.from_bytes(low, "big") | high << 24, data[11:-4]))

    def _run_http(self):
        head = self._read(13)
        assert head[:4] == b"FLV\x01" and head[5:] == b"\0\0\0\x09\0\0\0\0"
        self.flags = head[4]
        while not self.halt:
            head = self._read(11)
            self._tag(head + self._read(int.from_bytes(head[1:4], "big") + 4))

    def _run_ws(self):
        while not self.halt:
            op, data = self.frame()
            if op != 2:
                self.messages.append((op, data))
                if op == 8:
                    return
            elif self.flags is None:
                assert data[:4] == b"FLV\x01" and len(data) == 13
                self.flags = data[4]
            else:
                self._tag(data)

    def run(self):
        try:
            self._run_ws() if self.ws else self._run_http()
            self.ended = "end"
        except (OSError, EOFError) as e:
            self.ended = e
        except BaseException as e:
            self.ended = e
            raise

    def wait(self, want, timeout=5.0):
        end = time.monotonic() + patience(timeout)
        while time.monotonic() < end:
            with self.lock:
                if want(self.tags):
                    return True
            time.sleep(0.02)
        return False

    def stop(self):
        self.halt = True
        try:
            self.http.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.join(5)
        self.http.close()
        return self.tags

    def accepted(self):
        want = hashlib.sha1((self.key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        return self.headers.get("sec-websocket-accept") == base64.b64encode(want).decode()


@functools.lru_cache
def rsa_key():
    return subprocess.run(["openssl", "genrsa", "2048"], check=True, capture_output=True).stdout


class Cert:
    """A self-signed certificate for these names and 127.0.0.1."""

    def __init__(self, folder, name="server", names=("localhost",), kind="ec", days=2):
        self.cert, self.key = str(folder / f"{name}.crt"), str(folder / f"{name}.key")
        self.renew(names, kind, days)

    def renew(self, names=("localhost",), kind="ec", days=2):
        new = ["-newkey", "ec", "-pkeyopt", f"ec_paramgen_curve:{'prime256v1' if kind == 'ec' else kind}"]
        if kind == "rsa":  # all share one key, because generating it takes long
            with open(self.key + ".new", "wb") as f:
                f.write(rsa_key())
            new = ["-key", self.key + ".new"]
        alt = ",".join(f"DNS:{n}" for n in names) + ",IP:127.0.0.1"
        subprocess.run(["openssl", "req", "-x509", *new, "-nodes", "-days", str(days), "-subj",
                        f"/CN={names[0]}", "-addext", f"subjectAltName={alt}",
                        *(["-keyout", self.key + ".new"] if kind != "rsa" else []), "-out", self.cert + ".new"],
                       check=True, capture_output=True)
        os.replace(self.key + ".new", self.key)
        os.replace(self.cert + ".new", self.cert)

    def conf(self, port, certificates=""):
        return (f"enabled on; listen 127.0.0.1:{port}; key {self.key}; cert {self.cert}; "
                f"{certificates}")

    def trust(self):
        """A client's SSL context that trusts only this certificate."""
        c = ssl.create_default_context(cafile=self.cert)
        c.set_alpn_protocols(["h2", "http/1.1"])
        return c


assert flv  # tags are distinguished there
