# SPDX-License-Identifier: MIT
"""Broken files, odd names, files that change during playback, and players that misbehave: a clear response to each, a log line, and
players of a good file notice nothing."""
import concurrent.futures
import contextlib
import os
import random
import re
import shutil
import socket
import time

import pytest

import mp4boxes
import numbered
import procs
from ondemand import folder_of, vod_server
from procs import Proc, wait_for
from rtmpclient import Client, Rejected
from rtmpclient import Closed as RtmpClosed
from rtspclient import Closed
from test_bench_tools import last_object, tool

pytestmark = pytest.mark.needs("ffmpeg")

REFUSED = (400, 403, 404, 415, 500, 503)
# Broken files that may still play: their intact part.
QUICK = ("empty", "text", "moov-cut", "moov-size-0", "moov-size-1", "moov-size-most", "moov-size-64", "deep", "timescale-0",
         "stts-rows", "stsz-rows", "samples-outside", "trun-rows", "mdat-cut", "flv-noise", "flv-size-most")


def broken_files(folder, only=None):
    read = {k: open(numbered.path(k), "rb").read() for k in ("front.mp4", "fragments.mp4", "keys.flv")}
    files = mp4boxes.broken(read["front.mp4"], read["fragments.mp4"])
    files = {k + ".mp4": v for k, v in files.items()} | \
        {k + ".flv": v for k, v in mp4boxes.broken_flv(read["keys.flv"]).items()}
    for name, data in files.items():
        if only is None or name[:-4] in only:
            (folder / name).write_bytes(data)
    return sorted(n for n in files if only is None or n[:-4] in only)


class Good:
    """Players of a good file during the test, over each protocol."""

    def __init__(self, s, name="good.mp4"):
        self.s, self.out = s, []
        for program, url in (("sb_rtsp_load", s.rtsp_file(name)), ("sb_rtmp_load", s.rtmp_file(name)), ("sb_http_load", s.flv_file(name))):
            log = os.path.join(s.tmp, f"good-{program}.json")
            self.out.append(Proc([tool(program), "-c", 3, "-s", 0.1, "-d", 0.1, "-r", url, "--json"], log))
        time.sleep(0.5)

    def check(self, gap=700):
        time.sleep(0.6)
        for p in self.out:
            p.kill(2)
            p.wait(10)
            got = last_object(p.text())
            assert got["alive"] == 3 and got["failed"] == 0 and got["messages"] > 20, got
            assert got["gap_ms"]["max"] < gap * procs.SLOW, (p.argv[0], got["gap_ms"])
            faults = {k: got.get(k, 0) for k in ("lost", "info_faults", "marker_faults", "time_faults")}
            assert not any(faults.values()), faults
            assert got["backwards"] <= 2 * got["connected"], "no more than the first frame of each track, which may precede its head"


def ask_rtsp(s, name, seconds=1.0):
    """"refused N", or "plays": for a second or to its end."""
    c = s.rtsp(timeout=20)
    try:
        a = c.request("DESCRIBE", s.rtsp_file(name), {"Accept": "application/sdp"})
        if a.status != 200:
            assert a.status in REFUSED, a
            return f"refused {a.status}"
        for t in re.findall(rb"a=control:trackID=(\d)", a.body):
            assert c.setup(s.rtsp_file(name), int(t)).status == 200
        a = c.request("PLAY", s.rtsp_file(name), {"Range": "npt=0.000-"})
        assert a.status == 200 or a.status in REFUSED, a
        c.sock.settimeout(0.2)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                c.frame()
            except (TimeoutError, socket.timeout):
                pass
        return "plays"
    except Closed:
        return "closed"
    finally:
        c.close()


def ask_http(s, name, seconds=1.0):
    """The same; "waits": taken for a live stream that may come."""
    with socket.create_connection(("127.0.0.1", s.http_port), 20) as c:
        c.sendall(f"GET /vod/{name}.flv HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        got = c.recv(65536)
        status = int(got.split()[1]) if got else 0
        if status != 200:
            assert status in REFUSED, got[:200]
            return f"refused {status}"
        c.settimeout(0.2)
        end, body = time.monotonic() + seconds, len(got.partition(b"\r\n\r\n")[2])
        while time.monotonic() < end:
            try:
                more = c.recv(65536)
                body += len(more)
                if not more:
                    break
            except (TimeoutError, socket.timeout):
                pass
        return "plays" if body > 100 else "waits"


def ask_rtmp(s, name, seconds=1.0):
    c = Client(s.port, timeout=20)
    try:
        c.play(name, app="vod")
        c.collect(seconds)
        return "plays"
    except (Rejected, RtmpClosed) as e:
        return f"refused {type(e).__name__} {getattr(e, 'code', '')}"
    finally:
        c.close()


def test_broken_files(srs, tmp_path):
    """Each gets a timely response over RTSP and HTTP; other players do not notice."""
    folder = folder_of(tmp_path)
    names = broken_files(folder, QUICK)
    shutil.copy(numbered.path("front.mp4"), folder / "good.mp4")
    s = vod_server(srs, folder)
    good = Good(s)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        got = dict(zip(names, pool.map(lambda n: (ask_rtsp(s, n, 0.3), ask_http(s, n, 0.3)), names)))
    for name in ("empty.mp4", "text.mp4", "moov-cut.mp4", "deep.mp4", "flv-noise.flv"):
        assert all(x.startswith("refused") for x in got[name]), (name, got[name])
        assert name in s.log(), f"no line about {name}"
    good.check()


@pytest.mark.long
def test_all_broken_files(srs, tmp_path):
    """More of them over each protocol, repeatedly: the server's memory stays."""
    folder = folder_of(tmp_path)
    names = broken_files(folder)
    shutil.copy(numbered.path("front.mp4"), folder / "good.mp4")
    s = vod_server(srs, folder)
    good = Good(s)
    before = s.rss()
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        for ask in (ask_rtsp, ask_http, ask_rtmp):
            got = dict(zip(names, pool.map(lambda n, a=ask: a(s, n), names)))
            print(ask.__name__, got)
    assert s.rss() - before < 80000
    good.check()


def lines_of_refused(s):
    """Players that got no file: number of lines, and of players in them."""
    lines = [x for x in s.log().splitlines() if "vod: " in x and " refused" in x]
    return len(lines), sum(int(m[1]) if (m := re.search(r"vod: (\d+) more were", x)) else 1 for x in lines)


def test_asked_for_again_and_again(srs, tmp_path):
    """Broken or missing files cost a few lines, however often they are requested; all requests are counted."""
    folder = folder_of(tmp_path)
    broken_files(folder, ("text",))
    s = vod_server(srs, folder, level="warn")
    with socket.create_connection(("127.0.0.1", s.http_port), 20) as c, c.makefile("rb") as answers:
        c.sendall(b"GET /vod/text.mp4.flv HTTP/1.1\r\nHost: x\r\n\r\n" * 360)
        for _ in range(360):
            assert answers.readline().split()[1] == b"415"
            size = 0
            while line := answers.readline().strip():
                size = int(line.split()[1]) if line.lower().startswith(b"content-length") else size
            answers.read(size)
    asked = [ask(s, name) for name in ("text.mp4", "none.mp4") for ask in (ask_rtsp, ask_rtmp) for _ in range(10)]
    assert all(x.startswith("refused") for x in asked), asked
    assert s.stop() == 0
    lines, players = lines_of_refused(s)
    assert lines < 20 and players == 400, (lines, players)


# ---- names and kinds of files

NAMES = ["../secret.mp4", "%2e%2e/secret.mp4", "..%2fsecret.mp4", "%2e%2e%2fsecret.mp4", "a%00.mp4", "good.mp4%00", "..\\secret.mp4",
         "..%5csecret.mp4", "/etc/passwd", "%2fetc%2fpasswd.mp4", "./../secret.mp4", "sub/../../secret.mp4", "....//secret.mp4",
         "link/secret.mp4", "out.mp4", "loop.mp4", "dir.mp4", "fifo.mp4", "null.mp4", "zero.mp4", "sock.mp4", "closed/a.mp4",
         "x" * 300 + ".mp4", "a/" * 400 + "b.mp4", "secret", ".mp4", "%2e.mp4", "nothing.mp4", "good.mp4/x.mp4"]


def odd_folder(tmp_path):
    folder = folder_of(tmp_path)
    shutil.copy(numbered.path("front.mp4"), folder / "good.mp4")
    shutil.copy(numbered.path("front.mp4"), tmp_path / "secret.mp4")
    (folder / "dir.mp4").mkdir()
    (folder / "sub").mkdir()
    os.mkfifo(folder / "fifo.mp4")
    os.symlink(tmp_path / "secret.mp4", folder / "out.mp4")
    os.symlink(tmp_path, folder / "link")
    os.symlink(folder / "loop.mp4", folder / "loop.mp4")
    with socket.socket(socket.AF_UNIX) as u:
        u.bind(str(folder / "sock.mp4"))
    if os.geteuid() == 0:
        os.mknod(folder / "null.mp4", 0o20666, os.makedev(1, 3))
        os.mknod(folder / "zero.mp4", 0o20666, os.makedev(1, 5))
    return folder


@pytest.mark.parametrize("names", [["../secret.mp4", "%2e%2e%2fsecret.mp4", "good.mp4%00", "out.mp4", "link/secret.mp4", "dir.mp4",
                                    "fifo.mp4"],
                                   pytest.param(NAMES, marks=pytest.mark.long)], ids=["few", "all"])
def test_odd_names(srs, tmp_path, names):
    """Files outside of the folder and special files are never played. A FIFO blocks nothing."""
    s = vod_server(srs, odd_folder(tmp_path), server="describe_wait 1;")
    good = Good(s)

    def ask(name):
        with contextlib.closing(s.rtsp(timeout=20)) as c:
            return c.request("DESCRIBE", f"rtsp://127.0.0.1:{s.rtsp_port}/vod/{name}").status
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        rtsp = dict(zip(names, pool.map(ask, names)))
        http = dict(zip(names, pool.map(lambda n: ask_http(s, n, 0.2), names)))
    assert not {n: x for n, x in rtsp.items() if x not in REFUSED}
    assert not {n: x for n, x in http.items() if x == "plays"}
    good.check()


@pytest.mark.long
def test_odd_names_over_rtmp(srs, tmp_path):
    s = vod_server(srs, odd_folder(tmp_path))
    good = Good(s)
    names = [n for n in NAMES if len(n) < 200 and "%" not in n]
    with concurrent.futures.ThreadPoolExecutor(32) as pool:
        got = dict(zip(names, pool.map(lambda n: flv_of(s, n), names)))
    assert not any(got.values()), got
    good.check()


def flv_of(s, name):
    """Number of media messages that an RTMP player gets in a second."""
    c = Client(s.port, timeout=3)
    with contextlib.closing(c), contextlib.suppress(Rejected, RtmpClosed, TimeoutError, socket.timeout):
        c.play(name, app="vod")
        c.collect(1)
    return sum(t.frame for t in c.tags)


# ---- files that change

@pytest.mark.long
@pytest.mark.parametrize("change", ["shrink", "empty", "replace", "remove", "overwrite"])
def test_changes_while_it_plays(srs, tmp_path, change):
    """It ends, or continues with data in memory: others do not notice."""
    folder = folder_of(tmp_path)
    for name in ("good.mp4", "a.mp4"):
        shutil.copy(numbered.path("bframes.mp4"), folder / name)
    s = vod_server(srs, folder, "cache 1m;")
    good = Good(s)
    how = ["-c", 4, "-s", 0.1, "-t", 1, "--verbose", "--duration", 25, "--json", "-r"]
    players = [Proc([tool(p), *how, url], tmp_path / f"{p}.json")
               for p, url in (("sb_rtsp_load", s.rtsp_file("a.mp4")), ("sb_rtmp_load", s.rtmp_file("a.mp4")),
                              ("sb_http_load", s.flv_file("a.mp4")))]
    time.sleep(3)
    size = os.path.getsize(folder / "a.mp4")
    if change in ("shrink", "empty"):
        os.truncate(folder / "a.mp4", size // 4 if change == "shrink" else 0)
    elif change == "replace":
        shutil.copy(numbered.path("hevc.mp4"), folder / "new")
        os.rename(folder / "new", folder / "a.mp4")
    elif change == "remove":
        os.unlink(folder / "a.mp4")
    else:
        with open(folder / "a.mp4", "r+b") as f:
            f.seek(size // 8)
            f.write(bytes(size // 2))
    if change in ("shrink", "empty"):
        for p in players:
            assert wait_for(lambda p=p: not p.running(), 25), "it must end where the data ends"
        assert "a.mp4" in "".join(x for x in s.log().splitlines(True) if "WARN" in x)
        assert ask_http(s, "a.mp4").startswith("refused") or change == "shrink"
    else:
        time.sleep(6)
        assert change == "overwrite" or all(p.running() for p in players), [p.text()[-500:] for p in players]
    if change == "replace":
        c = s.rtsp()
        assert b"H265" in c.request("DESCRIBE", s.rtsp_file("a.mp4"), {"Accept": "application/sdp"}).body
        c.close()
    good.check()


# ---- players

def in_window(c, words, most=32):
    """Sends requests with this many in flight; returns the statuses."""
    out, under_way = [], 0
    for word in words:
        c.send(word)
        under_way += 1
        while under_way >= most:
            out.append(c.answer().status)
            under_way -= 1
    out += [c.answer().status for _ in range(under_way)]
    return out


def control_channel(c, url):
    """Sets up and plays; discards the media."""
    c.play(url)
    c.kept = Nothing()
    return c


class Nothing(list):
    def append(self, _):
        pass


@pytest.mark.parametrize("count", [1000, pytest.param(30000, marks=pytest.mark.long)])
def test_seeks_without_end(srs, tmp_path, count):
    """As many a second as possible, from one player."""
    s = vod_server(srs, folder_of(tmp_path, "bframes.mp4", "front.mp4"))
    good = Good(s, "front.mp4")
    url, rnd = s.rtsp_file("bframes.mp4"), random.Random(1)
    c = control_channel(s.rtsp(timeout=30), url)
    began = time.monotonic()
    got = in_window(c, (c.words("PLAY", url, {"Range": f"npt={rnd.uniform(0, 39):.3f}-"}) for _ in range(count)))
    took = time.monotonic() - began
    print(f"{count / took:.0f} seeks a second")
    assert got == [200] * count, set(got)
    good.check(1000)
    a = c.request("PLAY", url, {"Range": "npt=12-"})
    assert a.status == 200 and a["range"].startswith("npt=12"), a


@pytest.mark.long
def test_play_and_pause_10000_times(srs, tmp_path):
    s = vod_server(srs, folder_of(tmp_path, "bframes.mp4", "front.mp4"))
    good = Good(s, "front.mp4")
    url = s.rtsp_file("bframes.mp4")
    c = control_channel(s.rtsp(timeout=30), url)
    files, before = len(os.listdir(f"/proc/{s.pid}/fd")), s.rss()
    got = in_window(c, (c.words("PAUSE" if i % 2 == 0 else "PLAY", url) for i in range(20000)))
    assert set(got) == {200}
    assert s.rss() - before < 20000 and len(os.listdir(f"/proc/{s.pid}/fd")) <= files + 4
    good.check(1000)


@pytest.mark.long
def test_rtmp_seeks_and_pauses_without_end(srs, tmp_path):
    s = vod_server(srs, folder_of(tmp_path, "bframes.mp4", "front.mp4"))
    good = Good(s, "front.mp4")
    c = Client(s.port, timeout=20)
    c.play("bframes.mp4", app="vod")
    before = s.rss()
    rnd = random.Random(1)
    for i in range(10000):
        if i % 3:
            c.call("seek", rnd.uniform(0, 39000), sid=c.sid)
        else:
            c.call("pause", i % 2 == 0, 1000.0, sid=c.sid)
        if i % 20 == 0:
            c.collect(0.02)
            c.seen.clear()
            c.tags.clear()
    assert s.rss() - before < 20000
    c.close()
    good.check(1000)


@pytest.mark.long
def test_players_that_never_read(srs, tmp_path):
    """Their window stays full: they are disconnected, and use no memory of the server."""
    s = vod_server(srs, folder_of(tmp_path, "hevc.mp4", "front.mp4"), "loop on;", server="send_timeout 5;")
    good = Good(s, "front.mp4")
    before, lazy = s.rss(), []
    for _ in range(100):
        c = s.rtsp()
        c.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        c.play(s.rtsp_file("hevc.mp4"))
        lazy.append(c)
    time.sleep(10)
    assert s.rss() - before < 64 * 1024 + 100 * 40
    good.check(1000)
    for c in lazy:
        c.close()
