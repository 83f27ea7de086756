# SPDX-License-Identifier: MIT
"""An HLS player is a client like others: authorized, listed, counted, disconnected, and reported when it ends."""
import socket
import time
import urllib.request

import pytest

import hls
import httpapi
from httpapi import Api
from procs import free_port, never, wait_for
from test_hls import conf, html, listed, with_http  # noqa: F401
from test_hooks import backend, hooks  # noqa: F401

WINDOW = 1  # seconds: a player without requests for twice as long has stopped


class Site:
    """A server with a stream and a player's view of it."""

    def __init__(self, srs, html, source, vhost="", glob="", more="", window=WINDOW, name="s"):
        self.web, http = with_http(html)
        self.api = Api(free_port())
        self.vhost, self.more, self.window, self.html = vhost, more, window, html
        self.glob = http + httpapi.conf(self.api.port) + glob
        self.srs = srs(conf(html, more, fragment=1, window=window, ctx="on") + vhost, self.glob)
        self.pusher = self.srs.push(source, name, loop=True, ahead=7)
        self.path = listed(html, 2, name, 10)
        self.url = f"http://127.0.0.1:{self.web}/live/{name}.m3u8"

    def begin(self, query="", **how):
        """Makes a player's first request: the url of the media playlist."""
        status, _, body = hls.get(self.url + query, **how)
        if status != 200:
            return status
        return hls.join(self.url, body.decode().strip().split("\n")[-1])

    def players(self):
        return [c for c in self.api.clients() if c["type"] == "hls-play"]


def session_key(child):
    return child.split("hls_ctx=")[1].split("&")[0]


def session_id(child):
    """Id of the client: the beginning of the key."""
    return session_key(child)[:8]


def test_a_player_is_a_client(backend, srs, html, source):
    b = backend()
    site = Site(srs, html, source, hooks(b, "on_publish", "on_play", "on_stop"))
    child = site.begin("?token=x", headers={"Referer": "http://page/"})
    cid = session_id(child)
    play = b.wait("on_play")
    got = hls.get_list(child)
    total = 0
    for x in got.segments:  # some from memory, some from disk
        status, _, body = hls.get(hls.join(child, x.uri))
        assert status == 200
        total += len(body)
    one = site.players()
    assert [c["id"] for c in one] == [cid] == [play["client_id"]]
    assert one[0]["ip"] == "127.0.0.1" and one[0]["name"] == "s" and one[0]["url"] == "/live/s"
    assert one[0]["publish"] is False and one[0]["pageUrl"] == "http://page/"
    assert one[0]["tcUrl"] == f"http://127.0.0.1:{site.web}/live"
    assert one[0]["send_bytes"] >= total, "bytes of segments are not counted for it"
    assert site.api.stream("s")["clients"] == 2
    assert site.api.get(f"clients/{cid}")["client"]["id"] == cid
    metrics = site.api.raw("/metrics")[2].decode()
    assert play["stream"] == "s" and play["app"] == "live" and play["param"] == "?token=x"
    assert play["pageUrl"] == "http://page/" and play["ip"] == "127.0.0.1" and play["clients"] == 2
    assert play["stream_url"] == "/live/s" and play["stream_id"] == site.api.stream("s")["id"]
    assert len(b.of("on_play")) == 1, "a callback for each request"
    stop = b.wait("on_stop", timeout=2 * WINDOW + 4)
    assert stop["client_id"] == cid and stop["param"] == "?token=x" and stop["stream"] == "s"
    assert not site.players() and site.api.stream("s")["clients"] == 1
    assert site.srs.wait_log(rf"\[{cid}\].*client finished: HLS player of live/s from .* \d+ requests, session {cid}: no request for", 1)
    site.pusher.stop()
    site.pusher.client.close()
    assert wait_for(lambda: not site.api.streams(), 5), "it still uses resources"
    assert len(b.of("on_stop")) == 1
    assert "hls-play" in metrics or "code" in metrics


@pytest.mark.long
def test_who_goes_on_asking_stays(backend, srs, html, source):
    b = backend()
    site = Site(srs, html, source, hooks(b, "on_play", "on_stop"), window=3)
    child = site.begin()
    for _ in range(8):
        assert hls.get(child)[0] == 200
        assert never(lambda: b.of("on_stop"), 1.0)
    assert len(b.of("on_play")) == 1 and len(site.players()) == 1


def test_denied(backend, srs, html, source):
    b = backend(lambda e: 1 if e.get("param") == "?token=bad" else 0)
    site = Site(srs, html, source, hooks(b, "on_play", "on_stop", extra="retries 0;"))
    assert site.begin("?token=bad") == 403
    child = site.begin("?token=good")
    assert hls.get(child)[0] == 200
    bad = site.url + "?hls_ctx=abcdefgh&token=bad"
    assert hls.get(bad)[0] == 403, "an invented id must be authorized, too"
    assert [c["id"] for c in site.players()] == [session_id(child)]
    site.srs.allow_errors = True
    b.close()
    assert site.begin("?token=good") == 503, "no backend answered"
    assert len(b.of("on_stop")) == 0


def test_kicked(backend, srs, html, source):
    b = backend()
    site = Site(srs, html, source, hooks(b, "on_play", "on_stop"))
    child, other = site.begin(), site.begin()
    segment = hls.join(child, hls.get_list(child).segments[-1].uri)
    cid = session_id(child)
    assert hls.get(segment)[0] == 200
    assert site.api.kick(cid)["code"] == 0
    assert hls.get(child)[0] == 403 and hls.get(segment)[0] == 403
    assert b.wait("on_stop")["client_id"] == cid
    assert [c["id"] for c in site.players()] == [session_id(other)]
    assert site.api.get(f"clients/{cid}", "DELETE")["code"] == 2049
    began = time.monotonic()
    while time.monotonic() - began < 3:  # longer than it is remembered: it stays rejected while it makes requests
        assert hls.get(child)[0] == 403
        assert never(lambda: hls.get(other)[0] != 200, 0.5)
    assert len(b.of("on_stop")) == 1 and len(b.of("on_play")) == 2, \
        "a client that keeps making requests stays admitted"
    assert hls.get(site.begin())[0] == 200, "a new one is not authorized again"


def test_kick_who_waits_for_the_backend(backend, srs, html, source):
    b = backend(lambda e: 30.0 if e.get("param") == "?slow" else 0)
    site = Site(srs, html, source, hooks(b, "on_play", "on_stop"))
    with socket.create_connection(("127.0.0.1", site.web), 5) as c:
        c.sendall(b"GET /live/s.m3u8?slow HTTP/1.1\r\nHost: me\r\n\r\n")
        cid = b.wait("on_play")["client_id"]
        assert [x["id"] for x in site.players()] == [cid] and site.api.stream("s")["clients"] == 1
        assert cid not in hls.get(f"{site.url}?hls_ctx={cid}")[2].decode(), "the id alone is a key"
        assert hls.get(site.begin())[0] == 200, "others wait"
        assert site.api.kick(cid)["code"] == 0
        c.settimeout(5)
        assert b" 200 " not in c.recv(1000)
    assert wait_for(lambda: cid not in [x["id"] for x in site.players()], 3)
    assert not b.of("on_stop"), "it never played"


@pytest.mark.long
def test_client_that_leaves_while_the_backend_thinks(backend, srs, html, source):
    b = backend(lambda e: 1.0 if e.get("param") == "?slow" else 0)
    site = Site(srs, html, source, hooks(b, "on_play", "on_stop"), window=1)
    with socket.create_connection(("127.0.0.1", site.web), 5) as c:
        c.sendall(b"GET /live/s.m3u8?slow HTTP/1.1\r\nHost: me\r\n\r\n")
        b.wait("on_play")
    assert b.wait("on_stop", timeout=2 * WINDOW + 5)["param"] == "?slow"
    assert not site.players()


def fetch(child):
    """Fetches the newest segment of the playlist."""
    return hls.get(hls.join(child, hls.get_list(child).segments[-1].uri))


@pytest.mark.parametrize("limits,more", [
    ("hls_sessions 20;", ""), ("limit_private on; per_address 0; connects_per_second 0; hls_address_sessions 20;", ""),
    ("hls_sessions 20;", "hls_ts_ctx off;")])
def test_who_fetched_nothing_makes_room(srs, html, source, limits, more):
    """An address that starts sessions and abandons them blocks no one, and active players keep their place."""
    site = Site(srs, html, source, glob=f"limits {{ {limits} }}", window=30, more=more)
    mine = site.begin()
    assert fetch(mine)[0] == 200
    if more:
        assert hls.get(mine)[0] == 200
    idle = [site.begin() for _ in range(60)]
    assert all(isinstance(x, str) for x in idle), [x for x in idle if not isinstance(x, str)]
    left = {c["id"] for c in site.players()}
    assert len(left) == 20 and session_id(mine) in left
    assert {session_id(x) for x in idle[-19:]} <= left, "the oldest do not go first"
    assert site.srs.wait_log("sessions.*: the oldest session that fetched no segment makes room|makes room", 2)
    assert fetch(mine)[0] == 200 and fetch(idle[-1])[0] == 200


def test_an_address_has_its_share(srs, html, source):
    """Others are admitted while one address uses its whole share; a /64 counts as one address."""
    site = Site(srs, html, source, glob="limits { limit_private on; per_address 0; connects_per_second 0; "
                                        "hls_address_sessions 3; }", window=30)
    for address, other in (("192.0.2.1", "192.0.2.2"), ("2001:db8::1", "2001:db8:0:1::1")):
        children = [site.begin(headers={"X-Forwarded-For": address}) for _ in range(3)]
        assert all(fetch(x)[0] == 200 for x in children)
        last = address if "." in address else "2001:db8::2"
        assert site.begin(headers={"X-Forwarded-For": last}) == 503
        assert fetch(site.begin(headers={"X-Forwarded-For": other}))[0] == 200
    assert site.srs.wait_log("limits.hls_address_sessions.*refused", 2)


def test_keys_are_secret(srs, html, source):
    """The id that others see in the API and the log is not a key; keys have 120 random bits."""
    site = Site(srs, html, source, window=30)
    keys = [session_key(site.begin()) for _ in range(20)]
    assert all(len(k) == 32 and k.isalnum() for k in keys) and len({k[8:] for k in keys}) == 20
    seen = site.srs.text() + site.api.raw("/api/v1/clients/?count=100")[2].decode()
    assert keys[0][:8] in seen and not any(k[8:] in seen for k in keys)
    wrong = keys[0][:-1] + ("a" if keys[0][-1] != "a" else "b")
    assert "#EXT-X-STREAM-INF" in hls.get(f"{site.url}?hls_ctx={wrong}")[2].decode(), "it does not get its own"
    assert hls.get(f"{site.url}?hls_ctx={keys[0]}")[2].startswith(b"#EXTM3U")


def test_bounded(srs, html, source):
    site = Site(srs, html, source, glob="limits { hls_sessions 3; }", window=1)
    mine = [site.begin() for _ in range(3)]
    assert all(fetch(x)[0] == 200 for x in mine)
    assert site.begin() == 503
    assert site.srs.wait_log("3 HLS sessions: over limits.hls_sessions.*refused", 2)
    assert all(hls.get(x)[0] == 200 for x in mine), "an admitted client does not stay"
    assert wait_for(lambda: not site.players(), 10)
    assert hls.get(site.begin())[0] == 200


def test_an_id_outlives_the_server(backend, srs, html, source):
    """The player's playlist has its id; a restart, or a long pause, does not end playback."""
    b = backend()
    site = Site(srs, html, source, hooks(b, "on_play", "on_stop"), window=30)
    child = site.begin("?a=b")
    first = hls.get_list(child)
    site.pusher.stop()
    site.pusher.client.close()
    site.srs.stop()
    assert b.wait("on_stop")["client_id"] == session_id(child), "not reported when the server ends"
    site.srs.start()
    site.pusher = site.srs.push(source, loop=True, ahead=7)
    assert wait_for(lambda: len(hls.load(site.path).segments) > len(first.segments) + 1, 10)
    again = hls.get_list(child)
    assert again.segments[0].uri == first.segments[0].uri and session_id(again.segments[0].uri)
    assert [e["client_id"] for e in b.of("on_play")] == [session_id(child)] * 2
    assert [e["param"] for e in b.of("on_play")] == ["?a=b"] * 2
    assert [c["id"] for c in site.players()] == [session_id(child)]


def test_odd_ids(srs, html, source):
    """An invalid id, or one of another client, gets a new session."""
    site = Site(srs, html, source, window=30)
    publisher = site.api.stream("s")["publish"]["cid"]
    for odd in ("x", "x" * 32 + "y", "x" * 8, "", "../../ab", "%00bcdefgh", publisher, publisher + "x" * 24):
        text = hls.get(f"{site.url}?hls_ctx={odd}")[2].decode()
        assert "#EXT-X-STREAM-INF" in text and f"hls_ctx={odd}\n" not in text, odd
    text = hls.get(f"{site.url}?hls_ctx=ABCD1234{'x' * 24}")[2].decode()  # a possible id
    assert "#EXTINF" in text and "ABCD1234" in [c["id"] for c in site.players()]


def test_head_and_rules(srs, html, source):
    site = Site(srs, html, source, "security { enabled on; deny play 127.0.0.2; }")
    _, get, _ = hls.get(site.url)
    assert wait_for(lambda: len(site.players()) == 1, 2)
    with urllib.request.urlopen(urllib.request.Request(site.url, method="HEAD"), timeout=5) as r:
        assert r.status == 200 and r.headers.items() == get.items()
    assert wait_for(lambda: not site.players(), 10)
    with urllib.request.urlopen(urllib.request.Request(site.url, method="HEAD"), timeout=5) as r:
        assert r.status == 200 and "mpegurl" in r.headers["Content-Type"]
    assert not site.players(), "a client that only looks counts as a player"
    assert site.begin(headers={"X-Forwarded-For": "127.0.0.2"}) == 403
    assert not site.players()


def test_vhost_of_the_stream_counts(backend, srs, html, source):
    """Another Host does not bypass the callbacks of the stream's vhost."""
    b = backend(lambda e: 1)
    web, http = with_http(html)
    s = srs(f"vhost a.example {{ {conf(html, fragment=1, ctx='on')} {hooks(b, 'on_play')} }}\n"
            "vhost b.example { }\nvhost __defaultVhost__ { }", http)
    p = s.push(source, "s?vhost=a.example", speed=4, loop=True)
    listed(html, 2, timeout=10)
    for host in ("a.example", "b.example", "other"):
        assert hls.get(f"http://127.0.0.1:{web}/live/s.m3u8", headers={"Host": host})[0] == 403
    assert len(b.of("on_play")) == 3
    p.stop()


def test_low_latency_players_too(backend, srs, html, source):
    b = backend()
    site = Site(srs, html, source, hooks(b, "on_play", "on_stop"), more="hls_ll on;")
    child = site.begin()
    got = hls.get_list(child)
    waits = hls.get_list(f"{child}&_HLS_msn={got.sequence + len(got.segments)}&_HLS_part=0")
    assert f"hls_ctx={session_id(child)}" in waits.hint
    assert hls.get(hls.join(child, waits.hint))[0] == 200
    assert len(b.of("on_play")) == 1 and len(site.players()) == 1
