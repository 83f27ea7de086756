# SPDX-License-Identifier: MIT
"""A publisher that causes work: a new configuration with each frame, times that jump, tracks that change places. It costs little
while it publishes, and nothing afterwards."""
import glob
import re
import socket
import time
from collections import namedtuple

import pytest

import amf
import flv
import hls
import procs
from flvgen import CODED, SEQ_START, enhanced
from hostile import Talk, video
from procs import SLOW, wait_for
from rtmpclient import AUDIO, DATA, VIDEO, ChunkWriter

# the configuration in procs.SOURCE, and the same with another compatibility byte
AVC = next(tag.data for tag in flv.read(procs.SOURCE) if tag.type == VIDEO and tag.data[1] == 0)
AVC2 = AVC[:7] + bytes([AVC[7] ^ 1]) + AVC[8:]
HVCC = bytes.fromhex("0101600000009000000000005af000fcfdf8f800000f03")
AAC, AAC2 = bytes.fromhex("af001210"), bytes.fromhex("af001190")
SOUND = b"\xaf\x01" + b"\x21" * 8
MP3 = b"\x2f" + bytes.fromhex("fffb9064") + bytes(400)
MP3_2 = b"\x2f" + bytes.fromhex("fffb9464") + bytes(400)


def key(size=10):
    return video(size)


def hevc(packet, body):
    return enhanced(VIDEO, 1, packet, b"hvc1", body)


def vp9(width):
    """A key frame of VP9 whose header has this size."""
    head = int("10" "0" "0" "0" "0" "1" "0", 2).to_bytes(1, "big") + b"\x49\x83\x42"
    bits = "001" "0" + f"{width - 1:016b}" + f"{239:016b}" + "0" * 12
    return enhanced(VIDEO, 1, CODED, b"vp09", head + int(bits, 2).to_bytes(len(bits) // 8, "big") + bytes(20))


def meta(n):
    return amf.encode("@setDataFrame", "onMetaData", {"width": float(n), "height": float(n + 1)})


def in_track(n, body):
    return enhanced(VIDEO, 1, CODED, b"avc1", b"\0\0\0" + body, track_id=n)


# each: (type, body) of one turn, for turn number n; step: milliseconds between two turns
Attack = namedtuple("Attack", "name turn step changes", defaults=(1, False))
ATTACKS = [
    Attack("video configurations", lambda n: [(VIDEO, AVC2 if n % 2 else AVC), (VIDEO, key())], 1, True),
    Attack("audio configurations", lambda n: [(AUDIO, AAC2 if n % 2 else AAC), (AUDIO, SOUND)], 30, True),
    Attack("audio configurations with video",
           lambda n: [(VIDEO, AVC)] * (n == 0) + [(AUDIO, AAC2 if n % 2 else AAC), (VIDEO, key()), (AUDIO, SOUND)], 1, True),
    Attack("H.264 and HEVC", lambda n: [(VIDEO, AVC), (VIDEO, key())] if n % 2 else
           [(VIDEO, hevc(SEQ_START, HVCC)), (VIDEO, hevc(CODED, bytes(3) + b"\0\0\0\x06\x26\x01" + bytes(4)))], 1, True),
    Attack("AAC and MP3", lambda n: [(AUDIO, AAC)] * (n == 0) + [(AUDIO, MP3 if n % 2 else SOUND)], 30, True),
    Attack("MP3 of two rates", lambda n: [(AUDIO, MP3 if n % 2 else MP3_2)], 30),
    Attack("sizes of VP9", lambda n: [(VIDEO, enhanced(VIDEO, 1, SEQ_START, b"vp09", bytes.fromhex("010000000014820202020000")))]
           * (n == 0) + [(VIDEO, vp9(320 + n % 2 * 320))], 1, True),
    Attack("configurations of many tracks",
           lambda n: [(VIDEO, enhanced(VIDEO, 1, SEQ_START, b"avc1", (AVC2 if n // 200 % 2 else AVC)[5:], track_id=n % 200)),
                      (VIDEO, in_track(n % 200, key()[5:]))], 1, True),
    Attack("metadata", lambda n: [(VIDEO, AVC)] * (n == 0) + [(DATA, meta(n)), (VIDEO, key())], 1),
    Attack("key frames that jump", lambda n: [(VIDEO, AVC)] * (n == 0) + [(VIDEO, key())], 2900),
    Attack("key frames that jump far", lambda n: [(VIDEO, AVC)] * (n == 0) + [(VIDEO, key())], 100000),
    Attack("audio that jumps", lambda n: [(AUDIO, AAC)] * (n == 0) + [(AUDIO, SOUND)], 2900),
    Attack("times forth and back", lambda n: [(VIDEO, AVC)] * (n == 0) + [(VIDEO, key())],
           lambda n: n // 2 * 10 + n % 2 * 100000),
    Attack("small messages", lambda n: [(VIDEO, AVC)] * (n == 0) + [(VIDEO, b"\x27\x01\0\0\0\0\0\0\x01\x41"), (AUDIO, SOUND)], 1),
]
BY_NAME = {a.name: a for a in ATTACKS}


def time_of(attack, n):
    return (attack.step(n) if callable(attack.step) else attack.step * n) & 0x7fffffff


def turns(attack, first, count, w):
    out = bytearray()
    for n in range(first, first + count):
        for type, body in attack.turn(n):
            out += w.message(4 if type == AUDIO else 6 if type == VIDEO else 5, type, time_of(attack, n), 1, body, fmt=0)
    return bytes(out)


def publish(port, attack, most, seconds, stream="hostile"):
    """Sends all of it, or until the server closes. Returns True if it closed."""
    t = Talk().publish(stream)
    sent, n, until = 0, 0, time.monotonic() + seconds
    with socket.create_connection(("127.0.0.1", port), 10) as c:
        c.settimeout(20)
        try:
            c.sendall(bytes(t.out))
            while sent < most and time.monotonic() < until:
                chunk = turns(attack, n, 500, t.w)
                c.sendall(chunk)
                sent, n = sent + len(chunk), n + 500
            c.shutdown(socket.SHUT_WR)
            while c.recv(1 << 16):
                pass
            return False
        except OSError:
            return True


HLS = "hls {{ enabled on; hls_path {html}; hls_window 30; %s }}"
SINKS = {
    "ts": HLS % "hls_fragment 2;",
    "fmp4": HLS % "hls_fragment 0.1; hls_use_fmp4 on; hls_wait_keyframe off;",
    "ll": HLS % "hls_fragment 2; hls_ll on; hls_part 0.05;",
    "keys": HLS % "hls_fragment 1; hls_keys on; hls_fragments_per_key 1;",
    "as it comes": "play {{ time_jitter off; }} " + HLS % "hls_fragment 2;",
    "dash": "dash {{ enabled on; dash_path {html}; dash_fragment 2; }}",
    "mp4": "dvr {{ enabled on; dvr_plan segment; dvr_duration 1; dvr_path {html}/rec/[stream].[timestamp].mp4; }}",
    "flv": "dvr {{ enabled on; dvr_plan segment; dvr_duration 1; dvr_path {html}/rec/[stream].[timestamp].flv; }}",
}
AT_ONCE, A_SECOND = 40, 4  # segments, recordings


class Scene:
    def __init__(self, srs, tmp_path, sink, glob=""):
        self.html = tmp_path / "html"
        self.html.mkdir()
        self.s = srs(vhost=SINKS[sink].format(html=self.html), glob=glob)
        self.s.holds_allowed = (1000, 50)  # memory by the gigabyte: page faults cost the server's time

    def made(self):
        """Number of segments made so far, from the playlist, or of recordings."""
        for path in glob.glob(str(self.html / "live" / "*.m3u8")):
            got = hls.load(path)
            return got.sequence + len(got.segments)
        return len(glob.glob(str(self.html / "live" / "**" / "*.m4s"), recursive=True) +
                   glob.glob(str(self.html / "rec" / "*")))

    def cpu(self):
        return procs.cpu_seconds(self.s.pid)

    def rests(self):
        before, since = self.cpu(), time.monotonic()
        time.sleep(0.5)
        return (self.cpu() - before) / (time.monotonic() - since) < 0.1


def attack(scene, one, most, seconds):
    """Whatever it sends, the cost is bounded during publishing and ends with it."""
    rss, cpu, began = scene.s.rss(), scene.cpu(), time.monotonic()
    ended = publish(scene.s.port, one, most, seconds)
    took, left = time.monotonic() - began, time.monotonic()
    busy = scene.cpu() - cpu
    assert wait_for(scene.rests, 12, 0), "the server still works for a publisher that has gone"
    figures = (f"sent for {took:.1f} s, ended by the server: {ended}; {busy:.1f} s of cpu, at rest after "
               f"{time.monotonic() - left:.1f} s and {scene.cpu() - cpu - busy:.1f} s more, "
               f"{(scene.s.rss() - rss) >> 10} MB more, {scene.made()} segments")
    print(figures)
    assert time.monotonic() - left <= 12 * SLOW, figures
    assert scene.cpu() - cpu - busy <= 2 * SLOW, figures
    assert scene.made() <= AT_ONCE + A_SECOND * (took + 2) + 2, figures
    assert wait_for(lambda: scene.s.rss() - rss <= 100 << 10, 12), figures
    assert ended == one.changes, figures
    if one.changes:
        assert len(re.findall(r"config_changes", scene.s.log())) == 1, "not one line with the reason"
    assert scene.s.stop() == 0 and scene.s.stop_seconds <= 5 * SLOW, f"the end took {scene.s.stop_seconds:.1f} s"


# one of each kind of work that exceeded a limit
@pytest.mark.parametrize("name,sink", [
    ("video configurations", "fmp4"), ("audio configurations with video", "ts"), ("AAC and MP3", "mp4"),
    ("sizes of VP9", "dash"), ("audio that jumps", "ll"), ("key frames that jump", "as it comes"),
    ("audio that jumps", "mp4")])
def test_a_second_of(srs, tmp_path, name, sink):
    attack(Scene(srs, tmp_path, sink), BY_NAME[name], 30 << 20, 0.7)


@pytest.mark.long
@pytest.mark.parametrize("sink", list(SINKS))
@pytest.mark.parametrize("name", list(BY_NAME))
def test_thirty_megabytes_of(srs, tmp_path, name, sink):
    attack(Scene(srs, tmp_path, sink), BY_NAME[name], 30 << 20, 3)


def test_changes_now_and_then_are_fine(srs, tmp_path):
    """An encoder that changes its size, and back, continues."""
    scene = Scene(srs, tmp_path, "ts")
    pub = scene.s.publisher("s")
    for n in range(8):
        pub.send_tag(flv.Tag(VIDEO, n * 40, AVC2 if n % 2 else AVC))
        pub.send_tag(flv.Tag(VIDEO, n * 40, key(1000)))
    assert wait_for(lambda: scene.made() >= 6, 5), scene.made()
    assert not re.search("config_changes", scene.s.log())
