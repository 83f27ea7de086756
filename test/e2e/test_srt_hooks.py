# SPDX-License-Identifier: MIT
"""Callbacks run before an SRT caller is answered: a caller that is rejected, or waits too long, gets the code."""
import re
import time

import pytest

from hostile_srt import Peer, hsreq, streamid
from httpapi import Backend
from procs import SLOW
from test_srt import srt_server


@pytest.fixture
def asked(srs):
    """make(answer, **how) -> (port, backend): a server that authorizes publishers and players."""
    made = []

    def make(answer, **how):
        b = Backend(answer)
        made.append(b)
        events = "".join(f"{on} {b.url('/hook')};" for on in ("on_publish", "on_play"))
        return srt_server(srs, vhost=f"http_hooks {{ enabled on; {events} }}", **how), b

    yield make
    for b in made:
        b.close()


def extensions(what):
    return hsreq() + streamid("#!::" + what)


@pytest.mark.parametrize("mode", ["publish", "request"])
def test_who_is_denied_learns_why(asked, mode):
    """2401: this user may not, 2403: no one may; a caller that retries at once gets the remembered answer."""
    s, b = asked(lambda e: 1 if e["stream"] == "no" else 0)
    for asks, code in (("r=live/no", 2403), ("r=live/no,u=joe", 2401), ("r=live/yes", 0)):
        p = Peer(s.srt_port).induct()
        assert p.conclude(extensions(f"{asks},m={mode}")) == code, asks
        if code:
            p.id += 1000  # on the same worker: each has its own memory
            assert p.induct().conclude(extensions(f"{asks},m={mode}")) == code, asks
        p.close()
    hook = {"publish": "on_publish", "request": "on_play"}[mode]
    assert [e["stream"] for e in b.events if e["action"] == hook] == ["no", "no", "yes"]


def test_a_backend_that_is_not_there_is_a_no_for_now(asked):
    s, b = asked(None)
    b.close()
    p = Peer(s.srt_port).induct()
    assert p.conclude(extensions("r=live/x,m=publish")) == 1016
    p.close()


@pytest.mark.long
def test_a_slow_backend_is_a_no_before_the_caller_gives_up(asked):
    """A late answer changes nothing; a backend that takes a second is waited for."""
    s, _ = asked(lambda e: {"slow": 4.0 * SLOW, "late": 1.0}.get(e["stream"], 0))
    begin, peers = time.monotonic(), {}
    for asks, code in (("r=live/slow,m=publish", 1016), ("r=live/slow,m=request", 1016), ("r=live/late,m=publish", 0)):
        peers[asks] = p, _ = Peer(s.srt_port).induct(), code
        p.say(p.conclusion(extensions(asks)))
    for asks, (p, code) in reversed(peers.items()):
        h = p.hear_handshake(3 * SLOW)
        assert h and (0 if h[6] == 0xffffffff else h[6]) == code, (asks, h)
        p.to = h[7] if code == 0 else 0
    assert 2.4 < time.monotonic() - begin < 3 * SLOW
    assert s.wait_log("is refused with 1016", 1)
    time.sleep(max(0, begin + 4.5 * SLOW - time.monotonic()))
    assert not re.search("SRT publisher of .*live/slow", s.log())
    for p, _ in peers.values():
        p.close()
