# SPDX-License-Identifier: MIT
"""HLS on disk and over HTTP: segments contain what was published, and playlists stay consistent, whatever comes in."""
import datetime
import fnmatch
import os
import subprocess
import threading
import time

import pytest

import flv
import flvgen
import hls
import tools
from flv import AUDIO, VIDEO, Tag
from procs import WORKERS, comes_to_rest, free_port, never, wait_for

FMP4 = "hls_use_fmp4 on;"


@pytest.fixture
def html(tmp_path):
    folder = tmp_path / "html"
    folder.mkdir()
    return str(folder)


def conf(html, more="", fragment=2, window=60, ctx="off"):
    return (f"hls {{ enabled on; hls_path {html}; hls_fragment {fragment}; hls_window {window}; "
            f"hls_ctx {ctx}; {more} }}")


def with_http(html):
    port = free_port()
    return port, f"http_server {{ enabled on; listen 127.0.0.1:{port}; dir {html}; }}"


def listed(html, count, stream="s", timeout=5.0):
    """Waits until the playlist on disk has this many segments."""
    path = os.path.join(html, "live", f"{stream}.m3u8")

    def look():
        p = hls.load(path)
        return path if p and len(p.segments) >= count else None
    found = wait_for(look, timeout)
    assert found, f"{path}: {hls.load(path) and hls.load(path).text}"
    return found


def push(s, tags, speed=60.0, **how):
    p = s.push(tags, speed=speed, **how)
    p.join(30)
    p.stop()
    p.client.close()
    return p


@pytest.mark.parametrize("more", ["", FMP4], ids=["ts", "fmp4"])
def test_what_is_published(srs, html, source, tmp_path, more):
    s = srs(conf(html, more))
    push(s, source)
    path = listed(html, 15)
    p = hls.load(path)
    assert [round(x.duration, 2) for x in p.segments[:-1]] == [2.0] * (len(p.segments) - 1)
    assert p.target == 2 and p.sequence == 0
    assert not any(x.discontinuity for x in p.segments)
    one = hls.whole(path, str(tmp_path / "whole"))
    video, audio = hls.packets(one, "v"), hls.packets(one, "a")
    assert len(video) == hls.frames(source, VIDEO)
    assert len(audio) == hls.frames(source, AUDIO)
    assert tools.decode(one) == ""
    assert abs((video[0][0] - audio[0][0]) - 0.023) < 0.05, "audio and video are not in sync"
    files = hls.files(path) if not more else []
    for file, pictures in zip(files, hls.packets_of(files, "v")):
        assert pictures[0][2], f"{file} begins without a key frame"
        assert os.path.getsize(file) % 188 == 0
    assert not [f for f in os.listdir(os.path.join(html, "live")) if f.endswith(".tmp")]


def rare(*values):
    return pytest.param(*values, marks=pytest.mark.long)


@pytest.mark.parametrize("codecs, more", [
    (("hevc", "opus"), ""), (("h264", "mp3"), ""), (("av1", "opus"), ""), (("hevc", "aac"), FMP4), (("av1", "opus"), FMP4),
    (("vp9", "mp3"), FMP4), rare(("hevc", "aac"), ""), rare(("vp9", "mp3"), ""), rare(("h264", "mp3"), FMP4), rare(("hevc", "opus"), FMP4)])
def test_codecs(srs, html, media, tmp_path, more, codecs):
    s = srs(conf(html, more, fragment=1))
    tags = media.tags(*codecs)
    push(s, tags, speed=25)
    in_ts = codecs[0] not in ("av1", "vp9")
    path = listed(html, 4 if more or in_ts else 2)
    one = hls.whole(path, str(tmp_path / "whole"))
    names = [x["codec_name"] for x in tools.ffprobe(one, "-show_streams")["streams"]]
    if more or in_ts:
        assert sorted(names) == sorted(codecs)
        assert len(hls.packets(one, "v")) == len(media.track(codecs[0]).frames)
    else:
        assert names == [codecs[1]]
        assert s.wait_log("cannot be in MPEG-TS.*hls_use_fmp4", 1)
    assert len(hls.packets(one, "a")) == len(media.track(codecs[1]).frames)
    assert tools.decode(one) == ""


@pytest.mark.parametrize("more", ["", FMP4], ids=["ts", "fmp4"])
def test_others_read_it(srs, html, source, tmp_path, more):
    """Read by GStreamer's demuxer instead of ffmpeg's, over HTTP."""
    port, glob = with_http(html)
    s = srs(conf(html, more), glob)
    push(s, flv.cut(source, 16000))
    listed(html, 8)
    url = f"http://127.0.0.1:{port}/live/s.m3u8"
    out = str(tmp_path / "played.ts")
    p = tools.gst(f"souphttpsrc location={url} ! hlsdemux ! filesink location={out}",
                  str(tmp_path / "gst.log"))
    assert wait_for(lambda: os.path.exists(out) and os.path.getsize(out) > 200000, 15), p.text()
    p.end()
    cut = tools.ffmpeg_frames(url, str(tmp_path / "ff.log"), str(tmp_path / "ff.txt"), seconds=10,
                              options=["-live_start_index", "0"])
    assert cut.wait(20) == 0
    got = tools.frame_list(str(tmp_path / "ff.txt"), "video")
    assert len(got) > 225
    demux = "tsdemux" if not more else "qtdemux"
    name = hls.whole(os.path.join(html, "live", "s.m3u8"), str(tmp_path / "whole"))
    r = subprocess.run(["gst-launch-1.0", "-q", "filesrc", f"location={name}", "!", demux, "name=d",
                        "d.", "!", "queue", "!", "h264parse", "!", "avdec_h264", "!", "fakesink",
                        "d.", "!", "queue", "!", "aacparse", "!", "avdec_aac", "!", "fakesink"],
                       capture_output=True, timeout=60)
    assert r.returncode == 0 and b"ERROR" not in r.stderr, r.stderr


@pytest.mark.long
@pytest.mark.needs("cvlc", "gst-launch-1.0", "ffprobe")
@pytest.mark.parametrize("more", ["", FMP4, FMP4 + "hls_ll on;"], ids=["ts", "fmp4", "ll"])
def test_players_follow(srs, html, source, tmp_path, more):
    """VLC and GStreamer play during publishing: with their own playlist readers and sessions, down to the decoded frames."""
    port, glob = with_http(html)
    s = srs(conf(html, more, window=20, ctx="on"), glob)
    p = s.push(source, loop=True)
    listed(html, 3, timeout=12)
    url = f"http://127.0.0.1:{port}/live/s.m3u8"
    (tmp_path / "vlc").mkdir()
    out = tmp_path / "vlc" / "vlc.ts"
    vlc = tools.vlc(url, out, tmp_path / "vlc.log", 12)
    frames = tmp_path / "gst"
    frames.mkdir()
    demux = "qtdemux" if more else "tsdemux"
    gst = tools.gst(f"souphttpsrc location={url} ! hlsdemux ! {demux} ! h264parse ! avdec_h264 ! "
                    f"multifilesink location={frames}/%05d.yuv max-files=200", str(tmp_path / "gst.log"))
    assert wait_for(lambda: len(os.listdir(frames)) > 150, 30), gst.text()[-2000:]
    assert wait_for(lambda: out.exists() and out.stat().st_size > 300000, 30), vlc.text()[-2000:]
    gst.end()
    vlc.end()
    got = hls.packets(str(out), "v")
    steps = [b[1] - a[1] for a, b in zip(got, got[1:])]
    assert len(got) > 100 and 0 < min(steps) and max(steps) < 0.5, (len(got), min(steps), max(steps))
    assert len(hls.packets(str(out), "a")) > 100
    p.stop()


@pytest.mark.needs("tsreport")
def test_transport_stream_is_valid(srs, html, source, tmp_path):
    s = srs(conf(html))
    push(s, flv.cut(source, 16000))
    one = hls.whole(listed(html, 8), str(tmp_path / "whole.ts"))
    for pid in (256, 257):
        r = tools.run(["tsreport", "-b", "-cnt", str(pid), one], cwd=str(tmp_path))
        text = r.stdout.decode()
        assert "###" not in text and "!!!" not in text, text
        assert "PCR" in text


def test_republish_goes_on(srs, html, source):
    s = srs(conf(html))
    tags = flv.cut(source, 5000)
    push(s, tags)
    first = hls.load(listed(html, 3))
    push(s, tags)
    second = hls.load(listed(html, 6))
    assert [x.uri for x in second.segments[:3]] == [x.uri for x in first.segments]
    assert [x.discontinuity for x in second.segments] == [False] * 3 + [True] + [False] * 2
    assert [x.uri for x in second.segments] == [f"s-{i}.ts" for i in range(6)]


@pytest.mark.parametrize("more", ["", FMP4], ids=["ts", "fmp4"])
def test_restart_goes_on(srs, html, source, more):
    tags = flv.cut(source, 5000)
    s = srs(conf(html, more))
    push(s, tags)
    first = hls.load(listed(html, 3))
    s.stop()
    s = srs(conf(html, more))
    push(s, tags)
    second = hls.load(listed(html, 6))
    assert s.wait_log("continues at segment 3", 1)
    assert [x.uri for x in second.segments[:3]] == [x.uri for x in first.segments]
    assert [x.discontinuity for x in second.segments] == [False] * 3 + [True] + [False] * 2
    for x in second.segments:
        assert os.path.exists(os.path.join(html, "live", x.uri))
        if x.map:
            assert os.path.exists(os.path.join(html, "live", x.map))


def test_recover_off(srs, html, source):
    s = srs(conf(html, "hls_recover off;"))
    tags = flv.cut(source, 5000)
    push(s, tags)
    listed(html, 3)
    push(s, tags)
    assert wait_for(lambda: hls.load(os.path.join(html, "live", "s.m3u8")).sequence == 3, 3)
    assert len(hls.load(listed(html, 3)).segments) == 3


def test_window_and_cleanup(srs, html, source):
    s = srs(conf(html, window=6))
    push(s, source)
    path = os.path.join(html, "live", "s.m3u8")
    # With twelve segments a second, the playlist on a busy disk lags behind the one in memory.
    assert wait_for(lambda: (p := hls.load(path)) and p.sequence >= 11 and 6 <= p.seconds < 8.5, 5)
    n = len(hls.load(path).segments)
    assert wait_for(lambda: n < len(fnmatch.filter(os.listdir(os.path.dirname(path)), "*.ts")) <= 2 * n + 1, 5)


def test_dispose(srs, html, source):
    s = srs(conf(html, "hls_dispose 1;" + FMP4))
    push(s, flv.cut(source, 5000))
    listed(html, 3)
    assert wait_for(lambda: not [f for _, _, fs in os.walk(html) for f in fs], 5), os.listdir(html)
    push(s, flv.cut(source, 5000))
    assert hls.load(listed(html, 3)).sequence == 0, "it was not forgotten"


@pytest.mark.skipif(WORKERS not in (None, "1"), reason="another worker goes by the times of files, which are whole seconds")
def test_a_stream_that_left_memory_goes_on(srs, html, source):
    """If many streams ended, one leaves memory as soon as it is on disk. A returning publisher continues its playlist, and its files
    are removed after hls_dispose."""
    s = srs(conf(html, "hls_dispose 3;"), "max_connections 5;")
    push(s, flv.cut(source, 5000))
    first = hls.load(listed(html, 2))
    time.sleep(1.5)  # not visible from outside
    push(s, flv.cut(source, 3000))
    path = os.path.join(html, "live", "s.m3u8")
    assert wait_for(lambda: hls.load(path).segments[-1].seq > first.segments[-1].seq), hls.load(path).text
    assert hls.load(path).sequence == first.sequence and len(hls.load(path).segments) > len(first.segments)
    assert never(lambda: not os.path.exists(path), 2), "the first publisher's time is over, the second's is not"
    assert s.wait_log("HLS of live/s: its files were removed, it had no publisher for 3 s", 10)
    assert wait_for(lambda: not [f for _, _, fs in os.walk(html) for f in fs])


@pytest.mark.skipif(WORKERS not in (None, "1"), reason="each worker bounds its share")
def test_streams_that_have_ended_are_bounded(srs, html, source):
    """At most as many as connections; the one that ended first makes room. A stream without segments leaves nothing."""
    s = srs(conf(html), "max_connections 5;")
    names = [f"s{i}" for i in range(9)]
    for name in names:
        push(s, flv.cut(source, 3000), stream=name)
        listed(html, 1, name)
    def there():
        return sorted(x[:-5] for x in os.listdir(os.path.join(html, "live")) if x.endswith(".m3u8"))
    assert wait_for(lambda: there() == names[-5:], 5), there()
    empty = s.publisher("empty")
    empty.unpublish()
    empty.close()
    assert wait_for(lambda: "empty.m3u8" not in os.listdir(os.path.join(html, "live")), 5) and there() == names[-5:]


def test_keys(srs, html, source, tmp_path):
    port, glob = with_http(html)
    s = srs(conf(html, "hls_keys on; hls_fragments_per_key 2;"), glob)
    push(s, flv.cut(source, 9000))
    path = listed(html, 5)
    p = hls.load(path)
    assert [x.key for x in p.segments] == ["s-0.key", "s-0.key", "s-2.key", "s-2.key", "s-4.key"]
    assert len({x.iv for x in p.segments}) == 5
    with open(os.path.join(html, "live", "s-0.ts"), "rb") as f:
        assert f.read(1) != b"\x47" or f.read(187)[-1:] != b"\x47"
    with open(os.path.join(html, "live", "s-2.key"), "rb") as f:
        key = f.read().hex()
        assert os.fstat(f.fileno()).st_mode & 0o777 == 0o600, "other users of this machine can read it"
    r = subprocess.run(["openssl", "enc", "-d", "-aes-128-cbc", "-K", key, "-iv", p.segments[2].iv,
                        "-in", os.path.join(html, "live", "s-2.ts"), "-out",
                        str(tmp_path / "clear.ts")], capture_output=True)
    assert r.returncode == 0, r.stderr
    assert len(hls.packets(str(tmp_path / "clear.ts"), "v")) == 50
    t = tools.ffmpeg_frames(f"http://127.0.0.1:{port}/live/s.m3u8", str(tmp_path / "ff.log"),
                            str(tmp_path / "ff.txt"), seconds=7, options=["-live_start_index", "0"])
    assert t.wait(20) == 0
    assert len(tools.frame_list(str(tmp_path / "ff.txt"), "video")) >= 150


@pytest.mark.parametrize("directly", ["on", "off"])
def test_time_of_audio(srs, html, source, tmp_path, directly):
    """RTMP rounds times to milliseconds; a frame of 1024 samples lasts 23.22 ms at 44.1 kHz."""
    late = 60  # ms, in the middle: more than a frame, less than a tenth of a second
    s = srs(conf(html, f"hls_dts_directly {directly};", fragment=1))
    push(s, [Tag(t.type, t.ts + (t.type == AUDIO) * (i % 3 + late * (t.ts > 3000)), t.data)
             for i, t in enumerate(flv.cut(source, 7000))])
    one = hls.whole(listed(html, 3), str(tmp_path / "whole"))
    sound = [p[0] for p in hls.packets(one, "a")]
    worst = max(abs(b - a - 1024 / 44100) for a, b in zip(sound, sound[1:]))
    assert worst < 0.001 if directly == "off" else abs(worst - late / 1000) < 0.01, worst
    picture = [p[0] for p in hls.packets(one, "v")]
    assert abs(sound[-1] - picture[-1]) < 0.15


def test_audio_only(srs, html, source):
    s = srs(conf(html, "hls_aof_ratio 1.5;"))
    push(s, [t for t in flv.cut(source, 16000) if t.type == AUDIO])
    p = hls.load(listed(html, 5))
    assert all(2.9 < x.duration < 3.1 for x in p.segments[:-1]), p.text
    assert p.target == 3


def test_long_gops(srs, html, source):
    """Key frames are farther apart than hls_fragment: the target duration says so from the start."""
    s = srs(conf(html, fragment=1))
    push(s, flv.cut(source, 16000))
    p = hls.load(listed(html, 8))
    assert p.target == 2 and all(1.9 < x.duration < 2.1 for x in p.segments[:-1])


def test_floor(srs, html, source):
    """hls_ts_floor: segments begin at multiples of hls_fragment of the wall clock, and have that number in their names: two streams
    have the same names for the same time, regardless of when they began."""
    s = srs(conf(html, "hls_ts_floor on; hls_ts_file [app]/[stream]-[timestamp]-[seq].ts;", fragment=3))
    first = s.push(source, "a", speed=8, loop=True)
    assert s.wait_log("video sh", 5)
    time.sleep(0.6)
    second = s.push(source, "b", speed=8, loop=True)
    target = hls.load(listed(html, 1, "a", 10)).target
    lists = {name: hls.load(listed(html, 6, name, 15)) for name in "ab"}
    first.stop()
    second.stop()
    numbers = {}
    for name, got in lists.items():
        numbers[name] = [int(x.uri.split("-")[1]) for x in got.segments]
        for n, x in zip(numbers[name], got.segments):
            at = datetime.datetime.fromisoformat(x.wall.replace("Z", "+00:00")).timestamp()
            assert n == int(at // 3), (x.uri, x.wall)
        begins = numbers[name]
        assert begins == list(range(begins[0], begins[0] + len(begins))), begins
        assert abs(sum(x.duration for x in got.segments[1:-1]) / (len(begins) - 2) - 3) <= 0.6
        assert got.target == target >= max(x.duration for x in got.segments), "it changed"
        assert [x.uri.split("-")[2] for x in got.segments] == [f"{i}.ts" for i in range(len(begins))]
    assert abs(numbers["a"][0] - numbers["b"][0]) <= 2


def moved(tags, at, by):
    return [t if t.ts < at else Tag(t.type, max(0, t.ts + by), t.data) for t in tags]


def send(client, tags, per_second=3000):
    """Sends them in order, regardless of their times."""
    for i, t in enumerate(tags):
        client.send_tag(t)
        if i % 10 == 9:
            time.sleep(10 / per_second)


@pytest.mark.parametrize("by, more", [(3600_000, ""), (10_000, FMP4), (-4000, ""), (-4000, FMP4), (300, "")])
def test_timestamps_jump(srs, html, source, tmp_path, by, more):
    s = srs(conf(html, more))
    tags = moved(flv.cut(source, 20000), 9000, by)
    c = s.publisher()
    send(c, tags)
    c.close()
    path = listed(html, 10)
    p = hls.load(path)
    assert p.target <= 3, p.text
    assert 18 < p.seconds < 22, p.text
    one = hls.whole(path, str(tmp_path / "whole"))
    video = hls.packets(one, "v")
    assert len(video) == hls.frames(tags, VIDEO)
    steps = [b[1] - a[1] for a, b in zip(video, video[1:])]
    assert max(steps) < 1.0 and min(steps) > 0, (min(steps), max(steps))


@pytest.mark.long
def test_publisher_stalls(srs, html, source):
    """Nothing for seconds, then it continues: no segment is that long."""
    s = srs(conf(html, fragment=1) + " publish { normal_timeout 20000; }")
    tags = flv.cut(source, 6000)
    c = s.publisher()
    send(c, [t for t in tags if t.ts < 3000])
    time.sleep(6)
    send(c, [Tag(t.type, t.ts + 6000, t.data) for t in tags if t.ts >= 3000])
    c.close()
    p = hls.load(listed(html, 3))
    assert p.target <= 2 and 5.5 < p.seconds < 6.5, p.text
    assert not any(x.discontinuity for x in p.segments)


def test_config_changes(srs, html, source, media):
    """A new decoder configuration in the middle gets its own initialization and a discontinuity."""
    s = srs(conf(html, FMP4))
    first = flv.cut(source, 4000)
    other = [Tag(t.type, t.ts + 4000, t.data) for t in flvgen.track_tags(media.track("hevc"))]
    push(s, first + other, speed=10)
    p = hls.load(listed(html, 3))
    maps = [x.map for x in p.segments]
    assert len(set(maps)) == 2, p.text
    at = next(i for i, m in enumerate(maps) if m != maps[0])
    assert p.segments[at].discontinuity
    for m in set(maps):
        assert os.path.exists(os.path.join(html, "live", m))


def test_variables_and_prefix(srs, html, source):
    more = ("hls_m3u8_file [vhost]/[app]/[stream]/list.m3u8; hls_entry_prefix http://cdn.example; "
            "hls_ts_file [vhost]/[app]/[stream]/[2006]/[seq]-[duration].ts;")
    s = srs(conf(html, more))
    push(s, flv.cut(source, 5000))
    path = os.path.join(html, "__defaultVhost__", "live", "s", "list.m3u8")
    assert wait_for(lambda: hls.load(path) and len(hls.load(path).segments) == 3, 5)
    uri = hls.load(path).segments[1].uri
    assert uri.startswith("http://cdn.example/__defaultVhost__/live/s/20") and \
        uri.endswith("/1-2000.ts"), uri
    assert os.path.exists(os.path.join(html, uri[len("http://cdn.example/"):]))


def test_reload(srs, html, source):
    s = srs("")
    p = s.push(source, speed=5, loop=True)
    assert s.wait_log("video sh", 3)
    s.reload(conf(html))
    path = listed(html, 2, timeout=6)
    s.reload("")
    before = hls.load(path).text
    assert comes_to_rest(lambda: len(hls.load(path).segments), 1)
    assert len(hls.load(path).segments) <= len(hls.Playlist(before).segments) + 1
    s.reload(conf(html, FMP4))
    assert wait_for(lambda: hls.load(path) and hls.load(path).segments and
                    hls.load(path).segments[-1].map, 6)
    p.stop()


def test_disk_is_full(srs, source, tmp_path):
    """A small disk fills up: a clear log line, the stream continues from memory; with space again, files are written and everything
    listed on disk exists."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(disk)],
                      capture_output=True).returncode != 0:
        pytest.skip("no right to mount")
    try:
        full_disk(srs, source, str(disk))
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False)


def full_disk(srs, source, disk):
    port, glob = with_http(disk)
    s = srs(conf(disk, window=60), glob)
    w = s.watch()
    p = s.push(source, speed=8, loop=True)
    assert s.wait_log("cannot write .*No space left.*the stream continues", 10)
    url = f"http://127.0.0.1:{port}/live/s.m3u8"
    before = hls.get_list(url)
    assert wait_for(lambda: len(hls.get_list(url).segments) > len(before.segments) + 1, 8)
    last = hls.get_list(url).segments[-1]
    status, _, body = hls.get(hls.join(url, last.uri))
    assert status == 200 and len(body) % 188 == 0, "not served from memory"
    path = os.path.join(disk, "live", "s.m3u8")
    for x in hls.load(path).segments:
        assert x.gap or os.path.getsize(os.path.join(disk, "live", x.uri)) > 0
    frames = len(flv.frames(w.tags, VIDEO))
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) > frames + 25, 5), "players noticed"
    subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
    assert s.wait_log("can be written again", 8)
    assert wait_for(lambda: not any(x.gap for x in hls.load(path).segments), 8)
    for x in hls.load(path).segments:
        assert os.path.getsize(os.path.join(disk, "live", x.uri)) > 0
    p.stop()
    w.stop()
    assert s.log().count("cannot write") < 10


def test_sessions(srs, html, source):
    port, glob = with_http(html)
    s = srs(conf(html, ctx="on"), glob)
    p = s.push(source, ahead=8, loop=True)
    listed(html, 3)
    url = f"http://127.0.0.1:{port}/live/s.m3u8"
    status, _, body = hls.get(url + "?token=x")
    text = body.decode()
    assert status == 200 and "#EXT-X-STREAM-INF:BANDWIDTH=" in text and 'CODECS="avc1.' in text
    child = hls.join(url, text.strip().split("\n")[-1])
    assert "hls_ctx=" in child and child.endswith("&token=x")
    got = hls.get_list(child)
    context = child.split("hls_ctx=")[1].split("&")[0]
    assert all(x.uri.endswith("?hls_ctx=" + context) for x in got.segments)
    assert hls.get(hls.join(url, got.segments[0].uri))[0] == 200
    other = hls.get(url)[2].decode().split("hls_ctx=")[1].strip()
    assert other != context
    assert s.wait_log(f"HLS session {context[:8]} of live/s, ip=127.0.0.1", 1)
    p.stop()


def test_low_latency(srs, html, source):
    port, glob = with_http(html)
    s = srs(conf(html, "hls_ll on;"), glob)
    p = s.push(source, ahead=4.5, loop=True)
    url = f"http://127.0.0.1:{port}/live/s.m3u8"
    assert wait_for(lambda: hls.get(url)[0] == 200, 6)
    first = hls.get_list(url)
    assert first.part_target and first.hint and 0.15 < first.part_target < 0.25
    head = hls.get(hls.join(url, first.segments[-1].map))[2]
    msn, part, body, reloads = first.sequence + len(first.segments), len(first.parts), b"", 0
    for _ in range(12):  # like a player: read the hint, then fetch that part
        got = hls.get_list(f"{url}?_HLS_msn={msn}&_HLS_part={part}")
        reloads += 1
        grown = got.sequence + len(got.segments)
        if grown > msn:
            parts = next(x.parts for x in got.segments if x.seq == msn)
        else:
            parts = got.parts
        if part < len(parts):
            assert parts[part][0] >= 0.85 * got.part_target or part == len(parts) - 1
            status, headers, data = hls.get(hls.join(url, parts[part][1]))
            assert status == 200
            if body or parts[part][2]:
                body += data
            part += 1
        if grown > msn and part >= len(parts):
            msn, part = msn + 1, 0
    assert len(body) > 1000
    status, _, data = hls.get(hls.join(url, hls.get_list(url).hint))
    assert status == 200 and data[4:8] in (b"moof", b"styp"), "a hint is not answered when its part exists"
    assert hls.get(f"{url}?_HLS_msn={msn + 10}")[0] == 400
    assert hls.get(f"{url}?_HLS_part=1")[0] == 400
    assert b"moov" in head
    p.stop()
    p.client.close()
    assert wait_for(lambda: hls.get_list(url).text.endswith(".m4s\n#EXT-X-DISCONTINUITY\n"), 3), \
        "after the end it does not continue"
    with open(os.path.join(html, "live", "s.m3u8")) as f:
        assert "EXT-X-PART" not in f.read(), "parts must be in memory only"


def test_updates_of_the_list(srs, html, source):
    """A player requests a delta update of the playlist; a request too far ahead is rejected."""
    port, glob = with_http(html)
    s = srs(conf(html, "hls_ll on; hls_wait_keyframe off;", fragment=0.5), glob)
    p = s.push(source, speed=8, loop=True)
    url = f"http://127.0.0.1:{port}/live/s.m3u8"
    assert wait_for(lambda: hls.get(url)[0] == 200, 6)
    short = hls.get_list(url + "?_HLS_skip=YES")
    assert short.skipped == 0 and short.sequence == 0 and short.skip_until == 6 * short.target
    assert wait_for(lambda: hls.get_list(url).seconds > short.skip_until + 2, 20)
    p.stop()  # it stays, and sends nothing
    assert comes_to_rest(lambda: hls.get(url)[2], 0.5)
    whole = hls.get_list(url)
    for ask in ("YES", "v2"):
        update = hls.get_list(f"{url}?_HLS_skip={ask}")
        kept = whole.segments[update.skipped:]
        assert update.skipped >= 2 and update.sequence == whole.sequence and update.target == whole.target
        assert [(x.seq, x.uri, x.duration, x.parts) for x in update.segments] == \
            [(x.seq, x.uri, x.duration, x.parts) for x in kept]
        assert update.segments[0].map == kept[0].map and update.hint == whole.hint
        left = sum(x.duration for x in kept) + sum(x[0] for x in whole.parts)
        assert whole.skip_until <= left < whole.skip_until + whole.target + 0.1
    for ask in ("NO", ""):
        assert hls.get_list(f"{url}?_HLS_skip={ask}").text == whole.text
    end, most = whole.sequence + len(whole.segments), int(3 / whole.part_target)
    assert hls.get(f"{url}?_HLS_msn={end + 2}")[0] == 400
    assert hls.get(f"{url}?_HLS_msn={end}&_HLS_part={len(whole.parts) + most}")[0] == 400
    assert hls.get(f"{url}?_HLS_msn={end + 1}&_HLS_part={most}")[0] == 400
    got = []
    # "A part after the last one of a segment is the first of the next one", which may exist already
    behind = f"?_HLS_msn={end}&_HLS_part={len(whole.parts)}" if whole.parts else f"?_HLS_msn={end - 1}&_HLS_part=50"
    waits = [threading.Thread(target=lambda at=at: got.append(hls.get_list(url + at)), daemon=True) for at in (
        behind, f"?_HLS_msn={end + 1}&_HLS_part=0&_HLS_skip=YES",
        f"?_HLS_msn={end}&_HLS_part={len(whole.parts) + most - 1}")]
    for w in waits:
        w.start()
    assert never(lambda: got, 0.5), "one of them exists already"
    p.client.close()
    assert wait_for(lambda: len(got) == 3, 10), "waiting players were not notified of the end"
    assert all(x.text.endswith("#EXT-X-DISCONTINUITY\n") for x in got)
    assert sorted(x.skipped > 0 for x in got) == [False, False, True]


@pytest.mark.long
def test_many_streams_in_little_memory(srs, html, source):
    s = srs(conf(html, window=4))
    pushers = [s.push(source, f"m{i}", speed=8, loop=True) for i in range(10)]
    path = listed(html, 3, "m9")
    assert wait_for(lambda: hls.load(path).sequence > 4), "the window is not full"
    before = s.rss()
    assert wait_for(lambda: hls.load(path).sequence > 16)
    for p in pushers:
        p.stop()
    assert s.rss() < before + 10 * 1024, f"{before} kB, then {s.rss()} kB"


def test_bad_names(srs, html, source):
    """A stream's name does not lead out of the folder."""
    s = srs(conf(html))
    try:
        push(s, flv.cut(source, 3000), stream="../../x")
    except (OSError, EOFError):
        pass
    assert not os.path.exists(os.path.join(html, "..", "x.m3u8"))
    push(s, flv.cut(source, 5000))
    listed(html, 3)
