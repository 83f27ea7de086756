# SPDX-License-Identifier: MIT
"""TLS: https, rtmps in and out, certificates by name and renewed while the server runs."""
import socket
import ssl
import time

import pytest

import flv
import tools
from flv import VIDEO
from procs import free_port, wait_for
from webclient import Cert, FlvWatcher, Http, once


@pytest.fixture
def secure(srs, tmp_path):
    """secure() starts a server with rtmps and https; returns (server, certificate, ports)."""
    def start(kind="ec", vhost="http_remux { enabled on; }", certificates="", glob="", **how):
        root = tmp_path / "html"
        root.mkdir(exist_ok=True)
        (root / "a.txt").write_text("0123456789")
        (root / "big.bin").write_bytes(bytes(range(256)) * 8000)
        cert = Cert(tmp_path, how.get("name", "server") + "-cert", kind=kind)
        http, https, rtmps = free_port(), free_port(), free_port()
        s = srs(vhost, f"""rtmps {{ {cert.conf(rtmps)} }}
http_server {{ enabled on; listen 127.0.0.1:{http}; dir {root};
https {{ {cert.conf(https, certificates)} }} }} {glob}""", **how)
        s.cert, s.https, s.rtmps, s.http = cert, https, rtmps, http
        return s
    return start


@pytest.mark.parametrize("kind", ["ec", "rsa"])
def test_https(secure, kind):
    s = secure(kind)
    trust = s.cert.trust()
    with Http(s.https, trust) as h:
        assert h.sock.version() == "TLSv1.3"
        assert h.sock.selected_alpn_protocol() == "http/1.1"
        assert h.get("/a.txt").body == b"0123456789"
        assert h.get("/big.bin").body == bytes(range(256)) * 8000
        assert h.get("/big.bin", Range="bytes=100-355").body == (bytes(range(256)) * 2)[100:356]
        for _ in range(5):
            h.ask("/a.txt")
        for _ in range(5):
            assert h.answer().body == b"0123456789"
    old = ssl.create_default_context(cafile=s.cert.cert)
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    assert once(s.https, "/a.txt", tls=old).status == 200


@pytest.mark.needs("curl")
def test_curl_and_session_tickets(secure):
    s = secure()
    base = f"https://localhost:{s.https}"
    r = tools.run(["curl", "-sS", "--cacert", s.cert.cert, "--resolve", f"localhost:{s.https}:127.0.0.1",
                   f"{base}/a.txt"])
    assert r.stdout == b"0123456789"
    r = tools.run(["curl", "-sS", "--resolve", f"localhost:{s.https}:127.0.0.1", f"{base}/a.txt"],
                  check=False)
    assert r.returncode == 60, "the authority is known"


def test_flv_over_https(secure, source):
    s = secure()
    trust = s.cert.trust()
    players = [FlvWatcher(s.https, tls=trust), FlvWatcher(s.https, ws=True, tls=trust),
               FlvWatcher(s.http)]
    tags = flv.cut(source, 5000)
    s.push(tags, speed=0)
    want = flv.hashes(tags, VIDEO)
    for p in players:
        assert p.wait(lambda got: len(flv.frames(got, VIDEO)) >= len(want), 5)
        assert flv.hashes(p.stop(), VIDEO) == want


def test_slow_player_over_https(secure, source):
    """A reader that lags far more than the socket buffers still gets whole tags."""
    s = secure(vhost="http_remux { enabled on; } play { queue_length 3; }")
    s.push(source, loop=True, speed=30)
    h = Http(s.https, s.cert.trust(), rcvbuf=8192)
    h.ask("/live/s.flv")
    assert h.head()[0] == 200
    data, end = h.buf, time.monotonic() + 2
    while time.monotonic() < end:
        data += h.sock.recv(4096)
        time.sleep(0.03)
    h.close()
    at, tags = 13, 0
    while at + 11 <= len(data):
        size = int.from_bytes(data[at + 1:at + 4], "big")
        if at + size + 15 > len(data):
            break
        assert data[at] in (8, 9, 18) and int.from_bytes(data[at + 11 + size:at + 15 + size], "big") == size + 11
        at += size + 15
        tags += 1
    assert tags > 50


def test_ffmpeg_publishes_and_plays_rtmps(secure, tmp_path, source):
    s = secure()
    url = f"rtmps://127.0.0.1:{s.rtmps}/live/s"
    w = s.watch()
    push = tools.ffmpeg_publish(url, tmp_path / "push.log", rate=5, loop=True)
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= 20, 6), push.text()
    streams = tools.ffprobe(url, "-show_streams")["streams"]
    assert {x.get("codec_name") for x in streams} >= {"h264", "aac"}
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= 148, 3)
    push.end()
    got = flv.hashes(w.stop(), VIDEO)
    assert got[:148] == flv.hashes(source, VIDEO)[:148]


@pytest.mark.needs("rtmpdump")
def test_librtmp_plays_rtmps(secure, tmp_path, source):
    s = secure("rsa")
    s.push(source, loop=True, speed=3)
    out = tmp_path / "dump.flv"
    p = tools.rtmpdump(f"rtmps://127.0.0.1:{s.rtmps}/live/s", out, tmp_path / "dump.log")
    wait_for(lambda: out.exists() and out.stat().st_size > 60000, 10)
    p.end()
    assert out.exists() and out.stat().st_size > 60000, p.log


@pytest.mark.parametrize("verify", ["ca", "off"])
def test_forward_over_rtmps(srs, secure, source, verify):
    """From one of our servers to another."""
    to = secure(name="to")
    trust = f"tls_ca {to.cert.cert};" if verify == "ca" else "tls_verify off;"
    s = srs(f"forward {{ enabled on; destination rtmps://127.0.0.1:{to.rtmps}; {trust} }}", name="from")
    w = to.watch()
    tags = flv.cut(source, 4000)
    s.push(tags, speed=6)
    want = flv.hashes(tags, VIDEO)
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= len(want) - 3, 10), s.log()[-2000:]
    got = flv.hashes(w.stop(), VIDEO)
    assert got == want[:len(got)]


def test_forward_does_not_trust_anybody(srs, secure, source):
    to = secure(name="to")
    s = srs(f"forward {{ enabled on; destination rtmps://127.0.0.1:{to.rtmps}; }}", name="from")
    s.push(source, loop=True)
    assert s.wait_log(r"forward to 127.0.0.1:\d+ fails: .*TLS.*certificate", 5), s.log()[-2000:]
    assert "client identified" not in to.log()


def served(port, name="localhost"):
    """The certificate that a server presents for this name, as PEM."""
    c = ssl.create_default_context()
    c.check_hostname, c.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", port), 5) as raw, \
            c.wrap_socket(raw, server_hostname=name) as sock:
        return ssl.DER_cert_to_PEM_cert(sock.getpeercert(True))


@pytest.mark.long
def test_certificate_is_renewed(secure, source):
    """A new file: new connections get the new certificate, existing ones continue. An invalid file: the old certificate stays in
    use, and the log says why."""
    s = secure()
    s.push(source, loop=True)
    w = FlvWatcher(s.https, tls=s.cert.trust())
    first = served(s.https)
    assert served(s.rtmps) == first
    s.cert.renew(kind="rsa")
    assert wait_for(lambda: served(s.https) != first, 6)
    assert served(s.https) == open(s.cert.cert).read()
    assert s.wait_log("https: the certificate changed", 2)
    at = s.mark()
    with open(s.cert.key, "w") as f:
        f.write("no key at all\n")
    assert s.wait_log("the certificate in use stays", 6, at)
    assert served(s.https) == open(s.cert.cert).read()
    got = len(w.tags)
    assert w.wait(lambda tags: len(tags) > got + 20, 3) and w.ended is None
    at = s.mark()
    s.proc.kill(1)  # SIGHUP: the file is bad, so nothing changes
    assert s.wait_log("reload: failed", 5, at)
    s.cert.renew()
    assert s.wait_log("https: the certificate changed", 6, at)


def test_bad_certificate_at_start(srs, tmp_path):
    port = free_port()
    s = srs("", f"rtmps {{ enabled on; listen 127.0.0.1:{port}; key {tmp_path}/nix; cert {tmp_path}/nix; }}",
            begin=False)
    s.start(wait=False)
    assert s.proc.wait(5) != 0
    assert "nix" in s.text() and "TLS" in s.text()
    s.proc = None


def test_names(secure, tmp_path):
    """SNI: each name has its certificate."""
    one = Cert(tmp_path, "one", ("one.test",))
    star = Cert(tmp_path, "star", ("*.star.test",), "rsa")
    s = secure(certificates=f"""
certificate one.test {{ key {one.key}; cert {one.cert}; }}
certificate *.star.test {{ key {star.key}; cert {star.cert}; }}
""")
    assert served(s.https, "one.test") == open(one.cert).read()
    assert served(s.https, "a.star.test") == open(star.cert).read()
    assert served(s.https, "other.test") == open(s.cert.cert).read()


def test_what_is_no_tls(secure):
    """Plain text, garbage and silence at a TLS port: a timely end, and nothing else is affected."""
    s = secure(glob="limits { handshake_timeout 1; }")
    silent = Http(s.https)
    for port in (s.https, s.rtmps):
        with Http(port) as h:
            h.send(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            assert h.closed(2)
        with Http(port) as h:
            h.send(b"\x16\x03\x01\x40\x00" + b"\x01" * 3000)
            assert h.closed(3)
    assert silent.closed(3)
    assert once(s.https, "/a.txt", tls=s.cert.trust()).status == 200
