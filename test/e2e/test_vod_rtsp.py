# SPDX-License-Identifier: MIT
"""Files on demand over RTSP: start and end, seeking, pause, scale; and names that are not files."""
import os
import re
import shutil
import threading
import time

import numbered
import pytest
from rtspclient import Packet, read_rtp, rtp_info, rtsp_server

CLOCK = 90000


def serve(srs, folder=numbered.FOLDER, vod="", **how):
    s = rtsp_server(srs, vhost=f"vod {{ enabled on; dir {folder}; {vod} }}", **how)
    s.vod_url = lambda name: s.rtsp_url(name, app="vod")
    return s


def range_of(a):
    """Start and end in seconds; None: at the end of the file."""
    return tuple(float(x) if x else None for x in re.match(r"npt=([\d.]+)-([\d.]*)$", a["range"]).groups())


def position(c, url):
    a = c.request("GET_PARAMETER", url, {"Content-Type": "text/parameters"}, "position\r\n")
    assert a.status == 200 and a["content-type"] == "text/parameters", a
    return float(re.match(rb"position: (\d+\.\d{3})\r\n", a.body)[1])


def received(c, enough):
    """Reads RTP packets by channel until there are enough; None stands for a BYE."""
    out = {0: [], 2: []}
    while True:
        p = c.packet()
        if isinstance(p, Packet):
            out[p.channel].append(p)
        if enough(out, p):
            return out


def bye(tracks=2):
    """Each track ends with one."""
    left = [tracks]

    def enough(_, p):
        left[0] -= p is None
        return left[0] == 0
    return enough


def follow(packets, before=None):
    """No number is missing, whatever is requested in between."""
    numbers = [p.seq for p in ([before] if before else []) + packets]
    assert all((b - a) & 0xffff == 1 for a, b in zip(numbers, numbers[1:])), numbers


def test_story(srs):
    """From the middle, to another position, a pause, and to the end, where it may begin again."""
    s = serve(srs)
    url = s.vod_url("front.mp4")
    numbered.path("front.mp4")
    c = s.rtsp()
    a = c.play(url, fields={"Range": "npt=12.5-"})
    assert "a=range:npt=0-40.0" in c.sdp
    assert range_of(a)[0] == 12.0 and rtp_info(a)[0][0] == f"{url}/trackID=0"
    got = received(c, lambda out, _: len(out[0]) > 10 and len(out[2]) > 10)
    for (_, seq, when), channel in zip(rtp_info(a), (0, 2)):
        assert got[channel][0].seq == seq
        assert abs((got[channel][0].time - when + 2**31) % 2**32 - 2**31) < CLOCK / 10

    a = c.request("PLAY", url, {"Range": "npt=38.4-39.2"})
    before = [p for p in (read_kept(c)) if p.channel == 0]
    assert range_of(a) == (38.0, 39.2)
    got2 = received(c, bye())
    follow(before + got2[0], got[0][-1])
    times = [p.time for p in got2[0]]
    assert rtp_info(a)[0][1:] == (got2[0][0].seq, times[0])
    assert 1.0 * CLOCK < (times[-1] - times[0]) % 2**32 < 1.4 * CLOCK
    s.wait_log("was sent all of front.mp4, at 39200 ms")
    assert position(c, url) == 39.2

    assert range_of(c.request("PLAY", url))[0] == 38.0  # from there on
    received(c, lambda out, _: len(out[0]) > 5)
    assert c.request("PAUSE", url).status == 200
    read_kept(c)
    at = position(c, url)
    assert 38.0 <= at <= 39.0 and position(c, url) == at
    a = c.request("PLAY", url)
    assert abs(range_of(a)[0] - at) < 0.2
    received(c, bye())
    assert range_of(c.request("PLAY", url))[0] == 0.0  # after the end: from the start
    assert c.request("TEARDOWN", url).status == 200
    c.session = None
    read_kept(c)
    assert c.play(url, tracks=(1,)).status == 200  # and another session on the same connection


def read_kept(c):
    """RTP that arrived before a response."""
    out = [read_rtp(*f) for f in c.kept if not f[0] & 1]
    c.kept.clear()
    return out


def test_no_file(srs, tmp_path):
    shutil.copy(numbered.path("mute.mp4"), tmp_path / "a.mp4")
    (tmp_path / "dir.mp4").mkdir()
    os.mkfifo(tmp_path / "fifo.mp4")
    (tmp_path / "text.mp4").write_text("this is no movie" * 100)
    (tmp_path / "out.mp4").symlink_to("/etc/passwd")
    (tmp_path / "empty.flv").write_text("")
    with open(tmp_path / "a.mp4", "rb") as f, open(tmp_path / "cut.mp4", "wb") as cut:
        cut.write(f.read(2000))
    s = serve(srs, tmp_path, server="multicast { enabled on; }")
    c = s.rtsp()
    rows = {"none.mp4": (404,), "dir.mp4": (404,), "fifo.mp4": (404,), "out.mp4": (404,), "text.mp4": (415,),
            "empty.flv": (415,), "cut.mp4": (415,), "%2e%2e/a.mp4": (404, 400), "a%00.mp4": (400, 404),
            "a%5c..%5cb.mp4": (400, 404), "dir.mp4/../a.mp4": (200,), "a.mp4": (200,)}
    for name, statuses in rows.items():
        if name.startswith("a%") or name.startswith("%2e"):
            continue  # other names are streams, for which the server waits
        a = c.request("DESCRIBE", s.vod_url(name))
        assert a.status in statuses, (name, a)
    url = s.vod_url("a.mp4")
    assert c.setup(url, 0, transport="RTP/AVP;multicast").status == 461
    assert c.setup(url, 1).status == 404
    assert c.setup(url, 0).status == 200
    for r in ("npt=41-", "npt=-", "npt=nan-", "npt=1e400-", "clock=19960213T143205Z-", "smpte=0:10:00-", "npt=9-3"):
        assert c.request("PLAY", url, {"Range": r}).status == 457, r
    for fields in ({"Scale": "-inf"}, {"Speed": "x"}):
        assert c.request("PLAY", url, fields).status == 400, fields
    assert c.request("GET_PARAMETER", url, body="volume\r\n").status == 451
    assert c.request("PLAY", url, {"Scale": "9", "Speed": "2"})["scale"] == "4.000"


# ---- more, and longer

@pytest.mark.long
@pytest.mark.parametrize("kind", ["front.mp4", "bframes.mp4", "fragments.mp4", "bfragments.mp4", "hevc.mp4", "front.mp4",
                                  "bframes.flv", "end.mp4", "negative.mp4"])
def test_ffmpeg_sees_the_frame(srs, kind):
    """Over TCP, UDP and a tunnel: after a seek the requested frame is displayed, and none is missing."""
    numbered.path(kind)
    s = serve(srs)
    for transport in ("tcp", "udp", "http"):
        for at in (0, 12.5, 31):
            got = numbered.frames(s.vod_url(kind), "-rtsp_transport", transport, *(["-ss", str(at)] if at else []),
                                  "-t", "1.5")
            numbers = [n for _, n in got]
            first = next(i for i, n in enumerate(numbers) if n >= int(at * numbered.RATE))
            rest = numbers[first:]
            assert rest[0] - at * numbered.RATE <= 1, (transport, at, numbers)
            assert rest == list(range(rest[0], rest[0] + len(rest))), (transport, at, numbers)
            assert len(rest) > 30, (transport, at, numbers)


@pytest.mark.long
def test_scale(srs):
    """Timestamps follow the player's clock: double speed takes half the time; above that only key frames."""
    s = serve(srs)
    url = s.vod_url("front.mp4")
    numbered.path("front.mp4")
    c = s.rtsp()
    c.play(url, fields={"Range": "npt=30-36", "Scale": "2"})
    begin = time.monotonic()
    got = received(c, bye())
    took = time.monotonic() - begin
    span = (got[0][-1].time - got[0][0].time) % 2**32 / CLOCK
    assert 2.8 < span < 3.1 and 1.5 < took < 3.5 and got[2], (span, took)
    a = c.request("PLAY", url, {"Range": "npt=20-", "Scale": "4"})
    assert a["scale"] == "4.000"
    got = received(c, bye())
    frames = sorted({p.time for p in got[0]})
    assert len(frames) == 10 and not got[2], frames
    a = c.request("PLAY", url, {"Range": "npt=38-", "Scale": "0.5"})
    got = received(c, bye())
    span = (got[0][-1].time - got[0][0].time) % 2**32 / CLOCK
    assert a["scale"] == "0.500" and 3.8 < span < 4.1, span


@pytest.mark.long
def test_loop(srs, tmp_path):
    """It repeats without a break: numbers and times continue."""
    numbered.tools.run(["ffmpeg", "-v", "error", "-y", "-i", numbered.path("front.mp4"), "-t", "2", "-c", "copy",
                        str(tmp_path / "short.mp4")], 30)
    s = serve(srs, tmp_path, "loop on;")
    c = s.rtsp()
    c.play(s.vod_url("short.mp4"), tracks=(0,))
    got = received(c, lambda out, _: len({p.time for p in out[0]}) > 120)[0]
    follow(got)
    times = [p.time for p in got]
    apart = {(b - a) % 2**32 for a, b in zip(times, times[1:])} - {0}
    assert max(apart) < CLOCK / 10, apart


def test_hurry(srs):
    """A thousand seeks, PLAY and PAUSE ten thousand times: all are answered, and others continue to play."""
    s = serve(srs)
    url = s.vod_url("front.mp4")
    numbered.path("front.mp4")
    other = s.rtsp()
    other.play(url)
    c = s.rtsp(timeout=30)
    c.play(url)

    def drain(client, stop):
        while not stop.is_set():
            client.frame()
    stop = threading.Event()
    t = threading.Thread(target=drain, args=(other, stop))
    t.start()
    for asked, words in ((1000, lambda i: ("PLAY", {"Range": f"npt={i * 7 % 39}-"})),
                         (10000, lambda i: ("PAUSE" if i % 2 else "PLAY", {}))):
        for base in range(0, asked, 50):
            c.send(b"".join(c.words(m, url, f) for m, f in (words(base + i) for i in range(50))))
            for _ in range(50):
                assert c.answer().status == 200
            c.kept.clear()
    stop.set()
    t.join()
    assert len(s.log()) < 200000
    assert c.request("OPTIONS", url).status == 200


@pytest.mark.long
def test_file_goes_bad(srs, tmp_path):
    """It is truncated during playback: BYE, and the session may be played again, or ends."""
    shutil.copy(numbered.path("front.mp4"), tmp_path / "a.mp4")
    s = serve(srs, tmp_path)
    c = s.rtsp(timeout=20)
    url = s.vod_url("a.mp4")
    c.play(url)
    received(c, lambda out, _: len(out[0]) > 20)
    os.truncate(tmp_path / "a.mp4", 100000)
    received(c, bye())
    s.wait_log("gets no more of a.mp4")
    assert c.request("OPTIONS", url).status == 200
    assert c.request("PLAY", url, {"Range": "npt=0-"}).status in (200, 404, 415)
    c2 = s.rtsp()
    assert c2.request("DESCRIBE", url).status in (200, 404, 415)  # the rest of it may be played


def test_alone(srs):
    """A UDP player that closes its connection and sends nothing more."""
    s = serve(srs, server="session_timeout 10;")
    url = s.vod_url("front.mp4")
    numbered.path("front.mp4")
    c = s.rtsp()
    c.request("DESCRIBE", url)
    a = c.setup(url, 0, transport="RTP/AVP;unicast;client_port=40000-40001")
    assert a.status == 200, a
    assert c.request("PLAY", url).status == 200
    c.close()
    s.wait_log("client finished", timeout=60)
