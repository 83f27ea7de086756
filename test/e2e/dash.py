# SPDX-License-Identifier: MIT
"""MPEG-DASH as a player sees it: parses MPDs and checks the rules of ISO/IEC 23009-1."""
import datetime
import os
import re
import struct
import urllib.request
import xml.etree.ElementTree as ET

NS = "{urn:mpeg:dash:schema:mpd:2011}"


def seconds(span):
    """Parses a duration such as PT1H2.5S."""
    m = re.fullmatch(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:([0-9.]+)S)?", span)
    assert m, span
    return int(m[1] or 0) * 3600 + int(m[2] or 0) * 60 + float(m[3] or 0)


def wall(date):
    return datetime.datetime.fromisoformat(date.replace("Z", "+00:00")).timestamp()


class Track:
    def __init__(self, node):
        self.kind = node.get("contentType")
        template, shown = node.find(NS + "SegmentTemplate"), node.find(NS + "Representation")
        self.codecs, self.bandwidth = shown.get("codecs"), int(shown.get("bandwidth"))
        self.width, self.height = shown.get("width"), shown.get("height")
        self.scale = int(template.get("timescale"))
        self.init, self.media = template.get("initialization"), template.get("media")
        self.segments = []  # (t, d)
        at = 0
        for s in template.find(NS + "SegmentTimeline"):
            at = int(s.get("t", at))
            for _ in range(int(s.get("r", 0)) + 1):
                self.segments.append((at, int(s.get("d"))))
                at += int(s.get("d"))

    @property
    def uris(self):
        return [self.media.replace("$Time$", str(t)) for t, _ in self.segments]

    @property
    def begin(self):
        return self.segments[0][0] / self.scale

    @property
    def end(self):
        return sum(self.segments[-1]) / self.scale


class Period:
    def __init__(self, node):
        self.name, self.start = node.get("id"), seconds(node.get("start"))
        self.tracks = {t.kind: t for t in map(Track, node)}


class Mpd:
    """Parses an MPD; raises AssertionError for violations of the standard."""

    def __init__(self, text):
        self.text = text
        root = ET.fromstring(text)
        assert root.tag == NS + "MPD" and root.get("type") == "dynamic"
        assert "isoff-live" in root.get("profiles")
        self.available, self.published = wall(root.get("availabilityStartTime")), wall(root.get("publishTime"))
        self.update, self.shift = seconds(root.get("minimumUpdatePeriod")), seconds(root.get("timeShiftBufferDepth"))
        self.delay = seconds(root.get("suggestedPresentationDelay"))
        self.longest, self.buffer = seconds(root.get("maxSegmentDuration")), seconds(root.get("minBufferTime"))
        self.periods = [Period(n) for n in root.findall(NS + "Period")]
        clock = root.find(NS + "UTCTiming")
        self.clock = wall(clock.get("value")) if clock is not None else None
        self.check()

    def check(self):
        assert self.periods, self.text
        assert len({p.name for p in self.periods}) == len(self.periods)
        for a, b in zip(self.periods, self.periods[1:]):
            end = max(t.end for t in a.tracks.values())
            assert b.start >= a.start + end - 0.06, f"period {b.name} begins before {a.name} ends"
        for p in self.periods:
            assert p.tracks, self.text
            for t in p.tracks.values():
                assert all(d > 0 and d <= (self.longest + 0.1) * t.scale for _, d in t.segments), t.segments
                for (a, d), (b, _) in zip(t.segments, t.segments[1:]):
                    assert abs(a + d - b) <= t.scale / 50, f"{t.kind} {t.segments}"
                assert len(set(t.uris)) == len(t.uris)

    @property
    def last(self):
        return self.periods[-1]

    @property
    def count(self):
        return sum(len(t.segments) for p in self.periods for t in p.tracks.values() if
                   t.kind == "video" or "video" not in p.tracks)


def load(path):
    """Reads the MPD of a file; None if it does not exist."""
    try:
        with open(path) as f:
            return Mpd(f.read())
    except FileNotFoundError:
        return None


def get(url):
    with urllib.request.urlopen(url, timeout=10) as r:
        return r.headers, Mpd(r.read().decode())


def box(data, path):
    """Returns the content of the first box at a path such as "moof/traf/tfdt", or None."""
    at = 0
    name, _, rest = path.partition("/")
    while at + 8 <= len(data):
        size, = struct.unpack_from(">I", data, at)
        if data[at + 4:at + 8] == name.encode():
            inside = data[at + 8:at + size]
            return box(inside, rest) if rest else inside
        at += size
    return None


def whole(mpd_path, period, kind, out):
    """Concatenates a track's initialization and segments into one file, and checks that each segment has the time that
    its MPD claims."""
    folder, track = os.path.dirname(mpd_path), period.tracks[kind]
    with open(out, "wb") as f:
        with open(os.path.join(folder, track.init), "rb") as g:
            f.write(g.read())
        for uri, (t, _) in zip(track.uris, track.segments):
            with open(os.path.join(folder, uri), "rb") as g:
                data = g.read()
            tfdt = box(data, "moof/traf/tfdt")
            assert struct.unpack_from(">Q", tfdt, 4)[0] == t, uri
            f.write(data)
    return out
