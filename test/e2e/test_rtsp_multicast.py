# SPDX-License-Identifier: MIT
"""RTSP multicast: which group, how long it is sent, and that it is sent once for all. In a network namespace with multicast on its
loopback."""
import ctypes
import os
import socket
import struct
import subprocess
import time

import pytest

import lossy
import procs
import tools
from procs import free_port, wait_for
from test_rtsp_conf import RTSP, Rtsp
from test_rtsp_udp import rtsp_url, site  # noqa: F401
from webclient import Cert

SO_RCVBUFFORCE, IP_RECVTTL = 33, 12
ON = "multicast { enabled on; range 239.7.0.0/16; port 8600; ttl 3; }"


def enter(path):
    libc = ctypes.CDLL(None, use_errno=True)
    with open(path) as ns:
        assert libc.setns(ns.fileno(), 0) == 0, os.strerror(ctypes.get_errno())


@pytest.fixture
def net():
    """This thread opens sockets and starts programs in a separate network."""
    if not lossy.there():
        pytest.skip("network namespaces need root")
    name, own = f"e2em{os.getpid()}", os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    subprocess.run(["ip", "netns", "add", name], check=True)
    try:
        enter(f"/run/netns/{name}")
        for line in ("link set lo up", "route add 239.0.0.0/8 dev lo"):
            subprocess.run(["ip", *line.split()], check=True)
        yield name
    finally:
        enter(f"/proc/self/fd/{own}")
        os.close(own)
        subprocess.run(["ip", "netns", "del", name], capture_output=True)


class Member:
    """A socket that joined a group at this port."""

    def __init__(self, group, port):
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 32 << 20)
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.sock.setsockopt(socket.IPPROTO_IP, IP_RECVTTL, 1)
        self.sock.bind((group, port))
        self.sock.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                             socket.inet_aton(group) + socket.inet_aton("127.0.0.1"))
        self.sock.settimeout(procs.patience(5))

    def next(self):
        data, more, _, _ = self.sock.recvmsg(65536, 100)
        return data, struct.unpack("i", more[0][2])[0]

    def all(self):
        """Returns what has arrived."""
        got = []
        self.sock.setblocking(False)
        try:
            while True:
                got.append(self.sock.recv(65536))
        except BlockingIOError:
            return got
        finally:
            self.sock.settimeout(procs.patience(5))

    def silent(self, seconds=0.5):
        self.all()
        self.sock.settimeout(seconds)
        try:
            return not self.sock.recv(65536)
        except TimeoutError:
            return True
        finally:
            self.sock.settimeout(procs.patience(5))


class Player:
    def __init__(self, s, stream="s"):
        self.c, self.stream, self.session, self.way = Rtsp(s.p["rtsp"]), stream, (), {}

    def set_up(self, track=0, transport="RTP/AVP;multicast"):
        status, got, _ = self.c.ask("SETUP", self.c.url(self.stream, track), f"Transport: {transport}", *self.session)
        if status == 200:
            self.session = ("Session: " + got["session"].split(";")[0],)
            self.way[track] = dict(x.partition("=")[::2] for x in got["transport"].split(";"))
        return status

    def do(self, method):
        return self.c.ask(method, self.c.url(self.stream), *self.session)

    def member(self, track=0, rtcp=False):
        way = self.way[track]
        return Member(way["destination"], int(way["port"].split("-")[rtcp]))

    def close(self):
        self.c.sock.close()


def rows(s):
    return [x for x in s.api.clients() if x["type"] == "rtsp-play"]


def test_a_session(net, site):  # noqa: F811
    """One group for all players; media flow while one of them plays."""
    s = site(ON)
    a, b = Player(s), Player(s)
    assert all(p.set_up(t) == 200 for p in (a, b) for t in (0, 1))
    assert a.way == b.way
    way = a.way[0]
    assert "multicast" in way and way["destination"].startswith("239.7.") and way["ttl"] == "3"
    assert [a.way[t]["port"] for t in (0, 1)] == ["8600-8601", "8602-8603"]
    video, reports, audio = a.member(0), a.member(0, True), a.member(1)
    assert video.silent()
    status, got, _ = a.do("PLAY")
    assert status == 200
    info = [dict(x.partition("=")[::2] for x in y.split(";")) for y in got["rtp-info"].split(",")]
    first, ttl = video.next()
    assert ttl == 3 and first[8:12].hex() == way["ssrc"].lower()
    assert struct.unpack(">H", first[2:4])[0] == int(info[0]["seq"])
    assert struct.unpack(">H", audio.next()[0][2:4])[0] == int(info[1]["seq"])
    assert reports.next()[0][1] == 200, "no sender report"
    assert b.do("PLAY")[0] == 200 and b.do("PLAY")[0] == 200
    assert [x["transport"] for x in rows(s)] == ["multicast"] * 2
    assert all(x["state"] in ("COLLECT", "SEND") for x in rows(s))
    assert a.do("PAUSE")[0] == 200 and a.do("PAUSE")[0] == 200
    assert sorted(x["state"] == "PAUSED" for x in rows(s)) == [False, True]
    video.all()
    assert video.next(), "the other one stopped playing"
    b.close()
    assert s.api.wait_clients(2)
    assert video.silent() and audio.silent()
    assert a.do("PLAY")[0] == 200
    assert video.next() and a.do("GET_PARAMETER")[0] == 200
    assert a.do("TEARDOWN")[0] == 200
    assert video.silent() and audio.silent()
    a.close()
    assert s.wait_log("RTSP over UDP is idle", 5)


def test_groups(net, site, source):  # noqa: F811
    """Each stream has its own; if none is left: 461. Ended sessions leave nothing behind."""
    s = site("multicast { enabled on; range 239.7.0.8/31; port 8600; }", env={"SRS_WORKERS": "1"})
    for name in "tu":
        s.push(source, name, loop=True)
    s.api.wait_clients(3)
    p = [Player(s, x) for x in "stu"]
    assert [x.set_up() for x in p] == [200, 200, 461]
    assert {x.way[0]["destination"] for x in p[:2]} == {"239.7.0.8", "239.7.0.9"}
    assert p[2].set_up(0, "RTP/AVP/TCP;unicast;interleaved=0-1") == 200
    video = p[0].member()
    assert p[0].do("TEARDOWN")[0] == 200  # it had not played
    q = Player(s, "u")
    assert q.set_up() == 200 and q.way[0]["destination"] == p[0].way[0]["destination"]
    assert q.do("PLAY")[0] == 200 and video.next()
    s.api.kick(next(x["id"] for x in rows(s) if x.get("transport") == "multicast"))
    with pytest.raises(EOFError):
        q.c.more()
    assert video.silent()
    for x in p:
        x.close()


def test_not_where_it_is_off(net, site, srs, tmp_path, source):  # noqa: F811
    s = site()
    p = Player(s)
    assert p.set_up() == 461 and p.set_up(0, "RTP/AVP;multicast,RTP/AVP/TCP;unicast") == 200
    p.close()
    cert, port = Cert(tmp_path), free_port()
    s = srs(RTSP, f"""rtsp_server {{ enabled on; listen 127.0.0.1:{free_port()}; {ON}
https {{ enabled on; listen 127.0.0.1:{port}; key {cert.key}; cert {cert.cert}; }} }}""")
    s.push(source, loop=True)
    with Rtsp(port, cert.trust()) as c:
        assert c.ask("DESCRIBE", c.url("s"), "Accept: application/sdp")[0] == 200
        assert c.ask("SETUP", c.url("s", 0), "Transport: RTP/AVP;multicast")[0] == 461


@pytest.mark.parametrize("way", ("RTP/AVP;multicast", "RTP/AVP/TCP;unicast"))
def test_a_session_whose_stream_was_left(net, site, way):  # noqa: F811
    """TEARDOWN of the playing session leaves the stream: another session has nothing to play any more."""
    s = site(ON)
    p = Player(s)
    assert p.set_up(0, way) == 200
    one, p.session = p.session, ()
    assert p.set_up(0, way) == 200
    two, p.session = p.session, one
    assert p.do("PLAY")[0] == 200
    assert p.do("TEARDOWN")[0] == 200
    p.session = two
    assert p.do("PLAY")[0] == 455
    assert p.set_up(0, way) == 200 and p.do("PLAY")[0] == 200
    p.close()


def test_in_one_piece(net, site):  # noqa: F811
    s = site(ON)
    for words in ("PLAY PAUSE", "PLAY PAUSE PLAY PAUSE PLAY", "PLAY TEARDOWN", "PLAY"):
        p = Player(s)
        assert p.set_up() == 200
        p.c.sock.sendall("".join(f"{w} {p.c.url()} RTSP/1.0\r\nCSeq: 9\r\n{p.session[0]}\r\n\r\n"
                                 for w in words.split()).encode())
        p.close()
    s.api.wait_clients(1)
    assert s.wait_log(r"multicast of .* ends, sent", 5)


@pytest.mark.long
def test_ends_without_signs_of_life(net, site):  # noqa: F811
    s = site(ON + " session_timeout 10;")
    p = Player(s)
    assert p.set_up() == 200 and p.do("PLAY")[0] == 200
    video, began = p.member(), time.monotonic()
    with pytest.raises(EOFError):
        p.c.sock.settimeout(40)
        p.c.more()
    assert time.monotonic() - began > 24 and s.wait_log("no sign of life for 25000 ms", 1)
    assert video.silent()


# ---- known clients


@pytest.mark.needs("ffmpeg")
@pytest.mark.long
@pytest.mark.parametrize("workers", (1, 4))
def test_ffmpeg_twice_sent_once(net, site, tmp_path, workers):  # noqa: F811
    s = site(ON, env={"SRS_WORKERS": str(workers)})
    guide = Player(s)  # reports its group
    assert guide.set_up(0) == 200 and guide.set_up(1) == 200
    members = [guide.member(0), guide.member(1)]
    players = [tools.ffmpeg_frames(rtsp_url(s), tmp_path / f"{i}.out", tmp_path / f"{i}.frames", seconds=6,
                                   options=("-rtsp_transport", "udp_multicast")) for i in range(2)]
    assert wait_for(lambda: [x.get("transport") for x in rows(s)].count("multicast") >= 2, 10)
    for p in players:
        p.wait(40)
    want = [x[4] for x in tools.source_frames() if x[0] == "audio"] * 3
    for i, p in enumerate(players):
        assert len(tools.frame_list(tmp_path / f"{i}.frames", "video")) > 50, p.text()[-2000:]
        sound = [x[4] for x in tools.frame_list(tmp_path / f"{i}.frames", "audio")]
        assert len(sound) > 50, p.text()[-2000:]
        assert any(want[k:k + 40] == sound[:40] for k in range(len(want) - 40)), "audio has a gap or changes"
        assert "RTP: missed" not in p.text()
    guide.close()
    sent = int(s.wait_log(r"RTSP over UDP is idle, .* sent (\d+) packets", 10).group(1))
    got = [m.all() for m in members]
    assert all(got) and sent == sum(map(len, got)), "not each of them once"
    for track in got:
        seqs = [struct.unpack(">H", x[2:4])[0] for x in track]
        assert all(b == a + 1 & 0xFFFF for a, b in zip(seqs, seqs[1:]))


@pytest.mark.long
@pytest.mark.needs("gst-launch-1.0")
def test_gstreamer(net, site, tmp_path):  # noqa: F811
    s = site(ON)
    video, audio = tmp_path / "video.h264", tmp_path / "audio.aac"
    sink = "filesink buffer-mode=unbuffered location"
    p = tools.gst(f"rtspsrc location={rtsp_url(s)} protocols=udp-mcast name=s ! rtph264depay ! h264parse ! "
                  f"video/x-h264,stream-format=byte-stream ! {sink}={video} "
                  f"s. ! rtpmp4gdepay ! aacparse ! audio/mpeg,stream-format=adts ! {sink}={audio}",
                  tmp_path / "gst.out")
    assert wait_for(lambda: all(f.exists() and f.stat().st_size > 30000 for f in (video, audio)), 20), p.text()
    assert rows(s)[0]["transport"] == "multicast"
    p.end()
    assert tools.decode(video).count("error") <= 2
