# SPDX-License-Identifier: MIT
"""The last log lines of clients: what each one was, what it did, and why it ended."""
import re
import time
import urllib.request

import pytest

import flv
import hls
import rtmfp_client as rc
import tools
import procs
from procs import CLIP, WORKERS, Proc, free_port, wait_for
from rtc import rtc_server
from rtmfp_serve import rtmfp_server
from test_bench_tools import run, tool
from test_hls import conf, html  # noqa: F401

NUMBERS = r"[\d.]+ s, [\d.]+ MB {way}, \d+ kbit/s"
PUBLISHED = NUMBERS.format(way="in") + r", \d+ players?"
PLAYED = NUMBERS.format(way="out")


def test_rtmp(srs, source):
    s = srs()
    p = s.push(flv.cut(source, 20000))
    w = s.watch()
    assert w.wait(lambda tags: len(tags) > 20)
    w.stop()
    w.client.close()
    assert s.wait_log(rf"client finished: RTMP player of live/s from 127.0.0.1, {PLAYED}: code=1004", 3), s.log()
    w = s.watch()
    assert w.wait(lambda tags: len(tags) > 20)
    p.stop()
    p.client.close()
    got = s.wait_log(rf"client finished: RTMP publisher of live/s from 127.0.0.1, {NUMBERS.format(way='in')}, 1 player: code=1004.*", 3)
    assert got, s.log()
    assert "identify" not in got[0]
    w.stop()


def test_who_says_nothing(srs):
    s = srs()
    client = s.client()
    client.connect()
    client.close()
    assert s.wait_log(r"client finished: code=1004\(IO_CLOSED\)\(.*\) : waiting for publish or play : ", 3), s.log()


def test_listening_lines_say_for_what(srs):
    http, api, rtsp, srt = (free_port() for _ in range(4))
    s = srs("", f"http_server {{ enabled on; listen 127.0.0.1:{http}; }} http_api {{ enabled on; listen 127.0.0.1:{api}; }}"
                f"rtsp_server {{ enabled on; listen 127.0.0.1:{rtsp}; }} srt_server {{ enabled on; listen 127.0.0.1:{srt}; }}")
    for port, what in ((s.port, "RTMP"), (http, "HTTP"), (api, "HTTP API"), (rtsp, "RTSP"), (srt, r"SRT \(UDP\)")):
        assert s.wait_log(rf"listening on 127.0.0.1:{port} for {what}$", 3), s.log()


def test_http_and_hls(srs, html, source):
    port = free_port()
    s = srs(conf(html, fragment=1, window=2, ctx="on") + "http_remux { enabled on; }",
            f"http_server {{ enabled on; listen 127.0.0.1:{port}; dir {html}; }}")
    p = s.push(flv.cut(source, 20000), ahead=5)
    url = f"http://127.0.0.1:{port}/live/s"
    assert wait_for(lambda: hls.get(url + ".m3u8")[0] == 200, 5)
    with urllib.request.urlopen(url + ".flv") as r:
        r.read(50000)
    assert s.wait_log(rf"client finished: HTTP player of live/s from 127.0.0.1, {PLAYED}: code=", 3), s.log()
    child = hls.join(url + ".m3u8", hls.get(url + ".m3u8")[2].decode().split("\n")[-2])
    hls.get(hls.join(child, hls.get_list(child).segments[0].uri))
    p.stop()
    got = s.wait_log(rf"client finished: HLS player of live/s from 127.0.0.1, {PLAYED}, \d+ requests, session \w+: no request for \d+ s", 12)
    assert got, s.log()


@pytest.mark.needs("ffmpeg")
@pytest.mark.parametrize("by", ["rtsp", "srt"])
def test_others(srs, source, by):
    port = free_port()
    s = srs("rtsp { enabled on; } srt { enabled on; }" if by == "rtsp" else "srt { enabled on; }",
            f"{by}_server {{ enabled on; listen 127.0.0.1:{port}; }}")
    to = f"rtsp://127.0.0.1:{port}/live/s" if by == "rtsp" else \
        f"srt://127.0.0.1:{port}?streamid=#!::r=live/s,m=publish"
    form = ["-f", "rtsp", "-rtsp_transport", "tcp"] if by == "rtsp" else ["-f", "mpegts"]
    tools.run(["ffmpeg", "-v", "error", "-nostdin", "-readrate", str(procs.PACE), "-i", tools.SOURCE, "-t", "1", "-c", "copy", *form, to],
              timeout=20, check=False)
    what = {"rtsp": "RTSP", "srt": "SRT"}[by]
    assert s.wait_log(rf"client finished: {what} publisher of live/s from 127.0.0.1, {PUBLISHED}.*: code=", 5), s.log()


def test_webrtc(srs, tmp_path):
    s = rtc_server(srs, tmp_path)
    p = Proc([tool("sb_rtc_load"), "-c", 1, "-r", s.whip(), "-i", CLIP, "-s", 0], tmp_path / "whip.log")
    assert s.wait_log("first packet of video", 5), s.log()[-2000:]
    run("sb_rtc_load", "-c", 1, "-r", s.whep(), "-s", 0, "--duration", 1)
    assert s.wait_log(rf"client finished: WebRTC player of live/s from 127.0.0.1, {PLAYED}.*: code=", 5), s.log()[-2000:]
    p.end()
    assert s.wait_log(rf"client finished: WebRTC publisher of live/s from 127.0.0.1, {PUBLISHED}.*: code=", 5), s.log()[-2000:]


def test_rtmfp(srs, source):
    """The same format as for others, without naming the protocol twice."""
    s = rtmfp_server(srs)
    with rc.Client(s.rtmfp_port).connect() as a, rc.Client(s.rtmfp_port).connect() as b:
        sender, viewer = a.publish("s"), b.play("s")
        rc.pump(a, sender, flv.cut(source, 1000), others=[b])
        b.delete(viewer)
        a.delete(sender)
        assert rc.run([a, b], lambda: s.log().count("client finished: RTMFP ") == 2, 5), s.log()[-2000:]
    for what, numbers in (("player", PLAYED), ("publisher", PUBLISHED)):
        assert re.search(rf"\] client finished: RTMFP {what} of live/s from 127.0.0.1, {numbers}: code=1004", s.log()), s.log()[-2000:]


@pytest.mark.parametrize("by", ["rtmp", "rtsp", "srt"])
def test_forwards(srs, source, by):
    """Each connection of a forward has a line at its end; a failed attempt before has none."""
    port = free_port()
    there = srs("rtsp { enabled on; } srt { enabled on; }",
                "" if by == "rtmp" else f"{by}_server {{ enabled on; listen 127.0.0.1:{port}; }}")
    to = {"rtmp": f"rtmp://127.0.0.1:{there.port}/live/there", "rtsp": f"rtsp://127.0.0.1:{port}/live/there",
          "srt": f"srt://127.0.0.1:{port}?streamid=#!::r=live/there,m=publish"}[by]
    here = srs(f"forward {{ enabled on; destination '{to}'; }}")
    p = here.push(source, loop=True)
    line = rf"client finished: forward of live/s to {by}://127.0.0.1:\d+\S*, {PLAYED}.*: "
    seen = there.watch("there")
    assert seen.wait(lambda got: len(flv.frames(got)) > 20, 15), here.log()[-2000:]
    there.stop()
    assert here.wait_log(line + "code=(?!2050)", 12), here.log()[-2000:]
    there.start()
    assert here.wait_log("forward to .* publishing", 20, count=2), here.log()[-2000:]
    p.stop()
    p.client.close()
    assert here.wait_log(line + r"code=2050\(STREAM_END\)", 5), here.log()[-2000:]
    assert here.log().count("client finished: forward of ") == 2
    seen.stop()


ALONE = r"^\[[^]]*\]\[TRACE\]\[\d+\]\[(\w+)\] live/typo has no publisher yet, the (\S+) player waits"


def test_players_of_a_name_without_publisher(srs, source):
    """They are logged once, after 3 s, with the streams on air; one whose publisher comes soon is not."""
    port = free_port()
    s = srs("http_remux { enabled on; }", f"http_server {{ enabled on; listen 127.0.0.1:{port}; }}")
    s.push(source, "s", loop=True)
    s.push(source, "other", loop=True)
    soon, wrong, at = s.watch("soon"), s.watch("typo"), time.monotonic()
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/live/typo.flv", timeout=9):
        s.push(source, "soon", loop=True)
        assert soon.wait(lambda tags: len(tags) > 20, 3)
        many = [s.watch("lost") for _ in range(30)]
        assert s.wait_log(ALONE, 6, count=2), s.log()
        assert 2.5 < time.monotonic() - at < 5
        told = re.findall(ALONE + "; on air: (.*)$", s.log(), re.M)
        assert {by for _, by, _ in told} == {"RTMP", "HTTP"}, told
        for _, _, names in told:
            assert set(names.split(", ")) == {"live/s", "live/other", "live/soon"}
    wrong.stop()
    wrong.client.close()
    end = s.wait_log(r"\[(\w+)\] client finished: RTMP player of live/typo", 3)
    assert end and end[1] in {id for id, by, _ in told if by == "RTMP"}
    soon.stop()
    assert s.wait_log(r"live/(typo|lost) has no publisher yet, the \w+ player waits", 6, count=10), s.log()
    if WORKERS in (None, "1"):
        assert s.wait_log(r"and \d+ more players wait for streams without a publisher", 3), s.log()
    assert len(re.findall("live/soon has no publisher", s.log())) == 0
    for w in many:
        w.halt.set()
    for w in many:
        w.stop()


def test_webrtc_and_rtmfp_players_of_a_name_without_publisher(srs, tmp_path, source):
    """Neither has a coroutine while waiting; both are still logged, with the id of their last line."""
    s = rtc_server(srs, tmp_path, rtc="rtmp_to_rtc on;", vhost="rtmfp { enabled on; }",
                   glob="rtmfp_server { enabled on; listen 127.0.0.1:%d; }" % (port := free_port()))
    s.push(source, "s", loop=True)
    player = Proc([tool("sb_rtc_load"), "-c", 1, "-r", s.whep("typo"), "-s", 0], tmp_path / "whep.log")
    with rc.Client(port).connect() as c:
        c.play("typo")
        assert rc.run([c], lambda: len(re.findall(ALONE, s.log(), re.M)) >= 2, 8), s.log()[-3000:]
    player.end()
    told = {by: (id, names) for id, by, names in re.findall(ALONE + "; on air: (.*)$", s.log(), re.M)}
    assert told.keys() == {"WebRTC", "RTMFP"}, told
    for by, (id, names) in told.items():
        assert names == "live/s"
        assert s.wait_log(rf"\[{id}\] client finished: {by} player of live/typo from 127.0.0.1, ", 5), s.log()[-3000:]
