# SPDX-License-Identifier: MIT
"""gortsplib, the library of MediaMTX: its clients play and publish here, its server is pulled from and forwarded to."""
import hashlib

import pytest

import flv
import gortsp
import procs
import rtspplayers as players
from camera_rtp import tracks_of
from procs import Proc, free_port, wait_for
from rtspclient import rtsp_server
from webclient import Cert

pytestmark = [pytest.mark.long, pytest.mark.needs("ffmpeg")]

BEGINS = "RTSP client identified, type=publish"
NAMES = {"hevc": "H265", "av1": "AV1", "vp9": "VP9", "opus": "Opus", "mp3": "MPEG-1/2 Audio", "aac": "MPEG-4 Audio"}
SOURCE = {"video": procs.SOURCE, "audio": procs.SOURCE}
# It reports the offset of audio and video only after ten seconds; until then it is estimated.
REPORTED = 14000  # ms


def play(url, how, tmp_path, seconds=5, name="play"):
    gortsp.need()
    return gortsp.Player(url, how, seconds, tmp_path / name, tmp_path / f"{name}.log")


def check(p, source):
    """Nothing is lost, damaged or out of order, and the clocks of both tracks agree."""
    assert p.wait() == 0, p.text()
    assert not p.got["errors"]
    for kind, codec in (("video", "H264"), ("audio", "MPEG-4 Audio")):
        t = p.of(kind)
        assert t["codec"] == codec and t["packets"] > 40 and t["lost"] == 0 and t["errors"] == 0, (kind, t["lost"])
        assert t["first_ms"] < procs.patience(2000)
    sounds = [hashlib.md5(data).hexdigest() for *_, data in tracks_of(source)[1].frames]
    assert flv.find_run([h for *_, h in p.frames("audio")], sounds * 2) >= 0, "audio has a gap"
    players.same_units(p, source)


def check_rtmp(s, tmp_path, apart=0.040, name="rtmp", seconds=3):
    """ffmpeg decodes the published stream over RTMP."""
    argv = ["ffmpeg", "-hide_banner", "-nostdin", "-y", "-i", s.url()]
    for kind in ("video", "audio"):
        argv += ["-t", seconds, *players.MD5[kind], tmp_path / f"{name}.{kind}"]
    f = Proc(argv, tmp_path / f"{name}.log")
    assert f.wait(30) == 0, f.text()[-2000:] + s.log()[-2000:]
    players.same(SOURCE, tmp_path / name, apart)


def published(url, how, source, tmp_path):
    """Its publisher, which runs until it is ended."""
    gortsp.need()
    return gortsp.publish(url, how, gortsp.write_media(tmp_path / "media.json", source), tmp_path / "publish.log")


@pytest.mark.parametrize("how", ["tcp", "udp", "auto"])
def test_plays(srs, source, tmp_path, how):
    s = rtsp_server(srs)
    s.push(source, loop=True, ahead=1)
    p = play(s.rtsp_url(), how, tmp_path)
    check(p, source)
    assert not p.got["switched"]


def test_falls_back_to_tcp(srs, source, tmp_path):
    """It tries UDP first, is rejected, and uses TCP in the same session."""
    s = rtsp_server(srs, server="transports tcp;")
    s.push(source, loop=True, ahead=1)
    p = play(s.rtsp_url(), "auto", tmp_path)
    check(p, source)
    assert "TCP" in p.got["switched"]


@pytest.mark.parametrize("how", ["tcp", "udp"])
@pytest.mark.parametrize("video,audio", [("hevc", "opus"), ("av1", "mp3"), ("vp9", "aac")])
def test_codecs(srs, media, tmp_path, video, audio, how):
    """It parses the description of each, and depacketizes it without an error."""
    s = rtsp_server(srs)
    s.push(media.tags(video, audio, style="v1"), loop=True, ahead=1)
    p = play(s.rtsp_url(), how, tmp_path, 2)
    assert p.wait() == 0, p.text()
    assert not p.got["errors"]
    for kind, codec in (("video", video), ("audio", audio)):
        t = p.of(kind)
        assert t["codec"] == NAMES[codec] and t["lost"] == 0 and len(t["frames"]) > 20, (codec, t["codec"])
    if video == "hevc":
        sent = set(players.nal_hashes(media.track(video)))
        assert sum(h in sent for *_, h in p.frames("video")) > 20


def test_tls(srs, source, tmp_path):
    """It publishes and plays over rtsps."""
    cert, port = Cert(tmp_path), free_port()
    s = rtsp_server(srs, server=f"https {{ {cert.conf(port)} }}")
    url = f"rtsps://127.0.0.1:{port}/live/s"
    p = published(url, "tcp", source, tmp_path)
    assert s.wait_log(BEGINS, 10), p.text()
    check_rtmp(s, tmp_path)
    x = play(url, "tcp", tmp_path, 1)
    assert x.wait() == 0 and x.of("video")["lost"] == 0 and x.of("video")["packets"] > 20, x.text()


@pytest.mark.parametrize("how", ["tcp", "udp"])
@pytest.mark.parametrize("methods", ["digest-md5", "digest-sha256", "basic", "digest-md5 digest-sha256 basic"])
def test_login(srs, source, tmp_path, methods, how):
    s = rtsp_server(srs, rtsp=f"auth {{ enabled on; methods {methods}; user anna secret; }}")
    s.push(source, loop=True, ahead=1)
    p = play(s.rtsp_url(user="anna:secret"), how, tmp_path, 1)
    wrong = play(s.rtsp_url(user="anna:wrong"), how, tmp_path, 1, "wrong")
    assert p.wait() == 0 and p.of("video")["packets"] > 20, p.text()
    assert wrong.wait() == 1 and "401" in wrong.text(), wrong.text()


def test_stays(srs, source, tmp_path):
    """Its keepalives suffice when media are datagrams."""
    s = rtsp_server(srs, server="session_timeout 10;")
    s.push(source, loop=True, ahead=1)
    p = play(s.rtsp_url(), "udp", tmp_path, 40)
    assert p.wait(60) == 0, p.text()
    assert p.of("video")["lost"] == 0 and not p.got["errors"]
    assert len(p.frames("video")) > 30 * 25


@pytest.mark.parametrize("how", ["tcp", "udp"])
def test_publishes(srs, source, tmp_path, how):
    """Correct for players before and after its first sender report; times never decrease."""
    s = rtsp_server(srs)
    p = published(s.rtsp_url(), how, source, tmp_path)
    assert s.wait_log(BEGINS, 10), p.text()
    w = s.watch()
    check_rtmp(s, tmp_path)
    assert wait_for(lambda: w.tags and w.tags[-1].ts - w.tags[0].ts > REPORTED, 30)
    check_rtmp(s, tmp_path, name="after")
    check(play(s.rtsp_url(), how, tmp_path), source)
    assert p.running(), p.text()
    flv.check_monotonic(w.stop())
    w.client.close()
    p.end()
    p = published(s.rtsp_url(), how, source, tmp_path)
    assert s.wait_log(BEGINS, 10, count=2), "it is let in again at once: " + p.text()


def test_publisher_logs_in(srs, source, tmp_path):
    s = rtsp_server(srs, rtsp="auth { enabled on; methods digest-sha256 digest-md5; user anna secret; }")
    p = published(s.rtsp_url(user="anna:secret"), "tcp", source, tmp_path)
    assert s.wait_log(BEGINS, 10), p.text()
    check_rtmp(s, tmp_path)


@pytest.mark.parametrize("login", [(), ("anna", "secret")], ids=["", "login"])
@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_pull(srs, source, tmp_path, transport, login):
    """The stream of its publisher on its server."""
    there, user = gortsp.Server(tmp_path / "serve.log", *login), ":".join(login)
    p = published(there.url(user=user), "tcp", source, tmp_path)
    assert wait_for(lambda: "record /live/s" in there.text(), 10), p.text()
    s = rtsp_server(srs, rtsp=f"pull {{ stream live/s; url {there.url(user=user)}; transport {transport}; }}")
    check_rtmp(s, tmp_path)
    assert s.wait_log(f"media arrive over {transport}", 1)
    assert "secret" not in s.log() and "error" not in there.text()


@pytest.mark.parametrize("login", [(), ("anna", "secret")], ids=["", "login"])
def test_forward(srs, source, tmp_path, login):
    """Its player receives what we forward to its server."""
    there, user = gortsp.Server(tmp_path / "serve.log", *login), ":".join(login)
    s = srs(f"forward {{ enabled on; destination {there.url('[stream]', user)}; }}")
    s.push(source, loop=True)
    assert wait_for(lambda: "record /live/s" in there.text(), 10), s.log()[-2000:]
    p = play(there.url(user=user), "tcp", tmp_path, 16)
    check(p, source)
    assert "error" not in there.text() and "secret" not in s.log()
