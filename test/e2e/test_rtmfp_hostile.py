# SPDX-License-Identifier: MIT
"""Hostile peers of RTMFP: each is a counter or a line, costs its own session at most, and the memory is bounded."""
import os
import struct
import time

import pytest

pytest.importorskip("cryptography")

import hostile_rtmfp as h                       # noqa: E402
import rtmfp                                    # noqa: E402
import rtmfp_client as rc                       # noqa: E402
import rtmfp_wire as w                          # noqa: E402
from hostile_rtmfp import Stranger, ack, data, following, hello, keying, option, vlu, with_key  # noqa: E402
from procs import free_port, wait_for           # noqa: E402
from rtmfp_flow import BEGIN, MIDDLE, tc        # noqa: E402
from rtmfp_serve import rtmfp_server            # noqa: E402
from test_metrics import scrape, values         # noqa: E402

P = w.PRIMES[2]
FRAGMENT = w.FRAGMENT


class Server:
    """One that tells its counters."""

    def __init__(self, srs, server="", **how):
        port = free_port()
        self.s = rtmfp_server(srs, server=f"max_startup_ip 0; {server}", glob=f"exporter {{ enabled on; listen 127.0.0.1:{port}; }}", **how)
        self.port, self.exporter = self.s.rtmfp_port, port

    def figures(self):
        """{"name" or "name reason": value}, without srs_rtmfp_."""
        out = {}
        for name, rows in values(scrape(self.exporter)).items():
            for labels, v in rows.items():
                reason = labels.split('"')[1] if '"' in labels else ""
                out[f"{name.removeprefix('srs_rtmfp_').removesuffix('_total')} {reason}".strip()] = v
        return out

    def counts(self, what, n, since):
        """That one becomes n more than then, at once."""
        if not wait_for(lambda: self.figures()[what] - since[what] >= n, 3, 0.02):
            now = self.figures()
            raise AssertionError(f"{what}: {now[what] - since[what]} of {n}; " +
                                 str({k: now[k] - since[k] for k in now if k in since and now[k] != since[k]}))

    def still_opens(self):
        with rc.Client(self.port) as c:
            c.connect()


@pytest.fixture
def server(srs):
    return lambda *args, **how: Server(srs, *args, **how)


# ---- handshakes

def handshakes(cookie, me):
    """What, the chunk, and the counter that it is."""
    key = w.Pair(2).public
    yield "a forged cookie", keying(bytes(64), me), "foreign"
    yield "a cookie with another end", keying(cookie[:20] + bytes(44), me), "foreign"
    yield "a cookie of 63 bytes", keying(cookie[:63], me), "foreign"
    yield "a cookie of 300 bytes", keying(cookie * 5, me), "chunk"
    for name, y in {"0": 0, "1": 1, "p - 1": P - 1, "p": P, "2^24 - 1": 2 ** 24 - 1, "2^500": 2 ** 500,
                    "few bits": 2 ** 900 + 2 ** 3, "few zeros": 2 ** 1000 - 1}.items():
        yield f"the public key {name}", keying(cookie, me, skic=with_key(y.to_bytes(128, "big"))), "public_key"
    yield "a public key of 200 bytes", keying(cookie, me, skic=with_key(b"\x55" * 200)), "public_key"
    yield "two public keys", keying(cookie, me, skic=with_key(key) + option(0x0d, vlu(2) + key)), "component"
    yield "no public key", keying(cookie, me, skic=option(0x0e, bytes(64))), "component"
    yield "a key of group 16", keying(cookie, me, skic=with_key(key, 16)), "component"
    yield "a component of 33 options", keying(cookie, me, skic=option(0x0e, b"x") * 33), "component"
    yield "a component that is cut", keying(cookie, me, skic=b"\x7f\x0e"), "component"
    yield "a component of 1025 bytes", keying(cookie, me, skic=option(0x0e, bytes(1022))), "chunk"
    yield "a certificate of 33 options", keying(cookie, me, certificate=option(0x0e, b"x") * 33), "certificate"
    yield "a certificate with keys of both kinds", \
        keying(cookie, me, certificate=option(0x15, b"\2") + option(0x1d, b"\2" + key)), "certificate"
    yield "a certificate that is cut", keying(cookie, me, certificate=b"\x40"), "certificate"
    yield "id 0", keying(cookie, me, 0), "certificate"
    yield "a discriminator of 1025 bytes", hello(option(0x0a, bytes(1022))), "chunk"
    yield "a tag of 65 bytes", hello(tag=bytes(65)), "chunk"
    yield "a hello that asks for nothing", hello(b""), "unselected"
    yield "a hello with a host that is not ours", hello(option(0, b"elsewhere")), "unselected"
    yield "an answer", w.chunk(w.RHELLO, bytes(80)), "chunk"
    yield "a piece of a piece", w.chunk(FRAGMENT, b"\x80\1\0" + b"x"), "piece"
    yield "piece 2^64-1", w.chunk(FRAGMENT, b"\x80" + vlu(h.MOST) * 2 + b"x"), "piece"
    yield "400 chunks of nothing", b"".join(w.chunk(0x22) for _ in range(390)), "chunk"


def test_handshakes_that_are_none(server):
    """Each is counted, none is answered, and a client that is one still opens."""
    s = server()
    p, me = Stranger(s.port), rtmfp.Identity()
    cookie = p.cookie()
    for what, said, counter in handshakes(cookie, me):
        before = s.figures()
        p.say(said)
        s.counts(f"startup_dropped {counter}", 1, before)
        assert p.hear(0.001) is None, what
    before = s.figures()
    p.say(hello(), mode=w.FROM_INITIATOR)
    p.raw(bytes(4 + 48))
    p.raw(b"abc")
    s.counts("startup_dropped packet", 1, before)
    assert p.hear(0.001) is None
    assert s.figures()["keying"] == s.figures()["sessions"] == 0
    s.still_opens()


def test_cookies_and_keys_again(server):
    """A cookie of another address is changed for one that is good there; a session that begins again has other keys."""
    s = server()
    p, other, me = Stranger(s.port), Stranger(s.port, "127.0.0.2"), rtmfp.Identity()
    cookie, before = p.cookie(), s.figures()
    other.say(keying(cookie, me))
    id, changed = other.hear()
    r = w.Reader(changed.data)
    assert (id, changed.type, r.counted()) == (77, w.COOKIE_CHANGE, cookie)
    s.counts("cookie_changes", 1, before)
    assert s.figures()["keyings"] == before["keyings"] + 1 and s.figures()["key_jobs"] == 0
    skic = me.asks()[0]
    p.say(keying(cookie, me, skic=skic))
    first = p.opened()
    p.say(keying(cookie, me, skic=skic))
    assert first and p.opened() == first, "a repeat has the same answer"
    p.say(keying(cookie, me, 78, skic=skic))  # replayed, as if by a peer that has begun anew
    second = p.opened()
    assert second and second[:11] == first[:11] and second[11:] != first[11:], "a pair of keys is used once"
    assert wait_for(lambda: s.figures()["sessions"] == 1, 3)
    p.say(keying(cookie, rtmfp.Identity()))
    s.counts("startup_dropped other_peer", 1, before)
    assert s.figures()["opened"] == 2


def test_sessions_that_are_guessed(server):
    """Nobody finds a session by its number, and who finds one cannot speak in it."""
    s = server()
    p = Stranger(s.port)
    with rc.Client(s.port) as c:
        c.connect()
        before = s.figures()
        for _ in range(300):
            p.raw(os.urandom(4 + 48))
        p.say(w.chunk(w.CLOSE), mode=w.FROM_INITIATOR, id=c.session.far_id)
        s.counts("bad_packets checksum", 1, before)
        s.counts("bad_packets stranger", 290, before)
        assert p.hear(0.001) is None
        c.session.ping(b"there")
        assert rc.run([c], lambda: b"there" in c.session.pongs) and s.figures()["sessions"] == 1


# ---- sessions

def is_well(c):
    c.session.ping(b"well")
    return rc.run([c], lambda: b"well" in c.session.pongs or not c.session.is_open) and c.session.is_open


def test_numbers_that_cannot_be(server):
    """64 ones everywhere, acks of what was never sent, hundreds of chunks and pings in a packet: the session goes on."""
    s = server()
    with rc.Client(s.port) as c:
        c.connect()
        before, got = s.figures(), c.endpoint.sent
        c.session.packet(h.largest())
        c.session.packet([ack(f, 1000, 1, 5, 5) for f in range(1, 40)])
        c.session.packet([w.chunk(0x22)] * 390)
        s.counts("bad_chunks", 5, before)
        assert is_well(c)
        c.session.pongs.clear()
        c.session.packet([w.chunk(w.PING, struct.pack(">I", i)) for i in range(160)])
        assert is_well(c)
        assert 1 <= len(c.session.pongs) <= 2, "one answer to a packet"
        for _ in range(2000):
            c.session.ping()
        assert is_well(c) and c.endpoint.sent > got
        c.create_stream()


def many_flows(c):
    for i in range(0, 10000, 20):
        c.session.packet([data(100 + i + k, 1, 1, b"\x14\0\0\0\0") for k in range(20)])


def flows_by_the_dozen(c):
    """Closed at once, but too many in ten seconds."""
    for i in range(300):
        c.session.packet([data(100 + i, 1, 1, b"", 1)])
        if i % 20 == 0:
            rc.run_for([c], 0.001)


def no_end(c):
    """A command that begins and goes on."""
    c.session.packet([data(9, 1, 1, b"x" * 1000, BEGIN)])
    for i in range(2, 100):
        c.session.packet([data(9, i, i, b"x" * 1000, MIDDLE, None)])


def takes_no_words(c):
    """Asks for answers, by the hundred thousand, and acknowledges none."""
    c.session.burst = -10 ** 9
    c.session.on_ack = lambda ack: None
    flow, seq = c.control, c.control.last
    call = rc.message_bytes(20, 0, rc.amf.encode("createStream", 5, None))
    body = [following(call) for _ in range(25)]
    for _ in range(400):
        c.session.packet([data(flow.id, seq + 1, 1, call, 0, None)] + body)
        seq += 26
        if not c.session.is_open:
            return
        rc.run_for([c], 0)


@pytest.mark.parametrize("what, why", [
    (many_flows, "more flows than a session may have"), (flows_by_the_dozen, "more flows than a session may have"),
    (no_end, "a message is larger than may be"), (takes_no_words, "it takes nothing of what it is told")])
def test_limits_of_a_session(server, what, why):
    """Over one of them it is closed, with a line; another session does not notice."""
    s = server()
    with rc.Client(s.port) as c, rc.Client(s.port) as other:
        c.connect()
        other.connect()
        begin = s.s.mark()
        what(c)
        assert rc.run([c], lambda: not c.session.is_open), what.__name__
        assert wait_for(lambda: why in s.s.log()[begin:], 3), s.s.log()[begin:]
        assert s.s.log()[begin:].count(why) == 1
        assert wait_for(lambda: s.figures()["ended hostile"] == 1, 3)
        assert is_well(other)


def test_words_before_connect(server):
    """A line, not one for each."""
    s = server()
    with rc.Client(s.port) as c:
        c.open()
        call = rc.message_bytes(20, 0, rc.amf.encode("createStream", 5, None))
        c.session.packet([data(9, 1, 1, call)] + [following(call) for _ in range(20)])
        c.session.packet([data(11, 1, 1, b"\x14\0\0\0\0" + bytes(50), 0, tc(7)), data(13, 1, 1, b"x", 0, b"??"),
                          data(15, 1, 1, b"x", 0, None), data(17, 1, 1, b"x", 0, bytes(600))])
        assert is_well(c)
        assert s.s.log().count("comes before connect") == 1
        c.connect()


def test_two_of_one_id(server):
    """Who came first is found, until it has gone; then it is the other one."""
    s = server()
    me = rtmfp.Identity(static=True)
    with rc.Client(s.port, identity=me) as first, rc.Client(s.port, identity=me) as second, rc.Client(s.port) as asks:
        for c in (first, second):
            c.connect()
            c.set_peer_info()
        assert found_at(asks, me, [first, second]) == first.endpoint.address
        first.session.close()
        assert wait_for(lambda: s.figures()["sessions"] == 1, 3)
        assert found_at(asks, me, [second]) == second.endpoint.address


def found_at(asks, identity, others):
    o = asks.find(identity.peer_id)
    assert rc.run([asks, *others], lambda: o.redirects)
    asks.endpoint.openings.clear()
    return o.redirects[0][0][1]


def test_introductions_are_limited(server):
    """20 a second of one address."""
    s = server()
    before = s.figures()
    p = Stranger(s.port)
    for i in range(100):
        p.say(hello(w.to_peer(bytes(31) + bytes([i]))))
    s.counts("introductions_limited", 50, before)
    assert p.hear(0.001) is None and s.figures()["unknown_peers"] <= 60
