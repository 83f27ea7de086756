# SPDX-License-Identifier: MIT
"""A full disk and a hanging disk below HLS and recordings: a clear log line, streams continue, files on disk are complete, and all
recovers automatically. (A full disk with `hls_on_error continue` is in test_hls.py, recordings in test_dvr.py.)"""
import glob
import os
import signal
import time

import pytest

import flv
import hls
import tools
from disks import Full, Hung
from flv import VIDEO
from procs import wait_for
from test_hls import conf, listed, with_http


@pytest.fixture
def disk(tmp_path):
    made = []

    def make(kind, *args):
        made.append(kind(tmp_path, *args))
        return made[-1]
    yield make
    for d in made:
        d.close()


def is_whole(folder, name="s"):
    """Whether everything in the playlist on disk exists and is complete transport stream."""
    got = hls.load(os.path.join(folder, "live", name + ".m3u8"))
    for x in got.segments:
        file = os.path.join(folder, "live", x.uri)
        assert x.gap or (os.path.getsize(file) > 0 and os.path.getsize(file) % 188 == 0), x
    return got


def ends(pusher, seconds=8):
    assert wait_for(lambda: not pusher.is_alive(), seconds), "the publisher stopped"
    return pusher


def test_disconnect(disk, srs, source):
    """hls_on_error disconnect: the publisher is disconnected, and may come back when there is space."""
    d = disk(Full, 300)
    s = srs(conf(d.path, "hls_on_error disconnect;", fragment=1))
    v = s.watch("s")
    ends(s.push(source, speed=8, loop=True, ahead=8), 15)
    assert s.wait_log(r"HLS of live/s: cannot write .*s-\d+\.ts: No space left", 2)
    assert s.wait_log(r"disconnecting the publisher \(hls_on_error disconnect\)", 2)
    assert v.ended is None, "players left instead of waiting for the publisher"
    is_whole(d.path)
    before = len(hls.load(listed(d.path, 1)).segments)
    d.grow()
    frames = len(flv.frames(v.tags, VIDEO))
    again = s.push(source, speed=8, loop=True)
    assert wait_for(lambda: len(is_whole(d.path).segments) > before + 3, 10)
    assert v.wait(lambda got: len(flv.frames(got, VIDEO)) > frames + 25, 5)
    assert s.wait_log("HLS of live/s: files can be written again", 3)
    assert not is_whole(d.path).segments[-1].gap and again.is_alive()
    again.stop()
    s.allow_errors = True


def test_ignore(disk, srs, source):
    """hls_on_error ignore: no more HLS of this publisher, who continues; the next one gets HLS again."""
    d = disk(Full, 300)
    s = srs(conf(d.path, "hls_on_error ignore;", fragment=1))
    v = s.watch("s")
    p = s.push(source, speed=8, loop=True, ahead=8)
    assert s.wait_log(r"cannot write .*No space left", 15)
    assert s.wait_log(r"HLS of live/s ends until it is published again \(hls_on_error ignore\)", 2)
    d.grow()
    frames, n = len(flv.frames(v.tags, VIDEO)), len(is_whole(d.path).segments)
    assert v.wait(lambda got: len(flv.frames(got, VIDEO)) > frames + 100, 10) and p.is_alive()
    assert len(is_whole(d.path).segments) <= n + 1, "space alone brought it back"
    p.stop()
    p.client.close()
    q = s.push(source, speed=8, loop=True)
    assert wait_for(lambda: len(is_whole(d.path).segments) > n + 4, 10)
    assert not is_whole(d.path).segments[-1].gap
    q.stop()


@pytest.mark.long
def test_a_disk_that_hangs(disk, srs, source, tmp_path):
    """Segments and recordings wait in memory while writes block; no client is delayed, other disks are served and written,
    and nothing is lost."""
    d = disk(Hung)
    other = tmp_path / "other"
    other.mkdir()
    port, http = with_http(d.path)
    s = srs(f"vhost __defaultVhost__ {{ {conf(d.path, fragment=1)} "
            f"dvr {{ enabled on; dvr_path {d.path}/rec/[stream].flv; }} }}\n"
            f"vhost b.example {{ {conf(str(other), fragment=1)} }}", http)
    v = s.watch("s")
    p = s.push(source, speed=2, loop=True)
    listed(d.path, 3, timeout=10)
    url = f"http://127.0.0.1:{port}/live/s.m3u8"
    first = hls.get_list(url)
    d.freeze()
    frozen = time.monotonic()
    frames = len(flv.frames(v.tags, VIDEO))
    q = s.push(source, "o?vhost=b.example", speed=2, loop=True)
    assert wait_for(lambda: len(hls.get_list(url).segments) > len(first.segments) + 5, 20)
    last = hls.get_list(url).segments[-1]
    status, _, body = hls.get(hls.join(url, last.uri))
    assert status == 200 and len(body) % 188 == 0, "not served from memory"
    assert hls.get(hls.join(url, first.segments[0].uri))[0] == 200, "not served from disk, which is readable"
    assert v.wait(lambda got: len(flv.frames(got, VIDEO)) > frames + 50, 5), "players noticed"
    assert wait_for(lambda: len(is_whole(str(other), "o").segments) > 3, 15), "the other disk was not written"
    assert s.wait_log(r"files of HLS have waited for \d+ s to be written .*the disk is slow or hangs", 15)
    assert s.wait_log(r"files of recordings have waited for \d+ s", 15)
    assert time.monotonic() - frozen < 35, "it was not frozen all the time"
    d.thaw()
    assert s.wait_log("files of HLS are written again, none is waiting", 10)
    p.stop()
    p.client.close()
    assert wait_for(lambda: glob.glob(f"{d.path}/rec/s.flv"), 10)
    assert not any(x.gap for x in is_whole(d.path).segments)
    assert tools.decode(f"{d.path}/rec/s.flv") == ""
    want = len(flv.frames([t for t in p.pushed], VIDEO))
    assert abs(len(flv.frames(flv.read(f"{d.path}/rec/s.flv"), VIDEO)) - want) < 50, "something is lost"
    q.stop()


@pytest.mark.long
def test_end_while_the_disk_hangs(disk, srs, source):
    """The server exits in time, and logs what it could not write."""
    d = disk(Hung)
    s = srs(conf(d.path, fragment=1))
    s.push(source, speed=8, loop=True)
    listed(d.path, 2, timeout=10)
    d.freeze(30)
    at = s.mark()
    assert s.wait_log("files of HLS wait for", 15, at)
    s.proc.kill(signal.SIGTERM)
    assert s.wait_log(r"\d+ files of HLS were not written in time", 9)
    d.thaw()  # the kernel does not end a process that waits for this kind of disk
    assert s.proc.wait(5) == 0
    s.proc.end()
    s.proc = None
    assert len(is_whole(d.path).segments) >= 2
