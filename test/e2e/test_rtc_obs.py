# SPDX-License-Identifier: MIT
"""OBS publishes over WHIP, as the documents say, and a page plays it."""
import os
import subprocess

import pytest

import browser
import desktop
import rtcpeers
from obs import Obs
from procs import wait_for
from rtc import Browser, rtc_server

OBS_WHIP = r"^In OBS 30 or newer: .*Server `(http://[^`]*)`"
ROOT = os.path.join(rtcpeers.CACHE, "obs")  # a Debian with OBS and its WHIP plugin: made by obs.sh
INSIDE = 'mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" && mount --bind /tmp "$0/tmp" && exec chroot "$0" "$@"'

pytestmark = [pytest.mark.long, pytest.mark.alone, pytest.mark.needs("Xvfb", "ffmpeg", "unshare"),
              pytest.mark.skipif(not browser.chromium(), reason="no Chromium")]


@pytest.fixture
def program():
    """Command that runs OBS with the screen, the network and /tmp of this machine."""
    if not os.path.exists(os.path.join(ROOT, "usr/bin/obs")):
        pytest.skip("no OBS with WHIP: test/e2e/webrtc/obs.sh makes one")
    run = ["unshare", "-m", "sh", "-c", INSIDE, ROOT]
    if subprocess.run([*run, "true"], capture_output=True).returncode:
        pytest.skip("OBS in a folder of its own needs root")
    return [*run, "obs"]


def test_obs_publishes(srs, tmp_path, program):
    screen, film = desktop.Screen(tmp_path), desktop.film(tmp_path / "film.mp4")
    s = rtc_server(srs, tmp_path, rtc="rtc_to_rtmp on;")
    server = desktop.readme(OBS_WHIP, **{"YOUR-HOST:1985": f"127.0.0.1:{s.api_port}"})
    obs = Obs(screen, film, server, "a-token", whip=True, program=program)
    assert s.wait_log("video sh", 60) and s.wait_log("first packet of audio", 5), s.log()[-3000:] + obs.text()[-3000:]
    with Browser(tmp_path, s) as b:
        assert b.play(s.whep("livestream")) == "ok", s.log()[-3000:]
        assert wait_for(lambda: b.decoded() > 10, 15, 0.2), b.stats()
        before = b.decoded()
        boxes = desktop.watch(f"http://127.0.0.1:{s.web_port}/live/livestream.flv", 6, "-probesize", 65536)
        end = b.stats()
        b.shot(tmp_path / "page.png")
    video, sound = end["inbound-rtp-video"], end["inbound-rtp-audio"]
    assert video["framesDecoded"] - before >= 6 * 25 * 0.95 and video["freezeCount"] == 0 and video["packetsLost"] == 0, video
    assert sound["packetsLost"] == 0 and sound["totalSamplesReceived"] > 5 * 48000, sound
    assert len(boxes) >= 145 and None not in boxes and desktop.moves(boxes) > 0.5, boxes  # a busy OBS shows some frames twice
    status = obs.ask("GetStreamStatus")
    assert status["outputActive"] and status["outputSkippedFrames"] == 0, status
    obs.ask("StopStream")
    assert s.wait_log("asked for it by DELETE", 10), s.log()[-2000:]
