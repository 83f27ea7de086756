#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seeds of fuzz_srt_publisher and fuzz_srt_player. Run from the top folder."""
import os
import struct


def data(ahead=0, body=b"abc", how=0, time=0):
    return struct.pack(">BhbB", 1 | how, ahead, time, len(body)) + body


def raw(datagram):
    return struct.pack(">BH", 0, len(datagram)) + datagram


def ack(number, ahead=0, words=7, rtt=40, variance=10, room=8192):
    return struct.pack(">BBBhBBH", 2, number, words, ahead, rtt, variance, room)


def nak(*ranges):
    return struct.pack(">BB", 3, len(ranges)) + b"".join(struct.pack(">hH", *r) for r in ranges)


def drop(first, more):
    return struct.pack(">BhH", 4, first, more)


def ackack(number):
    return bytes([5, number])


def key(kind, body):
    return bytes([6, kind, len(body)]) + body


def other(kind, body=b"\0\0\0\0"):
    return bytes([7, kind, 0, len(body)]) + body


def said(how, *datagrams):
    """Each is (time, datagram)."""
    return bytes([how]) + b"".join(bytes([time]) + d for time, d in datagrams)


KEYS = bytes.fromhex("12202902" + "00000000" + "02000200" + "00000404") + bytes(16) + bytes(24)
RAW = struct.pack(">IIII", 0x7fffff00, 0xc0000001, 0, 1) + b"payload"
PUBLISHER = {
    "order": said(3, *[(10, data())] * 20),
    "answers": said(3, (10, data()), (20, ackack(1)), (30, data()), (30, ackack(2)), (30, ackack(1))),
    "gaps": said(3, (5, data()), (5, data(3)), (5, data(9)), (20, data(-1)), (80, data()), (80, data())),
    "behind": said(3, (50, data(5)), (50, data(5)), (0, data(-3)), (0, data(-2)), (200, data())),
    "drop": said(11, (5, data()), (5, drop(0, 30)), (0, drop(-40, 3)), (9, drop(100, 9000)), (9, data(40))),
    "far": said(3, *[(200, data(30000))] * 4),
    "wait": said(1, (9, data()), (9, data(20)), *[(100, data(200))] * 5),
    "at once": said(2, (9, data()), (9, data(2)), (9, data()), (50, data())),
    "dark": said(7, (9, data(how=8)), (9, data(how=16)), (9, data()), (9, data(how=24)), (200, data(how=8))),
    "keys": said(7, (9, key(3, KEYS)), (9, key(4, KEYS)), (9, data(how=16))),
    "others": said(3, (9, other(1)), (9, other(8)), (9, ack(1)), (9, nak((0, 1))), (9, other(5))),
    "raw": said(3, (1, raw(RAW)), (1, raw(RAW[:9])), (1, raw(b""))),
}
PLAYER = {
    "order": said(3, *[(0x23, ack(n, 2)) for n in range(1, 20)]),
    "light": said(3, (0xf3, ack(0, 10, 1)), (0xf3, ack(0, 20, 4)), (0x33, ack(1, 1, 7, 0, 0, 0))),
    "lost": said(3, (0xf3, nak((0, 3), (5, 0), (7, 6))), (0x23, nak((0, 9))), (0xf4, ack(1, 12))),
    "beyond": said(3, (0x33, ack(1, 2)), (0x33, ack(2, 99))),
    "beyond nak": said(3, (0x33, ack(1, 2)), (0x33, nak((-20, 3), (2, 40)))),
    "silent": said(3, *[(0xff, other(1))] * 6, (0xf3, ack(1, 3)), (0xf3, ack(2, 9))),
    "gone": said(11, *[(0xff, other(1))] * 9, (3, nak((0, 60))), (0xf3, ack(1, 60))),
    "keys": said(7, *[(0xf3, ack(n, 15)) for n in range(1, 5)], (3, key(4, KEYS)), (3, key(3, KEYS))),
    "others": said(3, (9, data()), (9, drop(0, 3)), (9, ackack(1)), (9, other(5)), (9, other(1))),
    "raw": said(3, (0x21, raw(RAW)), (0x21, raw(struct.pack(">IIIII", 0x80020000, 1, 0, 1, 0x7fffff01)))),
}
for name, seeds in (("srt_publisher", PUBLISHER), ("srt_player", PLAYER)):
    folder = f"test/fuzz/corpus/{name}"
    os.makedirs(folder, exist_ok=True)
    for seed, content in seeds.items():
        with open(f"{folder}/{seed.replace(' ', '_')}", "wb") as f:
            f.write(content)
