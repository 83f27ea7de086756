# SPDX-License-Identifier: MIT
"""The RTMFP server against an independently written client: publish, play, peers, groups, redirect, moves."""
import json
import os

import pytest

pytest.importorskip("cryptography")

import flv                      # noqa: E402
import httpapi                  # noqa: E402
import rtmfp                    # noqa: E402
import rtmfp_client as rc       # noqa: E402
import rtmfp_wire as w          # noqa: E402
import tools                    # noqa: E402
import udprelay                 # noqa: E402
from flv import AUDIO, VIDEO    # noqa: E402
from procs import free_port     # noqa: E402
from rtmfp_serve import Driver, clients, frames, is_run_of, rtmfp_server  # noqa: E402
from rtmpclient import Closed, Rejected  # noqa: E402

SECURED = {"mac": w.Wish(7, 10), "numbers": w.Wish(7, 0)}


def test_publish_to_rtmp(srs, source):
    """Each frame arrives byte for byte; the stream's name is in the format of older clients."""
    s = rtmfp_server(srs)
    tags = flv.cut(source, 800)
    with clients(s) as [c]:
        stream = c.publish("s", amf3=True)
        viewer = s.watch()
        rc.pump(c, stream, tags, speed=None)
        count = len(flv.frames(tags))
        assert viewer.wait(lambda got: len(flv.frames(got)) >= count, 5)
        assert frames(viewer.stop()) == frames(tags)
        assert c.keepalive and min(c.keepalive) >= 5000


def test_rtmp_to_play(srs, source, tmp_path):
    """The client's output is a file that ffprobe accepts."""
    s = rtmfp_server(srs)
    s.push(source, loop=True)
    with clients(s) as [c]:
        stream = c.play("s")
        c.wait(lambda: len(flv.frames(stream.tags)) >= 40)
        got = stream.in_order()
    assert is_run_of(got, source)
    stream.write(tmp_path / "got.flv")
    found = json.loads(tools.run(["ffprobe", "-v", "error", "-of", "json", "-show_streams", "-count_frames",
                                  tmp_path / "got.flv"]).stdout)
    assert {t["codec_type"] for t in found["streams"]} == {"audio", "video"}


@pytest.mark.long
@pytest.mark.parametrize("how", [{}, SECURED, {"static": True}, {"group": 14}, {"group": 5, **SECURED}])
def test_rtmfp_to_rtmfp(srs, source, how):
    """With each kind of keys, HMAC and numbers on and off."""
    s = rtmfp_server(srs)
    tags = flv.cut(source, 2000)
    with rc.Client(s.rtmfp_port, identity=rtmfp.Identity(**how)).connect() as a, \
            rc.Client(s.rtmfp_port, identity=rtmfp.Identity(**how)).connect() as b:
        assert bool(a.session.tx.mac_size) == bool(how.get("mac")) == bool(a.session.rx.mac_size)
        assert a.session.tx.numbered == bool(how.get("numbers")) == a.session.rx.numbered
        sender = a.publish("s")
        viewer = b.play("s")
        rc.pump(a, sender, tags, others=[b])
        assert rc.run([a, b], lambda: len(flv.frames(viewer.tags)) >= len(flv.frames(tags)))
        assert frames(viewer.in_order()) == frames(tags)


@pytest.mark.long
def test_bad_way(srs, source):
    """Lost, repeated and late datagrams: audio is complete, and times never decrease."""
    s = rtmfp_server(srs)
    relay = udprelay.Relay(s.rtmfp_port, loss=0.05, twice=0.02, late=0.05, one_way=0.02, seed=5)
    tags = flv.cut(source, 4000)
    try:
        with rc.Client(relay.port).connect() as c:
            stream = c.publish("s")
            viewer = s.watch()
            rc.pump(c, stream, tags)
            assert viewer.wait(lambda got: len(flv.frames(got, AUDIO)) >= len(flv.frames(tags, AUDIO)), 10)
            got = viewer.stop()
            assert flv.hashes(got, AUDIO) == flv.hashes(tags, AUDIO)
            assert flv.hashes(got, VIDEO) == flv.hashes(tags, VIDEO), "this publisher must not abandon anything"
            flv.check_monotonic(got)
            assert relay.lost
    finally:
        relay.stop()


@pytest.mark.parametrize("how", [pytest.param({}, marks=pytest.mark.long), SECURED])
def test_a_publisher_moves(srs, source, how):
    """Another port, as after a NAT forgets: the same session continues, and nothing is lost."""
    s = rtmfp_server(srs)
    tags = flv.cut(source, 1000)
    with rc.Client(s.rtmfp_port, identity=rtmfp.Identity(static=True, **how)).connect() as c:
        stream = c.publish("s")
        viewer = s.watch()
        rc.pump(c, stream, tags[:len(tags) // 2], speed=None)
        c.endpoint.rebind()
        rc.pump(c, stream, tags[len(tags) // 2:], speed=None)
        assert viewer.wait(lambda got: len(flv.frames(got)) >= len(flv.frames(tags)), 5)
        assert frames(viewer.stop()) == frames(tags)
        assert c.session.is_open and len(c.endpoint.sessions) == 1


@pytest.mark.long
def test_a_player_moves(srs, source):
    """No other address gets its media: only an answered ping moves it."""
    s = rtmfp_server(srs)
    s.push(source, loop=True)
    with clients(s) as [c]:
        stream = c.play("s")
        c.wait(lambda: len(flv.frames(stream.tags)) > 5)
        c.endpoint.rebind()
        c.session.ping()
        count = len(stream.tags)
        c.wait(lambda: len(stream.tags) > count + 40)
        assert is_run_of(stream.in_order(), source)


def test_pings_and_end(srs):
    """A ping is returned unchanged; a session that closes is gone at once."""
    s = rtmfp_server(srs)
    with clients(s) as [c]:
        for data in (b"", b"12345678", os.urandom(1000)):
            c.session.pongs.clear()
            c.session.ping(data)
            c.wait(lambda: c.session.pongs)
            assert c.session.pongs == [data]
        flow = c.session.flow(b"??")
        flow.send(b"of no kind that it knows")
        c.wait(lambda: flow.rejected is not None)
        assert flow.rejected == 0 and c.session.is_open


def test_kicked(srs, source):
    """By the API, a publisher and a player; each is listed with its type."""
    api_port = free_port()
    s = rtmfp_server(srs, glob=httpapi.conf(api_port))
    api = httpapi.Api(api_port)
    with clients(s, 2) as [a, b]:
        sender = a.publish("s")
        for t in flv.cut(source, 400):
            sender.send_tag(t)
        assert rc.run([a, b], sender.sent)
        b.play("s")
        kinds = {}

        def listed():
            kinds.update({c["type"]: c["id"] for c in api.clients()})
            return {"rtmfp-publish", "rtmfp-play"} <= set(kinds)
        assert rc.run([a, b], listed), kinds
        for kind, c in (("rtmfp-play", b), ("rtmfp-publish", a)):
            api.kick(kinds[kind])
            with pytest.raises(Closed):
                c.wait(lambda: False, 5)


def test_takeover_on(srs, source):
    """Each new publisher gets the stream at once: from RTMP to RTMFP, to another one, and back to RTMP."""
    s = rtmfp_server(srs, vhost="publish { takeover on; }")
    tags = flv.cut(source, 200)
    viewer = s.watch()
    pushed = s.push(source, loop=True)
    with clients(s, 2) as both:
        streams = []
        for c in both:
            streams.append(c.publish("s"))
            rc.pump(c, streams[-1], tags, speed=None)
        assert pushed.client.closed(3)
        assert rc.run(both, lambda: streams[0].statuses), "the first one is not notified"
        last = s.push(source, loop=True)
        assert rc.run(both, lambda: streams[1].statuses)
        count = len(viewer.tags)
        assert viewer.wait(lambda got: len(got) > count + 20) and last.error is None and viewer.ended is None
        assert all(c.session.is_open for c in both)


@pytest.mark.long
def test_takeover(srs, source):
    """Between an RTMP and an RTMFP publisher: a live stream is kept, a silent one is taken over, in both directions."""
    s = rtmfp_server(srs)
    pushed = s.push(source, loop=True)
    viewer = s.watch()
    assert viewer.wait(lambda got: len(flv.frames(got)) > 10, 5)
    with clients(s, 2) as [c, other]:
        with pytest.raises(Rejected) as e:
            c.publish("s")
        assert "BadName" in e.value.code and pushed.error is None
        pushed.stop()
        stream = c.publish("s")
        assert pushed.client.closed(3)
        with Driver(c, stream, source) as d:
            assert d.wait(lambda: d.at > 20)
            for publish in (s.publisher, other.publish):
                with pytest.raises(Rejected) as e:
                    publish("s")
                assert "BadName" in e.value.code and d.error is None
        s.publisher("s").close()
        c.wait(lambda: stream.statuses)
        assert viewer.ended is None


@pytest.mark.parametrize("server, identity, opens", [
    ("hmac require; sequence require;", {}, False), ("hmac require; sequence require;", SECURED, True),
    ("hmac off; sequence off;", {"mac": w.Wish(3, 10), "numbers": w.Wish(3, 0)}, True),
    ("groups 2;", {"group": 14}, False)])
def test_what_keys_it_takes(srs, server, identity, opens):
    """It does not answer clients that lack what it requires, or have no common group."""
    s = rtmfp_server(srs, server=server)
    with rc.Client(s.rtmfp_port, identity=rtmfp.Identity(**identity)) as c:
        if not opens:
            c.begin()
            assert not rtmfp.run([c.endpoint], lambda: c.session, 0.3)
            assert c.opening.cookie is not None, "no cookie came"
            return
        c.connect()
        wanted = "require" in server
        assert bool(c.session.rx.mac_size) == bool(c.session.tx.mac_size) == c.session.rx.numbered == wanted
