# SPDX-License-Identifier: MIT
"""live555's client library, which VLC and many others use: each transport, logins, long pauses."""
import pytest

import live555
from procs import wait_for
from rtspclient import rtsp_server
from rtspplayers import same_units

pytestmark = pytest.mark.long


def play(s, tmp_path, how, seconds, user="", password="", pause=None, url=None):
    return live555.Player(url or s.rtsp_url(), how, seconds, tmp_path / "out", tmp_path / "log", user, password, pause)


@pytest.mark.parametrize("how", ["tcp", "udp", "http"])
def test_plays(srs, source, tmp_path, how):
    live555.need()
    s = rtsp_server(srs)
    s.push(source, loop=True, ahead=1)
    p = play(s, tmp_path, how, 3)
    assert p.wait() == 0, p.lines()[-5:]
    assert p.lines()[-1] == ["end", "time"]
    same_units(p, source)


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
    """Over UDP the client sends only receiver reports meanwhile."""
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
    """The player stays, and continues when the publisher is back."""
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
