# SPDX-License-Identifier: MIT
"""A server with all features on, an innocent stream with players, and a measurement of what untrusted clients cost."""
import json
import os
import random
import re
import sys
import time
import urllib.request

import procs
from procs import free_port, wait_for
from rtspclient import free_pair
from webclient import Cert

OBJS = os.path.dirname(procs.BINARY)
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hostile_all.py")
HOLD = re.compile(r"coroutine (.+?)(?: \[\w*\])? held the thread for ([\d.]+) ms")


def html_of(tmp):
    """A folder of files, some of them large."""
    html = tmp / "html"
    html.mkdir()
    (html / "big.bin").write_bytes(random.Random(1).randbytes(32 << 20))
    (html / "big.js").write_text("let abc = 'something that compresses well';\n" * 40000)
    return html


def thread_ns(pid, tid=None):
    """CPU time of one worker's event loop thread."""
    with open(f"/proc/{pid}/task/{tid or pid}/schedstat") as f:
        return int(f.read().split()[0])


def process_ns(pid):
    total = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        try:
            total += thread_ns(pid, tid)
        except OSError:
            pass
    return total


class Site:
    """All protocols, HLS, DASH and recordings, with low latency, so that every gap is caused by others."""

    def __init__(self, srs, tmp_path, memory=64, vhost="", glob="", dvr=True, **how):
        self.tmp, html, self.kept = tmp_path, html_of(tmp_path), []
        p = self.ports = {x: free_port() for x in ("http", "https", "rtmps", "rtc", "rtsp", "srt", "rtmfp", "exporter")}
        tls = Cert(tmp_path, kind="rsa")
        stream = f"""tcp_nodelay on; min_latency on; play {{ queue_length 10; mw_latency 0; }} publish {{ mr off; }}
            hls {{ enabled on; hls_path {html}; hls_fragment 2; hls_window 10; hls_quota 300m; }}
            dash {{ enabled on; dash_path {html}; dash_fragment 2; dash_quota 300m; }}
            dvr {{ enabled {'on' if dvr else 'off'}; dvr_path {tmp_path}/rec/[app]/[stream].[timestamp].flv; dvr_quota 300m; }}
            http_remux {{ enabled on; mount [vhost]/[app]/[stream].flv; }}
            rtc {{ enabled on; rtmp_to_rtc on; rtc_to_rtmp on; }} rtmfp {{ enabled on; }} {vhost}"""
        self.s = srs(glob=f"""
            max_connections 1200;
            limits {{ memory {memory}m; }}
            rtmps {{ {tls.conf(p["rtmps"])} }}
            http_server {{ enabled on; listen 127.0.0.1:{p["http"]}; dir {html}; https {{ {tls.conf(p["https"])} }} }}
            http_api {{ enabled on; listen 127.0.0.1:{p["http"]}; }}
            rtc_server {{ enabled on; listen {p["rtc"]}; candidate 127.0.0.1; }}
            rtsp_server {{ enabled on; listen 127.0.0.1:{p["rtsp"]}; udp_port {free_pair()}; describe_wait 1; }}
            srt_server {{ enabled on; listen 127.0.0.1:{p["srt"]}; }}
            rtmfp_server {{ enabled on; listen 127.0.0.1:{p["rtmfp"]}; }}
            exporter {{ enabled on; listen 127.0.0.1:{p["exporter"]}; }} {glob}""", vhost=f"""
            vhost __defaultVhost__ {{ {stream} rtsp {{ enabled on; mw_latency 0; }} srt {{ enabled on; }} }}
            vhost locked.com {{ rtsp {{ enabled on; auth {{ enabled on; user viewer change-me; }} }}
                srt {{ enabled on; passphrase 0123456789abc; }} }}""", **how)
        p["rtmp"] = self.s.port
        self.s.allow_errors = True
        self.pub = self.tool("sb_rtmp_publish", "-c", "1", "-i", procs.SOURCE, "-r", self.s.url("innocent"))
        assert self.s.wait_log("publish|CPB", 10)

    def tool(self, name, *args):
        return procs.Proc([os.path.join(OBJS, name), *args], self.tmp / f"{name}.{random.random()}")

    def players(self, seconds, count=1):
        """Plays the innocent stream for this long."""
        return self.tool("sb_rtmp_load", "-c", str(count), "-s", "0.2", "--warmup", "0.3", "--json", "--duration", str(seconds),
                         "-r", self.s.url("innocent"))

    def gap_of(self, players, count=1):
        """Longest time in ms that one of them waited for media."""
        report = json.loads(players.text())
        assert report["failed"] == 0 and report["alive"] == count, players.text()
        return report["gap_ms"]["max"]

    def crowd(self, kind, count, seconds):
        """Prints "ready", and starts when `go` exists."""
        ports = [x for name, port in self.ports.items() if name != "exporter" for x in (f"--{name}", str(port))]
        go = self.tmp / f"go.{random.random()}"
        p = procs.Proc(["nice", "-n", "5", sys.executable, PROGRAM, *ports, "--kind", kind, "--count", str(count),
                        "--seconds", str(seconds), "--go", str(go)], self.tmp / f"crowd.{random.random()}")
        assert wait_for(lambda: "ready" in p.text() or not p.running(), 20), p.text()
        return p, go

    def longest_gap(self, seconds, kind=None, count=1, players=1, meanwhile=lambda: None):
        """Longest time in ms that the innocent players waited for media while the others were there."""
        crowd, go = self.crowd(kind, count, seconds) if kind else (None, None)
        watch = self.players(seconds + 1.5, players)
        if crowd:
            time.sleep(0.5)  # they have started
            go.touch()
        assert wait_for(lambda: meanwhile() or not watch.running(), seconds + 30, 0.05), "the player hangs"
        if crowd:
            assert crowd.wait(30) == 0, crowd.text()
            self.told = json.loads(crowd.text().strip().splitlines()[-1])
            assert self.told["connects"] > 0, crowd.text()
        return self.gap_of(watch, players)

    def load(self, seconds=1.0):
        """CPU use of all threads of the server, in cores."""
        before, began = process_ns(self.s.pid), time.monotonic()
        time.sleep(seconds)
        return (process_ns(self.s.pid) - before) / 1e9 / (time.monotonic() - began)

    def rest(self, timeout=60, load=0.05):
        """Waits until the server is idle again; returns its CPU time, and that of the first worker's thread in ms."""
        assert wait_for(lambda: self.load(0.03) < load, timeout, 0), f"it still takes {self.load():.2f} cores"
        return thread_ns(self.s.pid) / 1e6

    # -- reports of the server

    def metrics(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.ports['exporter']}/metrics", timeout=20 * procs.SLOW) as r:
            return r.read().decode()

    def holds(self):
        """{coroutine: number of times that it kept the thread for over 5 ms}."""
        return {m[1]: int(float(m[2])) for m in re.finditer(r'^srs_coroutine_holds_total\{.*?coroutine="(.*?)".*?\} (\S+)', self.metrics(), re.M)
                if float(m[2])}

    def told_holds(self, mark=0):
        """Log lines about stalls, {coroutine: the longest, ms}, including those of the watchdog."""
        out = {}
        for m in HOLD.finditer(self.s.log()[mark:]):
            out[m[1]] = max(out.get(m[1], 0), float(m[2]))
        return out
