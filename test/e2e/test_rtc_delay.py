# SPDX-License-Identifier: MIT
"""Latency from glass to glass of WebRTC in Chromium. Prints the numbers for the performance pages."""
import time

import pytest

import browser
import rtc_shown
from procs import wait_for
from rtc import Browser, rtc_server

pytestmark = [pytest.mark.long, pytest.mark.skipif(not browser.chromium(), reason="no Chromium")]


def check(b, kind, most, seconds=10):
    assert wait_for(lambda: b.decoded() > 25, 15, 0.2), b.stats()
    rtc_shown.watch(b)
    time.sleep(seconds) # of media
    late = rtc_shown.delays(rtc_shown.shown(b))
    print(f"{kind}: glass to glass {late[0] / 1000:.3f} to {late[-1] / 1000:.3f} s, median {late[len(late) // 2] / 1000:.3f}")
    assert len(late) > 10 * seconds and late[len(late) // 2] < most, late
    assert b.stats()["inbound-rtp-video"]["freezeCount"] == 0


def test_from_page_to_page(srs, tmp_path):
    s = rtc_server(srs, tmp_path)
    (tmp_path / "b").mkdir()
    with Browser(tmp_path, s) as out, Browser(tmp_path / "b", s) as back:
        out.run(rtc_shown.CLOCK)
        assert out.publish(s.whip(), source="clock") == "ok"
        assert back.play(s.whep()) == "ok"
        check(back, "rtc, page to page", 250)


def test_from_rtmp_to_page(srs, tmp_path):
    s = rtc_server(srs, tmp_path, rtc="rtmp_to_rtc on;")
    camera = rtc_shown.LiveClock(s.url(), tmp_path)
    assert s.wait_log("start publish|client identified", 5), camera.proc.text()
    with Browser(tmp_path, s) as b:
        assert b.play(s.whep()) == "ok"
        check(b, "rtc, RTMP to page", 400)
    camera.stop()
