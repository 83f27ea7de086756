# SPDX-License-Identifier: MIT
"""The HTTP server: files, ranges, conditions, CORS, keep-alive, pipelining; and bad requests."""
import gzip
import os
import socket
import threading
import time

import pytest

import procs
import tools
from procs import SLOW, free_port, wait_for
from webclient import Http, once


ROOMY = 1 if procs.SLOW == 1 else 30  # sanitizers keep freed memory for a while


@pytest.fixture
def web(srs, tmp_path):
    """web(extra) starts a server with a folder of files; returns (server, port, folder)."""
    def start(extra="", vhost="", **how):
        root = tmp_path / "html"
        (root / "players").mkdir(parents=True)
        (root / "index.html").write_text("<h1>index</h1>")
        (root / "players" / "index.html").write_text("players")
        (root / "a.txt").write_text("0123456789")
        (root / "a b.txt").write_text("with a space")
        (root / "a+b.txt").write_text("with a plus")
        (root / "movie.mp4").write_bytes(bytes(range(256)) * 4000)
        (root / "script.js").write_text("console.log('x');\n" * 500)
        (root / "empty.txt").write_text("")
        port = free_port()
        s = srs(vhost, f"http_server {{ enabled on; listen 127.0.0.1:{port}; dir {root}; {extra} }}",
                **how)
        return s, port, root
    return start


def test_files(web):
    s, port, root = web()
    with Http(port) as h:
        assert h.get("/a.txt").body == b"0123456789"
        assert h.get("/").body == b"<h1>index</h1>"
        assert h.get("/players/").body == b"players"
        a = h.get("/players?x=1")
        assert (a.status, a.headers["location"]) == (302, "/players/?x=1")
        assert h.get("/a%20b.txt").body == b"with a space"
        assert h.get("/a+b.txt").body == b"with a plus"
        assert h.get("/empty.txt").body == b""
        assert h.get("/nix").status == 404
        big = h.get("/movie.mp4")
        assert big.body == bytes(range(256)) * 4000
        assert big.headers["content-type"] == "video/mp4"
        head = h.get("/movie.mp4", "HEAD")
        assert head.headers["content-length"] == "1024000" and head.body == b""
        assert h.get("/a.txt", "POST", body=b"x").status == 405


def test_ranges_and_conditions(web):
    _, port, _ = web()
    with Http(port) as h:
        a = h.get("/movie.mp4", Range="bytes=100-199")
        assert a.status == 206 and a.body == (bytes(range(256)) * 2)[100:200]
        assert a.headers["content-range"] == "bytes 100-199/1024000"
        assert h.get("/movie.mp4", Range="bytes=-10").body == bytes(range(246, 256))
        assert h.get("/movie.mp4?range=0-9").body == bytes(range(10))
        assert h.get("/movie.mp4?bytes=256-").headers["content-length"] == "1023744"
        bad = h.get("/movie.mp4", Range="bytes=1024000-")
        assert bad.status == 416 and bad.headers["content-range"] == "bytes */1024000"
        assert h.get("/movie.mp4", Range="bytes=0-99999999999999999999999").status == 206
        a = h.get("/a.txt")
        tag, date = a.headers["etag"], a.headers["last-modified"]
        assert h.get("/a.txt", If_None_Match=tag).status == 304
        assert h.get("/a.txt", If_None_Match='"x"').status == 200
        assert h.get("/a.txt", If_Modified_Since=date).status == 304
        assert h.get("/a.txt", Range="bytes=0-1", If_Range=tag).body == b"01"
        assert h.get("/a.txt", Range="bytes=0-1", If_Range='"x"').body == b"0123456789"


def test_gzip(web):
    _, port, root = web()
    with Http(port) as h:
        a = h.get("/script.js", Accept_Encoding="gzip, br")
        assert a.headers["content-encoding"] == "gzip" and a.headers["vary"] == "Accept-Encoding"
        assert gzip.decompress(a.body) == (root / "script.js").read_bytes()
        assert len(a.body) < 1000
        assert "content-encoding" not in h.get("/movie.mp4", Accept_Encoding="gzip").headers
        assert h.get("/script.js").body == (root / "script.js").read_bytes()


def test_gzip_once(web):
    """A text of megabytes is compressed for the first client; the others get the same result."""
    s, port, root = web()
    (root / "big.js").write_bytes(os.urandom(900_000).hex().encode())
    with Http(port) as h:
        first = h.get("/big.js", Accept_Encoding="gzip")
        assert first.headers["content-encoding"] == "gzip" and len(first.body) < 1_200_000
        began = procs.cpu_seconds(s.pid)
        for _ in range(40):
            assert h.get("/big.js", Accept_Encoding="gzip").body == first.body
        assert procs.cpu_seconds(s.pid) - began < 0.7 * SLOW
        (root / "big.js").write_bytes(b"a" * 5000)
        a = h.get("/big.js", Accept_Encoding="gzip")
        assert gzip.decompress(a.body) == b"a" * 5000, "another file"


def test_body_whose_end_is_not_sure(web):
    """Chunked encoding in HTTP/1.0: a proxy in front may see another end, so data after it is not a request."""
    _, port, _ = web()
    with socket.create_connection(("127.0.0.1", port), 5) as c:
        c.sendall(b"POST /a.txt HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
                  b"GET /a.txt HTTP/1.1\r\nHost: x\r\n\r\n")
        got = b""
        while piece := c.recv(4096):
            got += piece
    assert got.count(b"HTTP/1.1 ") == 1 and b"0123456789" not in got


def test_nothing_hidden(web):
    _, port, root = web()
    for name in (".htpasswd", "x.m3u8.tmp"):
        (root / name).write_text("secret")
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("secret")
    for path in ("/.htpasswd", "/x.m3u8.tmp", "/.git/config", "/.git/", "/%2ehtpasswd", "/players/../.htpasswd"):
        assert once(port, path).status == 404, path


def test_no_way_out(web, tmp_path):
    """Neither dots, nor escapes, nor links lead out of the folder."""
    _, port, root = web()
    (tmp_path / "secret").write_text("secret")
    os.symlink(tmp_path / "secret", root / "link")
    os.symlink("..", root / "up")
    os.symlink("a.txt", root / "inside")
    with Http(port) as h:
        assert h.get("/link").status == 404
        assert h.get("/up/secret").status == 404
        assert h.get("/inside").body == b"0123456789"
    for path in ("/../secret", "/%2e%2e/secret", "/..%2fsecret", "/players/../../secret",
                 "/%2e%2e%2f%2e%2e%2fetc/passwd", "//../secret", "/./../secret", "/%", "/%zz", "/%00"):
        a = once(port, path)
        assert a.status in (400, 404) and b"secret" not in a.body, path


def test_cors(web):
    _, port, _ = web()
    with Http(port) as h:
        a = h.get("/a.txt", Origin="http://x")
        assert a.headers["access-control-allow-origin"] == "*"
        a = h.get("/a.txt", "OPTIONS", Origin="http://x", Access_Control_Request_Method="GET",
                  Access_Control_Request_Headers="x-token")
        assert a.status == 200 and "GET" in a.headers["access-control-allow-methods"]
        assert a.headers["access-control-allow-headers"] == "x-token"  # the last of two lines


def test_cors_off(web):
    _, port, _ = web("crossdomain off;")
    with Http(port) as h:
        assert "access-control-allow-origin" not in h.get("/a.txt").headers
        assert h.get("/a.txt", "OPTIONS").status == 405


def test_keep_alive_and_pipelining(web):
    _, port, _ = web()
    with Http(port) as h:
        for _ in range(3):
            assert h.get("/a.txt").headers["connection"] == "keep-alive"
        for _ in range(20):
            h.ask("/a.txt")
            h.ask("/nix")
        for _ in range(20):
            assert h.answer().status == 200
            assert h.answer().status == 404
        h.ask("/a.txt", Connection="close")
        assert h.answer().headers["connection"] == "close"
        assert h.closed(1)
    with Http(port) as h:
        assert h.get("/a.txt", version="1.0").headers["connection"] == "close"
        assert h.closed(1)


def test_cut_at_every_byte(web):
    _, port, _ = web()
    text = b"GET /a.txt HTTP/1.1\r\nHost: h\r\nRange: bytes=1-2\r\n\r\n"
    with Http(port) as h:
        for at in range(1, len(text)):
            h.send(text[:at])
            if at % 7 == 0:
                time.sleep(0.002)
            h.send(text[at:])
            assert h.answer().body == b"12"


def test_bad_requests(web):
    s, port, _ = web()
    rows = ((b"\x16\x03\x01\x00\x00", 400), (b"hello\r\n\r\n", 400),
            (b"GET / HTTP/1.1\r\n\r\n", 400), (b"GET / HTTP/3.0\r\nHost: h\r\n\r\n", 505),
            (b"GET /" + b"x" * 20000 + b" HTTP/1.1\r\nHost: h\r\n\r\n", 414),
            (b"GET / HTTP/1.1\r\nHost: h\r\n" + b"A: b\r\n" * 200 + b"\r\n", 431))
    asked = [Http(port) for _ in rows]
    for h, (data, status) in zip(asked, rows):
        h.send(data)
        assert h.answer().status == status, data[:40]
    for h in asked:
        assert h.closed(4)
        h.close()
    assert once(port, "/a.txt").status == 200


def test_large_head(web):
    """1 MB of header: a response, not a reset, and no memory for it."""
    s, port, _ = web()
    before = s.rss()
    with Http(port) as h:
        try:
            h.send(b"GET / HTTP/1.1\r\nHost: h\r\nA: " + b"x" * (1 << 20))
        except OSError:
            pass
        assert h.answer().status == 431
    assert s.rss() - before < 2000 * ROOMY


def test_slowloris(web):
    """Connections that send a byte now and then are closed; others are served meanwhile."""
    s, port, _ = web(name="slow")
    s.reload(glob=open(s.conf_path).read().split("pid ")[1].split("\n", 1)[1].split("vhost")[0]
             + "limits { handshake_timeout 2; idle_timeout 3; }")
    slow = [Http(port) for _ in range(20)]
    silent = Http(port)
    begun = time.monotonic()
    for h in slow:
        h.send(b"GET / HTTP/1.1\r\nHost: h\r\n")
    while time.monotonic() - begun < 0.8:
        for h in slow:
            h.send(b"A: b\r\n")
        assert once(port, "/a.txt").status == 200
        time.sleep(0.1)
    for h in slow:
        assert h.answer().status == 408
        assert h.closed(1)
    assert silent.closed(), "a silent one is not closed"


def test_client_that_does_not_read_a_file(web):
    """A file of 100 MB to a client that does not read takes no memory and delays no other client."""
    s, port, root = web()
    with open(root / "big.bin", "wb") as f:
        f.truncate(100 << 20)
    stuck = [Http(port, rcvbuf=4096) for _ in range(20)]
    for h in stuck:
        h.ask("/big.bin")
    time.sleep(0.5)
    before = s.rss()
    assert once(port, "/a.txt").status == 200
    time.sleep(0.5)
    assert s.rss() - before < 3000 * ROOMY
    for h in stuck:
        h.close()
    with Http(port) as h:
        assert len(h.get("/big.bin").body) == 100 << 20
    assert "watchdog" not in s.log()


def test_cold_file(web):
    """A file that is not cached is read by a helper thread: the coroutines do not wait for it."""
    s, port, root = web()
    data = os.urandom(1 << 20) * 48
    with open(root / "cold.bin", "wb") as f:
        f.write(data)
        f.flush()
        os.fsync(f.fileno())
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    with Http(port, timeout=20) as h:
        assert h.get("/cold.bin").body == data
    assert "watchdog" not in s.log()


def test_expect_continue(web):
    """A client that asks before it sends a body is answered at once."""
    _, port, _ = web()
    with Http(port) as h:
        begun = time.monotonic()
        h.ask("/a.txt", "POST", Expect="100-continue", Content_Length="5")
        assert h.answer().status == 405
        assert time.monotonic() - begun < 8 * SLOW
        assert h.closed(3)


@pytest.mark.needs("curl")
def test_curl(web, tmp_path):
    _, port, root = web()
    out = tmp_path / "out"
    base = f"http://127.0.0.1:{port}"
    r = tools.run(["curl", "-sS", "-f", "--compressed", "-o", out, "-w", "%{http_code} %{num_connects} ",
                   f"{base}/script.js", "-o", out, f"{base}/movie.mp4", "-C", "1000"])
    assert r.stdout == b"206 1 206 0 " or r.stdout.split()[1::2] == [b"1", b"0"]
    r = tools.run(["curl", "-sS", "-L", f"{base}/players"])
    assert r.stdout == b"players"
    r = tools.run(["curl", "-sS", "-I", "--http2", f"{base}/a.txt"])
    assert b"200" in r.stdout.splitlines()[0]
    r = tools.run(["curl", "-sS", "--path-as-is", "-w", "%{http_code}", "-o", "/dev/null",
                   f"{base}/../../../../etc/passwd"])
    assert r.stdout == b"400"


def test_vhosts_and_mounts(srs, tmp_path):
    """Files of a vhost, by the Host; a vhost that is off, or has none, uses the server's."""
    for name in ("main", "one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.txt").write_text(name)
    port = free_port()
    srs(f"""vhost __defaultVhost__ {{ }}
vhost one.test {{ http_static {{ enabled on; mount [vhost]/; dir {tmp_path}/one; }} }}
vhost two.test {{ http_static {{ enabled on; mount two.test/deep/; dir {tmp_path}/two; }} }}
""", f"http_server {{ enabled on; listen 127.0.0.1:{port}; dir {tmp_path}/main; }}")
    assert once(port, "/x.txt", Host="any").body == b"main"
    assert once(port, "/x.txt", Host="one.test:80").body == b"one"
    assert once(port, "/deep/x.txt", Host="TWO.test").body == b"two"
    assert once(port, "/x.txt", Host="two.test").body == b"main"
    assert once(port, "/x.txt?vhost=one.test", Host="any").body == b"one"


def test_many_requests_leave_nothing(web):
    s, port, _ = web()

    def work():
        for _ in range(20):
            with Http(port) as h:
                for _ in range(10):
                    assert h.get("/a.txt").status == 200

    work()
    before = s.rss()
    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wait_for(lambda: s.rss() - before < 1500 * ROOMY, 3), f"{before} to {s.rss()} kB"


assert socket and procs
