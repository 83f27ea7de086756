# SPDX-License-Identifier: MIT
"""No memory leaks during churn: publishers, players of every kind and API calls come and go, the forward destination comes and goes,
the configuration is reloaded; with the heap checker, valgrind and the sanitizers. LEAK_SECONDS=3600 for an hour of each (20 seconds)."""
import os
import re
import signal
import socket
import threading
import time
import urllib.error
import urllib.request

import pytest

import lab
import procs
from lab import Server

SECONDS = int(os.environ.get("LEAK_SECONDS", "20"))


class Churn:
    """All activities at once, until stop()."""

    def __init__(self, server, folder, to_port, http_port):
        self.s, self.folder, self.to_port, self.http_port = server, folder, to_port, http_port
        self.over = threading.Event()
        self.counts = dict.fromkeys(("forward", "http", "api", "reload", "junk"), 0)
        self.children = []
        self.threads = [threading.Thread(target=self.guard, args=(f,)) for f in
                        (self.far_end, self.http, self.api, self.reloads, self.junk)]
        self.tools()
        for t in self.threads:
            t.start()

    def guard(self, what):
        while not self.over.is_set():
            try:
                what()
            except OSError:  # rejected and broken connections are intended here
                self.over.wait(0.2)

    def tools(self):
        url = f"rtmp://127.0.0.1:{self.s.port}/live/s{{i}}"
        base = os.path.join(lab.ROOT, lab.OBJS)
        common = ["--stream-count", 5, "-s", 1, "-d", 0.1, "-e", 0.2]
        for n, argv in enumerate((
                ["sb_rtmp_publish", "-r", url, "-c", 5, "-i", procs.SOURCE, "--churn", 3],
                ["sb_rtmp_publish", "-r", url, "-c", 3, "-i", procs.SOURCE, "--churn", 1, "--chunk-size", 128],
                ["sb_rtmp_load", "-r", url, "-c", 20, "--churn", 1],
                ["sb_rtmp_load", "-r", url, "-c", 5, "--idle", "--churn", 1],
                ["sb_rtmp_load", "-r", url, "-c", 3, "--read-kbps", 20, "--churn", 8])):
            self.children.append(procs.Proc([f"{base}/{argv[0]}", *argv[1:], *common],
                                            os.path.join(self.folder, f"tool{n}.log")))

    def far_end(self):
        """The forward destination: up for 3 s, down for 2 s."""
        far = Server(os.path.join(lab.ROOT, lab.OBJS), self.folder, name="far", port=self.to_port)
        self.over.wait(3)
        far.proc.end(signal.SIGKILL if self.counts["forward"] % 2 else signal.SIGTERM)
        self.counts["forward"] += 1
        self.over.wait(2)

    def http(self):
        n = self.counts["http"]
        path = (f"/live/s{n % 5}.flv", f"/live/s{n % 5}.m3u8", "/live/none.flv", "/")[n % 4]
        self.counts["http"] += 1
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.http_port}{path}", timeout=2) as r:
                r.read(50000)
        except urllib.error.HTTPError:
            pass
        self.over.wait(0.05)

    def api(self):
        n = self.counts["api"]
        path = ("summaries", "streams/", "clients/", "vhosts/", "nothing", "features")[n % 6]
        self.counts["api"] += 1
        try:
            self.s.get("/api/v1/" + path)
        except urllib.error.HTTPError:
            pass
        self.over.wait(0.1)

    def reloads(self):
        self.over.wait(1.5)
        self.s.proc.kill(signal.SIGHUP)
        self.counts["reload"] += 1

    def junk(self):
        """Clients that send nothing, half a handshake, or garbage."""
        n = self.counts["junk"]
        self.counts["junk"] += 1
        with socket.create_connection(("127.0.0.1", self.s.port if n % 2 else self.http_port), 2) as c:
            c.sendall((b"", b"\3" + bytes(700), b"GET / HTTP/1.1\r\nHost: ", os.urandom(3000))[n % 4])
            self.over.wait(0.1)

    def stop(self):
        self.over.set()
        for t in self.threads:
            t.join(30)
        for c in self.children:
            c.end(signal.SIGINT, 5)


def churn(variant, switches, folder, before=(), up=20, **env):
    to_port, http_port = procs.free_port(), procs.free_port()
    s = Server(lab.build(variant, *switches), folder, before=before, http=http_port,
               glob=f"http_server {{ enabled on; listen 127.0.0.1:{http_port}; dir {folder}/www; }}",
               vhost=f"""
    forward {{ enabled on; destination 127.0.0.1:{to_port}; }}
    http_remux {{ enabled on; mount [vhost]/[app]/[stream].flv; }}
    hls {{ enabled on; hls_path {folder}/www; hls_fragment 1; hls_window 3; }}
""", **env).up(up)
    os.makedirs(os.path.join(folder, "www"), exist_ok=True)
    c = Churn(s, str(folder), to_port, http_port)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and s.proc.running():
        time.sleep(0.5)
    c.stop()
    assert s.proc.running(), s.text()[-4000:]
    assert all(c.counts.values()), c.counts
    print(variant, c.counts)
    return s


def test_heap_checker(tmp_path):
    objs = lab.build("gmc", "--gperf=on", "--gmc=on") if procs.have("google-pprof") else pytest.skip("no gperftools")
    s = churn("gmc", ("--gperf=on", "--gmc=on"), tmp_path, HEAPCHECK="normal",
              PPROF_PATH=os.path.join(objs, "pprof"))
    code = s.interrupt(60)
    assert code == 0 and "No leaks found" in s.errors(), s.errors()


@pytest.mark.needs("valgrind")
def test_valgrind(tmp_path):
    s = churn("valgrind", ("--valgrind=on",), tmp_path, up=60,
              before=("valgrind", "--leak-check=full", "--num-callers=25"))
    assert s.interrupt(90) == 0
    said = s.errors()
    assert "ERROR SUMMARY: 0 errors" in said, said[-6000:]
    assert re.search(r"definitely lost: 0 bytes|All heap blocks were freed", said), said[-6000:]


def test_sanitizers(tmp_path):
    s = churn("asan", ("--sanitizer=on",), tmp_path)
    assert s.interrupt(60) == 0, s.errors()[-6000:]
    assert "Sanitizer" not in s.text() and "runtime error" not in s.text(), s.errors()[-6000:]
