# SPDX-License-Identifier: MIT
"""Third-party RTSP publishers: ffmpeg and GStreamer, over TCP and UDP; their streams are available to all."""
import pytest

import procs
import rtspplayers as players
import tools
from procs import Proc, free_port, wait_for
from rtspclient import rtsp_server

pytestmark = pytest.mark.needs("ffmpeg")

# GStreamer's first sender report comes after some seconds; until then the offset is estimated.
APART = {"ffmpeg": 0.040, "gst": 0.120}
BEGINS = "RTSP client identified, type=publish"
SOURCE = {"video": procs.SOURCE, "audio": procs.SOURCE}
GST = ("filesrc location={src} ! flvdemux name=d d.video ! h264parse ! queue ! s. d.audio ! aacparse ! queue ! s. "
       "rtspclientsink name=s location={url} protocols={how}")


def publish(who, how, url, log, path=procs.SOURCE):
    if who == "ffmpeg":
        return Proc(["ffmpeg", "-hide_banner", "-nostdin", "-re", "-i", path, "-c", "copy", "-f", "rtsp",
                     "-rtsp_transport", how, url], log)
    return Proc(["gst-launch-1.0", *GST.format(src=path, url=url, how=how).split()], log)


def plays(url, out, log, seconds=1.6, options=(), bare=()):
    """bare: extracts the audio frames from the container."""
    argv = ["ffmpeg", "-hide_banner", "-nostdin", "-y", *options, "-i", url]
    for kind, how in players.MD5.items():
        argv += ["-t", seconds, *how, *(bare if kind == "audio" else ()), f"{out}.{kind}"]
    return Proc(argv, log)


def has_sink():
    return procs.have("gst-inspect-1.0") and tools.run(["gst-inspect-1.0", "--exists", "rtspclientsink"],
                                                       check=False).returncode == 0


@pytest.mark.long
@pytest.mark.parametrize("how", ["tcp", "udp"])
@pytest.mark.parametrize("who", ["ffmpeg", "gst"])
def test_publishes(srs, tmp_path, who, how):
    """Its frames are available over RTMP, HTTP-FLV and RTSP; over TCP with HLS, too, and it may reconnect at once."""
    if who == "gst" and not has_sink():
        pytest.skip("no rtspclientsink: gstreamer1.0-rtsp")
    http = free_port()
    html = tmp_path / "html"
    s = rtsp_server(srs, glob=f"http_server {{ enabled on; listen 127.0.0.1:{http}; dir {html}; }}",
                    vhost=f"http_remux {{ enabled on; mount [vhost]/[app]/[stream].flv; }}\n"
                          f"hls {{ enabled on; hls_path {html}; hls_fragment 1; hls_window 20; }}")
    p = publish(who, how, s.rtsp_url(), tmp_path / "push.log")
    assert s.wait_log(BEGINS, 10), p.text()[-2000:]
    ways = {"rtmp": s.url(), "flv": f"http://127.0.0.1:{http}/live/s.flv", "rtsp": s.rtsp_url()}
    started = {name: plays(url, tmp_path / name, tmp_path / f"{name}.log",
                           options=("-rtsp_transport", "tcp") if name == "rtsp" else ())
               for name, url in ways.items()}
    for name, x in started.items():
        assert x.wait(20) == 0, f"{name}:\n{x.text()[-2000:]}\n{p.text()[-1000:]}"
        players.same(SOURCE, tmp_path / name, APART[who])
    assert p.running(), p.text()[-2000:]
    if how == "udp":
        return
    assert wait_for(lambda: len(list(html.glob("live/*.ts"))) >= 2, 10)
    x = plays(html / "live" / "s.m3u8", tmp_path / "hls", tmp_path / "hls.log",
              bare=("-bsf:a", "aac_adtstoasc"))
    assert x.wait(20) == 0, x.text()[-2000:]
    players.same(SOURCE, tmp_path / "hls", APART[who])
    p.end()
    p = publish(who, how, s.rtsp_url(), tmp_path / "again.log")
    assert s.wait_log(BEGINS, 10, count=2), "it is let in again at once: " + p.text()[-2000:]
    x = plays(s.url(), tmp_path / "again", tmp_path / "again-play.log", seconds=1)
    assert x.wait(20) == 0, x.text()[-2000:]
    players.same(SOURCE, tmp_path / "again", APART[who])
