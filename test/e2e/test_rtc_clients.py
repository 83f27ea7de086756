# SPDX-License-Identifier: MIT
"""WebRTC with clients that are no browsers. Others that were seen by hand are in doc/rtc.md."""
import pytest

import pion
import tools
from rtc import rtc_server

pytestmark = pytest.mark.long


def film(tmp):
    """Without B frames, a picture is one slice; as files that pion reads."""
    tools.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25", "-f", "lavfi", "-i",
               "sine=frequency=440:sample_rate=48000", "-map", "0:v", "-t", "15", "-c:v", "libx264", "-profile:v", "baseline",
               "-preset", "ultrafast", "-tune", "zerolatency", "-x264-params", "sliced-threads=0:slices=1", "-g", "50",
               "-pix_fmt", "yuv420p", f"{tmp}/film.h264", "-map", "1:a", "-c:a", "libopus", "-ac", "2", "-t", "15", "-page_duration",
               "20000", f"{tmp}/film.ogg"])
    return f"{tmp}/film.h264", f"{tmp}/film.ogg"


def test_pion(srs, tmp_path):
    """It publishes and plays; players of other protocols have all of its frames."""
    pion.need()
    s = rtc_server(srs, tmp_path, rtc="rtc_to_rtmp on;")
    out = pion.Client(tmp_path / "publish.log", "publish", s.whip(), *film(tmp_path), 11)
    assert s.wait_log("first packet of video", 10), s.log()[-3000:]
    play = pion.Client(tmp_path / "play.log", "play", s.whep(), 5)
    r = tools.run(["ffmpeg", "-v", "error", "-probesize", "65536", "-t", "3", "-i", f"http://127.0.0.1:{s.web_port}/live/s.flv",
                   "-map", "0:v", "-f", "framecrc", "-"], check=False)
    frames = [line for line in r.stdout.decode().splitlines() if not line.startswith("#")]
    assert len(frames) >= 74 and not r.stderr.strip(), (len(frames), r.stderr.decode()[-2000:])
    got, sent = play.result(), out.result()
    video, sound = got["tracks"]["video"], got["tracks"]["audio"]
    assert video["Codec"] == "video/H264" and video["Lost"] == 0 and video["Keys"] >= 2, got
    assert video["Frames"] >= 115 and sound["Lost"] == 0 and 230 <= sound["Packets"] <= 260, got
    assert got["deleted"] == 200 and sent["deleted"] == 200 and got["reports"] > 5 and sent["reports"] > 10, (got, sent)
