# SPDX-License-Identifier: MIT
"""A stream is published and played: players get exactly what was published."""
import signal
import time

import pytest

import amf
import flv
import tools
from flv import AUDIO, DATA, VIDEO
from procs import wait_for

pytestmark = pytest.mark.needs("ffmpeg", "ffprobe")


def same_run(got, want, least):
    """Checks that every frame of `got` is in `want`, in order, without a gap; returns where it begins."""
    assert len(got) >= least, f"{len(got)} frames, wanted {least}"
    at = flv.find_run(got, want)
    assert at >= 0, "frames are lost, changed or out of order"
    return at


def are_of_the_source(got):
    """Checks what ffmpeg got: 6 s, frame for frame, with times that differ by one constant."""
    want = tools.source_frames()
    for kind, least in (("video", 148), ("audio", 250)):
        w = [x for x in want if x[0] == kind]
        g = [x for x in got if x[0] == kind]
        assert same_run([x[4] for x in g], [x[4] for x in w], least) == 0
        assert len({a[1] - b[1] for a, b in zip(g, w)}) == 1, "dts differ by more than a shift"
        assert len({a[2] - b[2] for a, b in zip(g, w)}) == 1, "pts differ by more than a shift"


def test_ffmpeg_publishes_and_plays(srs, tmp_path, source):
    """ffmpeg pushes 6 s; an ffmpeg and our own player that came before get each byte of it."""
    s = srs()
    own = s.watch()
    play = tools.ffmpeg_frames(s.url(), tmp_path / "play.log", tmp_path / "got.md5")
    s.wait_log("type=Play", 3, count=2)
    time.sleep(0.3)
    push = tools.ffmpeg_publish(s.url(), tmp_path / "push.log", rate=6, seconds=6)
    assert push.wait(15) == 0, push.text()
    own.wait(lambda tags: len(flv.frames(tags, VIDEO)) >= 148, 3)
    wait_for(lambda: len(tools.frame_list(tmp_path / "got.md5", "video")) >= 148, 3)
    play.end(signal.SIGKILL)

    are_of_the_source(tools.frame_list(tmp_path / "got.md5"))
    for kind, least in ((VIDEO, 148), (AUDIO, 250)):
        got = flv.hashes(own.tags, kind)
        assert same_run(got[:least], flv.hashes(source, kind), least) == 0


def test_ffprobe_sees_the_stream(srs, source):
    s = srs()
    s.push(source, loop=True, speed=3)
    info = tools.ffprobe(s.url(), "-show_streams", "-show_format")
    streams = {x["codec_type"]: x for x in info["streams"]}
    assert set(streams) <= {"video", "audio", "data"}, "a stream that does not exist"
    assert streams["video"]["codec_name"] == "h264"
    assert (streams["video"]["width"], streams["video"]["height"]) == (640, 360)
    assert streams["video"]["profile"] == "Main"
    assert streams["audio"]["codec_name"] == "aac"
    assert streams["audio"]["sample_rate"] == "44100"
    packets = tools.ffprobe(s.url(), "-show_packets", "-read_intervals", "%+#120")["packets"]
    assert len([p for p in packets if p["codec_type"] == "video"]) >= 30
    first = next(p for p in packets if p["codec_type"] == "video")
    assert "K" in first["flags"], "a new player does not begin with a key frame"


def test_every_byte_and_time_through_own_client(srs, source):
    """Without ffmpeg: bodies byte for byte, and exactly the times that were sent."""
    s = srs()
    w = s.watch()
    tags = flv.cut(source, 6000)
    p = s.push(tags, speed=0)
    p.join(10)
    assert p.error is None
    want = [t for t in tags if t.type != DATA]
    assert w.wait(lambda got: len([t for t in got if t.type != DATA]) >= len(want), 5)
    got = [t for t in w.stop() if t.type != DATA]
    for kind in (VIDEO, AUDIO):
        assert [t.hash() for t in got if t.type == kind] == [t.hash() for t in want if t.type == kind]
        assert [t.ts for t in got if t.type == kind] == [t.ts for t in want if t.type == kind]


def test_order_on_the_wire_is_kept(srs, source):
    """Audio and video arrive in the order in which they were sent."""
    s = srs()
    w = s.watch()
    tags = flv.cut(source, 3000)
    s.push(tags, speed=0).join(5)
    want = [(t.type, t.ts) for t in tags if t.frame]
    assert w.wait(lambda got: len(flv.frames(got)) >= len(want), 5)
    assert [(t.type, t.ts) for t in flv.frames(w.stop())] == want


def test_join_in_the_middle(srs, source):
    """Metadata, both sequence headers, then a key frame, then everything after it."""
    s = srs()
    p = s.push(source, loop=True, ahead=1.5)
    assert wait_for(lambda: len(p.pushed) > 60)
    c = s.player()
    c.collect(3, count=60)
    tags = c.tags
    first = next(i for i, t in enumerate(tags) if t.frame)
    head = tags[:first]
    assert [t.type for t in head].count(VIDEO) == 1 and all(t.config for t in head if t.type == VIDEO)
    assert [t.type for t in head].count(AUDIO) == 1 and all(t.config for t in head if t.type == AUDIO)
    meta = [amf.decode(t.data) for t in head if t.type == DATA]
    assert any(m[0] == "onMetaData" for m in meta)
    video = flv.frames(tags, VIDEO)
    assert video[0].key
    same_run([t.hash() for t in video], flv.hashes(source, VIDEO) * 2, 10)
    flv.check_monotonic(tags)


def test_metadata_has_the_encoders_fields_and_ours(srs, source):
    s = srs()
    w = s.watch()
    s.push(flv.cut(source, 1000), speed=0)
    assert w.wait(lambda tags: any(b"onMetaData" in t.data for t in tags if t.type == DATA), 3)
    meta = next(amf.decode(t.data) for t in w.stop() if t.type == DATA and b"onMetaData" in t.data)
    assert meta[0] == "onMetaData"
    sent = next(amf.decode(t.data) for t in source if t.type == DATA)[1]
    for key in ("width", "height", "framerate", "videocodecid", "audiocodecid"):
        assert meta[1][key] == sent[key], key
    assert "server" in meta[1], f"no field of the server in {meta[1]}"
    assert "@setDataFrame" not in str(meta)


def test_other_data_messages_pass(srs, source):
    """onTextData and others reach the player with their time, byte for byte."""
    s = srs()
    w = s.watch()
    pub = s.publisher()
    for t in flv.cut(source, 500):
        pub.send_tag(t)
    text = amf.encode("onTextData", {"text": "hello"})
    pub.message(5, 18, 600, pub.sid, text)
    assert w.wait(lambda tags: any(t.data == text for t in tags), 3)
    assert next(t.ts for t in w.stop() if t.data == text) == 600


def test_player_before_publisher(srs, source):
    """The player waits, for more than a few seconds, and gets the stream from its start."""
    s = srs()
    players = [s.watch(), s.watch(flow="ffmpeg"), s.watch(flow="librtmp")]
    time.sleep(0.5)
    assert all(p.ended is None for p in players)
    tags = flv.cut(source, 1000)
    s.push(tags, speed=0)
    for p in players:
        assert p.wait(lambda got: len(flv.frames(got, VIDEO)) >= len(flv.frames(tags, VIDEO)), 3)
        assert flv.hashes(p.stop(), VIDEO) == flv.hashes(tags, VIDEO)


def test_player_stays_over_republish(srs, source):
    """The publisher leaves and returns at time 0; the player stays, its time keeps advancing."""
    s = srs()
    w = s.watch()
    tags = flv.cut(source, 2000)
    for turn in range(3):
        p = s.push(tags, speed=0)
        p.join(5)
        want = len(flv.frames(tags, VIDEO)) * (turn + 1)
        assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= want, 4), f"turn {turn}"
        p.client.unpublish()
        p.client.close()
        p.stop()
        time.sleep(0.3)
        assert w.ended is None
    got = w.stop()
    assert flv.hashes(got, VIDEO) == flv.hashes(tags, VIDEO) * 3
    step = flv.check_monotonic(got)
    assert step < 3000, f"a jump of {step} ms"


def test_publish_then_play_on_one_connection(srs, source):
    s = srs()
    other = s.push(source, stream="other", loop=True)
    c = s.publisher("mine")
    for t in flv.cut(source, 500):
        c.send_tag(t)
    c.unpublish()
    c.play("other")
    c.collect(3, count=40)
    assert len(flv.frames(c.tags)) >= 40
    # and back to publishing
    c.call("deleteStream", c.sid)
    w = s.watch("mine2")
    c.publish("mine2", chunk=None)
    for t in flv.cut(source, 500):
        c.send_tag(t)
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= 12, 3)
    assert other.error is None


def test_two_streams_do_not_mix(srs, source):
    s = srs()
    a, b = s.watch("a"), s.watch("b")
    ta, tb = flv.cut(source, 1000), flv.cut(source, 1000, 6000)
    s.push(ta, stream="a", speed=0)
    s.push(tb, stream="b", speed=0)
    a.wait(lambda got: len(flv.frames(got)) >= len(flv.frames(ta)), 3)
    b.wait(lambda got: len(flv.frames(got)) >= len(flv.frames(tb)), 3)
    assert flv.hashes(a.stop(), VIDEO) == flv.hashes(ta, VIDEO)
    assert flv.hashes(b.stop(), VIDEO) == flv.hashes(tb, VIDEO)


@pytest.mark.parametrize("kind", [VIDEO, AUDIO], ids=["video", "audio"])
def test_one_track_alone(srs, source, kind):
    s = srs()
    tags = [t for t in flv.cut(source, 1500) if t.type in (kind, DATA)]
    w = s.watch()
    s.push(tags, speed=0)
    assert w.wait(lambda got: len(flv.frames(got)) >= len(flv.frames(tags)), 3)
    assert flv.hashes(w.stop(), kind) == flv.hashes(tags, kind)
    late = s.player()
    late.collect(2, count=5)
    assert len(flv.frames(late.tags, kind)) >= 5, "a late player does not get it"


def test_decodes_without_complaint(srs, tmp_path, source):
    """A late ffmpeg's recording decodes without any message of the decoder."""
    s = srs()
    s.push(source, loop=True, speed=3)
    time.sleep(0.5)
    out = tmp_path / "rec.flv"
    tools.run(["ffmpeg", "-v", "error", "-y", "-i", s.url(), "-t", "2", "-c", "copy", out])
    assert tools.decode(out) == ""
