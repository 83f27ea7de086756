# SPDX-License-Identifier: MIT
"""Video frames that Chromium displays of an RTMP publisher over WebRTC, frame by frame: at a join into a GOP, and of films with
B-frames."""
import time

import pytest

import browser
import rtc_shown
import procs
from procs import Proc, wait_for
from rtc import Browser, rtc_server

pytestmark = [pytest.mark.long, pytest.mark.skipif(not browser.chromium(), reason="no Chromium")]


def push(s, tmp_path, path):
    p = Proc(["ffmpeg", "-v", "error", "-nostdin", "-readrate", str(procs.PACE), "-i", path, "-c", "copy", "-f", "flv", s.url()], tmp_path / "push.log")
    assert s.wait_log("start publish|client identified", 5), p.text()
    return p


def see(b, s, seconds):
    """Plays for some time; returns the time of the request, the displayed frames, and the browser's counters."""
    began = b.run("Date.now()")
    assert b.play(s.whep()) == "ok", s.log()[-3000:]
    rtc_shown.watch(b)
    time.sleep(seconds) # of media
    return began, rtc_shown.shown(b), b.stats()["inbound-rtp-video"]


@pytest.mark.parametrize("after", [0.3, 1.2, 2.0, 2.7])
def test_join(srs, tmp_path, after):
    """In the middle of a GOP of 4 s: a frame at once, soon at the live edge, and no freeze."""
    s = rtc_server(srs, tmp_path, rtc="rtmp_to_rtc on;")
    path = rtc_shown.film(tmp_path / "film.flv", seconds=12)
    with Browser(tmp_path, s) as b:
        push(s, tmp_path, path)
        time.sleep(after) # of the first GOP
        began, seen, video = see(b, s, 6)
    late = [at - 1000 * n / rtc_shown.RATE for n, at, *_ in seen]
    edge = next(at for (n, at, *_), l in zip(seen, late) if l < sorted(late)[len(late) // 2] + 100)
    print(f"join {after} s into a group: first picture after {seen[0][1] - began} ms, live after {edge - began:.0f} ms, "
          f"largest gap {max(rtc_shown.gaps(seen))} ms, freezes {video['freezeCount']}")
    assert seen[0][0] < 75 and seen[0][1] - began < 500 and edge - began < 800, seen[:10]
    assert [n for n, *_ in seen] == sorted(n for n, *_ in seen)
    assert video["freezeCount"] == 0 and video["framesDropped"] == 0 and video.get("pliCount", 0) == 0, video
    assert max(rtc_shown.gaps(seen)) < 400


B = "bframes=3:b-adapt=0:b-pyramid="
STEADY, PLAIN = (128, 173), (31, 44)  # 25 frames a second, about a quarter of them
KEYS = 2, 4  # a key frame and the next frame, of one or two GOPs of 4 s
CASES = {  # x264 options; whether B-frames are kept; minimum and maximum frames in 6 s; expected log line
    "none": (None, False, STEADY, ""),
    "plain": (B + "none", False, PLAIN, "fewer frames per second; ask your encoder for bframes=0"),
    "pyramid": (B + "normal:ref=1", False, KEYS, "little more than key frames; ask your encoder for bframes=0"),
    "pyramid, several references": (B + "normal:ref=4", False, KEYS, "little more than key frames; ask your encoder for bframes=0"),
    "plain, kept": (B + "none", True, None, ""),
    "pyramid, kept": (B + "normal", True, None, ""),
}


@pytest.mark.parametrize("name", CASES)
def test_b_frames(srs, tmp_path, name):
    """Leaving them out costs frames; keeping them stops Chromium's H.264 decoder."""
    options, keep, counts, says = CASES[name]
    s = rtc_server(srs, tmp_path, rtc="rtmp_to_rtc on;" + ("keep_bframe on;" if keep else ""))
    path = rtc_shown.film(tmp_path / "film.flv", seconds=16, b=options)
    with Browser(tmp_path, s) as b:
        push(s, tmp_path, path)
        _, seen, _ = see(b, s, 5) # more than a whole GOP has arrived
        rtc_shown.watch(b)
        before = b.stats()["inbound-rtp-video"]
        time.sleep(6) # of media
        seen, video = rtc_shown.shown(b), b.stats()["inbound-rtp-video"]
        b.shot(tmp_path / "page.png")
    frames, froze = (video[k] - before[k] for k in ("framesDecoded", "totalFreezesDuration"))
    print(f"B frames {name}: {frames / 6:.1f} pictures a second, {video['freezeCount']} freezes of {froze:.1f} s of 6 s, "
          f"{video.get('pliCount', 0)} PLI, largest gap {max(rtc_shown.gaps(seen)):.0f} ms")
    assert says in s.log() and ("B frames" in s.log()) == bool(says)
    if counts:
        assert counts[0] <= frames <= counts[1], video
    if counts and counts != KEYS:  # a browser requests a key frame after 3 s without a frame
        assert video["freezeCount"] == 0 and video.get("pliCount", 0) == 0, video
