# SPDX-License-Identifier: MIT
"""The RTMFP server brings peers together: introduction, groups, and other servers."""
import pytest

pytest.importorskip("cryptography")

import rtmfp                                    # noqa: E402
import rtmfp_client as rc                       # noqa: E402
from procs import SLOW, free_port               # noqa: E402
from rtmfp_serve import clients, rtmfp_server  # noqa: E402


def test_two_are_introduced(srs):
    """Then they communicate directly, without the server; an unknown id gets no answer."""
    s = rtmfp_server(srs)
    with clients(s, 2) as [a, b]:
        a.set_peer_info()
        nobody = b.find(bytes(32))
        found = b.find(a.peer_id)
        assert rc.run([a, b], lambda: found.session and a.peers and a.session.forwarded)
        assert found.redirects and found.redirects[0][0] == (2, a.endpoint.address)
        assert found.session.address == a.endpoint.address
        assert a.session.forwarded[0][1] == b.endpoint.address
        assert found.session.peer_id == a.peer_id and a.peers[0].peer_id == b.peer_id
        there = bytes(range(256)) * 20
        b.say(found.session, 18, there)
        assert rc.run([a, b], lambda: a.peer_messages)
        who, m = a.peer_messages[0]
        assert (who, m.type, m.data) == (b.peer_id, 18, there)
        a.say(a.peers[0], 18, b"and back")
        assert rc.run([a, b], lambda: b.peer_messages) and b.peer_messages[0][1].data == b"and back"
        assert not nobody.redirects and nobody.cookie is None


def test_no_peer_at_addresses_of_this_machine(srs):
    """setPeerInfo with a loopback, a multicast or no address sends no peer there."""
    s = rtmfp_server(srs)
    with clients(s, 2) as [a, b]:
        a.set_peer_info("127.0.0.1:9", "224.0.0.1:9", "0.0.0.0:9", "[::1]:9", "nonsense", "10.1.2.3:99999")
        found = b.find(a.peer_id)
        assert rc.run([a, b], lambda: found.redirects)
        assert [where for _, where in found.redirects[0]] == [a.endpoint.address]


def test_group_of_four(srs):
    """Each new member learns of the others; members that left are not mentioned."""
    s = rtmfp_server(srs)
    with clients(s, 5) as every:
        for i, c in enumerate(every[:4]):
            c.join("G:0101a group")
            others = {o.peer_id for o in every[:i]}
            assert rc.run(every, lambda: others <= set(c.members)), f"{i} was not told of all"
        assert rc.run(every, lambda: all({o.peer_id for o in every[:4]} - {c.peer_id} <= set(c.members)
                                         for c in every[:4]))
        assert not any(c.peer_id in c.members for c in every)
        every[0].leave()
        assert rc.run(every, lambda: every[0].group_flow.done)
        every[4].join("G:0101a group")
        assert rc.run(every, lambda: {c.peer_id for c in every[1:4]} <= set(every[4].members))
        assert every[0].peer_id not in every[4].members


def test_redirect(srs):
    """A redirecting server: clients reach the other one; a dead one costs nothing."""
    to = rtmfp_server(srs)
    away = rtmfp_server(srs, server=f"redirect 127.0.0.1:{free_port()} 127.0.0.1:{to.rtmfp_port};")
    with rc.Client(away.rtmfp_port) as c:
        c.open()
        assert c.session.address == ("127.0.0.1", to.rtmfp_port)
        assert all(origin == 3 for origin, _ in c.opening.redirects[0])
        c.connect()


def test_introduced_by_another_server(srs):
    """Neighbor servers may know a peer that this server does not."""
    there = rtmfp_server(srs)
    here = rtmfp_server(srs, server=f"redirect 127.0.0.1:{there.rtmfp_port}; redirect_peers only;")
    with clients(there) as [a], clients(here) as [b]:
        a.set_peer_info()
        found = b.find(a.peer_id)
        assert rc.run([a, b], lambda: found.session)
        assert found.session.address == a.endpoint.address


def test_redirect_by_app(srs):
    """Clients of one app meet at one server; apps are spread over servers."""
    to = [rtmfp_server(srs) for _ in range(2)]
    servers = " ".join(f"127.0.0.1:{t.rtmfp_port}" for t in to)
    away = rtmfp_server(srs, server=f"redirect {servers}; redirect_by app;")
    where = {}
    for app in ("live", "a1", "a2", "a3", "a4", "a5", "a6", "live"):
        with rc.Client(away.rtmfp_port) as c:
            c.open(app)
            assert len(c.opening.redirects[0]) == 1
            assert where.setdefault(app, c.session.address) == c.session.address
    assert len(set(where.values())) == 2


def idle(seconds, *every):
    """They answer requests, for this long."""
    rtmfp.run([c.endpoint for c in every], lambda: False, seconds)


@pytest.mark.long
def test_two_claim_one_id(srs):
    """The first keeps it while it answers; when it does not, the other one has it after 5 s."""
    s = rtmfp_server(srs)
    one = rtmfp.Identity(static=True)
    with clients(s) as [asks], clients(s, identity=one) as [first], clients(s, identity=one) as [second]:
        def found():
            finding = asks.find(one.peer_id)
            assert rc.run([asks], lambda: finding.redirects)
            return finding.redirects[0][0][1]
        first.set_peer_info()
        second.set_peer_info()
        idle(6, asks, first, second)
        assert found() == first.endpoint.address
        with clients(s, identity=one) as [third]:
            third.set_peer_info()  # from here on the first one is silent
            idle(6, asks, second, third)
            assert found() == second.endpoint.address


def reached(every):
    """Members connected to the first one, directly or through others, by introductions."""
    by_id = {c.peer_id: c for c in every}
    seen, left = set(), [every[0].peer_id]
    while left:
        at = left.pop()
        if at in by_id and at not in seen:
            seen.add(at)
            left += by_id[at].members
    return seen


@pytest.mark.long
def test_a_large_group(srs):
    """No member learns of all, and yet all are connected; half of them leave, and new ones are not sent to them."""
    s = rtmfp_server(srs)
    with clients(s, 24) as every:
        for i, c in enumerate(every):
            c.join(ident=bytes(range(32)))
            told = min(i, 6)
            assert rc.run(every[:i + 1], lambda: len(set(c.members)) >= told)
            assert len(c.members) <= 6
        assert len(reached(every)) == 24
        for c in every[::2]:
            c.session.close()
        assert rc.run(every, lambda: not any(c.session.is_open for c in every[::2]))
        with clients(s, 4) as late:
            stay = {c.peer_id for c in every[1::2] + late}
            for c in late:
                c.join(ident=bytes(range(32)))
                assert rc.run(late, lambda: len(set(c.members)) >= 6)
                assert set(c.members) <= stay


@pytest.mark.long
def test_silent_members_are_not_introduced(srs):
    """A member that does not answer pings is not introduced until it answers again."""
    s = rtmfp_server(srs, server="ping 1;")
    with clients(s, 4) as every:
        a, silent, b, c = every
        for one in (a, silent):
            one.join("G:quiet")
        assert rc.run(every, lambda: a.members and silent.members)
        idle(2.5, a, b, c)
        b.join("G:quiet")
        assert rc.run([a, b, c], lambda: b.members)
        assert b.members == [a.peer_id]
        idle(1, *every)
        c.join("G:quiet")
        assert rc.run(every, lambda: len(c.members) == 3)


@pytest.mark.long
def test_who_asks_and_tells_too_much(srs):
    """Floods of setPeerInfo, joins and requests: the server stays small, its log short, others meet."""
    s = rtmfp_server(srs)
    with clients(s, 3) as [a, b, flood]:
        a.set_peer_info()
        before = s.rss()
        for i in range(3000):
            flood.call("setPeerInfo", *(f"203.0.113.{n}:{1 + (i + n) % 60000}" for n in range(7)), tid=0)
        assert rc.run([a, b, flood], lambda: flood.control.done)
        for i in range(100):  # 200 flows in 10 s would end it
            flow = flood.join(f"G:{i}" * 50)
            flood.leave()
            assert rc.run([a, b, flood], lambda: flow.done)
        for _ in range(300):
            flood.find(bytes(31) + b"\1")
        rtmfp.run([flood.endpoint], lambda: False, 1.2)
        assert flood.session.is_open
        found = b.find(a.peer_id)  # it has the same address, and repeats when the limit allows it
        assert rc.run([a, b], lambda: found.session, 20)
        assert s.rss() - before < (4 << 10) * (1 if SLOW == 1 else 8), "KB; sanitizers keep freed memory for a while"
        assert len(s.log().splitlines()) < 100
