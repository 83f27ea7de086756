# SPDX-License-Identifier: MIT
"""RTMFP and all other protocols: each plays RTMFP streams, and RTMFP plays RTMP streams; also recordings, callbacks, changes of
configuration."""
import contextlib
import json

import pytest

pytest.importorskip("cryptography")

import flv                      # noqa: E402
import hls                      # noqa: E402
import rtcmedia                 # noqa: E402
import rtcplain                 # noqa: E402
import rtmfp_client as rc       # noqa: E402
import tools                    # noqa: E402
from flv import AUDIO, VIDEO    # noqa: E402
from httpapi import Backend     # noqa: E402
from procs import free_port, wait_for        # noqa: E402
from rtmfp_serve import clients, frames, played, published, rtmfp_server  # noqa: E402
from rtmpclient import Closed, Rejected      # noqa: E402
from rtspclient import free_pair             # noqa: E402
from webclient import FlvWatcher             # noqa: E402

RATE = 25  # frames a second of doc/source.flv


def counts(path):
    """Numbers of decoded video and audio frames of a file."""
    found = json.loads(tools.run(["ffprobe", "-v", "error", "-of", "json", "-show_streams", "-count_frames", path]).stdout)
    return {t["codec_type"]: int(t["nb_read_frames"]) for t in found["streams"]}


def test_files_of_a_publisher(srs, source, tmp_path):
    """HTTP-FLV, a recording and HLS have each frame, byte for byte or decoded."""
    http, html = free_port(), tmp_path / "html"
    s = rtmfp_server(srs, glob=f"http_server {{ enabled on; listen 127.0.0.1:{http}; dir {html}; }}", vhost=f"""
        http_remux {{ enabled on; mount [vhost]/[app]/[stream].flv; }}
        hls {{ enabled on; hls_path {html}; hls_fragment 1; hls_window 60; }}
        dvr {{ enabled on; dvr_path {tmp_path}/[stream].flv; }}""")
    tags = flv.cut(source, 3000)
    with clients(s) as [c]:
        stream = c.publish("s")
        viewer = FlvWatcher(http)
        rc.pump(c, stream, tags, speed=None)
        assert viewer.wait(lambda got: len(flv.frames(got)) >= len(flv.frames(tags)))
        assert frames(viewer.stop()) == frames(tags)
        stream.command("closeStream")
        stream.status("NetStream.Unpublish.Success")
    assert wait_for(lambda: (tmp_path / "s.flv").exists(), 3) and frames(flv.read(tmp_path / "s.flv")) == frames(tags)
    listed = html / "live/s.m3u8"
    assert wait_for(lambda: listed.exists() and sum(x.duration for x in hls.load(str(listed)).segments) > 2.9, 3)
    hls.whole(str(listed), str(tmp_path / "s.ts"))
    assert len(hls.packets(tmp_path / "s.ts", "v")) == len(flv.frames(tags, VIDEO))


@pytest.mark.long
@pytest.mark.needs("ffmpeg")
def test_ffmpeg_publishes_and_plays(srs, tmp_path):
    """RTMFP plays its RTMP stream, and it plays an RTMFP stream: everything decodes, without errors."""
    s = rtmfp_server(srs)
    tools.ffmpeg_publish(s.url("a"), tmp_path / "push.log", loop=True)
    assert s.wait_log("got metadata|video sh", 10)
    with played(s, "a") as p:
        assert p.wait(lambda: len(flv.frames(p.stream.tags, VIDEO)) >= 5 * RATE)
    got = p.stream.in_order()
    flv.check_monotonic(got)
    flv.write(tmp_path / "got.flv", got)
    assert not tools.decode(tmp_path / "got.flv")
    found = counts(tmp_path / "got.flv")
    assert found["video"] == len(flv.frames(got, VIDEO)) and found["audio"] == len(flv.frames(got, AUDIO))
    with published(s, got, "b"):
        assert s.wait_log("live/b|stream=b", 5)
        seen = rtcmedia.watch(s.url("b"), 4)
    assert not seen.complaints and seen.frames >= 3.8 * RATE and seen.samples >= 3.8 * 48000


@pytest.mark.long
@pytest.mark.needs("ffmpeg")
def test_all_play_a_publisher(srs, source, tmp_path):
    """HTTP-FLV, HLS, DASH, RTSP, SRT and WebRTC at the same time, from one RTMFP publisher."""
    http, api, rtsp, srt, rtc, html = *(free_port() for _ in range(5)), tmp_path / "html"
    s = rtmfp_server(srs, glob=f"""
        http_server {{ enabled on; listen 127.0.0.1:{http}; dir {html}; }}
        http_api {{ enabled on; listen 127.0.0.1:{api}; }}
        rtsp_server {{ enabled on; listen 127.0.0.1:{rtsp}; udp_port {free_pair()}; }}
        srt_server {{ enabled on; listen 127.0.0.1:{srt}; }}
        rtc_server {{ enabled on; listen {rtc}; candidate 127.0.0.1; }}""", vhost=f"""
        http_remux {{ enabled on; mount [vhost]/[app]/[stream].flv; }}
        rtsp {{ enabled on; }} srt {{ enabled on; }} rtc {{ enabled on; rtmp_to_rtc on; }}
        hls {{ enabled on; hls_path {html}; hls_fragment 1; hls_window 20; }}
        dash {{ enabled on; dash_path {html}; dash_fragment 1; dash_window_size 20; }}""")
    with published(s, source) as p:
        assert wait_for(lambda: (html / "live/s.m3u8").exists() and (html / "live/s.mpd").exists(), 20)
        urls = {f"http://127.0.0.1:{http}/live/s.flv": (), f"http://127.0.0.1:{http}/live/s.m3u8": (),
                f"http://127.0.0.1:{http}/live/s.mpd": (), f"rtsp://127.0.0.1:{rtsp}/live/s": ("-rtsp_transport", "tcp"),
                f"srt://127.0.0.1:{srt}?streamid=#!::r=live/s,m=request": ()}
        browser = rtcplain.Client(f"http://127.0.0.1:{api}/rtc/v1/whep/?app=live&stream=s", "recvonly")
        for url, options in urls.items():
            got = rtcmedia.watch(url, 3, *options)
            assert got.frames >= 2.4 * RATE and got.samples >= 2.4 * 48000, (url, got)
        assert len(browser.of(rtcplain.VIDEO)) > 5 * RATE and len(browser.of(rtcplain.OPUS)) > 5 * 50
        browser.close()
        assert p.error is None


@pytest.mark.long
@pytest.mark.parametrize("codecs", [("hevc", "aac"), ("av1", "opus"), ("vp9", "opus")])
def test_enhanced_bodies_are_as_they_were(srs, media, codecs):
    """From RTMFP to RTMFP and RTMP, and from RTMP to RTMFP."""
    s = rtmfp_server(srs)
    tags = media.tags(*codecs)
    with clients(s, 2) as [a, b]:
        sender, viewer, other = a.publish("a"), b.play("a"), s.watch("a")
        rc.pump(a, sender, tags, others=[b], speed=4)
        assert rc.run([a, b], lambda: len(flv.frames(viewer.tags)) >= len(flv.frames(tags)))
        assert other.wait(lambda got: len(flv.frames(got)) >= len(flv.frames(tags)))
        assert frames(viewer.in_order()) == frames(other.stop()) == frames(tags)
        for kind in (AUDIO, VIDEO):
            assert {t.data for t in viewer.tags if t.config and t.type == kind} == \
                {t.data for t in tags if t.config and t.type == kind}
        back = b.play("b")
        s.push(tags, "b", speed=4)
        b.wait(lambda: len(flv.frames(back.tags)) >= len(flv.frames(tags)))
        assert frames(back.in_order()) == frames(tags)


# ---- callbacks

HOOKS = ("on_connect", "on_publish", "on_play", "on_unpublish", "on_stop", "on_close")


@contextlib.contextmanager
def asked(answer=None):
    """A backend, and the vhost directives for it."""
    with contextlib.closing(Backend(answer)) as b:
        yield b, "http_hooks { enabled on; " + "".join(f"{e} {b.url()};" for e in HOOKS) + " }"


@pytest.mark.long
def test_a_slow_backend_delays_only_its_client(srs, source):
    """While it handles one session, that session's other streams and all other clients continue; a client that leaves meanwhile is
    removed."""
    with asked(lambda e: 3.0 if e.get("stream") == "slow" else 0) as (b, hooks):
        s = rtmfp_server(srs, vhost=hooks)
        with published(s, source), clients(s, 2) as [c, d]:
            stream, slow = c.play("s"), c.create_stream()
            slow.command("play", "slow", -2)
            other = d.create_stream()
            other.command("publish", "slow", "live")
            assert rc.run([c, d], lambda: len(b.of("on_play")) >= 2 and len(b.of("on_publish")) >= 2)
            count = len(stream.tags)
            rc.run_for([c], 1.0)
            assert len(stream.tags) > count + 40 and not slow.statuses
            d.close()
            slow.status("NetStream.Play.Start")
            assert s.wait_log("client finished: RTMFP publisher", 5)


# ---- another configuration

def test_reload(srs, source):
    """Sessions and their streams survive one; a vhost without RTMFP accepts no more, and a server without it ends all."""
    s = rtmfp_server(srs)
    server = f"rtmfp_server {{ enabled %s; listen 127.0.0.1:{s.rtmfp_port}; ping 5; }}"
    with clients(s, 2) as [a, b]:
        out, back = a.publish("s"), b.play("s")

        def goes_on():
            count = len(flv.frames(back.tags)) + len(flv.frames(flv.cut(source, 200)))
            rc.pump(a, out, flv.cut(source, 200), others=[b], speed=None)
            assert rc.run([a, b], lambda: len(flv.frames(back.tags)) >= count)
        goes_on()
        s.reload(vhost="rtmfp { enabled on; } play { gop_cache off; }", glob=server % "on")
        goes_on()
        s.reload(vhost="", glob=server % "on")
        with rc.Client(s.rtmfp_port) as c, pytest.raises(Rejected):
            c.connect()
        s.reload(vhost="rtmfp { enabled on; }", glob=server % "off")
        for c in (a, b):
            with pytest.raises(Closed):
                c.wait(lambda: False)
        s.reload(vhost="rtmfp { enabled on; }", glob=server % "on")
        with rc.Client(s.rtmfp_port) as c:
            c.connect()
