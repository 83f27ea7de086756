# SPDX-License-Identifier: MIT
"""Data of hostile clients of several protocols: ever-changing decoder configurations, MPEG-TS with a changing PMT, JSON and SDP that
take long to parse, the first flight of TLS."""
import base64
import json
import ssl
import struct

import hostile_rtc

# 160x90, by x264 and x265
SPS, PPS = (base64.b64decode(x) for x in ("Z2QAC6zZQo35MBEAAAMAAQAAAwAyDxQplg==", "aOvjyyLA"))
HEVC_SETS = [base64.b64decode(x) for x in ("QAEMAf//AWAAAAMAkAAAAwAAAwAelZgJ", "QgEBAWAAAAMAkAAAAwAAAwAeoBQgYfJllZpJMrwFoCAAAAMAIAAAAwMh",
                                           "RAHBcrRiQA==")]


def grown(sets, i):
    """Returns a unique parameter set: the same content with a number appended."""
    return sets + b"\x80" + struct.pack(">I", i | 0x01010101)


# ---- FLV bodies

def avc_config(i):
    sps = grown(SPS, i)
    return (b"\x17\0\0\0\0\1" + sps[1:4] + b"\xff\xe1" + struct.pack(">H", len(sps)) + sps + b"\1" +
            struct.pack(">H", len(PPS)) + PPS)


def hevc_config(i):
    out = b"\x90hvc1\1\1" + bytes(4) + bytes(6) + b"\x3c" + b"\xf0\0\xfc\xfd\xf8\xf8\0\0\x0f\3"
    for kind, unit in zip((32, 33, 34), HEVC_SETS):
        unit = grown(unit, i) if kind == 33 else unit
        out += bytes([0x80 | kind]) + b"\0\1" + struct.pack(">H", len(unit)) + unit
    return out


def aac_config(i):
    """AAC configurations with all object types, rates and channels."""
    return b"\xaf\0" + struct.pack(">H", (2 << 11) | (i % 12) << 7 | (1 + i % 6) << 3)


def avc_frame(unit=b"\x65\x88\x84\0\x10", size=400):
    return b"\x17\1\0\0\0" + struct.pack(">I", len(unit) + size) + unit + b"\x41" * size


def hevc_frame(size=400):
    return b"\x93hvc1" + struct.pack(">I", 2 + size) + b"\x26\1" + b"\x41" * size


# ---- MPEG-TS

def crc(data):
    c = 0xffffffff
    for b in data:
        c ^= b << 24
        for _ in range(8):
            c = (c << 1 ^ 0x04c11db7 if c & 0x80000000 else c << 1) & 0xffffffff
    return c


def section(pid, cc, table, id, version, body):
    s = bytes([table]) + struct.pack(">H", 0xb000 | len(body) + 9) + struct.pack(">H", id) + bytes([0xc1 | version % 32 << 1, 0, 0])
    s += body
    s += struct.pack(">I", crc(s))
    return struct.pack(">BHB", 0x47, 0x4000 | pid, 0x10 | cc % 16) + b"\0" + s + b"\xff" * (183 - len(s))


def program(version, types=(0x1b, 0x0f)):
    pat = section(0, version, 0, 1, 0, struct.pack(">HH", 1, 0xe100))
    body = b"\xe1\1\xf0\0" + b"".join(struct.pack(">BHH", t, 0xe101 + i, 0xf000) for i, t in enumerate(types))
    return pat + section(0x100, version, 2, 1, version, body)


def stamp(pts):
    return bytes([0x21 | pts >> 29 & 14]) + struct.pack(">HH", pts >> 14 & 0xfffe | 1, pts << 1 & 0xfffe | 1)


def pes(pid, cc, pts, data, id=0xe0):
    data = b"\0\0\1" + bytes([id]) + b"\0\0\x80\x80\5" + stamp(pts) + data
    out, first = b"", 0x4000
    while data:
        part, data = data[:184], data[184:]
        room, flag = 184 - len(part), 0x10
        pad = b""
        if room:
            flag, pad = 0x30, bytes([room - 1]) + (b"\0" + b"\xff" * (room - 2) if room > 1 else b"")
        out += struct.pack(">BHB", 0x47, first | pid, flag | cc % 16) + pad + part
        cc, first = cc + 1, 0
    return out, cc


class Ts:
    """A stream whose PMT and parameter sets change with each frame."""

    def __init__(self):
        self.i = self.cc = 0

    def next(self):
        self.i += 1
        i = self.i
        types = ((0x1b, 0x0f), (0x24, 0x0f), (0x1b, 3), (0x24, 4), (0x1b, 0x0f, 0x0f, 0x1b))[i % 5]
        hevc = types[0] == 0x24
        units = [*HEVC_SETS, b"\x26\1" + bytes(100)] if hevc else [grown(SPS, i), PPS, b"\x65\x88" + bytes(100)]
        body, self.cc = pes(0x101, self.cc, i * 3000, b"".join(b"\0\0\0\1" + u for u in units))
        return program(i, types) + body


# ---- JSON bodies of nearly `size` bytes

def filled(begin, unit, end, size):
    return begin + unit * ((size - len(begin) - len(end)) // len(unit)) + end


def members(size):
    out, n, i = [], 2, 0
    while n < size - 16:
        m = f'"{i:x}":1'
        out.append(m)
        n += len(m) + 1
        i += 1
    return "{" + ",".join(out) + "}"


def json_arrays(size):
    return filled('{"a":[0', ",[]", "]}", size)


def json_bodies(size=190000):
    """Bodies that are expensive to parse, by name. All but the first have at most 8 levels."""
    return {
        "deep": filled("", "[", "", size), "deep objects": filled("", '{"a":', "", size),
        "members": members(size), "one key": filled('{"a":0', ',"a":1', "}", size),
        "arrays": json_arrays(size), "objects": filled('{"a":[0', ",{}", "]}", size),
        "objects of objects": filled('{"a":[0', ',{"b":{"c":{}}}', "]}", size),
        "numbers": filled('{"a":[0', ",1e9", "]}", size), "strings": filled('{"a":[0', ',""', "]}", size),
        "escapes": filled('{"sdp":"', "\\u00e4", '","streamurl":"webrtc://h/live/s"}', size),
        "long": filled('{"sdp":"', "x", '","streamurl":"webrtc://h/live/s"}', size),
        "long url": filled('{"sdp":"x","streamurl":"webrtc://h/live/', "s", '"}', size),
        "spaces": filled('{"a":', " ", "1}", size),
        "offer": json.dumps({"sdp": sdp_bodies()["candidates"], "streamurl": "webrtc://127.0.0.1/live/innocent"}),
    }


# ---- SDP

def sdp_bodies(size=65000):
    good = hostile_rtc.offer(False)

    def more(unit, base=good):
        out, i = base, 0
        while True:
            line = unit(i)
            if len(out) + len(line) > size:
                return out
            out, i = out + line, i + 1

    def sections(i):
        return f"m=video 9 UDP/TLS/RTP/SAVPF {' '.join(str(96 + k) for k in range(30))}\r\na=mid:{i + 5}\r\na=recvonly\r\n" + \
            "".join(f"a=rtpmap:{96 + k} H264/90000\r\na=fmtp:{96 + k} packetization-mode=1;profile-level-id=42e01f\r\n" for k in range(30))
    return {
        "good": good,
        "candidates": more(lambda i: f"a=candidate:{i} 1 udp 1 10.0.{i >> 8}.{i & 255} 9 typ host\r\n"),
        "types": more(lambda i: f"a=rtpmap:{96 + i % 32} H264/90000\r\na=rtcp-fb:{96 + i % 32} nack\r\n"),
        "formats": more(lambda i: f"a=fmtp:102 packetization-mode=1;profile-level-id=42e0{i % 256:02x};x{i}=1\r\n"),
        "extensions": more(lambda i: f"a=extmap:{1 + i % 14} urn:{i}\r\n"),
        "ssrcs": more(lambda i: f"a=ssrc:{i} cname:c{i}\r\n"),
        "rids": more(lambda i: f"a=rid:r{i} send\r\na=simulcast:send r{i}\r\n"),
        "empty lines": more(lambda i: "a=\r\n"), "sections": more(sections), "many sections": more(lambda i: "m=audio 9 X 0\r\n"),
        "codecs of none": good.replace("H264", "Z264").replace("opus", "zpus") + "a=x:" + "y" * 4000 + "\r\n",
        "8 KB refused": more(lambda i: f"a=rtpmap:{i % 128} none/{i}\r\n", good.replace("H264", "Z264"))[:8192],
        "groups": good.replace("BUNDLE 0 1", "BUNDLE " + " ".join(str(i) for i in range(900))),
    }


def post(path, body, kind="application/json"):
    body = body if isinstance(body, bytes) else body.encode()
    return f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def client_hello():
    """The first flight of TLS 1.3, prebuilt so that a client sends it without work."""
    out = ssl.MemoryBIO()
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    c.check_hostname, c.verify_mode = False, ssl.CERT_NONE
    try:
        c.wrap_bio(ssl.MemoryBIO(), out).do_handshake()
    except ssl.SSLWantReadError:
        pass
    return out.read()
