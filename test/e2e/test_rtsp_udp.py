# SPDX-License-Identifier: MIT
"""RTSP with media as datagrams: their destination, source and duration; and over a lossy network."""
import contextlib
import socket
import struct
import time

import pytest

import lossy
import procs
import tools
from httpapi import Api
from procs import Proc, free_port, never, wait_for
from test_rtsp_conf import RTSP, Rtsp
from webclient import Cert


def free_pairs(n):
    """Returns an even UDP port such that it and the 2n - 1 ports above are free."""
    for _ in range(100):
        port = free_port() & ~1
        try:
            for i in range(2 * n):
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                    s.bind(("127.0.0.1", port + i))
            return port
        except OSError:
            continue
    raise RuntimeError("no free ports")


@pytest.fixture
def site(srs, source):
    """A server with a stream; .p are its ports."""
    def start(more="", glob="", push=True, vhost=RTSP, **how):
        p = {"rtsp": free_port(), "api": free_port(), "udp": free_pairs(4)}
        s = srs(vhost, f"""rtsp_server {{ enabled on; listen 127.0.0.1:{p["rtsp"]}; udp_port {p["udp"]}; {more} }}
http_api {{ enabled on; listen 127.0.0.1:{p["api"]}; }}
{glob}""", **how)
        s.p, s.api = p, Api(p["api"])
        if push:
            s.push(source, loop=True)
        return s
    return start


def rtsp_url(s, stream="s"):
    return f"rtsp://127.0.0.1:{s.p['rtsp']}/live/{stream}"


class Player:
    """A player that receives datagrams: two ports for each track."""

    def __init__(self, s, bind=None, tracks=(0, 1), stream="s"):
        self.c = Rtsp(s.p["rtsp"], bind=bind)
        self.stream, self.tracks, self.session = stream, tracks, ()
        self.socks = {t: self.pair(bind or "127.0.0.1") for t in tracks}
        self.server = {}

    @staticmethod
    def pair(host):
        while True:
            a = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            a.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
            a.bind((host, 0))
            b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            try:
                assert a.getsockname()[1] % 2 == 0
                b.bind((host, a.getsockname()[1] + 1))
            except (OSError, AssertionError):
                a.close()
                b.close()
                continue
            a.settimeout(procs.patience(5))
            b.settimeout(procs.patience(5))
            return a, b

    def port(self, track):
        return self.socks[track][0].getsockname()[1]

    def set_up(self, track, ports=None, more=""):
        ports = ports or f"{self.port(track)}-{self.port(track) + 1}"
        status, got, _ = self.c.ask("SETUP", self.c.url(self.stream, track),
                                    f"Transport: RTP/AVP;unicast{more};client_port={ports}", *self.session)
        if status == 200:
            self.session = ("Session: " + got["session"].split(";")[0],)
            self.server[track] = dict(x.partition("=")[::2] for x in got["transport"].split(";"))
        return status, got

    def play(self):
        assert self.c.ask("DESCRIBE", self.c.url(self.stream), "Accept: application/sdp")[0] == 200
        for t in self.tracks:
            assert self.set_up(t)[0] == 200
        return self.go()

    def go(self):
        assert self.c.ask("PLAY", self.c.url(self.stream), *self.session)[0] == 200
        return self

    def rtp(self, track=0):
        return self.socks[track][0].recv(65536)

    def fresh(self, track=0):
        """Returns the next packet that arrives from now on."""
        s = self.socks[track][0]
        s.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while s.recv(65536):
                pass
        s.settimeout(procs.patience(5))
        return s.recv(65536)

    def silent(self, track=0, seconds=0.5):
        """Reads what was already sent; then nothing must arrive."""
        s = self.socks[track][0]
        s.settimeout(seconds)
        until = time.monotonic() + procs.patience(5)
        try:
            while time.monotonic() < until:
                s.recv(65536)
        except TimeoutError:
            return True
        finally:
            s.settimeout(procs.patience(5))
        return False

    def report(self, track=0, lost=0, fraction=0, jitter=0):
        """A receiver report."""
        rr = struct.pack(">BBHIIIIIII", 0x81, 201, 7, 99, int(self.server[track].get("ssrc", "0"), 16),
                         fraction << 24 | lost, 0, jitter, 0, 0)
        self.socks[track][1].sendto(rr, ("127.0.0.1", self.server_port(track) + 1))

    def server_port(self, track=0):
        return int(self.server[track]["server_port"].split("-")[0])

    def close(self):
        self.c.sock.close()
        for a, b in self.socks.values():
            a.close()
            b.close()


def test_plays_to_the_ports_of_the_client(site):
    s = site()
    a = Player(s).play()
    assert s.p["udp"] <= a.server_port() < s.p["udp"] + 8 and a.server_port() % 2 == 0
    assert a.server[0]["client_port"] == f"{a.port(0)}-{a.port(0) + 1}" and "destination" not in a.server[0]
    for t in (0, 1):
        first = a.rtp(t)
        assert first[0] == 0x80 and first[8:12].hex() == a.server[t]["ssrc"].lower()
        report = a.socks[t][1].recv(2000)
        assert report[1] == 200 and report[4:8] == first[8:12], "no sender report at once"
        seq = struct.unpack(">H", first[2:4])[0]
        for _ in range(50):
            p = a.rtp(t)
            seq = seq + 1 & 0xFFFF
            assert struct.unpack(">H", p[2:4])[0] == seq and len(p) <= 1412
    row = next(x for x in s.api.clients() if x["type"] == "rtsp-play")
    assert row["transport"] == "udp"
    a.report(0, lost=7, jitter=900)
    a.report(1, lost=2)
    assert wait_for(lambda: next(x for x in s.api.clients() if x["type"] == "rtsp-play")["lost_packets"] == 9, 5)
    assert next(x for x in s.api.clients() if x["type"] == "rtsp-play")["jitter_ms"] == 10
    b = Player(s, bind="127.0.0.2").play()  # another address, the same stream
    assert b.rtp(0)[8:12].hex() == a.server[0]["ssrc"].lower()
    assert a.c.ask("TEARDOWN", None, *a.session)[0] == 200
    assert a.silent(0) and a.silent(1)
    assert b.rtp(1)
    a.close()
    b.close()  # it never sent a report, so it ends with its connection
    s.api.wait_clients(1)


def test_only_to_who_asked(site):
    """Nothing is sent to a system port, to another address, or to two clients at one port."""
    s = site()
    a, b = Player(s), Player(s)
    assert a.c.ask("DESCRIBE", a.c.url("s"), "Accept: application/sdp")[0] == 200
    assert a.set_up(0, "80-81")[0] == 461
    victim = Player.pair("127.0.0.3")
    port = victim[0].getsockname()[1]
    assert a.set_up(0, more=f";destination=127.0.0.3;port={port}")[0] == 200
    assert a.set_up(1)[0] == 200
    assert b.set_up(0, f"{a.port(0)}-{a.port(0) + 1}")[0] == 461
    assert b.c.ask("SETUP", b.c.url("s", 0), "Transport: RTP/AVP/TCP;unicast;interleaved=0-1")[0] == 200
    a.go()
    assert a.rtp(0) and a.rtp(1)
    spoof = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    spoof.bind(("127.0.0.3", 0))
    for _ in range(20):  # from another address: it opens no NAT mapping
        spoof.sendto(b"\x80\x60" + bytes(20), ("127.0.0.1", a.server_port()))
    victim[0].settimeout(0.5)
    with pytest.raises(TimeoutError):
        victim[0].recv(2000)
    spoof.settimeout(0.2)
    with pytest.raises(TimeoutError):
        spoof.recv(2000)
    assert a.rtp(0)
    for x in (spoof, *victim):
        x.close()
    a.close()
    b.close()


def test_a_router_gives_another_port(site):
    """Its own packets show where it is; only until media arrive from it, and once."""
    s = site()
    a = Player(s, tracks=(0,))
    assert a.set_up(0)[0] == 200
    behind = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    behind.bind(("127.0.0.1", 0))
    behind.settimeout(procs.patience(5))
    behind.sendto(b"\xfe\xed\xfa\xce", ("127.0.0.1", a.server_port()))
    a.go()
    assert behind.recv(2000)[0] == 0x80
    again = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    again.bind(("127.0.0.1", 0))
    again.sendto(b"\xfe\xed\xfa\xce", ("127.0.0.1", a.server_port()))
    again.settimeout(0.5)
    with pytest.raises(TimeoutError):
        again.recv(2000)
    assert behind.recv(2000) and a.silent(0, 0.2)
    a.close()
    behind.close()
    again.close()


def test_not_below_tls(srs, tmp_path, source):
    cert, port = Cert(tmp_path), free_port()
    s = srs(RTSP, f"""rtsp_server {{ enabled on; listen 127.0.0.1:{free_port()};
https {{ enabled on; listen 127.0.0.1:{port}; key {cert.key}; cert {cert.cert}; }} }}""")
    s.push(source, loop=True)
    with Rtsp(port, cert.trust()) as c:
        assert c.ask("DESCRIBE", c.url("s"), "Accept: application/sdp")[0] == 200
        assert c.ask("SETUP", c.url("s", 0), "Transport: RTP/AVP;unicast;client_port=5000-5001")[0] == 461
        assert c.ask("SETUP", c.url("s", 0), "Transport: RTP/AVP;unicast;client_port=5000-5001,"
                     "RTP/AVP/TCP;unicast;interleaved=0-1")[0] == 200


def test_transports_and_ports_in_use(site, srs):
    s = site("transports tcp;")
    a = Player(s)
    assert a.set_up(0)[0] == 461
    assert a.c.ask("SETUP", a.c.url("s", 0), "Transport: RTP/AVP/TCP;unicast;interleaved=0-1")[0] == 200
    a.close()
    taken = []
    try:
        s = site(env={"SRS_WORKERS": "1"})
        taken.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        taken[0].bind(("127.0.0.1", s.p["udp"] + 1))
        a = Player(s)
        assert a.set_up(0)[0] == 461
        assert s.wait_log(r"gets no datagrams, it may try another transport", 5)
        taken.pop().close()
        a.play()  # now it is possible
        assert a.rtp(0)
        a.close()
    finally:
        for x in taken:
            x.close()


@pytest.mark.long
def test_ends_without_signs_of_life(site):
    """A session is kept alive by requests or reports; its connection may end earlier."""
    s = site("session_timeout 10;")
    mute, talks, alone = Player(s).play(), Player(s).play(), Player(s).play()
    alone.report(0, lost=1)
    assert wait_for(lambda: any(x.get("lost_packets") for x in s.api.clients()), 5)
    alone.c.sock.close()
    until, gone = time.monotonic() + 32, None
    while time.monotonic() < until:
        talks.c.ask("GET_PARAMETER", None, *talks.session)
        alone.report(0)
        if gone is None and mute.silent(0, 1.5):
            gone = time.monotonic()
        time.sleep(0.5)
    assert gone and s.wait_log("no sign of life for 25000 ms", 1)
    s.api.wait_clients(3)  # with the publisher
    for p in (talks, alone):
        assert p.fresh(0)
    for p in (mute, talks, alone):
        p.close()


# ---- known clients


@pytest.mark.long
@pytest.mark.needs("ffmpeg")
def test_ffmpeg_gets_every_frame(site, tmp_path):
    s = site()
    out = tmp_path / "frames"
    p = tools.ffmpeg_frames(rtsp_url(s), tmp_path / "ffmpeg.out", out, seconds=5,
                            options=("-rtsp_transport", "udp"))
    p.wait(30)
    for kind in ("video", "audio"):
        got = [x[4] for x in tools.frame_list(out, kind)]
        assert len(got) > 50, p.text()[-2000:]
    sound = [x[4] for x in tools.frame_list(out, "audio")]
    want = [x[4] for x in tools.source_frames() if x[0] == "audio"] * 2
    assert any(want[i:i + 40] == sound[:40] for i in range(len(want) - 40)), "audio has a gap or changes"
    assert "RTP: missed" not in p.text() and "max delay reached" not in p.text()


@pytest.mark.long
@pytest.mark.needs("gst-launch-1.0")
def test_gstreamer(site, tmp_path):
    s = site()
    video, audio = tmp_path / "video.h264", tmp_path / "audio.aac"
    sink = "filesink buffer-mode=unbuffered location"
    p = tools.gst(f"rtspsrc location={rtsp_url(s)} protocols=udp name=s ! rtph264depay ! h264parse ! "
                  f"video/x-h264,stream-format=byte-stream ! {sink}={video} "
                  f"s. ! rtpmp4gdepay ! aacparse ! audio/mpeg,stream-format=adts ! {sink}={audio}",
                  tmp_path / "gst.out")
    assert wait_for(lambda: all(f.exists() and f.stat().st_size > 30000 for f in (video, audio)), 20), p.text()
    row = next(x for x in s.api.clients() if x["type"] == "rtsp-play")
    assert row["transport"] == "udp"
    p.end()
    assert tools.decode(video).count("error") <= 2


@pytest.mark.needs("ffmpeg")
def test_ffmpeg_publishes(site, tmp_path):
    """Its datagrams are the stream; those of others at the same port are not."""
    s = site(push=False)
    p = Proc(["ffmpeg", "-nostdin", "-loglevel", "warning", "-re", "-stream_loop", "-1", "-i", procs.SOURCE,
              "-c", "copy", "-rtsp_transport", "udp", "-f", "rtsp", rtsp_url(s)], tmp_path / "publish.out")
    assert wait_for(lambda: any(x.get("transport") == "udp" for x in s.api.clients()), 10), p.text()
    port = int(s.wait_log(r"RTSP over UDP uses ports (\d+)-", 5).group(1))
    strangers = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
    strangers[0].bind(("127.0.0.3", 0))
    strangers[1].bind(("127.0.0.1", 0))
    play = tools.ffmpeg_frames(s.url(), tmp_path / "play.out", tmp_path / "frames", seconds=2.5)
    for i in range(100):
        for x in strangers:
            x.sendto(struct.pack(">BBHII", 0x80, 96, i, i, i) + bytes(100), ("127.0.0.1", port))
        time.sleep(0.005)
    play.wait(30)
    want = [x[4] for x in tools.source_frames() if x[0] == "audio"] * 3
    sound = [x[4] for x in tools.frame_list(tmp_path / "frames", "audio")]
    assert len(sound) > 80 and any(want[i:i + 60] == sound[:60] for i in range(len(want) - 60))
    assert len(tools.frame_list(tmp_path / "frames", "video")) > 40
    row = next(x for x in s.api.clients() if x["publish"])
    assert row["type"] == "rtsp-publish" and row["lost_packets"] == 0
    p.end()
    for x in strangers:
        x.close()
    s.api.wait_clients(0)
    rests = s.wait_log(r"RTSP over UDP is idle, .* received (\d+), 0 lost to a full buffer, (\d+) from unknown addresses", 5)
    assert int(rests.group(1)) > 150 and int(rests.group(2)) > 75


# ---- a lossy network


def over_lossy_wire(tmp_path, srs, source_path, seconds, workers):
    """ffmpeg plays on the other side of it; returns what arrived, by media."""
    with lossy.wire(tmp_path) as (here, there):
        s = srs(RTSP, f"""rtsp_server {{ enabled on; listen {lossy.A}:8554; udp_port 8560; }}""",
                begin=False, env={"SRS_WORKERS": str(workers)})
        s.wrap = here
        s.start(wait=False)
        assert s.wait_log(rf"listening on {lossy.A}:8554", 10)
        push = Proc([*here, "ffmpeg", "-nostdin", "-loglevel", "error", "-re", "-stream_loop", "-1", "-i", source_path,
                     "-c", "copy", "-f", "flv", s.url()], tmp_path / "push.out")
        assert s.wait_log("client identified, type=fmle-publish", 10)
        out = tmp_path / "frames"
        play = Proc([*there, "ffmpeg", "-nostdin", "-loglevel", "info", "-y", "-rtsp_transport", "udp", "-i",
                     f"rtsp://{lossy.A}:8554/live/s", "-t", str(seconds), "-c", "copy", "-copyinkf",
                     "-f", "framemd5", out],
                    tmp_path / "play.out")
        play.wait(seconds + 40)
        push.end()
        text = s.log()
        s.stop()
        s.proc = None
    assert "no sign of life" not in text
    return {k: tools.frame_list(out, k) for k in ("video", "audio")}, play.text()


def check_lossy(got, said, seconds):
    """Audio is complete except for lost packets; video continues to the end."""
    want = {x[4] for x in tools.source_frames() if x[0] == "audio"}
    sound = [x[4] for x in got["audio"]]
    assert len(sound) > 30 * seconds, said[-2000:]
    assert len([x for x in sound if x in want]) >= len(sound) * 0.97
    assert len(got["video"]) > 10 * seconds, said[-2000:]
    assert "RTP: missed" in said, "nothing was lost, so the test proves nothing"


@pytest.mark.needs("ffmpeg", "ip")
@pytest.mark.long
@pytest.mark.parametrize("workers", (1, 4))
def test_over_a_network_that_loses(srs, tmp_path, workers):
    if not lossy.there():
        pytest.skip("network namespaces need root")
    got, said = over_lossy_wire(tmp_path, srs, procs.SOURCE, 8, workers)
    check_lossy(got, said, 8)


@pytest.mark.needs("ffmpeg", "ip")
@pytest.mark.long
def test_publish_over_a_network_that_loses(srs, tmp_path):
    """Audio is complete except for lost packets; incomplete frames and those that refer to them are left out."""
    if not lossy.there():
        pytest.skip("network namespaces need root")
    with lossy.wire(tmp_path, loss=0.01) as (here, there):
        s = srs(RTSP, f"rtsp_server {{ enabled on; listen {lossy.A}:8554; udp_port 8560; }}", begin=False)
        s.wrap = here
        s.start(wait=False)
        assert s.wait_log(rf"listening on {lossy.A}:8554", 10)
        push = Proc([*there, "ffmpeg", "-nostdin", "-loglevel", "error", "-re", "-stream_loop", "-1", "-i",
                     procs.SOURCE, "-c", "copy", "-rtsp_transport", "udp", "-f", "rtsp",
                     f"rtsp://{lossy.A}:8554/live/s"], tmp_path / "push.out")
        assert s.wait_log("client identified, type=publish", 10), push.text()
        out = tmp_path / "frames"
        play = Proc([*here, "ffmpeg", "-nostdin", "-loglevel", "info", "-y", "-i", s.url(), "-t", "8", "-c", "copy",
                     "-f", "framemd5", out], tmp_path / "play.out")
        play.wait(40)
        push.end()
        assert s.wait_log(r"RTSP publisher of .* lost=[1-9]\d*, reordered=[1-9]", 10), s.log()[-2000:]
        s.stop()
        s.proc = None
    want = {x[4] for x in tools.source_frames() if x[0] == "audio"}
    sound = [x[4] for x in tools.frame_list(out, "audio")]
    assert len(sound) > 200 and all(x in want for x in sound)
    assert len(tools.frame_list(out, "video")) > 20


@pytest.mark.long
@pytest.mark.needs("ffmpeg", "ip")
def test_three_minutes_over_a_network_that_loses(srs, tmp_path):
    if not lossy.there():
        pytest.skip("network namespaces need root")
    got, said = over_lossy_wire(tmp_path, srs, procs.SOURCE, 180, 4)
    check_lossy(got, said, 180)
