# SPDX-License-Identifier: MIT
"""RTSP players and publishers that come later, leave, return, or return with different tracks."""
import socket
import struct
import time

import pytest

import procs
from flv import AUDIO, VIDEO
from procs import free_port, patience, wait_for
from test_rtsp_conf import Rtsp
from test_rtsp_sync import Ear, site  # noqa: F401

pytestmark = pytest.mark.needs("ffmpeg")


def play(s, tmp_path, seconds=None, name="play"):
    argv = ["ffmpeg", "-hide_banner", "-nostdin", "-y", "-rtsp_transport", "tcp", "-i", s.rtsp_url]
    argv += ["-t", seconds] if seconds else []
    return procs.Proc([*argv, "-c", "copy", "-copyinkf", "-f", "framemd5", "-flush_packets", "1", tmp_path / f"{name}.md5"],
                      tmp_path / f"{name}.log")


def frames(tmp_path, name="play"):
    try:
        return sum(line[0] != "#" for line in open(tmp_path / f"{name}.md5"))
    except FileNotFoundError:
        return 0


def test_a_player_comes_first(site, source, tmp_path):
    p = play(site, tmp_path, seconds=1)
    assert site.wait_log("RTSP client identified", 5)
    site.push(source, loop=True)
    assert p.wait(15) == 0, p.text()
    assert frames(tmp_path) > 50


def test_no_publisher_comes(srs):
    """All get a response at the timeout, and cost nothing meanwhile."""
    port = free_port()
    s = srs("rtsp { enabled on; }", f"rtsp_server {{ enabled on; transports tcp; listen 127.0.0.1:{port}; describe_wait 3; }}")
    url = f"rtsp://127.0.0.1:{port}/live/"
    began, socks = time.monotonic(), []
    for i in range(200):
        c = socket.create_connection(("127.0.0.1", port), timeout=patience(10))
        c.sendall(f"DESCRIBE {url}{'none' if i % 2 else i} RTSP/1.0\r\nCSeq: 1\r\n\r\n".encode())
        socks.append(c)
    assert s.wait_log("RTSP client identified", 5, count=200)
    cpu, at = procs.cpu_seconds(s.pid), time.monotonic()
    time.sleep(1)
    assert procs.cpu_seconds(s.pid) - cpu < 0.2 * procs.SLOW * (time.monotonic() - at)
    for c in socks:
        assert c.recv(4096).startswith(b"RTSP/1.0 404 ")
        c.close()
    assert time.monotonic() - began < patience(6)


@pytest.mark.parametrize("only", [VIDEO, AUDIO])
def test_one_track_alone(site, source, only):
    """The server waits a second for the other track, once; afterwards not at all."""
    p = site.push([t for t in source if t.type == only], loop=True)
    assert wait_for(lambda: p.pushed, 5)
    for most in (1.5, 0.3):
        if most < 1:
            assert wait_for(lambda: p.pushed[-1].ts > 1200, 10)
        began = time.monotonic()
        with Rtsp(site.rtsp_port) as c:
            status, _, body = c.ask("DESCRIBE", None, "Accept: application/sdp")
        assert status == 200 and body.count(b"m=") == 1
        assert time.monotonic() - began < patience(most)


@pytest.mark.long
def test_its_publisher_comes_back(site, source):
    """The same sources, continuous numbers, increasing times; from a file that restarts."""
    p = site.push(source)
    assert wait_for(lambda: len(p.pushed) > 60, 10)
    with Ear(site.rtsp_port) as c:
        c.begin()
        last, count = {}, 0

        def hear(n):
            nonlocal count
            more = count + n
            while count < more:
                channel, data = c.frame()
                if channel & 1:
                    assert data[1] == 200, "no BYE"
                    continue
                seq, ts, ssrc = struct.unpack(">HII", data[2:12])
                if channel in last:
                    assert seq == (last[channel][0] + 1) & 0xffff and ssrc == last[channel][2]
                    ahead = (ts - last[channel][1] + 2**31) % 2**32 - 2**31
                    assert -90000 * 0.5 < ahead < 90000 * patience(5), ahead
                last[channel] = seq, ts, ssrc
                count += 1
        hear(200)
        p.stop()
        again = site.push(source)
        hear(200 + len(p.pushed))
        assert again.error is None and set(last) == {0, 2}


@pytest.mark.long
def test_it_comes_back_with_another_codec(site, source, media, tmp_path):
    """Continuing players would wait in vain: they get a BYE for the tracks, and can request the new ones."""
    first = site.push(source, loop=True)
    p = play(site, tmp_path)
    assert wait_for(lambda: frames(tmp_path) > 50, 10), p.text()
    first.stop()
    second = site.push(media.tags("hevc", "opus"), loop=True)
    assert wait_for(lambda: second.error or not p.running(), 15), p.text()[-2000:]
    assert p.wait(5) == 0 and "non monoton" not in p.text()
    p = play(site, tmp_path, seconds=1, name="again")
    assert p.wait(15) == 0 and frames(tmp_path, "again") > 20 and "hevc" in p.text()
