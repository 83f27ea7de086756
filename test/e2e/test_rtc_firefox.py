# SPDX-License-Identifier: MIT
"""WebRTC with Firefox: it publishes, plays, and what it displays. It has no loopback candidate, so the server has another address."""
import time

import pytest

import browser
import firefox
from netspace import A, alone
from procs import wait_for
from rtc import SCRIPT, Browser, rtc_server

pytestmark = [pytest.mark.long, pytest.mark.skipif(not firefox.there(), reason="no Firefox: apt-get install firefox-esr")]


class Fox(firefox.Page):
    """Firefox on a page of the server, with the functions of Browser."""
    publish, play, stats, decoded = Browser.publish, Browser.play, Browser.stats, Browser.decoded

    def __init__(self, tmp, s):
        super().__init__(tmp)
        self.open(f"http://{s.host}:{s.web_port}/empty.html")
        self.run(SCRIPT)


def is_smooth(player, publisher, seconds=6):
    """Everything encoded meanwhile is decoded, and nothing is lost."""
    def encoded():
        return publisher.stats("out")["outbound-rtp-video"]["framesEncoded"]
    assert wait_for(lambda: player.decoded() > 10, 20, 0.2), player.stats()
    before, sent = player.decoded(), encoded()
    time.sleep(seconds)  # of media
    end, sent = player.stats(), encoded() - sent
    video, sound = end["inbound-rtp-video"], end["inbound-rtp-audio"]
    assert sent > seconds * 5 and abs(video["framesDecoded"] - before - sent) < 0.1 * sent, (sent, before, video)
    assert video["packetsLost"] == 0 and sound["packetsLost"] == 0 and sound["packetsReceived"] > seconds * 45, (video, sound)
    assert sound["totalSamplesReceived"] > seconds * 48000 * 0.95, sound


@pytest.mark.parametrize("codec", ["vp8", "av1"])
def test_from_firefox(srs, tmp_path, codec):
    """To itself, and to Chromium if available."""
    with alone():
        s = rtc_server(srs, tmp_path, candidate=A)
        with Fox(tmp_path, s) as fox:
            assert fox.publish(s.whip(), codec=codec) == "ok", s.log()[-3000:]
            assert fox.wait("window.peers.out.connectionState === 'connected'", 20), s.log()[-3000:]
            assert fox.play(s.whep()) == "ok", s.log()[-3000:]
            is_smooth(fox, fox)
            fox.shot(tmp_path / "firefox.png")
            if browser.chromium():
                with Browser(tmp_path, s) as b:
                    assert b.play(s.whep()) == "ok", s.log()[-3000:]
                    is_smooth(b, fox)
        s.stop()


@pytest.mark.skipif(not browser.chromium(), reason="no Chromium")
@pytest.mark.parametrize("codec", ["vp8", "vp9", "av1"])
def test_from_chromium(srs, tmp_path, codec):
    with alone():
        s = rtc_server(srs, tmp_path, candidate=A)
        with Browser(tmp_path, s) as b, Fox(tmp_path, s) as fox:
            assert b.publish(s.whip(), codec=codec) == "ok", s.log()[-3000:]
            assert b.wait("window.peers.out.connectionState === 'connected'", 10), s.log()[-3000:]
            assert fox.play(s.whep()) == "ok", s.log()[-3000:]
            is_smooth(fox, b)
        s.stop()
