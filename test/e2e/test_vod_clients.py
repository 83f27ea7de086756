# SPDX-License-Identifier: MIT
"""Third-party players of files on demand: they play, pause and seek, and show the requested frame."""
import math
import shutil

import pytest

import browser
import live555
import numbered
import procs
import tools
from flvgen import read_mp4
from ondemand import vod_server
from procs import Proc, wait_for
from rtspplayers import nal_hashes

pytestmark = pytest.mark.needs("ffmpeg", "ffprobe")

FILES = ["front.mp4", "end.mp4", "fragments.mp4", "bframes.mp4", "negative.mp4", "bfragments.mp4", "hevc.mp4", "keys.flv",
         "bframes.flv"]
PLACE = 12.3
ASKED = int(PLACE * numbered.RATE)  # the frame that is displayed then
WAYS = {  # ffmpeg's options for the start, and the first frame that it receives before the requested one
    "rtsp": lambda s, name: (["-rtsp_transport", "tcp", "-ss", PLACE], s.rtsp_file(name)),
    "rtmp": lambda s, name: (["-ss", PLACE], s.rtmp_file(name)),
    "http": lambda s, name: ([], s.flv_file(name, PLACE)),
}
NOT_IN_RTMP = ("hevc.mp4",)  # this ffmpeg does not support HEVC in FLV


def quick(rows, few):
    return [pytest.param(*r, marks=[] if r in few else [pytest.mark.long]) for r in rows]


# ---- ffmpeg

@pytest.mark.parametrize("way, name", quick([(w, n) for w in WAYS for n in FILES if w == "rtsp" or n not in NOT_IN_RTMP],
                                            [("rtsp", "bframes.mp4"), ("rtmp", "bframes.mp4")]))
def test_ffmpeg_begins_where_it_is_told(srs, way, name):
    """From the key frame before the position, every frame, at its time; ffmpeg displays the requested frame first."""
    s = vod_server(srs)
    numbered.path(name)
    options, url = WAYS[way](s, name)
    got = numbered.frames(url, "-noaccurate_seek", "-copyts", *options, after=["-frames:v", "60"])
    assert got[0][1] == numbered.key_before(PLACE)
    numbered.check(got[1:], numbered.key_before(PLACE) + 1)  # it sets no time for the first frame of any RTSP stream
    if way == "rtsp":
        assert abs(got[1][0] - got[1][1] / numbered.RATE) < (0.15 if name == "bfragments.mp4" else 0.05), got[:3]
    if way == "http" or name.endswith(".mp4") and way == "rtmp":
        assert abs(got[0][0] - numbered.key_before(PLACE) / numbered.RATE) < 0.15, "timestamps differ from the file's"
    if way == "rtsp":
        shown = numbered.frames(url, *options, after=["-frames:v", "10"])
        shown = shown[shown[0][1] == numbered.key_before(PLACE):]
        numbered.check(shown)
        assert shown[0][1] - ASKED in ((-2, -1, 0) if name == "bfragments.mp4" else (0, 1)), shown[:3]  # this one itself is 80 ms late


@pytest.mark.long
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FILES)
def test_ffmpeg_plays_all_of_it(srs, way, name):
    """From start to end: no frame is missing. At the speed of the file, apart from the initial burst."""
    if way != "rtsp" and name in NOT_IN_RTMP:
        pytest.skip("no such codec in this ffmpeg's FLV")
    s = vod_server(srs)
    numbered.path(name)
    url = {"rtsp": s.rtsp_file, "rtmp": s.rtmp_file, "http": s.flv_file}[way](name)
    options = ["-rtsp_transport", "tcp"] if way == "rtsp" else []
    got = numbered.frames(url, *options, timeout=numbered.SECONDS + 20)
    assert got[0][1] == 0
    numbered.check(got[1:], 1)
    assert len(got) == numbered.RATE * numbered.SECONDS


@pytest.mark.long
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["bframes.mp4", "keys.flv", "bfragments.mp4"])
def test_audio_is_in_sync_with_video_after_a_seek(srs, tmp_path, way, name):
    s = vod_server(srs)
    numbered.path(name)
    options, url = WAYS[way](s, name)
    if way == "rtsp":  # the first frame has no time, which no file allows
        behind = numbered.sound_behind(numbered.frames(url, "-copyts", *options, after=["-frames:v", "60"])[1:],
                                       numbered.beeps(url, "-copyts", *options, after=["-frames:a", "220"]))
    else:
        path = str(tmp_path / "played.mkv")
        tools.run(["ffmpeg", "-v", "error", "-nostdin", "-y", *options, "-i", url, "-t", "5", "-c", "copy", path])
        behind = numbered.sound_behind(numbered.frames(path, "-copyts"), numbered.beeps(path, "-copyts"))
    print(way, name, behind)
    assert len(behind) >= 3 and max(map(abs, behind)) <= 0.060, behind


@pytest.mark.long
@pytest.mark.parametrize("transport", ["udp", "http"])
def test_ffmpeg_over_other_transports(srs, transport):
    s = vod_server(srs)
    numbered.path("bframes.mp4")
    got = numbered.frames(s.rtsp_file("bframes.mp4"), "-rtsp_transport", transport, "-ss", "20.5", "-noaccurate_seek",
                          after=["-frames:v", "60"])
    numbered.check(got[1:], numbered.key_before(20) + 1)


@pytest.mark.long
@pytest.mark.needs("rtmpdump")
def test_rtmpdump_begins_where_it_is_told(srs, tmp_path):
    s = vod_server(srs)
    numbered.path("bframes.mp4")
    out = str(tmp_path / "out.flv")
    p = Proc(["rtmpdump", "-q", "-r", s.rtmp_file("bframes.mp4"), "-o", out, "-A", "12.3", "-B", "16"], tmp_path / "log")
    p.wait(20)
    got = numbered.frames(out)
    numbered.check(got[:-5], numbered.key_before(PLACE))  # it drops the last ones in decoding order
    assert len(got) >= 80


def test_ffprobe_knows_how_long_it_is(srs):
    s = vod_server(srs)
    numbered.path("bframes.mp4")
    got = tools.ffprobe(s.rtsp_file("bframes.mp4"), "-rtsp_transport", "tcp", "-show_format", "-show_streams")
    assert abs(float(got["format"]["duration"]) - numbered.SECONDS) < 0.2
    assert [x["codec_name"] for x in got["streams"]] == ["h264", "aac"]


# ---- GStreamer

class Gst:
    """The output of its script: [(step, [(position, number)], result)]."""

    def __init__(self, url, tmp_path, *steps, seconds=20):
        pytest.importorskip("gi")
        p = Proc(["/usr/bin/python3", procs.ROOT + "/test/e2e/gst_vod.py", url, *steps], tmp_path / "gst.log")
        assert p.wait(seconds + 15) == 0, p.text()
        self.text, self.steps = p.text(), []
        for line in self.text.splitlines():
            word = line.split()
            if word[0] == "frame":
                self.steps[-1][1].append((float(word[1]), None if word[2] == "None" else int(word[2])))
            elif word[0].partition(":")[0] in ("play", "pause", "seek", "rate"):
                self.steps.append((line, []))
        self.errors = [x for x in self.text.splitlines() if x.startswith("error")]

    def check(self, step, most_apart=0.1):
        """It shows the frames of its positions, in order, without a gap. If audio begins a bit earlier than the first displayed frame, all
        is later by this difference."""
        got = self.steps[step][1]
        assert len(got) >= 5, self.text[-2000:]
        wrong = [(t, n) for t, n in got if n is None or abs(t - n / numbered.RATE) > most_apart]
        assert not wrong, wrong[:10]
        numbers = [n for _, n in got]
        assert numbers == sorted(numbers) and numbers[-1] - numbers[0] < len(numbers) + 5, numbers
        return got


@pytest.mark.long
@pytest.mark.parametrize("name", ["bframes.mp4", "fragments.mp4", "front.mp4"])
def test_gstreamer_seeks_and_pauses(srs, tmp_path, name):
    numbered.path(name)
    s = vod_server(srs)
    g = Gst(s.rtsp_file(name), tmp_path, "play:2", f"seek:{PLACE}:2", "pause:2", "play:1", "seek:31:2", "seek:5:2")
    assert not g.errors, g.text[-2000:]
    assert g.check(0)[0][1] == 0
    for step, place in ((1, PLACE), (4, 31), (5, 5)):
        got = g.check(step)
        assert numbered.key_before(place) <= got[0][1] <= math.ceil(place * numbered.RATE) + 1, (place, got[:5])
    before, after = g.steps[1][1][-1], g.check(3)[0]
    assert 0 < after[1] - before[1] <= 8, "it does not continue where it paused"


@pytest.mark.long
def test_gstreamer_plays_faster(srs, tmp_path):
    numbered.path("front.mp4")
    s = vod_server(srs)
    g = Gst(s.rtsp_file("front.mp4"), tmp_path, "play:1", "rate:2:4")
    assert not g.errors, g.text[-2000:]
    got = g.steps[1][1]
    passed = got[-1][1] - got[0][1]
    assert 4 * numbered.RATE * 1.3 < passed < 4 * numbered.RATE * 3, (passed, g.text[-500:])
    numbers = [n for _, n in got]
    assert None not in numbers and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


@pytest.mark.long
def test_gstreamer_comes_to_the_end(srs, tmp_path):
    numbered.path("bframes.mp4")
    s = vod_server(srs)
    g = Gst(s.rtsp_file("bframes.mp4"), tmp_path, "play:1", "seek:37:6")
    assert "eos" in g.text.splitlines(), g.text[-500:]
    assert g.check(1)[-1][1] >= numbered.RATE * numbered.SECONDS - 2


@pytest.mark.long
@pytest.mark.parametrize("way", ["rtmp", "http"])
def test_gstreamer_by_other_protocols(srs, tmp_path, way):
    """It does not seek over these, but plays everything."""
    numbered.path("bframes.mp4")
    s = vod_server(srs)
    g = Gst(s.rtmp_file("bframes.mp4") if way == "rtmp" else s.flv_file("bframes.mp4", PLACE), tmp_path, "play:3")
    numbers = [n for _, n in g.steps[0][1]]
    assert not g.errors and len(numbers) > 40 and None not in numbers, g.text[-2000:]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert numbers[0] == (0 if way == "rtmp" else numbered.key_before(PLACE))


# ---- live555

def units_of_file(name):
    """{hash of a NAL unit: (position of its frame, whether it is a key frame)}"""
    track = read_mp4(numbered.path(name), "h264")
    out = {}
    first = min(dts + cts for dts, cts, _, _ in track.frames)
    for frame in track.frames:
        for h in nal_hashes(type(track)(track.codec, None, [frame])):
            out.setdefault(h, ((frame[0] + frame[1] - first) / 1000, frame[2]))
    return out


@pytest.mark.long
@pytest.mark.parametrize("how", ["tcp", "udp", "http"])
@pytest.mark.parametrize("name", ["front.mp4", "bframes.mp4"])
def test_live555_seeks(srs, tmp_path, how, name):
    """Its positions of frames match the file."""
    live555.need()
    s = vod_server(srs)
    want = units_of_file(name)
    p = live555.Player(s.rtsp_file(name), how, 8, tmp_path / "out", tmp_path / "log", pause=(2, 0),
                       places=[(0, -1, 1), (PLACE, -1, 1), (30, -1, 1), (4, -1, 1)])
    assert p.wait() == 0, p.lines()[-5:]
    parts = p.places("video")
    assert len(parts) == 4 and p.status("play") == [0] * 4
    for (place, got) in zip((0, PLACE, 30, 4), parts):
        late = [(npt, want[h]) for npt, h in got[len(got) // 4:] if h in want]  # after data that was in flight
        assert len(late) > 15, (place, len(got))
        apart = [npt - at for npt, (at, _) in late]
        assert max(map(abs, apart)) < 0.06, (place, late[:10])
        assert place - 2.1 <= late[0][1][0] <= place + 3, (place, late[0])
    sound = p.places("audio")
    assert all(len(x) > 40 for x in sound)


@pytest.mark.long
def test_live555_plays_a_part_and_pauses(srs, tmp_path):
    live555.need()
    numbered.path("front.mp4")
    s = vod_server(srs)
    p = live555.Player(s.rtsp_file("front.mp4"), "tcp", 6, tmp_path / "out", tmp_path / "log", places=[(10, 13, 1)])
    assert p.wait() == 0, p.lines()[-5:]
    want = units_of_file("front.mp4")
    at = [want[h][0] for _, h in p.places("video")[0] if h in want]
    assert at[0] == 10 and 12.9 <= at[-1] <= 13.2, (at[0], at[-1])
    p = live555.Player(s.rtsp_file("front.mp4"), "tcp", 6, tmp_path / "out", tmp_path / "log", pause=(2, 1.5))
    assert p.wait() == 0 and p.status("play") == [0, 0] and p.status("pause") == [0], p.lines()[-5:]
    at = [want[h][0] for part in p.places("video") for _, h in part if h in want]
    assert at == sorted(at) and max(b - a for a, b in zip(at, at[1:])) < 0.05, "something is repeated or missing"


@pytest.mark.long
@pytest.mark.parametrize("scale", [0.5, 2, 4])
def test_live555_at_another_speed(srs, tmp_path, scale):
    """Above double speed only key frames; everything at the requested speed."""
    live555.need()
    s = vod_server(srs)
    want = units_of_file("front.mp4")
    p = live555.Player(s.rtsp_file("front.mp4"), "tcp", 5, tmp_path / "out", tmp_path / "log", places=[(4, -1, scale)])
    assert p.wait() == 0, p.lines()[-5:]
    got = [want[h] for _, h in p.places("video")[0] if h in want]
    passed = got[-1][0] - got[0][0]
    assert 4 * scale <= passed <= 7 * scale + numbered.GROUP / numbered.RATE, (scale, passed)
    if scale > 2:
        assert all(key for _, key in got) and not p.places("audio")[0]


# ---- mpegts.js in a browser

PAGE = """<!DOCTYPE html><html><body><video id="v" muted autoplay width="320"></video>
<script src="/mpegts.js"></script><script>
const v = document.getElementById('v');
window.problems = [];
function play(url) {
    if (window.player)
        window.player.destroy();
    const p = mpegts.createPlayer({ type: 'flv', isLive: true, url: url }, { enableStashBuffer: false, lazyLoad: false });
    p.on(mpegts.Events.ERROR, (a, b, c) => window.problems.push([a, b, c && c.msg]));
    p.attachMediaElement(v);
    p.load();
    p.play();
    window.player = p;
}
function shown() {
    const c = window.c || (window.c = document.createElement('canvas')), out = [];
    c.width = 320; c.height = 96;
    const g = c.getContext('2d', { willReadFrequently: true });
    g.drawImage(v, 0, 0, 320, 96);
    for (let i = 0; i < 20; i++)
        out.push(g.getImageData(i * 16 + 8, 24, 1, 1).data[0]);
    return [v.currentTime, out];
}
</script></body></html>"""


@pytest.mark.long
@pytest.mark.parametrize("kind", ["http", "ws"])
def test_mpegts_js(srs, tmp_path, kind):
    root = tmp_path / "html"
    root.mkdir()
    shutil.copy(browser.need("mpegts.js") + "/dist/mpegts.js", root)
    (root / "play.html").write_text(PAGE)
    numbered.path("bframes.mp4")
    s = vod_server(srs, html=root)
    page = browser.Page(tmp_path, f"http://127.0.0.1:{s.http_port}/play.html")

    def number():
        at, fields = page.run("shown()")
        return at, numbered.number(fields)

    def plays_from(start):
        page.run(f"play('{s.flv_file('bframes.mp4', start, kind)}')")
        assert page.wait("v.readyState >= 3 && v.currentTime > 0", 8), (page.run("window.problems"), s.log()[-1500:])
        key = numbered.key_before(start or 0)
        first = wait_for(lambda: (number()[1] or -1) >= key and number()[1], 5, 0.05)
        assert first and key <= first < key + 75, (start, first)
        return first
    try:
        assert page.wait("typeof mpegts === 'object' && mpegts.isSupported()")
        plays_from(None)
        plays_from(PLACE)
        page.run("v.pause()")
        a = number()
        procs.never(lambda: False, 1)
        assert number() == a and a[1] is not None, "it does not stand still"
        page.run("v.play()")
        assert wait_for(lambda: (number()[1] or 0) > a[1] + 25, 5, 0.1)
        b = number()
        assert abs((b[1] - a[1]) / numbered.RATE - (b[0] - a[0])) < 0.1, (a, b)
        plays_from(31)
        plays_from(4.5)
        assert page.run("window.problems") == []
    finally:
        page.close()
