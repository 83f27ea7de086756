# SPDX-License-Identifier: MIT
"""Codecs: a player gets what a publisher sends, byte for byte, whether the codec is known or not."""
import concurrent.futures
import os
import sys
import urllib.request

import pytest

import flv
import flvgen
import tools
from flv import AUDIO, DATA, VIDEO, Tag
from flvgen import (CODED, CODED_X, METADATA, SEQ_START, enhanced, many_tracks, synthetic,
                    track_tags)
from procs import ROOT, free_port, wait_for
from rtmfp_serve import rtmfp_server

pytestmark = pytest.mark.needs("ffmpeg")
QUICK = "play { mw_latency 50; }"


def through(s, tags, stream="s", late=True):
    """Pushes everything at once; checks that the early player got exactly that and that a late one can start."""
    w = s.watch(stream)
    p = s.push(tags, stream, speed=0)
    want = [t for t in tags if t.type != DATA]
    assert w.wait(lambda got: len([t for t in got if t.type != DATA]) >= len(want), 5), \
        f"{len(w.tags)} of {len(want)}, publisher: {p.error}"
    got = [t for t in w.stop() if t.type != DATA]
    for kind in (VIDEO, AUDIO):
        assert [(t.ts, t.hash()) for t in got if t.type == kind] == \
            [(t.ts, t.hash()) for t in want if t.type == kind]
    if late:
        c = s.player(stream)
        c.collect(1, want=lambda c: c.tags and c.tags[-1].hash() == want[-1].hash())
        return got, [t for t in c.tags if t.type != DATA]
    return got, None


@pytest.mark.parametrize("codec,style", [
    ("hevc", "v1"), ("hevc", "x"), ("hevc", "legacy"), ("av1", "v1"), ("vp9", "v1"),
    ("h264", "v1"), ("h264", "legacy")])
def test_video(srs, media, codec, style):
    s = srs(QUICK)
    tags = [flvgen.metadata(width=320.0)] + track_tags(media.track(codec), style)
    _, late = through(s, tags)
    config = next(t for t in tags if t.config)
    assert config in [t._replace(ts=0) for t in late], "a late player did not get the decoder configuration"
    shown = [t for t in late if not t.config]
    assert shown and shown[0].key, f"who joins begins with a key frame: {late[:4]}"


@pytest.mark.parametrize("codec,style", [("opus", "v1"), ("aac", "v1"), ("aac", "legacy"),
                                         ("mp3", "v1"), ("mp3", "legacy")])
def test_audio(srs, media, codec, style):
    s = srs(QUICK)
    tags = [flvgen.metadata(audio=1.0)] + track_tags(media.track(codec), style)
    _, late = through(s, tags)
    for t in tags:
        if t.config:
            assert t in [x._replace(ts=0) for x in late]


def test_hevc_with_opus_decodes(srs, media, tmp_path):
    """What a player that joined in the middle received decodes without errors."""
    s = srs(QUICK)
    tags = media.tags("hevc", "opus")
    p = s.push(tags, loop=True, speed=3)
    assert wait_for(lambda: len(p.pushed) > 150)
    c = s.player()
    c.collect(3, count=150)
    path = tmp_path / "got.hevc"
    path.write_bytes(flvgen.to_raw_hevc(c.tags))
    assert tools.decode(path) == ""
    assert len([t for t in c.tags if t.type == AUDIO and t.data[1:5] == b"Opus"]) > 30


@pytest.fixture
def with_opus(srs, media, tmp_path):
    """H.264 and Opus, live and in a file, with metadata that announce both."""
    port = free_port()
    s = rtmfp_server(srs, vhost=f"http_remux {{ enabled on; }} vod {{ enabled on; dir {tmp_path}; }}",
                     glob=f"http_server {{ enabled on; listen 127.0.0.1:{port}; }}")
    s.flv_url = f"http://127.0.0.1:{port}/live/s.flv"
    s.flv_file = f"http://127.0.0.1:{port}/vod/opus.flv.flv"
    tracks = [track_tags(media.track("h264"), "legacy"), track_tags(media.track("opus"), "v1")]
    heads = [t for tags in tracks for t in tags if not t.frame]
    body = sorted((t for tags in tracks for t in tags if t.frame), key=lambda t: t.ts)
    codec = float(int.from_bytes(b"Opus", "big"))
    tags = [flvgen.metadata(width=320.0, videocodecid=7.0, audiocodecid=codec)] + heads + body
    flv.write(tmp_path / "opus.flv", tags)
    s.push(tags, loop=True, speed=2)
    return s


def assert_video_alone(tags):
    assert len([t for t in tags if t.type == VIDEO]) > 30 and not [t for t in tags if t.type == AUDIO]
    assert b"audiocodecid" not in next(t for t in tags if b"onMetaData" in t.data).data


def assert_with_opus(tags):
    assert [t for t in tags if t.type == AUDIO and t.data[1:5] == b"Opus"]
    assert b"audiocodecid" in next(t for t in tags if b"onMetaData" in t.data).data


def both(tags):
    return {AUDIO, VIDEO} <= {t.type for t in tags}


def assert_ffmpeg_plays(*urls):
    """ffmpeg plays everything at once. It looks for audio as long as -analyzeduration says."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        got = list(pool.map(lambda url: tools.run(["ffmpeg", "-v", "error", "-analyzeduration", 2000000, "-t", 1, "-i", url,
                                                   "-f", "framecrc", "-"], 12), urls))
    for r in got:
        assert len([line for line in r.stdout.splitlines() if line[:1] == b"0"]) >= 24, r.stderr


@pytest.mark.parametrize("says", [{"fourCcList": ["av01", "Opus"]}, {"fourCcList": ["*"]},
                                  {"fourCcList": None, "audioFourCcInfoMap": {"Opus": 1.0}}], ids=["list", "star", "map"])
def test_opus_for_who_announces_it(with_opus, says):
    c = with_opus.player(**says)
    c.collect(5, want=lambda c: both(c.tags))
    assert_with_opus(c.tags)


def test_plain_players_get_the_video_of_opus(with_opus, tmp_path):
    """FFmpeg 5.1 and 7.1 do not even read video if RTMP or FLV contains Opus, or metadata announce it."""
    s = with_opus
    c = s.player(fourCcList=["av01", "hvc1"])
    c.collect(3, count=60)
    assert_video_alone(c.tags)
    assert s.wait_log("gets the video of live/s without its Opus audio: it did not announce Opus", 3)
    assert_ffmpeg_plays(s.url(), s.flv_url)
    # clients that may support Opus get everything: HTTP has no announcement for it
    request = urllib.request.Request(s.flv_url, headers={"User-Agent": "Mozilla/5.0"})
    with urllib.request.urlopen(request, timeout=5) as r:
        assert b"\x91Opus" in r.read(60000)


def test_files_with_opus(with_opus):
    """Files on demand like live streams: Opus only for players that announce it, also after a seek."""
    s = with_opus
    c = s.player("opus.flv", app="vod", fourCcList=["*"])
    c.collect(5, want=lambda c: both(c.tags))
    assert_with_opus(c.tags)
    c = s.player("opus.flv", app="vod", fourCcList=["av01"])
    c.collect(3, count=35)
    assert_video_alone(c.tags)
    c.tags.clear()
    c.call("receiveAudio", True, sid=1)
    c.call("seek", 1000.0, sid=1)
    c.collect(5, count=35)
    assert_video_alone(c.tags)
    assert s.wait_log(r"gets the video of vod/opus\.flv without its Opus audio: it did not announce Opus", 3)
    assert_ffmpeg_plays(s.url("opus.flv", "vod"), s.flv_file)
    request = urllib.request.Request(s.flv_file, headers={"User-Agent": "Mozilla/5.0"})
    with urllib.request.urlopen(request, timeout=5) as r:
        assert b"\x91Opus" in r.read(60000)


def test_rtmfp_players_of_opus(with_opus, tmp_path):
    """scripts/rtmfp.py plays only the video, and everything with --opus; ffmpeg reads its output."""
    s, out = with_opus, tmp_path / "out.flv"

    def play(*options):
        tools.run([sys.executable, os.path.join(ROOT, "scripts", "rtmfp.py"), "play", f"rtmfp://127.0.0.1:{s.rtmfp_port}/live/s", out,
                   "--seconds", 1.5, *options], 20)
        return flv.read(out)
    assert_with_opus(play("--opus"))
    assert "without its Opus audio" not in s.log()
    assert_video_alone(play())
    assert s.wait_log("gets the video of live/s without its Opus audio: it did not announce Opus", 3)
    assert_ffmpeg_plays(out)


def test_av1_decodes(srs, media, tmp_path):
    s = srs(QUICK)
    p = s.push(media.tags("av1", "aac"), loop=True, speed=3)
    assert wait_for(lambda: len(p.pushed) > 120)
    c = s.player()
    c.collect(3, count=120)
    path = tmp_path / "got.obu"
    path.write_bytes(flvgen.to_raw_av1(c.tags))
    assert tools.decode(path) == ""


def multitrack(media, nano=None):
    """Track 0 as usual, track 1 and 2 as OneTrack multitrack, audio tracks likewise."""
    tracks = [track_tags(media.track("hevc"), "v1", nano=nano),
              track_tags(media.track("h264"), "v1", track_id=1, nano=nano),
              track_tags(media.track("av1"), "v1", track_id=2, nano=nano),
              track_tags(media.track("aac"), "v1", nano=nano),
              track_tags(media.track("opus"), "v1", track_id=1, nano=nano)]
    heads = [t[0] for t in tracks]
    body = sorted((t for tags in tracks for t in tags[1:]), key=lambda t: t.ts)
    return heads, body


@pytest.mark.parametrize("nano", [None, 123456], ids=["plain", "modex"])
def test_multitrack_one_track_messages(srs, media, nano):
    """Late players get every track's configuration, byte for byte."""
    s = srs(QUICK)
    heads, body = multitrack(media, nano)
    _, late = through(s, [flvgen.metadata(width=1.0)] + heads + body)
    got = [t.data for t in late]
    for i, h in enumerate(heads):
        assert h.data in got, f"the configuration of track {i} is missing for who joins"
    first = next(i for i, t in enumerate(late) if t.data not in [h.data for h in heads])
    assert {h.data for h in heads} <= {t.data for t in late[:first]}, "configurations do not come first"


@pytest.mark.parametrize("codecs", [(b"hvc1", b"hvc1"), (b"hvc1", b"av01")], ids=["same", "mixed"])
def test_multitrack_in_one_message(srs, codecs):
    """ManyTracks and ManyTracksManyCodecs."""
    s = srs(QUICK)
    head = Tag(VIDEO, 0, many_tracks(VIDEO, 1, SEQ_START, [(codecs[0], 0, b"\1" * 40),
                                                           (codecs[1], 1, b"\2" * 30)]))
    tags = [flvgen.metadata(width=1.0), head]
    for i in range(50):
        parts = [(codecs[0], 0, b"\0\0\0" + bytes([i]) * 300), (codecs[1], 1, bytes([i]) * 200)]
        tags.append(Tag(VIDEO, i * 40, many_tracks(VIDEO, 1 if i % 25 == 0 else 2, CODED, parts)))
    _, late = through(s, tags)
    assert head.data in [t.data for t in late]


def test_modex_before_everything(srs):
    """A chain of two ModEx, one of them long (size over 256)."""
    s = srs(QUICK)
    long = b"\xff" + (299).to_bytes(2, "big") + b"\x55" * 300

    def frame(i):
        out = bytes([0x80 | (1 if i % 25 == 0 else 2) << 4 | 7])
        out += flvgen.modex(i) + bytes([1 << 4 | 7])  # TimestampOffsetNano, then one of type 1
        out += long + bytes([0 << 4 | CODED_X]) + b"hvc1" + bytes([i]) * 100
        return Tag(VIDEO, i * 40, out)
    head = Tag(VIDEO, 0, enhanced(VIDEO, 1, SEQ_START, b"hvc1", b"\1" * 40))
    _, late = through(s, [flvgen.metadata(a=1.0), head] + [frame(i) for i in range(60)])
    shown = [t for t in late if not t.config]
    assert shown[0].data[0] >> 4 & 7 == 1, "the key frame after ModEx was not recognized"


def test_enhanced_metadata_packet(srs, media):
    """colorInfo (packet type 4) passes and changes nothing."""
    s = srs(QUICK)
    tags = track_tags(media.track("hevc"))
    info = Tag(VIDEO, 0, enhanced(VIDEO, 1, METADATA, b"hvc1", b"\x02\x00\x09colorInfo\x05"))
    got, late = through(s, [flvgen.metadata(a=1.0), tags[0], info] + tags[1:])
    assert info.data in [t.data for t in got]
    assert any(t.config for t in late)


def test_unknown_codecs_pass(srs):
    """Unknown fourccs, codec ids and tag bodies."""
    s = srs(QUICK)
    tags = [flvgen.metadata(a=1.0)]
    for i in range(40):
        key = i % 20 == 0
        tags.append(Tag(VIDEO, i * 40, enhanced(VIDEO, 1 if key else 2, CODED, b"zz99", bytes([i]) * 90)))
        tags.append(Tag(AUDIO, i * 40, enhanced(AUDIO, 1, CODED, b"qq11", bytes([i]) * 30)))
    through(s, tags)
    tags = [flvgen.metadata(a=1.0)]
    for i in range(40):
        tags.append(Tag(VIDEO, i * 40, bytes([(1 if i % 20 == 0 else 2) << 4 | 14, i]) + b"x" * 50))
        tags.append(Tag(AUDIO, i * 40, bytes([0xd2, i]) + b"y" * 20))
    through(s, tags, "s2")


def test_configuration_changes_in_its_place(srs):
    """A new sequence header in the middle of a stream stays between the same two frames."""
    s = srs(QUICK)
    a, b = synthetic(1, config=b"A" * 12), synthetic(1, config=b"B" * 12, start=1000)
    tags = a + [t for t in b if t.type != DATA]
    through(s, tags, late=False)
    c = s.player()
    c.collect(1.5, count=10)
    configs = [t.data for t in c.tags if t.config and t.type == VIDEO]
    assert configs and configs[-1].endswith(b"B" * 12)
    assert not any(x.endswith(b"A" * 12) for x in configs), "a late player got the old configuration"


def test_spatial_and_silent_h264_info_frames(srs):
    """0x57 info frames and end of sequence pass."""
    s = srs(QUICK)
    tags = synthetic(1)
    tags.insert(10, Tag(VIDEO, tags[9].ts, b"\x57\x00"))
    tags.append(Tag(VIDEO, 1000, b"\x17\x02\x00\x00\x00"))
    through(s, tags, late=False)
