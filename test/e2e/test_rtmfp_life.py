# SPDX-License-Identifier: MIT
"""An RTMFP session from handshake to end, with faults of the network and of the other side."""
import contextlib
import os

import pytest

pytest.importorskip("cryptography")

import flv                      # noqa: E402
import rtmfp                    # noqa: E402
import rtmfp_client as rc       # noqa: E402
import udprelay                 # noqa: E402
from httpapi import Backend     # noqa: E402
from rtmfp_serve import clients, frames, is_run_of, published, rtmfp_server  # noqa: E402
from rtmpclient import Closed   # noqa: E402
from test_rtmfp import SECURED  # noqa: E402

FINISHED = "RTMFP client finished"


def ends(s, why, count=1):
    return s.wait_log(f"{FINISHED}: .*{why}", 5, count=count)


# ---- how it opens

def test_cookie_of_another_address(srs):
    """A client whose address changed meanwhile gets a cookie for the new one, and opens with it."""
    s = rtmfp_server(srs)
    with rc.Client(s.rtmfp_port).begin() as c:
        c.opening.say = lambda: None  # later packets go from another port
        c.wait(lambda: c.opening.cookie)
        first = c.opening.cookie
        c.endpoint.rebind()
        del c.opening.say
        c.opening.say()
        c.wait(lambda: c.session)
        assert len(first) == len(c.opening.cookie) == 64 and c.opening.cookie != first
        c.connect()


def test_cookies_that_it_did_not_make(srs):
    """It does not answer: a changed first half, a changed last half, a cookie of another server, none, and too long ones."""
    s, other = rtmfp_server(srs), rtmfp_server(srs)
    with rc.Client(s.rtmfp_port).begin() as c, rc.Client(other.rtmfp_port).begin() as d:
        c.opening.say = d.opening.say = lambda: None
        assert rc.run([c, d], lambda: c.opening.cookie and d.opening.cookie)
        good = c.opening.cookie
        del c.opening.say
        for bad in (bytes([good[0] ^ 1]) + good[1:], good[:31] + bytes([good[31] ^ 1]) + good[32:], d.opening.cookie, b"",
                    good[:63], good * 2, os.urandom(64)):
            c.opening.cookie = bad
            c.opening.say()
        assert not rtmfp.run([c.endpoint], lambda: c.session or c.opening.cookie is not bad, 0.3)
        c.opening.cookie = good[:-1] + bytes([good[-1] ^ 1])  # a cookie for another address
        c.opening.say()
        c.wait(lambda: c.session)
        assert c.opening.cookie[-32:] != good[-32:] and len(c.opening.cookie) == 64


def test_its_answer_is_lost(srs):
    """A repeated keying gets the identical answer, and one session; no answer once the session has been used."""
    s = rtmfp_server(srs)
    with rc.Client(s.rtmfp_port).begin() as c:
        heard, really = [], rtmfp.Opening.on_rikeying
        c.opening.on_rikeying = lambda r, source: heard.append(r.rest())
        for n in range(3):
            c.wait(lambda: len(heard) > n)
            c.opening.say()
        assert len(set(heard)) == 1
        del c.opening.on_rikeying
        c.opening.say()
        c.wait(lambda: c.session)
        c.connect()
        assert really is rtmfp.Opening.on_rikeying
        c.endpoint.openings[c.session.near_id] = c.opening
        c.opening.on_rikeying = lambda r, source: heard.append(r.rest())
        del heard[:]
        c.opening.say()
        c.session.ping(b"12345678")
        c.wait(lambda: c.session.pongs)
        assert not heard
        del c.endpoint.openings[c.session.near_id]


def test_the_same_address_again(srs):
    """A restarted client replaces its session; one with another certificate has to wait."""
    s = rtmfp_server(srs)
    with clients(s) as [a], contextlib.ExitStack() as stack:
        def another(identity):
            c = stack.enter_context(rc.Client(s.rtmfp_port, identity=identity))
            c.endpoint.sock.close()
            c.endpoint.sock = a.endpoint.sock
            return c.begin()
        stranger = another(rtmfp.Identity(static=True))
        assert not rtmfp.run([stranger.endpoint], lambda: stranger.session, 0.3) and stranger.opening.cookie
        again = another(a.endpoint.identity)
        again.wait(lambda: again.session)
        again.connect()
        assert ends(s, ""), "the old session is not over"


def test_keys_used_again_are_others(srs):
    """The same keying from two ports: keys and sessions differ."""
    s = rtmfp_server(srs)
    with rc.Client(s.rtmfp_port).begin() as a, rc.Client(s.rtmfp_port, identity=a.endpoint.identity).begin() as b:
        a.wait(lambda: a.session)
        fixed = a.opening.skic, a.opening.pair
        b.endpoint.identity.asks = lambda: fixed
        b.wait(lambda: b.session)
        assert a.opening.skic == b.opening.skic
        assert not set(a.session.keys) - {a.session.keys.nonce_i} & set(b.session.keys) and a.session.far_id != b.session.far_id


@pytest.mark.parametrize("how", [{"static": True}, {"group": 5}, {"static": True, "group": 14}])
def test_opens_with(srs, how):
    """Each group, with the key in the certificate or separate."""
    s = rtmfp_server(srs)
    with rc.Client(s.rtmfp_port, identity=rtmfp.Identity(**how)) as c:
        c.connect()


@pytest.mark.skipif(not os.path.exists("/proc/net/if_inet6"), reason="no IPv6")
def test_ipv6(srs, source):
    """An endpoint of each family; streams are the same."""
    s = rtmfp_server(srs, listen="[::1]:{port}")
    tags = flv.cut(source, 300)
    with rc.Client(s.rtmfp_port, host="::1", bind="::1").connect() as a, clients(s) as [b]:
        sender, viewer = a.publish("s"), b.play("s")
        rc.pump(a, sender, tags, others=[b], speed=None)
        assert rc.run([a, b], lambda: len(flv.frames(viewer.tags)) >= len(flv.frames(tags)))
        assert frames(viewer.in_order()) == frames(tags)


@pytest.mark.long
def test_opens_over_a_bad_way(srs):
    """One packet in ten is lost in each direction, and some come twice: all open, once each."""
    s = rtmfp_server(srs)
    relay = udprelay.Relay(s.rtmfp_port, loss=0.1, twice=0.2, late=0.2, seed=3)
    try:
        with contextlib.ExitStack() as stack:
            many = [stack.enter_context(rc.Client(relay.port).begin()) for _ in range(8)]
            assert rc.run(many, lambda: all(c.session for c in many), 60)
            for c in many:
                c.connect()
    finally:
        relay.stop()
    assert len({c.session.far_id for c in many}) == 8


# ---- keeping it alive

@pytest.mark.long
@pytest.mark.parametrize("how", [{}, SECURED])
def test_packets_from_elsewhere_do_not_move_it(srs, source, how):
    """An attacker replays packets from another address: it gets pings at most, no media, and the session stays."""
    s = rtmfp_server(srs)
    with published(s, source), rc.Client(s.rtmfp_port, identity=rtmfp.Identity(static=True, **how)).connect() as c:
        stream = c.play("s")
        c.wait(lambda: len(flv.frames(stream.tags)) > 10)
        seen, raw = [], c.endpoint.raw
        c.endpoint.raw = lambda to, datagram: (seen.append(datagram), raw(to, datagram))
        c.wait(lambda: len(seen) >= 5)
        thief = rtmfp.Endpoint(rtmfp.Identity())
        for datagram in seen:
            thief.raw(c.session.address, datagram)
        got, count = [], len(stream.tags)
        thief.input = lambda datagram, source: got.append(datagram)
        assert rtmfp.run([c.endpoint, thief], lambda: len(stream.tags) > count + 30)
        assert len(got) <= (0 if how else 2) and sum(map(len, got)) < 500
        thief.close()
        assert is_run_of(stream.in_order(), source)


@pytest.mark.long
def test_it_asks_who_is_silent(srs):
    """After `ping` seconds, by an empty ping, and again; a client that answers stays."""
    s = rtmfp_server(srs, server="ping 1; timeout 5;")
    with clients(s) as [c]:
        c.wait(lambda: len(c.session.pings) >= 1)
        assert set(c.session.pings) == {b""} and c.session.is_open


@pytest.mark.long
def test_keepalives(srs):
    """A session stays open beyond the timeout with keepalives only, from either side."""
    s = rtmfp_server(srs, server="ping 3600; timeout 5;")
    t = rtmfp_server(srs, server="ping 1; timeout 5;")
    with clients(s) as [a], clients(t) as [b]:
        for _ in range(8):
            a.session.ping()
            rc.run_for([a, b], 1.0)
        assert a.session.is_open and b.session.is_open and not a.session.pings and 4 <= len(b.session.pings) <= 10
        assert a.result(a.call("createStream")) and b.result(b.call("createStream"))


@pytest.mark.long
def test_who_vanishes_is_gone(srs, source):
    """Without closing: its stream is free, its player is off the list, and backends are notified."""
    with contextlib.closing(Backend()) as backend:
        on = "".join(f"{e} {backend.url()};" for e in ("on_publish", "on_unpublish", "on_play", "on_stop", "on_close"))
        s = rtmfp_server(srs, server="ping 1; timeout 8;", vhost=f"http_hooks {{ enabled on; {on} }}")
        with clients(s, 2) as [a, b]:
            stream = a.publish("s")
            rc.pump(a, stream, flv.cut(source, 200), speed=None)
            b.play("s")
            for c in (a, b):  # not even its host reports a closed port
                c.endpoint.rebind()
            assert ends(s, "", 2)
            for action in ("on_unpublish", "on_stop", "on_close"):
                backend.wait(action, 2 if action == "on_close" else 1)
            for c in (a, b):
                c.session.end("it is gone")


# ---- how it ends

def test_client_closes_it(srs, source):
    """The close is acknowledged; its stream is free at once, and the server does not wait for it."""
    s = rtmfp_server(srs, vhost="publish { takeover off; }")
    with clients(s, 2) as [a, b]:
        stream = a.publish("s")
        rc.pump(a, stream, flv.cut(source, 200), speed=None)
        a.session.close()
        rc.run([a], lambda: a.session.why == "ended by the other side")
        assert a.session.why == "ended by the other side"
        b.publish("s")
        assert ends(s, "closed its session")


def test_control_flow_is_closed(srs):
    """This ends the connection, and so the session."""
    s = rtmfp_server(srs)
    with clients(s) as [c]:
        c.control.close()
        with pytest.raises(Closed):
            c.wait(lambda: False)
        assert ends(s, "closed its control flow")


def test_server_quits(srs, source):
    """Publishers, players and idle clients are all notified, and the server does not wait for any."""
    s = rtmfp_server(srs)
    with clients(s, 3) as [a, b, c]:
        stream = a.publish("s")
        rc.pump(a, stream, flv.cut(source, 200), speed=None)
        b.play("s")
        s.stop()
        assert s.stop_seconds < 2
        for client in (a, b, c):
            with pytest.raises(Closed):
                client.wait(lambda: False)
