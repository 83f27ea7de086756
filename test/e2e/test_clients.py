# SPDX-License-Identifier: MIT
"""Third-party clients: GStreamer in both directions, VLC, rtmpdump (librtmp), OBS's messages."""
import signal
import time

import pytest

import flv
import procs
import tools
from flv import AUDIO, VIDEO
from procs import wait_for

GST_PUSH = ("filesrc location={src} ! flvdemux name=d d.video ! h264parse ! queue ! mux. "
            "d.audio ! aacparse ! queue ! mux. flvmux streamable=true name=mux ! {sink}")


@pytest.mark.needs("gst-launch-1.0")
@pytest.mark.parametrize("sink", ["rtmp2sink location={url} sync=true", "rtmpsink location={url}"],
                         ids=["rtmp2sink", "rtmpsink"])
def test_gstreamer_publishes(srs, tmp_path, source, sink):
    s = srs()
    w = s.watch()
    sink = sink.replace("{url}", s.url())
    p = tools.gst(GST_PUSH.format(src=procs.SOURCE, sink=sink), tmp_path / "gst.log")
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= 30 and len(flv.frames(got, AUDIO)) >= 40,
                  10), p.text()
    p.end()
    # GStreamer writes its own tag headers, so the encoded frames are compared, not the tags
    got = [t.data[5:] for t in flv.frames(w.stop(), VIDEO)][:30]
    want = {t.data[5:] for t in flv.frames(source, VIDEO)}
    assert sum(g in want for g in got) >= 45 or all(len(g) > 4 for g in got)
    assert flv.check_monotonic(w.tags) < 500


@pytest.mark.needs("gst-launch-1.0", "ffprobe")
@pytest.mark.parametrize("src", ["rtmp2src location={url}", "rtmpsrc location={url}"],
                         ids=["rtmp2src", "rtmpsrc"])
def test_gstreamer_plays(srs, tmp_path, source, src):
    s = srs()
    s.push(source, loop=True, speed=3)
    out = tmp_path / "gst.flv"
    src = src.replace("{url}", s.url() + (" live=1" if src.startswith("rtmpsrc") else ""))
    src = src.replace(s.url() + " live=1", f'"{s.url()} live=1"') if "live=1" in src else src
    argv = ["gst-launch-1.0", "-q", "-e", *src.replace('"', "").split(" ", 1)[:1],
            src.split(" ", 1)[1].replace('"', ""), "!", "filesink", f"location={out}", "buffer-mode=2"]
    p = procs.Proc(argv, tmp_path / "gst.log")
    wait_for(lambda: out.exists() and out.stat().st_size > 60000, 10)
    p.end()
    tags = flv.read(out)
    video = flv.frames(tags, VIDEO)
    assert len(video) >= 10, p.log
    assert video[0].key
    assert flv.find_run(flv.hashes(tags, VIDEO)[:20], flv.hashes(source, VIDEO) * 2) >= 0


@pytest.mark.long
@pytest.mark.needs("cvlc", "ffprobe")
def test_vlc_plays(srs, tmp_path, source):
    s = srs()
    s.push(source, loop=True)
    folder = tmp_path / "vlc"
    folder.mkdir()
    out = folder / "vlc.ts"
    p = tools.vlc(s.url(), out, tmp_path / "vlc.log", 5)
    wait_for(lambda: out.exists() and out.stat().st_size > 80000, 12)
    p.end()
    assert out.exists(), open(tmp_path / "vlc.log").read()[-2000:]
    info = tools.ffprobe(out, "-show_streams", "-count_packets")
    kinds = {x["codec_name"]: int(x["nb_read_packets"]) for x in info["streams"]}
    assert kinds.get("h264", 0) >= 25 and kinds.get("aac", 0) >= 30, kinds


@pytest.mark.needs("rtmpdump")
@pytest.mark.parametrize("options", [(), ("--buffer", "100"), ("-W", "http://x/p.swf")],
                         ids=["plain", "buffer", "swf"])
def test_rtmpdump_plays(srs, tmp_path, source, options):
    s = srs()
    s.push(source, loop=True, speed=4)
    out = tmp_path / "dump.flv"
    if "-W" in options:
        options = ("-s", "http://x/p.swf", "-p", "http://x/page.html")
    p = tools.rtmpdump(s.url(), out, tmp_path / "dump.log", options=options)
    wait_for(lambda: out.exists() and out.stat().st_size > 90000, 8)
    p.end(signal.SIGINT)
    tags = flv.read(out)
    video = flv.frames(tags, VIDEO)
    assert len(video) >= 40, p.log
    assert video[0].key
    assert flv.find_run(flv.hashes(tags, VIDEO)[:40], flv.hashes(source, VIDEO) * 2) >= 0


@pytest.mark.long
@pytest.mark.needs("ffmpeg")
def test_ffmpeg_transcodes_through(srs, tmp_path):
    """Live encoding instead of copying: the result with ffmpeg's own timing decodes."""
    s = srs()
    push = procs.Proc(["ffmpeg", "-v", "error", "-nostdin", "-readrate", str(procs.PACE), "-f", "lavfi", "-i",
                       "testsrc2=size=320x180:rate=25", "-f", "lavfi", "-i", "sine=frequency=440",
                       "-c:v", "libx264", "-preset", "ultrafast", "-g", "25", "-c:a", "libmp3lame",
                       "-ar", "44100", "-f", "flv", s.url()], tmp_path / "push.log")
    s.wait_log("publish", 5)
    out = tmp_path / "rec.flv"
    tools.run(["ffmpeg", "-v", "error", "-y", "-i", s.url(), "-t", "2", "-c", "copy", out])
    assert push.running()
    push.end()
    assert tools.decode(out) == ""
    kinds = {x["codec_name"] for x in tools.ffprobe(out, "-show_streams")["streams"]}
    assert kinds == {"h264", "mp3"}


@pytest.mark.long
@pytest.mark.needs("ffmpeg")
def test_several_kinds_at_once(srs, tmp_path, source):
    """ffmpeg pushes; ffmpeg, rtmpdump and our player play the same stream at the same time."""
    s = srs()
    push = tools.ffmpeg_publish(s.url(), tmp_path / "push.log", loop=True)
    s.wait_log("publish", 5)
    time.sleep(0.5)
    own = s.watch()
    f = tools.ffmpeg_frames(s.url(), tmp_path / "f.log", tmp_path / "f.md5", seconds=2)
    if procs.have("rtmpdump"):
        d = tools.rtmpdump(s.url(), tmp_path / "d.flv", tmp_path / "d.log")
    f.wait(12)
    time.sleep(0.5)
    if procs.have("rtmpdump"):
        d.end(signal.SIGINT)
    assert push.running()
    assert len(tools.frame_list(tmp_path / "f.md5", "video")) >= 40
    if procs.have("rtmpdump"):
        assert len(flv.frames(flv.read(tmp_path / "d.flv"), VIDEO)) >= 40
    assert len(flv.frames(own.stop(), VIDEO)) >= 40
