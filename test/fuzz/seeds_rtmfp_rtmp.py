#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seeds of fuzz_rtmfp_rtmp, fuzz_rtmfp_acks and fuzz_amf3. Run from the top folder."""
import os
import struct


def text(s):
    return bytes([len(s) * 2 + 1]) + s


SEEDS = {
    "rtmfp_rtmp": {
        "control": b"TC\4\0",
        "stream": b"TC\5\x81\0",
        "group": b"GC",
        "connect": b"\x14\0\0\0\0\2\0\7connect\0\x3f\xf0\0\0\0\0\0\0\5",
        "buffer": b"\0\3\0\0\0\1\0\0\3\xe8",
        "sync": b"\0\x22\0\0\0\1\0\0\0\3",
        "v4": b"192.0.2.1:1935",
        "v6": b"[2001:db8::1]:1935",
    },
    "rtmfp_acks": {
        # base - 8 + n is as 0x00 + n, next - 48 + n is as 0x40 + n
        "in_order": b"\x0c" + 8 * b"\x00\0\0\x40\x6f\x07",
        "gaps": b"\x0e" + 4 * (b"\x00\1\2\x40\x0a\0\1\0\1" + b"\x3f"),
        "bitmaps": b"\x0c" + 4 * b"\x02\2\x40\x09\4\x55\xaa\xff\1",
        "never_sent": b"\x0f\x00\0\0\x40\xff\xff\xff\xff\xff\x00\1\7\x40\xc8\xff\xff\xff\xff\0\xc0\1\1\1\1",
        "no_room": b"\x0f\x00\0\0\0\x08\xf4\x00\1\0\0\x09\xf4\xf4\x00\0\0\x20\x09",
        "late": b"\x0c\x24\x2d\x0c\x04\x74\x06\x00\0\0\x40\x6f",
        "bare": b"\x08\x03\x03\1\2\0\x0b\x04\1\2\3\xff",
    },
    "amf3": {
        "name": b"\x06" + text(b"stream"),
        "object": b"\x0a\x0b\1" + text(b"a") + b"\x04\x81\0" + text(b"b") + b"\x0a\2" + b"\1",
        "traits": b"\x0a\x23\x03T" + text(b"x") + text(b"y") + b"\3\2" + b"\x0a\1\5" +
        struct.pack(">d", 1.5) + b"\6\0",
        "array": b"\x09\x05" + text(b"k") + b"\1\1\4\1\4\2",
        "dates": b"\x08\1" + struct.pack(">d", 1e12),
        "bytes": b"\x0c\7abc",
        "vectors": b"\x0d\5\0" + struct.pack(">II", 1, 2),
        "xml": b"\x0b" + text(b"<a/>"),
        "deep": b"\x09\3\1" * 20,
    },
}

if __name__ == "__main__":
    for name, seeds in SEEDS.items():
        folder = f"test/fuzz/corpus/{name}"
        os.makedirs(folder, exist_ok=True)
        for seed, data in seeds.items():
            with open(f"{folder}/{seed}", "wb") as f:
                f.write(data)
