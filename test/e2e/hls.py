# SPDX-License-Identifier: MIT
"""HLS as a player sees it: parses playlists and checks the rules of RFC 8216."""
import concurrent.futures
import functools
import os
import re
import urllib.error
import urllib.parse
import urllib.request

import flv
import tools


class Segment:
    def __init__(self, uri, seq):
        self.uri, self.seq = uri, seq
        self.duration = 0.0
        self.discontinuity = self.gap = False
        self.map = self.key = self.iv = self.wall = None
        self.parts = []

    def __repr__(self):
        return f"{self.seq}:{self.uri}({self.duration})"


class Playlist:
    """Parses a playlist; raises AssertionError for violations of the RFC."""

    def __init__(self, text):
        self.text, self.segments, self.hint, self.parts = text, [], None, []
        self.target = self.part_target = self.skip_until = None
        self.skipped = 0  # of a delta update: number of segments that the player already has
        self.sequence = self.discontinuities = 0
        assert text.startswith("#EXTM3U\n"), text[:100]
        one = Segment(None, 0)
        map_uri = key = iv = None
        for line in text.split("\n"):
            name, _, value = line.partition(":")
            if name == "#EXT-X-MEDIA-SEQUENCE":
                self.sequence = int(value)
            elif name == "#EXT-X-DISCONTINUITY-SEQUENCE":
                self.discontinuities = int(value)
            elif name == "#EXT-X-TARGETDURATION":
                self.target = int(value)
            elif name == "#EXTINF":
                one.duration = float(value.rstrip(","))
            elif name == "#EXT-X-DISCONTINUITY":
                one.discontinuity = True
            elif name == "#EXT-X-GAP":
                one.gap = True
            elif name == "#EXT-X-PROGRAM-DATE-TIME":
                one.wall = value
            elif name == "#EXT-X-MAP":
                map_uri = re.search(r'URI="([^"]*)"', value)[1]
            elif name == "#EXT-X-KEY":
                m = re.search(r'URI="([^"]*)",IV=0x([0-9a-f]{32})', value)
                key, iv = (m[1], m[2]) if m else (None, None)
            elif name == "#EXT-X-SERVER-CONTROL" and "CAN-SKIP-UNTIL" in value:
                self.skip_until = float(re.search(r"CAN-SKIP-UNTIL=([0-9.]+)", value)[1])
            elif name == "#EXT-X-SKIP":
                assert not self.segments and not self.skipped
                self.skipped = int(re.search(r"SKIPPED-SEGMENTS=(\d+)", value)[1])
            elif name == "#EXT-X-PART-INF":
                self.part_target = float(re.search(r"PART-TARGET=([0-9.]+)", value)[1])
            elif name == "#EXT-X-PART":
                one.parts.append((float(re.search(r"DURATION=([0-9.]+)", value)[1]),
                                  re.search(r'URI="([^"]*)"', value)[1], "INDEPENDENT=YES" in value))
            elif name == "#EXT-X-PRELOAD-HINT":
                self.hint = re.search(r'URI="([^"]*)"', value)[1]
            elif line and line[0] != "#":
                one.uri, one.seq = line, self.sequence + self.skipped + len(self.segments)
                one.map, one.key, one.iv = map_uri, key, iv
                self.segments.append(one)
                one = Segment(None, 0)
        self.parts = one.parts  # parts of the growing segment
        self.check()

    def check(self):
        assert self.target, self.text
        assert self.skip_until is None or self.skip_until >= 6 * self.target
        for s in self.segments:
            assert round(s.duration) <= self.target, f"{s} is over the target {self.target}"
            assert s.duration > 0, s
            if self.part_target:
                assert all(d <= self.part_target + 1e-9 for d, _, _ in s.parts), s.parts
                if s.parts:
                    assert abs(sum(d for d, _, _ in s.parts) - s.duration) < 0.01
        assert len({s.uri for s in self.segments}) == len(self.segments), self.text

    @property
    def seconds(self):
        return sum(s.duration for s in self.segments)


def load(path):
    """Reads the playlist of a file; None if it does not exist."""
    try:
        with open(path) as f:
            return Playlist(f.read())
    except FileNotFoundError:
        return None


def files(path):
    """Returns the paths of a playlist's segments on disk."""
    folder = os.path.dirname(path)
    return [os.path.join(folder, s.uri) for s in load(path).segments]


def whole(path, out):
    """Concatenates all segments of a playlist on disk (with the initialization of the first one) into one file."""
    folder, listed = os.path.dirname(path), load(path)
    with open(out, "wb") as f:
        if listed.segments[0].map:
            with open(os.path.join(folder, listed.segments[0].map), "rb") as g:
                f.write(g.read())
        for s in listed.segments:
            with open(os.path.join(folder, s.uri), "rb") as g:
                f.write(g.read())
    return out


@functools.lru_cache
def probed(path, size, time):
    return tools.ffprobe(path, "-show_entries", "packet=codec_type,pts_time,dts_time,flags", timeout=30)["packets"]


def packets(path, kind):
    """Returns [(pts, dts, is key)] of a file's packets of one kind ("v" or "a"), in seconds."""
    is_now = os.stat(path)
    return [(float(p["pts_time"]), float(p["dts_time"]), "K" in p["flags"])
            for p in probed(path, is_now.st_size, is_now.st_mtime_ns) if p["codec_type"][0] == kind]


def packets_of(paths, kind):
    """Returns packets() of each file, running several at a time."""
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda path: packets(path, kind), paths))


def frames(tags, kind):
    """Number of frames in the tags that a decoder shows, without the end-of-sequence tag."""
    return len([t for t in flv.frames(tags, kind) if not (t.type == flv.VIDEO and t.data[1] == 2)])


def get(url, timeout=30.0, headers=None):
    """Returns (status, headers, body)."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers or {}),
                                    timeout=timeout) as r:
            return r.status, r.headers, r.read()
    except urllib.error.HTTPError as e:
        return e.code, e.headers, e.read()


def get_list(url, timeout=30.0):
    status, headers, body = get(url, timeout)
    assert status == 200, f"{status} for {url}"
    assert "mpegurl" in headers["Content-Type"]
    return Playlist(body.decode())


def join(base, uri):
    return urllib.parse.urljoin(base, uri)
