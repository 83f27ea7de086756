# SPDX-License-Identifier: MIT
"""The load tools against the real server: their reports are true."""
import http.server
import json
import os
import re
import subprocess
import threading

import pytest

import flv
import hls
import procs
from procs import SLOW, SOURCE, free_port, wait_for

TOOLS = os.path.dirname(procs.BINARY)


def tool(name):
    path = os.path.join(TOOLS, name)
    if not os.path.exists(path):
        pytest.skip(f"{name} is not built")
    return path


def run(name, *args, timeout=20):
    r = subprocess.run([tool(name), *map(str, args)], capture_output=True, text=True,
                       timeout=timeout * SLOW, stdin=subprocess.DEVNULL)
    return r.returncode, r.stdout + r.stderr


def last_object(text):
    return json.loads(text[text.index("{"):text.rindex("}") + 1])


def test_players(srs, source):
    s = srs()
    s.push(source, loop=True)
    code, text = run("sb_rtmp_load", "-c", 20, "-r", s.url(), "-s", 0.1, "--duration", 1.1,
                     "-m", 1, "--json")
    assert code == 0, text
    assert last_object(text)["clients"] == 20
    assert s.wait_log(r"type=Play", 1, count=20)


def test_fast_players(srs, source):
    s = srs()
    s.push(source, loop=True)
    code, text = run("sb_rtmp_load_fast", "-c", 20, "-r", s.url(), "-s", 0.1, "--duration", 1.1, "-m", 1)
    assert code == 0 and "[report]" in text, text


def test_publishers(srs):
    s = srs()
    p = procs.Proc([tool("sb_rtmp_publish"), "-c", 10, "-i", SOURCE, "-r", s.url("s{i}"), "-s", 0.1,
                    "--duration", 2, "-m", 1], os.path.join(s.tmp, "pub.log"))
    assert s.wait_log(r"publish", 3, count=10)
    for i in (0, 9):
        c = s.player(f"s{i}")
        c.collect(2, count=20)
        assert len(c.tags) >= 20
        c.close()
    assert p.wait(10) == 0


def test_no_server_there():
    code, text = run("sb_rtmp_load", "-c", 2, "-r", f"rtmp://127.0.0.1:{procs.free_port()}/live/s",
                     "-s", 0.1, "--duration", 1.1, "-m", 1)
    assert "[report]" in text and code == 2, text


def hls_server(srs, tmp_path, more=""):
    """Returns (server, url of the playlist)."""
    port, html = free_port(), tmp_path / "html"
    html.mkdir()
    s = srs(f"hls {{ enabled on; hls_path {html}; hls_fragment 2; hls_window 20; {more} }}",
            f"http_server {{ enabled on; listen 127.0.0.1:{port}; dir {html}; }}")
    return s, f"http://127.0.0.1:{port}/live/s.m3u8"


def listed(url, count):
    return wait_for(lambda: hls.get(url)[0] == 200 and len(hls.get_list(url).segments) >= count, 8)


@pytest.mark.long
def test_hls_players(srs, source, tmp_path):
    """Through the master playlist with the session id; a publisher that comes back."""
    s, url = hls_server(srs, tmp_path, "hls_ctx on;")
    first = s.push(flv.cut(source, 8000), speed=10)
    first.join(20)
    first.stop()
    first.client.close()
    assert wait_for(lambda: os.path.exists(tmp_path / "html/live/s-3.ts"), 8)
    s.push(source, loop=True)
    code, text = run("sb_hls_load", "-c", 20, "-r", url, "-s", 0.5, "--duration", 6, "--stall", 1000,
                     "--json", timeout=30)
    assert code == 0, text
    got = last_object(text)
    assert got["alive"] == 20 and got["failed"] == 0 and got["skipped"] == 0, text
    assert got["stalls"] == 0 and got["segments"] >= 20 * 3 and got["lists"] >= 20 * 3, text
    assert got["first_segment_ms"]["count"] == 20 and got["edge_ms"]["p50"] > 2000, text
    assert s.wait_log("HLS session", 2, count=20)


@pytest.mark.long
def test_hls_crowd(srs, source, tmp_path):
    """Many players of one stream: each gets every segment, in time."""
    s, url = hls_server(srs, tmp_path, "hls_ctx off;")
    s.push(source, loop=True)
    assert listed(url, 2)
    code, text = run("sb_hls_load", "-c", 300, "-r", url, "-s", 0.5, "--duration", 4, "--stall", 3000, "--json",
                     timeout=40)
    got = last_object(text)
    assert code == 0 and got["alive"] == 300 and got["failed"] == 0, text
    assert got["skipped"] == 0 and got["stalls"] == 0 and got["segments"] >= 300 * 2, text
    assert not re.search(r"watchdog: .*cpu [0-9]{3,} ms", s.log())


@pytest.mark.long
def test_hls_streams_and_players(srs, tmp_path):
    """300 streams and 600 players for 25 s: nothing is lost or left over, no player waits."""
    s, url = hls_server(srs, tmp_path, "hls_ctx off; hls_dispose 2;")
    before, html = len(os.listdir(f"/proc/{s.pid}/fd")), tmp_path / "html/live"
    p = procs.Proc([tool("sb_rtmp_publish"), "-c", 300, "-i", SOURCE, "-r", s.url("s{i}"), "-s", 2, "--duration", 45],
                   os.path.join(s.tmp, "pub.log"))
    assert wait_for(lambda: len([f for f in os.listdir(html) if f.endswith(".m3u8")]) == 300 if html.exists() else 0, 30)
    assert listed(url.replace("s.m3u8", "s299.m3u8"), 2)
    code, text = run("sb_hls_load", "-c", 600, "-r", url.replace("s.m3u8", "s{i}.m3u8"), "--stream-count", 300, "-s", 2,
                     "--duration", 25, "--stall", 3000, "--json", timeout=60)
    got = last_object(text)
    assert code == 0 and got["alive"] == 600 and got["failed"] == 0, text
    assert got["skipped"] == 0 and got["stalls"] == 0 and got["segments"] >= 600 * 8, text
    assert not re.search(r"watchdog: .*cpu [0-9]{3,} ms", s.log())
    assert p.wait(40) == 0
    assert wait_for(lambda: not html.exists() or not os.listdir(html), 20), os.listdir(html)[:20]
    assert wait_for(lambda: len(os.listdir(f"/proc/{s.pid}/fd")) <= before + 2, 20)


@pytest.mark.long
def test_hls_players_low_latency(srs, source, tmp_path):
    s, url = hls_server(srs, tmp_path, "hls_ctx off; hls_use_fmp4 on; hls_ll on;")
    s.push(source, loop=True)
    assert listed(url, 1)
    code, text = run("sb_hls_load", "-c", 10, "-r", url, "-s", 0.2, "--duration", 4, "--json")
    got = last_object(text)
    assert code == 0 and got["alive"] == 10 and got["failed"] == 0, text
    assert got["parts"] > 10 * 10 and got["hints"] > got["parts"] / 2, text
    assert got["segments"] == 0 and got["skipped"] == 0, text
    assert got["edge_ms"]["p50"] < 1500 * SLOW and got["latency_ms"]["count"] > 0, text


class Files(http.server.BaseHTTPRequestHandler):
    """An old server that closes after each response: a redirect, a master playlist, one gap."""
    LIST = ("#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:3\n"
            '#EXT-X-MAP:URI="../init.mp4"\n#EXTINF:0.5,\na.m4s\n#EXTINF:0.5,\n/x/hole.m4s\n'
            "#EXTINF:0.5,\nhttp://localhost:{port}/x/c.m4s?k=1\n#EXTINF:0.5,\nd.m4s\n#EXT-X-ENDLIST\n")
    MASTER = ("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nbad.m3u8\n"
              "#EXT-X-STREAM-INF:BANDWIDTH=2\nbest/list.m3u8\n")

    def do_GET(self):  # noqa: N802
        self.server.seen.append(self.path)
        port = self.server.server_port
        bodies = {"/x/m.m3u8": self.MASTER, "/x/best/list.m3u8": self.LIST.format(port=port)}
        if self.path == "/live/s.m3u8":
            self.send_response(302)
            self.send_header("Location", "/x/m.m3u8")
            self.end_headers()
            return
        if "hole" in self.path:
            self.send_error(404)
            return
        body = bodies.get(self.path, "m" * 20000).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_hls_of_another_server():
    """Everything in the playlist is fetched, in order and once; then the tool ends."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
    server.seen = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        code, text = run("sb_hls_load", "-r", f"http://127.0.0.1:{server.server_port}/live/s.m3u8",
                         "-t", 1, "--hold-back", 10, "--json")
    finally:
        server.shutdown()
        server.server_close()
    got = last_object(text)
    assert code == 0 and got["ended"] == 1 and got["failed"] == 0, text
    assert server.seen == ["/live/s.m3u8", "/x/m.m3u8", "/x/best/list.m3u8", "/x/init.mp4",
                           "/x/best/a.m4s", "/x/hole.m4s", "/x/c.m4s?k=1", "/x/best/d.m4s"]
    assert got["segments"] == 3 and got["skipped"] == 1 and got["total_seconds"] >= 1.4, text


def test_hls_that_is_not_there(srs, tmp_path):
    _, url = hls_server(srs, tmp_path)
    code, text = run("sb_hls_load", "-c", 2, "-r", url, "-t", 1, "-s", 0.1, "--json")
    got = last_object(text)
    assert code == 0 and got["failed"] == 2 and "404" in got["reasons"][0]["text"], text
