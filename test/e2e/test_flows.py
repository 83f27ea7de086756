# SPDX-License-Identifier: MIT
"""The command sequences of encoders and players, each in its own order."""
import struct
import time

import pytest

import amf
import flv
from flv import DATA, VIDEO
from procs import comes_to_rest
from rtmpclient import (CMD, PONG, SET_BUFFER, STREAM_BEGIN, USER, WIN_ACK, PEER_BW, SET_CHUNK_SIZE,
                        Closed, Rejected, decode_command)


@pytest.mark.parametrize("flow", ["fmle", "obs", "ffmpeg", "flash", "flash3", "haivision"])
def test_publish_flow(srs, source, flow):
    s = srs()
    w = s.watch()
    c = s.publisher(flow=flow)
    kind = flow if flow == "haivision" else "flash" if flow.startswith("flash") else "fmle"
    assert s.wait_log(f"client identified, type={kind}-publish,", 20)
    tags = flv.cut(source, 600)
    for t in tags:
        c.send_tag(t)
    assert w.wait(lambda got: len(flv.frames(got)) >= len(flv.frames(tags)), 3)
    assert flv.hashes(w.stop(), VIDEO) == flv.hashes(tags, VIDEO)
    c.unpublish("flash" if flow.startswith("flash") else "fmle")
    # the name is free again at once
    s.publisher(flow=flow)


@pytest.mark.parametrize("flow", ["flash", "ffmpeg", "librtmp"])
@pytest.mark.parametrize("handshake", ["simple", "complex1"])
def test_play_flow(srs, source, flow, handshake):
    s = srs()
    s.push(source, loop=True, ahead=1)
    c = s.client().connect(handshake=handshake).play("s", flow)
    c.collect(3, count=30)
    assert len(flv.frames(c.tags)) >= 30


def test_connect_answer(srs):
    """Window, bandwidth and chunk size are sent, and the _result has the fields that clients check."""
    s = srs()
    c = s.client().connect(objectEncoding=0)
    name, tid, props, info = c.connect_result
    assert (name, tid) == ("_result", 1)
    assert info["code"] == "NetConnection.Connect.Success" and info["level"] == "status"
    assert info["objectEncoding"] == 0
    assert isinstance(props["fmsVer"], str) and "capabilities" in props
    c.create_stream()
    kinds = {m.type for m in c.seen}
    assert {WIN_ACK, PEER_BW} <= kinds
    win = next(m for m in c.seen if m.type == WIN_ACK)
    assert win.csid == 2 and win.sid == 0 and struct.unpack(">I", win.data)[0] == 2500000
    bw = next(m for m in c.seen if m.type == PEER_BW)
    assert len(bw.data) == 5 and bw.data[4] <= 2


def test_object_encoding_is_given_back(srs):
    s = srs()
    for n in (0, 3):
        assert s.client().connect(objectEncoding=n).connect_result[3]["objectEncoding"] == n


def test_fmle_answers(srs):
    """Each call of the sequence gets its response with its transaction id."""
    s = srs()
    c = s.client().connect()
    tids = [c.call("releaseStream", "s"), c.call("FCPublish", "s"), c.call("createStream")]
    got = [c.command(("_result",)) for _ in tids]
    assert [g[1] for g in got] == tids
    c.sid = int(got[-1][3])
    assert c.sid >= 1
    c.call("publish", "s", "live", sid=c.sid, csid=8)
    info = c.status()
    assert info["code"] == "NetStream.Publish.Start"
    on = [decode_command(m) for m in c.seen if m.type == CMD]
    fc = [x for x in on if x[0] == "onFCPublish"]
    assert fc and fc[0][3]["code"] == "NetStream.Publish.Start"
    status = [m for m in c.seen if m.type == CMD and decode_command(m)[0] == "onStatus"]
    assert status[0].sid == c.sid, "onStatus came on the connection instead of the stream"


def test_unpublish_answers(srs, source):
    s = srs()
    c = s.publisher()
    for t in flv.cut(source, 100):
        c.send_tag(t)
    c.unpublish()
    info = c.status("NetStream.Unpublish.Success")
    assert info["level"] == "status"


def test_play_answers(srs, source):
    """StreamBegin, Play.Reset, Play.Start, |RtmpSampleAccess, in this order. No onStatus as data: FFmpeg would treat it as a
    stream in front of the others."""
    s = srs()
    s.push(source, loop=True)
    c = s.player()
    c.collect(2, count=5)
    order = []
    for m in c.seen:
        if m.type == USER and struct.unpack(">H", m.data[:2])[0] == STREAM_BEGIN:
            order.append("begin")
            assert struct.unpack(">I", m.data[2:6])[0] == c.sid
        elif m.type == CMD and decode_command(m)[0] == "onStatus":
            order.append(decode_command(m)[3]["code"].split(".", 1)[1])
            assert m.sid == c.sid
        elif m.type == DATA:
            v = amf.decode(m.data)
            if v[0] == "|RtmpSampleAccess":
                assert v[1:] == [True, True]
                order.append("access")
            else:
                assert v[0] == "onMetaData", v
            assert m.sid == c.sid
        elif m.type in (8, 9):
            order.append("media")
            assert m.sid == c.sid
    assert order[:5] == ["begin", "Play.Reset", "Play.Start", "access", "media"], order


def test_play_without_create_stream(srs, source):
    s = srs()
    s.push(source, loop=True)
    c = s.client()
    c.play("s", create=False)
    c.collect(2, count=20)
    assert len(flv.frames(c.tags)) >= 20


def test_three_create_streams(srs, source):
    s = srs()
    c = s.client().connect()
    for _ in range(3):
        c.create_stream()
    w = s.watch()
    c.call("publish", "s", "live", sid=c.sid, csid=8)
    c.status("NetStream.Publish.Start")
    for t in flv.cut(source, 300):
        c.send_tag(t)
    assert w.wait(lambda got: len(flv.frames(got)) >= 10, 3)


def test_unknown_calls_are_skipped(srs, source):
    s = srs()
    c = s.client().connect()
    c.call("getStreamLength", "s")
    c.call("someVendorsOwn", {"a": [1, 2]}, amf.UNDEFINED)
    c.call("_checkbw")
    c.call("FCSubscribe", "s")
    c.message(3, 99, 0, 0, b"unknown type")
    c.message(3, 16, 0, 0, b"\0shared object")
    w = s.watch()
    c.publish("s")
    for t in flv.cut(source, 300):
        c.send_tag(t)
    c.call("someOther", sid=c.sid)
    for t in flv.cut(source, 600, 300):
        c.send_tag(t)
    assert w.wait(lambda got: len(flv.frames(got)) >= 30, 3)


def test_amf3_command_and_data(srs, source):
    """Type 17 with the marker byte before AMF0, and data messages of type 15."""
    s = srs()
    w = s.watch()
    c = s.publisher(flow="flash3")
    meta = amf.encode("@setDataFrame", "onMetaData", amf.EcmaArray(width=1.0, marker="amf3"))
    c.message(5, 15, 0, c.sid, b"\0" + meta)
    for t in flv.cut(source, 300):
        if t.type != DATA:
            c.send_tag(t)
    assert w.wait(lambda got: any(b"amf3" in t.data for t in got), 3)


def test_ping_is_answered(srs):
    s = srs()
    c = s.client().connect()
    c.user(6, 0x01020304)
    m = c.until(lambda m: m.type == USER and m.data[:2] == struct.pack(">H", PONG))
    assert m.data[2:6] == bytes([1, 2, 3, 4])


def at_rest(c):
    """Waits until no more media arrive."""
    return comes_to_rest(lambda: len(flv.frames(c.collect(0.3))), 0)


def test_pause_and_unpause(srs, source):
    s = srs()
    s.push(source, loop=True, speed=3)
    c = s.player()
    c.collect(2, count=20)
    c.call("pause", True, 1000.0, sid=c.sid, csid=8)
    assert c.status()["code"] == "NetStream.Pause.Notify"
    assert at_rest(c), "it was not paused"
    before = len(flv.frames(c.tags))
    c.call("pause", False, 2000.0, sid=c.sid, csid=8)
    assert c.status()["code"] == "NetStream.Unpause.Notify"
    c.collect(2, count=before + 40)
    assert len(flv.frames(c.tags)) >= before + 20, "it did not continue"
    flv.check_monotonic(c.tags)


def test_close_stream_ends_play(srs, source):
    s = srs()
    s.push(source, loop=True, speed=3)
    c = s.player()
    c.collect(2, count=10)
    c.call("closeStream", sid=c.sid)
    assert at_rest(c)


def test_an_edge_is_told_by_its_own_id(srs):
    """The object of SRS's edge and proxy after that of connect is logged in one line; other clients have none."""
    s = srs()
    c = s.client()
    c.handshake("simple")
    c.result(c.call("connect", {"srs_sig": "SRS", "srs_version": "7.0.30", "srs_pid": 4711, "srs_id": "a1b2c3d4", "srs_server_ip": "10.0.0.7"},
                    obj={"app": "live", "tcUrl": f"rtmp://127.0.0.1:{s.port}/live"}))
    assert s.wait_log(r"edge-srs ip=10\.0\.0\.7, version=7\.0\.30, pid=4711, id=a1b2c3d4$")
    at = s.mark()
    s.client().connect()
    assert s.wait_log("connect app", start=at) and "edge-srs" not in s.log()[at:]


def test_connect_must_be_first(srs):
    """Without connect: an error for this peer, not a hang."""
    s = srs()
    c = s.client().handshake()
    c.call("createStream")
    assert c.closed(6)
    assert s.wait_log(r"\[(WARN|INFO|ERROR)\].*connect", 2)
    s.client().connect()


def test_result_without_a_request_ends_only_this_one(srs, source):
    s = srs()
    ok = s.push(source, loop=True)
    c = s.client().connect()
    c.call("_result", 5.0, tid=77)
    c.collect(0.5)
    assert ok.error is None
    s.player().collect(2, count=10)


def test_publish_an_empty_name(srs):
    """It means the last part of the app; if that is missing as well, it is rejected."""
    s = srs()
    s.publisher("")
    s.wait_log(r"stream=live", 2)
    with pytest.raises((Rejected, Closed)):
        s.client().publish("", app="", tcurl=f"rtmp://127.0.0.1:{s.port}/")


def test_buffer_length_is_heard(srs, source):
    """A player may set its buffer at any time; nothing breaks."""
    s = srs()
    s.push(source, loop=True)
    c = s.player()
    for ms in (0, 100, 30000, 0xffffffff):
        c.user(SET_BUFFER, c.sid, ms)
    c.collect(2, count=20)
    assert len(flv.frames(c.tags)) >= 20


def test_no_chunk_size_from_client_and_no_acks(srs, source):
    """Clients that never send SetChunkSize or an acknowledgement are served all the same."""
    s = srs()
    s.push(source, loop=True, chunk=None, ahead=1.5)
    c = s.player(client={"acks": False})
    c.collect(3, count=100)
    assert len(flv.frames(c.tags)) >= 80


def test_nothing_before_the_reply(srs):
    """Between connect and its _result only protocol control is sent, because other messages break some clients."""
    s = srs()
    c = s.client().connect()
    before = [m for m in c.seen]
    assert before[-1].type == CMD
    assert all(m.type in (WIN_ACK, PEER_BW, SET_CHUNK_SIZE, USER) for m in before[:-1]), before


def test_receive_video_off_and_on(srs, source):
    s = srs()
    s.push(source, loop=True, speed=2)
    c = s.player()
    c.collect(2, count=30)
    c.call("receiveVideo", False, sid=c.sid, csid=8, tid=0)
    assert comes_to_rest(lambda: len(flv.frames(c.collect(0.3), VIDEO)), 0)
    n = len(c.tags)
    c.collect(1, count=len(flv.frames(c.tags)) + 20)
    assert {t.type for t in c.tags[n:] if t.frame} == {flv.AUDIO}, "not only audio"
    c.call("receiveVideo", True, sid=c.sid, csid=8, tid=0)
    n = len(c.tags)
    c.collect(3, want=lambda c: len(flv.frames(c.tags[n:], VIDEO)) > 20)
    assert flv.frames(c.tags[n:], VIDEO)[0].key, "video does not continue at a key frame"


def test_seek_is_answered(srs, source):
    s = srs()
    s.push(source, loop=True)
    c = s.player()
    c.call("seek", 5000.0, sid=c.sid, csid=8)
    assert c.status("NetStream.Seek.Notify")


def test_publish_said_twice(srs, source):
    s = srs()
    c = s.publisher()
    c.call("publish", "s", "live", sid=c.sid, csid=8)
    assert c.status("NetStream.Publish.Start")
    w = s.watch()
    for t in flv.cut(source, 300):
        c.send_tag(t)
    assert w.wait(lambda got: len(flv.frames(got)) >= 10, 3)


def test_play_a_second_stream_on_one_connection(srs, source):
    s = srs()
    s.push(source, "a", loop=True, speed=3)
    s.push(source, "b", loop=True, speed=3)
    c = s.player("a")
    c.collect(2, count=20)
    c.call("deleteStream", c.sid)
    assert at_rest(c)
    n = len(c.tags)
    c.play("b")
    c.collect(2, want=lambda c: len(flv.frames(c.tags[n:])) >= 20)
    assert len(flv.frames(c.tags[n:])) >= 20
