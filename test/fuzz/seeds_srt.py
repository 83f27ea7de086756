#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seeds of fuzz_srt_*: test/fuzz/corpus/srt_*. Run from the top folder."""
import os

HEAD = "80000000 00000000 0000007b"
FIELDS = "49b11605 000005dc 00002000"
ADDRESS = "0100007f" + "00" * 12
HSREQ = "0001 0003 00010501 000000bf 00c8 00c8"
KM = ("12202901 00000000 02000200 00000406 f5609850807e9fe1f7bc77d51fd6e3d3"
      "0c62aac5e380fa37ab71273a33c081fafa5c8336d2e14d27aa0fdbde8b05494f")


def text_of(words):
    words += b"\0" * (-len(words) % 4)
    return b"".join(words[i:i + 4][::-1] for i in range(0, len(words), 4)).hex()


def conclusion(extensions, to="00000000", fields="0000 0005"):
    return f"{HEAD} {to} 00000005 {fields} {FIELDS} ffffffff 1682c2a2 c0ffee11 {ADDRESS} {extensions}"


def extension(kind, content):
    return f"{kind:04x} {len(bytes.fromhex(content)) // 4:04x} {content}"


SID = extension(5, text_of(b"#!::r=live/x,m=publish"))
HANDSHAKES = {
    "induction": f"00 {HEAD} 00000000 00000004 0000 0002 {FIELDS} 00000001 1682c2a2 00000000 {ADDRESS}",
    "induction-answer": f"00 {HEAD} 1682c2a2 00000005 0000 4a17 {FIELDS} 00000001 1682c2a2 00112233 {ADDRESS}",
    "publish": "00" + conclusion(HSREQ + SID),
    "key": "03" + conclusion(HSREQ + extension(3, KM) + SID, fields="0003 0007"),
    "answer": "02" + conclusion("0002 0003 00010501 000000bf 0078 0078", "1682c2a2"),
    "answer-no-secret": "03" + conclusion("0002 0003 00010501 000000bf 0078 0078 0004 0001 00000003", "1682c2a2"),
    "file": "00" + conclusion("0001 0003 00010501 000000e4 0000 0000" + extension(6, text_of(b"file"))),
    "filter": "00" + conclusion(HSREQ + extension(7, text_of(b"fec,cols:10"))),
    "group": "00" + conclusion(HSREQ + "0008 0002 00000001 00010000"),
    "refusal": f"02 {HEAD} 1682c2a2 00000005 0000 0000 {FIELDS} 000003f2 1682c2a2 c0ffee11 {ADDRESS}",
}
STREAMIDS = ["#!::r=live/livestream,m=publish", "#!::h=a.com,r=live/x,key=1", "#!::h=live/x?secret=1,m=publish",
             "#!::h=a.com/live/x", "live/x", "%23%21::r=live%2Fx%2Cm%3Drequest", "publish:live/x?vhost=a.com&k=1",
             "#!::u=john,s=7,t=stream,r=/a/b/c", "#!:{r=x}", "[::1]:10080?streamid=#!::r=x&latency=200&mode=listener",
             "host:10080?passphrase=0123456789&pbkeylen=24"]
KEYS = {
    "key": KM, "key-both": "12202903 00000000 02000200 00000404" + "00" * (16 + 40),
    "key-32": "12202902 00000000 02000200 00000408" + "00" * (16 + 40),
    "ack": "00000065 00000bb8 000005dc 00001fff 00000064 000003e8 0001e240",
    "nak": "00000001 80000005 00000007 fffffffe 00000001",
}


def write(target, name, data):
    os.makedirs(f"test/fuzz/corpus/{target}", exist_ok=True)
    with open(f"test/fuzz/corpus/{target}/{name}", "wb") as f:
        f.write(data)




def datagrams(*rows):
    """Each is what is done to it (see fuzz_srt_listener.c), and its bytes in hex."""
    return b"".join(bytes([how]) + len(bytes.fromhex(d)).to_bytes(2, "big") + bytes.fromhex(d) for how, d in rows)


def sid(text):
    return extension(5, text_of(text.encode()))


def data(seq, n):
    ts = "47400010 0000b00d0001c100000001f0002ab104b2" + "ff" * (188 - 21)
    return f"{seq:08x} e0000001 00000000 00000000" + ts * n


COOKIE, OWN, ELSEWHERE, LATER, MUCH = 1, 2, 4, 8, 16
SHUTDOWN = "80050000 00000000 00000000 00000000 00000000"
NAK = "80030000 00000000 00000000 00000000 c9b11605 ffffffff"
ACK = "80020000 00000001 00000000 00000000 49b11605"
ACKACK = "80060000 00000001 00000000 00000000 00000000"
KEEPALIVE = "80010000 00000000 00000000 00000000 00000000"
DROP = "80070000 00000000 00000000 00000000 49b11606 49b11609"
KEY = "ffff0003 00000000 00000000 00000000" + KM
PUBLISHER, PLAYER = conclusion(HSREQ + SID), conclusion(HSREQ + sid("#!::r=live/x"))
TALKS = {
    "induction": [(0, HANDSHAKES["induction"][2:])],
    "publish": [(COOKIE, PUBLISHER), (OWN, data(0x49b11605, 7)), (OWN | LATER, data(0x49b11607, 1)),
                (OWN | LATER, data(0x49b11606, 7)), (OWN, ACKACK), (OWN, DROP), (OWN | LATER | MUCH, KEEPALIVE),
                (OWN, SHUTDOWN)],
    "play": [(COOKIE, PUBLISHER), (OWN, data(0x49b11605, 7)), (COOKIE | ELSEWHERE, PLAYER),
             (OWN | ELSEWHERE | LATER, ACK), (OWN | ELSEWHERE, NAK), (OWN | ELSEWHERE, SHUTDOWN)],
    "key": [(COOKIE, conclusion(HSREQ + extension(3, KM) + sid("#!::h=key.com,r=live/x,m=publish"),
                                fields="0003 0007")), (LATER | OWN, data(0x49b11605, 7)), (OWN, KEY)],
    "relay": [(COOKIE, conclusion(HSREQ + sid("#!::h=only.com,r=live/x,m=publish"))), (OWN, data(0x49b11605, 7)),
              (COOKIE | ELSEWHERE, conclusion(HSREQ + sid("#!::h=only.com,r=live/x"))), (OWN | LATER, data(0x49b11606, 7))],
    "again": [(COOKIE, PUBLISHER), (COOKIE, PUBLISHER), (COOKIE, PUBLISHER.replace("49b11605", "49b11606"))],
    "rendezvous": [(COOKIE, PUBLISHER.replace("ffffffff", "00000000"))],
}

for name, rows in TALKS.items():
    write("srt_listener", name, datagrams(*rows))
for name, text in HANDSHAKES.items():
    write("srt_handshake", name, bytes.fromhex(text))
for i, text in enumerate(STREAMIDS):
    write("srt_streamid", str(i), text.encode())
for name, text in KEYS.items():
    write("srt_km", name, bytes.fromhex(text))
