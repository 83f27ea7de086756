# SPDX-License-Identifier: MIT
"""Live MPEG-TS, AAC and MP3 over HTTP: every frame, for players that join early and late."""
import subprocess

import pytest

import flv
import hls
import tools
from flv import AUDIO, VIDEO
from procs import free_port, wait_for


@pytest.fixture
def live(srs):
    def start(end):
        port = free_port()
        s = srs(f"http_remux {{ enabled on; mount [vhost]/[app]/[stream].{end}; }}",
                f"http_server {{ enabled on; listen 127.0.0.1:{port}; }}")
        return s, f"http://127.0.0.1:{port}/live/s.{end}"
    return start


def record(url, path):
    """Runs curl until it is killed; every byte is in the file at once."""
    with open(path, "wb") as f:
        return subprocess.Popen(["curl", "-s", "-N", "--max-time", "20", url], stdout=f)


def size(path):
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def settled(path):
    """Waits until no more data arrives."""
    last = [0]

    def look():
        before, last[0] = last[0], size(path)
        return before == last[0] > 0
    assert wait_for(look, 10, step=0.3)


def grown(path, n, seconds=10):
    assert wait_for(lambda: size(path) > n, seconds), size(path)


def test_ts_from_the_begin(live, source, tmp_path):
    s, url = live("ts")
    out = tmp_path / "got.ts"
    p = record(url, out)
    assert s.wait_log("identified", 5)
    tags = flv.cut(source, 8000)
    push = s.push(tags, speed=20)
    push.join(10)
    settled(out)
    p.kill()
    p.wait()
    video, audio = hls.packets(out, "v"), hls.packets(out, "a")
    assert len(video) >= hls.frames(tags, VIDEO) - 1
    assert len(audio) >= hls.frames(tags, AUDIO) - 3
    assert video[0][2] and abs(video[0][1] - 0.7) < 0.01
    assert tools.decode(out) == ""


def test_ts_joined_late(live, source, tmp_path):
    """In the middle of a stream, and two at once: the same bytes from a key frame on."""
    s, url = live("ts")
    push = s.push(source, speed=8, loop=True)
    assert s.wait_log("video sh", 3)
    players = []
    for i in range(2):
        out = tmp_path / f"{i}.ts"
        players.append((record(url, out), out))
    for p, out in players:
        grown(out, 300000)
        p.kill()
        p.wait()
    push.stop()
    a, b = (out.read_bytes() for _, out in players)
    n = min(len(a), len(b), 200000)
    assert a[:188 * 2] and a[0] == 0x47
    assert a[:n] in b or b[:n] in a or a[188 * 2:n] == b[188 * 2:n]
    video = hls.packets(tmp_path / "0.ts", "v")
    assert video[0][2], "it does not begin with a key frame"
    assert tools.decode(tmp_path / "0.ts").count("\n") <= 2  # the last frame is incomplete


@pytest.mark.parametrize("end,codec", [("aac", "aac"), ("mp3", "mp3")])
def test_audio_only(live, source, media, tmp_path, end, codec):
    s, url = live(end)
    out = tmp_path / f"got.{end}"
    p = record(url, out)
    assert s.wait_log("identified", 5)
    tags = flv.cut(source, 8000) if codec == "aac" else media.tags("h264", "mp3")
    push = s.push(tags, speed=20)
    push.join(10)
    settled(out)
    p.kill()
    p.wait()
    got = tools.ffprobe(out, "-show_streams", "-count_packets")["streams"]
    assert [x["codec_name"] for x in got] == [codec]
    assert int(got[0]["nb_read_packets"]) >= hls.frames(tags, AUDIO) - 3
    assert out.read_bytes()[:3] == (b"ID3" if end == "mp3" else b"\xff\xf1\x50")


def test_others_play_ts(live, source, tmp_path):
    s, url = live("ts")
    push = s.push(source, speed=3, loop=True)
    assert s.wait_log("video sh", 3)
    out = str(tmp_path / "got.txt")
    p = tools.ffmpeg_frames(url, str(tmp_path / "ff.log"), out, seconds=3)
    g = tools.gst(f"souphttpsrc location={url} ! tsdemux name=d d. ! h264parse ! avdec_h264 ! "
                  f"videoconvert ! filesink location={tmp_path}/raw", str(tmp_path / "gst.log"))
    assert p.wait(20) == 0
    assert len(tools.frame_list(out, "video")) > 45
    assert wait_for(lambda: size(tmp_path / "raw") > 640 * 360 * 20, 10), g.text()
    g.end()
    push.stop()
