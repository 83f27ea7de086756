#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seeds of fuzz_rtmfp_meet: test/fuzz/corpus/rtmfp_meet. Run from the top folder."""
import os

ENTER, REPORT, FIND, JOIN, LEAVE_GROUP, LEAVE, MOVE, PASS = range(8)
SESSIONS = 12
HASHED = b"\x01\x21\x15" + b"\x07" * 32
ADDRESSES = ["192.0.2.7:1935", "10.0.0.5:4000", "[2001:db8::1]:5", "[fe80::1]:5", "127.0.0.1:9", "0.0.0.0:1",
             "224.0.0.1:9", "[::1]:9", "203.0.113.5:99999", "words"]


def step(what, who, rest=b""):
    return bytes([what | who << 3]) + rest


def report(who, *texts):
    return step(REPORT, who, bytes([len(texts)]) + b"".join(bytes([len(t)]) + t.encode() for t in texts))


def join(who, flow, message):
    return step(JOIN, who, bytes([flow, len(message)]) + message)


def specified(text):
    body = b"\x10" + text
    return b"\x01" + bytes([len(body)]) + body


EVERY = range(SESSIONS)
SEEDS = {
    "found": b"".join(step(ENTER, i) for i in EVERY) + report(1, *ADDRESSES) + report(2, *ADDRESSES[:3]) +
    b"".join(step(FIND, i, bytes([i + 1])) for i in EVERY),
    "claimed": b"".join(step(ENTER, i) for i in (0, 6)) + step(FIND, 1, b"\0") + step(PASS, 0) + step(FIND, 1, b"\0") +
    step(LEAVE, 6) + step(FIND, 1, b"\0") + step(MOVE, 0, b"\x09") + step(FIND, 1, b"\0") + step(LEAVE, 0) +
    step(FIND, 1, b"\0"),
    "group": b"".join(join(i, 1, specified(b"G:0101")) for i in EVERY) + step(MOVE, 3, b"\x05") + step(LEAVE, 4) +
    step(LEAVE_GROUP, 5, b"\x01") + join(4, 1, specified(b"G:0101")),
    "groups": b"".join(join(i, f, m) for i in (0, 1, 7) for f, m in
                       enumerate((HASHED, specified(b"G:1"), specified(b"G:2"), specified(b"G:3"), HASHED))),
    "nonsense": b"".join(join(0, 0, m) for m in (b"", b"\x01", b"\x01\x01\x10", b"\x01\x00", b"\x01\x02\x15\x01",
                                                 b"\x02\x21\x15" + b"\x01" * 32, HASHED[:-1], b"\x01\xff\xff\xff")),
}

if __name__ == "__main__":
    where = "test/fuzz/corpus/rtmfp_meet"
    os.makedirs(where, exist_ok=True)
    for name, seed in SEEDS.items():
        with open(f"{where}/{name}", "wb") as f:
            f.write(seed)
