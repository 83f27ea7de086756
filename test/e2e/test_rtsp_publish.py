# SPDX-License-Identifier: MIT
"""RTSP publishers: their streams are available over RTMP, HTTP-FLV, HLS, DASH, recordings and RTSP. Like all publishers they are
authorized, listed, replaced and disconnected."""
import contextlib
import os

import pytest

import procs
import rtspplayers as players
import tools
from httpapi import Api, Backend
from procs import Proc, free_port, wait_for
from rtspclient import rtsp_server

pytestmark = pytest.mark.needs("ffmpeg", "ffprobe")

SDP = ("v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nt=0 0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n"
       "a=fmtp:96 packetization-mode=1\r\na=control:streamid=0\r\n")
MJPEG = "v=0\r\nm=video 0 RTP/AVP 26\r\n"
G711 = {"pcma": "pcm_alaw", "pcmu": "pcm_mulaw"}


def publish(s, log, inputs=(procs.SOURCE,), stream="s", transport="tcp", options=(), loop=True):
    """ffmpeg that publishes some files unchanged in real time."""
    argv = ["ffmpeg", "-hide_banner", "-loglevel", "info", "-nostdin"]
    for path in inputs:
        argv += ["-re", *(["-stream_loop", "-1"] if loop else []), "-i", path]
    for i in range(len(inputs)):
        argv += ["-map", str(i)]
    return Proc([*argv, "-c", "copy", *options, "-f", "rtsp", "-rtsp_transport", transport, s.rtsp_url(stream)], log)


def plays(url, out, log, seconds=1.6, kinds=("video", "audio")):
    """ffmpeg that ends on its own, like players.ffmpeg() but for any protocol."""
    argv = ["ffmpeg", "-hide_banner", "-loglevel", "verbose", "-nostdin", "-y", "-i", url]
    for kind in kinds:
        argv += ["-t", seconds, *players.MD5[kind], f"{out}.{kind}"]
    return Proc(argv, log)


def check(tmp_path, urls, files):
    """Each of these players has all frames, correct and in order, with audio and video in sync."""
    started = {name: plays(url, tmp_path / name, tmp_path / f"{name}.log", kinds=tuple(files)) for name, url in urls.items()}
    for name, p in started.items():
        assert p.wait(25) == 0, f"{name}:\n{p.text()[-3000:]}"
    for name in started:
        players.same(files, tmp_path / name, apart=0.050)


def announced(s, stream="s", sdp=SDP):
    c = s.rtsp()
    return c, c.request("ANNOUNCE", s.rtsp_url(stream), {"Content-Type": "application/sdp"}, body=sdp.encode())


@pytest.mark.parametrize("transport", ["tcp", pytest.param("udp", marks=pytest.mark.long)])
def test_all_players_see_it(srs, tmp_path, transport):
    http, html = free_port(), str(tmp_path / "html")
    os.makedirs(html)
    s = rtsp_server(srs, vhost=f"http_remux {{ enabled on; mount [vhost]/[app]/[stream].flv; }} "
                    f"hls {{ enabled on; hls_path {html}; hls_fragment 1; hls_window 10; }} "
                    f"dvr {{ enabled on; dvr_path {tmp_path}/rec/[app]/[stream].flv; dvr_plan session; }}",
                    glob=f"http_server {{ enabled on; listen 127.0.0.1:{http}; dir {html}; }}")
    p = publish(s, tmp_path / "pub.log", transport=transport)
    assert s.wait_log(r"type=publish", 10), p.text()
    both = {"video": procs.SOURCE, "audio": procs.SOURCE}
    check(tmp_path, {"rtmp": s.url(), "flv": f"http://127.0.0.1:{http}/live/s.flv", "rtsp": s.rtsp_url()}, both)
    m3u8 = os.path.join(html, "live", "s.m3u8")
    assert wait_for(lambda: os.path.exists(m3u8), 15, 0.1)
    # audio has other headers there
    check(tmp_path, {"hls": f"http://127.0.0.1:{http}/live/s.m3u8"}, {"video": procs.SOURCE})
    p.end()
    assert s.wait_log(r"RTSP publisher of .* lost=0, .* broken=0", 5)
    rec = tmp_path / "rec" / "live" / "s.flv"
    assert wait_for(rec.exists, 5)
    players.same(both, rec, apart=0.050)


CODECS = [("hevc", "opus"), ("h264", "mp3"), (None, "pcma"), ("vp9", None)]


@pytest.mark.parametrize("video,audio", [pytest.param(*row, marks=[] if "opus" in row or "pcma" in row else [pytest.mark.long])
                                         for row in CODECS], ids=["-".join(str(c) for c in row) for row in CODECS])
def test_codecs(srs, media, tmp_path, video, audio):
    """Read back over RTSP, because current ffmpeg supports few of them in RTMP."""
    s = rtsp_server(srs)
    files, kinds = [], {}
    for kind, codec in (("video", video), ("audio", audio)):
        if codec in G711:
            path = str(tmp_path / f"{codec}.wav")
            tools.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "anoisesrc=r=8000:a=0.3:s=7", "-c:a", G711[codec],
                       "-ar", "8000", "-ac", "1", "-t", "4", path])
        elif codec:
            path = players.file_of(media, codec)
        if codec:
            files.append(path[0] if isinstance(path, tuple) else path)
            kinds[kind] = path
    p = publish(s, tmp_path / "pub.log", files, options=("-strict", "-2"))
    assert s.wait_log(r"type=publish", 10), p.text()
    got = plays(s.rtsp_url(), tmp_path / "rtsp", tmp_path / "rtsp.log", kinds=tuple(kinds))
    assert got.wait(25) == 0, got.text()[-3000:] + p.text()[-2000:]
    for kind in kinds:
        assert len(players.read(tmp_path / "rtsp", kind)) >= 10, got.text()[-2000:]
    if audio != "pcma":  # ffmpeg splits this one into its own packets
        for kind, path in kinds.items():
            own = path[0] if isinstance(path, tuple) else path
            players.same({kind: own}, tmp_path / "rtsp")


def test_asked_about_listed_kicked(srs, tmp_path):
    api = free_port()
    with contextlib.closing(Backend(lambda e: 1 if e.get("stream") == "no" else 0)) as b:
        s = rtsp_server(srs, vhost=f"http_hooks {{ enabled on; on_publish {b.url()}; on_unpublish {b.url()}; }}",
                        glob=f"http_api {{ enabled on; listen 127.0.0.1:{api}; }}")
        _, answer = announced(s, "no")
        assert answer.status == 403
        p = publish(s, tmp_path / "pub.log")
        assert wait_for(lambda: Api(api).clients(), 10, 0.1), p.text()
        assert wait_for(lambda: [(e["app"], e["stream"]) for e in b.of("on_publish")][-1] == ("live", "s"), 5)
        assert wait_for(lambda: (Api(api).stream("s") or {}).get("audio"), 5, 0.1), "it does not send"
        one = Api(api).clients()[0]
        assert one["type"] == "rtsp-publish" and one["publish"] and one["url"] == "/live/s"
        _, answer = announced(s)
        assert answer.status == 406, "it has no publisher"
        Api(api).kick(one["id"])
        assert p.wait(10) is not None
        assert wait_for(lambda: b.of("on_unpublish"), 5)
        assert wait_for(lambda: not Api(api).clients(), 5)


def test_takeover(srs, tmp_path):
    s = rtsp_server(srs, vhost="publish { takeover on; }")
    first = publish(s, tmp_path / "one.log")
    w = s.watch()
    assert w.wait(lambda got: len(got) > 20, 10), first.text()
    second = publish(s, tmp_path / "two.log")
    assert first.wait(15) is not None, "the first one was not ended"
    n = len(w.tags)
    assert w.wait(lambda got: len(got) > n + 60, 10), second.text()
    assert w.ended is None
    w.stop()
    second.end()
    assert s.wait_log(r"takes over", 2)


def test_refused(srs):
    s = rtsp_server(srs)
    assert announced(s, sdp=MJPEG)[1].status == 415
    assert announced(s, sdp="")[1].status == 400
    c, answer = announced(s, "a.sdp")
    assert answer.status == 200
    assert s.wait_log(r"type=publish, .*stream=__defaultVhost__/live/a$", 2)
    assert c.request("PLAY", s.rtsp_url("a")).status in (454, 455)
    # the connection continues after a rejection
    c, answer = announced(s, sdp=MJPEG)
    assert c.request("OPTIONS", "*").status == 200


def test_silence(srs):
    """It sends nothing for publish_timeout, regardless of the vhost's settings for publishers."""
    s = rtsp_server(srs, vhost="publish { firstpkt_timeout 100; normal_timeout 100; }", server="publish_timeout 1;")
    c, answer = announced(s)
    assert answer.status == 200
    assert s.wait_log(r"no first message for 1000 ms", 5)


@pytest.mark.long
@pytest.mark.parametrize("workers", ["4"])
def test_with_workers(srs, tmp_path, workers):
    """They connect to any worker; the worker of the connection owns the stream."""
    s = rtsp_server(srs, env={"SRS_WORKERS": workers})
    all_of_them = [publish(s, tmp_path / f"pub{i}.log", stream=f"s{i}") for i in range(4)]
    assert s.wait_log(r"type=publish", 15, count=4), "\n".join(p.text()[-500:] for p in all_of_them)
    check(tmp_path, {f"rtmp{i}": s.url(f"s{i}") for i in range(4)}, {"video": procs.SOURCE, "audio": procs.SOURCE})
    for p in all_of_them:
        p.end()
    assert s.wait_log(r"RTSP publisher of .* lost=0, .* broken=0", 5, count=4)
