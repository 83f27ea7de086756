# SPDX-License-Identifier: MIT
"""A real browser: headless Chromium controlled over its debugging protocol, and JavaScript players from npm, each with a pinned
version and checksum.

`need()` skips a test and says what is missing.

"""
import base64
import hashlib
import json
import os
import shutil
import socket
import struct
import subprocess
import tarfile
import tempfile
import time

import pytest

import procs
from procs import SLOW, wait_for

PACKAGES = {  # version, checksum from npm
    "mpegts.js": ("1.8.2", "sha512-cZYMa5muASH55wrS6JK5IGkUqnCA96c0f+WdnW91jIK9s/N6NzjmTQDJNYg9A5u/"
                           "G2Q5nj2b3w1Zwzze/9guxA=="),
    "hls.js": ("1.7.4", "sha512-3GlxGdPvT2YHvQYOt+yOzT/DEior/qJVNIylHA77kgeoBTdQQqi70GwefNEUmHQeNGyjC8U62"
                        "+bruqW/Tpm+tg=="),
    "shaka-player": ("5.2.12", "sha512-vEsuVDI3+oLh+yqpjXexQZlg2XMUBI0VrqatDuKWacPaxAud6Uph5uCowUPLhUgNG5"
                               "XKWCpoM4l1r8qYzWH+zg=="),
    "dashjs": ("4.7.4", "sha512-+hldo25QPP3H/NOwqUrvt4uKdMse60/Gsz9AUAnoYfhga8qHWq4nWiojUosO"
                        "iigbigkDTCAn9ORcvUaKCvmfCA=="),
}
CACHE = os.path.join(procs.ROOT, "objs", "npm")


def chromium():
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def need(package):
    """Returns the folder of an npm package; skips the test if it or the browser is not available."""
    if not chromium():
        pytest.skip("no Chromium: apt-get install chromium")
    version, checksum = PACKAGES[package]
    folder = os.path.join(CACHE, f"{package.replace('/', '_')}-{version}")
    if os.path.isdir(os.path.join(folder, "package")):
        return os.path.join(folder, "package")
    if not shutil.which("npm"):
        pytest.skip(f"no npm to get {package} with")
    os.makedirs(CACHE, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as tmp:
        try:
            r = subprocess.run(["npm", "pack", "--silent", f"{package}@{version}"], cwd=tmp,
                               capture_output=True, timeout=90)
        except subprocess.TimeoutExpired:
            pytest.skip(f"npm does not get {package}@{version}: no network?")
        files = [f for f in os.listdir(tmp) if f.endswith(".tgz")]
        if r.returncode or not files:
            pytest.skip(f"npm does not get {package}@{version}: {r.stderr.decode()[-200:]}")
        path = os.path.join(tmp, files[0])
        with open(path, "rb") as f:
            got = "sha512-" + base64.b64encode(hashlib.sha512(f.read()).digest()).decode()
        assert got == checksum, f"{package}@{version} is not what it was: {got}"
        with tarfile.open(path) as tar:
            tar.extractall(tmp + "/whole", **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
        try:
            os.rename(tmp + "/whole", folder)
        except OSError:
            pass  # a test that runs in parallel was faster
    return os.path.join(folder, "package")


class Page:
    """One page. run() evaluates JavaScript and returns the value."""

    def __init__(self, tmp, url="about:blank", flags=()):
        self.profile = tempfile.mkdtemp(prefix="chromium-")
        self.proc = procs.Proc([
            chromium(), "--headless=new", "--no-sandbox", "--disable-gpu", "--mute-audio",
            "--no-first-run", "--disable-background-networking", "--disable-component-update",
            "--disable-extensions", "--disable-sync", "--disable-dev-shm-usage",
            "--autoplay-policy=no-user-gesture-required", "--remote-debugging-port=0",
            f"--user-data-dir={self.profile}", "--window-size=800,600", *flags, "about:blank"],
            os.path.join(str(tmp), "chromium.log"), env=dict(os.environ, HOME=self.profile))
        self.buf, self.id = b"", 0
        self.errors = []  # errors of the page
        self._connect()
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        if url != "about:blank":
            self.call("Page.navigate", url=url)

    def _connect(self):
        path = os.path.join(self.profile, "DevToolsActivePort")
        assert wait_for(lambda: os.path.exists(path) and open(path).read().count("\n") >= 1, 20), \
            self.proc.text()[-2000:]
        port = int(open(path).read().split()[0])
        targets = []

        def look():
            with socket.create_connection(("127.0.0.1", port), 5) as s:
                s.sendall(f"GET /json HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
                got = b""
                while (piece := s.recv(65536)):
                    got += piece
                    head, _, body = got.partition(b"\r\n\r\n")
                    try:
                        targets[:] = [t for t in json.loads(body) if t["type"] == "page"]
                        return targets
                    except ValueError:
                        continue
            return []
        assert wait_for(look, 10), "the browser has no page"
        where = targets[0]["webSocketDebuggerUrl"].split("/", 3)[3]
        self.sock = socket.create_connection(("127.0.0.1", port), 30 * SLOW)
        self.sock.sendall(f"GET /{where} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
                          f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                          f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n\r\n".encode())
        while b"\r\n\r\n" not in self.buf:
            self.buf += self.sock.recv(65536)
        self.buf = self.buf.partition(b"\r\n\r\n")[2]

    def _take(self, n):
        while len(self.buf) < n:
            got = self.sock.recv(262144)
            if not got:
                raise EOFError("the browser is gone: " + self.proc.text()[-1000:])
            self.buf += got
        got, self.buf = self.buf[:n], self.buf[n:]
        return got

    def _message(self):
        whole = b""
        while True:
            first, size = self._take(2)
            if size == 126:
                size = struct.unpack(">H", self._take(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self._take(8))[0]
            whole += self._take(size)
            if first & 0x80:
                return json.loads(whole)

    def call(self, method, **params):
        self.id += 1
        data = json.dumps({"id": self.id, "method": method, "params": params}).encode()
        head = struct.pack(">BB", 0x81, 0x80 | (len(data) if len(data) < 126 else 126))
        if len(data) >= 126:
            head += struct.pack(">H", len(data))
        self.sock.sendall(head + b"\0\0\0\0" + data)
        while True:
            m = self._message()
            if m.get("id") == self.id:
                assert "error" not in m, m
                return m["result"]
            self._note(m)

    def _note(self, m):
        if m.get("method") == "Runtime.exceptionThrown":
            d = m["params"]["exceptionDetails"]
            self.errors.append(d.get("exception", {}).get("description") or d["text"])
        elif m.get("method") == "Log.entryAdded" and m["params"]["entry"]["level"] == "error":
            e = m["params"]["entry"]
            self.errors.append(f"{e['text']} {e.get('url', '')}")

    def run(self, code):
        r = self.call("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in r, r["exceptionDetails"]
        return r["result"].get("value")

    def wait(self, code, timeout=10.0):
        return wait_for(lambda: self.run(code), timeout, 0.1)

    def open(self, url):
        got = self.call("Page.navigate", url=url)
        assert "errorText" not in got, got
        assert self.wait("document.readyState === 'complete'")

    def text(self):
        return self.run("document.body.innerText")

    def click(self, selector):
        self.run(f"document.querySelector({json.dumps(selector)}).click()")

    def look(self, width=1180, height=860, mobile=False, dark=False, scale=1):
        """Sets the size of the screen."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=scale, mobile=mobile)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def shot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.sock.close()
        self.proc.end()
        shutil.rmtree(self.profile, ignore_errors=True)


# A frame's number as 16 black and white fields, so that a page can report which frame it shows and when.
BARCODE = ("geq=lum='if(mod(floor(N/pow(2,floor(X*16/W))),2),220,30)':cb=128:cr=128")
READ_BARCODE = """
(function () {
    const v = document.querySelector('video'), c = window.barcodeCanvas ||
        (window.barcodeCanvas = document.createElement('canvas'));
    c.width = 160; c.height = 8;
    const g = c.getContext('2d', { willReadFrequently: true });
    g.drawImage(v, 0, 0, 160, 8);
    let n = 0;
    for (let i = 0; i < 16; i++)
        if (g.getImageData(i * 10 + 5, 4, 1, 1).data[0] > 120) n |= 1 << i;
    return [n, Date.now() / 1000];
})()
"""


def barcode_flv(path, seconds=20, rate=25, gop=None):
    """Makes an FLV file whose frame N shows N; no frame depends on a later one."""
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", f"color=s=320x96:r={rate}:d={seconds}",
                    "-f", "lavfi", "-i", f"sine=frequency=300:duration={seconds}:sample_rate=44100",
                    "-vf", BARCODE, "-c:v", "libx264", "-preset", "veryfast", "-tune", "zerolatency",
                    "-pix_fmt", "yuv420p", "-crf", "18", "-g", str(gop or rate), "-c:a", "aac", "-b:a", "48k",
                    "-f", "flv", str(path)], check=True, timeout=120 * SLOW)
    return path


def latency(page, began, rate=25, samples=12, step=0.25):
    """Seconds from sending a frame to displaying it; `began` is when frame 0 was sent (wall clock)."""
    got = []
    for _ in range(samples):
        n, at = page.run(READ_BARCODE)
        got.append(at - (began + n / rate))
        time.sleep(step)
    return sorted(got)
