#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seeds of the fuzzer of FLV files: seeds_demux_flv.py test/fuzz/corpus"""
import struct
import sys
from pathlib import Path

AVCC = bytes.fromhex("0164000cffe100196764000cacd941419f9f016c8000000300800000190"
                     "78a14cb01000668ebe3cb22c0")
HEAD = b"FLV\x01\x05\0\0\0\x09\0\0\0\0"


def tag(kind, time, body):
    return (struct.pack(">BBHHBBBH", kind, len(body) >> 16, len(body) & 0xffff, time >> 8 & 0xffff,
                        time & 255, time >> 24 & 255, 0, 0)
            + body + struct.pack(">I", len(body) + 11))


def key(time, cts=40):
    return tag(9, time, b"\x17\1" + cts.to_bytes(3, "big") + b"\0\0\0\1\x65")


def inter(time):
    return tag(9, time, b"\x27\1\0\0\0\0\0\0\1\x41")


def audio(time):
    return tag(8, time, b"\xaf\1\xde\xad")


CONFIGS = tag(9, 0, b"\x17\0\0\0\0" + AVCC) + tag(8, 0, b"\xaf\0\x11\x90")


def number(v):
    return b"\0" + struct.pack(">d", v)


def name(text):
    return struct.pack(">H", len(text)) + text.encode()


def array(v):
    return b"\x0a" + struct.pack(">I", len(v)) + b"".join(map(number, v))


def metadata(places):
    frames = (name("filepositions") + array([p for _, p in places])
              + name("times") + array([t for t, _ in places]) + b"\0\0\x09")
    return tag(18, 0, b"\2" + name("onMetaData") + b"\x08\0\0\0\2" + name("audiocodecid")
               + number(10) + name("keyframes") + b"\x03" + frames + b"\0\0\x09")


def film(seconds, known=False, first=0):
    body, places = CONFIGS, []
    for s in range(seconds):
        places.append((s, len(body)))
        body += key(first + s * 1000) + audio(first + s * 1000 + 10)
        body += inter(first + s * 1000 + 500) + audio(first + s * 1000 + 510)
    if not known:
        return HEAD + body
    at = len(HEAD + metadata(places))
    return HEAD + metadata([(t, p + at) for t, p in places]) + body


SEEDS = {
    "film": film(4),
    "keyframes": film(12, known=True),
    "keyframes_and_more": film(6, known=True) + film(4)[13:],
    "jumps": film(3, first=9000) + film(3)[13:] + film(3, first=7200000)[13:],
    "audio": HEAD + b"".join(tag(8, t * 100, b"\x2f\xff\xfb\x54\xc4") for t in range(30)),
    "enhanced": HEAD + tag(9, 0, b"\x90av01\x81\0\x0c\0") + tag(8, 0, b"\x90OpusOpusHead\1\2")
    + tag(9, 0, b"\x91av01\x12\0") + tag(8, 5, b"\x91Opus\xfc") + tag(9, 40, b"\x94av01\2\0"),
    "many_tracks": HEAD + tag(9, 0, b"\x96\x11avc1\0\0\0\x02ab\1\0\0\x02cd")
    + tag(8, 0, b"\x95\x21mp4a\0\0\0\x02ab" + b"Opus\1\0\0\x02cd") + tag(9, 0, b"\x97\2abc\0\1avc1x"),
    "other_configurations": film(2) + tag(8, 1900, b"\xaf\0\x12\x10") + film(3, first=2000)[13 + 84:],
    "cut": film(3)[:-7],
    "no_media": HEAD + CONFIGS + tag(9, 0, b"\x12screen") + tag(15, 0, b"\0\2\0\1x\5"),
}

if __name__ == "__main__":
    folder = Path(sys.argv[1]) / "demux_flv"
    folder.mkdir(parents=True, exist_ok=True)
    for text, data in SEEDS.items():
        (folder / text).write_bytes(data)
