#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seeds of fuzz_srtp and fuzz_dtls. Run from the top folder."""
import os

HELLO = ("010000 5a 0000 000000 00005a fefd" + "11" * 32 + "00 00 0004 c02bc02f 0100 002c"
         "000a 0006 0004 001d0017 000b 0002 0100 000e 0007 0004 00070001 00"
         "000d 0008 0006 0403 0804 0401 0017 0000")


def record(content, kind=22, epoch=0, seq=0):
    body = bytes.fromhex(content)
    whole = bytes([kind, 0xfe, 0xfd]) + epoch.to_bytes(2, "big") + seq.to_bytes(6, "big")
    return whole + len(body).to_bytes(2, "big") + body


def datagrams(which, *parts):
    return bytes([which]) + b"".join(len(p).to_bytes(2, "big") + p for p in parts)


SEEDS = {
    "srtp": {
        "cm": bytes.fromhex("00 80600001 00000002 00000003") + b"payload",
        "gcm": bytes.fromhex("01 80600001 00000002 00000003") + b"payload",
        "extension": bytes.fromhex("01 90600001 00000002 00000003 bede0001 10aabbcc") + b"payload",
        "report": bytes.fromhex("00 80c90001 00000002") + b"more of it",
    },
    "dtls": {
        "hello": datagrams(0, record(HELLO)),
        "hello-twice": datagrams(0, record(HELLO), record(HELLO, seq=1)),
        "fragments": datagrams(0, record("0100005a0000" + "000000" + "000010" + "fefd" + "11" * 14),
                               record("0100005a0000" + "000020" + "000010" + "11" * 16, seq=1)),
        "client": datagrams(1, record("02000004 0000 000000 000004 fefd1111")),
        "connected": datagrams(2, record("0100", 21), record("00" * 26, 21, 1, 9), record("01", 20)),
        "early": datagrams(0, record(HELLO), record("00" * 40, 22, 1)),
    },
}
for target, rows in SEEDS.items():
    os.makedirs(f"test/fuzz/corpus/{target}", exist_ok=True)
    for name, data in rows.items():
        with open(f"test/fuzz/corpus/{target}/{name}", "wb") as f:
            f.write(data)
