# SPDX-License-Identifier: MIT
"""The server's own pages: / and /players/ over HTTP, and in a real browser."""
import base64
import json
import os
import shutil
import subprocess
import time

import pytest

import browser
import firefox
import procs
import webkit
from procs import free_port, wait_for
from webclient import Cert, Http, once

FOLDER = os.path.dirname(procs.BINARY)
chromium = pytest.mark.skipif(not browser.chromium(), reason="no Chromium")
players = pytest.mark.skipif(not os.path.exists(os.path.join(FOLDER, "player", "dash.js")), reason="no players: make player")
VHOST = "http_remux { enabled on; } hls { enabled on; hls_fragment 2; hls_path ./; } dash { enabled on; dash_path ./; }"


@pytest.fixture
def pages(srs, tmp_path):
    """pages(vhost, api, server) starts a server with its API and a folder of files; returns it, the ports, the folder."""
    def start(vhost=VHOST, api="enabled on;", server="", more="", **how):
        root = tmp_path / "html"
        root.mkdir(exist_ok=True)
        a, w = free_port(), free_port()
        s = srs(vhost.replace("./", str(root)), f"""http_api {{ listen 127.0.0.1:{a}; {api} }}
http_server {{ enabled on; listen 127.0.0.1:{w}; dir {root}; {server} }} {more.replace("./", str(root))}""", **how)
        return s, a, w, root
    return start


def test_pages_of_ours(pages):
    s, api, web, root = pages()
    with Http(web) as h:
        home = h.get("/")
        assert home.status == 200 and b"<title>Sluice media server" in home.body and home.body == h.get("/index.html").body
        policy = home.headers["content-security-policy"]
        assert "script-src 'self';" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert b"<title>Sluice players" in h.get("/players/").body
        assert h.get("/players?a=b").headers["location"] == "/players/?a=b"
        for name, title in (("srs_player.html?stream=x", b"Sluice player"), ("rtc_player.html", b"Sluice player"), ("whep.html", b"Sluice player"),
                            ("rtc_publisher.html", b"Sluice: publish from a page"), ("whip.html", b"Sluice: publish from a page"), ("vlc.html", b"Sluice player")):
            page = h.get("/players/" + name)
            assert b"<title>%s<" % title in page.body, name
            assert "script-src 'self';" in page.headers["content-security-policy"]
            assert "frame-ancestors" not in page.headers["content-security-policy"], "users embed it in frames"
        assert h.get("/console/ng_index.html").headers["location"] == "/console/"
        for path in "/players/nothing.html", "/players/play.js", "/players/../home.html", "/home.html", "/players/x/":
            assert h.get(path).status == 404, path
        where = json.loads(h.get("/console/where.json").body)
        assert where == {"here_is_api": False, "api": api, "api_tls": 0, "rtmp": s.port, "rtmps": 0, "srt": 0, "rtsp": 0, "rtmfp": 0,
                         "rtc": False, "players": where["players"]}
    assert once(web, "/", "POST").status == 405
    assert json.loads(once(api, "/").body)["urls"] == {"api": "the api root"}, "the API's port is for programs"
    assert once(api, "/players/").status == 404


def test_who_has_files_shows_his_own(pages):
    s, api, web, root = pages(more="vhost files { http_static { enabled on; mount [vhost]/; dir ./; } }")
    (root / "players").mkdir()
    (root / "index.html").write_text("mine")
    (root / "players" / "srs_player.html").write_text("my player")
    with Http(web) as h:
        assert h.get("/").body == b"mine" == h.get("/index.html").body
        assert h.get("/players/srs_player.html").body == b"my player"
        assert "content-security-policy" not in h.get("/").headers, "users' pages must be unrestricted"
        assert b"<title>Sluice player<" in h.get("/players/whep.html").body and b"<title>Sluice players" in h.get("/players/").body
        (root / "players" / "index.html").write_text("my players")
        assert h.get("/players/").body == b"my players"
        os.rename(root / "index.html", root / "index.htm")
        assert h.get("/").body == b"mine" and b"<title>" in h.get("/index.html").body
        os.unlink(root / "index.htm")
        assert b"<title>Sluice media server" in h.get("/").body
        assert h.get("/", Host="files").status == 404, "a folder of a vhost is separate"


def test_players_that_are_not_to_be_had(tmp_path):
    """make needs no npm and does not call it; a request for the libraries says what is missing."""
    tools, calls = tmp_path / "bin", tmp_path / "calls"
    tools.mkdir()
    for name in "sh", "cat", "cksum", "cp", "dirname", "mkdir", "mktemp", "rm", "timeout":
        os.symlink(shutil.which(name), tools / name)

    def get(*copy):
        script = os.path.join(procs.ROOT, "3rdparty", "install-player.sh")
        r = subprocess.run([script, *copy, str(tmp_path / "player")], cwd=tmp_path, env={"PATH": str(tools)},
                           capture_output=True, text=True, timeout=30)
        return r.returncode, r.stderr
    assert get("--copy") == (0, "")
    code, said = get()
    assert code == 1 and "there is no npm" in said and "The pages work without them" in said and said.count("\n") == 1
    (tools / "npm").write_text(f"#!/bin/sh\necho call >> {calls}; echo no network; exit 1\n")
    (tools / "npm").chmod(0o755)
    assert get("--copy") == (0, "") and not calls.exists() and not (tmp_path / "player").exists()
    code, said = get()
    assert code == 1 and "no network" in said and "npm could not get them" in said and calls.read_text() == "call\n"
    with open(os.path.join(procs.ROOT, "Makefile")) as f:
        recipe = f.read().split("\nplayers:\n")[1].split("\n\n")[0]
    assert "--copy" in recipe and "npm" not in recipe, "make used npm without being asked"



KEY = {"Authorization": "Basic " + base64.b64encode(b"a:b").decode()}
LOCKED = "enabled on; auth { enabled on; username a; password b; }"


def test_last_lines_of_the_log(pages):
    """Only with the password; bounded; without secrets unless log_secrets is on; and the lines since the last request."""
    s, api, web, root = pages(api=LOCKED)
    with Http(api) as h:
        assert h.get("/api/v1/log").status == 401
        for i in range(3):
            player = s.watch(f"line{i}?token=secret")
            player.stop()
            player.client.close()
        assert s.wait_log("stream=line2") and s.wait_log(": play live/line2 : ")
        got = json.loads(h.get("/api/v1/log?lines=1000", **KEY).body)["data"]
        text = "\n".join(got["lines"])
        assert "line2" in text and "token" not in text and "secret" not in text
        assert [l for l in got["lines"] if l] == got["lines"] and got["lines"][0] in s.log()
        s.watch("line3").stop()
        assert s.wait_log("line3")
        new = "\n".join(json.loads(h.get(f"/api/v1/log?after={got['end']}", **KEY).body)["data"]["lines"])
        assert "line3" in new and "line2" not in new
        few = json.loads(h.get("/api/v1/log?lines=2", **KEY).body)["data"]
        assert len(few["lines"]) == 2 and few["end"] >= got["end"]
        assert json.loads(h.get("/api/v1/log?lines=-1&after=x", **KEY).body)["data"]["lines"] == []
        script = h.get("/api/v1/log?callback=f", Sec_Fetch_Site="cross-site", **KEY)
        assert script.headers["content-type"] == "application/json", "no script for others"


def test_log_without_a_password(pages):
    s, api, web, root = pages(api="enabled on; open on;")
    a = once(api, "/api/v1/log")
    assert a.status == 403 and "auth" in json.loads(a.body)["error"] and b"[TRACE]" not in a.body


@chromium
@players
def test_home(pages, source, tmp_path):
    """State, addresses to publish to, streams on air, playback; names from clients are plain text."""
    s, api, web, root = pages()
    nasty = "<i>name"
    with browser.Page(tmp_path) as b:
        b.look(390, 844, mobile=True, dark=True)
        b.open(f"http://127.0.0.1:{web}/")
        assert b.wait("document.querySelector('#state').innerText.startsWith('running, version')"), b.text()
        assert "No streams are on air" in b.text()
        assert b.run("[...document.querySelectorAll('#publish code')].map(e => e.innerText)") == [
            f"rtmp://127.0.0.1:{s.port}/live", "livestream",
            f"ffmpeg -re -stream_loop -1 -i doc/source.flv -c copy -f flv rtmp://127.0.0.1:{s.port}/live/livestream"]
        b.call("Emulation.setFocusEmulationEnabled", enabled=True)
        b.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        b.click("#publish button")
        assert b.wait("document.querySelector('#publish button').innerText === 'Copied'")
        assert b.run("navigator.clipboard.readText()") == f"rtmp://127.0.0.1:{s.port}/live"
        s.push(source, "cam", loop=True)
        s.push(source, nasty, loop=True)
        assert b.wait("document.querySelectorAll('#streams .row').length === 2", 20)
        assert f"live/{nasty}" in b.text() and "H264 640×360, AAC, 0 players" in b.text()
        assert b.run("document.querySelectorAll('#streams i').length") == 0
        b.run("[...document.querySelectorAll('.row')].find(r => r.innerText.includes('<i>')).querySelector('button').click()")
        assert b.wait("document.querySelector('video').currentTime > 0.5", 10), (b.text(), b.errors)
        assert b.run("document.documentElement.scrollWidth <= innerWidth"), "something is wider than a phone"
        assert not b.errors, b.errors


QUERIES = {  # parameters: the resulting address; {}: of this page
    "": "http://{}/live/livestream.mp4",
    "app=live&stream=livestream": "http://{}/live/livestream.mp4",
    "stream=a.m3u8&autostart=false": "http://{}/live/a.m3u8",
    "app=a/b&stream=x%20%23y": "http://{}/a/b/x%20%23y.mp4",
    "stream=x&token=t%26u&expires=1": "http://{}/live/x.mp4?token=t%26u&expires=1",
    "stream=x.flv%3Fsign%3Dq": "http://{}/live/x.flv?sign=q",
    "stream=x&vhost=v.w": "http://{}/live/x.mp4?vhost=v.w",
    "stream=x&vhost=__defaultVhost__&buffer=1&api=1985": "http://{}/live/x.mp4",
    "server=other&port=80&schema=http&stream=x": "http://other/live/x.mp4",
    "server=other&stream=x": "http://other:8080/live/x.mp4",
    "server=other&vhost=other&schema=https&port=8443&stream=x.mpd": "https://other:8443/live/x.mpd",
    "schema=ws&stream=x.flv": "ws://{}/live/x.flv",
    "vhost=__defaultVhost__&server=127.0.0.1&app=live&stream=x&port=1935": "http://{}/live/x.mp4",
    "schema=rtmp&server=other&stream=x": "http://other:8080/live/x.mp4",
    "schema=javascript&stream=x": "http://{}/live/x.mp4",
    "url=https://other/a/b.m3u8?c=d": "https://other/a/b.m3u8?c=d",
    "url=javascript://other/%0aalert(1)": "http://other:8080/%0Aalert(1).mp4",
}


@chromium
@pytest.mark.long
def test_parameters_of_players(pages, tmp_path):
    s, api, web, root = pages()
    got = {}
    with browser.Page(tmp_path) as b:
        for query in QUERIES:
            b.open(f"http://127.0.0.1:{web}/players/srs_player.html?{query}")
            assert b.wait("document.querySelector('#address').value"), (query, b.text(), b.errors)
            got[query] = b.run("document.querySelector('#address').value")
        assert not b.errors, b.errors
        assert got == {q: want.format(f"127.0.0.1:{web}") for q, want in QUERIES.items()}
        b.open(f"http://127.0.0.1:{web}/players/srs_player.html?server=a/b")
        assert b.wait("document.querySelector('#state').innerText === 'a/b is not a server\\'s address'")
        b.open(f"http://127.0.0.1:{web}/players/whip.html?app=a&stream=b")
        assert b.wait(f"document.body.innerText.includes('rtmp://127.0.0.1:{s.port}/a/b')")
        assert "WebRTC is off on this server" in b.text()


@chromium
@players
@pytest.mark.long
def test_players_play(pages, source, tmp_path):
    """With every ending, and without one the first format that the server has."""
    s, api, web, root = pages()
    s.push(source, "cam", loop=True)
    assert wait_for(lambda: once(web, "/live/cam.mpd").status == 200, 12)
    time.sleep(3)
    with browser.Page(tmp_path) as b:
        for page in ("srs_player.html?stream=cam", "whep.html?stream=cam", "srs_player.html?stream=cam.m3u8",
                     "srs_player.html?stream=cam.mpd", "srs_player.html?schema=ws&stream=cam.flv"):
            b.open(f"http://127.0.0.1:{web}/players/{page}&autostart=true")
            assert b.wait("document.querySelector('video').currentTime > 1", 15), (page, b.text(), b.errors)
            assert not b.errors, (page, b.errors)
        assert "WebRTC is off" not in b.text()


@chromium
@players
@pytest.mark.long
def test_without_flv(pages, source, tmp_path):
    """No format was requested: HTTP-FLV is off here, so HLS plays."""
    s, api, web, root = pages(VHOST.replace("http_remux { enabled on; }", ""))
    s.push(source, "cam", loop=True)
    assert wait_for(lambda: once(web, "/live/cam.m3u8").status == 200, 12)
    with browser.Page(tmp_path) as b:
        b.open(f"http://127.0.0.1:{web}/players/srs_player.html?stream=cam&autostart=true")
        assert b.wait("document.querySelector('video').currentTime > 1", 15), (b.text(), b.errors)
        assert b.run("document.querySelector('#address').value").endswith("/live/cam.m3u8")


@chromium
@pytest.mark.long
def test_installed_without_players(pages, source, tmp_path, monkeypatch):
    """The first page plays without the libraries; a page that needs one says what to do."""
    alone = tmp_path / "alone"
    shutil.copytree(os.path.join(FOLDER, "console"), alone / "console")
    shutil.copy(procs.BINARY, alone / "srs")
    monkeypatch.setattr(procs, "BINARY", str(alone / "srs"))
    s, api, web, root = pages()
    s.push(source, "cam", loop=True)
    assert wait_for(lambda: once(web, "/live/cam.m3u8").status == 200, 12)
    with browser.Page(tmp_path) as b:
        b.open(f"http://127.0.0.1:{web}/")
        assert b.wait("document.querySelector('#streams .go')")
        b.click("#streams .go")
        assert b.wait("document.querySelector('video').currentTime > 1", 20), (b.text(), b.errors)
        assert "fragmented MP4" in b.run("document.querySelector('#playing').innerText") and "make player" not in b.text()
        b.open(f"http://127.0.0.1:{web}/players/srs_player.html?stream=cam.flv&autostart=true")
        assert b.wait("document.querySelector('#state').innerText.includes('make player')"), b.text()
        assert "mpegts.js" in b.text()


@chromium
@pytest.mark.long
@pytest.mark.parametrize("api, says", [
    ("enabled off;", "the API is off: see http_api in the configuration"),
    ("enabled on; auth { enabled on; username a; password b; }", "requires a password: enter it in the console"),
    ("enabled on; crossdomain off;", "does not answer this browser"),
])
def test_home_without_the_api(pages, source, tmp_path, api, says):
    """Streams are not shown, with the reason; the rest of the page works as usual."""
    s, _, web, root = pages(api=api)
    s.push(source, "secret-name", loop=True)
    with browser.Page(tmp_path) as b:
        b.open(f"http://127.0.0.1:{web}/")
        assert b.wait(f"document.body.innerText.includes({json.dumps(says)})"), b.text()
        assert b.run("document.querySelector('#state').innerText") == "running"
        assert f"rtmp://127.0.0.1:{s.port}/live" in b.text() and "secret-name" not in b.text()
        s.stop()
        assert b.wait("document.querySelector('#state').innerText.startsWith('no answer')", 20)


@chromium
@players
@pytest.mark.long
def test_over_https(pages, source, tmp_path):
    """The page over https fetches everything over https."""
    cert, a, w = Cert(tmp_path), free_port(), free_port()
    s, _, _, root = pages(api=f"enabled on; https {{ {cert.conf(a)} }}", server=f"https {{ {cert.conf(w)} }}")
    s.push(source, "cam", loop=True)
    with browser.Page(tmp_path) as b:
        b.call("Security.setIgnoreCertificateErrors", ignore=True)
        b.open(f"https://127.0.0.1:{w}/")
        assert b.wait("document.querySelector('#streams .go')"), (b.text(), b.errors)
        b.click("#streams .go")
        assert b.wait("document.querySelector('video').currentTime > 0.5", 10), (b.text(), b.errors)
        b.open(f"https://127.0.0.1:{w}/players/srs_player.html?schema=http&port=8080&stream=cam&autostart=true")
        assert b.wait("document.querySelector('video').currentTime > 0.5", 10), (b.text(), b.errors)
        assert not b.errors, b.errors


@chromium
@pytest.mark.long
def test_a_name_that_is_not_published(pages, source, tmp_path):
    """The page names the streams on air, and plays as soon as the stream exists; it names a codec that no browser supports."""
    s, api, web, root = pages()
    s.push(source, "cam", loop=True)
    state = "document.querySelector('#state').innerText"
    with browser.Page(tmp_path) as b:
        b.open(f"http://127.0.0.1:{web}/players/srs_player.html?stream=cmm&autostart=true")
        assert b.wait(f"{state} === 'No publisher for live/cmm. On air: live/cam.'", 20), b.text()
        s.push(source, "cmm", loop=True)
        assert b.wait("document.querySelector('video').currentTime > 0.5", 15), (b.text(), b.errors)
        assert b.wait(f"{state} === 'playing'"), b.text()
        words = b.run("""Promise.all([import('/console/words.js'), import('/console/decodes.js')]).then(([w, d]) => [
            w.plainly("MediaError: Failed to execute 'addSourceBuffer': the type 'video/mp4;codecs=hvc1.1.6.L93' is not supported"),
            d.undecodable('flv', { video: { codec: 'H264' }, audio: { codec: 'Speex' } }), d.undecodable('fmp4', { video: { codec: 'H264' } })])""")
        assert words == ["This browser cannot decode HEVC.", "This browser cannot decode Speex.", None]


def value(page, expression):
    return page.run(expression) if isinstance(page, browser.Page) else page.value(expression)


def there(kind):
    if not (kind.chromium() if kind is browser else kind.there()):
        pytest.skip("not installed")


MOVES = "document.querySelector('video').currentTime > 2 && document.querySelector('video').videoWidth > 0"
BOTH = "", "players/srs_player.html?app=live&stream=cam&autostart=true"


@pytest.mark.long
@pytest.mark.parametrize("kind", [firefox, webkit])
def test_other_browsers_play(pages, source, tmp_path, kind):
    """The first page and a player page play a live stream without a library."""
    there(kind)
    s, api, web, root = pages()
    s.push(source, "cam", loop=True)
    with kind.Page(tmp_path) as b:
        for path in BOTH * 2:
            b.open(f"http://127.0.0.1:{web}/{path}")
            if not path:
                assert b.wait_value("document.querySelector('#streams .go') !== null", 20), b.value("document.body.innerText")
                b.value("document.querySelector('#streams .go').click()")
            assert b.wait_value(MOVES, 20), b.value("document.body.innerText")


@pytest.mark.long
@pytest.mark.parametrize("kind", [browser, firefox])
def test_hevc(pages, media, tmp_path, kind):
    """A browser without HEVC says so: no message of a library, no endless wait. One with HEVC plays."""
    there(kind)
    s, api, web, root = pages()
    s.push(media.tags("hevc", "aac"), "cam", loop=True)
    with kind.Page(tmp_path) as b:
        for path, box in zip(BOTH, ("#trouble", "#state")):
            b.open(f"http://127.0.0.1:{web}/{path}")
            if not path:
                assert wait_for(lambda: value(b, "document.querySelector('#streams .go') !== null"), 20, 0.2)
                value(b, "document.querySelector('#streams .go').click()")
            can = value(b, "MediaSource.isTypeSupported('video/mp4; codecs=\"hvc1.1.6.L93.B0\"')")
            told = f"document.querySelector('{box}').innerText === 'This browser cannot decode HEVC.'"
            assert wait_for(lambda: value(b, MOVES if can else told), 15, 0.2), value(b, "document.body.innerText")
