#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seeds of the packaging fuzzers: seeds_package.py test/fuzz/corpus"""
import struct
import sys
from pathlib import Path

AVCC = bytes.fromhex("0164000cffe100196764000cacd941419f9f016c8000000300800000190"
                     "78a14cb01000668ebe3cb22c0")
HVCC = bytes.fromhex("010160000000900000000000 5af000fcfdf8f800000f02a0000100044001"
                     "0c01a20001000344 01c1".replace(" ", ""))
OPUS = b"OpusHead\x01\x02\x38\x01\x80\xbb\0\0\0\0\0"
VPCC = bytes.fromhex("01000000000a820202020000")
VP9_KEY = bytes.fromhex("824983422013f00b30")
MP3 = b"\xff\xfb\x54\xc4" + bytes(20)
FLAC = b"fLaC\x80\0\0\x22\x12\0\x12\0\0\0\x0e\0\x10\0\x0b\xb8\x02\xf0" + bytes(20)


def tag(kind, step, body):
    return bytes([kind, step & 255]) + struct.pack(">H", len(body)) + body


def unit(*units):
    return b"".join(struct.pack(">I", len(u)) + u for u in units)


def avc(key, step, payload, cts=0):
    return tag(9, step, bytes([0x17 if key else 0x27, 1]) + cts.to_bytes(3, "big") + payload)


def enhanced(kind, first, fourcc, body, step=0):
    return tag(kind, step, bytes([first]) + fourcc + body)


SEEDS = {
    "h264_aac": tag(9, 0, b"\x17\0\0\0\0" + AVCC) + tag(8, 0, b"\xaf\0\x11\x90")
    + avc(True, 0, unit(b"\x65" + bytes(30)), 80) + tag(8, 3, b"\xaf\1" + bytes(20))
    + avc(False, 2, unit(b"\x41" + bytes(300))) + avc(True, 5, unit(b"\x67\1", b"\x65\2")),
    "h264_annexb": tag(9, 0, b"\x17\0\0\0\0" + AVCC) + avc(True, 1, b"\0\0\0\1\x65\1\0\0\1\x06\2"),
    "h265": enhanced(9, 0x90, b"hvc1", HVCC) + enhanced(9, 0x91, b"hvc1", b"\0\0\x28" + unit(b"\x26\1\1"))
    + enhanced(9, 0xa3, b"hvc1", unit(b"\x46\1\x50", b"\x02\1\1"), 5),
    "av1_opus": enhanced(9, 0x90, b"av01", b"\x81\0\x0c\0") + enhanced(8, 0x90, b"Opus", OPUS)
    + enhanced(9, 0x91, b"av01", b"\x32\1\0") + enhanced(8, 0x91, b"Opus", b"\xfcxx", 2),
    "vp9_mp3": enhanced(9, 0x90, b"vp09", VPCC) + enhanced(9, 0x91, b"vp09", VP9_KEY)
    + tag(8, 0, b"\x2f" + MP3) + tag(8, 3, b"\x2f" + MP3) + enhanced(9, 0x91, b"vp09", VP9_KEY, 125),
    "flac": enhanced(8, 0x90, b"fLaC", FLAC) + enhanced(8, 0x91, b"fLaC", b"\xff\xf8", 4)
    + enhanced(8, 0x91, b"fLaC", b"\xff\xf8", 4),
    "many_tracks": tag(9, 0, b"\x96\x10avc1\0" + len(AVCC).to_bytes(3, "big") + AVCC + b"\1\0\0\1x")
    + tag(9, 1, b"\x96\x11avc1\0\0\0\x09\0\0\0" + unit(b"\x65\1")),
    "times_jump": tag(8, 0, b"\xaf\0\x11\x90") + tag(8, 127, b"\xaf\1x") + tag(8, -128, b"\xaf\1x")
    + tag(8, 127, b"\xaf\1x"),
    "config_changes": tag(8, 0, b"\xaf\0\x11\x90") + tag(8, 3, b"\xaf\1x") + tag(8, 3, b"\xaf\0\x12\x10")
    + tag(8, 3, b"\xaf\1x") + tag(8, 3, b"\x2f" + MP3),
}

for name, data in SEEDS.items():
    folder = Path(sys.argv[1]) / "package"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)
