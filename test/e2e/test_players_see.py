# SPDX-License-Identifier: MIT
"""What ffprobe reports: the published streams and no others, in every format; times that never decrease and match the publisher's,
when a file loops and when a publisher returns."""
import json
import shutil
import subprocess

import pytest

import amf
import browser
import dash
import flv
import hls
import tools
from flv import AUDIO, DATA, VIDEO, Tag
from procs import SLOW, free_port, wait_for
from webclient import FlvWatcher

FRAME = 1024 / 44100
ROUNDED = 0.002  # RTMP has milliseconds


class Everything:
    """One server that offers every format: incompatible ones are in three vhosts."""

    def __init__(self, srs, tmp_path, fragment=2):
        self.port, self.html, self.mp4 = free_port(), tmp_path / "html", tmp_path / "html/mp4"
        self.html.mkdir()
        self.mp4.mkdir()
        remux = "http_remux { enabled on; mount [vhost]/[app]/[stream].%s; }"
        files = "enabled on; hls_path %s; hls_window 200; hls_ctx off; hls_fragment " + f"{fragment};"
        self.s = srs(
            f"vhost __defaultVhost__ {{ {remux % 'flv'} hls {{ {files % self.html} }} dash {{ enabled on; "
            f"dash_path {self.html}; dash_window_size 200; dash_fragment {fragment}; }} }}\n"
            f"vhost ts.test {{ {remux % 'ts'} }}\n"
            f"vhost mp4.test {{ hls {{ {files % self.mp4} hls_use_fmp4 on; }} }}",
            f"http_server {{ enabled on; listen 127.0.0.1:{self.port}; dir {self.html}; }}")
        self.tcurls = [f"rtmp://{host}/live" for host in ("127.0.0.1", "ts.test", "mp4.test")]

    def publish(self, tags, **how):
        return [self.s.push(tags, tcurl=tcurl, **how) for tcurl in self.tcurls]

    def http(self, end):
        return f"http://127.0.0.1:{self.port}/live/s.{end}"

    def curl_ts(self, path, seconds):
        with open(path, "wb") as f:
            return subprocess.Popen(["curl", "-s", "-N", "--max-time", str(seconds), "-H", "Host: ts.test",
                                     self.http("ts")], stdout=f)


def kinds(probed):
    return [(x["codec_type"], x["codec_name"]) for x in probed["streams"]]


def probe(url, *options):
    return subprocess.Popen(["ffprobe", "-v", "error", "-of", "json", "-show_streams", *options, url],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)


STATUS = Tag(DATA, 0, amf.encode("onStatus", {"code": "NetStream.Data.Start"}))
ACCESS = Tag(DATA, 0, amf.encode("|RtmpSampleAccess", True, True))


def test_streams(srs, source, tmp_path):
    """Two are published and two are found, by new players and by players that saw one publisher leave and another arrive. Publishers
    that copy a server's commands reach players, too."""
    e = Everything(srs, tmp_path, fragment=1)
    ws = FlvWatcher(e.port, ws=True)
    rtmp = e.s.watch()
    ts = e.curl_ts(tmp_path / "s.ts", 60)
    assert e.s.wait_log("identified", 5, count=3)
    first = e.publish([STATUS, ACCESS] + flv.cut(source, 4000), speed=8)
    for p in first:
        p.join(20)
        p.client.unpublish()
        p.stop()
        p.client.close()
    second = e.publish([STATUS, ACCESS] + source, speed=4, loop=True)
    assert wait_for(lambda: (e.html / "live/s.m3u8").exists() and (e.html / "live/s.mpd").exists() and
                    (e.mp4 / "live/s.m3u8").exists(), 10)
    live = {url: probe(url, "-analyzeduration", "2000000") for url in
            [e.s.url(), e.http("flv"), e.http("m3u8"), e.http("mpd")]}
    assert wait_for(lambda: (tmp_path / "s.ts").stat().st_size > 400000, 15)
    ts.kill()
    ts.wait()
    assert ws.wait(lambda tags: len(tags) > 500) and rtmp.wait(lambda tags: len(tags) > 500)
    flv.write(tmp_path / "ws.flv", ws.stop())
    flv.write(tmp_path / "rtmp.flv", rtmp.stop())
    hls.whole(str(e.mp4 / "live/s.m3u8"), str(tmp_path / "s.mp4"))
    got = {name: kinds(tools.ffprobe(tmp_path / name, "-show_streams"))
           for name in ("s.ts", "s.mp4", "ws.flv", "rtmp.flv")}
    for url, p in live.items():
        out, errors = p.communicate(timeout=30 * SLOW)
        assert p.returncode == 0, (url, errors)
        got[url] = kinds(json.loads(out))
    for p in second:
        p.stop()
    for name, streams in got.items():
        assert sorted(streams) == [("audio", "aac"), ("video", "h264")], f"{name}: {streams}"
    for kind in "va":
        got = [p[1] for p in hls.packets(tmp_path / "s.ts", kind)]
        assert len(got) > 130 and all(b > a for a, b in zip(got, got[1:])), f"{kind} falls over publishers"


def looped(source, times, ms=6000, early=23):
    """As ffmpeg sends a looping file whose audio is a bit longer than its video: at each loop two audio frames are closer
    than a frame's duration."""
    body = flv.frames(flv.cut(source, ms))
    sound = [t.ts for t in body if t.type == AUDIO]
    span = round(sound[-1] + FRAME * 1000) - sound[0] - early
    body = [t for t in body if t.type == AUDIO or t.ts < span]
    tags = [t for t in source if not t.frame]
    for i in range(times):
        tags += [Tag(t.type, t.ts + i * span, t.data) for t in body]
    return sorted(tags, key=lambda t: t.ts if t.frame else -1)


def check_times(name, path, sent):
    """Compares times of that file with those of the tags: from a video frame on they have the same distance."""
    pictures, sound = hls.packets(path, "v"), hls.packets(path, "a")
    for kind, got in (("video", pictures), ("audio", sound)):
        for (_, a, _), (_, b, _) in zip(got, got[1:]):
            assert b > a, f"{name}: {kind} falls from {a} to {b}"
    want = [t.ts / 1000 for t in flv.frames(sent, VIDEO)]
    off = pictures[0][1] - want[0]
    for (_, dts, _), at in zip(pictures, want):
        assert abs(dts - off - at) <= ROUNDED, f"{name}: a video frame of {at} is at {dts - off}"
    want = [t.ts / 1000 for t in flv.frames(sent, AUDIO)]
    first = min(range(40), key=lambda i: abs(sound[0][1] - off - want[i]))
    for (_, dts, _), at in zip(sound, want[first:]):
        assert abs(dts - off - at) <= FRAME + ROUNDED, f"{name}: an audio frame of {at} is at {dts - off}"
    return len(pictures), len(sound)


def whole(e, tmp_path):
    mpd = e.html / "live/s.mpd"
    period = dash.load(str(mpd)).last
    return {
        "HLS, TS": hls.whole(str(e.html / "live/s.m3u8"), str(tmp_path / "hls.ts")),
        "HLS, MP4": hls.whole(str(e.mp4 / "live/s.m3u8"), str(tmp_path / "hls.mp4")),
        "HTTP-TS": str(tmp_path / "s.ts"),
    }, {kind: dash.whole(str(mpd), period, kind, str(tmp_path / f"dash.{kind}.mp4"))
        for kind in ("video", "audio")}


def check_all(e, tmp_path, sent, frames):
    files, tracks = whole(e, tmp_path)
    for name, path in files.items():
        pictures, sound = check_times(name, path, sent)
        assert pictures > frames and sound > frames, (name, pictures, sound)
    both = str(tmp_path / "dash.mp4")
    tools.run(["ffmpeg", "-v", "error", "-y", "-copyts", "-i", tracks["video"], "-i", tracks["audio"],
               "-c", "copy", "-copyts", "-avoid_negative_ts", "disabled", both])
    check_times("DASH", both, sent)


def test_times_of_a_loop(srs, source, tmp_path):
    e = Everything(srs, tmp_path)
    tags = looped(source, 8)
    ts = e.curl_ts(tmp_path / "s.ts", 60)
    assert e.s.wait_log("identified", 5)
    pushers = e.publish(tags, speed=40)
    for p in pushers:
        p.join(30)
    assert wait_for(lambda: all((f / "live/s.m3u8").exists() and hls.load(str(f / "live/s.m3u8")).seconds > 40
                                for f in (e.html, e.mp4)), 10)
    for p in pushers:
        p.stop()
        p.client.close()
    assert wait_for(lambda: "ENDLIST" in (e.html / "live/s.m3u8").read_text() or
                    hls.load(str(e.html / "live/s.m3u8")).seconds > 46, 10)
    ts.kill()
    ts.wait()
    check_all(e, tmp_path, tags, 1000)


@pytest.mark.long
def test_times_of_ffmpeg(srs, tmp_path):
    """ffmpeg sends a file of 30 s in a loop; over a minute, in real time."""
    e = Everything(srs, tmp_path)
    watchers = [e.s.watch(tcurl=tcurl) for tcurl in e.tcurls[:1]]
    ts = e.curl_ts(tmp_path / "s.ts", 90)
    assert e.s.wait_log("identified", 5)
    hosts = [t.split("/")[2] for t in e.tcurls]
    pushers = [tools.ffmpeg_publish(f"{e.s.url().rsplit('/', 1)[0]}?vhost={host}/s",
                                    str(tmp_path / f"ff{i}.log"), seconds=66, loop=True)
               for i, host in enumerate(hosts)]
    for p in pushers:
        assert p.wait(100) == 0
    assert wait_for(lambda: hls.load(str(e.html / "live/s.m3u8")).seconds > 65, 10)
    ts.kill()
    ts.wait()
    check_all(e, tmp_path, watchers[0].stop(), 1500)


PAGE = """<!DOCTYPE html><html><body><video id="v" muted autoplay width="320"></video>
<script src="/shaka.js"></script><script>
const v = document.getElementById('v');
window.problems = [];
async function play(url) {
    const p = new shaka.Player();
    await p.attach(v);
    p.addEventListener('error', e => window.problems.push(String(e.detail)));
    await p.load(url).catch(e => window.problems.push(String(e)));
    window.player = p;
}
</script></body></html>"""


@pytest.mark.long
@pytest.mark.parametrize("kind", ["HLS, TS", "HLS, MP4", "DASH"])
def test_shaka(srs, source, tmp_path, kind):
    """Shaka Player is strict: a decreasing time stops it for good. It plays a file that loops every 6 s."""
    package = browser.need("shaka-player")
    e = Everything(srs, tmp_path)
    shutil.copy(package + "/dist/shaka-player.compiled.js", e.html / "shaka.js")
    (e.html / "play.html").write_text(PAGE)
    url = e.http("mpd" if kind == "DASH" else "m3u8")
    if kind == "HLS, MP4":
        url = url.replace("/live/", "/mp4/live/")
    pushers = e.publish(looped(source, 10), ahead=8)
    with browser.Page(tmp_path, f"http://127.0.0.1:{e.port}/play.html") as page:
        assert page.wait("typeof shaka === 'object' && shaka.Player.isBrowserSupported()")
        assert wait_for(lambda: hls.get(url)[0] == 200, 15)
        page.run(f"play('{url}')")
        assert page.wait("v.currentTime > 0 && !v.paused", 20), (page.run("window.problems"), e.s.log()[-1500:])
        begin = page.run("v.currentTime")
        assert page.wait(f"v.currentTime > {begin} + 20 || window.problems.length", 45)
        frames = page.run("v.getVideoPlaybackQuality().totalVideoFrames")
        assert page.run("window.problems") == [] and frames > 350, (page.run("window.problems"), frames)
    for p in pushers:
        p.stop()
