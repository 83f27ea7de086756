#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seeds of fuzz_rtsp*: test/fuzz/corpus/rtsp*. Run from the top folder."""
import base64
import os


def q(method, url, cseq, *fields, body=b""):
    head = [f"{method} {url} RTSP/1.0", f"CSeq: {cseq}", *fields]
    if body:
        head.append(f"Content-Length: {len(body)}")
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def a(status, cseq, *fields, body=b""):
    head = [f"RTSP/1.0 {status} x", f"CSeq: {cseq}", *fields]
    if body:
        head.append(f"Content-Length: {len(body)}")
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def frame(channel, data):
    return b"$" + bytes([channel]) + len(data).to_bytes(2, "big") + data


SDP = b"v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nt=0 0\r\nm=video 0 RTP/AVP 96\r\n"
RTP = bytes([0x80, 96, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0x65])
TCP = "Transport: RTP/AVP/TCP;unicast;interleaved=0-1"
URL = "rtsp://h/live/a"

PLAY = (q("OPTIONS", "*", 1) + q("DESCRIBE", URL, 2, "Accept: application/sdp") +
        q("SETUP", URL + "/trackID=0", 3, TCP) + frame(1, RTP) + q("PLAY", URL, 4) +
        q("TEARDOWN", URL, 5))
PUBLISH = (q("ANNOUNCE", URL, 1, body=SDP) + q("SETUP", URL + "/trackID=0", 2, TCP + ";mode=record") +
           q("SETUP", URL + "/trackID=1", 3, "Transport: RTP/AVP/TCP") + frame(0, RTP) +
           q("GET_PARAMETER", URL, 4) + frame(2, RTP) + q("TEARDOWN", URL, 5))
UDP = q("SETUP", URL, 1, "Transport: RTP/AVP;unicast;client_port=5000-5001")
BAD = (b"PLAY /a RTSP/1.0\r\n\r\n" + q("FOO", "/a", 1) + q("SETUP", "/a", 2, "Require: x") +
       q("PLAY", "/a", 3, "Session: y") + b"\r\n\r\n" + q("SETUP", "/a", 4, "Transport: a,", " b"))
CAMERA = (a(401, 1, 'WWW-Authenticate: Digest realm="r", nonce="n", qop="auth"') +
          a(200, 2, "Public: OPTIONS, GET_PARAMETER", "Content-Base: rtsp://10.0.0.1/b/", body=SDP) +
          frame(0, RTP) + b"garbage" + frame(0, RTP) + a(200, 3, "Session: 12;timeout=30") +
          a(302, 4, "Location: rtsp://o/c") + b"OPTIONS * RTSP/1.0\r\n\r\n")
HTTP = b"GET /a HTTP/1.0\r\nx-sessioncookie: 1\r\n\r\n" + q("OPTIONS", "*", 1)

FIELDS = [
    (0, "RTP/AVP/UDP;unicast;client_port=5000-5001,RTP/AVP/TCP;unicast;interleaved=0-1;mode=record"),
    (0, 'RTP/SAVP;multicast;destination=239.1.2.3;port=1-2;ttl=16;ssrc=0aB;mode="PLAY,RECORD"'),
    (0, "RTP/AVP;source=10.0.0.1;client_port=1;server_port=2-3"),
    (1, "npt=0.000-"), (1, "npt=now-12:05:35.3"), (1, "npt=-20;time=x"), (1, "clock=1-"),
    (1, "smpte-25=0:0:1-"), (2, "-1.5"), (2, "1e400"),
    (3, "url=rtsp://h/a;seq=1;rtptime=2,url=b;rtptime=4294967295"), (3, 'url="a,b"; seq=7'),
    (4, "rtsp://u:p@[::1]:8554//live/./a%20b/../c?k=v/trackID=0"), (4, "/live/a/trackID=15/?x"),
    (4, "*"), (5, "rtsp://u%40:p@h:8554/a?b#c"), (5, "rtsps://[fe80::1]/a"), (5, "?ctype=video"),
    (5, "trackID=0"), (6, "12345678 ; timeout = 60;x=y"),
    (7, 'Digest realm="a \\" b", nonce="n",algorithm=SHA-256, qop="auth,auth-int", Basic realm=x'),
    (7, 'Digest username="u", uri="/", response="00", cnonce=x, nc=00000001'),
]


def ws(op, data, fin=0x80):
    return bytes([fin | op, 0x80 | len(data)]) + b"\0\0\0\0" + data


TUNNELS = {
    "pieces": b"\x06" + base64.b64encode(PLAY[:40]) + base64.b64encode(PLAY[40:100]) + b"\r\n",
    "pads": b"\0QQ==QUI=QUJD\r\nQQ=QUJD",
    "bad": b"\0QUJDA=",
    "ws": b"\x0b" + ws(2, PLAY[:50], 0) + ws(9, b"hi") + ws(0, PLAY[50:100]) + ws(8, b"\x03\xe8"),
    "text": b"\x01" + ws(1, b"a"),
}

SEEDS = {
    "rtsp": {"play": b"\x20" + PLAY, "publish": b"\x02" + PUBLISH, "udp": b"\x06" + UDP,
             "bad": b"\x08" + BAD, "camera": b"\x09" + CAMERA, "http": b"\0" + HTTP,
             "longer": b"\x07PLAYS x\r\n" + frame(0, RTP),
             "length": b"\x04" + q("ANNOUNCE", "/a", 1, "Content-Length: -1")},
    "rtsp_fields": {f"{n:02}": bytes([kind]) + text.encode() for n, (kind, text) in enumerate(FIELDS)},
    "rtsp_tunnel": TUNNELS,
}

for target, seeds in SEEDS.items():
    os.makedirs(f"test/fuzz/corpus/{target}", exist_ok=True)
    for name, data in seeds.items():
        with open(f"test/fuzz/corpus/{target}/{name}", "wb") as f:
            f.write(data)
