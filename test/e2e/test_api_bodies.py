# SPDX-License-Identifier: MIT
"""Bodies that untrusted clients send to the ports of the API: what each costs the thread, and that unneeded bodies are not read."""
import json
import os
import socket

import pytest

import hostile_rtc
from flvgen import synthetic
from httpapi import Backend
from procs import SLOW, free_port
from rtc import rtc_server

MANY = 100
FAST = SLOW == 1  # not measured with sanitizers


def filled(begin, unit, end, size):
    return (begin + unit * ((size - len(begin) - len(end)) // len(unit))).rstrip(",") + end


def bodies(size):
    return {
        "objects": filled('{"x":[', "{},", "]}", size), "lists": filled('{"x":[', "[],", "]}", size),
        "numbers": filled('{"x":[', "0,", "]}", size), "strings": filled('{"x":[', '"",', "]}", size),
        "members": "{" + ",".join(f'"{i:x}":0' for i in range(size // 9)) + "}",
        "deep": filled('{"x":', "[", "", size), "no end": filled('{"x":[', "{},", "", size),
        "escapes": filled('{"sdp":"', "\\u00e9", '"}', size), "the same again": filled("{", '"sdp":"","streamurl":"",', "}", size),
        "a number": filled('{"x":', "1", "}", size), "space": filled("{", " ", "}", size),
    }


def cpu_ms(pid):
    """CPU time of all threads, from the scheduler."""
    tasks = f"/proc/{pid}/task"
    return sum(int(open(f"{tasks}/{t}/schedstat").read().split()[0]) for t in os.listdir(tasks)) / 1e6


def at_once(port, path, body, n=MANY, kind="application/json"):
    """Sends n requests and holds back the last byte of each until all are there. Returns the responses."""
    head = f"POST {path} HTTP/1.1\r\nHost: h\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    socks = [socket.create_connection(("127.0.0.1", port), 20 * SLOW) for _ in range(n)]
    early = []
    for c in socks:
        try:
            c.sendall(head + body[:-1])
        except OSError:  # already answered
            early.append(c)
    for c in socks:
        if c not in early:
            try:
                c.sendall(body[-1:])
            except OSError:
                pass
    got = []
    for c in socks:
        try:
            got.append(c.recv(4096))
        except OSError:
            got.append(b"")
        c.close()
    return got


@pytest.mark.alone
@pytest.mark.parametrize("size", [80 * 1024, 190 * 1024], ids=["in the limit", "over it"])
def test_json_of_untrusted_clients(srs, tmp_path, size):
    """A hundred arrive together: none takes long, and a player keeps playing."""
    s = rtc_server(srs, tmp_path, vhost="min_latency on; play { mw_latency 0; }")
    s.push(synthetic(10, gop=25), loop=True)
    v = s.watch()
    assert v.wait(lambda got: len(got) > 20, 5)
    begin, worst = len(v.arrivals), 0
    for name, body in bodies(size).items():
        before = cpu_ms(s.pid)
        got = at_once(s.api_port, "/rtc/v1/play/", body.encode())
        each = (cpu_ms(s.pid) - before) / MANY
        assert sum(b'"code":400' in x for x in got) > MANY / 2 or size > 88 * 1024, (name, got[0])
        assert each < 2 or not FAST, f"{name}: {each:.2f} ms each"
        worst = max(worst, each)
    seen = v.arrivals[begin:]
    gap = max(b[0] - a[0] for a, b in zip(seen, seen[1:]))
    assert gap < 0.15 * SLOW, f"the player waited {gap * 1000:.0f} ms"
    print(f"at most {worst:.2f} ms each, longest gap {gap * 1000:.0f} ms")


OFF = [("POST", f"/rtc/v1/{x}/", 404) for x in ("publish", "play", "whip", "whep", "whip-play", "nack")]
WRONG = [("POST", "/rtc/v1/other/", 404), ("PUT", "/rtc/v1/play/", 405), ("PUT", "/rtc/v1/whip/", 405), ("POST", "/metrics", 405),
         ("POST", "/nothing", 404), ("POST", "/api/v1/streams", 200), ("DELETE", "/api/v1/streams", 405), ("POST", "/api/v1/nothing", 404)]


def answer_to_head(port, method, path):
    with socket.create_connection(("127.0.0.1", port), 3 * SLOW) as c:
        c.sendall(f"{method} {path} HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 50000\r\n\r\n".encode())
        return int(c.recv(4096).split()[1])  # without any byte of the body


def test_what_is_not_served_has_no_body(srs, tmp_path):
    port = free_port()
    srs(glob=f"http_api {{ enabled on; listen 127.0.0.1:{port}; }}")
    for method, path, status in OFF:
        assert answer_to_head(port, method, path) == status, path
    s = rtc_server(srs, tmp_path)
    for method, path, status in WRONG:
        assert answer_to_head(s.api_port, method, path) == status, (method, path)


def test_an_offer_that_is_said_to_be_too_large(srs, tmp_path):
    s = rtc_server(srs, tmp_path)
    for path in "/rtc/v1/play/", "/rtc/v1/whip/":
        with socket.create_connection(("127.0.0.1", s.api_port), 3 * SLOW) as c:
            c.sendall(f"POST {path} HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n".encode())
            assert b"Rtc" in c.recv(4096), path


@pytest.mark.alone
@pytest.mark.parametrize("more", ["a=x\r\n" * 12000, "a=rtcp-fb:* nack\r\n" * 3500, "a=candidate:1 1 udp 1 1.2.3.4 5 typ host\r\n" * 1400],
                         ids=["lines", "feedback", "candidates"])
def test_offers_of_untrusted_clients(srs, tmp_path, more):
    """Offers of the maximum length that are rejected at the end: the cost of parsing."""
    s = rtc_server(srs, tmp_path)
    body = (hostile_rtc.offer(False) + more)[:64 * 1024 - 10] + "\r\nm=x\r\n"
    for path, text, kind in (("/rtc/v1/whip/", body, "application/sdp"),
                             ("/rtc/v1/publish/", json.dumps({"sdp": body[:60000], "streamurl": "webrtc://h/live/s"}), "application/json")):
        before = cpu_ms(s.pid)
        got = at_once(s.api_port, path, text.encode(), kind=kind)
        each = (cpu_ms(s.pid) - before) / MANY
        print(f"{path} {each:.2f} ms {got[0][:60]}")
        assert each < 5 or not FAST, f"{path}: {each:.2f} ms each"


def test_backends_that_answer_too_much(srs, source):
    """A response with too many values is invalid regardless of its code, and is not parsed into a tree."""
    b = Backend(lambda e: '{"code":0,"x":[' + ",".join(["{}"] * 20000) + "]}")
    s = srs(f"http_hooks {{ enabled on; on_publish {b.url()}; }}")
    s.allow_errors = True
    with pytest.raises(Exception):
        s.publisher("cam")
    assert s.wait_log("neither 0 nor an object with a code", 3)
