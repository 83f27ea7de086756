#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seeds of fuzz_rtp_media: test/fuzz/corpus/rtp_media. Run from the top folder."""
import os
import struct

FORMATS = ["h264", "h265", "av1", "vp9", "aac", "latm", "mp3", "opus", "pcmu"]
SPS = bytes.fromhex("6764000cacd941419f9f016c800000030080000019078a14cb")
PPS = bytes.fromhex("68ebe3cb22c0")
SPROP = b"packetization-mode=1;sprop-parameter-sets=Z2QADKzZQUGfnwFsgAAAAwCAAAAZB4oUyw==,aOvjyyLA"
AVCC = b"\1\x64\0\x0c\xff\xe1\0\x19" + SPS + b"\1\0\6" + PPS
VPS5 = bytes.fromhex("40010c01ffff01600000030090000003000003003c959809")
SPS5 = bytes.fromhex("420101016000000300900000030000030" "03ca00a480b9c9596566924caf0168080000003008000000c84")
PPS5 = bytes.fromhex("4401c172b46240")
SEQUENCE = bytes.fromhex("0a0b000000043d06d402f80040")


def unit(*units):
    return b"".join(struct.pack(">I", len(u)) + u for u in units)


def group(head, *units):
    return head + b"".join(struct.pack(">H", len(u)) + u for u in units)


def make(kind, how, fmtp, *parts):
    return (bytes([FORMATS.index(kind), how]) + fmtp + b"\0" +
            b"".join(struct.pack(">HB", len(p), flags) + p for flags, p in parts))


def adts(data):
    return struct.pack(">HH", 16, len(data) << 3) + data


SEEDS = {
    "h264": make("h264", 0, SPROP, (1, b"\x65\x88\1"), (0x11, b"\x41\x9a\2"), (0x10, b"\x7c\x81\x9a\3"),
                 (0, b"\x7c\1\4"), (1, b"\x7c\x41\5"), (0x13, b"\x41\x9a\6"), (0x11, b"\x65\x88\7")),
    "h264-stream": make("h264", 2, b"", (0, group(b"\x78", SPS, PPS, b"\6\5\1")), (1, b"\x65\x88\1"),
                        (0x11, b"\x41\x9a\2"), (0x11, b"\x79\0\1\0\3\x41\x9a\1"), (0x11, b"\x7a\0\1")),
    "h264-codes": make("h264", 0, b"", (1, b"\0\0\0\1" + SPS + b"\0\0\1" + PPS + b"\0\0\1\x65\x88\1"),
                       (0x10, b"\x7c\x87" + SPS[1:] + b"\0\0\1" + PPS), (1, b"\x7c\x47\0\0\1\x65\x88\1"), (0x11, b"\x41")),
    "h265": make("h265", 0, b"sprop-vps=QAEMAf//AWAAAAMAkAAAAwAAAwA8lZgJ", (0, group(b"\x60\1", VPS5, SPS5, PPS5)),
                 (1, b"\x26\1\xaf\1"), (0x10, b"\x62\1\x81\xd0\1"), (1, b"\x62\1\x41\2"), (0x11, b"\2\1\xd0\3")),
    "av1": make("av1", 0, b"", (0, b"\x28\x0c" + SEQUENCE[:1] + SEQUENCE[2:] + b"\x30\x10\1\2"), (1, b"\x90\3\4"),
                (0x11, b"\0\2\x30\x30\3\x2a\1\2"), (0x11, b"\x10\x30\x30\7")),
    "vp9": make("vp9", 0, b"profile-id=0", (0, b"\x88\x80\1\x82\x49\x83\x42\x20\x13\xf0\x0b\x30"), (1, b"\x84\x80\1\1\2"),
                (0x11, b"\xcc\x80\2\x86\0"), (0x11, b"\xfe\x80\3\2\3\5\2\x98\0\1\0\1\1\4\1\1"), (0x11, b"\x0c\x86")),
    "aac": make("aac", 0, b"config=1190;sizelength=13;indexlength=3;indexdeltalength=3",
                (1, b"\0\x20\0\x10\0\x18\1\2\3\4\5"), (0x10, b"\0\x10\0\x28\1\2"), (1, b"\0\x10\0\x28\1\2\3")),
    "latm": make("latm", 0, b"cpresent=0;config=410023203FC0", (1, b"\2\1\2\3\3\4\5"), (0x10, b"\xff"), (1, b"\1\1")),
    "mp3": make("mp3", 0, b"", (0, b"\0\0\0\0\xff\xfb\x54\xc4" + bytes(188)), (0x10, b"\0\0\0\0\xff\xfb\x54\xc4" + bytes(90)),
                (0, b"\0\0\0\x5e" + bytes(98))),
    "opus": make("opus", 0, b"sprop-stereo=1", (0, b"\xfc\1\2")),
    "pcmu": make("pcmu", 0, b"", (0, bytes(160))),
    "pack-h264": make("h264", 1, b"", (1, AVCC), (2, unit(b"\x09\xf0", b"\6\5\1", b"\x65\x88" + bytes(range(17, 217)))),
                      (0x10, unit(b"\x41\x9a\1", b"\x41\x4a\1")), (0x10, b"\0\0\0\1\x41\x9a\3\0\0\1\x41\x4a\4")),
    "pack-h265": make("h265", 1, b"", (2, unit(VPS5, SPS5, PPS5, b"\x26\1\xaf" + bytes(range(17, 217)))),
                      (0x10, unit(b"\2\1\xd0\1"))),
    "pack-av1": make("av1", 5, b"", (1, b"\x81\0\x0c\0" + SEQUENCE), (2, b"\x12\0\x32\x82\1\x10" + bytes(range(1, 130))),
                     (0x10, b"\x32\3\x30\1\2\x2a\1\1\x36\x08\2\x30\1")),
    "pack-vp9": make("vp9", 1, b"", (2, b"\x82\x49\x83\x42\x20\x13\xf0\x0b\x30" + bytes(200)), (0x10, b"\x86\0\1")),
    "pack-aac": make("aac", 0x25, b"config=1190", (1, b"\x11\x90"), (0x78, bytes(20)), (0x78, bytes(30)), (0x78, bytes(900))),
    "pack-mp3": make("mp3", 1, b"", (0x80, b"\xff\xfb\x54\xc4" + bytes(188))),
    "pack-opus": make("opus", 0xfd, b"", (1, b"OpusHead\1\2"), (0x70, b"\xfc\1\2")),
    "pack-pcmu": make("pcmu", 1, b"", (0x70, bytes(200))),
}

os.makedirs("test/fuzz/corpus/rtp_media", exist_ok=True)
for name, data in SEEDS.items():
    with open(f"test/fuzz/corpus/rtp_media/{name}", "wb") as f:
        f.write(data)
