# SPDX-License-Identifier: MIT
"""Signed links, JWT and stream keys, over every protocol, and attempts to forge them."""
import os
import re
import subprocess
import time

import pytest

import hls
import httpapi
import tokens
import tools
from httpapi import Api
from procs import BINARY, free_port, wait_for
from rtmpclient import Closed, Rejected
from test_hooks import backend, hooks  # noqa: F401
from test_metrics import scrape, values
from tokens import SECRET, Key, hs256, link
from webclient import FlvWatcher, Http


def security(token="", more=""):
    return f"security {{ enabled on; token {{ {token} }} {more} }}"


BOTH = security(f"publish on; play on; secret {SECRET}; jwt_secret {SECRET};")


def may(s, what, name, **how):
    c = s.client()
    try:
        getattr(c, what)(name, **how)
        return True
    except (Rejected, Closed):
        return False
    finally:
        c.close()


@pytest.fixture
def site(srs, tmp_path):
    """site(vhost) starts a server with every player protocol; .web is its port, .api its API."""
    def start(vhost=BOTH, glob=""):
        web, api, html = free_port(), free_port(), tmp_path / "html"
        html.mkdir(exist_ok=True)
        s = srs(f"{vhost} http_remux {{ enabled on; }}"
                f"hls {{ enabled on; hls_path {html}; hls_fragment 1; hls_window 6; }}"
                f"dash {{ enabled on; dash_path {html}; dash_fragment 1; dash_update_period 1; }}",
                f"http_server {{ enabled on; listen 127.0.0.1:{web}; dir {html}; }}"
                + httpapi.conf(api) + glob)
        s.web, s.api, s.html = web, Api(api), str(html)
        return s
    return start


def good():
    """Valid credentials of both kinds."""
    return {
        "link": (link("publish"), link("play")),
        "JWT": ("?token=" + hs256(publish="live/s"), "?jwt=" + hs256(play=["x", "live/*"])),
    }


def bad():
    """Forged credentials."""
    past = int(time.time()) - 60
    return {
        "nothing": ("", ""),
        "expired": (link("publish", span="0s"), link("play", span="0s")),
        "the other's": (link("play"), link("publish")),
        "other stream": (link("publish", "live/t"), link("play", "live/t")),
        "other secret": (link("publish", secret="x" * 32), link("play", secret="x" * 32)),
        "other address": (link("publish", ip="10.9.9.9"), link("play", ip="10.9.9.9")),
        "JWT expired": ("?token=" + hs256(publish="*", exp=past),
                        "?token=" + hs256(play="*", exp=past)),
        "JWT the other's": ("?token=" + hs256(play="*"), "?token=" + hs256(publish="*")),
        "JWT none": ("?token=" + hs256(alg="none", publish="*"),
                     "?token=" + hs256(alg="none", play="*")),
    }


WS = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Version": "13",
      "Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ=="}


def first(port, path, **headers):
    """The status of a response that may have no end."""
    with Http(port) as h:
        h.ask(path, **headers)
        return h.head()[0]


def plays(s, query):
    """Protocols over which it may play now."""
    url = f"http://127.0.0.1:{s.web}/live/s"
    got = ["rtmp"] if may(s, "play", "s" + query) else []
    for name, headers, yes in (("flv", {}, 200), ("ws", WS, 101)):
        status = first(s.web, "/live/s.flv" + query, **headers)
        assert status in (yes, 403), (name, status)
        got += [name] if status == yes else []
    for name in ("m3u8", "mpd"):
        status = hls.get(f"{url}.{name}{query}")[0]
        assert status in (200, 403), (name, status)
        got += [name] if status == 200 else []
    return got


ALL = ["rtmp", "flv", "ws", "m3u8", "mpd"]


def test_by_every_protocol(site, source):
    """Valid credentials play over each of them, others over none."""
    port = free_port()
    s = site(glob=f"exporter {{ enabled on; listen 127.0.0.1:{port}; }}")
    for name, (publish, _) in bad().items():
        assert not may(s, "publish", "s" + publish), name
    for name, (publish, _) in good().items():
        assert may(s, "publish", "s" + publish), name
    s.push(source, "s" + link("publish"), loop=True, ahead=5)
    assert wait_for(lambda: os.path.exists(s.html + "/live/s.m3u8")
                    and os.path.exists(s.html + "/live/s.mpd"), 10)
    for name, (publish, play) in good().items():
        assert plays(s, play) == ALL, name
        assert not may(s, "publish", "t" + publish), name
    for name, (_, play) in bad().items():
        assert plays(s, play) == [], name
    for words in (r"link expired \d+ s ago", "the link is to publish", "wrong signature",
                  "no token to play", "for another address", "no key for a JWT with alg none"):
        assert s.wait_log(words, 2), words
    want = {'action="publish",result="denied"': len(bad()) + len(good()),
            'action="publish",result="ok"': len(good()) + 1,
            'action="play",result="ok"': len(good()) * len(ALL),
            'action="play",result="denied"': len(bad()) * len(ALL)}
    counts = {}  # other workers report theirs once a second
    assert wait_for(lambda: counts.update(values(scrape(port))["srs_tokens_total"]) or counts == want, step=0.2), counts
    for name in os.listdir(s.html + "/live"):  # nor by guessing the names of files
        assert hls.get(f"http://127.0.0.1:{s.web}/live/{name}")[0] in (403, 404), name


def test_tcurl_and_bearer(site, source):
    """In the address of the application, as some encoders send it; in the header of a request."""
    s = site()
    url = f"rtmp://127.0.0.1:{s.port}/live"
    c = s.client().publish("s", tcurl=url + link("publish"))
    assert may(s, "play", "s", tcurl=url + "?token=" + hs256(play="live/s"))
    assert not may(s, "play", "s", tcurl=url + "?token=" + hs256(play="live/t"))
    for jwt, status in ((hs256(play="live/s"), 200), (hs256(play="live/t"), 403), ("x", 403)):
        assert first(s.web, "/live/s.flv", Authorization="Bearer " + jwt) == status
    c.close()


def test_keys(srs, source):
    s = srs(security(more="key live/cam s3cret-9; key live/cam old-one-9; key shows/* abc.def-9;"))
    for name, app, yes in (("cam", "live", False), ("cam?key=s3cret", "live", False),
                           ("cam?key=s3cret-9x", "live", False), ("cam?key=", "live", False),
                           ("cam?key=s3cret-9", "live", True), ("cam?secret=old-one-9", "live", True),
                           ("other", "live", True), ("a?key=s3cret-9", "shows", False),
                           ("a?key=abc.def-9", "shows", True)):
        assert may(s, "publish", name, app=app) is yes, name
    assert may(s, "play", "cam")
    assert s.wait_log("wrong stream key", 2) and s.wait_log("no stream key", 2)


def test_real_programs(site, tmp_path):
    """ffmpeg publishes with a key and plays with links and a JWT, over all its protocols."""
    s = site(security(f"publish on; play on; secret {SECRET}; jwt_secret {SECRET};",
                      "key live/s abcd-efgh;"))
    tools.ffmpeg_publish(s.url("s") + "?key=abcd-efgh", tmp_path / "publish.log", rate=3, loop=True)
    assert wait_for(lambda: os.path.exists(s.html + "/live/s.m3u8")
                    and os.path.exists(s.html + "/live/s.mpd"), 15)
    web = f"http://127.0.0.1:{s.web}/live/s"
    jobs = []
    for i, (url, query) in enumerate(((s.url("s"), link("play")), (web + ".flv", link("play")),
                                      (web + ".m3u8", link("play")), (web + ".mpd", link("play")),
                                      (web + ".m3u8", "?jwt=" + hs256(play="live/s")))):
        out = tmp_path / f"{i}.md5"
        jobs.append((url, out, tools.ffmpeg_frames(url + query, tmp_path / f"{i}.log", out)))
    for url, out, job in jobs:
        assert wait_for(lambda: len(tools.frame_list(out)) > 30, 15), (url, job.text()[-800:])
    r = tools.run(["ffmpeg", "-nostdin", "-i", web + ".m3u8", "-t", "1", "-f", "null", "-"],
                  check=False)
    assert r.returncode and b"403" in r.stderr


def test_an_expired_link_ends_no_player(site, source):
    """Admitted players stay, and their HLS session continues; others are rejected."""
    s = site()
    s.push(source, "s" + link("publish"), loop=True, ahead=5)
    assert wait_for(lambda: os.path.exists(s.html + "/live/s.m3u8"), 10)
    query, ends = link("play", span="2s"), time.time() + 2
    w = FlvWatcher(s.web, "/live/s.flv" + query)
    status, _, body = hls.get(f"http://127.0.0.1:{s.web}/live/s.m3u8{query}")
    assert status == 200
    child = hls.join(f"http://127.0.0.1:{s.web}/live/", body.decode().strip().split("\n")[-1])
    assert wait_for(lambda: time.time() > ends + 0.1, 4)
    assert first(s.web, "/live/s.flv" + query) == 403
    assert hls.get(f"http://127.0.0.1:{s.web}/live/s.m3u8{query}")[0] == 403
    before = len(w.tags)
    assert w.wait(lambda got: len(got) > before + 10, 5)
    w.stop()
    for x in hls.get_list(child).segments:
        assert hls.get(hls.join(child, x.uri))[0] == 200


def test_an_expired_link_ends_who_is_in(site, source):
    """With at_expiry end, over every protocol; and no others."""
    s = site(security(f"publish on; play on; secret {SECRET}; jwt_secret {SECRET}; at_expiry end;",
                      "key live/k abcd-efgh;"))
    s.push(source, "s" + link("publish"), loop=True, ahead=5)
    stays = [s.push(source, "k?key=abcd-efgh", loop=True),
             s.push(source, "j?token=" + hs256(publish="live/j", exp=int(time.time()) + 60), loop=True)]
    players = [s.watch("s" + link("play")), FlvWatcher(s.web, "/live/s.flv" + link("play"))]
    assert wait_for(lambda: os.path.exists(s.html + "/live/s.m3u8")
                    and os.path.exists(s.html + "/live/s.mpd"), 10)
    base, query = f"http://127.0.0.1:{s.web}/live/", link("play", span="3s")
    publisher = s.push(source, "t" + link("publish", "live/t", span="3s"), loop=True)
    ends = [s.watch("s?token=" + hs256(play="live/s", exp=int(time.time()) - 27)), s.watch("s" + query),
            FlvWatcher(s.web, "/live/s.flv" + query), FlvWatcher(s.web, "/live/s.flv" + query, ws=True)]
    child = hls.join(base, hls.get(base + "s.m3u8" + query)[2].decode().strip().split("\n")[-1])
    segment = hls.join(base, hls.get_list(child).segments[-1].uri)
    mpd = hls.join(base, re.search("<Location>(.*)</Location>",
                                   hls.get(base + "s.mpd" + query)[2].decode())[1].replace("&amp;", "&"))
    assert [hls.get(x)[0] for x in (child, segment, mpd)] == [200] * 3
    assert wait_for(lambda: all(w.ended for w in ends) and publisher.error, 8)
    assert wait_for(lambda: [hls.get(x)[0] for x in (child, segment, mpd)] == [403] * 3, 3)
    assert s.wait_log(r"code=2056\(EXPIRED\).* publish live/t", 3)
    for what, n in (("play live/s", 2), (r"play \.flv", 2), (r"HLS session \w+: .*EXPIRED", 1),
                    (r"DASH session \w+: .*EXPIRED", 1)):
        assert s.wait_log(what if "session" in what else rf"EXPIRED\).* {what}", 3, count=n), what
    assert not any(w.ended for w in players) and not any(p.error for p in stays)
    assert len(s.api.clients()) == 5


def test_backends_hear_of_the_right_ones_only(backend, site, source):  # noqa: F811
    b = backend()
    s = site(BOTH + hooks(b, "on_publish", "on_play"))
    for name, (publish, play) in bad().items():
        assert not may(s, "publish", "s" + publish) and not may(s, "play", "s" + play), name
    assert b.events == []
    assert may(s, "publish", "s" + link("publish")) and may(s, "play", "s" + link("play"))
    b.wait("on_publish")
    b.wait("on_play")


def test_jwks(srs, tmp_path):
    """Keys in a file: it is reloaded when it changes; a broken file changes nothing."""
    path, rsa, ec, late = (tmp_path / "jwks.json", Key(tmp_path, "RS256", "r"),
                           Key(tmp_path, "ES256", "e"), Key(tmp_path, "ES256", "late"))
    tokens.jwks(path, rsa, ec)
    vhost = security(f"publish on; play on; jwks {path}; issuer me; audience us;")
    s = srs(vhost)
    claims = {"publish": "live/*", "play": "live/s", "iss": "me", "aud": ["us"]}
    for key in (rsa, ec):
        assert may(s, "publish", "s?token=" + key.jwt(**claims))
        assert may(s, "play", "s?token=" + key.jwt(**claims))
        assert not may(s, "play", "t?token=" + key.jwt(**claims))
        assert not may(s, "play", "s?token=" + key.jwt(**{**claims, "iss": "you"}))
    assert not may(s, "play", "s?token=" + late.jwt(**claims))
    assert not may(s, "play", "s?token=" + hs256(secret=rsa.jwk["n"], **claims))

    path.write_text("{")
    assert s.wait_log("the old keys remain in use", 5)
    assert may(s, "play", "s?token=" + ec.jwt(**claims))
    tokens.jwks(path, late)
    assert wait_for(lambda: may(s, "play", "s?token=" + late.jwt(**claims)), 8, 0.2)
    assert not may(s, "play", "s?token=" + ec.jwt(**claims))

    at = s.mark()
    s.reload(security("play on; jwks /no/such.json;"), ok=False)
    assert "No such file" in s.log()[at:]
    assert may(s, "play", "s?token=" + late.jwt(**claims))


def check(conf, tmp_path):
    path = tmp_path / "x.conf"
    path.write_text(f"listen 1935; daemon off; vhost v {{ {conf} }}")
    r = subprocess.run([BINARY, "-t", "-c", str(path)], capture_output=True, text=True, timeout=20,
                       cwd=tmp_path)
    return r.returncode, r.stderr


def test_the_configuration_is_checked(tmp_path):
    ec = Key(tmp_path, "ES256", "e")
    tokens.jwks(tmp_path / "jwks.json", ec)
    for conf, good, words in (
            (security("play on; jwks jwks.json;"), True, ""),
            (security("play on; jwks none.json;"), False, "none.json: No such file"),
            (security("play on; jwks e.pem;"), False, "not a JWKS"),
            (security("play on;"), False, "no way to check a token"),
            (security("play on; secret short;"), True, "can be guessed"),
            (security(more="key live/a b;"), True, "can be guessed")):
        code, text = check(conf, tmp_path)
        assert (code == 0) is good and words in text, (conf, code, text)


def test_secrets_are_not_shown(site, source):
    """Not in the log, neither after a reload nor after a wrong credential."""
    s = site(security(f"publish on; secret {SECRET};", "key live/k key-of-live-k;"))
    assert not may(s, "publish", "s?sign=abc&expires=1")
    s.reload(security("publish on; secret " + "z" * 32 + ";", "key live/k key-changed;"))
    assert SECRET not in s.log() and "zzzz" not in s.log()
    assert "key-of-live" not in s.log() and "key-changed" not in s.log()


@pytest.mark.parametrize("end", ["ts", "aac", "mp3"])
def test_other_live_streams_over_http(srs, source, end):
    web = free_port()
    s = srs(BOTH + f"http_remux {{ enabled on; mount [vhost]/[app]/[stream].{end}; }}",
            f"http_server {{ enabled on; listen 127.0.0.1:{web}; }}")
    assert first(web, f"/live/s.{end}") == 403
    assert first(web, f"/live/s.{end}{link('play', 'live/t')}") == 403
    assert first(web, f"/live/s.{end}{link('play')}") == 200
