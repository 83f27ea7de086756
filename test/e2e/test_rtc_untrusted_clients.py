# SPDX-License-Identifier: MIT
"""What one untrusted WebRTC client can cost: log lines, time of the thread, keys."""
import base64
import http.client
import select
import subprocess
import threading
import time

import pytest

import hostile_rtc as h
from procs import SLOW, wait_for
from rtc import rtc_server
from server import HELD
from webclient import Cert
from whipscript import Publisher, check

PWD = h.PWD


def post(s, body, path="/rtc/v1/whip/?app=live&stream=s", kind="application/sdp"):
    """Returns status, and seconds until the response."""
    c = http.client.HTTPConnection("127.0.0.1", s.api_port, timeout=10)
    began = time.monotonic()
    c.request("POST", path, body, {"Content-Type": kind})
    got = c.getresponse()
    got.read()
    c.close()
    return got.status, time.monotonic() - began


# ---- the log

def refused():
    """Invalid offers, each with another fault; all are large."""
    more = "".join(f"a=x-{i}:{'y' * 1000}\r\n" for i in range(50))
    fine = h.offer(True)
    yield fine.replace("a=fingerprint", "a=nothing") + more
    yield fine.replace("H264/90000", "X" * 900 + "/90000") + more
    yield fine.replace("a=rtcp-mux", "a=mux") + more
    yield fine.replace("m=video 9", "m=" + "v" * 3000 + " x")
    yield "v=0\r\n" + f"a=ice-pwd:{PWD}\r\n" * 1500
    yield fine.replace("UDP/TLS/RTP/SAVPF", "U" * 4000)


def test_a_refused_offer_is_few_bytes_of_the_log(srs, tmp_path):
    s = rtc_server(srs, tmp_path, glob="limits { log_lines 0; log_strangers 0; log_address 0; }", level="info")
    for i, body in enumerate(refused()):
        mark = s.mark()
        status, _ = post(s, body, f"/rtc/v1/whip/?app={'a' * 2000}&stream={'s' * 2000}&more={'p' * 2000}")
        assert 400 <= status < 500, (i, status)
        assert s.wait_log("is refused", 3, mark)
        lines = [x for x in s.log()[mark:].splitlines() if "RTC" in x]
        assert sum(map(len, lines)) < 800, (i, lines)
        assert all(len(x) < 380 for x in lines if "is refused" in x), lines  # with time, pid and id
        assert not any(x in "".join(lines) for x in ("v=0", "a=x-", "a=ice")), lines


@pytest.mark.parametrize("secrets", ["off", "on"])
def test_passwords_of_ice_are_not_in_the_log(srs, tmp_path, secrets):
    s = rtc_server(srs, tmp_path, glob=f"log_secrets {secrets};", level="trace")
    c = h.Client(s.api_port, s.rtc_port, "s", True)
    assert c.status == 201
    c.end(s.api_port)
    c.close()
    assert s.wait_log("offer text", 3) and s.wait_log("answer text", 3)
    for secret in (PWD, c.pwd):
        assert (secret in s.log()) == (secrets == "on")
    assert ("a=ice-pwd:***" in s.log()) == (secrets == "off")


# ---- certificates

def der(tag, body):
    n = len(body)
    size = bytes([n]) if n < 128 else bytes([0x80 | (n.bit_length() + 7) // 8]) + n.to_bytes((n.bit_length() + 7) // 8, "big")
    return bytes([tag]) + size + body


def rsa_key(path, p, q, e=65537):
    """2**p - 1 and 2**q - 1 are Mersenne primes: such a key is instant, at any length."""
    p, q = 2 ** p - 1, 2 ** q - 1
    d = pow(e, -1, (p - 1) * (q - 1))
    values = [0, p * q, e, d, p, q, d % (p - 1), d % (q - 1), pow(q, -1, p)]
    body = der(0x30, b"".join(der(2, v.to_bytes(v.bit_length() // 8 + 1, "big")) for v in values))
    path.write_text("-----BEGIN RSA PRIVATE KEY-----\n" + base64.encodebytes(body).decode() + "-----END RSA PRIVATE KEY-----\n")


class KeyCert(Cert):
    """A certificate with this key."""

    def __init__(self, folder, *key):
        self.cert, self.key = str(folder / "peer.crt"), str(folder / "peer.key")
        rsa_key(folder / "peer.key", *key)
        subprocess.run(["openssl", "req", "-x509", "-key", self.key, "-out", self.cert, "-days", "2", "-subj", "/CN=x"], check=True,
                       capture_output=True)


@pytest.mark.parametrize("client", [True, False])
@pytest.mark.parametrize("key, what", [((11213, 4423), "an RSA key of 15636 bits"), ((2203, 607, 2 ** 40 + 15), "exponent of 41")])
def test_a_key_that_takes_long_is_refused(srs, tmp_path, client, key, what):
    s = rtc_server(srs, tmp_path)
    with pytest.raises((AssertionError, OSError)):
        Publisher(tmp_path, s.whip("s"), cert=KeyCert(tmp_path, *key), client=client)
    assert s.wait_log(f"the peer's certificate has .*{what}", 5)
    assert not HELD.search(s.log())
    Publisher(tmp_path, s.whip("t"), client=client).leave() # others are admitted all the same


# ---- numbers under one key

def test_sources_that_are_kept_are_apart(srs, tmp_path):
    """A publisher may use one SSRC for two tracks. A player's key must use each packet number of a source only once."""
    s = rtc_server(srs, tmp_path, rtc="keep_original_ssrc on;")
    said = "a=ssrc:12345 cname:x\r\n"
    body = h.offer(True, more=said.replace("\r\n", "\n")) + said
    c = h.Client(s.api_port, s.rtc_port, "s", True, body=body).connect()
    for n in range(5):
        c.say(h.rtp(n, n * 3000, 12345, b"\x65" + bytes(40), h.VIDEO, True))
    assert s.wait_log("RTC: first packet of video.* ssrc=12345", 3)
    p = h.Client(s.api_port, s.rtc_port, "s")
    assert p.status == 201 and len(p.ssrcs) >= 2, p.text
    of = {}
    for line in p.text.split("\r\n"):
        if line.startswith("m="):
            kind = line[2:7]
        elif line.startswith("a=ssrc:"):
            of.setdefault(line.split(":")[1].split()[0], set()).add(kind)
    assert all(len(x) == 1 for x in of.values()), of
    assert "12345" in of, "the publisher's own must stay for one of them"


# ---- time of the thread

def nasty():
    """Offers of 64 KB that take as long as possible."""
    fine = h.offer(True)
    head, room = "v=0\r\n", 64 * 1024 - len(fine) - 100

    def fill(line):
        return (line + "\r\n") * (room // (len(line) + 2))
    yield "short lines", fine + fill("a=x")
    yield "lines of one letter", fine + fill("x")
    yield "empty lines", fine + "\r\n" * (room // 2)
    yield "candidates", fine + fill("a=candidate:1 1 udp 1 192.0.2.1 9 typ host")
    yield "candidates of TCP", fine + fill("a=candidate:1 1 tcp 1 x.local 9 typ host tcptype active " + "y" * 1000)
    yield "extensions", fine + fill("a=extmap:1 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-0")
    yield "feedback for all", fine + fill("a=rtcp-fb:* nack pli")
    yield "fingerprints", fine + fill("a=fingerprint:sha-256 " + ":".join(["AB"] * 32))
    yield "formats", fine + fill(f"a=fmtp:{h.VIDEO} " + "a=b;" * 900)
    yield "simulcast", fine + fill("a=simulcast:send " + ";".join("abcdefgh") * 200)
    yield "mids", fine.replace("BUNDLE 0 1", "BUNDLE " + "0 " * 2000)
    types = " ".join(str(i) for i in range(64, 128))
    one = f"m=video 9 UDP/TLS/RTP/SAVPF {types}\r\n" + "".join(f"a=rtpmap:{i} H264/90000\r\na=fmtp:{i} x=y\r\n" for i in range(64, 128))
    yield "sections", (head + one * 16)[:64 * 1024 - 10]
    yield "sections of much", head + (one + f"a=fmtp:100 {'a=b;' * 400}\r\n") * 9
    yield "repeated types", fine + fill("a=rtpmap:102 H264/90000")


def test_no_offer_takes_long(srs, tmp_path):
    s = rtc_server(srs, tmp_path, level="info")
    for n, (name, body) in enumerate(nasty()):
        took = min(post(s, body, f"/rtc/v1/whip/?app=live&stream={n}-{k}")[1] for k in range(4)) # one has no publisher before it
        print(f"{name}: {took * 1000:.2f} ms")
        assert took < 0.02 * SLOW, name # measured by a client on the same CPU; the thread's own time is below 5 ms:
    assert not HELD.search(s.log()), s.log()


class Later(Publisher):
    """A client whose handshake is run step by step by the test."""

    def connect(self, dtls):
        self.dtls = dtls
        self.sock.send(check(self.said("ice-ufrag"), self.ufrag, self.said("ice-pwd")))
        assert self.sock.recv(2048)[:2] == b"\x01\x01"

    def step(self):
        self.fly(self.dtls.take(self.sock.recv(2048)))


class Ear(threading.Thread):
    """A player that records the longest silence."""

    def __init__(self, s, stream):
        super().__init__(daemon=True)
        self.client, self.gap, self.packets, self.over = h.Client(s.api_port, s.rtc_port, stream).connect(), 0, 0, False
        self.start()

    def run(self):
        last = 0
        while not self.over:
            got = self.client.hear(1)
            if len(got) > 12 and got[0] >> 6 == 2 and not 192 <= got[1] < 224:
                now = time.monotonic()
                self.gap = max(self.gap, now - last) if last else 0
                last, self.packets = now, self.packets + 1
            self.client.answers(got)

    def heard(self):
        """The longest gap since the last call."""
        gap, self.gap = self.gap, 0
        return gap


def shake(peers):
    """Runs all handshakes at once."""
    for p in peers:
        p.fly(p.dtls.take(b""))
    of, until = {p.sock: p for p in peers}, time.monotonic() + 20 * SLOW
    while of and time.monotonic() < until:
        for sock in select.select(list(of), [], [], 0.5)[0]:
            of[sock].step()
            if of[sock].dtls.done:
                of.pop(sock)
    return len(peers) - len(of)


def nasty_json():
    """Bodies of the maximum size."""
    most = 95 * 1024
    head = '{"streamurl":"webrtc://127.0.0.1/live/s","sdp":"v=0",'
    yield "numbers", head + '"a":[' + ",".join(["1"] * (most // 2 - 100)) + "]}"
    yield "keys", "{" + ",".join(f'"{i}":1' for i in range(most // 10)) + "}"
    yield "one key", "{" + ",".join('"a":1' for _ in range(most // 6 - 10)) + "}"
    yield "objects", head + '"a":[' + ",".join(["{}"] * (most // 3 - 100)) + "]}"
    yield "escapes", head + '"a":"' + "\\u00e9" * (most // 6 - 100) + '"}'
    yield "spaces", head + " " * (most - 100) + '"a":1}'
    yield "deep", "[" * most


def test_no_json_takes_long(srs, tmp_path):
    s = rtc_server(srs, tmp_path, level="info")
    for name, body in nasty_json():
        took = min(post(s, body, "/rtc/v1/play/", "application/json")[1] for _ in range(4))
        print(f"{name}: {took * 1000:.2f} ms")
        assert took < 0.02 * SLOW, name
    assert not HELD.search(s.log()), s.log()


@pytest.mark.alone
@pytest.mark.parametrize("workers", [1, 4])
def test_a_hundred_at_once_delay_no_player(srs, tmp_path, source, workers):
    """Handshakes with the slowest possible keys, and the slowest offers; a player notices no gap."""
    s = rtc_server(srs, tmp_path, rtc="rtmp_to_rtc on;", level="info", glob=f"workers {workers};")
    pusher = s.push(source, "bystander", loop=True, ahead=1)
    assert s.wait_log("video sh", 3)
    ear, cert = Ear(s, "bystander"), Cert(tmp_path, "peer", kind="P-384")
    assert wait_for(lambda: ear.packets > 50, 5, 0.02)
    ear.heard()
    assert wait_for(lambda: ear.packets > 150, 5, 0.02)
    quiet = ear.heard()
    peers = [Later(tmp_path, s.whip(f"h{i}"), cert=cert, client=True) for i in range(60)]
    ear.heard()
    began = time.monotonic()
    done = shake(peers)
    took, shaken = time.monotonic() - began, ear.heard()
    bodies = [body for _, body in nasty()]
    threads = [threading.Thread(target=lambda i=i: post(s, bodies[i % len(bodies)], f"/rtc/v1/whip/?app=live&stream=o{i}"))
               for i in range(100)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    offered = ear.heard()
    ear.over = True
    pusher.stop()
    print(f"gaps: {quiet * 1000:.0f} ms alone, {shaken * 1000:.0f} ms while {done} handshakes took {took:.2f} s, {offered * 1000:.0f} ms by offers")
    assert done == len(peers)
    assert max(shaken, offered) < max(0.15, 2 * quiet) * SLOW
    assert not HELD.search(s.log())
