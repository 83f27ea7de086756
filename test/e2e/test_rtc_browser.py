# SPDX-License-Identifier: MIT
"""WebRTC with Chromium: it publishes, plays, and what it displays."""
import time

import pytest

import browser
import test_rtc_audio
import tools
from procs import Proc, wait_for
from rtc import Browser, rtc_server

pytestmark = [pytest.mark.long, pytest.mark.skipif(not browser.chromium(), reason="no Chromium")]


def count(b, name, kind, what):
    return b.stats(name).get(kind, {}).get(what, 0)


def apart(b, name="in"):
    """Milliseconds by which audible audio is ahead of visible video, from sender reports."""
    stats = b.stats(name)
    times = [stats.get(kind, {}).get("estimatedPlayoutTimestamp") for kind in ("inbound-rtp-audio", "inbound-rtp-video")]
    return times[0] - times[1] if all(times) else 1e6


def assert_together(b, name="in"):
    """Chromium shows video at once and shifts it towards audio by some ms a second: two seconds with at most 60 ms."""
    got, began = [], time.monotonic()

    def near():
        got.append(apart(b, name))
        return len(got) >= 8 and all(abs(x) <= 60 for x in got[-8:])
    assert wait_for(near, 25, 0.25), got
    print(f"audio {got[0]:.0f} ms ahead of video, {time.monotonic() - began:.0f} s later {got[-1]:.0f} ms")


def assert_smooth(b, name="in", sent=None, sound=True):
    """Everything encoded meanwhile (by `sent`, else 25 a second) is decoded: nothing lost, no freeze."""
    assert wait_for(lambda: b.decoded(name) > 10, 15, 0.2), b.stats(name)
    before, encoded = b.decoded(name), count(b, "out", "outbound-rtp-video", "framesEncoded") if sent else 0
    b.run(f"window.peers.{name}.video.muted = false") # muted audio has no energy
    quiet = b.stats(name).get("inbound-rtp-audio", {})
    time.sleep(6) # of media
    end = b.stats(name)
    encoded = count(b, "out", "outbound-rtp-video", "framesEncoded") - encoded if sent else 6 * 25
    video = end["inbound-rtp-video"]
    assert abs(video["framesDecoded"] - before - encoded) < 0.07 * encoded, (encoded, before, video)
    assert video["freezeCount"] == 0 and video["packetsLost"] == 0, video
    if sound:
        heard = end["inbound-rtp-audio"]
        assert heard["packetsReceived"] > 200 and heard["packetsLost"] == 0 and heard["totalSamplesReceived"] > 0, heard
        samples, concealed, energy = (heard[k] - quiet.get(k, 0) for k in
                                      ("totalSamplesReceived", "concealedSamples", "totalAudioEnergy"))
        assert samples > 5.5 * 48000 and concealed < 0.03 * samples and energy > 0.001, (quiet, heard)
        assert_together(b, name)


@pytest.mark.parametrize("codec", ["h264", "vp8", "vp9", "av1"])
def test_from_page_to_page(srs, tmp_path, codec):
    """Unchanged: frames are decoded at their rate, without freezes."""
    s = rtc_server(srs, tmp_path)
    with Browser(tmp_path, s) as b:
        assert b.publish(s.whip(), codec=codec) == "ok"
        assert b.wait("window.peers.out.connectionState === 'connected'", 10), s.log()[-3000:]
        assert b.play(s.whep()) == "ok", s.log()[-3000:]
        assert_smooth(b, sent="out")
        b.shot(tmp_path / "page.png")
        assert b.run("window.peers.in.video.videoWidth") >= 320


def film(path):
    """Encoded for WebRTC: no B-frames, a key frame every 4 s."""
    tools.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25", "-f", "lavfi", "-i",
               "sine=frequency=440:sample_rate=48000", "-t", "12", "-c:v", "libx264", "-preset", "ultrafast", "-tune",
               "zerolatency", "-g", "100", "-b:v", "900k", "-pix_fmt", "yuv420p", "-c:a", "aac", str(path)])
    return str(path)


def test_from_rtmp_to_page(srs, tmp_path):
    """H.264 of an RTMP publisher; the first frame comes from the current GOP."""
    s = rtc_server(srs, tmp_path, rtc="rtmp_to_rtc on;")
    push = Proc(["ffmpeg", "-v", "error", "-nostdin", "-re", "-stream_loop", "-1", "-i", film(tmp_path / "film.flv"), "-c",
                 "copy", "-f", "flv", s.url()], tmp_path / "push.log")
    assert s.wait_log("start publish|client identified", 5), push.text()
    with Browser(tmp_path, s) as b:
        assert b.play(s.whep()) == "ok", s.log()[-3000:]
        assert_smooth(b, sound=test_rtc_audio.is_built())
        b.shot(tmp_path / "page.png")


def test_from_page_to_rtmp(srs, tmp_path):
    """What Chromium publishes is available over HTTP-FLV, and decodes without an error. FFmpeg 5 does not know Opus in FLV and would
    search for its parameters for long."""
    s = rtc_server(srs, tmp_path, rtc="rtc_to_rtmp on;")
    with Browser(tmp_path, s) as b:
        assert b.publish(s.whip()) == "ok"
        assert b.wait("window.peers.out.connectionState === 'connected'", 10), s.log()[-3000:]
        r = tools.run(["ffmpeg", "-v", "error", "-probesize", "65536", "-t", "6", "-i", f"http://127.0.0.1:{s.web_port}/live/s.flv",
                       "-map", "0:v", "-f", "framecrc", "-"], check=False)
        frames = [line for line in r.stdout.decode().splitlines() if not line.startswith("#")]
        assert len(frames) > 100 and not r.stderr.strip(), (len(frames), r.stderr.decode()[-2000:])
