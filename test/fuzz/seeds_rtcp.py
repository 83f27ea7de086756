#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seeds of fuzz_rtcp and fuzz_rtp_extensions. Run from the top folder."""
import os
import struct


def written(name, seeds):
    os.makedirs(f"test/fuzz/corpus/{name}", exist_ok=True)
    for seed, data in seeds.items():
        with open(f"test/fuzz/corpus/{name}/{seed}", "wb") as f:
            f.write(data)


def hexes(text):
    return bytes.fromhex(text.replace(" ", ""))


def arrivals(*steps):
    return b"\1" + b"".join(struct.pack(">hB", step * 64, wait) for step, wait in steps)


TWCC = "8fcd0005 01020304 0a0b0c0d "
RTCP = {
    "nack": "81cd0004 01020304 0a0b0c0d 00010001 00640002",
    "pli_fir": "81ce0002 01020304 0a0b0c0d 84ce0004 01020304 00000000 0a0b0c0d 09000000",
    "remb": "8fce0005 01020304 00000000 52454d42 01030000 0a0b0c0d",
    "rrtr": "80cf0004 01020304 04000002 1122334455667788",
    "dlrr": "80cf0005 01020304 05000003 00000000 33445566 00010000",
    "twcc_run": TWCC + "00640003 00000107 20030404 04000000",
    "twcc_bits": TWCC + "00640004 00000207 a8000404 00000000",
    "twcc_large": TWCC + "00640003 00000207 d200040f a0000000",
}
SEEDS = {name: b"\0" + hexes(text) for name, text in RTCP.items()}
SEEDS["all"] = b"\0" + b"".join(hexes(text) for text in RTCP.values())
SEEDS["came"] = arrivals(*[(1, 20)] * 60)
SEEDS["disorder"] = arrivals(*[(1, 20), (3, 10), (-2, 0), (1, 0), (2, 30)] * 20)
SEEDS["holes"] = arrivals(*[(1, 3), (200, 40), (2, 3), (300, 3), (-200, 200)] * 10)
written("rtcp", SEEDS)

HEAD = "00600001 00000002 00000003 "
PACKETS = {
    "one_byte": "90" + HEAD[2:] + "bede0002 10aa0051 bbcc0000 1234 6162",
    "two_byte": "90" + HEAD[2:] + "10000002 1001aa0f 00001102 1234 6162",
    "end": "90" + HEAD[2:] + "bede0001 10aaf0bb 1234",
    "padded": "b0" + HEAD[2:] + "bede0001 10aa0000 1234 610002",
    "none": "80" + HEAD[2:] + "1234 61",
}
written("rtp_extensions", {name: hexes(text) for name, text in PACKETS.items()})
