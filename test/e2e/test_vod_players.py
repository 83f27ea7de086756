# SPDX-License-Identifier: MIT
"""Files on demand over RTMP, HTTP-FLV and WebSocket-FLV: the displayed frame is the requested one."""
import json
import os
import shutil
import socket
import threading
import time

import pytest

import flv
import numbered
from procs import Proc, free_port, patience, wait_for
from rtmpclient import Closed
from webclient import FlvWatcher, once

WAYS = ("rtmp", "http")
PLACES = (0, 7.5, 21, 38.5)


class Films:
    """A server, and the folder of its files."""

    def __init__(self, srs, folder, port, **how):
        self.folder, self.port = str(folder), port
        self.s = srs(f"vod {{ enabled on; dir {self.folder}; }} {how.pop('vhost', '')}",
                     f"http_server {{ enabled on; listen 127.0.0.1:{port}; }} {how.pop('glob', '')}", **how)

    def url(self, way, name, seconds=None):
        if way == "rtmp":
            return self.s.url(name, "vod")
        return f"http://127.0.0.1:{self.port}/vod/{name}.flv" + (f"?start={seconds}" if seconds else "")

    def frames(self, way, name, at, seconds=0.6):
        """Frames that ffmpeg displays from this position on. Over RTMP it seeks, over HTTP it requests the position."""
        how = ["-ss", str(at), "-noaccurate_seek"] if way == "rtmp" and at else []
        return numbered.frames(self.url(way, name, at), *how, "-t", str(seconds))


@pytest.fixture
def films(srs):
    return Films(srs, numbered.FOLDER, free_port())


@pytest.fixture
def own(srs, tmp_path):
    """own(kind...): a folder of this test with those files."""
    def start(*kinds, **how):
        folder = tmp_path / "films"
        folder.mkdir()
        for kind in kinds:
            shutil.copy(numbered.path(kind), folder)
        return Films(srs, folder, free_port(), **how)
    return start


@pytest.mark.parametrize("way", WAYS)
def test_ffmpeg_is_shown_what_it_asked_for(films, numbered_files, way):
    numbered_files("bframes.mp4")
    got = films.frames(way, "bframes.mp4", 21)
    numbered.check(got, first=numbered.key_before(21))


def is_at(tag, ms):
    """The file's time, which begins with its first frame: audio may precede video by some ms."""
    return ms <= tag.ts <= ms + 100


def test_conversation_of_rtmp(films, numbered_files):
    """To a position, another one, on, and to the end; then another file on the same connection."""
    numbered_files("front.mp4"), numbered_files("keys.flv")
    with films.s.client() as c:
        c.connect("vod")
        length = c.result(c.call("getStreamLength", "mp4:front"))[3]
        assert abs(length - numbered.SECONDS) < 0.1
        c.create_stream()
        c.call("play", "mp4:front", 9000.0, sid=c.sid, csid=8)
        c.status("NetStream.Play.Start")
        c.until(lambda m: m.type == flv.VIDEO and m.data[1] == 1)
        assert c.tags[-1].key and is_at(c.tags[-1], 8000)
        c.call("seek", 39000.0, sid=c.sid, csid=8, tid=0)
        c.status("NetStream.Seek.Notify")
        at = len(c.tags)
        c.status("NetStream.Play.Stop")
        got = [t for t in c.tags[at:] if t.type == flv.VIDEO]
        assert got[0].config and got[1].key and is_at(got[1], 38000) and is_at(got[-1], 39960)
        assert any(b"NetStream.Play.Complete" in t.data for t in c.tags[at:])
        c.call("play", "keys", 0.0, sid=c.sid, csid=8)
        c.status("NetStream.Play.Start")
        c.until(lambda m: m.type == flv.VIDEO and m.data[1] == 1)
        assert c.tags[-1].key and is_at(c.tags[-1], 0)


def test_what_is_not_there(films):
    assert once(films.port, "/vod/none.mp4.flv")[0] == 404
    with films.s.client() as c, pytest.raises(Exception) as e:
        c.play("none.mp4", app="vod")
    assert e.value.code == "NetStream.Play.StreamNotFound"


# ---- all kinds of files, all protocols, all positions

@pytest.mark.long
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [k for k in numbered.KINDS if k not in ("sound.mp4", "hevc.mp4")])
def test_every_kind_of_file(films, numbered_files, kind, way):
    numbered_files(kind)
    for at in PLACES:
        got = films.frames(way, kind, at)
        first = numbered.key_before(at)
        assert got and abs(got[0][1] - first) <= 2, (at, got[:3])  # leading frames of open GOPs
        numbered.check(got[2:])


@pytest.mark.long
@pytest.mark.parametrize("ws", [False, True], ids=["http", "ws"])
def test_what_ffmpeg_may_not_know(films, numbered_files, ws):
    """HEVC is enhanced FLV; an audio-only file begins at about the requested position."""
    for kind, track in (("hevc.mp4", flv.VIDEO), ("sound.mp4", flv.AUDIO)):
        numbered_files(kind)
        w = FlvWatcher(films.port, path=f"/vod/{kind}.flv?start=21", ws=ws)
        assert w.wait(lambda tags: len(flv.frames(tags, track)) > 10)
        w.stop()
        first = flv.frames(w.tags, track)[0]
        if track == flv.VIDEO:
            assert first.enhanced and first.key and is_at(first, 20000)
            assert any(t.config and t.enhanced and b"hvc1" in t.data[:5] for t in w.tags)
            assert w.flags == 5
        else:
            assert 19900 <= first.ts <= 21000 and w.flags == 4


@pytest.mark.long
@pytest.mark.parametrize("ws", [False, True], ids=["http", "ws"])
def test_a_file_to_its_end(films, numbered_files, ws):
    """In real time apart from the first second, without a gap, with the file's times; then the connection ends."""
    numbered_files("front.mp4")
    begin = time.monotonic()
    w = FlvWatcher(films.port, path="/vod/front.mp4.flv?start=36&end=39.5", ws=ws)
    assert w.status == (101 if ws else 200)
    w.join(patience(10))
    assert not w.is_alive()
    assert 2.0 < time.monotonic() - begin < patience(4)
    video = [t for t in w.stop() if t.type == flv.VIDEO and t.frame]
    assert is_at(video[0], 36000) and 39400 <= video[-1].ts <= 39600
    assert flv.check_monotonic(w.tags) < 100
    assert w.flags == 5


@pytest.mark.long
@pytest.mark.needs("rtmpdump")
def test_rtmpdump(films, numbered_files, tmp_path):
    numbered_files("front.mp4")
    out = tmp_path / "out.flv"
    p = Proc(["rtmpdump", "-q", "-r", films.s.url("front.mp4", "vod"), "-o", str(out), "--start", "36"],
                   tmp_path / "dump.log")
    assert p.wait(20) == 0, p.text()
    got = numbered.frames(str(out))
    numbered.check(got, first=900)
    assert got[-1][1] == numbered.RATE * numbered.SECONDS - 1


@pytest.mark.long
def test_a_pause_keeps_the_place(films, numbered_files):
    numbered_files("front.mp4")
    with films.s.player("mp4:front", app="vod") as c:
        c.collect(1)
        c.call("pause", True, 1000.0, sid=c.sid, csid=8, tid=0)
        c.status("NetStream.Pause.Notify")
        at = len(c.tags)
        c.collect(2)
        assert len(c.tags) == at
        c.call("pause", False, 1000.0, sid=c.sid, csid=8, tid=0)
        c.status("NetStream.Unpause.Notify")
        c.collect(1)
        flv.check_monotonic(c.tags)
        times = [t.ts for t in c.tags if t.type == flv.VIDEO and t.frame]
        assert {b - a for a, b in zip(times, times[1:])} <= {39, 40, 41}
        assert 2400 <= times[-1] <= 3600


# ---- hostile

@pytest.mark.long
def test_a_thousand_seeks(films, numbered_files):
    """One player that seeks without a pause: the others do not notice, and it ends at the requested position."""
    numbered_files("front.mp4")
    w = FlvWatcher(films.port, path="/vod/front.mp4.flv")
    assert w.wait(lambda tags: len(tags) > 10)
    with films.s.player("mp4:front", app="vod") as c:
        reader = threading.Thread(target=lambda: c.collect(60, want=lambda c: c.seen and any(
            m.type == flv.VIDEO and m.ts >= 38000 for m in c.seen[-50:])))
        reader.start()
        for i in range(1000):
            c.call("seek", float(i * 7919 % 36000), sid=c.sid, csid=8, tid=0)
        for _ in range(5000):
            c.call("pause", True, 0.0, sid=c.sid, csid=8, tid=0)
            c.call("pause", False, 0.0, sid=c.sid, csid=8, tid=0)
        c.call("seek", 38000.0, sid=c.sid, csid=8, tid=0)
        reader.join(patience(60))
        assert not reader.is_alive()
    before = len(w.tags)
    assert w.wait(lambda tags: len(tags) > before + 30)
    assert flv.check_monotonic(w.stop()) < 100
    assert films.s.rss() < 200 * 1024


@pytest.mark.long
def test_a_player_that_does_not_read(films, numbered_files):
    numbered_files("front.mp4")
    slow = socket.create_connection(("127.0.0.1", films.port))
    slow.sendall(b"GET /vod/front.mp4.flv HTTP/1.1\r\nHost: x\r\n\r\n")
    w = FlvWatcher(films.port, path="/vod/front.mp4.flv?start=10")
    assert w.wait(lambda tags: tags and tags[-1].ts > 13000, 10)
    assert flv.check_monotonic(w.stop()) < 100
    slow.close()


@pytest.mark.long
@pytest.mark.parametrize("how", ["shorter", "removed", "replaced"])
def test_a_file_that_changes(own, how):
    f = own("front.mp4", "end.mp4")
    f.s.allow_errors = True
    path = os.path.join(f.folder, "front.mp4")
    w = FlvWatcher(f.port, path="/vod/front.mp4.flv")
    with f.s.player("mp4:front", app="vod") as c:
        assert w.wait(lambda tags: len(tags) > 10)
        if how == "shorter":
            os.truncate(path, 4000)
        elif how == "removed":
            os.unlink(path)
        else:
            os.rename(os.path.join(f.folder, "end.mp4"), path)
        c.call("seek", 30000.0, sid=c.sid, csid=8, tid=0)
        if how == "shorter":
            with pytest.raises(Exception) as e:
                c.status("none", 5)
            assert getattr(e.value, "code", None) == "NetStream.Play.Failed" or isinstance(e.value, Closed)
        else:
            c.until(lambda m: m.type == flv.VIDEO and 30000 <= m.ts <= 30100 and m.data[1] == 1, 5)
    w.stop()
    status = once(f.port, "/vod/front.mp4.flv", "HEAD")[0]
    assert status == {"shorter": 415, "removed": 404, "replaced": 200}[how]


@pytest.mark.long
def test_who_plays_is_listed_and_kicked(own):
    port = free_port()
    f = own("front.mp4", glob=f"http_api {{ enabled on; listen 127.0.0.1:{port}; raw_api {{ enabled on; }} }}")
    w = FlvWatcher(f.port, path="/vod/front.mp4.flv")
    with f.s.player("mp4:front", app="vod") as c:
        c.collect(0.3)

        def listed():
            return json.loads(once(port, "/api/v1/clients/")[2])["clients"]
        assert wait_for(lambda: {x["type"] for x in listed()} == {"rtmp-vod", "flv-vod"}, 3), listed()
        for x in listed():
            assert once(port, f"/api/v1/clients/{x['id']}", "DELETE")[0] == 200
        assert c.closed()
        w.join(patience(5))
        assert not w.is_alive()
    w.stop()
