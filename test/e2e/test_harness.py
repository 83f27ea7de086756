# SPDX-License-Identifier: MIT
"""The test tools against a third-party server and player, so that a failure on our server is not the fault of the tools."""
import signal

import pytest

import flv
import flvgen
import tools
from procs import wait_for
from rtmpclient import ChunkReader, ChunkWriter, Client, Pusher, Watcher


def test_chunks_round_trip():
    w, data = ChunkWriter(), []
    cases = [(3, 20, 0, 0, b"a" * 300), (2, 4, 5, 0, b""), (63, 9, 10, 1, b"b" * 128),
             (64, 9, 20, 1, b"c" * 129), (319, 9, 0xfffffe, 1, b"d"), (320, 9, 0xffffff, 1, b"e" * 500),
             (65599, 8, 0x1000000, 1, b"f" * 200), (65599, 8, 0x1000010, 1, b"g" * 200),
             (65599, 8, 0x1000020, 1, b"h" * 200), (3, 20, 0x2000000, 0, b"i" * 300)]
    for csid, kind, ts, sid, body in cases:
        if body:
            data.append(w.message(csid, kind, ts, sid, body))
    raw, pos = b"".join(data), 0

    def read(n):
        nonlocal pos
        pos += n
        return raw[pos - n:pos]
    r = ChunkReader(read, lambda: None)
    for csid, kind, ts, sid, body in cases:
        if body:
            m = r.message()
            assert (m.csid, m.type, m.ts, m.sid, m.data) == (csid, kind, ts, sid, body)
    assert pos == len(raw)


@pytest.mark.needs("nginx-rtmp", "ffmpeg")
@pytest.mark.parametrize("flow", ["fmle", pytest.param("flash", marks=pytest.mark.long)])
def test_client_publishes_to_nginx(nginx, source, tmp_path, flow):
    n = nginx()
    player = tools.ffmpeg_frames(n.url(), tmp_path / "play.log", tmp_path / "got.md5",
                                 options=["-analyzeduration", "500000"])
    c = Client(n.port).publish("s", flow)
    p = Pusher(c, source, speed=2, loop=True)
    p.start()
    want = {x[4] for x in tools.source_frames()}

    def got():
        return tools.frame_list(tmp_path / "got.md5", "video")
    assert wait_for(lambda: len(got()) > 30), player.text()
    assert p.error is None
    p.stop()
    c.close()
    player.end(signal.SIGKILL)
    assert all(x[4] in want for x in got()[1:])


@pytest.mark.needs("nginx-rtmp", "ffmpeg")
@pytest.mark.parametrize("flow,handshake", [("flash", "complex0"),
                                            ("librtmp", "complex1")])
def test_client_plays_from_nginx(nginx, source, tmp_path, flow, handshake):
    n = nginx()
    c = Client(n.port).connect(handshake=handshake).play("s", flow, wait=False)
    w = Watcher(c)
    w.start()
    push = tools.ffmpeg_publish(n.url(), tmp_path / "push.log", rate=4, seconds=4)
    assert push.wait(10) == 0
    assert w.wait(lambda got: len(flv.frames(got, flv.VIDEO)) > 50)
    got = flv.hashes(w.stop(), flv.VIDEO)
    want = flv.hashes(source, flv.VIDEO)
    assert all(h in want for h in got[1:])
    assert flv.check_monotonic(c.tags) < 200


@pytest.mark.needs("ffmpeg")
def test_generated_media_decodes(media, tmp_path):
    for codec, name, raw in (("hevc", "x.hevc", flvgen.to_raw_hevc), ("av1", "x.obu", flvgen.to_raw_av1)):
        path = tmp_path / name
        path.write_bytes(raw(media.tags(codec)))
        assert tools.decode(path) == ""
