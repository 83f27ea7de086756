#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seeds of fuzz_rtsp_intake: test/fuzz/corpus/rtsp_intake. Run from the top folder."""
import os
import struct

HEAD = "v=0\r\ns=x\r\na=control:*\r\n"
H264 = ("m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=fmtp:96 packetization-mode=1;sprop-parameter-sets="
        "Z2QADKzZQUGfnwFsgAAAAwCAAAAZB4oUyw==,aOvjyyLA\r\na=control:streamid=0\r\n")
AAC = ("m=audio 0 RTP/AVP 97\r\na=rtpmap:97 MPEG4-GENERIC/48000/2\r\na=fmtp:97 config=1190\r\n"
       "a=control:streamid=1\r\n")


def rtp(seq, time, payload, kind=96, marker=1, ssrc=1):
    return struct.pack(">BBHII", 0x80, kind | marker << 7, seq & 0xffff, time & 0xffffffff, ssrc) + payload


def sr(ssrc, ntp, time):
    return struct.pack(">BBHIQIII", 0x80, 200, 6, ssrc, ntp, time, 1, 2)


def stream(how, sdp, *packets):
    out = bytes([how]) + sdp.encode() + b"\0"
    for media, is_rtcp, wait, data in packets:
        out += bytes([media << 1 | is_rtcp]) + struct.pack(">H", len(data)) + bytes([wait]) + data
    return out


def video(n, jump=0, ssrc=1):
    key = n % 5 == 0
    unit = (b"\x65\x88" if key else b"\x41\x9a") + bytes([n % 200 + 1]) * 40
    return 0, 0, 120, rtp(n, n * 3000 + jump, unit, ssrc=ssrc)


def audio(n):
    return 1, 0, 40, rtp(n, n * 1024, b"\0\x10\0\x50" + bytes([n + 3]) * 10, kind=97, ssrc=2)


BOTH = HEAD + H264 + AAC
SEEDS = {
    "both": stream(0, BOTH, *(x for n in range(8) for x in (video(n), audio(n)))),
    "datagrams": stream(1, BOTH, *(video(n) for n in (0, 2, 1, 4, 4, 7, 5, 6, 12, 10, 15))),
    "jumps": stream(0, BOTH, *(x for n in range(8) for x in (video(n, 1 << 28 if n > 3 else 0), audio(n)))),
    "restarts": stream(1, BOTH, *(video(n) for n in range(4)), *(video(n + 9000, ssrc=7) for n in range(5))),
    "reports": stream(0, BOTH, (0, 1, 1, sr(1, 5 << 32, 0)), (1, 1, 1, sr(2, 5 << 32, 0)), video(0), audio(0), audio(1),
                      (0, 0, 255, sr(1, 6 << 32, 90000)), (0, 1, 255, b"\x81\xcb\0\1\0\0\0\1"), video(5)),
    "pieces": stream(0, HEAD + H264, (0, 0, 1, rtp(1, 0, b"\x7c\x85aaaa", marker=0)),
                     (0, 0, 1, rtp(2, 0, b"\x7c\x05bbbb", marker=0)), (0, 0, 1, rtp(3, 0, b"\x7c\x45cccc")),
                     (0, 0, 9, rtp(4, 3000, b"\x7c\xc1both")), (0, 0, 9, rtp(5, 6000, b"\x18\0\3\x41ab\0\xffcd"))),
    "g711": stream(4, HEAD + "m=video 0 RTP/AVP 26\r\nm=audio 0 RTP/AVP 0 101\r\n",
                   *((1, 0, 80, rtp(n, n * 160, b"\xd5" * 160, kind=0)) for n in range(4))),
    "hevc": stream(2, HEAD + "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H265/90000\r\n",
                   (0, 0, 9, rtp(1, 0, b"\x40\x01\x0c", marker=0)), (0, 0, 9, rtp(2, 0, b"\x26\x01\xafxyz"))),
}

os.makedirs("test/fuzz/corpus/rtsp_intake", exist_ok=True)
for name, data in SEEDS.items():
    with open(f"test/fuzz/corpus/rtsp_intake/{name}", "wb") as f:
        f.write(data)
