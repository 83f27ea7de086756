# SPDX-License-Identifier: MIT
"""Sound between WebRTC and everybody else: AAC and MP3 come out as Opus, and what was sung is heard."""
import array
import math
import os

import pytest

import flv
import tools
from procs import BINARY, wait_for
from rtc import rtc_server
from rtcplain import OPUS, Client, ogg

AT_BOTH = pytest.mark.parametrize("workers", ["1", "4"])


def is_built():
    """./configure --ffmpeg-fit=on"""
    with open(os.path.join(os.path.dirname(os.path.realpath(BINARY)), "config.h"), encoding="utf-8") as f:
        return "BUILD_FFMPEG_FIT 1" in f.read()


pytestmark = pytest.mark.skipif(not is_built(), reason="built without --ffmpeg-fit=on")


def film(path, sound, seconds=8):
    """A picture that flashes and a tone that beeps, once a second and together: 60 ms of it."""
    tools.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i",
               "color=black:size=320x180:rate=25,drawbox=color=white:t=fill:enable='lt(mod(t,1),0.06)'", "-f", "lavfi",
               "-i", "aevalsrc='0.5*sin(2*PI*1000*t)*lt(mod(t,1),0.06)+0.2*sin(2*PI*440*t)':s=48000", "-t", str(seconds),
               "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-profile:v", "baseline", "-g", "25",
               "-pix_fmt", "yuv420p", *sound, str(path)])
    return str(path)


def samples(path, *options):
    """What is heard of a file: 48 kHz, one channel."""
    r = tools.run(["ffmpeg", "-v", "error", "-i", str(path), *options, "-f", "f32le", "-ac", "1", "-ar", "48000", "-"])
    return array.array("f", r.stdout)


def power(v, hz):
    w = 2 * math.cos(2 * math.pi * hz / 48000)
    a = b = 0.0
    for x in v:
        a, b = x + w * a - b, a
    return math.sqrt(abs(a * a + b * b - w * a * b)) / len(v) * 2


def assert_heard(v):
    middle = v[len(v) // 2:len(v) // 2 + 24000]
    tone, other = power(middle, 440), power(middle, 500)
    assert tone > 0.1 and other < tone / 5, (tone, other)


SOUNDS = {"aac-44100": ["-c:a", "aac", "-ar", "44100", "-ac", "2"], "aac-48000-mono": ["-c:a", "aac", "-ar", "48000", "-ac", "1"],
          "mp3": ["-c:a", "libmp3lame", "-ar", "44100"]}


def assert_opus(c, tmp_path):
    """Timestamps count samples, nothing is missing, and it is the tone."""
    got = c.of(OPUS)
    assert all((b[1] - a[1]) % 65536 == 1 and (b[2] - a[2]) % (1 << 32) == 960 for a, b in zip(got, got[1:])), got[:5]
    assert_heard(samples(ogg(tmp_path / "heard.ogg", [p[4] for p in got])))


@pytest.mark.parametrize("kind", ["aac-44100", *(pytest.param(k, marks=pytest.mark.long) for k in list(SOUNDS)[1:])])
def test_from_rtmp(srs, tmp_path, kind):
    s = rtc_server(srs, tmp_path, rtc="rtmp_to_rtc on;")
    s.push(flv.read(film(tmp_path / "film.flv", SOUNDS[kind])), loop=True)
    assert s.wait_log("video sh", 5)
    c = Client(s.whep(), "recvonly")
    assert wait_for(lambda: len(c.of(OPUS)) > 60, 10), s.log()[-2000:]
    c.close()
    assert_opus(c, tmp_path)
