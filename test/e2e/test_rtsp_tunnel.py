# SPDX-License-Identifier: MIT
"""RTSP inside of HTTP: a GET and a POST, or a WebSocket, on the ports of RTSP and of HTTP, with one worker and with several; and
invalid tunnels."""
import base64
import time

import pytest

import hostile_rtsp
from httpapi import Api
from procs import Proc, free_port, patience, wait_for
from rtspclient import Closed
from rtsptunnel import TYPE, Tunnel, WebSocket, connect, get, head, post
from webclient import Cert, once

KINDS = {"http": Tunnel, "ws": WebSocket}
PORTS = ("rtsp", "rtsps", "http", "https")


@pytest.fixture
def site(srs, tmp_path):
    """A server with RTSP and HTTP, plain and over TLS: s.p has its ports."""
    def start(glob="", server="", **how):
        cert = Cert(tmp_path)
        p = {k: free_port() for k in PORTS + ("api",)}
        at = {k: f"127.0.0.1:{v}" for k, v in p.items()}
        tls = f"key {cert.key}; cert {cert.cert};"
        s = srs("rtsp { enabled on; } http_remux { enabled on; }",
                f"""rtsp_server {{ enabled on; listen {at["rtsp"]}; udp_port {free_port() & ~1};
https {{ enabled on; listen {at["rtsps"]}; {tls} }} {server} }}
http_server {{ enabled on; listen {at["http"]}; https {{ enabled on; listen {at["https"]}; {tls} }} }}
http_api {{ enabled on; listen {at["api"]}; }} {glob}""", **how)
        s.p, s.api, s.trust = p, Api(p["api"]), cert.trust()
        s.tls = lambda port: s.trust if port.endswith("s") else None
        s.open = lambda kind, port="rtsp", **more: KINDS[kind](p[port], s.tls(port), **more)
        s.rtsp_url = f"rtsp://127.0.0.1:{p['rtsp']}/live/s"
        return s
    return start


def frames(c, n):
    """Reads this many more frames, without a gap."""
    last = {}
    for _ in range(n):
        channel, data = c.frame()
        if channel & 1:
            continue
        seq = int.from_bytes(data[2:4], "big")
        assert seq == (last.get(channel, seq - 1) + 1) & 0xffff, "a packet is missing"
        last[channel] = seq
    assert last


def alone(s, n=1):
    """Waits until only the publisher is left."""
    s.api.wait_clients(n)


@pytest.mark.parametrize("port", ["rtsp", *(pytest.param(x, marks=pytest.mark.long) for x in PORTS[1:])])
@pytest.mark.parametrize("kind", KINDS)
def test_plays(site, source, kind, port):
    s = site()
    s.push(source, loop=True, speed=3)
    c = s.open(kind, port)
    a = c.request("OPTIONS", "*")
    assert a.status == 200
    assert c.request("DESCRIBE", s.rtsp_url).status == 200
    assert c.setup(s.rtsp_url, 0, transport="RTP/AVP;unicast;client_port=5000-5001").status == 461, "UDP in a tunnel"
    c.play(s.rtsp_url)
    frames(c, 100)
    row = next(x for x in s.api.clients() if x["type"] == "rtsp-play")
    assert row["ip"] == "127.0.0.1" and row["send_bytes"] > 1000
    assert c.request("PAUSE", s.rtsp_url).status == 200
    assert c.request("GET_PARAMETER", s.rtsp_url).status == 200
    c.kept.clear()
    assert c.request("PLAY", s.rtsp_url).status == 200
    frames(c, 100)
    assert c.request("TEARDOWN", s.rtsp_url).status == 200
    c.kept.clear()
    c.session = None
    c.play(s.rtsp_url)
    frames(c, 20)
    c.close()
    alone(s)


def test_get_and_post_at_different_ports(site, source):
    s = site()
    s.push(source, loop=True, speed=3)
    for ports in (("rtsp", "http"), ("http", "rtsp")):
        c = Tunnel(tuple(s.p[x] for x in ports))
        c.play(s.rtsp_url)
        frames(c, 20)
        c.close()
    alone(s)


def test_base64_in_pieces_and_posts_one_after_the_other(site, source):
    s = site()
    s.push(source, loop=True, speed=3)
    c = s.open("http")
    up = base64.b64encode(c.words("OPTIONS", "*"))
    for i in range(len(up)):
        c.up.sendall(up[i:i + 1])
    assert c.answer().status == 200
    words = c.words("DESCRIBE", s.rtsp_url)
    for i in range(0, len(words), 5):  # each part with its own base64 padding, with line breaks between them
        c.up.sendall(base64.b64encode(words[i:i + 5]) + b"\r\n" * (i % 2))
    assert c.answer().status == 200
    c.post()
    c.play(s.rtsp_url)
    c.up.close()
    frames(c, 50)
    c.post()  # during playback
    assert c.request("PAUSE", s.rtsp_url).status == 200
    c.kept.clear()
    words = c.words("PLAY", s.rtsp_url)
    c.up = post(s.p["rtsp"], c.cookie, behind=base64.b64encode(words))  # in one packet with its header
    assert c.answer().status == 200
    frames(c, 50)
    c.down.close()
    c.up.settimeout(patience(5))
    assert c.up.recv(1) == b"", "its upstream half does not end with it"
    alone(s)


def test_the_second_get_is_refused(site, source):
    s = site()
    s.push(source, loop=True, speed=3)
    c = s.open("http", cookie="same")
    c.play(s.rtsp_url)
    for port in PORTS:
        sock, (answer, _) = get(s.p[port], "same", s.tls(port))
        assert " 409 " in answer
        assert sock.recv(1) == b""
    frames(c, 50)
    c.close()
    alone(s)
    c = s.open("http", cookie="same")
    c.play(s.rtsp_url)
    c.close()


@pytest.mark.long
def test_halves_end(site):
    """A GET without POST, a POST without GET, and a silent pair end after ten seconds."""
    s = site()
    began = time.monotonic()
    socks = [get(s.p[p], f"down-{p}", s.tls(p))[0] for p in PORTS]
    socks += [post(s.p[p], f"up-{p}", s.tls(p)) for p in PORTS]
    silent = Tunnel(s.p["rtsp"])
    for sock in socks + [silent.down, silent.up]:
        sock.settimeout(patience(15))
        assert sock.recv(1) == b""
    assert 8 < time.monotonic() - began < patience(14)
    assert s.wait_log("the POST of a tunnel, and no GET", 3, count=len(PORTS))


def test_turned_off(site, source):
    s = site(server="tunnel off;")
    s.push(source, loop=True, speed=3)
    for port in PORTS:
        sock = connect(s.p[port], s.tls(port))
        sock.sendall(f"GET /live/s HTTP/1.0\r\nx-sessioncookie: a\r\nAccept: {TYPE}\r\n\r\n".encode())
        assert " 404 " in head(sock)[0], port
        sock.close()


def test_http_goes_on(site, source):
    """Requests that start no tunnel work as usual, with a cookie or without."""
    s = site()
    s.push(source, loop=True, speed=3)
    assert once(s.p["http"], "/nothing", x_sessioncookie="abc", Accept="text/html").status == 404
    assert once(s.p["http"], "/nothing", "POST", body=b"x", x_sessioncookie="abc", Content_Type="text/plain").status in (404, 405)
    sock = connect(s.p["rtsp"])
    sock.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    assert " 404 " in head(sock)[0]
    assert sock.recv(1) == b""


def test_messages_of_a_websocket(site, source):
    s = site()
    s.push(source, loop=True, speed=3)
    c = s.open("ws")
    words = c.words("OPTIONS", "*") + c.words("OPTIONS", "*")
    for i in range(0, len(words), 7):  # cut anywhere, in fragments, with pings in between
        c.say(2 if i == 0 else 0, words[i:i + 7], fin=i + 7 >= len(words))
        c.say(9, b"%d" % i)
    assert c.answer().status == 200 and c.answer().status == 200
    c.play(s.rtsp_url)
    frames(c, 50)
    assert (10, b"0") in c.controls and (10, b"7") in c.controls
    c.say(8, b"\x03\xe8")
    with pytest.raises(Closed):
        while True:
            c.frame()
    assert c.controls[-1] == (8, b"\x03\xe8")
    alone(s)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_a_player_that_stops_reading_for_a_while(site, source, kind):
    """Its window is full for seconds: afterwards it gets whole packets, in order."""
    s = site()
    s.push(source, loop=True, speed=8)
    c = s.open(kind, rcvbuf=4096)
    c.play(s.rtsp_url)
    frames(c, 20)
    for _ in range(3):
        time.sleep(1)
        for _ in range(300):
            channel, data = c.frame()
            assert channel in (0, 1, 2, 3) and data[0] == 0x80 and len(data) <= 1500
    c.close()
    alone(s)


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.long), 4])
@pytest.mark.parametrize("kind", ["http", pytest.param("ws", marks=pytest.mark.long)])
def test_publishes(site, kind, workers):
    """Media come through a tunnel, too; with several workers they go to the stream's owner worker."""
    s = site(f"workers {workers};")
    for n in range(4):
        url = s.rtsp_url + str(n)
        player = connect(s.p["rtsp"])  # it is there first, so another worker may own the stream
        player.sendall(f"DESCRIBE {url} RTSP/1.0\r\nCSeq: 1\r\n\r\n".encode())
        c = s.open(kind, ("rtsp", "http", "rtsps", "https")[n])
        a = c.request("ANNOUNCE", url, {"Content-Type": "application/sdp"}, hostile_rtsp.SDP)
        assert a.status == 200, a
        for track in (0, 1):
            assert c.setup(url, track, transport="RTP/AVP/TCP;unicast;mode=record;"
                           f"interleaved={2 * track}-{2 * track + 1}").status == 200
        assert c.request("RECORD", url).status == 200
        for i in range(100):
            c.send(hostile_rtsp.rtp(i, b"\x65\x88" + bytes(3000), i * 3600, True))
        watch = s.watch(f"s{n}")
        for i in range(100, 200):
            c.send(hostile_rtsp.rtp(i, b"\x65\x88" + bytes(3000), i * 3600, True))
        assert watch.wait(lambda got: len(got) > 20, 5)
        row = next(x for x in s.api.clients() if x["type"] == "rtsp-publish")
        assert row["recv_bytes"] > 100000
        watch.stop()
        assert b" 200 OK" in player.recv(4096)
        player.close()
        c.close()
    assert wait_for(lambda: not any(x["type"].startswith("rtsp") for x in s.api.clients()), 5)


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
def test_four_workers(site, source, tls):
    """GET and POST arrive at different workers, and all go to the stream's, or play from a replica."""
    s = site("workers 4; workers_spread 4;")
    s.push(source, loop=True, speed=3)
    ports = ("rtsps", "https") if tls else ("rtsp", "http")
    all_of_them = [s.open(kind, port) for kind in KINDS for port in ports for _ in range(6)]
    for c in all_of_them:
        c.play(s.rtsp_url)
    rows = s.api.wait_clients(len(all_of_them) + 1)
    assert sum(r["type"] == "rtsp-play" for r in rows) == len(all_of_them)
    for c in all_of_them:
        frames(c, 50)
        if isinstance(c, Tunnel):
            c.post()
        assert c.request("GET_PARAMETER", s.rtsp_url).status == 200
    for c in all_of_them:
        c.close()
    alone(s)


# ---- real clients

@pytest.mark.needs("ffmpeg", "ffprobe")
@pytest.mark.long
@pytest.mark.parametrize("workers", [1, 4])
def test_ffmpeg(site, source, tmp_path, workers):
    s = site(f"workers {workers};")
    s.push(source, loop=True)
    for i, port in enumerate(("rtsp", "http")):
        log = Proc(["ffmpeg", "-hide_banner", "-nostdin", "-y", "-rtsp_transport", "http", "-i",
                    f"rtsp://127.0.0.1:{s.p[port]}/live/s", "-t", "3", "-c", "copy", "-copyinkf", "-f", "framecrc", "-"],
                   tmp_path / f"ff{i}.log")
        assert log.wait(20) == 0, log.text()
        text = log.text()
        assert "Video: h264" in text and "Audio: aac" in text, text
        assert sum(x.startswith("0,") for x in text.splitlines()) > 50, "video"
        assert sum(x.startswith("1,") for x in text.splitlines()) > 80, "audio"
        assert "missed" not in text and "error" not in text.lower(), text
    alone(s)


@pytest.mark.needs("gst-launch-1.0")
@pytest.mark.parametrize("url", ["rtsph://127.0.0.1:{rtsp}/live/s", pytest.param("rtsph://127.0.0.1:{http}/live/s", marks=pytest.mark.long),
                                 "rtsps://127.0.0.1:{rtsps}/live/s"], ids=["rtsp", "http", "rtsps"])
def test_gstreamer(site, source, tmp_path, url):
    s = site()
    s.push(source, loop=True, speed=1)
    pipe = f"rtspsrc location={url.format(**s.p)} name=s tls-validation-flags=0 protocols=tcp+http+tls " \
           "s. ! application/x-rtp,media=video ! rtph264depay ! h264parse ! fakesink num-buffers=60 sync=false " \
           "silent=false s. ! application/x-rtp,media=audio ! rtpmp4gdepay ! fakesink num-buffers=80 sync=false"
    gst = Proc(["gst-launch-1.0", "-v", *pipe.split()], tmp_path / "gst.log")
    assert gst.wait(60) == 0, gst.text()[-3000:] + s.log()[-3000:]  # it starts slowly next to other tests
    assert "video/x-h264" in gst.text() and "audio/mpeg" in gst.text()
    alone(s)


@pytest.mark.needs("ffmpeg")
def test_ffmpeg_over_tls(site, source, tmp_path):
    s = site()
    s.push(source, loop=True)
    ff = Proc(["ffmpeg", "-hide_banner", "-nostdin", "-y", "-i", f"rtsps://127.0.0.1:{s.p['rtsps']}/live/s", "-t", "1",
               "-c", "copy", "-copyinkf", "-f", "framecrc", "-"], tmp_path / "ff.log")
    assert ff.wait(20) == 0, ff.text()
    assert sum(x.startswith("0,") for x in ff.text().splitlines()) > 20
    alone(s)
