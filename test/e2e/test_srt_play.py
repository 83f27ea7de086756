# SPDX-License-Identifier: MIT
"""Third-party SRT players of RTMP and SRT streams, with encryption and without."""
import signal

import pytest

import httpapi
import procs
from procs import SOURCE, Proc, free_port, wait_for
from tools import run

PASSPHRASE = "0123456789abc"
MODES = "#!::r=live/s,m={}"


def serve(srs, key=0, more="", **how):
    """A server with SRT; key: length in bytes of the required key."""
    port = free_port()
    secret = f"passphrase {PASSPHRASE}; pbkeylen {key};" if key else ""
    api = free_port()
    s = srs("srt { enabled on; }", httpapi.conf(api, more=f"srt_server {{ enabled on; listen 127.0.0.1:{port}; {secret} {more} }}"),
            **how)
    s.srt_port, s.api = port, httpapi.Api(api)
    s.secret = f"&passphrase={PASSPHRASE}&pbkeylen={key}" if key else ""
    return s


def url(s, mode="request", more=""):
    return f"srt://127.0.0.1:{s.srt_port}?streamid={MODES.format(mode)}{s.secret}{more}"


def transmit(s, out, log):
    return Proc(["srt-live-transmit", "-q", url(s), "file://con"], log, stdout=open(out, "wb"))


def ffmpeg(s, out, log):
    return Proc(["ffmpeg", "-hide_banner", "-nostdin", "-loglevel", "warning", "-y", "-i", url(s), "-c", "copy", "-f",
                 "mpegts", "-flush_packets", "1", out], log)


def gst(s, out, log):
    secret = ["passphrase=" + PASSPHRASE, f"pbkeylen={s.secret[-2:]}"] if s.secret else []
    return Proc(["gst-launch-1.0", "-q", "srtsrc", f"uri=srt://127.0.0.1:{s.srt_port}", "streamid=" + MODES.format("request"),
                 *secret, "!", "filesink", f"location={out}", "buffer-mode=unbuffered"], log)


PLAYERS = {"srt-live-transmit": transmit, "ffmpeg": ffmpeg, "gst-launch-1.0": gst}


def publish(s, source, tmp_path, by):
    if by == "rtmp":
        s.push(source, loop=True, ahead=1)
        return
    log = tmp_path / "publish.log"
    p = Proc(["ffmpeg", "-hide_banner", "-nostdin", "-loglevel", "warning", "-readrate", str(procs.PACE), "-stream_loop", "-1", "-i", SOURCE, "-c", "copy",
              "-f", "mpegts", url(s, "publish", "&pkt_size=1316")], log)
    assert s.wait_log("SRT publisher of .*live/s", 5), p.text() + s.log()[-2000:]


def tracks(path):
    """Number of packets of each kind, and whether video begins with a key frame."""
    out = run(["ffprobe", "-v", "error", "-show_entries", "packet=codec_type,flags", "-of", "csv=p=0", str(path)]).stdout.decode()
    rows = [line.split(",") for line in out.split() if line.startswith(("video", "audio"))]
    video = [r for r in rows if r[0] == "video"]
    assert video and video[0][1].startswith("K"), rows[:5]
    return len(video), len(rows) - len(video)


def check(s, source, tmp_path, by, name, size=150000):
    publish(s, source, tmp_path, by)
    out = tmp_path / "out.ts"
    there = PLAYERS[name](s, out, tmp_path / "play.log")
    assert wait_for(lambda: out.exists() and out.stat().st_size > size, 12), there.text() + s.log()[-3000:]
    player = next(c for c in s.api.clients() if c["type"] == "srt-play")
    assert player["state"] == "COLLECT" and 0 <= player["lag_ms"] < 3000 and player["window_full_ms"] == 0, player
    there.end()
    assert min(tracks(out)) >= 10
    assert s.wait_log("client finished", 3)


@pytest.mark.needs("srt-live-transmit")
@pytest.mark.parametrize("by", ["rtmp", "srt"])
def test_plays(srs, source, tmp_path, by):
    check(serve(srs, 16), source, tmp_path, by, "srt-live-transmit", 60000)


@pytest.mark.needs("srt-live-transmit")
def test_why_a_player_stalls(srs, source, tmp_path):
    """A player that stops for a while: its state, its lag, and how long its window was full."""
    def player():
        return next(c for c in s.api.clients() if c["type"] == "srt-play")
    s = serve(srs, more="peer_idle_timeout 20000;")
    publish(s, source, tmp_path, "rtmp")
    out = tmp_path / "out.ts"
    there = transmit(s, out, tmp_path / "play.log")
    assert wait_for(lambda: out.exists() and out.stat().st_size > 30000, 12), there.text() + s.log()[-3000:]
    there.p.send_signal(signal.SIGSTOP)
    try:
        assert wait_for(lambda: player()["state"] == "WINDOW_FULL" and player()["state_ms"] > 500, 10), player()
        slow = player()
        assert slow["window_full_ms"] >= slow["state_ms"] > 0, slow
    finally:
        there.p.send_signal(signal.SIGCONT)
    assert wait_for(lambda: player()["state"] == "COLLECT", 10), player()
    assert player()["window_full_ms"] > 500


@pytest.mark.long
@pytest.mark.needs("srt-live-transmit", "gst-launch-1.0")
@pytest.mark.parametrize("key", [0, 16, 24, 32])
@pytest.mark.parametrize("by", ["rtmp", "srt"])
@pytest.mark.parametrize("name", PLAYERS)
def test_players(srs, source, tmp_path, name, by, key):
    """Each of them gets both tracks from a key frame on."""
    check(serve(srs, key), source, tmp_path, by, name, 300000)


@pytest.mark.long
@pytest.mark.parametrize("relay", ["on", "off"])
def test_ffprobe_sees_both_tracks(srs, source, tmp_path, relay):
    s = serve(srs, 0, f"relay {relay};")
    publish(s, source, tmp_path, "srt")
    out = run(["ffprobe", "-v", "error", "-show_entries", "stream=codec_name", "-of", "csv=p=0", url(s)], 20).stdout.decode()
    assert {"h264", "aac"} <= set(out.replace(",", " ").split())


@pytest.mark.long
@pytest.mark.needs("srt-live-transmit")
def test_players_stay_when_the_publisher_changes(srs, source, tmp_path):
    """From an RTMP publisher to an SRT one, whose packets are relayed: the same connection, with both tracks."""
    s = serve(srs)
    out = tmp_path / "out.ts"
    pusher = s.push(source, loop=True, ahead=1)
    there = transmit(s, out, tmp_path / "play.log")
    assert wait_for(lambda: out.stat().st_size > 150000, 12), there.text() + s.log()[-3000:]
    pusher.stop()
    assert s.wait_log("client finished", 5)
    at = out.stat().st_size
    publish(s, source, tmp_path, "srt")
    assert wait_for(lambda: out.stat().st_size > at + 150000, 12), there.text() + s.log()[-3000:]
    assert there.running()
    there.end()
    assert min(tracks(out)) >= 30
