# SPDX-License-Identifier: MIT
"""Hostile RTMFP peers: each is a counter or a log line, costs at most its own session, and memory is bounded."""
import contextlib
import json
import os
import re
import struct
import sys
import time

import pytest

pytest.importorskip("cryptography")

import hostile_rtmfp as h                       # noqa: E402
import rtmfp                                    # noqa: E402
import rtmfp_client as rc                       # noqa: E402
import rtmfp_wire as w                          # noqa: E402
from hostile_rtmfp import Stranger, ack, data, following, hello, keying, option, vlu, with_key  # noqa: E402
from procs import SLOW, Proc, free_port, wait_for  # noqa: E402
from rtmfp_flow import BEGIN, MIDDLE, tc        # noqa: E402
from rtmfp_serve import rtmfp_server, Driver    # noqa: E402
from rtmpclient import Closed                   # noqa: E402
from test_bench_tools import last_object, tool  # noqa: E402
from test_metrics import scrape, values         # noqa: E402

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hostile_rtmfp.py")
P = w.PRIMES[2]
FRAGMENT = w.FRAGMENT


class Server:
    """A server with access to its counters."""

    def __init__(self, srs, server="", play="", **how):
        port = free_port()
        how["vhost"] = f"tcp_nodelay on; min_latency on; publish {{ mr off; }} play {{ mw_latency 0; {play} }}"
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
        """Waits until a counter has grown by n."""
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
    """Name, chunk, and the counter that must grow."""
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
    """Each is counted, none is answered, and a real client still opens."""
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
    """A cookie of another address is replaced by one for the current address; a session that begins again has other keys."""
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
    assert first and p.opened() == first, "a repeat has another answer"
    p.say(keying(cookie, me, 78, skic=skic))  # replayed, as if by a restarted peer
    second = p.opened()
    assert second and second[:11] == first[:11] and second[11:] != first[11:], "a key pair is used more than once"
    assert wait_for(lambda: s.figures()["sessions"] == 1, 3)
    p.say(keying(cookie, rtmfp.Identity()))
    s.counts("startup_dropped other_peer", 1, before)
    assert s.figures()["opened"] == 2


def heard(p, said, timeout):
    """Number of bytes received in answer to these."""
    p.raw(said)
    p.sock.settimeout(timeout)
    try:
        return len(p.sock.recv(4096))
    except OSError:
        return 0


def test_no_answer_is_over_three_times_its_hello(server):
    """With a forged source address the server sends little to the victim: hellos for it, for a peer, and keyings."""
    away = server("redirect_peers on; redirect " + " ".join(f"[2001:db8::{n + 1}]:1935" for n in range(20)) + ";")
    s = server()
    p, q, answered = Stranger(s.port), Stranger(away.port), 0
    for epd in [option(0x0a, b"x" * n) for n in range(90)] + [w.to_peer(bytes(32))]:
        for tag in (0, 16, 17, 64):
            said = h.datagram([hello(epd, bytes(tag))])
            for peer in (p, q):
                n = heard(peer, said, 1.0 if len(said) > 36 and (peer is q or epd[1] == 0x0a) else 0.05)
                assert n <= 3 * len(said), f"{len(said)} bytes were answered by {n}"
                answered += n > 0
    assert answered > 600, answered
    cookie, me = p.cookie(), rtmfp.Identity()
    other = Stranger(s.port, "127.0.0.2")
    for said in (keying(cookie, me), keying(cookie, me, certificate=b"", skic=b"")):
        said = h.datagram([said])
        n = heard(other, said, 2.0)
        assert 0 < n <= 3 * len(said), f"a keying of {len(said)} bytes was answered by {n}"


@pytest.mark.parametrize("ancillary", ["live", "rtmfp://10.0.0.1/live"])
def test_a_client_that_says_little(server, ancillary):
    """Hellos of 36 and 52 bytes, as of older clients, get a shorter certificate and a session."""
    s = server()
    with rc.Client(s.port) as c:
        c.app, c.uri = "live", "rtmfp://127.0.0.1/live"
        c.opening = c.endpoint.connect([c.server], w.to_uri(ancillary))
        c.wait(lambda: c.session)
        c.connect()


def test_sessions_that_are_guessed(server):
    """A session cannot be found by its number, and a known number does not allow sending in it."""
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
    """Checks that it answers: a ping during the answer to another one gets none, so it is repeated."""
    for _ in range(20):
        c.session.ping(b"well")
        if rtmfp.run([c.endpoint], lambda: b"well" in c.session.pongs or not c.session.is_open, 0.25):
            break
    return c.session.is_open and b"well" in c.session.pongs


def test_numbers_that_cannot_be(server):
    """64 one bits everywhere, acknowledgements of unsent data, hundreds of chunks and pings in a packet: the session continues."""
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
        assert len([p for p in c.session.pongs if p != b"well"]) == 1, "more than one answer to a packet"
        c.session.pongs.clear()
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
    """A command that begins and never ends."""
    c.session.packet([data(9, 1, 1, b"x" * 1000, BEGIN)])
    for i in range(2, 100):
        c.session.packet([data(9, i, i, b"x" * 1000, MIDDLE, None)])


def takes_no_words(c):
    """Requests answers by the hundred thousand, and acknowledges none."""
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


def many_streams(c):
    """Waits for more unpublished streams than a session may."""
    with contextlib.suppress(Closed):
        for i in range(20):
            c.create_stream().command("play", f"nobody{i}", -2)


@pytest.mark.parametrize("what, why", [
    (many_streams, "too many streams at one time"), (many_flows, "more flows than a session may have"), (flows_by_the_dozen, "more flows than a session may have"),
    (no_end, "a message is over the size limit"), (takes_no_words, "it does not read the answers to its commands")])
def test_limits_of_a_session(server, what, why):
    """A session over one of them is closed, with a line; another session does not notice."""
    s = server()
    with rc.Client(s.port) as c, rc.Client(s.port) as other:
        c.connect()
        other.connect()
        begin = s.s.mark()
        what(c)
        assert rc.run([c], lambda: not c.session.is_open), what.__name__
        line = rf"RTMFP client finished: .*{why}"
        assert s.s.wait_log(line, 3, begin), s.s.log()[begin:]
        assert len(re.findall(line, s.s.log()[begin:])) == 1
        assert wait_for(lambda: s.figures()["ended hostile"] == 1, 3)
        assert is_well(other)


def test_words_before_connect(server):
    """One line, not one for each."""
    s = server()
    with rc.Client(s.port) as c:
        c.open()
        call = rc.message_bytes(20, 0, rc.amf.encode("createStream", 5, None))
        c.session.packet([data(9, 1, 1, call)] + [following(call) for _ in range(20)])
        c.session.packet([data(11, 1, 1, b"\x14\0\0\0\0" + bytes(50), 0, tc(7)), data(13, 1, 1, b"x", 0, b"??"),
                          data(15, 1, 1, b"x", 0, None), data(17, 1, 1, b"x", 0, bytes(600))])
        assert is_well(c)
        assert s.s.wait_log("before connect was answered", 3)
        assert s.s.log().count("before connect was answered") == 1
        c.connect()


def test_two_of_one_id(server):
    """The first one is found until it leaves; then the other one."""
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
    """20 a second per address."""
    s = server()
    before = s.figures()
    p = Stranger(s.port)
    for i in range(100):
        p.say(hello(w.to_peer(bytes(31) + bytes([i]))))
    s.counts("introductions_limited", 50, before)
    assert p.hear(0.001) is None and s.figures()["unknown_peers"] <= 60


# ---- during playback, and for long

class Bystanders:
    """A stream with an RTMP and an RTMFP player, which must notice nothing."""

    def __init__(self, s, source):
        self.s, self.pusher = s, s.s.push(source, "bystander", loop=True, ahead=1)
        self.rtmp = s.s.watch("bystander")
        assert self.rtmp.wait(lambda tags: len(tags) > 20)
        self.client = rc.Client(s.port).connect()
        self.stream = self.client.play("bystander")
        self.driver = Driver(self.client)
        self.driver.start()
        assert wait_for(lambda: len(self.stream.tags) > 50, 10)
        time.sleep(0.3)  # until the cached burst is over for both
        self.begin = time.monotonic()

    def gap(self):
        at = [self.begin] + [t for t, _ in list(self.rtmp.arrivals) if t > self.begin]
        return max((b - a for a, b in zip(at, at[1:])), default=99.0)

    def check(self, most=0.2):
        n, m = len(self.stream.tags), len(self.rtmp.arrivals)
        assert wait_for(lambda: len(self.stream.tags) > n + 3 and len(self.rtmp.arrivals) > m + 3, 5)
        self.driver.stop()
        assert not self.driver.error, self.driver.error
        self.client.close()
        self.rtmp.stop()
        self.pusher.stop()
        print(f"longest gap of the player of RTMP: {1000 * self.gap():.0f} ms")
        assert self.gap() <= most * SLOW


@pytest.mark.alone
@pytest.mark.long
@pytest.mark.parametrize("what,rate,seconds,counter", [
    ("hellos", 50000, 20, "hellos"), ("cookies", 20000, 10, "startup_dropped foreign"), ("noise", 30000, 10, "bad_packets stranger"),
    ("keys", 2000, 20, "key_jobs")])
def test_flood(server, source, what, rate, seconds, counter):
    """Players notice nothing, memory stays the same, new clients still open within 5 s."""
    s = server("max_startup_ip 200;" if what == "hellos" else "")
    by = Bystanders(s, source)
    before, figures, most, took = s.s.rss(), s.figures(), 0, []
    p = Proc([sys.executable, PROGRAM, what, "--rtmfp", str(s.port), "--rate", str(rate), "--seconds", str(seconds)],
             os.path.join(s.s.tmp, what + ".out"))
    while p.running():
        begin = time.monotonic()
        with rc.Client(s.port, host="127.0.0.1") as c:
            c.connect()
        took.append(time.monotonic() - begin)
        most = max(most, s.s.rss())
        time.sleep(0.3)
    assert p.wait(5) == 0, p.text()
    sent = json.loads(p.text().strip().splitlines()[-1])
    assert s.figures()[counter] > figures[counter] + 100
    room = (12 if what == "keys" else 4) << 10  # restarted sessions linger, 4096 of them
    back = wait_for(lambda: s.s.rss() - before < room * SLOW, 10, 0.2)
    print(f"{what}: {sent}, {before} kB became {most} kB, then {s.s.rss()} kB; opened in {1000 * max(took):.0f} ms, of {len(took)}")
    assert sent["per_second"] > rate / 4 and max(took) < 5 * SLOW and back
    assert most - before < room * SLOW
    by.check()


@pytest.mark.long
def test_a_player_that_acknowledges_nothing(server, source):
    """It only pings: its queue is bounded, and retransmissions end."""
    s = server(play="queue_length 2;")
    by = Bystanders(s, source)
    with rc.Client(s.port) as c:
        c.connect()
        stream = c.play("bystander")
        c.session.on_ack = lambda ack: None
        c.session.flush = lambda: None
        before, sent, begin = s.s.rss(), s.figures()["datagrams_out"], time.monotonic()
        while time.monotonic() - begin < 12:
            c.session.ping(b"still here")
            rc.run_for([c], 0.1)
        assert c.session.is_open and stream.sid
        assert s.s.rss() - before < 8192 * SLOW
        print(f"{s.figures()['datagrams_out'] - sent} datagrams went out")
    by.check()


@pytest.mark.long
def test_held_fragments(server, source):
    """Gaps that are filled at once: 64 flows that buffer their maximum, repeatedly, block no one."""
    s = server()
    by = Bystanders(s, source)
    call = rc.message_bytes(20, 0, rc.amf.encode("createStream", 0, None))
    with rc.Client(s.port) as c:
        c.connect()
        c.session.flush = lambda: None
        for turn in range(20):
            base = 1 + turn * 300
            for f in range(50):
                c.session.packet([data(101 + f, base + 1, base + 1, call)] + [following(call) for _ in range(15)])
                c.session.packet([data(101 + f, base + 17, base + 17, call, 0, None)] + [following(call) for _ in range(15)])
                rc.run_for([c], 0)
            c.session.packet([data(101 + f, base, 1, call, 0, None) for f in range(20)])
            c.session.packet([data(121 + f, base + 299, 1, call, 0, None) for f in range(30)])
            c.session.packet([data(101 + f, base + 299, 1, call, 0, None) for f in range(20)])
            rc.run_for([c], 0.01)
            if not c.session.is_open:
                break
        print(c.session.is_open, c.session.why)
    by.check(0.1)


@pytest.mark.alone
@pytest.mark.long
@pytest.mark.parametrize("bad", [[], ["--loss", "1", "--twice", "1", "--reorder", "1"]])
def test_churn(server, tmp_path, bad):
    """10,000 sessions come and go, some without closing, some after a move: nothing of them stays."""
    s = server("max_sessions_ip 0; timeout 10;")
    out = tmp_path / "churn.json"
    how = ["--ramp", "600", "--churn", "3", "-d", "0.3", "-e", "0.3", "--silent", "10", "--move", "5", "--ping", "2"]
    p = Proc([tool("sb_rtmfp_load"), "-c", "2000", "-r", f"rtmfp://127.0.0.1:{s.port}/live/s", *how, "--duration", "30", "--json", *bad],
             tmp_path / "churn.log", stdout=open(out, "wb"))
    assert p.wait(90) == 0, p.text()
    got = last_object(out.read_text())
    assert wait_for(lambda: s.figures()["sessions"] == 0, 30, 0.5), s.figures()
    figures = s.figures()
    print({k: got.get(k) for k in ("clients", "opened", "failed", "disconnected", "timeouts")}, figures["opened"], s.s.rss())
    assert figures["opened"] >= 10000 / SLOW and figures["keying"] == 0
    assert figures["ended silent"] + figures["ended unanswered"] > 0 and figures["moves"] > 0
    s.still_opens()
