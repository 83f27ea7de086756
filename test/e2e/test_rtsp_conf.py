# SPDX-License-Identifier: MIT
"""RTSP configuration: listeners, authorization, changes by reloads, the API."""
import base64
import contextlib
import ctypes
import os
import socket
import struct
import threading
import time

import pytest

import procs
from httpapi import Api, Backend
from procs import free_port, wait_for
from test_proxies import BAD, GOOD, refused, v1, v2
from webclient import Cert

RTSP = "rtsp { enabled on; }"
UNPRIVILEGED = "/proc/sys/net/ipv4/ip_unprivileged_port_start"
TCP = "Transport: RTP/AVP/TCP;unicast;interleaved=0-1"


class Rtsp:
    """One connection: a request at a time, and its response; counts frames in between."""

    def __init__(self, port, tls=None, host="127.0.0.1", header=b"", bind=None):
        self.sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        self.sock.settimeout(procs.patience(10))
        if bind:
            self.sock.bind((bind, 0))
        self.sock.connect((host, port))
        self.sock.sendall(header)
        if tls:
            self.sock = tls.wrap_socket(self.sock, server_hostname="localhost")
        self.port, self.host, self.buf, self.cseq, self.frames = port, host, b"", 0, 0

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.sock.close()

    def url(self, stream="s", track=None, param=""):
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"rtsp://{host}:{self.port}/live/{stream}{param}" + ("" if track is None else f"/trackID={track}")

    def more(self):
        got = self.sock.recv(65536)
        if not got:
            raise EOFError("the server closed")
        self.buf += got

    def need(self, n):
        while len(self.buf) < n:
            self.more()

    def frame(self):
        self.need(4)
        n = 4 + struct.unpack(">H", self.buf[2:4])[0]
        self.need(n)
        self.buf, self.frames = self.buf[n:], self.frames + 1

    def ask(self, method, url=None, *fields):
        """Returns the status, the fields in lower case, the body."""
        self.cseq += 1
        lines = [f"{method} {url or self.url()} RTSP/1.0", f"CSeq: {self.cseq}", *fields]
        self.sock.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.need(1)
        while self.buf[:1] == b"$":
            self.frame()
            self.need(1)
        while b"\r\n\r\n" not in self.buf:
            self.more()
        head, self.buf = self.buf.split(b"\r\n\r\n", 1)
        first, *rest = head.decode().split("\r\n")
        got = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in rest)}
        size = int(got.get("content-length", 0))
        self.need(size)
        body, self.buf = self.buf[:size], self.buf[size:]
        assert got["cseq"] == str(self.cseq)
        return int(first.split()[1]), got, body

    def play(self, stream="s", param=""):
        """Plays both tracks over TCP; returns when the first frame arrives."""
        status, _, body = self.ask("DESCRIBE", self.url(stream, param=param), "Accept: application/sdp")
        assert status == 200, status
        session = ()
        for track in range(body.count(b"m=")):
            status, got, _ = self.ask("SETUP", self.url(stream, track), TCP, *session)
            assert status == 200, status
            session = ("Session: " + got["session"].split(";")[0],)
        status, _, _ = self.ask("PLAY", self.url(stream, param=param), *session)
        assert status == 200, status
        self.frame()
        return self


@pytest.fixture
def site(srs, tmp_path):
    """A server with RTSP at `plain` and `tls`, at `proxied` and `tls_proxied` behind a proxy, and with its API."""
    def start(vhost=RTSP, glob="", more="", **how):
        glob += " exporter { enabled on; listen 127.0.0.1:%d; }" % free_port()
        cert = Cert(tmp_path)
        p = {k: free_port() for k in ("plain", "tls", "proxied", "tls_proxied", "api")}
        at = {k: f"127.0.0.1:{v}" for k, v in p.items()}
        s = srs(vhost, f"""rtsp_server {{ enabled on; transports tcp; listen {at["plain"]} {at["proxied"]} proxy_protocol;
https {{ enabled on; listen {at["tls"]} {at["tls_proxied"]} proxy_protocol; key {cert.key}; cert {cert.cert}; }}
{more} }}
http_api {{ enabled on; listen {at["api"]}; }}
{glob}""", **how)
        s.p, s.trust, s.trust_file, s.api = p, cert.trust(), cert.cert, Api(p["api"])
        return s
    return start


def rewrite(s, *changes):
    text = open(s.conf_path).read()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    with open(s.conf_path, "w") as f:
        f.write(text)


def test_plays_at_each_endpoint(site, source):
    s = site()
    s.push(source, loop=True)
    for port, tls, header in (("plain", None, b""), ("tls", s.trust, b""), ("proxied", None, v1(GOOD)),
                              ("tls_proxied", s.trust, v2(GOOD))):
        with Rtsp(s.p[port], tls, header=header) as c:
            status, got, _ = c.ask("OPTIONS")
            assert status == 200 and "DESCRIBE" in got["public"]
            c.play()
            row = next(x for x in s.api.clients() if x["type"] == "rtsp-play")
            assert row["ip"] == (GOOD if header else "127.0.0.1") and row["publish"] is False
            assert row["name"] == "s" and row["url"] == "/live/s" and row["tcUrl"].startswith("rtsp://127.0.0.1")
            assert row["transport"] == "tcp" and row["lost_packets"] == 0 and row["jitter_ms"] == 0
    s.api.wait_clients(1)
    assert s.wait_log(rf"RTSP client ip={GOOD}:57005, ", 3) and s.wait_log(rf"RTSPS client ip={GOOD}:57005, ", 3)


def test_of_six(srs, source):
    port, six = free_port(), free_port()
    s = srs(RTSP, f"rtsp_server {{ enabled on; transports tcp; listen {port} [::1]:{six}; }}")
    s.push(source, loop=True)
    for host, at in (("127.0.0.1", port), ("::1", port), ("::1", six)):
        with Rtsp(at, host=host) as c:
            c.play()


def test_rules_see_who_is_behind(site, source):
    s = site(f"{RTSP} security {{ enabled on; allow publish all; allow play all; deny play {BAD}; }}", "trusted_proxies 127.0.0.1;")
    s.push(source, loop=True)
    for port, tls in (("proxied", None), ("tls_proxied", s.trust)):
        for ip, want in ((GOOD, 200), (BAD, 403)):
            with Rtsp(s.p[port], tls, header=v1(ip)) as c:
                assert c.ask("DESCRIBE")[0] == want
    options = b"OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n"
    for port, data in (("proxied", options), ("tls_proxied", v1("localhost")), ("tls", options)):
        assert refused(s.p[port], data), port
    assert refused(s.p["proxied"], v1(GOOD) + options, bind="127.0.0.2"), "not one of our proxies"


def test_reload(site, source):
    """RTSP is turned off and on, and its endpoints change, while players stay."""
    s = site()
    s.push(source, loop=True)
    old, new = s.p["plain"], free_port()
    with Rtsp(old) as stays:
        stays.play()
        rewrite(s, (f"listen 127.0.0.1:{old} ", f"listen 127.0.0.1:{new} "))
        s.reload()
        assert wait_for(lambda: socket.socket().connect_ex(("127.0.0.1", old)) != 0, 5)
        with Rtsp(new) as c:
            c.play()
        rewrite(s, ("rtsp_server { enabled on;", "rtsp_server { enabled off;"))
        s.reload()
        for port in (new, s.p["tls"], s.p["proxied"]):
            assert wait_for(lambda p=port: socket.socket().connect_ex(("127.0.0.1", p)) != 0, 5), port
        frames = stays.frames
        while stays.frames < frames + 20:
            stays.frame()
        rewrite(s, ("rtsp_server { enabled off;", "rtsp_server { enabled on;"))
        s.reload()
        with Rtsp(s.p["tls"], s.trust) as c:
            c.play()


def test_a_reload_that_cannot_be(site, source):
    """A port in use, a missing certificate: everything stays unchanged."""
    s = site()
    s.push(source, loop=True)
    text = open(s.conf_path).read()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        for old, new in ((f"listen 127.0.0.1:{s.p['plain']} ", f"listen 127.0.0.1:{taken.getsockname()[1]} "),
                         ("key ", "key /nowhere"), ("transports tcp", "transports udb"),
                         ("enabled on; transports", "udp_port 8561; enabled on; transports")):
            with open(s.conf_path, "w") as f:
                f.write(text.replace(old, new, 1))
            s.reload(ok=False)
            for port, tls in (("plain", None), ("tls", s.trust)):
                with Rtsp(s.p[port], tls) as c:
                    c.play()
    s.allow_errors = True


def test_vhosts_that_have_it_not(site, source):
    s = site("vhost __defaultVhost__ { rtsp { enabled on; } } vhost other { } vhost off { rtsp { enabled off; } }")
    s.push(source, loop=True)
    for vhost, want in (("", 200), ("?vhost=other", 404), ("?vhost=off", 404), ("?vhost=unknown", 200)):
        with Rtsp(s.p["plain"]) as c:
            assert c.ask("DESCRIBE", c.url(param=vhost))[0] == want, vhost


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
def test_four_workers(site, source, tls):
    """A player on any of them plays; connections, with TLS or without, move to the stream's worker."""
    s = site(glob="workers 4;")
    s.push(source, loop=True)
    all_of_them = [Rtsp(s.p["tls" if tls else "plain"], s.trust if tls else None) for _ in range(12)]
    for c in all_of_them:
        c.play()
    rows = s.api.wait_clients(13)
    assert sum(r["type"] == "rtsp-play" for r in rows) == 12
    for c in all_of_them:
        before = c.frames
        while c.frames < before + 20:
            c.frame()
        c.sock.close()
    s.api.wait_clients(1)


def test_kicked(site, source):
    s = site()
    s.push(source, loop=True)
    with Rtsp(s.p["plain"]) as c:
        c.play()
        row = next(x for x in s.api.clients() if x["type"] == "rtsp-play")
        assert s.api.kick(row["id"])["code"] == 0
        with pytest.raises((EOFError, ConnectionError)):
            while True:
                c.frame()
    s.api.wait_clients(1)


@pytest.mark.parametrize("words,plays", [("", True), ("tls_verify on; tls_ca {ca};", True), ("tls_verify on;", False)],
                         ids=["anybody", "whom it knows", "whom the system knows"])
def test_pull_with_trusted_certificates(site, srs, source, words, plays):
    """Cameras sign their certificates themselves: they are accepted unless verification is on."""
    s = site()
    s.push(source, loop=True)
    words = words.format(ca=s.trust_file)
    url = f"rtsps://localhost:{s.p['tls']}/live/s"
    port = free_port()
    to = srs(f"rtsp {{ enabled on; pull {{ stream live/far; url {url}; {words} }} }}",
             f"http_api {{ enabled on; listen 127.0.0.1:{port}; }}", name="to")
    if plays:
        assert wait_for(lambda: (Api(port).stream("far") or {}).get("publish", {}).get("active"), 10)
        assert wait_for(lambda: [c for c in Api(port).clients() if c.get("transport") == "tcp" and c["publish"]], 10)
    else:
        assert to.wait_log(r"pull.*\(TLS\).*certificate", 10), to.log()
        assert not any(c["type"] == "rtsp-play" for c in s.api.clients())


def test_metrics_and_ways(site, source):
    s = site()
    s.push(source, loop=True)
    sessions = 'srs_rtsp_sessions{protocol="rtsp-play",transport="tcp"}'

    def value(name):
        got = [line.split()[-1] for line in s.api.raw("/metrics")[2].decode().splitlines() if line.startswith(name + " ")]
        return float(got[0]) if got else None
    with Rtsp(s.p["plain"]) as c:
        c.play()
        assert value(sessions) == 1 and value('srs_protocol_clients{protocol="rtsp-play"}') == 1
        assert value('srs_rtsp_lost_packets_total{protocol="rtsp-play"}') == 0
    assert wait_for(lambda: value(sessions) == 0, 5)
    ways = s.api.get("console")["data"]
    assert ways["rtsp"] == s.p["plain"] and ways["vhosts"][0]["rtsp"] is True


def test_features_and_heartbeat(site):
    with contextlib.closing(Backend()) as b:
        s = site(glob=f"heartbeat {{ enabled on; interval 1; ports on; url {b.url('/beat')}; }}")
        assert s.api.get("features")["data"]["features"]["rtsp"] is True
        assert wait_for(lambda: b.events, 5)
        told = b.events[-1]
        assert f"127.0.0.1:{s.p['plain']}" in str(told["rtsp"]) and f"127.0.0.1:{s.p['tls']}" in str(told["rtsps"])


def give_up_low_ports():
    assert ctypes.CDLL(None, use_errno=True).prctl(24, 10, 0, 0, 0) == 0  # PR_CAPBSET_DROP, CAP_NET_BIND_SERVICE


@pytest.mark.skipif(os.geteuid() != 0 or int(open(UNPRIVILEGED).read()) <= 554, reason="nothing to give up here")
def test_one_without_the_right_to_low_ports(srs):
    """The log line about the failed start says what is needed."""
    s = srs(RTSP, "rtsp_server { enabled on; }", begin=False, preexec=give_up_low_ports)
    s.start(wait=False)
    assert s.wait_log(r"listen 554 : ports below 1024 want root or CAP_NET_BIND_SERVICE : bind", 5), s.text()
    assert s.proc.wait(5) not in (0, None)
    s.proc = None


# -- effect of each directive

UDP = "Transport: RTP/AVP;unicast;client_port=40000-40001"


def free_pair():
    """Returns an even free UDP port whose successor is free as well."""
    while True:
        port = free_port() & ~1
        with contextlib.suppress(OSError), contextlib.ExitStack() as all_of_them:
            for p in (port, port + 1):
                all_of_them.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)).bind(("127.0.0.1", p))
            return port


@pytest.fixture
def at(srs, source):
    """at("directives of rtsp_server", "directives of vhost.rtsp") returns the port; a stream is on."""
    def start(server="", vhost=""):
        port = free_port()
        s = srs(f"rtsp {{ enabled on; {vhost} }}",
                f"rtsp_server {{ enabled on; listen 127.0.0.1:{port}; udp_port {free_pair()}; {server} }}")
        s.push(source, loop=True)
        return port
    return start


def set_up(port, transport):
    with Rtsp(port) as c:
        assert c.ask("DESCRIBE")[0] == 200
        status, fields, _ = c.ask("SETUP", c.url(track=0), transport)
        return status, fields


@pytest.mark.parametrize("words,transport,want", [
    ("transports tcp udp;", TCP, 200), ("transports tcp udp;", UDP, 200), ("transports tcp;", UDP, 461),
    ("transports tcp;", TCP, 200), ("transports udp;", TCP, 461), ("transports udp;", UDP, 200),
])
def test_transports(at, words, transport, want):
    assert set_up(at(words), transport)[0] == want


@pytest.mark.parametrize("words,said", [("", "interleaved=0-1"), ("channels client;", "interleaved=4-5")])
def test_channels(at, words, said):
    status, fields = set_up(at(words), TCP.replace("0-1", "4-5"))
    assert status == 200 and said in fields["transport"]


def test_session_timeout(at):
    assert set_up(at("session_timeout 33;"), TCP)[1]["session"].endswith(";timeout=33")


@pytest.mark.parametrize("words,most", [("", 1400), ("mtu 300;", 300)])
def test_mtu(at, words, most):
    with Rtsp(at(words)) as c:
        c.play()
        sizes = []
        for _ in range(60):
            c.need(4)
            sizes.append(struct.unpack(">H", c.buf[2:4])[0])
            c.frame()
        assert most * 0.8 <= max(sizes) - 12 <= most, "packets of a frame differ in size"


def test_describe_wait(at, source):
    begun = time.monotonic()
    with Rtsp(at("describe_wait 0;")) as c:
        assert c.ask("DESCRIBE", c.url("nothing"))[0] == 404
    assert time.monotonic() - begun < 5 * procs.SLOW
    with Rtsp(at("describe_wait 0.5;")) as c:
        assert c.ask("DESCRIBE", c.url("nothing"))[0] == 404
        assert c.ask("DESCRIBE")[0] == 200, "it stopped"


def test_a_player_that_is_early(srs, source):
    port = free_port()
    s = srs(RTSP, f"rtsp_server {{ enabled on; transports tcp; listen 127.0.0.1:{port}; describe_wait 60; }}")
    timer = threading.Timer(0.5, lambda: s.push(source, loop=True))
    timer.start()
    with Rtsp(port) as c:
        c.play()
    timer.join()


def test_what_came_by_rtmp(at):
    with Rtsp(at("describe_wait 0.2;", "rtmp_to_rtsp off;")) as c:
        assert c.ask("DESCRIBE")[0] == 404


@pytest.mark.parametrize("on", [True, False])
def test_tunnel(at, on):
    port = at("" if on else "tunnel off;")
    with socket.create_connection(("127.0.0.1", port), procs.patience(5)) as c:
        c.sendall(b"GET /live/s HTTP/1.0\r\nx-sessioncookie: abc123\r\nAccept: application/x-rtsp-tunnelled\r\n\r\n")
        got = c.recv(100)
        assert got.startswith(b"HTTP/1.0 200") if on else not got.startswith((b"HTTP/1.0 200", b"HTTP/1.1 200"))


def test_login(at):
    port = at("", "auth { enabled on; realm here; methods basic digest-md5; user viewer 'p w'; user other x; }")
    right = base64.b64encode(b"viewer:p w").decode()
    with Rtsp(port) as c:
        status, fields, _ = c.ask("DESCRIBE")
        assert status == 401 and 'realm="here"' in fields["www-authenticate"]
        assert c.ask("DESCRIBE", None, "Authorization: Basic " + base64.b64encode(b"viewer:x").decode())[0] == 401
        assert c.ask("DESCRIBE", None, "Authorization: Basic " + right)[0] == 200


def test_no_datagrams_beside_tls(site, source):
    s = site()
    s.push(source, loop=True)
    rewrite(s, ("transports tcp;", f"transports tcp udp; udp_port {free_pair()};"))
    s.reload()
    with Rtsp(s.p["tls"], s.trust) as c:
        assert c.ask("DESCRIBE")[0] == 200
        assert c.ask("SETUP", c.url(track=0), UDP)[0] == 461
        assert c.ask("SETUP", c.url(track=0), TCP)[0] == 200


def test_a_reload_of_a_vhost(site, source):
    """New clients get the new configuration: no RTSP, another password."""
    s = site()
    s.push(source, loop=True)
    with Rtsp(s.p["plain"]) as c:
        c.play()
    rewrite(s, (RTSP, "rtsp { enabled on; auth { enabled on; methods basic; user a b; } }"))
    s.reload()
    with Rtsp(s.p["plain"]) as c:
        assert c.ask("DESCRIBE")[0] == 401
        assert c.ask("DESCRIBE", None, "Authorization: Basic " + base64.b64encode(b"a:b").decode())[0] == 200
    rewrite(s, ("user a b", "user a c"))
    said = s.reload()
    assert "***" in said and "a c" not in said
    with Rtsp(s.p["plain"]) as c:
        assert c.ask("DESCRIBE", None, "Authorization: Basic " + base64.b64encode(b"a:b").decode())[0] == 401
    rewrite(s, ("rtsp { enabled on; auth", "rtsp { enabled off; auth"))
    s.reload()
    with Rtsp(s.p["plain"]) as c:
        assert c.ask("DESCRIBE", None, "Authorization: Basic " + base64.b64encode(b"a:c").decode())[0] == 404
