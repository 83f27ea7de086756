# SPDX-License-Identifier: MIT
"""WebRTC publishers with faults: what others get, frame by frame."""
import threading
import time

import pytest

import flv
import hostile_rtc as h
import tools
from camera import Quirks
from camera_rtp import Media, tracks_of
from procs import CLIP, SLOW, Proc
from rtc import rtc_server
from test_bench_tools import tool

pytestmark = pytest.mark.long
NTP = 2208988800
SILENCE = b"\xfc\xff\xfe"  # an Opus frame, 20 ms


class Publisher(threading.Thread):
    """H.264 of doc/source.flv and Opus silence, unencrypted, with a fault at `at` seconds."""

    def __init__(self, s, stream, source, fault="", at=3.0, seconds=7.0):
        super().__init__(daemon=True)
        self.client = h.Client(s.api_port, s.rtc_port, stream, True).connect()
        self.media = Media(next(t for t in tracks_of(source) if t.video), Quirks(sets_in_stream=True))
        self.fault, self.at, self.seconds, self.sent = fault, at, seconds, 0
        self.clock = [h.rng.getrandbits(31), h.rng.getrandbits(31)]  # initial sequence numbers of video and audio
        self.ssrc = [self.client.ssrc, self.client.ssrc + 1]
        self.seq = [h.rng.getrandbits(15), h.rng.getrandbits(15)]
        self.start()

    def put(self, kind, payload, ticks, marker=False):
        self.client.say(h.rtp(self.seq[kind], self.clock[kind] + ticks, self.ssrc[kind], payload,
                              h.SOUND if kind else h.VIDEO, marker))
        self.seq[kind] += 1

    def report(self, now):
        """Sender reports of both tracks; the wall clock gives the time of each tick."""
        wall = time.time() + NTP
        for kind, rate in ((0, 90000), (1, 48000)):
            body = h.words(self.ssrc[kind], int(wall), int(wall % 1 * 2**32), self.clock[kind] + int(now * rate) & 0xffffffff, 1, 1)
            self.client.say(h.rtcp(200, 0, body) + h.rtcp(202, 1, h.words(self.ssrc[kind]) + b"\1\1a\0"))

    def go_wrong(self):
        if self.fault == "another source":
            time.sleep(1.5)
            self.ssrc = [x ^ 0x55aa55 for x in self.ssrc]
            self.seq = [x + 20000 for x in self.seq]
            self.clock = [h.rng.getrandbits(31) for _ in self.clock]
        elif self.fault == "a clock that jumps":
            self.clock = [self.clock[0] + 3600 * 90000, self.clock[1] + 3600 * 48000]

    def run(self):
        begin, wrong, reported, sound, n = time.monotonic(), False, -1.0, 0, 0
        while (at := time.monotonic() - begin) < self.seconds:
            if not wrong and at >= self.at:
                wrong = True
                self.go_wrong()
            sample = self.media.samples[n % len(self.media.samples)]
            when = sample.when + n // len(self.media.samples) * self.media.seconds
            while sound * 0.02 < when:
                self.put(1, SILENCE, sound * 960)
                sound += 1
            for payload, marker in sample.payloads:
                self.put(0, payload, int(when * 90000), marker)
            self.sent, n = self.sent + 1, n + 1
            if at - reported >= 1 and self.fault != "no reports":
                reported = at
                self.report(when)
            self.client.answers(self.client.hear())
            if n % 25 == 0:
                self.client.check(0.01)
            time.sleep(max(0.0, begin + when - time.monotonic()))
        self.client.close()


def in_order(tags, jump):
    """Times never decrease, and never jump further ahead than this."""
    for kind in (flv.VIDEO, flv.AUDIO):
        at = [t.ts for t in tags if t.type == kind and not t.config]
        apart = [b - a for a, b in zip(at, at[1:])]
        assert min(apart) >= 0 and max(apart) <= jump, (kind, min(apart), max(apart))


def in_step(arrivals, most):
    """Video frames have the time of the audio right before them, all the way."""
    sound, apart = None, []
    for at, tag in arrivals:
        if tag.type == flv.AUDIO and not tag.config:
            sound = (at, tag.ts)
        elif tag.type == flv.VIDEO and not tag.config and sound and at - sound[0] < 0.1:
            apart.append(abs(tag.ts - sound[1]))
    assert len(apart) > 50 and max(apart[10:]) <= most * SLOW, (len(apart), max(apart[10:]))


@pytest.mark.parametrize("fault,jump", [("", 100), ("no reports", 100), ("another source", 3000), ("a clock that jumps", 3000)])
def test_faults(srs, tmp_path, source, fault, jump):
    s = rtc_server(srs, tmp_path, rtc="rtc_to_rtmp on;", vhost="tcp_nodelay on; min_latency on; play { mw_latency 0; }")
    p = Publisher(s, "s", source, fault)
    assert s.wait_log("first packet of video", 3)
    w = s.watch("s")
    p.join()
    least = p.sent - 40  # a publisher that begins in the middle of a GOP waits for the next key frame
    assert w.wait(lambda tags: sum(t.type == flv.VIDEO for t in tags) > least, 3), (len(w.tags), p.sent)
    tags = w.stop()
    print(f"{fault}: {p.sent} frames sent, {sum(t.type == flv.VIDEO and not t.config for t in tags)} came")
    in_order(tags, jump)
    in_step(w.arrivals, 150)


def test_a_line_that_loses_30_percent(srs, tmp_path):
    """In both directions; requests for retransmission are lost as well. The output decodes."""
    s = rtc_server(srs, tmp_path, rtc="rtc_to_rtmp on;")
    Proc([tool("sb_rtc_load"), "-c", 1, "-r", s.whip(), "-i", CLIP, "-s", 0, "--loss", 30], tmp_path / "whip.log")
    assert s.wait_log("first packet of video", 10), s.log()[-2000:]
    r = tools.run(["ffmpeg", "-v", "error", "-t", "10", "-i", f"http://127.0.0.1:{s.web_port}/live/s.flv", "-map", "0:v",
                   "-f", "framecrc", "-"], check=False)
    frames = [line for line in r.stdout.decode().splitlines() if not line.startswith("#")]
    at = [int(x.split(",")[2]) for x in frames]
    print(f"{len(frames)} frames of 10 s")
    assert not r.stderr.strip(), r.stderr.decode()[-2000:]
    assert len(frames) >= 200 and at == sorted(at), len(frames)
