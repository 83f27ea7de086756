# SPDX-License-Identifier: MIT
"""Messages of an RTMFP client on its flows: connect, streams, publish, play, also in an unexpected order."""
import pytest

pytest.importorskip("cryptography")

import amf                      # noqa: E402
import flv                      # noqa: E402
import rtmfp_client as rc       # noqa: E402
from flv import AUDIO, VIDEO    # noqa: E402
from rtmfp_flow import tc       # noqa: E402
from rtmfp_serve import clients, frames, is_run_of, published, rtmfp_server  # noqa: E402
from rtmpclient import AMF3_CMD, CMD, STREAM_BEGIN, Closed, Rejected  # noqa: E402

PUBLISHED, PLAYED = "NetStream.Publish.Start", "NetStream.Play.Start"


def seen(c, stream, count):
    """Waits for this many more frames of both kinds: audio goes first."""
    at = len(stream.tags)
    c.wait(lambda: len(flv.frames(stream.tags[at:])) >= count and flv.frames(stream.tags[at:], VIDEO))


def send(c, stream, tags):
    rc.pump(c, stream, tags, speed=None)


def test_connect(srs):
    """The client's identity, and its keepalive interval; the object encoding is the client's. A second connect ends the session."""
    s = rtmfp_server(srs, server="keepalive 7; keepalive_peer 9;")
    for encoding in (0, 3):
        with rc.Client(s.rtmfp_port).connect(objectEncoding=encoding) as c:
            _, _, properties, info = c.connect_result
            assert properties["fmsVer"] and info["level"] == "status"
            assert info["code"] == "NetConnection.Connect.Success" and info["objectEncoding"] == encoding
            assert info["data"]["srs_id"] and info["data"]["srs_server"]
            c.wait(lambda: c.keepalive)
            assert c.keepalive == (7000, 9000)
            c.call("connect", obj={"app": "live", "tcUrl": c.uri})
            with pytest.raises(Closed):
                c.wait(lambda: False)


@pytest.mark.parametrize("app, fields, why", [
    ("live", {"tcUrl": None}, "RTMP_CONNECT"), ("live", {"tcUrl": "nonsense"}, "connect"),
    ("live?vhost=closed.test", {}, "rtmfp"), ("live?vhost=shut.test", {}, "VHOST")])
def test_connect_is_refused(srs, app, fields, why):
    """It gets an error, then its session ends."""
    s = rtmfp_server(srs, vhost="vhost __defaultVhost__ { rtmfp { enabled on; } } vhost closed.test { } "
                                "vhost shut.test { enabled off; rtmfp { enabled on; } }")
    with rc.Client(s.rtmfp_port).open(app) as c:
        with pytest.raises(Rejected) as e:
            c.connect(app, **fields)
        assert e.value.code == "NetConnection.Connect.Rejected"
        with pytest.raises(Closed):
            c.wait(lambda: False)
        assert s.wait_log(f"is refused: .*(?i:{why})", 2), s.log()[-2000:]


def test_commands_of_amf3(srs, source):
    """Type 17, a byte before the values, and strings after AMF0's marker 11."""
    s = rtmfp_server(srs)
    tags = flv.cut(source, 300)
    with rc.Client(s.rtmfp_port).open() as c:
        tid = c.call("connect", obj={"app": "live", "tcUrl": c.uri, "objectEncoding": 3.0}, kind=AMF3_CMD)
        assert c.result(tid)[3]["code"] == "NetConnection.Connect.Success"
        sid = int(c.result(c.call("createStream", kind=AMF3_CMD))[3])
        stream = c.streams[sid] = rc.Stream(c, sid)
        body = amf.encode("publish", 0, None, rc.amf3_string("s"), rc.amf3_string("live"))
        stream.flow(CMD).send(rc.message_bytes(AMF3_CMD, 0, b"\0" + body))
        stream.status(PUBLISHED)
        viewer = s.watch()
        send(c, stream, tags)
        assert viewer.wait(lambda got: len(flv.frames(got)) >= len(flv.frames(tags)))
        assert frames(viewer.stop()) == frames(tags)


def test_before_connect(srs):
    """Nothing is answered, and there is no stream to open flows for."""
    s = rtmfp_server(srs)
    with rc.Client(s.rtmfp_port).open() as c:
        c.call("createStream")
        flow = c.session.flow(tc(1))
        flow.send(rc.message_bytes(CMD, 0, amf.encode("publish", 0, None, "s", "live")))
        c.wait(lambda: flow.rejected == 0)
        assert not c.results and c.session.is_open
        assert c.connect().create_stream().sid == 1
        other = c.session.flow(tc(2), c.far_control())
        other.send(b"of a stream that was not created")
        c.wait(lambda: other.rejected == 0)


def test_unknown_commands_are_answered(srs):
    """Unknown commands, too, because clients would wait forever."""
    s = rtmfp_server(srs)
    with clients(s) as [c]:
        for name, args in (("releaseStream", ["s"]), ("FCPublish", ["s"]), ("getStreamLength", ["s"]), ("nobodyKnowsIt", [])):
            assert c.result(c.call(name, *args))[0] == "_result"
        c.set_peer_info("10.0.0.1:1935", "[fe80::1]:1935")
        assert c.create_stream().sid != c.create_stream().sid


def test_play_before_publish(srs, source):
    """It waits, plays, stays when the publisher leaves, and plays the next one; its time never decreases."""
    s = rtmfp_server(srs)
    with clients(s, 2) as [a, b]:
        stream = a.play("s")
        assert STREAM_BEGIN in stream.events and not flv.frames(stream.tags)
        for _ in range(2):
            sender = b.publish("s")
            for t in flv.cut(source, 300):
                sender.send_tag(t)
            count = len(flv.frames(stream.tags)) + len(flv.frames(flv.cut(source, 300)))
            assert rc.run([a, b], lambda: len(flv.frames(stream.tags)) >= count)
            sender.command("closeStream")
            assert rc.run([a, b], lambda: any(i["code"] == "NetStream.Unpublish.Success" for i in sender.statuses))
        assert a.session.is_open
        for kind in (AUDIO, VIDEO):
            flv.check_monotonic([t for t in stream.tags if t.type == kind])


def test_streams_of_a_session(srs, source):
    """It publishes two and plays three, its own included; deleting one does not affect the others."""
    s = rtmfp_server(srs)
    s.push(source, "r", loop=True)
    tags = flv.cut(source, 400)
    with clients(s) as [c]:
        out = {name: c.publish(name) for name in ("a", "b")}
        back = {name: c.play(name) for name in ("a", "b", "r")}
        assert len({x.sid for x in (*out.values(), *back.values())}) == 5
        send(c, out["a"], tags)
        send(c, out["b"], tags)
        for name in ("a", "b"):
            c.wait(lambda n=name: len(flv.frames(back[n].tags)) >= len(flv.frames(tags)))
            assert frames(back[name].in_order()) == frames(tags)
        c.delete(back["a"])
        seen(c, back["r"], 20)
        send(c, out["a"], tags)
        send(c, out["b"], tags)
        c.wait(lambda: len(flv.frames(back["b"].tags)) >= 2 * len(flv.frames(tags)))
        assert len(flv.frames(back["a"].tags)) == len(flv.frames(tags))
        assert is_run_of(back["r"].in_order(), source)


def test_second_play(srs, source):
    """On a playing stream it has no effect; after closeStream it plays the new name."""
    s = rtmfp_server(srs)
    s.push(source, "a", loop=True)
    s.push(source, "b", loop=True)
    with clients(s) as [c]:
        stream = c.play("a")
        seen(c, stream, 10)
        stream.command("play", "a", -2)
        seen(c, stream, 20)
        stream.command("closeStream")
        c.wait(lambda: all(f.is_done for f in c.session.far_flows.values() if f.metadata == tc(stream.sid)))
        assert stream.statuses[-1]["code"] == "NetStream.Play.Stop"
        stream.statuses.clear()
        count = len(stream.tags)
        stream.command("play", "b", -2)
        stream.status(PLAYED)
        seen(c, stream, 20)
        assert is_run_of(sorted(stream.tags[count:], key=lambda t: (t.ts, t.frame)), source)


@pytest.mark.parametrize("how", ["deleteStream", *(pytest.param(x, marks=pytest.mark.long) for x in ("closeStream", "FCUnpublish"))])
def test_publish_again(srs, source, how):
    """Each way to end it frees the name at once: for the same stream, and for another client."""
    s = rtmfp_server(srs, vhost="publish { takeover off; }")
    tags = flv.cut(source, 200)
    with clients(s, 2) as [a, b]:
        stream = a.publish("s")
        send(a, stream, tags)
        if how == "deleteStream":
            a.delete(stream)
        else:
            stream.command(how, *(["s"] if how == "FCUnpublish" else []))
        a.wait(lambda: any(i.get("code") == "NetStream.Unpublish.Success" for i in stream.statuses))
        again = b.publish("s")
        again.command("closeStream")
        b.wait(lambda: again.statuses)
        last = a.publish("s") if how == "deleteStream" else stream
        if last is stream:
            stream.statuses.clear()
            stream.command("publish", "s", "live")
            stream.status(PUBLISHED)
        viewer = s.watch()
        send(a, last, tags)
        assert viewer.wait(lambda got: len(flv.frames(got)) >= len(flv.frames(tags)))


@pytest.mark.long
def test_pause_and_one_kind_alone(srs, source):
    """Nothing while paused; then from a key frame; without audio, or without video, as requested."""
    s = rtmfp_server(srs)
    with published(s, source), clients(s) as [c]:
        stream = c.play("s")
        seen(c, stream, 20)
        stream.command("pause", True, 0)
        stream.status("NetStream.Pause.Notify")
        rc.run_for([c], 0.2)
        count = len(stream.tags)
        rc.run_for([c], 0.2)
        assert len(stream.tags) == count
        stream.command("pause", False, 0)
        stream.status("NetStream.Unpause.Notify")
        c.wait(lambda: flv.frames(stream.tags[count:], VIDEO))
        assert flv.frames(stream.tags[count:], VIDEO)[0].key
        for name, kind, other in (("receiveAudio", AUDIO, VIDEO), ("receiveVideo", VIDEO, AUDIO)):
            stream.command(name, False)
            rc.run_for([c], 0.2)
            count = len(stream.tags)
            c.wait(lambda: len(flv.frames(stream.tags[count:], other)) >= 8)
            assert not flv.frames(stream.tags[count:], kind)
            stream.command(name, True)
            c.wait(lambda: flv.frames(stream.tags[count:], kind))


@pytest.mark.parametrize("does", ["publish", "play"])
def test_who_may_not(srs, does):
    """A rejection by security rules is sent on the stream; the session continues."""
    s = rtmfp_server(srs, vhost=f"security {{ enabled on; deny {does} all; }}")
    with clients(s) as [c]:
        with pytest.raises(Rejected) as e:
            getattr(c, does)("s")
        assert ("Publish" if does == "publish" else "Play") in e.value.code
        assert c.result(c.call("createStream"))


def test_a_flow_that_it_does_not_want(srs, source):
    """A player that rejects its video flow stops playing; the session is fine."""
    s = rtmfp_server(srs)
    with published(s, source), clients(s) as [c]:
        accept = c.session.accept
        c.session.accept = lambda metadata, answers: False if metadata == tc(1) and c.streams[1].events else accept(metadata, answers)
        stream = c.create_stream()
        stream.command("play", "s", -2)
        c.wait(lambda: any(f.rejected is not None for f in c.session.far_flows.values()))
        c.wait(lambda: "rejects a flow of it" in s.log())
        assert c.result(c.call("createStream"))


def test_many_streams_at_one_time(srs):
    """A session that opens streams without end is closed."""
    s = rtmfp_server(srs)
    with clients(s) as [c]:
        with pytest.raises(Closed):
            for i in range(100):
                c.play(f"s{i}")
        assert s.wait_log("too many", 2)


def test_all_on_one_flow(srs, source):
    """Commands, metadata, audio and video, as some older clients send them."""
    s = rtmfp_server(srs)
    tags = flv.cut(source, 300)
    with clients(s) as [c]:
        stream = c.create_stream()
        only = stream.flow(CMD)
        stream.flow = lambda kind: only
        stream.command("publish", "s", "live")
        stream.status(PUBLISHED)
        viewer = s.watch()
        send(c, stream, tags)
        assert viewer.wait(lambda got: len(flv.frames(got)) >= len(flv.frames(tags)))
        assert frames(viewer.stop()) == frames(tags)


def test_large_messages(srs, source):
    """Frames of 200 KB are fragmented and reassembled, in both directions."""
    s = rtmfp_server(srs)
    tags = flv.cut(source, 100)
    tags = [t._replace(data=t.data + bytes(200000)) if t.type == VIDEO and t.frame else t for t in tags]
    with clients(s, 2) as [a, b]:
        sender, viewer, other = a.publish("s"), b.play("s"), s.watch()
        rc.pump(a, sender, tags, others=[b], speed=None)
        assert rc.run([a, b], lambda: len(flv.frames(viewer.tags)) >= len(flv.frames(tags)))
        assert frames(viewer.in_order()) == frames(tags)
        assert other.wait(lambda got: len(flv.frames(got)) >= len(flv.frames(tags)))
        assert frames(other.stop()) == frames(tags)
