# SPDX-License-Identifier: MIT
"""AV1 over RTSP, which few players support yet: units are extracted from RTP according to its payload format."""
from procs import wait_for
from test_rtsp_sync import Ear, site  # noqa: F401


def leb128(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if not data[at - 1] & 0x80:
            return value, at


def units_of_frame(data):
    """Open bitstream units as sent: without sizes, delimiters and padding."""
    out, at = [], 0
    while at < len(data):
        head = data[at:at + (2 if data[at] & 4 else 1)]
        size, begin = leb128(data, at + len(head))
        if (head[0] >> 3 & 15) not in (2, 8, 15):
            out.append(bytes([head[0] & ~2]) + head[1:] + data[begin:begin + size])
        at = begin + size
    return out


def elements(payload):
    """Parses a packet: [unit or fragment], whether the first one is continued, whether the last one continues."""
    flags, at, out = payload[0], 1, []
    count = flags >> 4 & 3
    while at < len(payload):
        size = len(payload) - at
        if not count or len(out) + 1 < count:
            size, at = leb128(payload, at)
        out.append(payload[at:at + size])
        at += size
    return out, flags & 0x80, flags & 0x40


def test_units_are_those_that_were_published(site, media):
    track = media.track("av1")
    want = [units_of_frame(data) for _, _, _, data in track.frames]
    p = site.push(media.tags("av1", "aac"), loop=True)
    assert wait_for(lambda: len(p.pushed) > 30, 10)
    with Ear(site.rtsp_port) as c:
        c.begin()
        got, frame, goes_on = [], [], False
        while len(got) < 60:
            channel, data = c.frame()
            if channel != 0:
                continue
            pieces, first, last = elements(data[12:])
            assert bool(first) == goes_on, "a fragment must be continued, and nothing else"
            if first:
                frame[-1] += pieces.pop(0)
            frame, goes_on = frame + pieces, bool(last)
            if data[1] & 0x80:
                got.append(frame)
                frame = []
    assert any((want * 3)[i:i + len(got)] == got for i in range(len(want)))
