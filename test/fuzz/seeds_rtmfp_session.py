#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seeds of fuzz_rtmfp_session. Run from the top folder."""
import os


def vlu(n):
    out = [n & 0x7f]
    while n > 0x7f:
        n >>= 7
        out.insert(0, 0x80 | n & 0x7f)
    return bytes(out)


def chunk(kind, body):
    return bytes([kind, len(body)]) + body


def data(flow, seq, offset, body, flags=0, options=b""):
    return chunk(0x10, bytes([flags | (0x80 if options else 0)]) + vlu(flow) + vlu(seq) +
                 vlu(offset) + (options + b"\0" if options else b"") + body)


def following(body, flags=0):
    return chunk(0x11, bytes([flags]) + body)


def ack(flow, window, upto, *pairs):
    return chunk(0x51, vlu(flow) + vlu(window) + vlu(upto) + b"".join(map(vlu, pairs)))


def bitmap(flow, window, upto, bits):
    return chunk(0x50, vlu(flow) + vlu(window) + vlu(upto) + bits)


def packet(step, *chunks):
    return bytes([step, len(chunks) - 1]) + b"".join(chunks)


METADATA = b"\x05\x00TC\x04\x00"
ANSWER = b"\x05\x00TC\x04\x09\x02\x0a\x01"
SEEDS = {
    "acks": [packet(0x70, ack(1, 64, 1)), packet(0x71, ack(1, 64, 2, 0, 1), ack(2, 64, 0, 0, 0)),
             packet(0x72, bitmap(1, 64, 3, b"\x05"))],
    "losses": [packet(0xf0, ack(1, 64, 0, 0, 0)), packet(0x01, ack(1, 64, 0, 0, 1)),
               packet(0x01, ack(1, 64, 0, 0, 2)), packet(0x0f, ack(1, 0, 1)), packet(0xff, ack(1, 9, 9))],
    "flow": [packet(0x00, data(1, 1, 1, b"abc", 0, METADATA), following(b"def")),
             packet(0x01, data(1, 4, 4, b"x", 0x10), data(1, 3, 3, b"y")),
             packet(0x02, data(1, 5, 2, b"z", 0x20)), packet(0x03, data(1, 6, 1, b"", 0x03))],
    "answers": [packet(0x00, data(3, 1, 1, b"a", 0, ANSWER)), packet(0x00, chunk(0x18, b"\x03")),
                packet(0x00, ack(4, 64, 0)), packet(0x00, chunk(0x5e, b"\x01\x00"))],
    "keepalive": [packet(0x00, chunk(0x01, b"ping")), packet(0x55, chunk(0x01, b"")),
               packet(0x00, chunk(0x41, b"")), packet(0x55, chunk(0x41, b"")), packet(0x0f, chunk(0x01, b""))],
    "close": [packet(0x00, chunk(0x0c, b"")), packet(0x05, chunk(0x0c, b"")), packet(0x00, chunk(0x4c, b""))],
    "large": [packet(0x00, data(2, 1, 1, b"a" * 200, 0x10, METADATA)),
              packet(0x00, *[following(b"b" * 200, 0x30) for _ in range(6)]),
              packet(0x00, data(2, 8, 7, b"e", 0x20)), packet(0x00, data(2, 400, 2, b"far"))],
    "numbers": [packet(0x00, data(2, 2**64 - 1, 2**64 - 2, b"x", 0, METADATA), following(b"y")),
                packet(0x00, ack(1, 2**63, 2**64 - 1, 2**64 - 1, 2**64 - 1))],
}

if __name__ == "__main__":
    folder = "test/fuzz/corpus/rtmfp_session"
    os.makedirs(folder, exist_ok=True)
    for name, packets in SEEDS.items():
        for peer in range(4):
            with open(f"{folder}/{name}-{peer}", "wb") as f:
                f.write(bytes([peer]) + b"".join(packets))
