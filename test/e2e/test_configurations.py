# SPDX-License-Identifier: MIT
"""Each small configuration of conf/ does what its first lines say, with only ports and folders changed."""
import glob
import os
import re
import shutil
import socket
import ssl
import subprocess
import urllib.request

import pytest

import flv
import procs
from camera import Camera, Quirks
from camera_rtp import tracks_of
from flv import AUDIO, VIDEO
from httpapi import Api, Backend
from procs import ROOT, free_port, wait_for
from rtmpclient import Closed, Rejected
from test_idle import rate
from test_rtsp_conf import Rtsp
from webclient import Cert, FlvWatcher, Http, once

HTML = "objs/nginx/html"


@pytest.fixture
def begin(srs, tmp_path):
    """begin(name, change={old: new}) serves conf/NAME.conf; `ports` of the result maps 1935, 8080 and so on to the ports in use."""
    def start(name, change=None):
        (tmp_path / HTML).mkdir(parents=True)
        (tmp_path / "conf").symlink_to(os.path.join(ROOT, "conf"))
        with open(os.path.join(ROOT, "conf", name + ".conf")) as f:
            text = f.read()
        for old, new in (change or {}).items():
            assert old in text
            text = text.replace(old, new)
        if "./conf/server.key" in text:
            cert = Cert(tmp_path)
            text = text.replace("./conf/server.key", cert.key).replace("./conf/server.crt", cert.cert)
        text = text.replace("daemon              on;", "daemon              off;")
        ports = {old: free_port() for old in sorted(set(re.findall(r"^\s*listen\s+(\d+);", text, re.M)))}
        for old, new in ports.items():
            text = re.sub(rf"(listen\s+){old};", rf"\g<1>127.0.0.1:{new};", text)
        s = srs(conf=text, port=ports["1935"], tank="file" if name in ("log-file", "srs") else "console", begin=False)
        s.log_path = os.path.join(s.tmp, "objs/srs.log")
        s.start()
        s.ports = {int(k): v for k, v in ports.items()}
        return s
    return start


def test_the_certificate_of_the_build(tmp_path):
    """Valid ten years, its key readable by the owner only; an existing one stays; it serves https and is not in the repository."""
    make = [os.path.join(ROOT, "scripts", "certificate.sh"), str(tmp_path)]
    crt, key = tmp_path / "server.crt", tmp_path / "server.key"
    told = subprocess.run(make, capture_output=True, text=True, check=True).stdout
    assert told.count("\n") == 1 and str(crt) in told
    assert key.stat().st_mode & 0o777 == 0o600
    days = 3640 * 24 * 3600
    assert subprocess.run(["openssl", "x509", "-in", crt, "-checkend", str(days)], capture_output=True).returncode == 0
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(crt, key)
    was = key.read_bytes()
    assert subprocess.run(make, capture_output=True, text=True, check=True).stdout == "" and key.read_bytes() == was
    crt.unlink()
    subprocess.run(make, check=True)
    assert key.read_bytes() == was and not crt.exists(), "a key without its certificate was replaced"
    with open(os.path.join(ROOT, ".gitignore")) as f:
        assert {"/conf/server.crt", "/conf/server.key"} <= set(f.read().split())


def test_everything_is_on(begin, source):
    """The default configuration: an idle server costs little; the addresses in the log work."""
    s = begin("srs")
    one = s.env is None and procs.WORKERS in (None, "", "1") and procs.SLOW <= 1
    wakes = []
    assert wait_for(lambda: wakes.append(rate(s.pid)) or wakes[-1] <= 5 * int(procs.WORKERS or 1), 20), f"wakes a second: {wakes}"
    if one:
        assert s.rss() <= 16 << 10, f"{s.rss()} KB"
    told = re.findall(r"   ?([\w-]+(?: page)?) +(publish, play|publish|play|watch) +(\S+)$", s.log(), re.M)
    assert {(name, use) for name, use, _ in told} >= {
        ("RTMP", "publish, play"), ("RTSP", "publish, play"), ("RTMFP", "publish, play"), ("SRT", "publish"), ("SRT", "play"),
        ("WebRTC", "publish"), ("WebRTC", "play"), ("HTTP-FLV", "play"), ("MP4", "play"), ("HLS", "play"), ("DASH", "play"), ("web page", "play"),
        ("console", "watch")}
    urls = {name: url for name, use, url in told if use != "publish"}
    s.push(source, "livestream", loop=True, speed=4)
    for name in ("HTTP-FLV", "MP4", "HLS", "DASH", "web page", "console"):
        port, path = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/.*)", urls[name]).groups()
        assert wait_for(lambda: answers(int(port), path), 15), (name, urls[name])
    for name in ("RTSP", "SRT"):
        r = subprocess.run(["ffprobe", "-v", "error", "-rtsp_transport", "tcp", "-show_entries", "stream=codec_name", "-of", "csv=p=0",
                            urls[name]] if name == "RTSP" else
                           ["ffprobe", "-v", "error", "-show_entries", "stream=codec_name", "-of", "csv=p=0", urls[name]],
                           capture_output=True, text=True, timeout=30 * procs.SLOW)
        assert "h264" in r.stdout and "aac" in r.stdout, (name, r.stdout, r.stderr)


def answers(port, path):
    """Whether it exists. A live stream never ends, so only the head is read."""
    h = Http(port)
    try:
        h.ask(path)
        return h.head()[0] == 200
    finally:
        h.close()


def http(s, path, port=8080):
    return once(s.ports[port], path)


def listed(s, ext, tls=None):
    """Whether the playlist lists segments that exist."""
    port = s.ports[8088 if tls else 8080]

    def look():
        a = once(port, "/live/s.m3u8", tls=tls)
        if b"EXT-X-STREAM-INF" in a.body:
            a = once(port, [line for line in a.body.decode().splitlines() if line and line[0] != "#"][0], tls=tls)
        found = re.findall(rb"^[^#\s]+\." + ext + rb"\S*", a.body, re.M) if a.status == 200 else []
        return found and once(port, "/live/" + found[0].decode().rsplit("/", 1)[-1], tls=tls)
    got = wait_for(look, 20)
    assert got and got.status == 200 and len(got.body) > 1000
    return got.body


@pytest.mark.parametrize("name,ext", [("http.hls", b"ts"), ("https.hls", b"ts"), ("hls.mp4", b"m4s"), ("hls.realtime", b"ts"),
                                      ("hls.origin", b"ts"), ("http.server", b"ts"), ("mp3", b"ts"), ("include", b"ts"),
                                      ("http.api.one.port", b"ts")])
def test_hls(begin, source, media, name, ext, tmp_path):
    s = begin(name)
    s.push(source if name != "mp3" else media.tags("h264", "mp3", style="legacy"), loop=True, speed=25)
    listed(s, ext)
    if name == "https.hls":
        tls = ssl.create_default_context(cafile=str(tmp_path / "server.crt"))
        listed(s, ext, tls)
    if name in ("mp3", "include", "http.api.one.port"):
        w = FlvWatcher(s.ports[8080])
        assert w.wait(lambda got: flv.frames(got, VIDEO) and flv.frames(got, AUDIO), 5)
        w.stop()
    if name == "http.api.one.port":
        assert Api(s.ports[8080]).get("versions")["code"] == 0
    if name == "http.server":
        (tmp_path / HTML / "a.txt").write_text("hello")
        assert http(s, "/a.txt").body == b"hello"


@pytest.mark.parametrize("name,codecs,ext,first", [
    ("http.ts.live", None, "ts", b"\x47"), ("http.aac.live", None, "aac", b"\xff\xf1"), ("http.mp3.live", "mp3", "mp3", b"ID3"),
    ("hevc.flv", "hevc", "flv", b"FLV"), ("hevc.ts", "hevc", "ts", b"\x47"), ("http.flv.live", None, "flv", b"FLV")])
def test_live_over_http(begin, source, media, name, codecs, ext, first):
    s = begin(name)
    s.push(media.tags(codecs, style="legacy" if codecs == "mp3" else "v1") if codecs else source, loop=True, speed=5)
    h = Http(s.ports[8080])
    h.ask(f"/live/s.{ext}")
    assert h.head()[0] == 200
    data = h.buf
    while len(data) < 20000:
        data += h.sock.recv(65536)
    h.close()
    assert first in data[:64]
    if codecs == "hevc" and ext == "ts":
        assert b"\x24\xe1" in data or b"HEVC" in data, "its stream type is not that of HEVC"


@pytest.mark.parametrize("name,pattern,first", [
    ("dvr.mp4", "live/s.*.mp4", b"ftyp"), ("dvr.path", "live/s/2*/*/*/*.flv", b"FLV"), ("dvr.session", "live/s/*.mp4", b"ftyp"),
    ("dvr.segment", "live/s/*.flv", b"FLV")])
def test_dvr(begin, source, tmp_path, name, pattern, first):
    s = begin(name)
    p = s.push(flv.cut(source, 2000), speed=0)
    p.join(10)
    p.client.close()

    def begin_of():
        for path in glob.glob(str(tmp_path / HTML / pattern)):
            with open(path, "rb") as f:
                return f.read(12)
    assert first in wait_for(begin_of, 10), os.listdir(tmp_path / HTML)


@pytest.mark.parametrize("name,given", [("http.api.auth.basic", "Basic YWRtaW46Y2hhbmdlLW1l"), ("http.api.auth.bearer", "Bearer change-me"),
                                        ("http.api.auth", "Basic YWRtaW46Y2hhbmdlLW1l")])
def test_api_that_asks(begin, name, given):
    port = begin(name).ports[1985]
    assert Api(port).raw("/api/v1/streams/")[0] == 401
    assert Api(port, headers={"Authorization": given}).get("streams/")["code"] == 0


def test_reload_over_the_api(begin):
    s = begin("http.api.raw")
    a = Api(s.ports[1985])
    assert a.get("raw?rpc=reload")["code"] == 0
    assert wait_for(lambda: a.get("raw?rpc=reload-fetch")["data"]["state"] == 90)


def test_no_publisher(begin):
    s = begin("security.deny.publish")
    with pytest.raises((Closed, Rejected)):
        s.publisher().collect(2)
    s.player().close()


def test_kicked_without_players(begin, source):
    s = begin("rtmp.kickoff", {"kickoff_for_idle    60": "kickoff_for_idle    1"})
    s.push(source, loop=True)
    assert s.wait_log(r"\(IDLE\).*kickoff_for_idle", 10)
    s.allow_errors = True


@pytest.mark.parametrize("name", ["rtmps", "https.flv.live"])
def test_rtmp_over_tls(begin, name, tmp_path):
    s = begin(name)
    tls = ssl.create_default_context(cafile=str(tmp_path / "server.crt"))
    with tls.wrap_socket(socket.create_connection(("127.0.0.1", s.ports[1443]), 5), server_hostname="localhost") as c:
        c.sendall(b"\x03" + bytes(1536))
        assert c.recv(1) == b"\x03", "no RTMP handshake"


def test_rtsp(begin, source):
    """RTMP streams play over RTSP, as the first lines say."""
    s = begin("rtsp")
    s.push(source, loop=True)
    with Rtsp(s.ports[8554]) as c:
        c.play()
    w = FlvWatcher(s.ports[8080])
    assert w.wait(lambda got: flv.frames(got, VIDEO), 5)
    w.stop()


def test_vod(begin, tmp_path):
    """A file in the folder plays over the three protocols that the first lines name."""
    s = begin("vod")
    (tmp_path / HTML / "vod").mkdir()
    shutil.copy(os.path.join(ROOT, "doc/source.flv"), tmp_path / HTML / "vod/a.flv")
    with Rtsp(s.ports[8554]) as c:
        status, _, body = c.ask("DESCRIBE", f"rtsp://127.0.0.1:{c.port}/vod/a.flv", "Accept: application/sdp")
        assert status == 200 and b"a=range:npt=0-" in body
    for path, first in (("/vod/a.flv.flv", 0), ("/vod/a.flv.flv?start=5", 3000)):
        w = FlvWatcher(s.ports[8080], path)
        assert w.wait(lambda got: flv.frames(got, VIDEO) and flv.frames(got, AUDIO), 5)
        assert first <= flv.frames(w.tags, VIDEO)[0].ts <= first + 2000
        w.stop()
    w = s.watch("a.flv", app="vod")
    assert w.wait(lambda got: flv.frames(got, VIDEO), 5)
    w.stop()


def test_rtsp_pull(begin, source):
    """A camera that is always pulled and one that is pulled on demand: over all protocols in the first lines."""
    cameras = [Camera(tracks_of(source), Quirks()) for _ in range(2)]
    try:
        s = begin("rtsp.pull", {"rtsp://admin:change-me@192.168.1.64:554/stream1": cameras[0].url(),
                                "rtsp://192.168.1.65:554/stream1": cameras[1].url()})
        a = Api(s.ports[1985])
        assert wait_for(lambda: a.stream("camera") and a.stream("camera")["publish"]["active"], 10)
        assert not cameras[1].requests
        with Rtsp(s.ports[8554]) as c:
            c.play("camera")
            w = FlvWatcher(s.ports[8080], "/live/door.flv")
            assert w.wait(lambda got: flv.frames(got, VIDEO) and flv.frames(got, AUDIO), 10)
            w.stop()
        s.player("camera").close()
    finally:
        for c in cameras:
            c.close()


def test_log_in_a_file(begin):
    s = begin("log-file")
    assert s.wait_log("listening on 127.0.0.1")


SRT = "srt://127.0.0.1:{0}?pkt_size=1316&streamid="
WAYS = [("live", None, "flv", b"FLV"), ("console.ipv46", None, None, None), ("mp3.http", "mp3", "mp3", b"ID3"), ("mp3.ts", "mp3", "ts", b"G"),
        ("srt2ts", "#!::r=live/livestream,m=publish", "ts", b"G"), ("srt.vlc", "#!::r=live/livestream,m=publish", "flv", b"FLV"),
        ("srt.shortstreamid.play", "#!::r=live/livestream,m=publish", "flv", b"FLV"),
        ("srt.shortstreamid.publish", "live/livestream", "flv", b"FLV"), ("srt2rtc", "#!::r=live/livestream,m=publish", "flv", b"FLV"),
        ("https.docker", None, "flv", b"FLV")]


@pytest.mark.needs("ffmpeg")
@pytest.mark.parametrize("name,how,ext,first", WAYS, ids=[w[0] for w in WAYS])
def test_configurations_that_pages_of_srs_name(begin, tmp_path, name, how, ext, first):
    s = begin(name, {f" {n} [::]:{n};": f" {n};" for n in (1935, 1985, 8080)} if name == "console.ipv46" else None)
    audio = ["-c:a", "libmp3lame"] if how == "mp3" else ["-c:a", "copy"]
    out = ["-f", "mpegts", SRT.format(s.ports[10080]) + how] if how not in (None, "mp3") else ["-f", "flv", s.url("livestream")]
    push = procs.Proc(["ffmpeg", "-v", "error", "-nostdin", "-readrate", str(procs.PACE), "-stream_loop", "-1", "-i", procs.SOURCE, "-c:v", "copy", *audio, *out],
                      str(tmp_path / "push.log"))
    assert s.watch("livestream").wait(lambda got: len(got) > 20)
    if ext:
        with urllib.request.urlopen(f"http://127.0.0.1:{s.ports[8080]}/live/livestream.{ext}", timeout=procs.patience(5)) as r:
            assert r.read(len(first)) == first or (ext == "mp3" and r.status == 200)
    assert "has no effect yet" not in s.log()
    push.end()


def test_origins_for_the_proxy_share_no_port(srs, tmp_path):
    """Three on one machine, each with its own device id, registered with endpoints that the proxy can parse."""
    b, taken = Backend(), set()
    for i in (1, 2, 3):
        with open(os.path.join(ROOT, "conf", f"origin{i}-for-proxy.conf")) as f:
            text = f.read()
        own = set(re.findall(r"listen\s+(\d+);", text)) | set(re.findall(r"^pid\s+(\S+);", text, re.M))
        assert len(own) == 6 and not own & taken
        taken |= own
        ports = {old: free_port() for old in own if old.isdigit()}
        for old, new in ports.items():
            text = re.sub(rf"(listen\s+){old};", rf"\g<1>{new};", text)
        text = text.replace("127.0.0.1:12025", f"127.0.0.1:{b.port}").replace(f"./objs/origin{i}.pid", str(tmp_path / f"{i}.pid"))
        (tmp_path / HTML).mkdir(parents=True, exist_ok=True)
        srs(conf=text, port=ports[str(19350 + i)], name=f"origin{i}", tank="console")
        assert wait_for(lambda: any(e.get("device_id") == f"origin{i}" for e in b.events))
        beat = [e for e in b.events if e.get("device_id") == f"origin{i}"][0]
        assert beat["srt"] == [f"udp://0.0.0.0:{ports[str(10080 + i)]}"] and beat["rtc"] == [f"udp://0.0.0.0:{ports[str(8000 + i)]}"]
        assert beat["rtmp"] == [str(ports[str(19350 + i)])]
    b.close()


def test_an_edge_says_that_there_is_none_yet():
    r = subprocess.run([procs.BINARY, "-t", "-c", "conf/edge.conf"], cwd=ROOT, capture_output=True, text=True, timeout=procs.patience(10))
    assert r.returncode == 0 and "mode remote, an edge, is not implemented yet" in r.stderr
    env = {**os.environ, "SRS_QUERY_LATEST_VERSION": "on"}
    r = subprocess.run([procs.BINARY, "-t", "-c", "conf/origin.conf"], cwd=ROOT, capture_output=True, text=True, timeout=procs.patience(10), env=env)
    assert r.returncode == 0 and "QUERY" not in r.stderr


def test_all_of_them_are_told():
    """Every file named in conf/ exists, and every include is included somewhere."""
    texts = {os.path.basename(p): open(p).read() for p in glob.glob(os.path.join(ROOT, "conf", "*.conf"))}
    for name, text in texts.items():
        for other in re.findall(r"(?<![\w./-])(?:conf/)?([a-z0-9.-]+\.conf)\b", text):
            assert other in texts, f"{name} names {other}"
    assert [name for name, text in texts.items() if not text.startswith("# ")] == []
