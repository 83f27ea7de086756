# SPDX-License-Identifier: MIT
"""Audio between WebRTC and all other protocols: AAC and MP3 become Opus and back, and the content is the same."""
import array
import math
import os
import time
import urllib.request

import pytest

import flv
import tools
from procs import BINARY, free_port, wait_for
from rtc import rtc_server
from rtcplain import OPUS, VIDEO, Client, Publisher, ogg, ogg_packets


def is_built():
    """Whether the server was built with ./configure --ffmpeg-fit=on."""
    with open(os.path.join(os.path.dirname(os.path.realpath(BINARY)), "config.h"), encoding="utf-8") as f:
        return "BUILD_FFMPEG_FIT 1" in f.read()


pytestmark = pytest.mark.skipif(not is_built(), reason="built without the conversion of audio")


BEEPS = "aevalsrc='0.5*sin(2*PI*1000*t)*lt(mod(t,1),0.06)+0.2*sin(2*PI*440*t)':s=48000"


def film(path, sound, seconds=8):
    """A key frame that flashes and a tone that beeps, once a second and in sync, for 60 ms."""
    tools.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i",
               "color=black:size=320x180:rate=25,drawbox=color=white:t=fill:enable='lt(mod(t,1),0.06)'", "-f", "lavfi",
               "-i", BEEPS, "-t", str(seconds), "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency",
               "-profile:v", "baseline", "-x264-params", "sliced-threads=0:slices=1:scenecut=0", "-g", "25",
               "-pix_fmt", "yuv420p", *sound, str(path)])
    return str(path)


def opus(path, seconds=8):
    """The same audio as Opus packets of 20 ms."""
    tools.run(["ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", BEEPS, "-t", str(seconds), "-c:a", "libopus", "-b:a",
               "96k", "-ac", "2", "-frame_duration", "20", str(path)])
    return ogg_packets(path)


def samples(path, *options):
    """Decodes the audio of a file: 48 kHz, one channel."""
    r = tools.run(["ffmpeg", "-v", "error", "-i", str(path), *options, "-f", "f32le", "-ac", "1", "-ar", "48000", "-"])
    return array.array("f", r.stdout)


def power(v, hz):
    w = 2 * math.cos(2 * math.pi * hz / 48000)
    a = b = 0.0
    for x in v:
        a, b = x + w * a - b, a
    return math.sqrt(abs(a * a + b * b - w * a * b)) / len(v) * 2


def assert_heard(v):
    assert len(v) > 48000, len(v)
    middle = v[len(v) // 2:len(v) // 2 + 24000]
    tone, other = power(middle, 440), power(middle, 500)
    assert tone > 0.1 and other < tone / 5, (tone, other)


def beeps(v):
    """Times at which beeps begin, in seconds."""
    loud = [power(v[i:i + 240], 1000) > 0.25 for i in range(0, len(v) - 240, 240)]
    return [i * 0.005 for i in range(1, len(loud)) if loud[i] and not any(loud[max(0, i - 20):i])]


def assert_in_step(heard, seen):
    """Each beep coincides with a flash."""
    apart = [min((h - t for t in seen), key=abs) for h in heard]
    assert len(apart) >= 1 and all(abs(a) <= 0.06 for a in apart), (apart, heard, seen)


SOUNDS = {"aac-44100": ["-c:a", "aac", "-ar", "44100", "-ac", "2"], "aac-48000-mono": ["-c:a", "aac", "-ar", "48000", "-ac", "1"],
          "mp3": ["-c:a", "libmp3lame", "-ar", "44100"]}
FAST = "aac-44100"


def is_key(payload):
    """Parameter sets come first, RFC 6184 5.7.1."""
    return payload[0] & 31 in (7, 24)


def assert_opus(c, tmp_path):
    """Timestamps count samples, nothing is missing, it is the tone, and beeps coincide with flashes."""
    got = c.of(OPUS)
    assert all((b[1] - a[1]) % 65536 == 1 and (b[2] - a[2]) % (1 << 32) == 960 for a, b in zip(got, got[1:])), got[:5]
    v = samples(ogg(tmp_path / "heard.ogg", [p[4] for p in got]))
    assert_heard(v)
    skipped = len(got) * 960 - len(v) # delay of the decoder, at the start
    heard = [c.moment(OPUS, got[0][2]) + b + skipped / 48000 for b in beeps(v)]
    seen = sorted({c.moment(VIDEO, p[2]) for p in c.of(VIDEO) if is_key(p[4])})
    assert_in_step(heard, seen)


@pytest.mark.parametrize("kind", [FAST, *(pytest.param(k, marks=pytest.mark.long) for k in SOUNDS if k != FAST)])
def test_from_rtmp(srs, tmp_path, kind):
    s = rtc_server(srs, tmp_path, rtc="rtmp_to_rtc on;")
    s.push(flv.read(film(tmp_path / "film.flv", SOUNDS[kind])), loop=True)
    assert s.wait_log("video sh", 5)
    c = Client(s.whep(), "recvonly")
    assert wait_for(lambda: len(c.of(OPUS)) > (75 if kind == FAST else 130), 10), s.log()[-2000:]
    c.close()
    assert_opus(c, tmp_path)


def packets(path, kind):
    """Times and flags of a file's packets."""
    r = tools.run(["ffprobe", "-v", "error", "-select_streams", kind, "-show_entries", "packet=pts_time,flags", "-of", "csv=p=0",
                   str(path)])
    rows = [line.split(",") for line in r.stdout.decode().split()]
    return [(float(row[0]), row[1]) for row in rows]


def assert_aac(path):
    """AAC next to video: complete, frame after frame, and in sync."""
    got = tools.run(["ffprobe", "-v", "error", "-show_entries", "stream=codec_name,sample_rate,channels,profile", "-of", "compact",
                     str(path)])
    assert not got.stderr.strip() and b"aac|profile=LC|sample_rate=48000|channels=2" in got.stdout, got
    whole = tools.run(["ffmpeg", "-v", "error", "-i", str(path), "-f", "null", "-"])
    assert not whole.stderr.strip(), whole.stderr[-2000:]
    sound = [t for t, _ in packets(path, "a:0")]
    assert all(0.019 < b - a < 0.024 for a, b in zip(sound, sound[1:])), sound
    v = samples(path)
    assert_heard(v)
    assert_in_step([sound[0] + b for b in beeps(v)], [t for t, flags in packets(path, "v:0") if "K" in flags])


def record(url, path, *options):
    r = tools.run(["ffmpeg", "-v", "error", "-y", *options, "-t", "3", "-i", url, "-c", "copy", str(path)], check=False)
    assert not r.stderr.strip(), r.stderr[-2000:]
    return path


@pytest.mark.long
@pytest.mark.parametrize("workers", ["1", "4"])
def test_to_flv(srs, tmp_path, workers):
    """The first player has audio at once, although conversion had not run before."""
    s = rtc_server(srs, tmp_path, rtc="rtc_to_rtmp on;", env={"SRS_WORKERS": workers})
    p = Publisher(s.whip(), flv.read(film(tmp_path / "film.flv", SOUNDS["mp3"])), opus(tmp_path / "sound.ogg"))
    assert s.wait_log("video sh", 5), s.log()[-2000:]
    assert wait_for(lambda: p.seq[OPUS] > 65500 + 60, 5) # in the middle of a GOP
    with urllib.request.urlopen(f"http://127.0.0.1:{s.web_port}/live/s.flv", timeout=5) as got:
        end, data = time.monotonic() + (1.2 if workers == "1" else 3), b""
        while time.monotonic() < end:
            data += got.read1(65536)
    (tmp_path / "got.flv").write_bytes(flv.to_bytes(flv.read(data)))
    assert_aac(tmp_path / "got.flv")
    p.close()


@pytest.mark.long
def test_to_rtmp_rtsp_and_hls(srs, tmp_path):
    """HLS reads from the start; players join when conversion is running."""
    port = free_port()
    s = rtc_server(srs, tmp_path, rtc="rtc_to_rtmp on;", glob=f"rtsp_server {{ enabled on; listen {port}; }}",
                   vhost=f"rtsp {{ enabled on; }} hls {{ enabled on; hls_fragment 1; hls_path {tmp_path}/html; }}")
    p = Publisher(s.whip(), flv.read(film(tmp_path / "film.flv", SOUNDS["mp3"], 16)), opus(tmp_path / "sound.ogg", 16))
    assert wait_for(lambda: p.seq[OPUS] > 65500 + 300, 10)
    assert_aac(record(s.url(), tmp_path / "rtmp.flv"))
    assert_aac(record(f"rtsp://127.0.0.1:{port}/live/s", tmp_path / "rtsp.mkv", "-rtsp_transport", "tcp"))
    assert_aac(record(f"http://127.0.0.1:{s.web_port}/live/s.m3u8", tmp_path / "hls.ts"))
    p.close()
