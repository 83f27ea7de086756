#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seeds of fuzz_rtmfp_*: test/fuzz/corpus/rtmfp_*. Run from the top folder."""
import os

KEY = "35" * 128
TAG = "000102030405060708090a0b0c0d0e0f"
RANDOM = "410e" + "77" * 64
OURS = "010a" + RANDOM + "021502" + "021505" + "02150e"
FLASH = "81021d02" + KEY
SKIC = "021d02" + RANDOM + "031a020a" + "021e02"
SKIC_ALL = "81020d02" + KEY + RANDOM + "031a0510" + "021e05"
SKRC = "031a0000" + "021e00" + "81020d02" + KEY
ID = "210f" + "42" * 32


def vlu(n):
    out = bytes([n & 127])
    while n := n >> 7:
        out = bytes([128 | n & 127]) + out
    return out


def block(text):
    data = bytes.fromhex(text)
    return (vlu(len(data)) + data).hex()


def chunk(kind, body):
    return f"{kind:02x}{len(bytes.fromhex(body)):04x}{body}"


APP = "050a6c697665"
HELLO = chunk(0x30, block(APP) + TAG)
PEER = chunk(0x30, block(ID) + TAG)
ASK = chunk(0x38, "00000005" + block("00" * 64) + block(FLASH) + block(SKIC) + "58")
ASK_MORE = chunk(0x38, "00000006" + block("00" * 64) + block("021502") + block(SKIC_ALL) + "58")
RHELLO = chunk(0x70, block(TAG) + block("00" * 64) + OURS)
RIKEYING = chunk(0x78, "00000009" + block(SKRC) + "58")
CHANGE = chunk(0x79, block("01" * 64) + "02" * 64)
REDIRECT = chunk(0x71, block(TAG) + "020a0000010050" + "81" + "20" * 16 + "0001")
ALL = "".join([
    chunk(0x01, ""), chunk(0x41, "4d00"), chunk(0x10, "0002050300010203"), chunk(0x11, "00040506"),
    chunk(0x10, "8002010105005443040002" + "0a0300" + "1400"), chunk(0x10, "b302010100"), chunk(0x11, "3088"),
    chunk(0x51, "057f1000000103"), chunk(0x50, "057f107906"), chunk(0x18, "05"), chunk(0x5e, "0500"), chunk(0x0c, ""),
    chunk(0x4c, ""), chunk(0x0f, block(ID) + "027f000001078f" + TAG),
    chunk(0x51, "81ffffffffffffffff7f" * 3), chunk(0x10, "31" + "81ffffffffffffffff7f" * 3), chunk(0x7f, "800300aabb"),
    chunk(0x7f, "000301cc")])
STARTUP = HELLO + PEER + ASK + chunk(0x7f, "00810200" + "0b0000" + HELLO)

PACKETS = {"session": "8e00010002" + ALL, "responder": "02" + ALL + "ffff", "startup": "0b1234" + STARTUP,
           "answers": "03" + RHELLO + RIKEYING + CHANGE + REDIRECT}
LISTS = {"ours": OURS, "flash": FLASH, "skic": SKIC, "ephemeral": SKIC_ALL, "skrc": SKRC, "peer": ID, "uri": APP,
         "hostname": "0300616202" + "0a78" + "00" + "021502", "three": FLASH + "031d05aa" + "031d0eaa", "many": "0101" * 33,
         "marker": "010a8000ff"}

COOKIE, ELSEWHERE, LATER, BACK, KEYING, FULL, REDIRECTS = 1, 2, 4, 8, 16, 32, 64
TALKS = {
    "open": [(0, HELLO), (COOKIE, ASK), (COOKIE, ASK), (COOKIE | LATER, ASK_MORE), (COOKIE | KEYING, ASK)],
    "moved": [(COOKIE, ASK), (ELSEWHERE, ASK), (COOKIE | ELSEWHERE, ASK_MORE)],
    "full": [(COOKIE | FULL, ASK), (COOKIE, ASK_MORE), (COOKIE | FULL, ASK)],
    "peer": [(0, PEER), (REDIRECTS, HELLO), (0, HELLO + PEER)],
    "answered": [(BACK | COOKIE, RHELLO), (BACK | COOKIE, CHANGE), (BACK | COOKIE | LATER, RIKEYING)],
    "redirected": [(BACK | COOKIE, REDIRECT), (BACK | LATER, RHELLO), (BACK | COOKIE | ELSEWHERE, RHELLO)],
    "pieces": [(0, chunk(0x7f, "800700" + "0b0000" + HELLO[:20])), (0, chunk(0x7f, "000701" + HELLO[20:]))],
}


def write(folder, name, data):
    os.makedirs(f"test/fuzz/corpus/{folder}", exist_ok=True)
    with open(f"test/fuzz/corpus/{folder}/{name}", "wb") as f:
        f.write(data)


for name, text in PACKETS.items():
    write("rtmfp_packet", name, bytes.fromhex(text))
for name, text in LISTS.items():
    write("rtmfp_lists", name, bytes.fromhex(text))
for name, rows in TALKS.items():
    out = b""
    for flags, text in rows:
        plain = bytes.fromhex("0b1234" + text)
        out += bytes([flags]) + len(plain).to_bytes(2, "big") + plain
    write("rtmfp_startup", name, out)
