# SPDX-License-Identifier: MIT
"""RTSP requests as clients send them: urls, requests in odd pieces, logins, rejections, pauses."""
import time

import pytest

import procs
import rtspplayers as players
from rtspclient import Closed, basic, challenge, digest, read_rtp, rtp_info, rtsp_server

LOGIN = "auth { enabled on; user anna secret; user bob 'b b'; }"
SDP = {"Accept": "application/sdp"}


@pytest.fixture
def live(srs, source):
    """A server with the stream live/s."""
    s = rtsp_server(srs)
    s.push(source, speed=1, loop=True, ahead=1)
    c = s.rtsp()
    assert c.request("DESCRIBE", s.rtsp_url(), SDP).status == 200, "it waits for the stream"
    c.close()
    return s


def media_of(c, channels=(0, 2), packets=40):
    """Reads RTP packets until each of the channels had some."""
    got = []
    while len(got) < packets or {p.channel for p in got} != set(channels):
        p = c.packet()
        if p is not None and p.channel in channels:
            got.append(p)
        assert len(got) < 2000
    return got


# -- urls: described path, and tracks that the client requests

URLS = {
    "relative": ("/live/s", "/live/s/trackID={t}"),
    "a slash at the end": ("/live/s/", "/live/s/trackID={t}"),
    "two slashes": ("//live//s", "/live/s//trackID={t}"),
    "params at the end of the path": ("/live/s?k=v", "/live/s?k=v/trackID={t}"),
    "params dropped": ("/live/s?k=v", "/live/s/trackID={t}"),
    "params behind the track": ("/live/s?k=v", "/live/s/trackID={t}?k=v"),
    "by RFC 3986": ("/live/s?k=v", "/live/trackID={t}"),
    "escapes": ("/live/%73", "/live/%73/trackID={t}"),
    "one level": ("/s", "/s/trackID={t}"),
    "one level, by RFC 3986": ("/s?k=v", "/trackID={t}"),
    "another host": ("/live/s", "rtsp://camera.example:99/live/s/trackID={t}"),
}


@pytest.mark.parametrize("row", URLS)
def test_urls(live, row):
    described, track = URLS[row]
    base = f"rtsp://127.0.0.1:{live.rtsp_port}"
    c = live.rtsp()
    a = c.request("DESCRIBE", base + described, SDP)
    assert a.status == 200 and b"m=video" in a.body and b"m=audio" in a.body, a
    assert "?" not in a["content-base"] and a["content-base"].endswith("/"), a
    for t in (0, 1):
        url = track.format(t=t)
        a = c.request("SETUP", url if url.startswith("rtsp") else base + url,
                      {"Transport": f"RTP/AVP/TCP;unicast;interleaved={2 * t}-{2 * t + 1}"})
        assert a.status == 200, a
    a = c.request("PLAY", base + described)
    assert a.status == 200 and len(rtp_info(a)) == 2, a
    media_of(c)
    assert c.request("TEARDOWN", base + described).status == 200


def test_setup_without_describe(live):
    c = live.rtsp()
    assert c.setup(live.rtsp_url(), 0).status == 200
    assert c.request("PLAY", live.rtsp_url()).status == 200
    media_of(c, (0,))


def test_vhost_by_param(srs, source):
    s = rtsp_server(srs, vhost="vhost v.example { rtsp { enabled on; } }")
    s.push(source, loop=True, ahead=1, tcurl=f"rtmp://127.0.0.1:{s.port}/live?vhost=v.example")
    c = s.rtsp()
    assert c.request("DESCRIBE", s.rtsp_url(), SDP).status == 404
    url = s.rtsp_url() + "?vhost=v.example"
    assert c.request("DESCRIBE", url, SDP).status == 200
    for t in (0, 1):
        assert c.request("SETUP", s.rtsp_url(f"trackID={t}"),
                         {"Transport": f"RTP/AVP/TCP;unicast;interleaved={2 * t}-{2 * t + 1}"}).status == 200
    assert c.request("PLAY", url).status == 200
    media_of(c)
    c = s.rtsp()
    assert c.request("DESCRIBE", f"rtsp://v.example:{s.rtsp_port}/live/s", SDP).status == 200


# -- requests in odd pieces

def test_options(live):
    c = live.rtsp()
    for url in ("*", live.rtsp_url(), live.rtsp_url("nobody")):
        a = c.request("OPTIONS", url)
        assert a.status == 200
        assert {"OPTIONS", "DESCRIBE", "SETUP", "PLAY", "PAUSE", "TEARDOWN", "GET_PARAMETER"} <= \
            {x.strip() for x in a["public"].split(",")}


def test_several_requests_in_a_segment(live):
    c = live.rtsp()
    url = live.rtsp_url()
    c.send(b"".join((c.words("OPTIONS", "*"), b"\r\n", c.words("DESCRIBE", url, SDP), c.words("GET_PARAMETER", url),
                     c.words("SETUP", url + "/trackID=0", {"Transport": "RTP/AVP/TCP;unicast;interleaved=0-1"}))))
    assert [c.answer().status for _ in range(4)] == [200, 200, 200, 200]
    # PLAY, and data that a player sends right after it
    c.send(c.words("PLAY", url) + c.words("OPTIONS", url) + c.words("GET_PARAMETER", url))
    assert [c.answer().status for _ in range(3)] == [200, 200, 200]
    media_of(c, (0,))
    c.send(c.words("PAUSE", url) + c.words("TEARDOWN", url) + c.words("DESCRIBE", url, SDP))
    answers = [c.answer() for _ in range(3)]
    assert [a.status for a in answers] == [200, 200, 200] and answers[2].body


def test_byte_by_byte(live):
    c = live.rtsp()
    url = live.rtsp_url()
    for words in (c.words("DESCRIBE", url, SDP),
                  c.words("SETUP", url + "/trackID=0", {"Transport": "RTP/AVP/TCP;unicast;interleaved=0-1"})):
        for i in range(len(words)):
            c.send(words[i:i + 1])
        assert c.answer().status == 200
    words = c.words("PLAY", url)
    for i in range(len(words)):
        c.send(words[i:i + 1])
    assert c.answer().status == 200
    media_of(c, (0,))


def test_line_ends_and_spaces(live):
    c = live.rtsp()
    c.send(f"DESCRIBE {live.rtsp_url()} RTSP/1.0\ncseq:7\nACCEPT:application/sdp\n\n")
    a = c.answer()
    assert a.status == 200 and a["cseq"] == "7" and b"m=video" in a.body


# -- pauses

def test_pause_and_play(live):
    """It continues where it was if no key frame came meanwhile, else at the key frame, with continuous numbers."""
    c = live.rtsp()
    c.play(live.rtsp_url())
    before = media_of(c)
    assert c.request("PAUSE", live.rtsp_url()).status == 200
    before += [read_rtp(*f) for f in c.kept if not f[0] & 1]
    c.kept.clear()
    c.sock.settimeout(0.5)
    with pytest.raises(TimeoutError):
        c.frame()
    c.sock.settimeout(procs.patience(5))
    assert c.request("PAUSE", live.rtsp_url()).status == 200
    a = c.request("PLAY", live.rtsp_url(), {"Range": "npt=now-"})
    assert a.status == 200
    after = media_of(c)
    assert c.request("PLAY", live.rtsp_url()).status == 200, "again, while it plays"
    told = {url[-1]: seq for url, seq, _ in rtp_info(a)}
    for i in (0, 1):
        old = [p for p in before if p.channel == 2 * i]
        new = [p for p in after if p.channel == 2 * i]
        assert new[0].ssrc == old[0].ssrc
        assert told.get(str(i), new[0].seq) == new[0].seq, "RTP-Info does not announce the first packet"
        numbers = [p.seq for p in old + new]
        assert all((b - x) % 65536 == 1 for x, b in zip(numbers, numbers[1:])), "something is repeated or missing"
        if i == 1:  # frames come in decoding order
            assert 0 < (new[0].time - old[-1].time) % 2**32 < 2**31


@pytest.mark.long
@pytest.mark.parametrize("say", [None, "GET_PARAMETER"], ids=["silent", "alive"])
def test_pause_of_70_seconds(live, say):
    c = live.rtsp()
    c.play(live.rtsp_url())
    media_of(c)
    assert c.request("PAUSE", live.rtsp_url()).status == 200
    end = time.monotonic() + 70
    while time.monotonic() < end:
        time.sleep(min(25, max(0, end - time.monotonic())))
        if say:
            assert c.request(say, live.rtsp_url()).status == 200
    c.kept.clear()
    assert c.request("PLAY", live.rtsp_url()).status == 200
    media_of(c)


# -- publishers come and go

def test_publisher_comes_back(srs, source):
    """Players stay: the same RTP sources, numbers without a gap, advancing time."""
    s = rtsp_server(srs)
    p = s.push(source, loop=True, ahead=1)
    c = s.rtsp()
    c.play(s.rtsp_url())
    before = media_of(c, packets=100)
    p.stop().client.close()
    c.sock.settimeout(0.7)
    try:
        while True:
            x = c.packet()
            if x is not None and not x.channel & 1:
                before.append(x)
    except TimeoutError:
        pass
    c.sock.settimeout(procs.patience(5))
    c.buf_before = c.buf
    s.push(source, loop=True, ahead=1)
    after = media_of(c, packets=100)
    for channel in (0, 2):
        old = [x for x in before if x.channel == channel]
        new = [x for x in after if x.channel == channel]
        assert {x.ssrc for x in old} == {x.ssrc for x in new}
        numbers = [x.seq for x in old + new]
        assert all((b - a) % 65536 == 1 for a, b in zip(numbers, numbers[1:])), "a gap in the numbers"
        assert 0 < (new[0].time - old[-1].time) % 2**32 < (90000 if channel == 0 else 44100) * 20


def test_player_before_publisher(srs, source):
    s = rtsp_server(srs)
    c = s.rtsp()
    c.send(c.words("DESCRIBE", s.rtsp_url(), SDP))
    time.sleep(0.4)
    s.push(source, loop=True, ahead=1)
    a = c.answer()
    assert a.status == 200 and b"m=video" in a.body and b"m=audio" in a.body
    c.cseq = 1
    assert c.setup(s.rtsp_url(), 0).status == 200


# -- rejections

def test_not_there(srs):
    s = rtsp_server(srs, server="describe_wait 0.3;")
    c = s.rtsp()
    began = time.monotonic()
    assert c.request("DESCRIBE", s.rtsp_url(), SDP).status == 404
    assert 0.25 < time.monotonic() - began < procs.patience(1)
    assert c.request("OPTIONS", "*").status == 200, "the connection is closed"


REFUSED = {
    "unknown method": (501, "REGISTER", "/live/s", {}),
    "version": (505, "OPTIONS", "/live/s", {}),
    "required": (551, "OPTIONS", "/live/s", {"Require": "nothing.we.have"}),
    "not SDP": (406, "DESCRIBE", "/live/s", {"Accept": "text/html"}),
    "no session": (454, "PLAY", "/live/s", {}),
    "not of us": (454, "TEARDOWN", "/live/s", {"Session": "ABCDEFGH"}),
    "no transport": (461, "SETUP", "/live/s/trackID=0", {"Transport": "RAW/RAW/UDP;unicast;client_port=5000-5001"}),
    "no such track": (404, "SETUP", "/live/s/trackID=9", {"Transport": "RTP/AVP/TCP;unicast;interleaved=0-1"}),
}


@pytest.mark.parametrize("row", REFUSED)
def test_refused(live, row):
    status, method, path, fields = REFUSED[row]
    c = live.rtsp()
    words = c.words(method, f"rtsp://127.0.0.1:{live.rtsp_port}{path}", fields)
    c.send(words.replace(b"RTSP/1.0", b"RTSP/2.0") if row == "version" else words)
    assert c.answer().status == status
    assert c.request("OPTIONS", "*").status == 200, "the connection is closed"


def test_no_number(live):
    c = live.rtsp()
    c.send(f"OPTIONS {live.rtsp_url()} RTSP/1.0\r\n\r\n")
    assert c.answer().status == 400


# -- logins

@pytest.fixture
def locked(srs, source):
    s = rtsp_server(srs, rtsp=LOGIN)
    s.push(source, loop=True, ahead=1)
    return s


def test_login_step_by_step(locked):
    c = locked.rtsp()
    url = locked.rtsp_url()
    assert c.request("OPTIONS", url).status == 200
    a = c.request("DESCRIBE", url, SDP)
    assert a.status == 401 and [x.split()[0] for x in a.all("www-authenticate")] == ["Digest", "Basic"], a
    ask = challenge(a, "digest")
    wrong = c.request("DESCRIBE", url, {**SDP, "Authorization": digest(ask, "DESCRIBE", url, "anna", "wrong")})
    assert wrong.status == 401 and b"m=" not in wrong.body
    for uri in (url, "/live/s", url + "/"):
        c = locked.rtsp()
        ask = challenge(c.request("DESCRIBE", url, SDP), "digest")
        a = c.request("DESCRIBE", url, {**SDP, "Authorization": digest(ask, "DESCRIBE", uri, "bob", "b b")})
        assert a.status == 200, uri
    c = locked.rtsp()
    a = c.request("DESCRIBE", url, {**SDP, "Authorization": basic("anna", "secret")})
    assert a.status == 200, "Basic without a challenge"
    c = locked.rtsp()
    assert c.setup(url, 0).status == 401, "SETUP without DESCRIBE"


@pytest.mark.needs("ffmpeg")
@pytest.mark.parametrize("methods", ["digest-md5 basic", pytest.param("digest-md5", marks=pytest.mark.long), "basic"])
def test_login_of_clients(srs, source, tmp_path, methods):
    s = rtsp_server(srs, rtsp=LOGIN.replace("{ enabled on;", "{ enabled on; methods " + methods + ";"))
    s.push(source, loop=True, ahead=1)
    url = s.rtsp_url(user="anna:secret")
    f = players.ffmpeg(url, "tcp", tmp_path / "f", tmp_path / "f.log", 1)
    bad = players.ffmpeg(s.rtsp_url(user="anna:wrong"), "tcp", tmp_path / "bad", tmp_path / "bad.log", 1)
    g = None
    if procs.have("gst-launch-1.0"):
        g = players.Gst(url, "tcp", tmp_path / "g", tmp_path / "g.log", "h264", "aac")
    assert f.wait(15) == 0, f.text()[-2000:]
    players.same({"video": procs.SOURCE, "audio": procs.SOURCE}, tmp_path / "f")
    if g:
        assert g.wait_for(lambda: players.size(tmp_path / "g") > 30000), g.text()[-2000:]
        g.end()
    assert bad.wait(15) != 0 and "401" in bad.text()
    text = s.log()
    assert "secret" not in text and "wrong@" not in text, "a password in the log"


def test_many_wrong_passwords(locked):
    """Each costs a second, five the connection; other clients are not delayed."""
    c, other = locked.rtsp(), locked.rtsp()
    url = locked.rtsp_url()
    c.send(c.words("DESCRIBE", url, {**SDP, "Authorization": basic("anna", "x")}))
    began = time.monotonic()
    assert other.request("DESCRIBE", url, {**SDP, "Authorization": basic("anna", "secret")}).status == 200
    assert time.monotonic() - began < 0.8
    assert c.answer().status == 401
    assert time.monotonic() - began > 0.8


@pytest.mark.long
def test_five_wrong_passwords(locked):
    c = locked.rtsp()
    with pytest.raises((Closed, OSError)):
        for _ in range(6):
            assert c.request("DESCRIBE", locked.rtsp_url(), {**SDP, "Authorization": basic("anna", "x")}).status == 401


# -- transports

@pytest.mark.needs("ffmpeg")
def test_clients_fall_back_to_tcp(srs, source, tmp_path):
    """They request UDP first, get 461, and play over TCP."""
    s = rtsp_server(srs, server="transports tcp;")
    s.push(source, loop=True, ahead=1)
    c = s.rtsp()
    assert c.request("DESCRIBE", s.rtsp_url(), SDP).status == 200
    a = c.request("SETUP", s.rtsp_url() + "/trackID=0", {"Transport": "RTP/AVP;unicast;client_port=5000-5001"})
    assert a.status == 461
    a = c.request("SETUP", s.rtsp_url() + "/trackID=0", {
        "Transport": "RTP/AVP;unicast;client_port=5000-5001,RTP/AVP/TCP;unicast;interleaved=6-7"})
    assert a.status == 200 and "interleaved=0-1" in a["transport"], "the first transport that we support, on our channels"
    f = players.ffmpeg(s.rtsp_url(), "udp+tcp", tmp_path / "f", tmp_path / "f.log", 1)
    g = None
    if procs.have("gst-launch-1.0"):
        g = players.Gst(s.rtsp_url(), "udp+tcp", tmp_path / "g", tmp_path / "g.log", "h264", "aac")
    assert f.wait(15) == 0, f.text()[-2000:]
    players.same({"video": procs.SOURCE, "audio": procs.SOURCE}, tmp_path / "f")
    if g:
        assert g.wait_for(lambda: players.size(tmp_path / "g") > 30000), g.text()[-2000:]
