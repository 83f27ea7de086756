# SPDX-License-Identifier: MIT
"""WebRTC end to end, with our own load tool as the client: WHIP, WHEP, limits, kicks, one port for HTTP and TCP."""
import select
import socket
import threading
import time
import urllib.error
import urllib.request

import pytest

import flv
import hostile_rtc as h
import tools
from httpapi import Api
from procs import CLIP, SLOW, Proc, free_port, never, wait_for
from rtc import rtc_server
from test_bench_tools import last_object, run, tool

OFFER = """v=0
o=- 1 1 IN IP4 0.0.0.0
s=-
t=0 0
a=group:BUNDLE 0
m=video 9 UDP/TLS/RTP/SAVPF 102
c=IN IP4 0.0.0.0
a=ice-ufrag:abcd
a=ice-pwd:0123456789012345678901
a=fingerprint:sha-256 {}
a=setup:actpass
a=mid:0
a=recvonly
a=rtcp-mux
a=rtpmap:102 H264/90000
a=fmtp:102 packetization-mode=1;profile-level-id=42e01f;level-asymmetry-allowed=1
""".format(":".join(["AB"] * 32)).replace("\n", "\r\n")

AT_BOTH = pytest.mark.parametrize("workers", ["1", "4"])


@pytest.fixture
def source():
    """Without B-frames, which would be left out."""
    return flv.read(CLIP)


def ask(url, body=None, method="POST", headers=None):
    """Returns status, fields and body of a response."""
    r = urllib.request.Request(url, data=body.encode() if body else None, method=method,
                               headers={"Content-Type": "application/sdp", **(headers or {})})
    try:
        with urllib.request.urlopen(r, timeout=5) as got:
            return got.status, got.headers, got.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.headers, e.read().decode()


def play(s, n, seconds=1, stream="s"):
    code, text = run("sb_rtc_load", "-c", n, "-r", s.whep(stream), "-s", 0, "--duration", seconds, "--json")
    assert code == 0, text
    return last_object(text)


def check(got, n):
    assert got["alive"] == n and got["failed"] == 0 and got["lost"] == 0, got
    assert got["messages"] > n * 5 and got["first_packet_ms"]["count"] == n, got


@AT_BOTH
def test_players_of_an_rtmp_stream(srs, tmp_path, source, workers):
    s = rtc_server(srs, tmp_path, rtc="rtmp_to_rtc on;", env={"SRS_WORKERS": workers})
    s.push(source, loop=True)
    assert s.wait_log("video sh", 3)
    check(play(s, 6), 6)
    assert s.wait_log("DTLS done", 1, count=6) and s.wait_log("STUN done", 1, count=6)


@AT_BOTH
def test_players_of_a_webrtc_publisher(srs, tmp_path, workers):
    s = rtc_server(srs, tmp_path, env={"SRS_WORKERS": workers})
    Proc([tool("sb_rtc_load"), "-c", 1, "-r", s.whip(), "-i", CLIP, "-s", 0], tmp_path / "whip.log")
    assert s.wait_log("first packet of video", 3), s.log()[-2000:]
    check(play(s, 6), 6)
    assert {c["type"] for c in Api(s.api_port).clients()} == {"rtc-publish"}


def test_an_rsa_key_delays_no_client(srs, tmp_path, source):
    """Helper threads generate it and sign with it: as in every test, the end checks that the thread was never blocked."""
    s = rtc_server(srs, tmp_path, rtc="rtmp_to_rtc on;", server="ecdsa off;")
    s.push(source, loop=True)
    assert s.wait_log("video sh", 3)
    check(play(s, 12), 12)
    assert s.wait_log("DTLS done as server, cipher=ECDHE-RSA", 1, count=3)


def test_players_change_their_address(srs, tmp_path, source):
    """As phones do: they are probed, and playback continues."""
    s = rtc_server(srs, tmp_path, rtc="rtmp_to_rtc on;", env={"SRS_WORKERS": "4"})
    s.push(source, loop=True)
    assert s.wait_log("video sh", 3)
    code, text = run("sb_rtc_load", "-c", 6, "-r", s.whep(), "-s", 0, "--duration", 1.2, "--rebind", 0.3, "--json")
    got = last_object(text)
    assert code == 0 and got["alive"] == 6 and got["gap_ms"]["max"] < 700 * SLOW, got
    assert s.wait_log("session address change", 1, count=6)


@pytest.mark.long
def test_who_never_connects_keeps_no_stream(srs, tmp_path):
    """Its checks do not count as activity: after two seconds another publisher gets the stream, as after silence."""
    s = rtc_server(srs, tmp_path)
    first = h.Client(s.api_port, s.rtc_port, "s", True, query="")
    assert h.Client(s.api_port, s.rtc_port, "s", True, ip="127.0.0.2").status == 409
    until = time.monotonic() + 2.2
    while time.monotonic() < until:
        assert first.check()
        time.sleep(0.1)
    assert h.Client(s.api_port, s.rtc_port, "s", True, ip="127.0.0.2").connect().check()
    assert s.wait_log("takes over", 1)


@pytest.mark.long
def test_a_publisher_on_a_bad_line_is_whole_for_others(srs, tmp_path):
    """Lost packets are requested and retransmitted: others get all frames, and they decode."""
    s = rtc_server(srs, tmp_path, rtc="rtc_to_rtmp on;")
    Proc([tool("sb_rtc_load"), "-c", 1, "-r", s.whip(), "-i", CLIP, "-s", 0, "--loss", 5, "--reorder", 2],
         tmp_path / "whip.log")
    assert s.wait_log("first packet of video", 3), s.log()[-2000:]
    r = tools.run(["ffmpeg", "-v", "error", "-t", "8", "-i", f"http://127.0.0.1:{s.web_port}/live/s.flv", "-map", "0:v",
                   "-f", "framecrc", "-"], check=False)
    frames = [line for line in r.stdout.decode().splitlines() if not line.startswith("#")]
    assert len(frames) >= 190 and not r.stderr.strip(), (len(frames), r.stderr.decode()[-2000:])


def test_a_session_is_deleted_kicked_and_limited(srs, tmp_path):
    s = rtc_server(srs, tmp_path)
    base = f"http://127.0.0.1:{s.api_port}"
    status, fields, answer = ask(s.whep(), OFFER)
    assert status == 201 and "a=ice-lite" in answer and fields["ETag"]
    where = base + fields["Location"]
    api = Api(s.api_port)
    assert [(c["type"], c["state"], c["lag_ms"]) for c in api.clients()] == [("rtc-play", "COLLECT", 0)]
    assert ask(where.replace("token=", "token=x"), method="DELETE")[0] == 403
    assert ask(where, method="DELETE")[0] == 200
    api.wait_clients(0)
    assert ask(where, method="DELETE")[0] == 200
    assert ask(s.whep(), OFFER)[0] == 201
    api.kick(api.clients()[0]["id"])
    api.wait_clients(0)
    codes = [ask(s.whep(), OFFER)[0] for _ in range(65)]
    assert codes == [201] * 64 + [503]
    assert ask(s.whep(), OFFER)[1]["Retry-After"]


def test_http_and_tcp_have_one_port(srs):
    """The first byte decides; a connection that does not begin with an ICE check is closed."""
    web, udp = free_port(), free_port()
    s = srs(vhost="rtc { enabled on; }",
            glob=f"""http_server {{ enabled on; listen 127.0.0.1:{web}; }}
rtc_server {{ enabled on; listen {udp}; protocol all; tcp {{ enabled on; listen 127.0.0.1:{web}; }} }}""")
    with socket.create_connection(("127.0.0.1", web), 5) as c:
        c.sendall(b"\0\4what")
        assert c.recv(1) == b""
    assert s.wait_log("no check of ICE in the first frame", 2)
    with socket.create_connection(("127.0.0.1", web), 5) as c:
        assert never(lambda: False, 0.05) # it sends nothing at first
        c.sendall(b"GET /none HTTP/1.1\r\nHost: a\r\n\r\n")
        assert c.recv(12) == b"HTTP/1.1 404"


def udp_ports():
    """UDP ports in use."""
    lines = [line for name in ("udp", "udp6") for line in open(f"/proc/net/{name}").read().splitlines()[1:]]
    return {int(line.split()[1].split(":")[1], 16) for line in lines}


def rtc_conf(ports, more=""):
    """The configuration of rtc_server() in rtc.py, with other ports."""
    return f"rtc_server {{ enabled {'on' if ports else 'off'}; listen {' '.join(map(str, ports or [8000]))}; " \
           f"candidate 127.0.0.1; {more} }}"


@AT_BOTH
def test_listeners_move_by_reload(srs, workers):
    """New clients get the new port; the old one stays open while clients use it."""
    api, a, b, c = (free_port() for _ in range(4))
    http = f"http_api {{ enabled on; listen 127.0.0.1:{api}; }}\n"
    vhost = "rtc { enabled on; }"
    whep = f"http://127.0.0.1:{api}/rtc/v1/whep/?app=live&stream=s"
    s = srs(vhost=vhost, glob=http + rtc_conf([a]), env={"SRS_WORKERS": workers})
    status, fields, answer = ask(whep, OFFER)
    assert status == 201 and f"127.0.0.1 {a} typ host" in answer
    s.reload(vhost, glob=http + rtc_conf([b, c], "reuseport 6;"))
    assert s.wait_log(f"listening on {b} for WebRTC", 2) and s.wait_log(f"listening on {c} for WebRTC", 2)
    status, _, answer = ask(whep, OFFER)
    assert status == 201 and f"127.0.0.1 {b} typ host" in answer
    assert udp_ports() >= {a, b, c}
    s.reload(vhost, glob=http + rtc_conf([]))
    assert ask(whep, OFFER)[0] == 404
    for port in (a, b, c):
        assert s.wait_log(f"no longer listening on .*{port} for WebRTC", 4)
    assert wait_for(lambda: not udp_ports() & {a, b, c}, 4)  # other workers may be about to
    s.reload(vhost, glob=http + rtc_conf([a]))
    status, _, answer = ask(whep, OFFER)
    assert status == 201 and f"127.0.0.1 {a} typ host" in answer and a in udp_ports()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("0.0.0.0", c))
        s.reload(vhost, glob=http + rtc_conf([c]), ok=False)
    assert ask(whep, OFFER)[0] == 201 and a in udp_ports()


@pytest.mark.long
@AT_BOTH
def test_who_plays_goes_on_when_listeners_move(srs, tmp_path, source, workers):
    a, b = free_port(), free_port()
    s = rtc_server(srs, tmp_path, rtc="rtmp_to_rtc on;", env={"SRS_WORKERS": workers})
    s.push(source, loop=True)
    assert s.wait_log("video sh", 3)
    p = Proc([tool("sb_rtc_load"), "-c", 4, "-r", s.whep(), "-s", 0, "--duration", 8, "--json"], tmp_path / "load.log")
    assert s.wait_log("DTLS done", 5, count=4)
    s.reload(f"rtc {{ enabled on; rtmp_to_rtc on; }}\nhttp_remux {{ enabled on; }}\n",
             glob=rtc_conf([a, b]) + f"http_api {{ enabled on; listen 127.0.0.1:{s.api_port}; }}\n"
             f"http_server {{ enabled on; listen 127.0.0.1:{s.web_port}; dir {tmp_path}/html; }}")
    assert s.wait_log(f"listening on {a} for WebRTC", 2)
    assert p.wait(20) == 0
    got = last_object((tmp_path / "load.log").read_text())
    assert got["failed"] == 0 and got["lost"] == 0 and got["gap_ms"]["max"] < 500 and got["messages"] > 200, got
    assert s.wait_log(f"no longer listening on .*{s.rtc_port} for WebRTC", 5)


class Narrow(threading.Thread):
    """A relay to a UDP port with limited bandwidth in one direction, which drops the excess."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.to, self.rate, self.ended = ("127.0.0.1", port), 10 ** 7, False
        self.front, self.back = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
        self.front.bind(("127.0.0.1", 0))
        self.port = self.front.getsockname()[1]
        self.start()

    def run(self):
        client, room, last = None, 0.0, time.monotonic()
        while not self.ended:
            for s in select.select([self.front, self.back], [], [], 0.2)[0]:
                data, who = s.recvfrom(2048)
                now = time.monotonic()
                room, last = min(self.rate * 0.1, room + (now - last) * self.rate), now
                if s is self.front:
                    client = who
                    self.back.sendto(data, self.to)
                elif client and (room >= len(data) or not 128 <= data[0] < 192):
                    room -= len(data)
                    self.front.sendto(data, client)


@pytest.mark.long
def test_a_thin_line_gets_less(srs, tmp_path, source):
    """Key frames only while the link is slow, everything when it recovers; the API shows it."""
    s = rtc_server(srs, tmp_path, rtc="rtmp_to_rtc on;")
    s.push(source, loop=True)
    assert s.wait_log("video sh", 3)
    way, api = Narrow(s.rtc_port), Api(s.api_port)
    Proc([tool("sb_rtc_load"), "-c", 1, "-r", s.whep("s", f"&eip=127.0.0.1:{way.port}"), "-s", 0, "--duration", 120],
         tmp_path / "load.log")

    def player():
        return next(c for c in api.clients() if c["type"] == "rtc-play")

    def gets(what):
        return player()["rtc"]["pictures"] == what
    assert wait_for(lambda: any(c["type"] == "rtc-play" for c in api.clients()), 5) and wait_for(lambda: gets("all"), 5)
    assert s.wait_log("first packet to", 5)
    way.rate = 6000
    assert wait_for(lambda: gets("keys"), 30), api.clients()
    assert wait_for(lambda: player()["window_full_ms"] > 0, 3), player()
    assert player()["state"] == "WINDOW_FULL" and player()["dropped_packets"] > 0, player()
    way.rate = 10 ** 7
    assert wait_for(lambda: gets("all"), 60), api.clients()
    assert s.wait_log("video frames sent for its path: keys", 2)
    way.ended = True
