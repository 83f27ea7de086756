# SPDX-License-Identifier: MIT
"""Media of a camera: tracks as RTP payloads and SDP, with typical faults."""
import base64
import struct
from collections import namedtuple

import flv
from flvgen import Track

MTU = 1200

# One sample of a track: time in ticks of the track's clock, time in seconds, payloads with markers.
Sample = namedtuple("Sample", "when ticks key payloads")


def tracks_of(tags):
    """Returns flvgen.Tracks from FLV tags with H.264 (not enhanced) and AAC."""
    out = []
    video = [t for t in flv.frames(tags, flv.VIDEO) if t.data[1] == 1]
    audio = flv.frames(tags, flv.AUDIO)
    config = {t.type: t.data for t in tags if t.config}
    if video:
        frames = [(t.ts, int.from_bytes(t.data[2:5], "big"), t.key, t.data[5:]) for t in video]
        out.append(Track("h264", config[flv.VIDEO][5:], frames))
    if audio:
        out.append(Track("aac", config[flv.AUDIO][2:], [(t.ts, 0, True, t.data[2:]) for t in audio]))
    return out


def units(body):
    """Splits a frame into NAL units, each after a length of four bytes."""
    at, out = 0, []
    while at + 4 <= len(body):
        size = int.from_bytes(body[at:at + 4], "big")
        out.append(body[at + 4:at + 4 + size])
        at += 4 + size
    return out


def sets_of(track):
    """Returns the parameter sets of a decoder configuration."""
    c, out = track.config, []
    if track.codec == "h264":
        at, n = 6, c[5] & 31
        for _ in range(2):
            for _ in range(n):
                size = int.from_bytes(c[at:at + 2], "big")
                out.append(c[at + 2:at + 2 + size])
                at += 2 + size
            n, at = (c[at], at + 1) if at < len(c) else (0, at)
        return out
    at = 23
    for _ in range(c[22]):
        n = int.from_bytes(c[at + 1:at + 3], "big")
        at += 3
        for _ in range(n):
            size = int.from_bytes(c[at:at + 2], "big")
            out.append(c[at + 2:at + 2 + size])
            at += 2 + size
    return out


def fragments(nal, hevc, both=False):
    """Returns FU-A or FU fragments. `both`: a small unit becomes one packet with both the start and the end bit."""
    head = 2 if hevc else 1
    if len(nal) <= MTU and not both:
        return [nal]
    kind = nal[0] >> 1 & 63 if hevc else nal[0] & 31
    front = bytes([nal[0] & 0x81 | 49 << 1, nal[1]]) if hevc else bytes([nal[0] & 0xe0 | 28])
    body, out = nal[head:], []
    pieces = [body[i:i + MTU] for i in range(0, len(body), MTU)]
    for i, piece in enumerate(pieces):
        bits = (0x80 if i == 0 else 0) | (0x40 if i == len(pieces) - 1 else 0)
        out.append(front + bytes([bits | kind]) + piece)
    return out


class Media:
    """One track: its SDP lines and samples."""

    def __init__(self, track, quirks):
        self.track, self.q = track, quirks
        self.video = track.video
        self.rate = 90000
        if track.codec == "aac":
            index = (track.config[0] & 7) << 1 | track.config[1] >> 7
            self.rate = (96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025,
                         8000, 7350)[index]
            self.channels = track.config[1] >> 3 & 15
        self.type = 96 if self.video else 97
        self.samples = [self.sample(*f) for f in track.frames]
        self.seconds = self.samples[-1].when + (self.samples[-1].when - self.samples[0].when) / (
            len(self.samples) - 1)

    def sample(self, dts, cts, key, body):
        ticks = round((dts + cts) * self.rate / 1000)
        if not self.video:
            ticks = round(dts * self.rate / 1000 / 1024) * 1024  # FLV timestamps in milliseconds are too coarse
            return Sample(dts / 1000, ticks, key, [(struct.pack(">HH", 16, len(body) << 3) + body, True)])
        nals, hevc = units(body), self.track.codec == "hevc"
        if key and self.q.sets_in_stream:
            nals = sets_of(self.track) + nals
        out = []
        for n in nals:
            pieces = fragments(n, hevc, self.q.fragment_all)
            out += [(p, self.q.marker == "each" and i == len(pieces) - 1) for i, p in enumerate(pieces)]
        out[-1] = (out[-1][0], self.q.marker != "none")
        return Sample(dts / 1000, ticks, key, out)

    def sdp(self, control):
        name = {"h264": "H264", "hevc": "H265", "aac": "MPEG4-GENERIC"}[self.track.codec]
        lines = [f"m={'video' if self.video else 'audio'} 0 RTP/AVP {self.type}",
                 f"a=rtpmap:{self.type} {name}/{self.rate}" + ("" if self.video else f"/{self.channels}")]
        if self.video and self.q.sprop:
            sets = [base64.b64encode(s).decode() for s in sets_of(self.track)]
            if self.track.codec == "h264":
                lines.append(f"a=fmtp:96 packetization-mode=1; sprop-parameter-sets={','.join(sets)}{self.q.sprop_end}")
            else:
                lines.append("a=fmtp:96 " + "; ".join(f"sprop-{n}={s}" for n, s in zip(("vps", "sps", "pps"), sets)))
        if not self.video:
            lines.append(f"a=fmtp:97 streamtype=5; profile-level-id=1; mode=AAC-hbr; sizelength=13; indexlength=3; "
                         f"indexdeltalength=3; config={self.track.config.hex().upper()}")
        if control is not None:
            lines.append(f"a=control:{control}")
        return lines
