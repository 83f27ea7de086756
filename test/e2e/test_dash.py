# SPDX-License-Identifier: MIT
"""MPEG-DASH on disk and over HTTP: segments contain what was published, and MPDs stay consistent, whatever comes in."""
import os
import shutil
import time
import urllib.error
import urllib.request

import pytest

import browser
import dash
import flv
import flvgen
import hls
import procs
import tools
from flv import AUDIO, VIDEO, Tag
from hostile_bytes import aac_config, avc_config, avc_frame
from procs import free_port, never, wait_for
from rtmpclient import Client
from test_hls import push


@pytest.fixture
def html(tmp_path):
    folder = tmp_path / "html"
    folder.mkdir()
    return str(folder)


def conf(html, more="", fragment=2, window=60, update=1):
    return (f"dash {{ enabled on; dash_path {html}; dash_fragment {fragment}; "
            f"dash_window_size {window}; dash_update_period {update}; {more} }}")


def with_http(html):
    port = free_port()
    return port, f"http_server {{ enabled on; listen 127.0.0.1:{port}; dir {html}; }}"


def listed(html, count, periods=1, timeout=8.0):
    """Waits until the MPD on disk has this many segments."""
    path = os.path.join(html, "live", "s.mpd")

    def look():
        m = dash.load(path)
        return m if m and m.count >= count and len(m.periods) >= periods else None
    found = wait_for(look, timeout)
    assert found, dash.load(path) and dash.load(path).text
    return path, found


def test_what_is_published(srs, html, source, tmp_path):
    s = srs(conf(html))
    began = time.time()
    push(s, source)
    path, m = listed(html, 15)
    assert began - 2 < m.available < time.time() + 2 and m.last.start == 0
    assert m.update == 1 and 2 <= m.longest == m.buffer < 2.2
    assert abs(m.delay - m.longest * 2 - 1) < 0.01 and abs(m.shift - m.longest * 60) < 0.01
    video, audio = m.last.tracks["video"], m.last.tracks["audio"]
    assert video.codecs.startswith("avc1.") and audio.codecs == "mp4a.40.2"
    assert [round(d / video.scale, 2) for _, d in video.segments[:-1]] == [2.0] * (len(video.segments) - 1)
    assert video.segments[0][0] == 0 and abs(audio.begin) < 0.1
    one = dash.whole(path, m.last, "video", str(tmp_path / "video.mp4"))
    two = dash.whole(path, m.last, "audio", str(tmp_path / "audio.mp4"))
    v, a = hls.packets(one, "v"), hls.packets(two, "a")
    assert len(v) == hls.frames(source, VIDEO) and len(a) == hls.frames(source, AUDIO)
    assert tools.decode(one) == tools.decode(two) == ""
    assert abs((v[0][0] - a[0][0]) - 0.023) < 0.05, "audio and video are not in sync"
    streams = tools.ffprobe(one, "-show_streams")["streams"]
    assert [(str(x["width"]), str(x["height"])) for x in streams] == [(video.width, video.height)]
    assert not [f for f in os.listdir(os.path.join(html, "live")) if f.endswith(".tmp")]


@pytest.mark.parametrize("codecs", [("hevc", "aac"), ("av1", "opus"), ("vp9", "mp3"), ("h264", "mp3")])
def test_codecs(srs, html, media, tmp_path, codecs):
    s = srs(conf(html, fragment=1))
    push(s, media.tags(*codecs), speed=25)
    path, _ = listed(html, 4)
    assert wait_for(lambda: min(len(x.segments) for x in dash.load(path).last.tracks.values()) == 4)
    m = dash.load(path)
    names = {"hevc": "hvc1.", "av1": "av01.", "vp9": "vp09.", "h264": "avc1.", "aac": "mp4a.40.2",
             "mp3": "mp4a.40.34", "opus": "opus"}
    for kind, codec in zip(("video", "audio"), codecs):
        assert m.last.tracks[kind].codecs.startswith(names[codec])
        one = dash.whole(path, m.last, kind, str(tmp_path / kind))
        assert [x["codec_name"] for x in tools.ffprobe(one, "-show_streams")["streams"]] == [codec]
        assert len(hls.packets(one, kind[0])) == len(media.track(codec).frames)
        assert tools.decode(one) == ""


def test_over_http(srs, html, source, tmp_path):
    """ffmpeg and GStreamer play the MPD while it grows; they get what was published."""
    port, glob = with_http(html)
    s = srs(conf(html, fragment=1), glob)
    pusher = s.push(source, speed=4, ahead=7, loop=True)
    listed(html, 3)
    url = f"http://127.0.0.1:{port}/live/s.mpd"
    headers, m = dash.get(url)
    assert headers["Content-Type"] == "application/dash+xml"
    assert headers["Access-Control-Allow-Origin"] == "*" and headers["Cache-Control"] == "no-cache"
    assert abs(m.clock - time.time()) < 2, "players cannot set their clock by it"
    base = f"http://127.0.0.1:{port}/live/"
    with urllib.request.urlopen(base + m.last.tracks["video"].uris[0], timeout=10) as r:
        assert r.headers["Content-Type"] == "video/iso.segment"
    assert [x["codec_type"] for x in tools.ffprobe(url, "-show_streams")["streams"]] == ["video", "audio"]
    frames = str(tmp_path / "ff.txt")
    played = tools.ffmpeg_frames(url, str(tmp_path / "ff.log"), frames, seconds=6)
    gst = tools.Proc(["gst-launch-1.0", "-v", "souphttpsrc", f"location={url}", "!", "dashdemux", "name=d",
                      "d.video_00", "!", "queue", "!", "qtdemux", "!", "h264parse", "!", "avdec_h264", "!",
                      "fakesink", "silent=false", "sync=false",
                      "d.audio_00", "!", "queue", "!", "qtdemux", "!", "aacparse", "!", "avdec_aac", "!",
                      "fakesink", "silent=false", "sync=false"], str(tmp_path / "gst.log"))
    assert played.wait(30) == 0
    known = {x[4] for x in tools.source_frames()}
    for kind, least in (("video", 100), ("audio", 150)):
        got = tools.frame_list(frames, kind)
        assert len(got) > least and all(x[4] in known for x in got), kind
        assert all(a[1] < b[1] for a, b in zip(got, got[1:])), "time does not advance"
    assert wait_for(lambda: gst.text().count("last-message = chain") > 150, 20), gst.text()[-2000:]
    gst.end()
    pusher.stop()


@pytest.mark.long
@pytest.mark.needs("cvlc", "ffprobe")
def test_vlc_follows(srs, html, source, tmp_path):
    """VLC has its own MPD reader; it continues to play while the MPD grows and its window moves."""
    port, glob = with_http(html)
    s = srs(conf(html, fragment=1, window=6), glob)
    s.push(source, loop=True)
    listed(html, 4, timeout=12)
    (tmp_path / "vlc").mkdir()
    out = tmp_path / "vlc" / "vlc.ts"
    vlc = tools.vlc(f"http://127.0.0.1:{port}/live/s.mpd", out, tmp_path / "vlc.log", 3600)
    assert wait_for(lambda: out.exists() and out.stat().st_size > 500000, 60), vlc.text()[-2000:]
    vlc.end()
    got = hls.packets(str(out), "v")
    assert got[-1][1] - got[0][1] > 10 and len(got) > 250, "not more than the first window"
    assert hls.packets(str(out), "a")


def test_republish_goes_on(srs, html, source):
    s = srs(conf(html))
    tags = flv.cut(source, 5000)
    push(s, tags)
    _, first = listed(html, 3)
    push(s, tags)
    _, second = listed(html, 6, periods=2)
    old, new = second.periods
    assert second.available == first.available
    assert old.tracks["video"].uris == first.last.tracks["video"].uris
    assert new.start > old.start and new.tracks["video"].segments[0][0] == 0
    assert new.tracks["video"].init == old.tracks["video"].init, "it differs"
    assert not set(new.tracks["video"].uris) & set(old.tracks["video"].uris)


@pytest.mark.long
def test_restart_goes_on(srs, html, source, tmp_path):
    """The MPD keeps its content as long as a player may use it; then it and its files are removed."""
    s = srs(conf(html, window=1))
    push(s, flv.cut(source, 3500), speed=1)
    _, first = listed(html, 2)
    s.stop()
    s = srs(conf(html, window=1))
    p = s.push(source, speed=3, loop=True)
    path, second = listed(html, 4, periods=2)
    assert s.wait_log(r"DASH of live/s continues at segment 2, with 4 previous segments", 1)
    assert second.available == first.available
    assert second.periods[0].tracks["video"].uris == first.last.tracks["video"].uris
    dash.whole(path, second.periods[0], "video", str(tmp_path / "old.mp4"))
    assert second.last.start > second.periods[0].start + second.periods[0].tracks["video"].end - 0.1
    assert wait_for(lambda: dash.load(path).periods[0].name != first.last.name, 20)
    folder = os.path.join(html, "live", "s")
    assert wait_for(lambda: not [f for f in os.listdir(folder) if first.last.name in f], 5)
    p.stop()


def test_window_cleanup_and_dispose(srs, html, source):
    s = srs(conf(html, "dash_timeshift 6; dash_dispose 1;", fragment=1, window=3))
    push(s, source)
    path, m = listed(html, 3)
    assert m.count <= 12 and m.shift == 6, m.text
    folder = os.path.join(html, "live", "s")
    assert wait_for(lambda: len(os.listdir(folder)) <= 2 + 2 * 2 * 12, 5), os.listdir(folder)
    for t in m.last.tracks.values():
        assert os.path.exists(os.path.join(html, "live", t.init))
    assert wait_for(lambda: not os.path.exists(path) and not os.path.exists(folder), 8)
    assert s.wait_log("DASH of live/s: its files were removed", 1)


def test_cleanup_off(srs, html, source):
    s = srs(conf(html, "dash_cleanup off;", fragment=1, window=1))
    push(s, source)
    _, m = listed(html, 3)
    assert len(os.listdir(os.path.join(html, "live", "s"))) > 2 * m.count + 10


def test_config_changes(srs, html, source, media, tmp_path):
    """A new decoder configuration in the middle gets its own period and initialization."""
    s = srs(conf(html, fragment=1))
    first = flv.cut(source, 4000)
    other = [Tag(t.type, t.ts + 4000, t.data) for t in flvgen.track_tags(media.track("hevc"))]
    push(s, first + other, speed=10)
    path, m = listed(html, 5, periods=2)
    codecs = [p.tracks["video"].codecs[:4] for p in m.periods]
    assert codecs == ["avc1", "hvc1"], m.text
    for p in m.periods:
        assert tools.decode(dash.whole(path, p, "video", str(tmp_path / p.name))) == ""


def test_audio_only(srs, html, source, tmp_path):
    s = srs(conf(html))
    push(s, [t for t in source if t.type == AUDIO])
    path, m = listed(html, 10)
    assert list(m.last.tracks) == ["audio"]
    assert tools.decode(dash.whole(path, m.last, "audio", str(tmp_path / "a.mp4"))) == ""


@pytest.mark.long
@pytest.mark.parametrize("by", [3600_000, -4000], ids=str)
def test_timestamps_jump(srs, html, source, tmp_path, by):
    s = srs(conf(html))
    client = s.publisher()
    for i, t in enumerate(source):  # in order, regardless of their times
        client.send_tag(Tag(t.type, max(0, t.ts + (by if t.ts >= 9000 else 0)), t.data))
        if i % 10 == 9:
            time.sleep(0.02)
    client.close()
    path, m = listed(html, 8)
    frames = 0
    for p in m.periods:
        one = dash.whole(path, p, "video", str(tmp_path / p.name))
        frames += len(hls.packets(one, "v"))
        assert tools.decode(one) == ""
    assert frames > hls.frames(source, VIDEO) * 0.9


def test_variables_and_reload(srs, html, source):
    s = srs("")
    p = s.push(source, speed=5, loop=True)
    assert s.wait_log("video sh", 3)
    s.reload(conf(html, "dash_mpd_file [vhost]/[app]/[stream]/list.mpd;", fragment=1))
    path = os.path.join(html, "__defaultVhost__", "live", "s", "list.mpd")
    assert wait_for(lambda: dash.load(path), 8)
    assert wait_for(lambda: dash.load(path).count >= 3, 8)
    for uri in dash.load(path).last.tracks["video"].uris:
        assert uri.startswith("list/video-")
        assert os.path.exists(os.path.join(os.path.dirname(path), uri))
    s.reload("")
    before = dash.load(path).count
    assert never(lambda: dash.load(path).count > before + 1, 1)
    p.stop()


def test_who_may(srs, html, source):
    port, glob = with_http(html)
    s = srs(conf(html, fragment=1) + "security { enabled on; deny play 127.0.0.1; allow publish all; }", glob)
    push(s, flv.cut(source, 7000))
    listed(html, 3)
    with pytest.raises(urllib.error.HTTPError) as e:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/live/s.mpd", timeout=5)
    assert e.value.code == 403


PAGE = """<!DOCTYPE html><html><body><video id="v" muted autoplay width="320"></video>
<script src="/dash.js"></script><script>
const v = document.getElementById('v'), p = dashjs.MediaPlayer().create();
window.problems = [];
p.on('error', e => problems.push(e.error && [e.error.code, e.error.message]));
p.initialize(v, '/live/s.mpd', true);
</script></body></html>"""


@pytest.mark.long
def test_dash_js(srs, html, source):
    """dash.js in Chromium plays with the delay of the MPD; it continues when the publisher comes back, and when the server does."""
    shutil.copy(browser.need("dashjs") + "/dist/dash.all.min.js", os.path.join(html, "dash.js"))
    with open(os.path.join(html, "play.html"), "w") as f:
        f.write(PAGE)
    port, glob = with_http(html)
    s = srs(conf(html, window=5), glob)
    pusher = s.push(source, loop=True)
    listed(html, 3, timeout=12)
    page = browser.Page(html, f"http://127.0.0.1:{port}/play.html")

    def plays(timeout):
        at = page.run("v.currentTime")
        return page.wait(f"v.currentTime > {at} + 3", timeout)
    try:
        assert page.wait("window.problems && v.currentTime > 0", 15), (page.run("window.problems"), page.errors)
        first = page.run("[v.currentTime, v.getVideoPlaybackQuality().totalVideoFrames]")
        time.sleep(6)
        then = page.run("[v.currentTime, v.getVideoPlaybackQuality().totalVideoFrames]")
        assert 4.5 < then[0] - first[0] < 8 and then[1] - first[1] > 80, (first, then)
        delay = page.run("p.getCurrentLiveLatency()")
        print(f"behind the live edge: {delay:.2f} s")
        assert 4 < delay < 5 + 3 * procs.SLOW
        pusher.stop()
        pusher.client.close()
        time.sleep(3)
        pusher = s.push(source, loop=True)
        assert page.wait(f"v.currentTime > {then[0]} + 12", 40), page.run("problems")
        assert plays(10)
        s.stop()
        s = srs(conf(html, window=5), glob)
        s.push(source, loop=True)
        at = page.run("v.currentTime")
        assert page.wait(f"v.currentTime > {at} + 12", 45), page.run("problems")
        assert plays(10)
        assert page.run("problems") == []
    finally:
        page.close()


def test_a_segment_of_two_tracks_over_the_limit_of_memory(srs, html):
    """A stream may use an eighth of `limits { memory }`. A segment exceeds that with its two files: it is kept until both are written,
    and the next one follows."""
    s = srs(conf(html, fragment=1), f"limits {{ memory {16 * int(procs.WORKERS or 1)}m; }}")
    folder, seen = os.path.join(html, "live", "s"), {"video": set(), "audio": set()}

    def written(count):
        for track, names in seen.items():
            names |= {x for x in os.listdir(folder) if x.startswith(track) and x.endswith(".m4s")} if os.path.exists(folder) else set()
        return all(len(x) >= count for x in seen.values())
    with Client(s.port) as c:
        c.publish("s", chunk=1 << 20)
        c.message(4, VIDEO, 0, c.sid, avc_config(1))
        c.message(4, AUDIO, 0, c.sid, aac_config(4))
        for i in range(5):
            c.message(4, VIDEO, 1000 * i, c.sid, avc_frame(size=1980 << 10))
            assert wait_for(lambda: written(i), 8), (i, seen)
            for k in range(40):
                c.message(4, AUDIO, 1000 * i + 23 * k, c.sid, b"\xaf\1" + b"\x21" * 4000)
