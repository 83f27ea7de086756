#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seeds of fuzz_rtp: test/fuzz/corpus/rtp. Run from the top folder."""
import os
import struct


def rtp(seq, time=0, ssrc=1, payload=b"abc", first=0x80, kind=96):
    return struct.pack(">BBHII", first, kind, seq & 0xffff, time, ssrc) + payload


def sr(ssrc, ntp, time, blocks=b""):
    return struct.pack(">BBHIQIII", 0x80 | len(blocks) // 24, 200, 6 + len(blocks) // 4, ssrc, ntp,
                       time, 1, 2) + blocks


def stream(window, *packets):
    return bytes([window]) + b"".join(bytes([len(p), wait]) + p for wait, p in packets)


BLOCK = struct.pack(">IIIIII", 1, 0x01fffffd, 3, 4, 5, 6)
SDES = b"\x81\xca\0\3\0\0\0\1\1\3abc\0\0\0"
SEEDS = {
    "order": stream(64, *((16, rtp(n, n * 3000)) for n in (65534, 65535, 0, 1))),
    "disorder": stream(64, *((16, rtp(n)) for n in (1, 3, 2, 2, 6, 7, 5, 4))),
    "lost": stream(8, *((64, rtp(n)) for n in (1, 3, 4, 5, 9, 40))),
    "restart": stream(64, *((16, rtp(n)) for n in (1, 3, 9000, 9001, 9002))),
    "tcp": stream(1, *((16, rtp(n)) for n in (1, 2, 9, 3))),
    "others": stream(64, (0, rtp(1)), (255, rtp(2, kind=97)), (255, rtp(3, ssrc=2)), (255, rtp(4, ssrc=2))),
    "heads": stream(64, (0, rtp(1, first=0xa0, payload=b"ab\0\2")), (1, rtp(2, first=0x82, payload=b"12345678ab")),
                    (1, rtp(3, first=0x90, payload=b"\xbe\xde\0\1abcdef")), (1, rtp(4, payload=b""))),
    "reports": stream(64, (0, rtp(1)), (1, sr(1, 5 << 32, 0, BLOCK) + SDES), (1, sr(2, 6 << 32, 0)),
                      (1, b"\x81\xc9\0\7" + bytes(4) + BLOCK + b"\x82\xcb\0\2" + bytes(8))),
}

os.makedirs("test/fuzz/corpus/rtp", exist_ok=True)
for name, data in SEEDS.items():
    with open(f"test/fuzz/corpus/rtp/{name}", "wb") as f:
        f.write(data)
