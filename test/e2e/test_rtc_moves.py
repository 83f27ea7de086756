# SPDX-License-Identifier: MIT
"""WebRTC clients whose address changes while media flow: another port behind a NAT, another network."""
import time

import pytest

import browser
import pion
import rtcmedia
import rtcpeers
from netspace import A, B, B2, inside, ip, two
from procs import CLIP, Proc, wait_for
from rtc import Browser, rtc_server
from test_bench_tools import last_object, run, tool
from udprelay import Relay

MOST = 1.5  # seconds without a frame
CHANGE = "session address change"
AT_BOTH = pytest.mark.parametrize("workers", ["1", "4"])


@AT_BOTH
def test_a_client_goes_on_from_another_port(srs, tmp_path, workers):
    """With four workers, most of the new ports belong to another one. All players move, and the publisher."""
    s = rtc_server(srs, tmp_path, env={"SRS_WORKERS": workers})
    Proc([tool("sb_rtc_load"), "-c", 1, "-r", s.whip(), "-i", CLIP, "-s", 0, "--rebind", 1], tmp_path / "whip.log")
    assert s.wait_log("first packet of video", 3), s.log()[-2000:]
    code, text = run("sb_rtc_load", "-c", 6, "-r", s.whep(), "-s", 0, "--rebind", 0.4, "--duration", 1.5, "--json")
    assert code == 0, text
    got = last_object(text)
    assert got["alive"] == 6 and got["lost"] == 0 and got["gap_ms"]["max"] < MOST * 1000, got
    assert s.wait_log(CHANGE, 3, count=7), s.log()[-3000:]


# ---- behind a NAT that forgets them: they do not know, and check at the next interval

def longest(at):
    """Longest time in seconds between two frames."""
    return max(b - a for a, b in zip(at, at[1:]))


def aiortc_plays(log, s, seconds):
    return rtcpeers.aiortc(log, "play", s.whep(), seconds)


def pion_plays(log, s, seconds):
    return pion.client(log, "play", s.whep(), seconds, f"{log}.dump")


def frames_of(got):
    return got["frames"] if "frames" in got else got["tracks"]["video"]["At"]


@pytest.mark.long
@AT_BOTH
@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.7"])
@pytest.mark.parametrize("who, each", [("pion", 2), ("aiortc", 5)])
def test_behind_a_nat_that_forgets(srs, tmp_path, who, each, host, workers):
    """Another port, or another address as well, for a publisher and a player at once: the gap is at most the interval between
    two checks."""
    film, relay = rtcmedia.film(tmp_path), Relay(0)
    pion.need()
    rtcpeers.packages_of_python()
    s = rtc_server(srs, tmp_path, candidate=f"127.0.0.1:{relay.port}", rtc="rtc_to_rtmp on;", env={"SRS_WORKERS": workers})
    relay.to = ("127.0.0.1", s.rtc_port)
    if who == "pion":
        pion.client(tmp_path / "publish.log", "publish", s.whip(), film + ".h264", film + ".ogg", 16)
    else:
        rtcpeers.aiortc(tmp_path / "publish.log", "publish", s.whip(), film + ".mkv", 16)
    assert s.wait_log("video sh", 20), s.log()[-3000:]
    play = (pion_plays if who == "pion" else aiortc_plays)(tmp_path / "play.log", s, 11)
    assert s.wait_log("DTLS done", 20, count=2), s.log()[-3000:]
    time.sleep(2)  # of media
    relay.move(host)
    at = frames_of(play.result())
    assert len(at) > 100 and longest(at) < each + MOST, (longest(at), s.log()[-3000:])
    assert s.wait_log(f"{CHANGE} to {host}:", 1, count=2), s.log()[-3000:]
    relay.stop()


# ---- another network

RESTART = """
(async (pc) => {
    const offer = await pc.createOffer({ iceRestart: true });
    await pc.setLocalDescription(offer);
    const line = name => offer.sdp.match(new RegExp('a=' + name + ':(\\\\S+)'))[1];
    const fragment = `a=ice-ufrag:${line('ice-ufrag')}\\r\\na=ice-pwd:${line('ice-pwd')}\\r\\n`;
    const r = await fetch(pc.where, { method: 'PATCH', body: fragment, headers: { 'Content-Type': 'application/trickle-ice-sdpfrag' } });
    const said = await r.text();
    let sdp = pc.remoteDescription.sdp;
    for (const name of ['ice-ufrag', 'ice-pwd'])
        sdp = sdp.replace(new RegExp('a=' + name + ':.*', 'g'), said.match(new RegExp('a=' + name + ':.*'))[0]);
    await pc.setRemoteDescription({ type: 'answer', sdp });
    return r.status;
})(window.peers[NAME])
"""


class Pictures:
    """When a page of Chromium shows each new frame."""

    def __init__(self, page, name="in"):
        self.page = page
        page.run(f"window.at = []; (function f(now) {{ window.at.push(now / 1000);"
                 f"window.peers.{name}.video.requestVideoFrameCallback(f); }})(performance.now())")

    def at(self):
        return self.page.run("window.at")[1:]


@pytest.mark.long
@pytest.mark.skipif(not browser.chromium(), reason="no Chromium")
@AT_BOTH
@pytest.mark.parametrize("what", ["play", "publish"])
def test_a_page_whose_network_changes(srs, tmp_path, what, workers):
    """One of its two interfaces goes down, like the Wi-Fi of a phone; the page restarts ICE by PATCH."""
    with two() as there:
        s = rtc_server(srs, tmp_path, host=A, env={"SRS_WORKERS": workers})
        here = Browser(tmp_path, s)
        with inside(f"/run/netns/{there}"):
            away = Browser(tmp_path, s)
        out, into, moves, name = (here, away, away, "in") if what == "play" else (away, here, away, "out")
        assert out.publish(s.whip()) == "ok", s.log()[-2000:]
        assert out.wait("window.peers.out.connectionState === 'connected'", 10), s.log()[-3000:]
        assert into.play(s.whep()) == "ok", s.log()[-3000:]
        assert wait_for(lambda: into.decoded() > 50, 15, 0.2), into.stats()
        assert f"STUN done, {B}:" in s.log(), s.log()[-3000:]
        shown = Pictures(into)
        time.sleep(1)  # of media
        ip(there, "link set w0 down")
        assert moves.run(RESTART.replace("NAME", repr(name))) == 200, s.log()[-3000:]
        assert s.wait_log(f"{CHANGE}, it is at {B2}:", 5), s.log()[-3000:]
        time.sleep(3)  # of media
        at = shown.at()
        assert len(at) > 60 and longest(at) < MOST, (longest(at), s.log()[-3000:])
        here.close()
        away.close()
        s.stop()
