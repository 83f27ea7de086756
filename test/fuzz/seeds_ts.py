#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seeds of fuzz_ts: test/fuzz/corpus/ts. Run from the top folder."""
import os

RAW, FILTER, SMALL = 0x80, 1, 2
VIDEO, AUDIO, PMT, PAT = range(4)
START, STUFFED, JUMP, REPEAT, HOLE, ODD = 4, 8, 0x10, 0x20, 0x40, 0x80

SPS = bytes.fromhex("6764000cacd941419f9f016c800000030080000019078a14cb")
PPS = bytes.fromhex("68ebe3cb22c0")
VPS5 = bytes.fromhex("40010c01ffff01600000030090000003000003003c959809")
SPS5 = bytes.fromhex("420101016000000300900000030000030" "03ca00a480b9c9596566924caf0168080000003008000000c84")
PPS5 = bytes.fromhex("4401c172b46240")
CODE, LONG = b"\0\0\1", b"\0\0\0\1"


def packet(how, data=b""):
    return bytes([how, len(data)]) + data


def pat(*programs):
    return packet(PAT | START, b"".join(n.to_bytes(2, "big") + (0xe000 | pid).to_bytes(2, "big") for n, pid in programs))


def pmt(*streams):
    body = b"\xe1\1\xf0\0"
    for kind, pid, info in streams:
        body += bytes([kind]) + (0xe000 | pid).to_bytes(2, "big") + (0xf000 | len(info)).to_bytes(2, "big") + info
    return packet(PMT | START, body)


def time(mark, t):
    return bytes([mark << 4 | t >> 29 & 14 | 1, t >> 22 & 255, t >> 14 & 254 | 1, t >> 7 & 255, t << 1 & 254 | 1])


def pes(which, t, data, length=False, dts=None):
    times = b"" if t is None else time(2, t) if dts is None else time(3, t) + time(1, dts)
    flags = 0 if t is None else 0x80 if dts is None else 0xc0
    head = bytes([0x80, flags, len(times)]) + times
    size = len(head) + len(data) if length else 0
    whole = CODE + (b"\xe0" if which == VIDEO else b"\xc0") + size.to_bytes(2, "big") + head + data
    pieces = [whole[i:i + 180] for i in range(0, len(whole), 180)]
    return b"".join(packet(which | STUFFED | (0 if i else START), p) for i, p in enumerate(pieces))


def adts(data, rate=3):
    n = len(data) + 7
    return bytes([0xff, 0xf1, 0x40 | rate << 2, 0x80 | n >> 11, n >> 3 & 255, n << 5 & 0xe0 | 0x1f, 0xfc]) + data


def bits(*fields):
    text = "".join(f"{v:0{n}b}" for v, n in fields)
    text += "0" * (-len(text) % 8)
    return int(text, 2).to_bytes(len(text) // 8, "big")


def loas(data, config=True):
    mux = [(0, 1), (0, 1), (1, 1), (0, 6), (0, 4), (0, 3), (0x1190, 16), (0, 3), (0xff, 8), (0, 1), (0, 1)] if config else [(1, 1)]
    element = bits(*mux, (len(data), 8), *((b, 8) for b in data))
    return (0x56e000 | len(element)).to_bytes(3, "big") + element


H264 = (0x1b, 0x101, b"")
KEY = LONG + b"\x09\xf0" + LONG + SPS + LONG + PPS + CODE + b"\6\5\1\1\x80" + CODE + b"\6\4\2\xb5\0\x80" + CODE + b"\x65\x88\1\2"
INTER = LONG + b"\x09\xf0" + CODE + b"\x41\x9a\3" + CODE + b"\x41\x1a\4"
KEY5 = LONG + b"\x46\1\x50" + b"".join(LONG + s for s in (VPS5, SPS5, PPS5)) + CODE + b"\x26\1\xaf\1"
INTER5 = LONG + b"\x46\1\x50" + CODE + b"\2\1\xd0\3" + CODE + b"\2\1\x50\3"
TD = CODE + b"\x12\0"
SEQUENCE = CODE + bytes.fromhex("0a0b0000030004" "3d06d402f80040")
MP3 = b"\xff\xfb\x54\xc4" + bytes(188)
OPUS = b"\x7f\xe0\3\xfc\1\2" + b"\x7f\xfc\2\1\0\0\0\2\xaa\xbb\xfc\1"


def stream(kinds, *parts, how=FILTER):
    return bytes([how]) + pat((1, 0x100)) + pmt(*kinds) + b"".join(parts)


SEEDS = {
    "h264": stream([H264], *(pes(VIDEO, 9000 + i * 3600, INTER if i else KEY) for i in range(5))),
    "h264-reordered": stream([H264], *(pes(VIDEO, 2 ** 33 - 7200 + i * 3600 & 2 ** 33 - 1, INTER if i else KEY,
                                           dts=2 ** 33 - 9000 + i * 3600 & 2 ** 33 - 1) for i in range(5)), how=0),
    "h264-holes": stream([H264], pes(VIDEO, 9000, KEY), packet(VIDEO | HOLE | STUFFED, b"\1\2"), pes(VIDEO, 12600, INTER),
                         packet(VIDEO | JUMP, b"\1" * 184), packet(VIDEO | REPEAT | STUFFED, b"\2"), pes(VIDEO, 16200, KEY)),
    "h264-together": stream([H264], pes(VIDEO, 9000, KEY + INTER + INTER), pes(VIDEO, 19800, INTER[:-6]), pes(VIDEO, None, INTER[-6:]),
                            pes(VIDEO, None, KEY)),
    "h264-large": stream([H264], pes(VIDEO, 9000, KEY + bytes(range(2, 250)) * 4, True), pes(VIDEO, 12600, INTER * 200), how=SMALL),
    "h265": stream([(0x24, 0x101, b"\5\4HEVC")], *(pes(VIDEO, 9000 + i * 3600, INTER5 if i else KEY5) for i in range(4))),
    "av1": stream([(6, 0x101, b"\5\4AV01")], pes(VIDEO, 9000, TD + SEQUENCE + CODE + b"\x32\3\x10\1\2"),
                  pes(VIDEO, 12600, TD + CODE + b"\x32\3\x20\0\2"), pes(VIDEO, None, CODE + b"\x30\x30\1"), pes(VIDEO, 16200, TD + CODE + b"\x1a\1\x80")),
    "adts": stream([(15, 0x102, b"")], pes(AUDIO, 9000, adts(b"\1\2\3") + adts(b"\4") + adts(b"\5\6")[:4], True),
                   pes(AUDIO, 14760, adts(b"\5\6")[4:] + adts(b"\7", 4), True), packet(AUDIO | HOLE | STUFFED, b"\1"),
                   pes(AUDIO, 20000, b"\1\2" + adts(b"\1\2\3") + adts(b"\4"))),
    "latm": stream([(17, 0x102, b"")], pes(AUDIO, 9000, loas(b"\1\2\3") + loas(b"\4\5", False), True),
                   pes(AUDIO, 12840, loas(b"\1\2", False) + loas(b"\1"), True)),
    "mp3": stream([(3, 0x102, b"")], pes(AUDIO, 9000, MP3 + MP3[:100], True), pes(AUDIO, 13320, MP3[100:] + b"\xff\xfd\x54\xc4" + MP3, True)),
    "opus": stream([(6, 0x102, b"\5\4Opus\x7f\2\x80\2")], pes(AUDIO, 9000, OPUS, True), pes(AUDIO, 12600, OPUS + OPUS[:5])),
    "opus-many": stream([(6, 0x102, b"\5\4Opus\x7f\2\x80\6")], pes(AUDIO, 9000, OPUS, True)),
    "programs": b"\0" + pat((0, 16), (1, 0x100), (2, 0x110)) + pmt((2, 0x101, b""), (0x81, 0x102, b"")) * 2
    + pat((3, 0x100)) + pmt(H264, (15, 0x102, b""), (15, 0x103, b""), (6, 0x104, b"\x59\0"), (0x86, 0x105, b"")) + pes(VIDEO, 9000, KEY),
    "changes": stream([H264, (15, 0x102, b"")], pes(VIDEO, 9000, KEY), pmt((0x24, 0x101, b""), (3, 0x102, b"")), pes(VIDEO, 12600, KEY5),
                      packet(VIDEO | START | ODD, b"\x80\0\0\1\xe0"), pmt(H264)),
}

os.makedirs("test/fuzz/corpus/ts", exist_ok=True)
for name, data in SEEDS.items():
    with open(f"test/fuzz/corpus/ts/{name}", "wb") as f:
        f.write(data)
for name in ("ffmpeg-5.1-h264-aac", "gstreamer-1.22-opus"):
    with open(f"test/data/ts-{name}.ts", "rb") as f, open(f"test/fuzz/corpus/ts/raw-{name}", "wb") as out:
        out.write(bytes([RAW, 187]) + f.read(20 * 188))
