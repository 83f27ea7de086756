# SPDX-License-Identifier: MIT
"""Media that WebRTC clients send, and how they decode: counts video frames and audio samples."""
import itertools
import struct
from collections import namedtuple
from fractions import Fraction

import tools

Decoded = namedtuple("Decoded", "frames samples complaints seconds heard")  # seconds of video, and of audio
RATE, KEYS, SIZE = 25, 50, (640, 360)


def film(tmp, seconds=20):
    """No B-frames, one slice per frame; Opus. FILM.h264 and FILM.ogg for clients that read frames, both in FILM.mkv."""
    tools.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", f"testsrc2=size={SIZE[0]}x{SIZE[1]}:rate={RATE}", "-f", "lavfi", "-i",
               "sine=frequency=440:sample_rate=48000", "-map", "0:v", "-map", "1:a", "-t", seconds, "-c:v", "libx264", "-profile:v", "baseline",
               "-preset", "ultrafast", "-tune", "zerolatency", "-x264-params", "sliced-threads=0:slices=1", "-g", KEYS, "-b:v", "900k",
               "-pix_fmt", "yuv420p", "-c:a", "libopus", "-ac", 2, f"{tmp}/film.mkv"])
    tools.run(["ffmpeg", "-v", "error", "-y", "-i", f"{tmp}/film.mkv", "-map", "0:v", "-c", "copy", f"{tmp}/film.h264",
               "-map", "0:a", "-c", "copy", "-page_duration", 20000, f"{tmp}/film.ogg"])
    return f"{tmp}/film"


def counted(r):
    """Counts the output of `-f framecrc`: frames in stream 0, 48 kHz audio in stream 1."""
    lines = r.stdout.decode().splitlines()
    base = {line.split()[1][:1]: float(Fraction(line.split()[2])) for line in lines if line.startswith("#tb ")}
    rows = [[int(x) for x in line.split(",")[:4]] for line in lines if not line.startswith("#")]
    span = {n: (of[-1][2] + of[-1][3] - of[0][2]) * base[str(n)] for n in (0, 1) if (of := [x for x in rows if x[0] == n])}
    return Decoded(sum(x[0] == 0 for x in rows), sum(x[3] for x in rows if x[0] == 1), r.stderr.decode().strip(), span.get(0, 0), span.get(1, 0))


def watch(url, seconds, *options):
    """Decodes some seconds of a stream over another protocol."""
    return counted(tools.run(["ffmpeg", "-v", "error", "-nostdin", *options, "-i", url, "-t", seconds, "-map", "0:v", "-map", "0:a",
                              "-ar", 48000, "-fps_mode", "passthrough", "-f", "framecrc", "-"], check=False))


# ---- RTP packets, each after its length in two bytes (RFC 4571)

def packets(path):
    with open(path, "rb") as f:
        data = f.read()
    at = 0
    while at + 2 <= len(data):
        size = struct.unpack_from(">H", data, at)[0]
        yield data[at + 2:at + 2 + size]
        at += 2 + size


def payload_of(p):
    at = 12 + 4 * (p[0] & 15)
    if p[0] & 16:
        at += 4 + 4 * struct.unpack_from(">H", p, at + 2)[0]
    return p[at:len(p) - (p[-1] if p[0] & 32 else 0)]


def units(payloads):
    """Yields the NAL units of H.264 (RFC 6184), modes 0 and 1."""
    part = b""
    for p in payloads:
        kind = p[0] & 31
        if kind == 28:
            part = bytes([p[0] & 0xe0 | p[1] & 31]) + p[2:] if p[1] & 0x80 else part + p[2:]
            if p[1] & 0x40:
                yield part
        elif kind == 24:
            at = 1
            while at + 2 <= len(p):
                size = struct.unpack_from(">H", p, at)[0]
                yield p[at + 2:at + 2 + size]
                at += 2 + size
        else:
            yield p


CRC = []
for _n in range(256):
    _c = _n << 24
    for _ in range(8):
        _c = (_c << 1 ^ (0x04c11db7 if _c & 0x80000000 else 0)) & 0xffffffff
    CRC.append(_c)


def page(number, packet, place, kind):
    """Makes an Ogg page with one packet."""
    lacing = bytes([255] * (len(packet) // 255) + [len(packet) % 255])
    head = struct.pack("<4sBBqIII", b"OggS", 0, kind, place, 1, number, 0) + bytes([len(lacing)]) + lacing
    crc = 0
    for b in head + packet:
        crc = (crc << 8 & 0xffffffff) ^ CRC[crc >> 24 ^ b]
    return head[:22] + struct.pack("<I", crc) + head[26:] + packet


def ogg(path, sound):
    with open(path, "wb") as f:
        f.write(page(0, struct.pack("<8sBBHIhB", b"OpusHead", 1, 2, 0, 48000, 0, 0), 0, 2))
        f.write(page(1, struct.pack("<8sI4sI", b"OpusTags", 4, b"test", 0), 0, 0))
        for n, p in enumerate(sound):
            f.write(page(n + 2, p, 960 * (n + 1), 0))


def decode(dump):
    """Decodes everything received: H.264, and Opus packets of 20 ms, distinguished by payload type."""
    by_type = {t: list(ps) for t, ps in itertools.groupby(sorted(packets(dump), key=lambda p: p[1] & 127), lambda p: p[1] & 127)}
    sound = min(by_type.values(), key=lambda ps: sum(map(len, ps)))
    video = max(by_type.values(), key=lambda ps: sum(map(len, ps)))
    with open(f"{dump}.h264", "wb") as f:
        for u in units(filter(None, map(payload_of, video))):
            f.write(b"\0\0\0\1" + u)
    ogg(f"{dump}.ogg", filter(None, map(payload_of, sound)))
    return counted(tools.run(["ffmpeg", "-v", "error", "-nostdin", "-f", "h264", "-framerate", RATE, "-i", f"{dump}.h264", "-i", f"{dump}.ogg",
                              "-map", "0:v", "-map", "1:a", "-fps_mode", "passthrough", "-f", "framecrc", "-"], check=False))
