# SPDX-License-Identifier: MIT
"""Clients behind a proxy: PROXY protocol headers and X-Forwarded-For, from trusted and untrusted senders."""
import contextlib
import json
import socket
import struct
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import procs
import tools
from httpapi import Backend
from procs import free_port, wait_for
from rtmpclient import Client, Closed, Rejected
from webclient import Cert, Http

SIGN = b"\r\n\r\n\0\r\nQUIT\n"
GOOD, BAD = "192.0.2.7", "192.0.2.8"  # documentation addresses; the second one is denied
RULES = f"security {{ enabled on; deny publish {BAD}; deny play {BAD}; deny play 2001:db8::8; }}"


def v1(ip, family="TCP4"):
    return f"PROXY {family} {ip} {ip} 57005 1935\r\n".encode()


def v2(ip, more=b"", command=1):
    kind = socket.AF_INET6 if ":" in ip else socket.AF_INET
    body = socket.inet_pton(kind, ip) * 2 + struct.pack(">HH", 57005, 1935) + more
    family = 0x21 if ":" in ip else 0x11
    return SIGN + bytes([0x20 | command, family]) + struct.pack(">H", len(body)) + body


HEADERS = {
    "v1": (v1(GOOD), GOOD), "v1 of IPv6": (v1("2001:DB8:0::7", "TCP6"), "2001:db8::7"),
    "v2": (v2(GOOD), GOOD), "v2 of IPv6": (v2("2001:db8::7"), "2001:db8::7"),
    "v2 and more": (v2(GOOD, b"\x01\0\x08http/1.1" + b"\x04\x02\0" + bytes(512)), GOOD),
    "v1 unknown": (b"PROXY UNKNOWN\r\n", "127.0.0.1"), "v2 local": (v2(BAD, command=0), "127.0.0.1"),
}


class Told(Client):
    """An RTMP client behind a proxy that sends a header, with or without TLS below."""

    def __init__(self, port, header, tls=None, **how):
        super().__init__(port, **how)
        self.sock.sendall(header)
        if tls:
            self.sock = tls.wrap_socket(self.sock, server_hostname="localhost")


class ToldHttp(Http):
    def __init__(self, port, header, tls=None):
        super().__init__(port, timeout=20)
        self.sock.sendall(header)
        if tls:
            self.sock = tls.wrap_socket(self.sock, server_hostname="localhost")


@pytest.fixture
def site(srs, tmp_path):
    """All listeners twice: plain and behind a proxy."""
    def start(vhost="", glob="", **how):
        cert = Cert(tmp_path)
        p = {k: free_port() for k in ("rtmp", "rtmps", "http", "https", "api", "plain", "plain_http")}
        at = {k: f"127.0.0.1:{v} proxy_protocol" for k, v in p.items()}
        tls = f"key {cert.key}; cert {cert.cert};"
        s = srs("http_remux { enabled on; } " + vhost, f"""
listen 127.0.0.1:{p["plain"]} {at["rtmp"]};
rtmps {{ enabled on; listen {at["rtmps"]}; {tls} }}
http_server {{ enabled on; listen 127.0.0.1:{p["plain_http"]} {at["http"]};
https {{ enabled on; listen {at["https"]}; {tls} }} }}
http_api {{ enabled on; public read; listen {at["api"]}; }}
{glob}""", port=p["plain"], **how)
        s.p, s.trust = p, cert.trust()
        return s
    return start


def clients(s):
    with ToldHttp(s.p["api"], v1(GOOD)) as h:
        answer = h.get("/api/v1/clients/")
    assert answer.status == 200
    return json.loads(answer.body)["clients"]


@pytest.mark.parametrize("kind", HEADERS)
def test_the_address_shows_everywhere(site, kind):
    header, ip = HEADERS[kind]
    with contextlib.closing(Backend()) as b:
        s = site(f"http_hooks {{ enabled on; on_publish {b.url('/hook')}; }}")
        Told(s.p["rtmp"], header, timeout=20).publish("s")
        assert [e["ip"] for e in b.of("on_publish")] == [ip]
    assert [c["ip"] for c in clients(s)] == [ip]
    port = r"\d+" if ip == "127.0.0.1" else "57005"
    assert s.wait_log(rf"RTMP client ip={ip}:{port}, ", 3)


def test_rules_see_who_is_behind(site, source):
    """The proxy's own address is admitted everywhere; the client behind it is not. TLS comes after the header."""
    s = site(RULES)
    s.push(source, loop=True)
    for tls in (False, True):
        rtmp, http = (s.p["rtmps"], s.p["https"]) if tls else (s.p["rtmp"], s.p["http"])
        trust = s.trust if tls else None
        for header, may in ((v1(GOOD), True), (v1(BAD), False), (v2(GOOD), True), (v2(BAD), False),
                            (v1("::ffff:" + BAD, "TCP6"), False), (v2("2001:db8::8"), False)):
            c = Told(rtmp, header, trust, timeout=20)
            if may:
                c.play("s")
            else:
                with pytest.raises((Rejected, Closed)):
                    c.play("s")
            c.close()
            with ToldHttp(http, header, trust) as h:
                h.ask("/live/s.flv")
                assert h.head()[0] == (200 if may else 403), header
    with pytest.raises((Rejected, Closed)):
        Told(s.p["rtmp"], v1(BAD), timeout=20).publish("t")


def refused(port, data, bind=None, pieces=None, every=0.0):
    """Whether the server closes without sending anything."""
    with socket.socket() as c:
        c.settimeout(procs.patience(5))
        if bind:
            c.bind((bind, 0))
        c.connect(("127.0.0.1", port))
        try:
            for at in range(0, len(data), pieces or len(data) or 1):
                c.sendall(data[at:at + (pieces or len(data))])
                if every:
                    time.sleep(every)
            return c.recv(100) == b""
        except ConnectionError:
            return True


def test_who_says_nothing_or_lies(site, source):
    s = site(RULES, "limits { handshake_timeout 1; } trusted_proxies 127.0.0.1;")
    s.push(source, loop=True)
    w = s.watch()
    c0c1 = b"\3" + bytes(1536)
    hello = b"\x16\x03\x01\x02\x00\x01" + bytes(515)
    get = b"GET /live/s.flv HTTP/1.1\r\nHost: h\r\n\r\n"
    cases = [
        ("rtmp", c0c1), ("rtmps", hello), ("http", get), ("https", hello), ("api", get),
        ("rtmp", b"PROXY UNKNOWN " + b"x" * 200), ("http", v1(GOOD)[:-2] + b"\n" + get),
        ("rtmp", SIGN + b"\x21\x11\xff\xff" + bytes(3000)), ("rtmp", v2(GOOD)[:20]),
        ("rtmp", v1("localhost") + c0c1), ("rtmp", v1(GOOD + ":1") + c0c1),
        ("rtmp", v1(GOOD) + v1(GOOD) + bytes(1536)),  # one header is enough, a second one is rejected
        ("rtmp", b""), ("rtmps", b"PROXY "), ("http", SIGN),
    ]
    with ThreadPoolExecutor(8) as pool:
        slow = pool.submit(refused, s.p["rtmp"], v1(GOOD), pieces=2, every=0.1)
        for (name, data), ok in zip(cases, pool.map(lambda case: refused(s.p[case[0]], case[1]), cases)):
            assert ok, (name, data[:40])
        assert slow.result(), "each byte in time, all of it not"
    mark = s.mark()
    for name, data in (("rtmp", v1(GOOD) + c0c1), ("http", v1(GOOD) + get), ("api", v2(GOOD) + get)):
        assert refused(s.p[name], data, bind="127.0.0.2"), "not one of our proxies"
    assert s.wait_log("127.0.0.2 is not in trusted_proxies", 3, mark, count=3)
    assert refused(s.p["plain"], v1(GOOD) + c0c1), "an unexpected header"
    with Http(s.p["plain_http"]) as h:
        h.send(v1(GOOD) + get)
        assert h.head()[0] == 400
    n = len(w.tags)
    assert w.wait(lambda got: len(got) > n + 10, 3) and w.ended is None


def test_reload(site):
    """A change of what an endpoint expects applies to new connections."""
    s = site("", "trusted_proxies none;")
    assert refused(s.p["rtmp"], v1(GOOD) + b"\3" + bytes(1536))
    text = open(s.conf_path).read()
    with open(s.conf_path, "w") as f:
        f.write(text.replace("trusted_proxies none", "trusted_proxies 127.0.0.0/30"))
    s.reload()
    Told(s.p["rtmp"], v1(GOOD), timeout=20).publish("a")
    with open(s.conf_path, "w") as f:
        f.write(text.replace(f"127.0.0.1:{s.p['rtmp']} proxy_protocol", f"127.0.0.1:{s.p['rtmp']}"))
    s.reload()
    Client(s.p["rtmp"], timeout=20).publish("b")
    assert s.wait_log(r"RTMP client ip=192.0.2.7:57005", 2)


def flv_status(port, **fields):
    with Http(port, timeout=20) as h:
        h.ask("/live/s.flv", **fields)
        return h.head()[0]


def test_forwarded_for(site, source):
    """Entries by the client itself come before those of the proxy."""
    s = site("security { enabled on; allow publish all; allow play 127.0.0.1; }")
    s.push(source, loop=True)
    port = s.p["plain_http"]
    assert flv_status(port) == 200
    for lie in (f"127.0.0.1, {BAD}", f"127.0.0.1,{BAD}, 127.0.0.9", f"x, {BAD}",
                f"127.0.0.1, ::ffff:{BAD}"):
        assert flv_status(port, X_Forwarded_For=lie) == 403, lie
        assert flv_status(port, X_Forwarded_For=lie, X_Real_IP="127.0.0.1") == 403, lie
    assert flv_status(port, X_Real_IP=BAD) == 403
    assert flv_status(port, X_Forwarded_For="127.0.0.1, 127.0.0.2") == 200, "both are ours"
    with ToldHttp(s.p["http"], v1("10.0.0.5")) as h:  # private, but not trusted
        h.ask("/live/s.flv", X_Forwarded_For="127.0.0.1")
        assert h.head()[0] == 403


def test_forwarded_for_of_unknown_proxies(site, source):
    s = site("security { enabled on; deny play 127.0.0.1; }", "trusted_proxies none;")
    for fields in ({}, {"X_Forwarded_For": GOOD}, {"X_Real_IP": GOOD}):
        assert flv_status(s.p["plain_http"], **fields) == 403


@pytest.mark.needs("nginx-stream")
def test_behind_nginx(site, tmp_path, source):
    """nginx forwards bytes, TLS too, and reports the client in a version 1 header."""
    s = site("security { enabled on; deny play 127.0.0.6; }")
    s.push(source, loop=True)
    ports = {k: free_port() for k in ("rtmp", "rtmps", "http", "https")}
    nginx = tools.NginxStream(tmp_path, {ports[k]: s.p[k] for k in ports}).start()
    c = Client(ports["rtmp"], bind="127.0.0.5", timeout=20).play("s")
    assert sorted(x["ip"] for x in clients(s)) == ["127.0.0.1", "127.0.0.5"]
    for name in ("rtmp", "rtmps"):
        c = Client(ports[name], bind="127.0.0.6", timeout=20)
        if name == "rtmps":
            c.sock = s.trust.wrap_socket(c.sock, server_hostname="localhost")
        with pytest.raises((Rejected, Closed)):
            c.play("s")
    with Http(ports["https"], s.trust, timeout=20) as h:
        h.ask("/live/s.flv")
        assert h.head()[0] == 200
    nginx.stop()


def test_limits_count_who_is_behind(site):
    """A balancer may forward many; each client counts separately."""
    s = site("", "limits { per_address 2; limit_private on; }")
    held = [Told(s.p["rtmp"], v1(f"192.0.2.{n}"), timeout=20).connect() for n in (1, 1, 2, 2, 3)]
    with pytest.raises(Closed):
        Told(s.p["rtmp"], v1("192.0.2.1"), timeout=20).connect()
    held[0].close()
    assert wait_for(lambda: may_come(s, "192.0.2.1"), 3)


def may_come(s, ip):
    try:
        with Told(s.p["rtmp"], v1(ip), timeout=20) as c:
            c.connect()
            return True
    except Closed:
        return False
