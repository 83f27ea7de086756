# SPDX-License-Identifier: MIT
"""FLV files and tags: read, write, compare."""
import hashlib
import struct
from collections import namedtuple

AUDIO, VIDEO, DATA = 8, 9, 18
MEDIA = (AUDIO, VIDEO)


class Tag(namedtuple("Tag", "type ts data")):
    """One FLV tag or RTMP media message: type 8, 9 or 18, time in ms, body."""
    __slots__ = ()

    def __repr__(self):
        kind = {AUDIO: "audio", VIDEO: "video", DATA: "data"}.get(self.type, str(self.type))
        return f"<{kind} {self.ts} {len(self.data)}:{self.data[:6].hex()} {self.hash()[:6]}>"

    def hash(self):
        return hashlib.md5(self.data).hexdigest()

    @property
    def enhanced(self):
        if self.type == VIDEO:
            return bool(self.data) and bool(self.data[0] & 0x80)
        return self.type == AUDIO and bool(self.data) and self.data[0] >> 4 == 9

    @property
    def key(self):
        return self.type == VIDEO and len(self.data) > 0 and (self.data[0] >> 4) & 7 == 1

    @property
    def config(self):
        """Whether the tag is a sequence header, with nothing to show."""
        if self.type not in MEDIA or len(self.data) < 2:
            return False
        if self.enhanced:
            return self.data[0] & 15 == 0
        if self.type == VIDEO:
            return self.data[0] & 15 in (7, 12) and self.data[1] == 0
        return self.data[0] >> 4 == 10 and self.data[1] == 0

    @property
    def frame(self):
        """Whether the tag has something to show."""
        return self.type in MEDIA and not self.config


def read(path_or_bytes):
    raw = path_or_bytes
    if not isinstance(raw, (bytes, bytearray)):
        with open(raw, "rb") as f:
            raw = f.read()
    if raw[:3] != b"FLV":
        raise ValueError("no FLV")
    pos = struct.unpack(">I", raw[5:9])[0] + 4
    tags = []
    while pos + 11 <= len(raw):
        size = int.from_bytes(raw[pos + 1:pos + 4], "big")
        ts = int.from_bytes(raw[pos + 4:pos + 7], "big") | raw[pos + 7] << 24
        if pos + 11 + size > len(raw):
            break
        tags.append(Tag(raw[pos] & 31, ts, bytes(raw[pos + 11:pos + 11 + size])))
        pos += 11 + size + 4
    return tags


def tag_bytes(tag):
    head = struct.pack(">B", tag.type) + len(tag.data).to_bytes(3, "big")
    head += (tag.ts & 0xffffff).to_bytes(3, "big") + bytes([tag.ts >> 24 & 255]) + b"\0\0\0"
    return head + tag.data + struct.pack(">I", 11 + len(tag.data))


def to_bytes(tags, audio=True, video=True):
    head = b"FLV\x01" + bytes([4 * audio | video]) + struct.pack(">II", 9, 0)
    return head + b"".join(tag_bytes(t) for t in tags)


def write(path, tags):
    with open(path, "wb") as f:
        f.write(to_bytes(tags))


def frames(tags, kind=None):
    """Returns the tags with something to show, of all types or one."""
    return [t for t in tags if t.frame and kind in (None, t.type)]


def hashes(tags, kind=None):
    return [t.hash() for t in frames(tags, kind)]


def find_run(part, whole):
    """Returns where the list `part` is in `whole` without gaps; -1 if it is not."""
    if not part:
        return -1
    for i in range(len(whole) - len(part) + 1):
        if whole[i] == part[0] and whole[i:i + len(part)] == part:
            return i
    return -1


def cut(tags, ms, start=0):
    """Returns the configuration and metadata of a list, and the tags in [start, start + ms)."""
    head = [t for t in tags if not t.frame]
    body = [t for t in tags if t.frame and start <= t.ts < start + ms]
    return head + body


def check_monotonic(tags):
    """Checks that times never decrease in a track. Returns the largest step in ms."""
    last, step = {}, 0
    for t in tags:
        if not t.frame:
            continue
        if t.type in last:
            assert t.ts >= last[t.type], f"time goes back from {last[t.type]} to {t!r}"
            step = max(step, t.ts - last[t.type])
        last[t.type] = t.ts
    return step
