# SPDX-License-Identifier: MIT
"""Handshakes: simple, complex with both digest schemes, and invalid ones."""
import os
import socket
import struct

import pytest

import flv
from rtmpclient import FP_KEY, Closed, digest_at, digest_of, make_c1


@pytest.mark.parametrize("kind", ["simple", "complex0", "complex1"])
def test_handshake(srs, source, kind):
    s = srs()
    c = s.client().handshake(kind)
    if kind == "simple":
        assert c.s2 == c.c1, "S2 differs from C1"
    else:
        scheme = int(kind[-1])
        assert c.complex == scheme, "S1 is not signed by the scheme of C1"
        assert c.s2_is_signed(scheme)
        assert c.s1[4:8] != b"\0\0\0\0"
    c.publish("s")
    for t in flv.cut(source, 200):
        c.send_tag(t)


def test_random_c1_with_a_version_falls_back(srs):
    """A version like Flash's but no digest anywhere: the simple handshake answers."""
    s = srs()
    c1 = struct.pack(">I", 1) + bytes([9, 0, 124, 2]) + os.urandom(1528)
    c = s.client().handshake("simple", c1=c1)
    assert c.s2 == c1
    c.connect()


def test_wrong_digest_falls_back(srs):
    s = srs()
    c1 = bytearray(make_c1("complex1"))
    c1[digest_at(c1, 1)] ^= 1
    c = s.client().handshake("simple", c1=bytes(c1))
    assert c.s2 == bytes(c1)
    c.connect()


def test_digest_with_the_greatest_offset(srs):
    """The digest at the very end of its block, for both schemes."""
    s = srs()
    for scheme in (0, 1):
        c1 = bytearray(make_c1("simple"))
        c1[4:8] = bytes([128, 0, 7, 2])
        base = 772 if scheme == 0 else 8
        c1[base:base + 4] = bytes([255, 255, 217, 0])   # 727
        at = digest_at(c1, scheme)
        assert at == base + 4 + 727
        c1[at:at + 32] = digest_of(bytes(c1), at, FP_KEY)
        c = s.client().handshake(f"complex{scheme}", c1=bytes(c1))
        assert c.complex == scheme
        c.connect()
        c.close()


def test_any_c2_is_taken(srs):
    """Old encoders send zeros or garbage as C2."""
    s = srs()
    for c2 in (bytes(1536), os.urandom(1536)):
        c = s.client().handshake("simple", c2=c2)
        c.connect()
        c.close()


def test_c0_c1_c2_in_small_pieces(srs):
    s = srs()
    c = s.client()
    raw = b"\x03" + make_c1("simple")
    for i in range(0, len(raw), 97):
        c.send(raw[i:i + 97])
    answer = b""
    while len(answer) < 3073:
        answer += c.sock.recv(3073 - len(answer))
    c.c1, c.s1, c.s2 = raw[1:], answer[1:1537], answer[1537:]
    c.complex = None
    # C2 and connect in one write, as fast encoders do
    body = b"\0" * 1536
    c.send(body[:700])
    c.send(body[700:])
    c.connect()


def test_c2_and_connect_in_one_packet(srs):
    s = srs()
    c = s.client()
    c.sock.sendall(b"\x03" + make_c1("simple"))
    answer = b""
    while len(answer) < 3073:
        answer += c.sock.recv(3073 - len(answer))
    c.s1 = answer[1:1537]
    import amf
    connect = c.w.message(3, 20, 0, 0, amf.encode("connect", 1, {"app": "live", "tcUrl":
                          f"rtmp://127.0.0.1:{s.port}/live"}))
    c.send(c.s1 + connect)
    assert c.command(("_result",))[1] == 1


@pytest.mark.parametrize("c0", [0, 6, 0x47, 255])
def test_other_versions_are_refused(srs, c0):
    """C0 must be 3: anything else, also 6 (RTMPE), ends the connection, with a line in the log."""
    s = srs()
    c = s.client()
    c.sock.sendall(bytes([c0]) + os.urandom(1536))
    c.sock.settimeout(5)
    try:
        assert c.sock.recv(1) == b""
    except ConnectionResetError:
        pass
    assert s.wait_log(r"(?i)\[(WARN|INFO)\].*handshake", 3)
    s.client().connect()


def test_http_on_the_rtmp_port(srs):
    s = srs()
    c = s.client()
    c.sock.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" + b"x" * 1600)
    c.sock.settimeout(5)
    with pytest.raises((ConnectionResetError, Closed, AssertionError, socket.timeout)):
        while c.sock.recv(4096):
            pass
        raise Closed("ended")
