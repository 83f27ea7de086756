# SPDX-License-Identifier: MIT
"""TLS attacks: old versions, ciphers without forward secrecy, repeated handshakes."""
import re
import ssl
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import procs
from procs import free_port, wait_for
from webclient import Cert, Http, once

pytestmark = pytest.mark.needs("openssl")


@pytest.fixture
def secure(srs, tmp_path):
    """secure(more) starts a server with rtmps and https, `more` in the blocks of both."""
    def start(more="", kind="rsa", https="", **how):
        (tmp_path / "html").mkdir(exist_ok=True)
        (tmp_path / "html" / "a.txt").write_text("0123456789")
        cert = Cert(tmp_path, kind=kind)
        ports = [free_port(), free_port()]
        s = srs("", f"""rtmps {{ {cert.conf(ports[0])} {more} }}
http_server {{ enabled on; listen 127.0.0.1:{free_port()}; dir {tmp_path}/html;
https {{ {cert.conf(ports[1])} {more} {https} }} }}""", **how)
        s.cert, s.ports, s.rtmps, s.https = cert, ports, *ports
        return s
    return start


def s_client(port, *args, say="Q\n", timeout=20):
    r = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{port}", *args], input=say.encode(),
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=procs.patience(timeout))
    return r.stdout.decode(errors="replace")


def agreed(port, *args):
    """'TLSv1.2 CIPHER', or None without agreement."""
    m = re.search(r"^New, (TLSv1\.\d), Cipher is (\S+)$", s_client(port, *args), re.M)
    return f"{m[1]} {m[2]}" if m and m[2] != "(NONE)" else None


OLD = "@SECLEVEL=0"  # the client accepts anything


@pytest.mark.parametrize("kind", ["rsa", "ec"])
def test_forward_secrecy_only(secure, kind):
    s = secure(kind=kind)
    name = "RSA" if kind == "rsa" else "ECDSA"
    for port in s.ports:
        refused = [("-tls1_2", "-cipher", f"{c}:{OLD}") for c in (
            "AES128-SHA", "AES256-GCM-SHA384", "AES128-GCM-SHA256", "DHE-RSA-AES128-GCM-SHA256",
            f"ECDHE-{name}-AES128-SHA", f"ECDHE-{name}-AES256-SHA384", "kRSA", "PSK")]
        refused += [(version, "-cipher", "ALL:" + OLD) for version in ("-tls1", "-tls1_1")]
        with ThreadPoolExecutor(4) as pool:
            for args, got in zip(refused, pool.map(lambda a, p=port: agreed(p, *a), refused)):
                assert got is None, args
        # ours take precedence, regardless of the client's order
        assert agreed(port, "-tls1_2", "-cipher", f"ECDHE-{name}-CHACHA20-POLY1305:ECDHE-{name}-AES256-GCM-SHA384:"
                      f"ECDHE-{name}-AES128-GCM-SHA256") == f"TLSv1.2 ECDHE-{name}-AES128-GCM-SHA256"
        assert agreed(port, "-ciphersuites", "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_256_GCM_SHA384:"
                      "TLS_AES_128_GCM_SHA256") == "TLSv1.3 TLS_AES_128_GCM_SHA256"
        assert agreed(port, "-tls1_2", "-cipher", f"ECDHE-{name}-CHACHA20-POLY1305")
        assert agreed(port, "-ciphersuites", "TLS_CHACHA20_POLY1305_SHA256")


def test_directives(secure):
    s = secure("ssl_protocols TLSv1.2; ssl_ciphers ECDHE-RSA-CHACHA20-POLY1305:AES256-GCM-SHA384;")
    for port in s.ports:
        assert agreed(port) == "TLSv1.2 ECDHE-RSA-CHACHA20-POLY1305"
        assert agreed(port, "-cipher", "AES256-GCM-SHA384")
        assert agreed(port, "-tls1_3") is None
    text = open(s.conf_path).read()
    with open(s.conf_path, "w") as f:
        f.write(text.replace("TLSv1.2;", "TLSv1.3;"))
    s.reload()
    for port in s.ports:
        assert agreed(port).startswith("TLSv1.3 ") and agreed(port, "-tls1_2") is None
    with open(s.conf_path, "w") as f:
        f.write(text.replace("AES256-GCM-SHA384", "AES256-GMC-SHA384"))
    assert "AES256-GMC-SHA384" in s.reload(ok=False)
    assert agreed(s.https).startswith("TLSv1.3 "), "the old rules are gone"


WRONG = [("ssl_protocols TLSv1.1 TLSv1.2;", "rtmps: ssl_protocols: \"TLSv1.1\" is not one of TLSv1.2, TLSv1.3"),
         ("ssl_ciphers ECDHE-RSA-AES128-GMC-SHA256;", "\"ECDHE-RSA-AES128-GMC-SHA256\" is no cipher of TLS 1.2"),
         ("ssl_ciphers !ALL;", "nothing is left of \"!ALL\"")]


@pytest.mark.parametrize("line,why", WRONG)
def test_wrong_values_are_refused(secure, line, why):
    s = secure(line, begin=False)
    for args in (["-t", "-c", s.conf_path], ["-c", s.conf_path]):
        r = subprocess.run([procs.BINARY, *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           cwd=s.tmp, timeout=procs.patience(10))
        assert r.returncode != 0 and why in r.stdout.decode(), r.stdout.decode()


def resumed(port, tmp, *args):
    saved = str(tmp / "session")
    s_client(port, *args, "-sess_out", saved, say="GET /a.txt HTTP/1.0\nHost: h\n\n")
    try:
        return "\nReused, " in s_client(port, *args, "-sess_in", saved)
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("tickets", ["off", "on"])
def test_tickets(secure, tmp_path, tickets):
    s = secure(https=f"ssl_session_tickets {tickets};" if tickets == "on" else "")
    assert resumed(s.https, tmp_path, "-tls1_2", "-ign_eof") == (tickets == "on")
    assert ("Session-ID:" in s_client(s.https, "-tls1_2")) and \
        ("TLS session ticket:" in s_client(s.https, "-tls1_2")) == (tickets == "on")


def test_renegotiation_is_refused(secure):
    """The client sends another hello in the middle of TLS 1.2: it is rejected, and nothing is signed."""
    s = secure()
    for _ in range(2):
        text = s_client(s.https, "-tls1_2", say="R\n")
        assert "RENEGOTIATING" in text and re.search("no renegotiation", text), text[-500:]
    assert once(s.https, "/a.txt", tls=s.cert.trust()).status == 200


def test_handshakes_have_a_time(secure):
    """A client that sends half a hello, and one that sends a byte now and then."""
    s = secure()
    text = open(s.conf_path).read()
    with open(s.conf_path, "w") as f:
        f.write(text + "limits { handshake_timeout 1; }\n")
    s.reload()
    hello = ssl.MemoryBIO()
    c = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), hello, server_hostname="localhost")
    with pytest.raises(ssl.SSLWantReadError):
        c.do_handshake()
    hello = hello.read()
    half, slow = Http(s.https), Http(s.rtmps)
    half.send(hello[:len(hello) // 2])
    begun = time.monotonic()
    ended = threading.Event()

    def drip():
        try:
            for b in hello[:80]:
                slow.send(bytes([b]))
                if ended.wait(0.1):
                    return
        except OSError:
            pass
    t = threading.Thread(target=drip)
    t.start()
    assert half.closed(4)
    assert wait_for(lambda: "no TLS handshake in" in s.log() or "no handshake and connect in" in s.log(), 4)
    assert slow.closed(2) and time.monotonic() - begun < procs.patience(4)
    ended.set()
    t.join()


def kb_of_connections(s):
    """Memory per connection that a hundred HTTPS connections add."""
    peers = []
    try:
        for i in range(150):
            if i == 50:  # memory for the first connections is allocated
                before = s.rss()
            peers.append(Http(s.https, tls=s.cert.trust()))
            assert peers[-1].get("/a.txt").status == 200
        return (s.rss() - before) / 100
    finally:
        for p in peers:
            p.close()


@pytest.mark.skipif(procs.SLOW > 1, reason="sanitizers keep what is freed")
def test_who_makes_the_records(secure):
    """OpenSSL keeps over 10 KB for each connection if it makes the records."""
    own = kb_of_connections(secure())
    library = kb_of_connections(secure(https="ssl_own_records off;"))
    print(f"KB a connection: {own} with records of our own, {library} with the library's")
    assert library - own > 10, (own, library)
