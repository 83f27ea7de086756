# SPDX-License-Identifier: MIT
"""Third-party SRT publishers: ffmpeg, GStreamer, srt-live-transmit; and rejections with their reasons."""
import pytest

import procs
import tools
from procs import Proc, free_port, wait_for

pytestmark = pytest.mark.needs("ffmpeg")

BEGINS = "SRT publisher of .*live/s"
SECRET = "0123456789abcdef"


def srt_server(srs, vhost="", glob="", server="", **how):
    """Starts a server of the fixture `srs` with SRT."""
    port = free_port()
    s = srs(vhost=f"srt {{ enabled on; }}\n{vhost}",
            glob=f"{glob}\nsrt_server {{ enabled on; listen 127.0.0.1:{port}; {server} }}", **how)
    s.srt_port = port
    s.srt_url = lambda streamid="#!::r=live/s,m=publish", more="": \
        f"srt://127.0.0.1:{port}?streamid={streamid}&pkt_size=1316{more}"
    return s


def ffmpeg(url, log, path=procs.SOURCE):
    return Proc(["ffmpeg", "-hide_banner", "-nostdin", "-readrate", str(procs.PACE), "-stream_loop", "-1", "-i", path, "-c", "copy", "-f",
                 "mpegts", url], log)


def gst(s, log, more=""):
    return Proc(["gst-launch-1.0", *(f"filesrc location={procs.SOURCE} ! flvdemux name=d mpegtsmux alignment=7 name=m ! "
                                     f"srtsink uri=srt://127.0.0.1:{s.srt_port} streamid=#!::r=live/s,m=publish "
                                     f"latency=200 {more} d.video ! h264parse ! queue ! m. "
                                     "d.audio ! aacparse ! queue ! m.").split()], log)


def kinds(url, options=()):
    """Kinds of tracks that a player finds in the stream."""
    r = tools.run(["ffprobe", "-v", "error", *options,
                   "-show_entries", "stream=codec_name", "-of", "csv=p=0", url], check=False)
    return sorted(set(r.stdout.decode().split()) - {"text"})


def test_ffmpeg_publishes(srs, tmp_path):
    """Its frames are available over RTMP; it can reconnect at once, and gets an error if the stream has another publisher."""
    s = srt_server(srs, vhost="publish { takeover off; }")
    p = ffmpeg(s.srt_url(), tmp_path / "push.log")
    assert s.wait_log(BEGINS, 10), p.text()[-2000:]
    assert kinds(s.url()) == ["aac", "h264"]
    other = ffmpeg(s.srt_url(), tmp_path / "other.log")
    assert other.wait(5) != 0
    assert s.wait_log("is refused with 2409", 1)
    p.end()
    assert s.wait_log("sent a shutdown", 2)


@pytest.mark.parametrize("size", [0, pytest.param(16, marks=pytest.mark.long), pytest.param(32, marks=pytest.mark.long)])
def test_only_who_knows_the_passphrase_is_let_in(srs, tmp_path, size):
    """0: neither side has a configured key size."""
    s = srt_server(srs, server=f"passphrase {SECRET}; pbkeylen {size};")
    wrong = ffmpeg(s.srt_url(more=f"&passphrase=no{SECRET}"), tmp_path / "wrong.log")
    without = ffmpeg(s.srt_url("#!::r=live/b,m=publish"), tmp_path / "without.log")
    assert wrong.wait(5) != 0 and without.wait(5) != 0
    assert s.wait_log("is refused with 1010", 1) and s.wait_log("is refused with 1011", 1)
    good = f"&passphrase={SECRET}" + (f"&pbkeylen={size}" if size else "")  # a rejection lasts a second: use another stream
    p = ffmpeg(s.srt_url("#!::r=live/c,m=publish", good), tmp_path / "push.log")
    assert s.wait_log(f"AES-{(size or 16) * 8}", 5), p.text()[-2000:]
    assert kinds(s.url("c")) == ["aac", "h264"]


@pytest.mark.needs("srt-file-transmit")
def test_files_are_refused_with_their_reason(srs, tmp_path):
    s = srt_server(srs)
    p = Proc(["srt-file-transmit", f"file://{procs.SOURCE}", f"srt://127.0.0.1:{s.srt_port}"], tmp_path / "file.log")
    assert s.wait_log("is refused with 1012: only live mode is supported, not stream or file mode", 5), p.text()
    p.end()


@pytest.mark.long
@pytest.mark.parametrize("who", ["ffmpeg", "gst", "srt-live-transmit"])
def test_publishers_are_played_by_all_ways(srs, tmp_path, who):
    """Over RTMP, HTTP-FLV and HLS."""
    if not procs.have("gst-launch-1.0" if who == "gst" else who):
        pytest.skip(who)
    http, html = free_port(), tmp_path / "html"
    s = srt_server(srs, glob=f"http_server {{ enabled on; listen 127.0.0.1:{http}; dir {html}; }}",
                   vhost=f"http_remux {{ enabled on; mount [vhost]/[app]/[stream].flv; }}\n"
                         f"hls {{ enabled on; hls_path {html}; hls_fragment 1; hls_window 20; }}")
    if who == "gst":
        gst(s, tmp_path / "push.log")
    elif who == "ffmpeg":
        ffmpeg(s.srt_url(), tmp_path / "push.log")
    else:
        port = free_port()
        Proc(["srt-live-transmit", f"udp://127.0.0.1:{port}", s.srt_url()], tmp_path / "slt.log")
        ffmpeg(f"udp://127.0.0.1:{port}?pkt_size=1316", tmp_path / "push.log")
    assert s.wait_log(BEGINS, 10), s.log()[-2000:]
    assert wait_for(lambda: (html / "live" / "s.m3u8").exists(), 20)
    for url in (s.url(), f"http://127.0.0.1:{http}/live/s.flv", f"http://127.0.0.1:{http}/live/s.m3u8"):
        assert kinds(url) == ["aac", "h264"], url
