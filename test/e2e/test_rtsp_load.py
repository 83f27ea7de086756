# SPDX-License-Identifier: MIT
"""The RTSP load tools: their reports about a camera with faults, and about our server compared with RTMP."""
import os

import pytest

import procs
from camera import Camera, Quirks
from camera_rtp import tracks_of
from procs import SOURCE, free_port
from test_bench_tools import last_object, run, tool

CLEAN = ("lost", "reordered", "restarts", "marker_faults", "time_faults", "info_faults", "odd", "overflow", "failed")
FAULTS = {  # faults of the camera: (what is reported, for at least one player)
    "none": ({}, None),
    "login": ({"user": "u", "password": "p"}, None),
    "basic": ({"user": "u", "password": "p", "auth": "basic"}, None),
    "other channels": ({"channels": 6}, None),
    "unasked answer": ({"unasked": 30}, None),
    "no marker": ({"marker": "none"}, "marker_faults"),
    "another numbering": ({"restart_after": 30}, "restarts"),
    "the clock jumps": ({"jump_after": 60}, "time_faults"),
}


def play(url, *args, clients=3, seconds=2.5):
    code, text = run("sb_rtsp_load", "-c", clients, "-s", 0.1, "-r", url, "--duration", seconds, "--json", *args)
    return code, last_object(text)


def faults(got):
    return {k: got[k] for k in CLEAN if got[k]}


@pytest.mark.long
@pytest.mark.parametrize("transport", [(), ("--udp",)], ids=["tcp", "udp"])
@pytest.mark.parametrize("row", FAULTS)
def test_camera(source, row, transport):
    """Each fault is reported, and nothing else."""
    quirks, told = FAULTS[row]
    cam = Camera(tracks_of(source), Quirks(**quirks))
    code, got = play(cam.url(), *transport)
    cam.close()
    assert code == 0 and got["alive"] == 3, got
    assert got["packets"] > 3 * 100 and got["sender_reports"] >= 6 and got["first_key_ms"]["count"] == 3
    assert list(faults(got)) == ([told] if told else []), faults(got)
    if told:
        assert got[told] >= 3


def test_refused(source):
    """Counted by status code."""
    cam = Camera(tracks_of(source), Quirks(tcp=False))
    code, got = play(cam.url(), seconds=1)
    cam.close()
    assert got["refused"]["461"] >= 3 and got["alive"] == 0 and got["packets"] == 0, got
    assert "461" in got["reasons"][0]["text"]


@pytest.mark.long
def test_keep(source):
    """A disconnected player is restarted."""
    cam = Camera(tracks_of(source), Quirks(die_after=30))
    _, got = play(cam.url(), "--keep", seconds=2)
    cam.close()
    assert got["sessions"] > 5 and got["ended"] > 2, got


@pytest.fixture
def server(srs):
    port = free_port()
    s = srs("rtsp { enabled on; }", f"rtsp_server {{ enabled on; listen 127.0.0.1:{port}; describe_wait 1; }}")
    s.rtsp = lambda stream="s": f"rtsp://127.0.0.1:{port}/live/{stream}"
    return s


def rtmp_publisher(s, stream="s", seconds=20):
    """Our publisher, because its frames contain a clock."""
    p = procs.Proc([tool("sb_rtmp_publish"), "-i", SOURCE, "-r", s.url(stream), "-s", 0, "--duration", seconds],
                   os.path.join(s.tmp, "pub.log"))
    assert s.wait_log("publish", 5)
    return p


@pytest.mark.parametrize("way", [(), *(pytest.param((x,), marks=pytest.mark.long) for x in ("--udp", "--tunnel"))], ids=["tcp", "udp", "tunnel"])
def test_ours_beside_rtmp(server, way):
    """The same frames as over RTMP, of the same age, and no invalid packet."""
    s = server
    p = rtmp_publisher(s)
    rtmp = procs.Proc([tool("sb_rtmp_load"), "-c", 10, "-r", s.url(), "-s", 0.1, "--duration", 2.5, "--json"],
                      os.path.join(s.tmp, "rtmp.json"))
    code, got = play(s.rtsp(), *way, clients=10)
    assert rtmp.wait(10) == 0
    other = last_object(rtmp.text())
    assert code == 0 and got["alive"] == 10 and not faults(got), got
    assert got["stalls"] == 0 and got["drops"] == 0 and got["first_key_ms"]["count"] == 10
    assert got["packets"] > got["messages"] > 0.9 * other["messages"]
    assert got["latency_ms"]["count"] > 0.9 * other["latency_ms"]["count"]
    assert abs(got["latency_ms"]["p50"] - other["latency_ms"]["p50"]) < 150 * procs.SLOW
    assert 0.9 < got["read_mbps"] / other["read_mbps"] < 1.3
    p.end()


@pytest.mark.long
def test_churn_and_slow_players(server):
    """Sessions that come and go, and slow readers, leave nothing behind."""
    s = server
    p = rtmp_publisher(s)
    files = len(os.listdir(f"/proc/{s.pid}/fd"))
    code, got = play(s.rtsp(), "--churn", 0.3, "-d", 0, clients=20, seconds=4)
    assert code == 0 and got["reconnected"] > 100 and not faults(got), got
    code, got = play(s.rtsp(), "--read-kbps", 60, clients=5, seconds=3)
    assert code == 0 and got["alive"] == 5 and got["failed"] == 0, got
    assert procs.wait_for(lambda: len(os.listdir(f"/proc/{s.pid}/fd")) <= files, 5)
    p.end()


def test_not_there(server):
    code, got = play(server.rtsp("nobody"), seconds=2)
    assert got["alive"] == 0 and got["refused"] == {"404": 3} and got["failed"] == 3, got


@pytest.mark.long
@pytest.mark.parametrize("transport", [(), ("--udp",)], ids=["tcp", "udp"])
def test_publishers(server, transport):
    """Their streams are available to RTSP and RTMP players, with their clock."""
    s = server
    p = procs.Proc([tool("sb_rtsp_publish"), "-c", 5, "-i", SOURCE, "-r", s.rtsp("s{i}"), "-s", 0.1, "--duration", 9,
                    "--json", *transport], os.path.join(s.tmp, "pub.json"))
    assert s.wait_log("publish", 5, count=5)
    rtmp = procs.Proc([tool("sb_rtmp_load"), "-c", 5, "-r", s.url("s{i}"), "-s", 0.1, "--duration", 4, "--json"],
                      os.path.join(s.tmp, "rtmp.json"))
    code, got = play(s.rtsp("s{i}"), *transport, clients=5, seconds=4)
    assert rtmp.wait(10) == 0
    other = last_object(rtmp.text())
    assert code == 0 and got["alive"] == 5 and not faults(got), got
    assert got["drops"] == 0 and got["stalls"] == 0 and got["latency_ms"]["count"] > 5 * 50
    assert other["alive"] == 5 and other["drops"] == 0 and other["latency_ms"]["count"] > 5 * 50
    assert p.wait(15) == 0
    sent = last_object(p.text())
    assert sent["alive"] == 5 and sent["failed"] == 0 and sent["packets"] > 5 * 300, sent
    assert sent["lag_ms"]["p50"] < 50 * procs.SLOW
