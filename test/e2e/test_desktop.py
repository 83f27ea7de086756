# SPDX-License-Identifier: MIT
"""Desktop programs: publish from OBS, watch with ffplay and VLC, as the documents say.

    3rdparty/install.sh test desktop

"""
import pytest

import desktop
import tools
from obs import Obs
from procs import Proc, free_port, wait_for

pytestmark = [pytest.mark.long, pytest.mark.alone, pytest.mark.needs("Xvfb", "ffmpeg")]
SECRET = "0123456789abcdef"
OBS_SRT = r"By SRT: Server `(srt://[^`]*)`,$"
OBS_RTMP = r"^In OBS: .*Server `(rtmp://[^`]*)`, Stream Key `livestream`"


@pytest.fixture
def screen(tmp_path):
    return desktop.Screen(tmp_path)


@pytest.fixture
def film(tmp_path):
    return desktop.film(tmp_path / "film.mp4")


def serve(srs, server="", vhost="", **how):
    """conf/srt.conf with other ports."""
    srt, http = free_port(), free_port()
    s = srs(vhost=f"srt {{ enabled on; }} http_remux {{ enabled on; mount [vhost]/[app]/[stream].flv; }} {vhost}",
            glob=f"srt_server {{ enabled on; listen 127.0.0.1:{srt}; {server} }}\n"
                 f"http_server {{ enabled on; listen 127.0.0.1:{http}; }}", **how)
    s.srt = f"127.0.0.1:{srt}"
    s.flv = f"http://127.0.0.1:{http}/live/livestream.flv"
    return s


def stream_settings(s, by):
    """The documented values for Server and Stream Key."""
    if by == "rtmp":
        return desktop.readme(OBS_RTMP, **{"YOUR-HOST": f"127.0.0.1:{s.port}"}), "livestream"
    return desktop.readme(OBS_SRT, **{"YOUR-HOST:10080": s.srt}), ""


def check_film(s, obs):
    """Everything that OBS sends is available over RTMP and HTTP-FLV."""
    for url in (s.url("livestream"), s.flv):
        boxes = desktop.watch(url, 4)
        assert len(boxes) >= 90 and None not in boxes and desktop.moves(boxes) > 0.8, str(boxes)
    status = obs.ask("GetStreamStatus")
    assert status["outputActive"] and status["outputSkippedFrames"] == 0, status


@pytest.mark.needs("obs")
@pytest.mark.parametrize("by", ["srt", "srt-encrypted", "rtmp"])
def test_obs_publishes(srs, screen, film, by):
    s = serve(srs, f"passphrase {SECRET};" if by == "srt-encrypted" else "")
    server, key = stream_settings(s, by)
    obs = Obs(screen, film, server + (f"&passphrase={SECRET}" if by == "srt-encrypted" else ""), key)
    begins = "client identified, type=.*publish" if by == "rtmp" else "SRT publisher of .*live/livestream, .* latency 200 ms, " + (
        "AES-128" if by == "srt-encrypted" else "in the clear")
    assert s.wait_log(begins, 30), s.log()[-2000:] + obs.text()[-2000:]
    check_film(s, obs)
    obs.ask("StopStream")
    assert s.wait_log("client finished" if by == "rtmp" else "sent a shutdown", 5), s.log()[-2000:]


@pytest.mark.needs("obs")
@pytest.mark.parametrize("code, secret, rule, calls_again", [
    (1010, f"&passphrase=not-{SECRET}", "", False), (1011, "", "", False),
    (2403, f"&passphrase={SECRET}", "security { enabled on; deny publish all; }", True)])
def test_obs_is_refused(srs, screen, film, code, secret, rule, calls_again):
    """After a wrong passphrase it gives up, and its window complains about the key; after other rejections it retries silently.
    Our log line says what to change."""
    s = serve(srs, f"passphrase {SECRET};", rule)
    server, key = stream_settings(s, "srt")
    obs = Obs(screen, film, server + secret, key)
    assert s.wait_log(f"is refused with {code}", 30, count=3 if calls_again else 1), s.log()[-2000:] + obs.text()[-2000:]
    assert calls_again or wait_for(lambda: "Streaming Stop" in obs.text(), 10), obs.text()[-2000:]


@pytest.mark.needs("obs")
@pytest.mark.parametrize("by", ["srt", "rtmp"])
def test_obs_comes_back_when_the_server_was_away(srs, screen, film, by):
    s = serve(srs)
    obs = Obs(screen, film, *stream_settings(s, by))
    begins = "SRT publisher of .*live/livestream" if by == "srt" else "type=.*publish"
    assert s.wait_log(begins, 30), s.log()[-2000:] + obs.text()[-2000:]
    s.stop()
    at = s.mark()
    s.start()
    assert s.wait_log(begins, 30, at), s.log()[at:] + obs.text()[-2000:]
    check_film(s, obs)


# ---- players

def publish(s, film, log):
    Proc(["ffmpeg", "-v", "error", "-nostdin", "-re", "-stream_loop", -1, "-i", film, "-c", "copy", "-f", "mpegts",
          f"srt://{s.srt}?streamid=#!::r=live/livestream,m=publish&pkt_size=1316"], log)
    assert s.wait_log("SRT publisher of .*live/livestream", 10), s.log()[-2000:]


@pytest.mark.needs("ffplay")
@pytest.mark.parametrize("by", ["srt", "rtmp"])
def test_ffplay_shows_it(srs, screen, film, tmp_path, by):
    s = serve(srs)
    publish(s, film, tmp_path / "push.log")
    argv = desktop.command(r'^ +(ffplay "srt://.*)$', **{"127.0.0.1:10080": s.srt}) if by == "srt" else \
        desktop.command(r"^ +(ffplay rtmp://127.*)$", **{"127.0.0.1": f"127.0.0.1:{s.port}"})
    p = Proc(argv, tmp_path / "ffplay.log", env=screen.environment())
    assert screen.shows_film(20), p.text()[-2000:] + s.log()[-2000:]
    assert p.running()


@pytest.mark.needs("cvlc")
def test_vlc_shows_the_default_stream(srs, screen, film, tmp_path):
    """It sends no stream id."""
    s = serve(srs, 'default_streamid "#!::r=live/livestream,m=request";')
    publish(s, film, tmp_path / "push.log")
    p = tools.vlc_window(f"srt://{s.srt}", tmp_path / "vlc.log", screen.environment())
    assert screen.shows_film(20), p.text()[-2000:] + s.log()[-2000:]
