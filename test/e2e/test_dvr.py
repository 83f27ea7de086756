# SPDX-License-Identifier: MIT
"""Recordings: every published frame, in files that any player can play and seek."""
import glob
import os
import re
import signal
import struct
import subprocess
import time

import pytest

import amf
import flv
import hls
import tools
from flv import AUDIO, DATA, VIDEO, Tag
from procs import wait_for
from test_hls import push, send


@pytest.fixture
def folder(tmp_path):
    d = tmp_path / "rec"
    d.mkdir()
    return str(d)


def conf(folder, name="[app]/[stream].[timestamp].flv", more=""):
    return f"dvr {{ enabled on; dvr_path {folder}/{name}; {more} }}"


def began(path):
    """When a recording began, from its name, because several can finish at once."""
    stamp = re.search(r"\d{13}", os.path.basename(path))
    return int(stamp[0]) if stamp else os.path.getmtime(path) * 1000


def recordings(folder, count=1, end="flv", seconds=8):
    """Waits for this many closed files; returns their paths in order of time."""
    pattern = os.path.join(folder, "**", "*." + end)
    assert wait_for(lambda: len(glob.glob(pattern, recursive=True)) >= count, seconds), \
        subprocess.run(["find", folder], capture_output=True).stdout.decode()
    time.sleep(0.2)
    found = sorted(glob.glob(pattern, recursive=True), key=began)
    assert len(found) == count, found
    return found


def boxes(path):
    """[(type, size)] of the top level."""
    out = []
    with open(path, "rb") as f:
        while head := f.read(8):
            size, name = struct.unpack(">I4s", head)
            skip = size - 8
            if size == 1:
                size = struct.unpack(">Q", f.read(8))[0]
                skip = size - 16
            out.append((name.decode(), size))
            f.seek(skip, 1)
    return out


def test_flv_is_what_was_published(srs, folder, source):
    s = srs(conf(folder))
    push(s, source)
    file = recordings(folder)[0]
    assert os.path.basename(file).startswith("s.1")
    got = flv.read(file)
    for kind in (VIDEO, AUDIO):
        assert flv.hashes(got, kind) == flv.hashes(source, kind)
        assert [t.ts for t in flv.frames(got, kind)] == [t.ts for t in flv.frames(source, kind)]
    values = amf.decode(next(t for t in got if t.type == DATA).data)
    meta = values[1]
    assert set(values[2:]) <= {None, 0.0}, "it is followed by more than padding"
    assert abs(meta["duration"] - 30.0) < 0.1
    assert meta["filesize"] == os.path.getsize(file)
    assert meta["width"] == 640
    assert s.wait_log(r"recorded .*\.flv", 1)
    assert abs(float(tools.ffprobe(file, "-show_format")["format"]["duration"]) - 30) < 0.2
    assert tools.decode(file) == ""
    check_keyframes(file, meta)


def check_keyframes(file, meta):
    """All are listed at their position; ffmpeg accepts the list and seeks by it."""
    data, keys = open(file, "rb").read(), [t for t in flv.read(file) if t.key and t.data[1] == 1]
    assert [int(x * 1000) for x in meta["keyframes"]["times"]] == [t.ts for t in keys]
    for at, tag in zip(meta["keyframes"]["filepositions"], keys):
        assert data[int(at):int(at) + 11 + len(tag.data)] == flv.tag_bytes(tag)[:-4]
    for how in ([], ["-read_intervals", "17.3%+#1"]):
        r = tools.run(["ffprobe", "-v", "warning", "-show_packets", "-select_streams", "v", *how, file])
        assert not r.stderr, r.stderr
    first = re.search(rb"dts_time=(\S+)", r.stdout)
    assert float(first[1]) == max(t.ts for t in keys if t.ts <= 17300) / 1000


def check_mp4(file, video, audio, codecs):
    """Tables in front, every sample, read by third-party demuxers."""
    assert [b[0] for b in boxes(file)] == ["ftyp", "moov", "mdat"]
    assert sum(b[1] for b in boxes(file)) == os.path.getsize(file)
    assert len(hls.packets(file, "v")) == video
    assert len(hls.packets(file, "a")) == audio
    names = [x["codec_name"] for x in tools.ffprobe(file, "-show_streams")["streams"]]
    assert sorted(names) == sorted(codecs)
    assert tools.decode(file) == ""
    r = subprocess.run(["gst-launch-1.0", "-q", "filesrc", f"location={file}", "!", "qtdemux",
                        "name=d", "d.video_0", "!", "queue", "!", "fakesink", "d.audio_0", "!", "queue",
                        "!", "fakesink"], capture_output=True, timeout=60)
    assert r.returncode == 0 and not r.stderr, r.stderr


def test_mp4(srs, folder, source, tmp_path):
    s = srs(conf(folder, "[stream].mp4"))
    push(s, source)
    file = recordings(folder, end="mp4")[0]
    check_mp4(file, hls.frames(source, VIDEO), hls.frames(source, AUDIO), ["h264", "aac"])
    video, audio = hls.packets(file, "v"), hls.packets(file, "a")
    want = hls.packets(tools.SOURCE, "v")[0][0] - hls.packets(tools.SOURCE, "a")[0][0]
    assert abs((video[0][0] - audio[0][0]) - want) < 0.02, "audio and video are not in sync"
    ends = video[-1][0] - audio[-1][0]
    assert abs(ends - (hls.packets(tools.SOURCE, "v")[-1][0] -
                       hls.packets(tools.SOURCE, "a")[-1][0])) < 0.05
    r = tools.run(["ffmpeg", "-v", "error", "-ss", "17.3", "-i", file, "-frames:v", "1", "-f",
                   "rawvideo", "-"])
    assert len(r.stdout) == 640 * 360 * 3 // 2, "it cannot seek"
    assert not glob.glob(folder + "/*tmp*")


@pytest.mark.needs("mkvmerge")
def test_mp4_for_mkvmerge(srs, folder, source, tmp_path):
    s = srs(conf(folder, "[stream].mp4"))
    tags = flv.cut(source, 10000)
    push(s, tags)
    out = str(tmp_path / "x.mkv")
    r = tools.run(["mkvmerge", "-o", out, recordings(folder, end="mp4")[0]])
    assert b"Warning" not in r.stdout and b"Error" not in r.stdout, r.stdout
    got = tools.ffprobe(out, "-count_packets", "-show_entries", "stream=nb_read_packets")["streams"]
    assert int(got[0]["nb_read_packets"]) == hls.frames(tags, VIDEO)


@pytest.mark.parametrize("codecs", [("hevc", "aac"), ("av1", "opus"), ("vp9", "mp3"),
                                    ("h264", "opus")])
def test_mp4_codecs(srs, folder, media, codecs):
    s = srs(conf(folder, "[stream].mp4"))
    push(s, media.tags(*codecs), speed=25)
    check_mp4(recordings(folder, end="mp4")[0], len(media.track(codecs[0]).frames),
              len(media.track(codecs[1]).frames), codecs)


@pytest.mark.parametrize("end", ["flv", pytest.param("mp4", marks=pytest.mark.long)])
def test_segments(srs, folder, source, end):
    s = srs(conf(folder, "[stream].[timestamp]." + end, "dvr_plan segment; dvr_duration 4;"))
    tags = flv.cut(source, 18000)
    push(s, tags)
    files = recordings(folder, 5, end)
    pictures = hls.packets_of(files, "v")
    counts = [len(p) for p in pictures]
    assert counts[:-1] == [100] * 4 and sum(counts) == hls.frames(tags, VIDEO), counts
    assert sum(map(len, hls.packets_of(files, "a"))) == hls.frames(tags, AUDIO)
    for f, p in zip(files, pictures):
        assert p[0][2], "it does not begin with a key frame"
        assert tools.decode(f) == ""


@pytest.mark.parametrize("key, counts", [("on", [50, 50]), ("off", [25, 25, 25, 25])])
def test_wait_for_key_frames(srs, folder, source, key, counts):
    """They are 2 s apart; files should be 1 s long."""
    s = srs(conf(folder, "[stream].[timestamp].flv", f"dvr_plan segment; dvr_duration 1; dvr_wait_keyframe {key};"))
    push(s, flv.cut(source, 4000), speed=4)
    files = recordings(folder, len(counts))
    assert [len(flv.frames(flv.read(f), VIDEO)) for f in files] == counts


@pytest.mark.parametrize("end", ["flv", "mp4"])
def test_a_crash_costs_little(srs, folder, source, end, tmp_path):
    s = srs(conf(folder, "[stream]." + end))
    p = s.push(source, speed=3, ahead=8)
    file = os.path.join(folder, f"s.{end}.tmp")
    assert wait_for(lambda: os.path.exists(file) and os.path.getsize(file) > 300000, 10)
    s.proc.kill(signal.SIGKILL)
    pushed = p.stop().pushed
    s.proc.end()
    s.proc = None
    last = max(t.ts for t in pushed) / 1000
    named = str(tmp_path / f"x.{end}")
    os.rename(file, named)
    video = hls.packets(named, "v")
    assert video[-1][1] > last - 8.0, (video[-1], last)
    assert tools.decode(named).count("\n") <= 1


@pytest.mark.parametrize("end", ["flv", "mp4"])
def test_nothing_is_written_over(srs, folder, source, end):
    s = srs(conf(folder, "[stream]." + end))
    for i in range(3):
        push(s, flv.cut(source, 3000))
        assert wait_for(lambda: len(glob.glob(f"{folder}/*.{end}")) == i + 1, 5)
    assert sorted(os.listdir(folder)) == [f"s-1.{end}", f"s-2.{end}", f"s.{end}"]


@pytest.mark.parametrize("end", ["flv", "mp4"])
def test_publishers_in_turn_are_read_to_their_ends(srs, folder, source, end):
    """The next publisher takes over before the previous one's data is read: every frame of each is in its own file, and in the
    playlist, one after the other."""
    # only a single thread guarantees that all data of one arrived before the next one comes
    s = srs(conf(folder, "[stream]." + end) + " publish { takeover on; } "
            f"hls {{ enabled on; hls_path {folder}; hls_fragment 2; hls_window 90; }}",
            env={"SRS_WORKERS": "1"})
    parts = [flv.cut(source, 10000), flv.cut(source, 6000), flv.cut(source, 14000)]
    clients = []
    for tags in parts:
        clients.append(s.publisher())
        for tag in tags:
            clients[-1].send_tag(tag)
        clients[-1].create_stream()  # its response follows the frames: the server has them
    want = [hls.frames(tags, VIDEO) for tags in parts]
    for c in clients[:-1]:
        assert c.closed()
    clients[-1].close()
    files = [f"{folder}/s{n}.{end}" for n in ("", "-1", "-2")]
    assert wait_for(lambda: all(map(os.path.exists, files)), 8), os.listdir(folder)
    assert [len(p) for p in hls.packets_of(files, "v")] == want
    path = os.path.join(folder, "live", "s.m3u8")
    assert wait_for(lambda: (p := hls.load(path)) and len(p.segments) >= 15, 5), hls.load(path)
    runs = []
    for one, pictures in zip(hls.load(path).segments, hls.packets_of(hls.files(path), "v")):
        runs += [0] if one.discontinuity or not runs else []
        runs[-1] += len(pictures)
    assert runs == want


def test_apply(srs, folder, source):
    s = srs(conf(folder, "[stream].flv", "dvr_apply live/a live/b;"))
    for name in ("a", "c", "b"):
        push(s, flv.cut(source, 2500), stream=name)
    recordings(folder, 2)
    assert sorted(os.listdir(folder)) == ["a.flv", "b.flv"]


def test_a_folder(srs, folder, source):
    s = srs(f"dvr {{ enabled on; dvr_path {folder}/[vhost]/[2006]; }}")
    push(s, flv.cut(source, 2500))
    file = recordings(folder)[0]
    assert "/__defaultVhost__/20" in file and os.path.basename(file).startswith("s.1")


def test_another_configuration_is_another_file(srs, folder, source, media):
    s = srs(conf(folder, "[stream].mp4"))
    tags = flv.cut(source, 4000) + [Tag(t.type, t.ts + 4000, t.data)
                                    for t in media.tags("hevc", "aac") if t.type != DATA]
    push(s, tags, speed=8)
    files = recordings(folder, 2, "mp4")
    assert [tools.ffprobe(f, "-show_streams")["streams"][0]["codec_name"] for f in files] == \
        ["h264", "hevc"]
    assert all(tools.decode(f) == "" for f in files)


def test_audio_only(srs, folder, source):
    s = srs(conf(folder, "[stream].mp4", "dvr_plan segment; dvr_duration 5;"))
    tags = [t for t in flv.cut(source, 14000) if t.type == AUDIO]
    push(s, tags)
    files = recordings(folder, 3, "mp4")
    assert sum(len(hls.packets(f, "a")) for f in files) == hls.frames(tags, AUDIO)


@pytest.mark.parametrize("end", ["flv", "mp4"])
def test_times_jump(srs, folder, source, end):
    s = srs(conf(folder, "[stream]." + end))
    tags = [t if t.ts < 5000 else Tag(t.type, t.ts + 7200_000, t.data) for t in flv.cut(source, 10000)]
    c = s.publisher()
    send(c, tags)
    c.close()
    file = recordings(folder, end=end)[0]
    assert abs(float(tools.ffprobe(file, "-show_format")["format"]["duration"]) - 10) < 1.5
    assert len(hls.packets(file, "v")) == hls.frames(tags, VIDEO)


@pytest.mark.parametrize("jitter, first, last", [
    ("full", 0, (4000, 9000)), ("zero", 0, (7203_000, 7206_000)), ("off", 100_000, (7303_000, 7306_000))])
def test_time_jitter(srs, folder, source, jitter, first, last):
    """Players get the publisher's own times; the recording has the configured ones."""
    s = srs(conf(folder, "[stream].flv", f"time_jitter {jitter};") + " play { time_jitter off; }")
    tags = [Tag(t.type, t.ts + (100_000 if t.ts < 3000 else 7300_000), t.data) for t in flv.cut(source, 5000)]
    c = s.publisher()
    send(c, tags)
    c.close()
    got = flv.frames(flv.read(recordings(folder)[0]), VIDEO)
    assert len(got) == hls.frames(tags, VIDEO)
    assert got[0].ts == first and last[0] < got[-1].ts < last[1], (got[0].ts, got[-1].ts)
    assert all(a.ts <= b.ts for a, b in zip(got, got[1:]))


@pytest.mark.long
def test_more_than_4_gb(srs, folder, source):
    """Offsets of 64 bits: a generated recording on a sparse disk."""
    free = os.statvfs(folder)
    if free.f_bavail * free.f_frsize < 12 << 30:
        pytest.skip("takes 10 GB of disk")
    s = srs(conf(folder, "[stream].mp4"))
    c = s.publisher(chunk=1 << 20)
    big = os.urandom(6 << 20)
    for t in [t for t in source if not t.frame]:
        c.send_tag(t)
    for i in range(720):
        body = bytes([0x17, 1, 0, 0, 0]) + struct.pack(">I", len(big)) + big
        c.send_tag(Tag(VIDEO, i * 40, body))
        time.sleep(0.04)  # at the speed of the disk
    c.close()
    file = recordings(folder, end="mp4", seconds=120)[0]
    assert os.path.getsize(file) > 4 << 30
    assert [b[0] for b in boxes(file)] == ["ftyp", "moov", "mdat"]
    assert len(hls.packets(file, "v")) == 720


@pytest.mark.parametrize("end", ["flv", pytest.param("mp4", marks=pytest.mark.long)])
def test_disk_is_full(srs, source, tmp_path, end):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)],
                      capture_output=True).returncode != 0:
        pytest.skip("no right to mount")
    try:
        s = srs(conf(str(disk), "[stream]." + end))
        w = s.watch()
        p = s.push(source, speed=4, loop=True, ahead=8)
        assert s.wait_log("recording of live/s: cannot write .*No space left", 10)
        frames = len(flv.frames(w.tags, VIDEO))
        assert w.wait(lambda got: len(flv.frames(got, VIDEO)) > frames + 25, 5)
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        assert s.wait_log("recording of live/s resumes", 8)
        made = os.path.getsize(f"{disk}/s.{end}.tmp")
        assert wait_for(lambda: os.path.getsize(f"{disk}/s.{end}.tmp") > made + 150000)
        p.stop()
        p.client.close()
        file = recordings(str(disk), end=end)[0]
        video = hls.packets(file, "v")
        assert len(video) > 200
        assert tools.decode(file) == "", "something in it is broken"
        w.stop()
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False)


def test_reload(srs, folder, source):
    s = srs("")
    p = s.push(source, speed=2, loop=True)
    assert s.wait_log("video sh", 3)
    s.reload(conf(folder, "[stream].flv"))
    assert wait_for(lambda: os.path.exists(folder + "/s.flv.tmp"), 5)
    time.sleep(0.3)
    s.reload("")
    file = recordings(folder)[0]
    assert tools.decode(file) == ""
    p.stop()


def test_end_of_the_server(srs, folder, source):
    """Recordings that run when the server ends are closed properly."""
    s = srs(conf(folder, "[stream].mp4"))
    p = s.push(source, ahead=2, speed=2, loop=True)
    assert wait_for(lambda: os.path.exists(folder + "/s.mp4.tmp"), 8)
    time.sleep(0.3)
    s.stop()
    p.stop()
    file = recordings(folder, end="mp4")[0]
    assert [b[0] for b in boxes(file)] == ["ftyp", "moov", "mdat"]
    assert tools.decode(file) == ""
