# SPDX-License-Identifier: MIT
"""RTSP users: their permissions, and what happens to an address that guesses passwords."""
import re
import socket
import time

import pytest

from hostile_rtsp import SDP
from procs import SLOW, patience, wait_for
from rtspclient import RtspClient, basic, challenge, digest, rtsp_server
from rtsptunnel import Tunnel

WANTS = {"Accept": "application/sdp"}
ANNOUNCES = {"Content-Type": "application/sdp"}
USERS = "user viewer v play; user camera c publish; user me m play publish; user old o;"


def login(user, password, **more):
    return {"Authorization": basic(user, password), **more}


def client(s, ip):
    """A client from another address of this machine."""
    c = RtspClient(s.rtsp_port)
    c.close()
    c.sock = socket.create_connection(("127.0.0.1", s.rtsp_port), patience(5), source_address=(ip, 0))
    return c


def status(s, fields, ip="127.0.0.1", method="DESCRIBE"):
    c = client(s, ip)
    try:
        return c.request(method, s.rtsp_url(), {**WANTS, **fields}).status
    finally:
        c.close()


@pytest.fixture
def live(srs, source):
    """live(...): a server with users and the stream live/s."""
    def start(glob="", users=USERS, **how):
        s = rtsp_server(srs, rtsp=f"auth {{ enabled on; {users} }}", glob=glob, **how)
        s.push(source, loop=True, ahead=1)
        assert wait_for(lambda: status(s, login("old", "o"), "127.0.9.1") == 200, 10)
        return s
    return start


def guess(s, n, ip, password="wrong"):
    """This many at once, each on its own connection; returns when all are answered."""
    clients = [client(s, ip) for _ in range(n)]
    for c in clients:
        c.send(c.words("DESCRIBE", s.rtsp_url(), {**WANTS, **login("viewer", password)}))
    got = [c.answer().status for c in clients]
    for c in clients:
        c.close()
    return got


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.long), 4])
def test_who_guesses_is_locked(live, workers):
    """Ten wrong passwords lock the address for some time, even for the right one; other addresses are not affected."""
    s = live(f"limits {{ wrong_lock 4; }} workers {workers};")
    at = s.mark()
    assert guess(s, 10, "127.0.0.2") == [401] * 10
    locked = time.monotonic()
    c = client(s, "127.0.0.2")
    a = c.request("DESCRIBE", s.rtsp_url(), {**WANTS, **login("viewer", "v")})
    assert a.status == 403 and 1 <= int(a["retry-after"]) <= 5 and not a["www-authenticate"], a
    assert c.request("OPTIONS", s.rtsp_url()).status == 200
    c.close()
    assert set(guess(s, 30, "127.0.0.2")) == {403}, "a guess is checked"
    assert status(s, login("viewer", "v"), "127.0.0.3") == 200
    assert s.wait_log(r"RTSP passwords of 127\.0\.0\.2 are refused for 4 s after 10 wrong ones", 3, at)
    assert "RTSP passwords of 127.0.0.3" not in s.log()
    assert wait_for(lambda: status(s, login("viewer", "v"), "127.0.0.2") == 200, 10 * SLOW, 0.1), "the lock never ends"
    assert time.monotonic() - locked > 2


def test_what_is_no_guess(live):
    """Requests without credentials and expired nonces do not count."""
    s = live("limits { wrong_secrets 3; }")
    for _ in range(20):
        assert status(s, {}) == 401
    for _ in range(6):
        c = s.rtsp()
        ask = challenge(c.request("DESCRIBE", s.rtsp_url(), WANTS), "Digest")
        c.close()
        c = s.rtsp()
        a = c.request("DESCRIBE", s.rtsp_url(),
                      {**WANTS, "Authorization": digest(ask, "DESCRIBE", s.rtsp_url(), "viewer", "v")})
        assert a.status == 401 and challenge(a, "Digest")["stale"] == "true", a
        c.close()
    assert status(s, login("viewer", "v")) == 200


def test_a_digest_is_a_guess(live):
    s = live("limits { wrong_secrets 2; }")
    c = s.rtsp()
    ask = challenge(c.request("DESCRIBE", s.rtsp_url(), WANTS), "Digest")
    for _ in range(2):
        wrong = digest(ask, "DESCRIBE", s.rtsp_url(), "viewer", "wrong")
        assert c.request("DESCRIBE", s.rtsp_url(), {**WANTS, "Authorization": wrong}).status == 401
    right = digest(ask, "DESCRIBE", s.rtsp_url(), "viewer", "v")
    assert c.request("DESCRIBE", s.rtsp_url(), {**WANTS, "Authorization": right}).status == 403
    c.close()


# ---- roles

def transport(udp, n, more=""):
    return f"RTP/AVP;unicast;client_port={40000 + 2 * n}-{40001 + 2 * n}{more}" if udp else \
        f"RTP/AVP/TCP;unicast;interleaved={2 * n}-{2 * n + 1}{more}"


def play(c, url, who, udp):
    """Returns the statuses of DESCRIBE, SETUP and PLAY."""
    out = [c.request("DESCRIBE", url, {**WANTS, **who}).status,
           c.request("SETUP", f"{url}/trackID=0", {"Transport": transport(udp, 0), **who}).status]
    return out + [c.request("PLAY", url, who).status] if out[-1] == 200 else out


def publish(c, url, who, udp):
    out = [c.request("ANNOUNCE", url, {**ANNOUNCES, **who}, SDP).status]
    if out == [403]:
        return out
    return out + [c.request("SETUP", f"{url}/trackID=0", {"Transport": transport(udp, 1, ";mode=record"), **who}).status,
                  c.request("RECORD", url, who).status]


MAY = {("viewer", "v"): (True, False), ("camera", "c"): (False, True), ("me", "m"): (True, True), ("old", "o"): (True, True)}


@pytest.mark.parametrize("way", ["tcp", "udp", "tunnel"])
def test_roles(live, way):
    """A user who may play cannot publish, and vice versa: 403 with one line, over any transport."""
    s = live()
    open_one = (lambda: Tunnel(s.rtsp_port)) if way == "tunnel" else s.rtsp
    for (user, password), (plays, publishes) in MAY.items():
        who, at = login(user, password), s.mark()
        c = open_one()
        assert play(c, s.rtsp_url(), who, way == "udp") == ([200] * 3 if plays else [403] * 2), user
        c.close()
        c = open_one()
        assert publish(c, s.rtsp_url(f"of-{user}"), who, way == "udp") == ([200] * 3 if publishes else [403]), user
        c.close()
        want = ["play"] * 2 * (not plays) + ["publish"] * (not publishes)
        assert wait_for(lambda: re.findall("refused with 403: .*the user may not (play|publish)", s.log()[at:]) == want, 5), \
            (user, s.log()[at:])


def test_roles_on_one_connection(live):
    """A login to play does not allow publishing the same stream, whatever failed before."""
    s = live(server="describe_wait 0;")
    c = s.rtsp()
    url = s.rtsp_url("none")
    assert c.request("DESCRIBE", url, {**WANTS, **login("viewer", "v")}).status == 404
    assert c.request("ANNOUNCE", url, {**ANNOUNCES, **login("viewer", "v")}, SDP).status == 403
    assert c.request("ANNOUNCE", url, {**ANNOUNCES, **login("camera", "wrong")}, SDP).status == 401
    assert c.request("ANNOUNCE", url, {**ANNOUNCES, **login("camera", "c")}, SDP).status == 200
    assert c.request("DESCRIBE", s.rtsp_url(), {**WANTS, **login("viewer", "v")}).status == 455, "it does not publish"
    c.close()
