# SPDX-License-Identifier: MIT
"""WebRTC from a publisher that imitates FFmpeg's WHIP muxer: whipscript.py."""
import time

import pytest

import flv
import rtcmedia
import tools
from procs import wait_for
from rtc import rtc_server
from webclient import FlvWatcher
from whipscript import Publisher

FRAMES = 30


def film(tmp):
    """[NAL units of a frame]: half a second between key frames."""
    tools.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25", "-frames:v", FRAMES, "-c:v", "libx264",
               "-profile:v", "baseline", "-preset", "ultrafast", "-tune", "zerolatency", "-x264-params", "slices=1:sliced-threads=0", "-g", 12,
               "-pix_fmt", "yuv420p", f"{tmp}/film.h264"])
    with open(f"{tmp}/film.h264", "rb") as f:
        units = [u.rstrip(b"\0") for u in f.read().split(b"\0\0\1")[1:]]
    frames, now = [], []
    for u in units:
        now.append(u)
        if u[0] & 31 in (1, 5):
            frames.append(now)
            now = []
    assert len(frames) == FRAMES
    return frames


def publish(p, frames):
    """Publishes in real time."""
    began = time.monotonic()
    for n, units in enumerate(frames):
        time.sleep(max(0, began + n * 0.04 - time.monotonic()))
        p.video(n, units)
        p.sound(2 * n)
        p.sound(2 * n + 1)


def pictures(tags, path):
    """Decodes the video."""
    out = []
    for t in tags:
        if t.type != flv.VIDEO or len(t.data) < 6:
            continue
        body, at = t.data, 5
        if body[1] == 0: # the parameter sets
            size = int.from_bytes(body[11:13], "big")
            more = body[13 + size + 1:]
            out += [body[13:13 + size], more[2:2 + int.from_bytes(more[:2], "big")]]
        while body[1] == 1 and at + 4 <= len(body):
            size = int.from_bytes(body[at:at + 4], "big")
            out.append(body[at + 4:at + 4 + size])
            at += 4 + size
    path.write_bytes(b"".join(b"\0\0\0\1" + u for u in out))
    return rtcmedia.counted(tools.run(["ffmpeg", "-v", "error", "-f", "h264", "-i", path, "-f", "framecrc", "-"], check=False))


@pytest.mark.parametrize("workers", ["1", "4"])
def test_as_ffmpeg_publishes(srs, tmp_path, workers):
    s = rtc_server(srs, tmp_path, rtc="rtc_to_rtmp on;", candidate="127.0.0.1 127.0.0.9", env={"SRS_WORKERS": workers})
    watch, frames = FlvWatcher(s.web_port), film(tmp_path)
    p = Publisher(tmp_path, s.whip())
    assert "a=setup:active" in p.answer and "a=rtcp-fb" not in p.answer and "a=extmap:" not in p.answer, p.answer
    publish(p, frames)
    assert wait_for(lambda: sum(t.type == flv.VIDEO and t.data[1] == 1 for t in list(watch.tags)) >= FRAMES - 1, 2), s.log()[-3000:]
    assert p.leave() == 200
    got = pictures(watch.tags, tmp_path / "got.h264")
    assert got.frames >= FRAMES - 1 and not got.complaints, got
    assert sum(t.type == flv.AUDIO for t in watch.tags) >= FRAMES, len(watch.tags)
    assert s.wait_log("DTLS done as client", 1) and s.wait_log("RTC publisher of .* lost=0, ", 2), s.log()[-3000:]
