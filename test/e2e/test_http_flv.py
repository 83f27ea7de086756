# SPDX-License-Identifier: MIT
"""HTTP-FLV and WebSocket-FLV: every byte, real players, coming early, leaving, being slow."""
import os
import signal
import subprocess
import time

import pytest

import flv
import procs
import tools
from flv import AUDIO, DATA, VIDEO
from procs import free_port, wait_for
from test_publish_play import are_of_the_source
from webclient import FlvWatcher, Http, once


ROOMY = 1 if procs.SLOW == 1 else 30  # sanitizers keep freed memory for a while


@pytest.fixture
def live(srs):
    """live(remux) starts a server that plays over HTTP; returns (server, port)."""
    def start(remux="", vhost="", glob="", **how):
        port = free_port()
        s = srs(f"http_remux {{ enabled on; {remux} }} {vhost}",
                f"http_server {{ enabled on; listen 127.0.0.1:{port}; }} {glob}", **how)
        return s, port
    return start


@pytest.mark.parametrize("ws", [False, True], ids=["http", "ws"])
def test_every_byte_and_time(live, source, ws):
    s, port = live()
    w = FlvWatcher(port, ws=ws)
    assert w.status == (101 if ws else 200)
    if ws:
        assert w.accepted()
    else:
        assert w.headers["content-type"] == "video/x-flv"
        assert w.headers["connection"] == "close" and "content-length" not in w.headers
        assert w.headers["access-control-allow-origin"] == "*"
    tags = flv.cut(source, 6000)
    p = s.push(tags, speed=0)
    p.join(10)
    want = [t for t in tags if t.type != DATA]
    assert w.wait(lambda got: len([t for t in got if t.type != DATA]) >= len(want), 5)
    got = [t for t in w.stop() if t.type != DATA]
    assert w.flags == 5
    assert [(t.type, t.ts, t.hash()) for t in got] == [(t.type, t.ts, t.hash()) for t in want]


def test_ffmpeg_plays(live, tmp_path, source):
    """ffmpeg gets over HTTP, frame for frame, what is in the file."""
    s, port = live()
    play = tools.ffmpeg_frames(f"http://127.0.0.1:{port}/live/s.flv", tmp_path / "play.log",
                               tmp_path / "got.md5")
    assert s.wait_log("HTTP client identified", 5)
    push = tools.ffmpeg_publish(s.url(), tmp_path / "push.log", rate=6, seconds=6)
    assert push.wait(15) == 0, push.text()
    wait_for(lambda: len(tools.frame_list(tmp_path / "got.md5", "video")) >= 148, 3)
    play.end(signal.SIGKILL)
    are_of_the_source(tools.frame_list(tmp_path / "got.md5"))


@pytest.mark.needs("curl")
def test_curl_and_ffprobe(live, tmp_path, source):
    s, port = live()
    s.push(source, loop=True, ahead=3)
    url = f"http://127.0.0.1:{port}/live/s.flv"
    time.sleep(0.3)
    out = tmp_path / "got.flv"
    subprocess.run(["curl", "-sS", "-m", "1", "-o", str(out), url], capture_output=True, timeout=60)
    tags = flv.read(flv_whole(out.read_bytes()))
    assert flv.frames(tags, VIDEO)[0].key
    assert flv.find_run(flv.hashes(tags, VIDEO)[:20], flv.hashes(source, VIDEO) * 2) >= 0
    streams = {x["codec_type"]: x["codec_name"] for x in tools.ffprobe(url, "-show_streams")["streams"]}
    assert streams == {"video": "h264", "audio": "aac"}
    head = once(port, "/live/s.flv", "HEAD")
    assert head.status == 200 and head.headers["content-type"] == "video/x-flv"


def flv_whole(data):
    """The data without an incomplete last tag."""
    at = 13
    while at + 11 <= len(data):
        size = int.from_bytes(data[at + 1:at + 4], "big") + 15
        if at + size > len(data):
            break
        at += size
    return data[:at]


@pytest.mark.needs("gst-launch-1.0")
def test_gstreamer_plays(live, tmp_path, source):
    s, port = live()
    s.push(source, loop=True)
    p = procs.Proc(["gst-launch-1.0", "-q", "souphttpsrc", f"location=http://127.0.0.1:{port}/live/s.flv",
                    "is-live=true", "!", "flvdemux", "name=d", "d.video", "!", "h264parse", "!",
                    "avdec_h264", "!", "fakesink", "sync=false", "num-buffers=40"], tmp_path / "gst.log")
    assert p.wait(20) == 0, p.text()
    assert "ERROR" not in p.text(), p.text()


@pytest.mark.long
@pytest.mark.needs("cvlc", "ffprobe")
def test_vlc_plays(live, tmp_path, source):
    s, port = live()
    s.push(source, loop=True)
    (tmp_path / "vlc").mkdir()
    out = tmp_path / "vlc" / "vlc.ts"
    p = tools.vlc(f"http://127.0.0.1:{port}/live/s.flv", out, tmp_path / "vlc.log", 4)
    wait_for(lambda: out.exists() and out.stat().st_size > 60000, 15)
    time.sleep(0.5)
    p.end()
    info = tools.ffprobe(out, "-show_streams", "-count_packets")
    kinds = {x["codec_type"]: int(x["nb_read_packets"]) for x in info["streams"]}
    assert kinds.get("video", 0) > 20 and kinds.get("audio", 0) > 20, (kinds, p.text()[-1500:])


def test_player_before_publisher_and_republish(live, source):
    """It waits for the publisher, which leaves and restarts at 0; the player stays, time advances."""
    s, port = live()
    players = [FlvWatcher(port), FlvWatcher(port, ws=True)]
    time.sleep(0.5)
    assert all(p.status in (200, 101) and p.ended is None and p.flags is None for p in players)
    tags = flv.cut(source, 2000)
    for turn in range(3):
        p = s.push(tags, speed=0)
        p.join(5)
        want = len(flv.frames(tags, VIDEO)) * (turn + 1)
        for w in players:
            assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= want, 4), f"turn {turn}"
        p.client.unpublish()
        p.client.close()
        p.stop()
        time.sleep(0.3)
        assert all(w.ended is None for w in players)
    for w in players:
        got = w.stop()
        assert flv.hashes(got, VIDEO) == flv.hashes(tags, VIDEO) * 3
        assert flv.check_monotonic(got) < 3000


def test_join_in_the_middle(live, source):
    s, port = live()
    p = s.push(source, loop=True, ahead=1.5)
    assert wait_for(lambda: len(p.pushed) > 60)
    w = FlvWatcher(port)
    assert w.wait(lambda got: len(flv.frames(got)) >= 10, 2)
    tags = w.stop()
    first = next(i for i, t in enumerate(tags) if t.frame)
    assert sorted(t.type for t in tags[:first]) == [AUDIO, VIDEO, DATA]
    assert flv.frames(tags, VIDEO)[0].key


@pytest.mark.parametrize("remux,kinds,flags", [
    ("", (AUDIO, VIDEO), 5), ("", (VIDEO,), 1), ("", (AUDIO,), 4),
    ("guess_has_av off;", (VIDEO,), 5), ("guess_has_av off; has_audio off;", (AUDIO, VIDEO), 1),
    ("has_video off;", (AUDIO, VIDEO), 4), ("has_audio off; drop_if_not_match off;", (AUDIO, VIDEO), 1),
], ids=["both", "video", "audio", "told", "told-video", "no-video", "kept"])
def test_promises(live, source, remux, kinds, flags):
    """The flags of the header announce the tracks; others are dropped, or not."""
    s, port = live(remux)
    s.push([t for t in source if t.type in (*kinds, DATA)], loop=True, ahead=0.7)
    time.sleep(0.2)
    w = FlvWatcher(port)
    assert w.wait(lambda got: len(flv.frames(got)) >= 20, 4)
    tags = w.stop()
    assert w.flags == flags
    seen = {t.type for t in flv.frames(tags)}
    allowed = {k for k in kinds if flags & (4 if k == AUDIO else 1)}
    assert seen == (set(kinds) if "drop_if_not_match off" in remux else allowed)


def test_leaving_is_noticed(live, source):
    s, port = live(glob="pithy_print_ms 1000;")
    s.push(source, loop=True)
    players = [FlvWatcher(port) for _ in range(5)] + [FlvWatcher(port, ws=True) for _ in range(5)]
    early = [FlvWatcher(port, "/live/nobody.flv") for _ in range(5)]
    assert s.wait_log(r"HTTP client identified", 3, count=15)
    assert s.wait_log(r"-> HTS http: got \d+ msgs, age=\d+, min=\d+, mw=\d+", 4)
    for p in players + early:
        p.stop()
    assert s.wait_log(r"client finished: HTTP player of ", 3, count=15)


def test_websocket_manners(live, source):
    s, port = live()
    s.push(source, loop=True)
    w = FlvWatcher(port, ws=True, Sec_WebSocket_Protocol="flv, x")
    assert w.headers["sec-websocket-protocol"] == "flv"
    assert w.wait(lambda got: len(got) > 5)
    w.say(9, b"are you there?")
    assert wait_for(lambda: (10, b"are you there?") in w.messages, 3)
    w.say(1, b"text of no meaning")
    w.say(8, b"\x03\xe8bye")
    assert wait_for(lambda: w.ended is not None, 3)
    assert (8, b"\x03\xe8bye") in w.messages
    bad = FlvWatcher(port, ws=True)
    bad.wait(lambda got: len(got) > 5)
    bad.http.send(b"\x82\x01x")  # not masked
    assert wait_for(lambda: bad.ended is not None, 3)
    a = once(port, "/live/s.flv", Connection="Upgrade", Upgrade="websocket")
    assert a.status == 426 and a.headers["sec-websocket-version"] == "13"


def test_mount_without_app(live, source):
    """It means the stream of that name that is published now."""
    s, port = live("mount [vhost]/tv/[stream].flv;")
    assert once(port, "/tv/s.flv").status == 404
    s.push(source, loop=True, app="any")
    time.sleep(0.5)
    w = FlvWatcher(port, "/tv/s.flv")
    assert w.wait(lambda got: len(flv.frames(got)) >= 10, 3)
    w.stop()
    assert once(port, "/any/s.flv").status == 404


def test_fast_cache(live, source):
    """A player that joins an audio-only stream gets some seconds of it at once."""
    s, port = live("fast_cache 4;")
    p = s.push([t for t in flv.cut(source, 3000) if t.type != VIDEO], speed=0)
    p.join(10)
    now = p.pushed[-1].ts
    w = FlvWatcher(port)
    assert w.wait(lambda got: len(flv.frames(got, AUDIO)) >= 80), len(w.tags)
    assert flv.frames(w.stop(), AUDIO)[0].ts < now - 1500


def test_rules(srs, source):
    """Security and refer rules apply to HTTP, too; a vhost without http_remux has no streams."""
    port = free_port()
    srs("""vhost __defaultVhost__ { }
vhost deny.test { http_remux { enabled on; } security { enabled on; deny play all; } }
vhost refer.test { http_remux { enabled on; } refer { enabled on; play good.test; } }
vhost off.test { enabled off; http_remux { enabled on; } }
vhost mount.test { http_remux { enabled on; mount mount.test/tv/[stream]/[app].flv; } }
""", f"http_server {{ enabled on; listen 127.0.0.1:{port}; }}")
    assert once(port, "/live/s.flv", Host="x").status == 404
    assert once(port, "/live/s.flv", Host="deny.test").status == 403
    assert once(port, "/live/s.flv", Host="refer.test").status == 403
    assert once(port, "/live/s.flv", "HEAD", Host="refer.test", Referer="http://a.good.test/x").status == 200
    assert once(port, "/live/s.flv", Host="off.test").status == 404
    assert once(port, "/live/s.flv", "HEAD", Host="mount.test").status == 404
    assert once(port, "/tv/s/live.flv", "HEAD", Host="mount.test").status == 200
    assert once(port, "/live/s.flv?vhost=deny.test", Host="x").status == 403


@pytest.mark.long
def test_one_that_never_reads(live, source):
    """Players that never read: bounded memory, no effect on others, disconnected at the end."""
    s, port = live(vhost="play { queue_length 2; }", glob="rtmp { send_timeout 3; }")
    good = FlvWatcher(port)
    p = s.push(source, loop=True, speed=30)  # soon more than sockets buffer
    stuck = [Http(port, rcvbuf=4096) for _ in range(30)]
    for h in stuck:
        h.ask("/live/s.flv")
    assert wait_for(lambda: len(flv.frames(good.tags, VIDEO)) > 100, 5)
    before = s.rss()
    assert wait_for(lambda: len(flv.frames(good.tags, VIDEO)) > 2000, 8)
    assert s.rss() - before < 8000 * ROOMY, f"{before} to {s.rss()} kB"
    assert s.wait_log("peer took nothing", 12, count=30)
    p.stop()
    flv.check_monotonic(good.stop())
    for h in stuck:
        h.close()


def test_300_players(live, source):
    s, port = live()
    s.push(source, loop=True)
    load = procs.Proc([os.path.join(os.path.dirname(procs.BINARY), "sb_http_load"), "-c", "300", "-r",
                       f"http://127.0.0.1:{port}/live/s.flv", "-s", "1", "--duration", "2", "--json"],
                      s.tmp + "/load.json")
    assert load.wait(15) == 0
    import json
    got = json.loads(load.text())
    assert got["alive"] == 300 and got["failed"] == 0, got
    assert got["rate_kbps"]["min"] > 150, got["rate_kbps"]
    assert "watchdog" not in s.log()


def test_reload_reaches_players(live, source):
    """A vhost that is turned off disconnects its HTTP players; another change does not."""
    s, port = live()
    s.push(source, loop=True)
    w = FlvWatcher(port)
    assert w.wait(lambda got: len(got) > 10)
    head = f"http_server {{ enabled on; listen 127.0.0.1:{port}; }}"
    s.reload("http_remux { enabled on; } play { mw_latency 100; }", head)
    at = len(w.tags)
    assert w.wait(lambda got: len(got) > at + 20, 3) and w.ended is None
    s.reload("enabled off;", head)
    assert wait_for(lambda: w.ended is not None, 3)
