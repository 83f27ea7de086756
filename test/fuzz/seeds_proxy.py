#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seeds of fuzz_proxy: test/fuzz/corpus/proxy. Run from the top folder."""
import os
import socket
import struct

SIGN = b"\r\n\r\n\0\r\nQUIT\n"


def v2(command, family, body):
    return SIGN + bytes([0x20 | command, family]) + struct.pack(">H", len(body)) + body


V4 = socket.inet_aton("192.0.2.1") + socket.inet_aton("127.0.0.1") + struct.pack(">HH", 57005, 1935)
V6 = (socket.inet_pton(socket.AF_INET6, "2001:db8::5") + socket.inet_pton(socket.AF_INET6, "::1") +
      struct.pack(">HH", 57005, 1935))
TLV = b"\x01\0\x08http/1.1" + b"\x04\0\0" + b"\x03\0\x04\x12\x34\x56\x78"

SEEDS = {
    "v1-4": b"PROXY TCP4 192.0.2.1 127.0.0.1 57005 1935\r\n\x03",
    "v1-6": b"PROXY TCP6 2001:db8::5 ::1 57005 1935\r\n",
    "v1-mapped": b"PROXY TCP6 ::ffff:192.0.2.1 ::1 57005 1935\r\n",
    "v1-unknown": b"PROXY UNKNOWN\r\n",
    "v1-unknown-more": b"PROXY UNKNOWN ffff:f:f ffff:f:f 65535 65535\r\n",
    "v1-longest": b"PROXY UNKNOWN " + b"f" * 91 + b"\r\n",
    "v1-wrong": b"PROXY TCP4 192.0.2.1 127.0.0.1 65536 1935\r\n",
    "v2-4": v2(1, 0x11, V4) + b"\x16\x03\x01",
    "v2-6": v2(1, 0x21, V6),
    "v2-tlv": v2(1, 0x11, V4 + TLV),
    "v2-local": v2(0, 0, b""),
    "v2-unspec": v2(1, 0, b"abcd"),
    "v2-unix": v2(1, 0x31, bytes(216)),
    "v2-short": v2(1, 0x11, V4[:11]),
    "v2-long": v2(1, 0x11, V4 + bytes(2100)),
    "none": b"GET / HTTP/1.1\r\n\r\n",
}

os.makedirs("test/fuzz/corpus/proxy", exist_ok=True)
for name, data in SEEDS.items():
    with open(f"test/fuzz/corpus/proxy/{name}", "wb") as f:
        f.write(data)
