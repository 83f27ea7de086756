# SPDX-License-Identifier: MIT
"""Bytes of log that floods of untrusted clients and of admitted clients cause, with short and long lines."""
import contextlib
import os
import socket
import threading
import time

import pytest

import amf
from procs import free_port
from rtmpclient import ChunkWriter

PAUSES = 25
LONG = "x" * 3800
# A full bucket, and its refill per second, in bytes (doc/security-log.md).
STRANGERS = 200 * 200, 50 * 200
ADDRESS = 1000 * 200, 20 * 200
PRIVATE = 10 * 1000 * 200, 10 * 20 * 200


def words(port, name=None, long=""):
    """All messages of a client at once: handshake, connect and, with a name, play and many pauses."""
    w = ChunkWriter()
    url = f"rtmp://127.0.0.1:{port}/live{long}"
    said = [(0, amf.encode("connect", 1, {"app": "live", "tcUrl": url}))]
    if name:
        said += [(0, amf.encode("createStream", 2, None)), (1, amf.encode("play", 3, None, name))]
        said += [(1, amf.encode("pause", 4 + i, None, i % 2 == 0, 0)) for i in range(PAUSES)]
    return b"\3" + bytes(2 * 1536) + b"".join(w.message(3, 20, 0, sid, data, fmt=0) for sid, data in said)


def come_and_go(port, said, seconds, answer):
    """This many connections, one after the other in each of four threads."""
    made, end = [0] * 4, time.monotonic() + seconds

    def run(k):
        while time.monotonic() < end:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)) as s:
                s.settimeout(2)
                s.sendall(said())
                got = 0
                while got < answer and (data := s.recv(1 << 16)):
                    got += len(data)
            made[k] += 1
    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return sum(made)


def publisher(port, source):
    """All messages of a publisher of 20 tags at once."""
    w = ChunkWriter()
    said = [(0, amf.encode("connect", 1, {"app": "live", "tcUrl": f"rtmp://127.0.0.1:{port}/live"})),
            (0, amf.encode("createStream", 2, None)), (1, amf.encode("publish", 3, None, os.urandom(4).hex(), "live"))]
    media = [w.message(4 if t.type == 8 else 6, t.type, t.ts, 1, t.data, fmt=0) for t in source[:20]]
    return b"\3" + bytes(2 * 1536) + b"".join(
        [w.message(3, 20, 0, sid, data, fmt=0) for sid, data in said] + media)


def flood(srs, said, header=b"", answer=3200, vhost="", seconds=1):
    """Returns (bytes of the log, connections, seconds, the log)."""
    behind = free_port()
    p = free_port()
    s = srs(vhost, glob=f"listen 127.0.0.1:{p} 127.0.0.1:{behind} proxy_protocol; limits {{ connects_per_second 0; }}", port=p,
            level="info")
    seconds = float(os.environ.get("FLOOD_SECONDS", seconds))
    before, t = os.path.getsize(s.log_path), time.monotonic()
    made = come_and_go(behind if header else p, lambda: header + said(p), seconds, answer)
    assert s.wait_log(r"left out", 5), s.log()[-2000:]
    took = time.monotonic() - t
    size = os.path.getsize(s.log_path) - before
    print(f"{size} bytes of {made} connections in {took:.1f} s")
    return size, made, took, s.log()


def at_most(took, *buckets):
    """Limit that includes the server's own lines and those about suppressed ones."""
    return sum(full + rate * (took + 1) for full, rate in buckets) + 5000


def test_untrusted_clients(srs):
    size, made, took, log = flood(srs, lambda p: words(p))
    assert size < at_most(took, STRANGERS), made
    assert "lines more of clients that neither publish nor play were left out" in log


def test_untrusted_clients_with_long_lines(srs):
    size, made, took, log = flood(srs, lambda p: words(p, long=LONG))
    assert size < at_most(took, STRANGERS), made
    assert max(map(len, log.splitlines())) < 1100
    assert " bytes more\n" in log


@pytest.mark.parametrize("ip, bucket, long", [pytest.param("192.0.2.7", ADDRESS, "", marks=pytest.mark.long),
                                              ("192.0.2.7", ADDRESS, LONG), ("10.1.2.3", PRIVATE, LONG),
                                              pytest.param("127.0.0.1", PRIVATE, "", marks=pytest.mark.long)],
                         ids=["public", "public-long", "private-long", "loopback"])
def test_players_of_one_address(srs, ip, bucket, long):
    """A private address may be a proxy with all clients behind it; it is limited nevertheless."""
    header = f"PROXY TCP4 {ip} 127.0.0.1 57005 1935\r\n".encode()
    size, made, took, log = flood(srs, lambda p: words(p, "s" + long), header, answer=6500, seconds=2)
    assert size < at_most(took, STRANGERS, bucket), made
    assert f"left out, the last one of {ip}" in log


def test_publishers_of_one_address(srs, source, tmp_path):
    """Each begins segments: log lines of these count for the publisher."""
    header = b"PROXY TCP4 192.0.2.7 127.0.0.1 57005 1935\r\n"
    size, made, took, log = flood(srs, lambda p: publisher(p, source), header, answer=3400,
                                  vhost=f"hls {{ enabled on; hls_path {tmp_path}/html; }}")
    assert size < at_most(took, STRANGERS, ADDRESS), made
