# SPDX-License-Identifier: MIT
"""live555's client library, that of VLC and of much else: each transport, logins, long pauses."""
import hashlib

import pytest

import flv
import live555
import procs
from camera_rtp import tracks_of, units
from procs import wait_for
from rtspclient import rtsp_server

pytestmark = pytest.mark.long


def published(source):
    """{kind: {hash: its time in seconds}} of NAL units and of frames of sound."""
    video, audio = tracks_of(source)
    out = {"video": {}, "audio": {}}
    for dts, cts, _, data in video.frames:
        for n in units(data):
            out["video"][hashlib.md5(n).hexdigest()] = (dts + cts) / 1000
    for dts, _, _, data in audio.frames:
        out["audio"][hashlib.md5(data).hexdigest()] = dts / 1000
    return out


def play(s, tmp_path, how, seconds, user="", password="", pause=None, url=None):
    return live555.Player(url or s.rtsp_url(), how, seconds, tmp_path / "out", tmp_path / "log", user, password, pause)


def check(p, source, length=30.08):
    """All that came was published, and sound and picture are as far from each other as they were."""
    want = published(source)
    off = {}
    for kind in ("video", "audio"):
        frames = p.frames(kind)
        known = [(at, want[kind][h]) for at, synced, size, h in frames if synced and h in want[kind]]
        assert len(known) >= 20, p.lines()[:20]
        strange = [size for _, _, size, h in frames if h not in want[kind] and size > 60]
        assert len(strange) <= len(frames) // 20 + 1, f"{kind}: {len(strange)} of {len(frames)} were never published"
        off[kind] = {round((at - own) % length, 2) for at, own in known}
        assert max(off[kind]) - min(off[kind]) < 0.05, f"{kind}: its times move, {sorted(off[kind])}"
    d = abs(max(off["video"]) - max(off["audio"]))
    assert min(d, length - d) <= 0.040, f"sound and picture are {d * 1000:.0f} ms apart"


@pytest.mark.parametrize("how", ["tcp", "udp", "http"])
def test_plays(srs, source, tmp_path, how):
    live555.need()
    s = rtsp_server(srs)
    s.push(source, loop=True, ahead=1)
    p = play(s, tmp_path, how, 3)
    assert p.wait() == 0, p.lines()[-5:]
    assert p.lines()[-1] == ["end", "time"]
    check(p, source)


@pytest.mark.parametrize("methods", ["digest-md5", "basic"])
def test_login(srs, source, tmp_path, methods):
    live555.need()
    s = rtsp_server(srs, rtsp=f"auth {{ enabled on; methods {methods}; user anna secret; }}")
    s.push(source, loop=True, ahead=1)
    p = play(s, tmp_path, "tcp", 1, "anna", "secret")
    assert p.wait() == 0, p.lines()[-5:]
    p = play(s, tmp_path, "tcp", 1, "anna", "wrong")
    assert p.wait() == 1 and 401 in p.status("describe"), p.lines()


def test_params_in_the_url(srs, source, tmp_path):
    live555.need()
    s = rtsp_server(srs)
    s.push(source, loop=True, ahead=1)
    p = play(s, tmp_path, "tcp", 1, url=s.rtsp_url() + "?k=v&w=x")
    assert p.wait() == 0, p.lines()[-5:]


@pytest.mark.parametrize("how", ["tcp", "udp"])
def test_pause_of_70_seconds(srs, source, tmp_path, how):
    """Over UDP nothing is said meanwhile but reports of the receiver."""
    live555.need()
    s = rtsp_server(srs)
    s.push(source, loop=True, ahead=1)
    p = play(s, tmp_path, how, 75, pause=(1, 70))
    assert p.wait(100) == 0, p.lines()[-5:]
    assert p.status("play") == [0, 0] and p.status("pause") == [0]
    at = [i for i, x in enumerate(p.lines()) if x[0] == "play"][1]
    after = p.lines()[at:]
    assert len([x for x in after if x[0] == "video"]) > 30 and len([x for x in after if x[0] == "audio"]) > 60


def test_end_of_the_publisher(srs, source, tmp_path):
    """It stays, and plays on when the publisher is back."""
    live555.need()
    s = rtsp_server(srs)
    first = s.push(source, loop=True, ahead=1)
    p = play(s, tmp_path, "tcp", 8)
    assert wait_for(lambda: len(p.frames("video")) > 20, 10)
    first.stop().client.close()
    before = len(p.frames("video"))
    s.push(source, loop=True, ahead=1)
    assert p.wait() == 0, p.lines()[-5:]
    assert len(p.frames("video")) > before + 50
