# SPDX-License-Identifier: MIT
"""Chromium behind a network that loses and reorders datagrams: others get its stream complete, and its playback does not freeze."""
import time

import pytest

import browser
import rtc_shown
import tools
from procs import wait_for
from rtc import Browser, rtc_server
from udprelay import Relay

pytestmark = [pytest.mark.long, pytest.mark.skipif(not browser.chromium(), reason="no Chromium")]

ONE_WAY = 0.01


def behind(srs, tmp_path, loss, late, **how):
    """A server that is reachable only through a bad network; returns both."""
    relay = Relay(0, loss=loss, late=late, one_way=ONE_WAY)
    s = rtc_server(srs, tmp_path, candidate=f"127.0.0.1:{relay.port}", server="api_as_candidates off;", **how)
    relay.to = ("127.0.0.1", s.rtc_port)
    return s, relay


def encoded(b):
    return b.stats("out").get("outbound-rtp-video", {}).get("framesEncoded", 0)


def frames(url, seconds=None):
    """Number of frames that decode; any message of ffmpeg is an error."""
    r = tools.run(["ffmpeg", "-v", "error", "-probesize", "65536", *(["-t", seconds] if seconds else []), "-i", url, "-map", "0:v", "-fps_mode",
                   "passthrough", "-f", "framecrc", "-"], timeout=90, check=False)
    assert not r.stderr.strip(), r.stderr.decode()[-2000:]
    lines = [line.split(",") for line in r.stdout.decode().splitlines() if not line.startswith("#")]
    return len(lines), (int(lines[-1][2]) - int(lines[0][2]))


def test_a_publisher_is_whole(srs, tmp_path):
    """5 % lost, 2 % late: HTTP-FLV and HLS have all encoded frames, and each decodes."""
    root = tmp_path / "html"
    s, relay = behind(srs, tmp_path, 0.05, 0.02, rtc="rtc_to_rtmp on;",
                      vhost=f"hls {{ enabled on; hls_path {root}; hls_fragment 2; hls_window 60; hls_wait_keyframe on; }}")
    with Browser(tmp_path, s) as b:
        b.run(rtc_shown.CLOCK)
        assert b.publish(s.whip(), source="clock") == "ok"
        assert wait_for(lambda: encoded(b) > 100, 20, 0.2), b.stats("out")
        before, began = encoded(b), time.monotonic()
        got, _ = frames(f"http://127.0.0.1:{s.web_port}/live/s.flv", 15)
        rate = (encoded(b) - before) / (time.monotonic() - began)
        made, out = encoded(b), b.stats("out")["outbound-rtp-video"]
    assert wait_for(lambda: "ENDLIST" in (root / "live" / "s.m3u8").read_text() or s.wait_log("unpublish|end", 0.1), 5)
    lines = (root / "live" / "s.m3u8").read_text().splitlines()
    whole, _ = frames("concat:" + "|".join(str(root / "live" / line.partition("?")[0]) for line in lines if line and line[0] != "#"))
    print(f"published with 5 % lost and 2 % late: {rate:.1f} pictures a second encoded, {got / 15:.1f} by HTTP-FLV, {made} in all, {whole} by HLS; "
          f"{relay.lost} of {relay.lost + relay.passed} datagrams lost, {out['retransmittedPacketsSent']} sent again")
    assert got / 15 >= 0.95 * rate and whole >= 0.95 * (made - 4 * rate), (got, rate, whole, made)
    relay.stop()


def test_our_page_knows_the_round_trip(srs, tmp_path):
    """whep.html behind such a network: it repeats requests as soon as it can, so no frame stays for 300 ms."""
    s, relay = behind(srs, tmp_path, 0.05, 0.0, rtc="rtmp_to_rtc on;")
    camera = rtc_shown.LiveClock(s.url(), tmp_path)
    assert s.wait_log("start publish|client identified", 5), camera.proc.text()
    with Browser(tmp_path, s) as b:
        b.open(f"http://127.0.0.1:{s.web_port}/players/whep.html?stream=s&autostart=true")
        assert b.wait("document.querySelector('video').currentTime > 2", 15), b.text()
        rtc_shown.watch(b, "document.querySelector('video')")
        time.sleep(30) # of media
        gaps = sorted(rtc_shown.gaps(rtc_shown.shown(b)))
        print(f"whep.html with 5 % lost each way: {len(gaps)} pictures in 30 s, largest gaps {gaps[-3:]} ms; " +
              " ".join(b.run("document.querySelector('#stats').innerText").split()))
    assert gaps[-1] < 300 and len(gaps) > 300, gaps[-5:]
    relay.stop()


@pytest.mark.parametrize("source", ["rtmp", "page"])
def test_a_player_does_not_freeze(srs, tmp_path, source):
    """5 % lost in each direction, for 30 s: at most one gap of 300 ms between frames, at most 0.1 % lost in the end."""
    s, relay = behind(srs, tmp_path, 0.0, 0.0, rtc="rtmp_to_rtc on;")
    (tmp_path / "b").mkdir()
    with Browser(tmp_path, s) as b, Browser(tmp_path / "b", s) as other:
        if source == "rtmp":
            camera = rtc_shown.LiveClock(s.url(), tmp_path)
            assert s.wait_log("start publish|client identified", 5), camera.proc.text()
        else:
            other.run(rtc_shown.CLOCK)
            assert other.publish(s.whip(more=f"&eip=127.0.0.1:{s.rtc_port}"), source="clock") == "ok" # behind that network
        assert b.play(s.whep()) == "ok"
        assert wait_for(lambda: b.decoded() > 25, 15, 0.2), b.stats()
        relay.loss = 0.05
        rtc_shown.watch(b)
        time.sleep(30) # of media
        seen, video = rtc_shown.shown(b), b.stats()["inbound-rtp-video"]
    gaps, late = sorted(rtc_shown.gaps(seen)), rtc_shown.delays(seen)
    # packetsLost includes packets that were retransmitted
    missed = max(0, video["packetsLost"] - video["retransmittedPacketsReceived"])
    lost = missed / (video["packetsReceived"] + missed)
    print(f"played with 5 % lost each way, {source}: {len(seen)} pictures in 30 s, largest gaps {gaps[-3:]} ms, {video['freezeCount']} freezes, "
          f"{100 * lost:.2f} % lost at last, {video['nackCount']} NACK, {video.get('pliCount', 0)} PLI, delay {late[len(late) // 2]} ms, "
          f"dropped {video['framesDropped']}; {relay.lost} of {relay.lost + relay.passed} datagrams")
    # if a retransmission or its request is lost twice in a row, viewers see it: the third attempt comes after 300 ms
    assert gaps[-2] < 300 and gaps[-1] < 500 and lost <= 0.001, video
    relay.stop()
