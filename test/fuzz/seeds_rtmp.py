#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seeds of the RTMP fuzzers: seeds_rtmp.py test/fuzz/corpus"""
import struct
import sys
from pathlib import Path

END = b"\0\0\x09"


def text(s):
    return b"\x02" + struct.pack(">H", len(s)) + s


def number(n):
    return b"\0" + struct.pack(">d", n)


def members(**kw):
    return b"".join(struct.pack(">H", len(k)) + k.encode() + v for k, v in kw.items()) + END


def chunk0(csid, time, kind, stream, body, size=128):
    ext = struct.pack(">I", time) if time >= 0xFFFFFF else b""
    head = min(time, 0xFFFFFF).to_bytes(3, "big") + len(body).to_bytes(3, "big") + bytes([kind])
    out = csid_bytes(0, csid) + head + struct.pack("<I", stream) + ext + body[:size]
    for at in range(size, len(body), size):
        out += csid_bytes(3, csid) + ext + body[at:at + size]
    return out


def csid_bytes(fmt, csid):
    if csid < 64:
        return bytes([fmt << 6 | csid])
    if csid < 320:
        return bytes([fmt << 6, csid - 64])
    return bytes([fmt << 6 | 1, (csid - 64) & 255, csid - 64 >> 8])


connect = text(b"connect") + number(1) + b"\x03" + members(
    app=text(b"live"), tcUrl=text(b"rtmp://ip/live"), fourCcList=b"\x0a\0\0\0\1" + text(b"hvc1"))
meta = text(b"@setDataFrame") + text(b"onMetaData") + b"\x08\0\0\0\2" + members(
    width=number(640), stereo=b"\x01\x01", at=b"\x0b" + struct.pack(">dh", 1e12, 60))
amf3 = (b"\x11\x0a\x13\x03T\x03k\x06\x02" + b"\x11\x09\x05\x01\x01\x04\x81\x01" +
        b"\x11\x09\x03\x03k\x01\x01\x05" + struct.pack(">d", 1) + b"\x11\x0c\x05ab\x11\x08\x01" +
        struct.pack(">d", 1))


def call(name, transaction, *args, stream=0, kind=20):
    body = text(name) + number(transaction) + b"\x05" + b"".join(args)
    return chunk0(3, 0, kind, stream, (b"\0" if kind == 17 else b"") + body)


def hello(tc_url):
    return chunk0(3, 0, 20, 0, text(b"connect") + number(1) + b"\x03" + members(
        app=text(b"live"), tcUrl=text(tc_url)))


media = (chunk0(4, 0, 18, 1, meta) + chunk0(6, 0, 9, 1, b"\x17\0\0\0\0\1\x42\xc0\x1e\xff\xe1\0") +
         chunk0(7, 0, 8, 1, b"\xaf\0\x12\x10") + chunk0(6, 0, 9, 1, b"\x17\1\0\0\0" + b"k" * 200) +
         chunk0(7, 10, 8, 1, b"\xaf\1zz") + chunk0(6, 40, 9, 1, b"\x27\1\0\0\0pp"))
publish = (hello(b"rtmp://ip/live") + call(b"releaseStream", 2, text(b"s")) +
           call(b"FCPublish", 3, text(b"s")) + call(b"createStream", 4) +
           call(b"publish", 5, text(b"s"), text(b"live"), stream=1))


def watch(name):
    return call(b"createStream", 2) + call(b"play", 3, text(name), number(-2), stream=1)


play = watch(b"s")
wish = b"".join(call(b"receive" + what, 0, b"\1" + on, stream=1)
                for on in (b"\0", b"\1") for what in (b"Video", b"Audio"))
tag = b"\x08\0\0\1\0\0\x0a\0\0\0\0a\0\0\0\x0c"
two = chunk0(2, 0, 1, 0, struct.pack(">I", 2))
seeds = {
    "amf0": {
        "connect": connect,
        "metadata": meta,
        "amf3": amf3,
        "others": b"\x05\x06\x07\0\1\x0c\0\0\0\1a\x0d\x0f\0\0\0\1x\x10\0\1T" + END,
    },
    "chunk": {
        "media": chunk0(4, 100, 8, 1, b"abcd") + b"\x44\0\0\x0a\0\0\2\x09ef\x84\0\0\x14gh\xc4ij",
        "connect": chunk0(3, 0, 20, 0, connect) + chunk0(5, 0, 18, 1, meta),
        "csids": b"".join(chunk0(c, 0, 9, 1, b"x") for c in (2, 63, 64, 319, 320, 65599)),
        "extended": two + chunk0(6, 1 << 24, 9, 1, b"abcde", 2),
        "extended_bare": two + chunk0(6, 1 << 24, 9, 1, b"ab") [:-2] + b"ab" +
        b"\x06\xff\xff\xff\0\0\7\x09\1\0\0\0\1\0\0\0ab\xc6cd\xc6ef\xc6g",
        "interleaved": two + b"\4\0\0\1\0\0\4\x08\1\0\0\0ab\6\0\0\1\0\0\4\x09\1\0\0\0AB\xc4cd\xc6CD",
        "control": chunk0(2, 0, 5, 0, b"\0\0\0\x40") + chunk0(2, 0, 3, 0, b"\0\0\1\0") +
        chunk0(2, 0, 4, 0, b"\0\6\0\0\0\1") + chunk0(2, 0, 2, 0, b"\0\0\0\4"),
        "aggregate": chunk0(4, 1000, 22, 1, tag + tag.replace(b"\x0a", b"\x1e")),
        "many_streams": b"".join(chunk0(c, 0, 9, 1, b"xy")[:-1] for c in range(8, 30)),
        "too_large": chunk0(4, 0, 9, 1, b"x")[:4] + b"\xff\xff\xff\x09\1\0\0\0x",
    },
    "session": {
        "publish": publish + media + call(b"FCUnpublish", 6, text(b"s")),
        "publish_merged": publish.replace(b"ip/live", b"b//live") + media,
        "publish_then_play": publish + media + call(b"deleteStream", 0, number(1)) + play,
        "play": hello(b"rtmp://ip/live") + play + call(b"pause", 4, b"\1\1", number(0), stream=1) +
        call(b"receiveAudio", 0, b"\1\0", stream=1) + call(b"closeStream", 0, stream=1),
        "amf3": hello(b"rtmp://ip/live") + call(b"createStream", 2, kind=17) +
        call(b"play", 3, text(b"s"), stream=1, kind=17),
        "enhanced": publish + chunk0(6, 0, 9, 1, b"\x90hvc1\1") +
        chunk0(6, 0, 9, 1, b"\x91hvc1\0\0\0kk") + chunk0(6, 40, 9, 1, b"\xa6\0hvc1\1xx"),
        "two_publishes": publish + media + publish[len(hello(b"rtmp://ip/live")):] + media,
    },
    "handshake": {
        "simple": b"\0\3" + bytes(3072),
        "piece": b"\x01\3" + bytes(8) + bytes(range(256)) * 12,
        "versioned": b"\x02\3" + bytes(4) + b"\x09\0\x7c\2" + bytes(range(255, -1, -1)) * 12,
        "rtmpe": b"\0\6",
        "http": b"\0GET / HTTP/1.1\r\n\r\n",
        "server": b"\0\3" + bytes(3073),
    },
}


def answer(name, transaction, *args, stream=0):
    return chunk0(3, 0, 20, stream, text(name) + number(transaction) + b"".join(args))


def status(code, level=b"status"):
    return answer(b"onStatus", 0, b"\x05", b"\x03" + members(level=text(level), code=text(code)),
                  stream=1)


hello_too = (chunk0(2, 0, 5, 0, b"\0\x26\x25\xa0") + chunk0(2, 0, 6, 0, b"\0\x26\x25\xa0\2") +
             chunk0(2, 0, 1, 0, b"\0\0\0\x80") +
             answer(b"_result", 1, b"\x03" + members(fmsVer=text(b"x")),
                    b"\x03" + members(code=text(b"NetConnection.Connect.Success"))) +
             answer(b"onBWDone", 0, b"\x05"))
taken = (hello_too + answer(b"_result", 4, b"\x05", number(1)) +
         status(b"NetStream.Publish.Start"))
ping = chunk0(2, 0, 4, 0, b"\0\6\0\0\0\1")
# Input from a server: see fuzz_upstream.c.
seeds["upstream"] = {
    "play": b"\0\0" + hello_too + answer(b"_result", 2, b"\x05", number(1)) +
            status(b"NetStream.Play.Start") + media,
    "play_silent": b"\0\0" + hello_too + answer(b"_result", 2, b"\x05", number(1)) + media,
    "publish": b"\1\x20" + taken + ping * 9,
    "publish_late": b"\2\x30" + taken + ping * 9,
    "publish_ends": b"\5\x14" + taken + ping * 20,
    "refused": b"\1\0" + taken + status(b"NetStream.Publish.BadName", b"error"),
    "error": b"\1\0" + answer(b"_error", 1, b"\x05", b"\x03" + members(code=text(b"no"))),
    "not_asked": b"\1\0" + hello_too + answer(b"_result", 9, b"\x05", number(1)),
}
# Options of the client: the vhost and the size of pieces, see fuzz_session.c.
seeds["session"] = {name: b"\0\0" + data for name, data in seeds["session"].items()}
for at, (vhost, size) in enumerate(((b"ip", 9), (b"auto", 40), (b"late", 30), (b"b", 50))):
    seeds["session"]["on_" + vhost.decode()] = (
        bytes([at | 4 * (at % 2), size]) + hello(b"rtmp://" + vhost + b"/live") +
        watch(b"on") + wish)
for kind, rows in seeds.items():
    folder = Path(sys.argv[1]) / kind
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in rows.items():
        (folder / name).write_bytes(data)
