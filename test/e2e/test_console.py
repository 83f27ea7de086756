# SPDX-License-Identifier: MIT
"""The console: its files over HTTP, and a user's tour in a real browser."""
import http.client
import json
import os
import re
import shutil
import subprocess
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import browser
import flv
import procs
from flv import VIDEO
from procs import free_port, wait_for

MENU = "[...document.querySelectorAll('.menu b')].map(e => e.textContent)"
chromium = pytest.mark.skipif(not browser.chromium(), reason="no Chromium")
PLAYER = os.path.join(os.path.dirname(procs.BINARY), "player", "mpegts.js")


@pytest.fixture
def ports(srs):
    """start(vhost, api="...") starts a server with its API and files on separate ports."""
    def start(vhost="", api="", more="", **how):
        a, w = free_port(), free_port()
        s = srs("http_remux { enabled on; }\n" + vhost, glob=f"""http_api {{ enabled on; listen 127.0.0.1:{a}; {api} }}
http_server {{ enabled on; listen 127.0.0.1:{w}; dir ./; }} {more}""", **how)
        return s, a, w
    return start


def get(port, path):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        c.request("GET", path)
        r = c.getresponse()
        return r.status, {k.lower(): v for k, v in r.getheaders()}, r.read()
    finally:
        c.close()


def test_files(ports):
    s, api, web = ports()
    for port in api, web:
        status, head, body = get(port, "/console/")
        assert status == 200 and b"<title>Sluice console" in body
        assert head["content-type"].startswith("text/html")
        assert "script-src 'self'" in head["content-security-policy"]
        assert get(port, "/console")[1]["location"].endswith("/console/")
        assert get(port, "/console/console.js")[1]["content-type"].startswith("text/javascript")
        assert get(port, "/console/nothing")[0] == 404
        for bad in ("/console/../srs", "/console/%2e%2e/srs", "/console/player/../../srs", "/console/player/../srs"):
            assert get(port, bad)[0] in (400, 404), bad
        where = json.loads(get(port, "/console/where.json")[2])
        assert (where["here_is_api"], where["api"], where["api_tls"], where["rtmp"]) == (port == api, api, 0, s.port)


def test_no_other_hosts():
    folder = os.path.join(procs.ROOT, "www", "console")
    for name in os.listdir(folder):
        with open(os.path.join(folder, name)) as f:
            for line in f:
                assert not re.search(r"https?://(?!www\.w3\.org/|server:)", line.replace("^https?:", "")), line


def test_children_forwards_and_ways(ports, source):
    s, api, web = ports(f"""exec {{ enabled on; publish sh -c 'echo oh no >&2; exit 3'; publish sleep 100; }}
        forward {{ enabled on; destination 127.0.0.1:{free_port()}; }}""")
    s.allow_errors = True
    s.push(source, "cam", loop=True)
    ask = lambda path: json.loads(get(api, "/api/v1/" + path)[2])
    seen = []

    def both():
        seen[:] = ask("children")["children"]
        return {c["state"] for c in seen} == {"running", "waiting"}
    assert wait_for(both, 5)
    sleep, sh = sorted(seen, key=lambda c: c["state"])
    assert sh["kind"] == "exec" and sh["name"] == "sh" and sh["stream"] == "__defaultVhost__/live/cam"
    assert sh["ended"] == "status 3" and sh["line"] == "oh no" and sh["pid"] == 0
    assert 0 < sh["next_ms"] <= 3000 and sh["starts"] == 1
    assert sleep["command"] == "sleep 100" and sleep["pid"] > 0 and sleep["ended"] == ""
    assert wait_for(lambda: ask("forwards")["forwards"][0]["failures"] > 0, 5)
    f = ask("forwards")["forwards"][0]
    assert f["state"] == "connecting" and f["stream"].endswith("live/cam") and "IO_CONNECT" in f["error"]
    ways = ask("console")["data"]
    assert ways["http"] == web and ways["rtmp"] == s.port and ways["https"] == 0
    assert ways["rtsp"] == ways["srt"] == ways["rtmfp"] == 0
    assert ways["vhosts"][0] == {"name": "__defaultVhost__", "rtsp": False, "srt": False, "rtmfp": False, "rtc": False, "rtmp_to_rtc": False,
                                "rtc_to_rtmp": False, "vod": None, "flv": "[vhost]/[app]/[stream].flv", "fmp4": "[vhost]/[app]/[stream].mp4", "hls": None, "dash": None}


def test_ports_of_the_default_vhost(ports):
    """A page without access to the API still lists addresses to publish to; disabled ones are 0."""
    srt, rtsp = free_port(), free_port()
    _, api, web = ports("srt { enabled on; } rtsp { enabled off; }",
                        more=f"srt_server {{ enabled on; listen {srt}; }} rtsp_server {{ enabled on; listen {rtsp}; }}")
    where = json.loads(get(web, "/console/where.json")[2])
    assert (where["srt"], where["rtsp"], where["rtmfp"], where["rtmps"]) == (srt, 0, 0, 0)
    ways = json.loads(get(api, "/api/v1/console")[2])["data"]
    assert (ways["srt"], ways["rtsp"], ways["api"], ways["rtmps"]) == (srt, rtsp, api, 0) and isinstance(ways["address"], str)


def test_clients_of_one_stream(ports, source):
    s, api, _ = ports()
    for name in "a", "b":
        s.push(source, name, loop=True)
    for name in "a", "a", "b":
        s.watch(name)
    ask = lambda path: json.loads(get(api, "/api/v1/" + path)[2])
    assert wait_for(lambda: len(ask("clients?count=100")["clients"]) == 5, 5)
    a = next(x["id"] for x in ask("streams")["streams"] if x["name"] == "a")
    got = ask(f"clients?stream={a}&count=100")
    assert len(got["clients"]) == 3 == got["total"] and {c["name"] for c in got["clients"]} == {"a"}
    assert ask("clients?stream=vid-nothing")["clients"] == []


def test_where_files_are(ports):
    rows = {"./": "", "./x/y/": "x/y/", "x": "x/", "/else": None}
    _, api, _ = ports(more="\n".join(
        f"vhost v{i} {{ hls {{ enabled on; hls_path {path}; }} dash {{ enabled on; dash_path {path}; }} }}"
        for i, path in enumerate(rows)))
    got = {v["name"]: v for v in json.loads(get(api, "/api/v1/console")[2])["data"]["vhosts"]}
    for i, want in enumerate(rows.values()):
        way = got[f"v{i}"]
        assert way["hls"] == (want if want is None else want + "[app]/[stream].m3u8")
        assert way["dash"] == (want if want is None else want + "[app]/[stream].mpd")


@chromium
@pytest.mark.long
def test_a_round_through_the_page(ports, source, tmp_path):
    """The page of a new server; a stream comes; its clients; kick one; play it; it ends."""
    far = free_port()
    s, api, web = ports(f"""exec {{ enabled on; publish sleep 100; }}
        forward {{ enabled on; destination 127.0.0.1:{far}; }}""")
    s.allow_errors = True
    nasty = "<i>name"
    with browser.Page(tmp_path) as b:
        b.look()
        b.open(f"http://127.0.0.1:{api}/console/")
        assert b.wait("document.querySelector('#empty') && !document.querySelector('#empty').hidden")
        assert f"rtmp://127.0.0.1:{s.port}/live/livestream" in b.text()
        p = s.push(source, "cam", loop=True)
        views = [s.watch("cam") for _ in range(3)]
        s.push(source, nasty, loop=True)
        assert b.wait("document.querySelectorAll('.stream').length === 2", 8)
        assert b.wait("document.body.innerText.includes('3 players')", 8)
        text = b.text()
        for want in ("live/cam", "H264 640×360", "AAC 44.1 kHz stereo", "live/" + nasty, "exec sleep", "running",
                     "connecting", "version "):
            assert want in text, text
        assert b.run("!document.querySelector('main i')"), "names are not plain text"
        assert b.wait("/[1-9]\\d* kbit|Mbit/.test(document.querySelector('.tile .value').innerText)", 8)
        assert b.wait("document.querySelector('.stream svg.spark path').getAttribute('d').includes('L')", 8)

        # clients of the stream, and kick one
        b.run("[...document.querySelectorAll('.stream')].find(e => e.innerText.includes('live/cam')).open = true")
        assert b.wait("document.querySelectorAll('.stream[open] tbody tr').length === 4", 8)
        assert "fmle-publish" in b.run("document.querySelector('.stream[open] tbody tr').innerText"), "the publisher is not first"
        b.click(".stream[open] tbody tr:last-child button")
        assert b.run("document.querySelector('.stream[open] tbody tr:last-child button').innerText") == "Kick it?"
        assert not any(v.ended for v in views), "it needs a second press"
        b.click(".stream[open] tbody tr:last-child button")
        assert b.wait("document.querySelectorAll('.stream[open] tbody tr').length === 3", 8)
        assert wait_for(lambda: sum(v.ended is not None for v in views) == 1, 3)

        # find
        b.run("(e => { e.value = 'CAM'; e.dispatchEvent(new Event('input')) })(document.querySelector('#filter'))")
        assert b.run("[...document.querySelectorAll('.stream')].filter(e => !e.hidden).length") == 1

        # play
        b.click(".stream[open] .act button")
        assert b.wait("document.querySelector('video').currentTime > 1", 10)
        assert "640×360" in b.wait("document.querySelector('#facts').innerText")
        assert b.wait("document.body.innerText.includes('mp4-play')", 8)
        b.click("#close")
        assert b.wait("document.querySelector('#screen').hidden")

        # on a phone, in the dark
        b.look(390, 844, mobile=True)
        assert b.run("document.documentElement.scrollWidth <= innerWidth"), "something overflows"
        light = b.run("getComputedStyle(document.body).backgroundColor")
        b.look(390, 844, mobile=True, dark=True)
        assert b.run("getComputedStyle(document.body).backgroundColor") != light

        p.stop()
        p.client.close()
        assert b.wait("document.querySelector('.stream[open]').innerText.includes('no publisher')", 8)
        assert not b.errors, b.errors


@chromium
@pytest.mark.long
@pytest.mark.skipif(not os.path.exists(PLAYER), reason="without players: make player")
def test_hls_in_the_page(ports, source, tmp_path):
    s, api, web = ports("hls { enabled on; hls_fragment 1; hls_path ./; } dash { enabled on; dash_path ./; }")
    s.push(source, "cam", loop=True)
    with browser.Page(tmp_path) as b:
        b.open(f"http://127.0.0.1:{api}/console/")
        assert b.wait(f"{MENU}.includes('HLS')"), b.text()
        time.sleep(4)  # segments
        b.click(".stream .more")
        assert not b.run("document.querySelector('.menu').hidden")
        b.run("[...document.querySelectorAll('.menu button')].find(e => e.innerText.startsWith('HLS')).click()")
        assert b.run("document.querySelector('.menu').hidden && !document.querySelector('.stream').open")
        assert b.wait("document.querySelector('video').currentTime > 1", 15), (b.text(), b.errors)
        assert b.wait("document.querySelector('#facts').innerText.includes('640×360')")
        assert b.run("document.querySelector('#trouble').hidden")
        b.run("document.querySelector('.stream').open = true")
        assert b.wait(f"document.body.innerText.includes(':{web}/live/cam.mpd')"), "an address for other players"
        assert not b.errors, b.errors


@chromium
@pytest.mark.long
def test_vhosts_and_log(ports, source, tmp_path):
    s, api, web = ports("hls { enabled on; hls_path ./; }", more="vhost b { }",
                        api="auth { enabled on; username admin; password 'a:b c'; }")
    with browser.Page(tmp_path) as b:
        b.look(390, 844, mobile=True, dark=True)
        b.open(f"http://127.0.0.1:{api}/console/")
        assert b.wait("document.body.innerText.includes('requires user and password')")
        b.run(LOGIN % "'a:b c'")
        assert b.wait("document.querySelectorAll('#vhosts tr').length === 2"), b.text()
        s.push(source, "cam", loop=True)
        assert b.wait("[...document.querySelectorAll('#vhosts [data-name=Streams]')].map(e => e.innerText) + '' === '1,0'", 8), b.text()
        chips = "[...document.querySelectorAll('#vhosts tr')].map(r => r.querySelector('b').innerText + ': ' + " \
            "[...r.querySelectorAll('.chip')].map(c => c.innerText))"
        assert b.run(chips) == ["__defaultVhost__: RTMP,FLV,HLS", "b: RTMP"]
        b.run("document.querySelector('#log-part').open = true")
        assert b.wait("document.querySelector('#log').innerText.includes('stream=cam')"), b.text()
        n = b.run("document.querySelectorAll('#log div').length")
        s.push(source, "other", loop=True)
        assert b.wait("document.querySelector('#log').innerText.includes('stream=other')", 8)
        assert b.run("document.querySelectorAll('#log div').length") > n
        b.run("(f => { f.value = 'stream=other'; f.dispatchEvent(new Event('input')) })(document.querySelector('#log-filter'))")
        assert b.run("[...document.querySelectorAll('#log div')].every(d => d.hidden || d.innerText.includes('other'))")
        assert b.run("document.documentElement.scrollWidth <= innerWidth"), "something is wider than a phone"
        assert len(b.errors) == 1 and "401" in b.errors[0], b.errors


@chromium
@pytest.mark.long
def test_by_the_port_of_files_and_with_a_password(ports, source, tmp_path):
    s, api, web = ports(api="auth { enabled on; username admin; password 'a:b c'; }")
    s.push(source, "cam", loop=True)
    with browser.Page(tmp_path) as b:
        b.open(f"http://127.0.0.1:{web}/console/")
        assert b.wait("document.body.innerText.includes('requires user and password')")
        assert b.run("document.querySelector('main').hidden")
        b.run(LOGIN % "'wrong'")
        assert b.wait("document.body.innerText.includes('Wrong user')")
        b.run(LOGIN % "'a:b c'")
        assert b.wait("document.body.innerText.includes('live/cam')")
        assert b.run("document.querySelector('#ask').hidden")


@chromium
@pytest.mark.long
def test_from_a_public_address(ports, source, tmp_path):
    """The pages open, show nothing, and say what to set."""
    s, api, web = ports()
    s.push(source, "cam", loop=True)
    with browser.Page(tmp_path) as b:
        b.call("Network.setExtraHTTPHeaders", headers={"X-Forwarded-For": "8.8.8.8"})
        b.open(f"http://127.0.0.1:{api}/console/")
        assert b.wait("document.querySelector('#state').innerText.includes('http_api { public read; }')"), b.text()
        assert b.run("document.querySelector('main').hidden && document.querySelector('#ask').hidden"), "a password was accepted"
        b.open(f"http://127.0.0.1:{web}/")
        assert b.wait("document.querySelector('#quiet').innerText.includes('http_api { auth {')"), b.text()
        assert "cam" not in b.run("document.querySelector('#streams').innerText")


class Trap:
    """A foreign server: records requests, asks for a password, serves pages that attack."""

    def __init__(self):
        trap = self
        self.seen, self.page = [], ""

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                is_page = self.path == "/page"
                trap.seen.append((self.command, self.path, self.headers.get("Authorization")))
                self.send_response(200 if is_page or self.command == "OPTIONS" else 401)
                self.send_header("Access-Control-Allow-Origin", "*")
                self.send_header("Access-Control-Allow-Headers", "authorization")
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(trap.page.encode() if is_page else b"")

            do_OPTIONS = do_GET

            def log_message(self, *_):
                pass
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def passwords(self):
        return [a for _, _, a in self.seen if a]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


LOGIN = """(f => { f.user.value = 'admin'; f.password.value = %s; f.requestSubmit() })(document.querySelector('#ask'))"""


@chromium
@pytest.mark.long
def test_a_link_to_a_foreign_api(ports, tmp_path):
    """It gets no password of another API, and typed credentials only after a second press."""
    s, api, web = ports(api="auth { enabled on; username admin; password secret; delay 1; }")
    with Trap() as trap, browser.Page(tmp_path) as b:
        b.open(f"http://127.0.0.1:{api}/console/")
        assert b.wait("document.body.innerText.includes('This server requires user and password')")
        b.run(LOGIN % "'wrong'")
        assert b.wait("document.body.innerText.includes('Wrong user')")
        assert s.wait_log("number 1", 2) and "number 2" not in s.log(), "a wrong password counts more than once"
        b.run(LOGIN % "'secret'")
        assert b.wait("document.querySelector('#state').innerText.startsWith('version')")
        b.open(f"http://127.0.0.1:{api}/console/?api=http://127.0.0.1:{trap.port}")
        assert b.wait(f"document.body.innerText.includes('http://127.0.0.1:{trap.port}, which is not the server of')")
        assert trap.seen and not trap.passwords(), trap.seen
        b.run(LOGIN % "'secret'")
        assert b.wait(f"document.querySelector('#ask button').innerText === 'Send them to 127.0.0.1:{trap.port}?'")
        assert not trap.passwords()
        b.run(LOGIN % "'secret'")
        assert b.wait("document.body.innerText.includes('Wrong user')") and len(trap.passwords()) == 1
        b.open(f"http://127.0.0.1:{api}/console/")
        assert b.wait("document.querySelector('#state').innerText.startsWith('version')"), "its own password is lost"


ATTACK = """<script>
const api = "http://127.0.0.1:%(api)d/api/v1/", kick = api + "clients/%(cid)s", tries = [];
for (const method of ["DELETE", "POST", "GET"])
    for (const mode of ["cors", "no-cors"])
        tries.push(async () => fetch(kick + "?method=DELETE&callback=f", { method, mode, credentials: "include" }));
tries.push(async () => fetch(api + "raw?rpc=reload", { mode: "no-cors" }));
for (const tag of ["img", "script", "iframe"])
    for (const to of [kick + "?callback=f&method=DELETE", api + "raw?rpc=reload"])
        tries.push(() => new Promise(done => {
            const e = Object.assign(document.createElement(tag), { src: to, onload: done, onerror: done });
            document.body.append(e);
        }));
window.onload = () => Promise.all(tries.map(t => t().catch(() => 0))).then(() => document.title = "tried");
function f() { }
</script><body></body>"""


@chromium
@pytest.mark.long
def test_a_page_of_another_site_disconnects_no_client(ports, source, tmp_path):
    s, api, web = ports(api="raw_api { enabled on; allow_reload on; }")
    ask = lambda path: json.loads(get(api, "/api/v1/" + path)[2])
    s.push(source, "cam", loop=True)
    v = s.watch("cam")
    assert wait_for(lambda: len(ask("clients")["clients"]) == 2, 5)
    cid = next(c["id"] for c in ask("clients")["clients"] if not c["publish"])
    with Trap() as trap, browser.Page(tmp_path) as b:
        for host in "127.0.0.1", "localhost":
            trap.page = ATTACK % {"api": api, "cid": cid}
            b.open(f"http://{host}:{trap.port}/page")
            assert b.wait("document.title === 'tried'", 10), b.errors
    assert v.ended is None and len(ask("clients")["clients"]) == 2
    assert ask("raw?rpc=reload-fetch")["data"]["state"] == 0, "something was loaded"


@chromium
@pytest.mark.long
def test_a_kick_from_the_port_of_files(ports, source, tmp_path):
    """Without a password it is rejected, and the page says from where it is allowed."""
    s, api, web = ports()
    s.push(source, "cam", loop=True)
    v = s.watch("cam")
    with browser.Page(tmp_path) as b:
        b.open(f"http://127.0.0.1:{web}/console/")
        assert b.wait("document.querySelectorAll('.stream').length === 1", 8)
        b.run("document.querySelector('.stream').open = true")
        assert b.wait("document.querySelectorAll('.stream[open] tbody tr').length === 2", 8)
        for _ in range(2):
            b.click(".stream[open] tbody tr:last-child button")
        assert b.wait(f"document.body.innerText.includes('only be disconnected from http://127.0.0.1:{api}/console/')", 8), b.text()
    assert v.ended is None


@chromium
@pytest.mark.long
def test_a_server_that_goes_and_comes(ports, source, tmp_path):
    s, api, web = ports()
    with browser.Page(tmp_path) as b:
        b.open(f"http://127.0.0.1:{api}/console/")
        assert b.wait("document.querySelector('#state').innerText.startsWith('version')")
        s.stop()
        assert b.wait("document.querySelector('#state').innerText.startsWith('no answer')", 12)
        assert b.run("document.querySelector('main').className") == "old"
        plain = b.run("getComputedStyle(document.querySelector('.dim, .name')).color")
        assert b.run("getComputedStyle(document.querySelector('#state')).color") != plain
        s.start()
        w = s.push(source, "cam", loop=True)
        assert b.wait("document.querySelector('#state').innerText.startsWith('version')", 15)
        assert b.wait("document.body.innerText.includes('live/cam')", 8)
        assert b.run("document.querySelector('main').className") == ""
        assert flv.frames(w.pushed, VIDEO)


@chromium
@pytest.mark.long
@pytest.mark.skipif(not os.path.exists(PLAYER), reason="without players: make player")
def test_a_file_in_the_pages(ports, tmp_path):
    """The player of a file and its position; plays in the console, seeks in the player page, to the end and again."""
    os.makedirs(tmp_path / "films")
    shutil.copy(os.path.join(procs.ROOT, "doc/source.flv"), tmp_path / "films/a.flv")
    s, api, web = ports(f"vod {{ enabled on; dir {tmp_path}/films; }}")
    s.watch("a.flv", app="vod")
    place = "Number(document.querySelector('.seek input').value)"
    seek = "(e => { e.value = %d; e.dispatchEvent(new Event('input')); e.dispatchEvent(new Event('change')) })(document.querySelector('.seek input'))"
    with browser.Page(tmp_path) as b:
        b.open(f"http://127.0.0.1:{api}/console/")
        assert b.wait("document.body.innerText.includes('file of 0:30')", 8), b.text()
        assert "no publisher" not in b.text() and "H264 640×360" in b.text()
        b.run("document.querySelector('.stream').open = true")
        assert b.wait("/rtmp-vod[^]*at 0:0\\d/.test(document.querySelector('.stream').innerText)", 8), b.text()
        b.click(".stream .act button")
        assert b.wait("document.querySelector('video').currentTime > 0.5", 10), b.text()
        assert b.wait("document.querySelector('.seek').innerText.includes('/ 0:30')"), b.text()

        b.open(f"http://127.0.0.1:{web}/players/srs_player.html?app=vod&stream=a.flv.flv&autostart=true&start=10")
        assert b.wait("document.querySelector('video').currentTime > 0.5", 10), b.text()
        assert 10 < b.run(place) < 13
        b.run(seek % 26)
        assert b.wait(f"document.querySelector('video').currentTime > 0.5 && {place} > 26", 10), b.text()
        assert b.wait("document.querySelector('#state').innerText === 'end of the file'", 10), b.text()
        b.run("void document.querySelector('video').play().catch(() => {})")
        assert b.wait(f"document.querySelector('video').currentTime > 0.3 && {place} < 3", 10), b.text()
        assert not b.errors, b.errors


PUBLISHED = "[...document.querySelectorAll('#publish code')].map(e => e.innerText)"
ADDRESSES = "[...document.querySelectorAll('.stream[open] .urls > div')].map(e => [e.querySelector('b').innerText, e.querySelector('dd span').innerText])"
PROBLEMS = "[...document.querySelectorAll('#problem-list li')].map(e => e.innerText)"
RED = "getComputedStyle(document.querySelector('%s')).color"


def everything(ports, **how):
    """All protocols on, including WebRTC."""
    p = {name: free_port() for name in ("rtsp", "srt", "rtmfp", "rtc")}
    s, api, web = ports("".join(f"{name} {{ enabled on; }}" for name in p) + "hls { enabled on; hls_path ./; } dash { enabled on; dash_path ./; }",
                        more=" ".join(f"{n}_server {{ enabled on; listen {port}; {'candidate 127.0.0.1;' if n == 'rtc' else ''} }}" for n, port in p.items()), **how)
    return s, api, web, p


@chromium
@pytest.mark.long
def test_addresses(ports, source, tmp_path):
    """Publish addresses of all open ports, complete for the typed names; play addresses with their use."""
    s, api, web, p = everything(ports)
    with browser.Page(tmp_path) as b:
        b.look()
        b.open(f"http://127.0.0.1:{api}/console/")
        assert b.wait(f"{PUBLISHED}.length === 7 && document.querySelector('#send-part').open"), b.text()
        b.run("(e => { e.value = 'a&b'; e.dispatchEvent(new Event('input')) })(document.querySelector('#send-name'))")
        got = b.run(PUBLISHED)
        assert got[:2] == [f"rtmp://127.0.0.1:{s.port}/live", "a&b"] and got[2].endswith("/live/a&b")
        assert got[3:] == [f"srt://127.0.0.1:{p['srt']}?streamid=#!::r=live/a&b,m=publish",
                           f"http://127.0.0.1:{api}/rtc/v1/whip/?app=live&stream=a%26b",
                           f"rtsp://127.0.0.1:{p['rtsp']}/live/a%26b", f"rtmfp://127.0.0.1:{p['rtmfp']}/live/a%26b"]
        s.push(source, "cam", loop=True)
        assert b.wait("document.querySelector('.stream') !== null", 8)
        b.run("document.querySelector('.stream').open = true")
        assert b.wait(f"{ADDRESSES}.length > 7"), b.text()
        shown = dict(b.run(ADDRESSES))
        assert shown["RTMP"] == f"rtmp://127.0.0.1:{s.port}/live/cam" and shown["HLS"] == f"http://127.0.0.1:{web}/live/cam.m3u8"
        assert shown["SRT"] == f"srt://127.0.0.1:{p['srt']}?streamid=#!::r=live/cam,m=request"
        assert {"HTTP-FLV", "MPEG-DASH", "RTSP", "RTMFP"} <= set(shown)
        assert all(b.run("[...document.querySelectorAll('.urls dt')].map(e => e.innerText.length > 12)")), "an address has no use"
        assert not b.errors, b.errors


def decoded(path):
    return subprocess.run(["zbarimg", "-q", "--raw", str(path)], capture_output=True, text=True).stdout.strip()


@chromium
@pytest.mark.long
@pytest.mark.skipif(not shutil.which("zbarimg"), reason="no zbarimg: apt-get install zbar-tools")
def test_the_qr_code(ports, tmp_path):
    """A QR reader sees the page that publishes, also in dark mode; long names make a larger code."""
    s, api, web, _ = everything(ports)
    address = "http://%s:%d/players/whip.html?app=live&stream=%s"
    with browser.Page(tmp_path) as b:
        for name, how in ("livestream", {}), ("x" * 40, {"mobile": True, "dark": True}), ("ä&" * 20, {"dark": True}):
            b.look(*(390, 844) if how.get("mobile") else (1180, 860), scale=2, **how)
            b.open(f"http://127.0.0.1:{api}/console/")
            assert b.wait("document.querySelector('svg.qr') !== null"), b.text()
            b.run(f"(e => {{ e.value = {json.dumps(name)}; e.dispatchEvent(new Event('input')) }})(document.querySelector('#send-name'))")
            b.run("document.querySelector('svg.qr').scrollIntoView({ block: 'center' })")
            host = json.loads(get(api, "/api/v1/console")[2])["data"]["address"] or "127.0.0.1"
            want = address % (host, web, urllib.parse.quote_plus(name))
            assert b.run("document.querySelector('#phone-link').href") == want
            b.shot(tmp_path / "qr.png")
            assert decoded(tmp_path / "qr.png") == want


@chromium
@pytest.mark.long
def test_why_a_player_stalls(ports, source, tmp_path):
    """It is first in the list, in red, with an explanation, and in the list of problems; so are players of unpublished names."""
    s, api, web = ports()
    s.push(source, "cam", loop=True, speed=25)
    views = [s.watch("cam") for _ in range(2)]
    slow = s.player("cam", client={"rcvbuf": 4096})
    with browser.Page(tmp_path) as b:
        b.look()
        b.open(f"http://127.0.0.1:{api}/console/")
        assert b.wait("document.querySelector('.stream') !== null", 8)
        b.run("document.querySelector('.stream').open = true")
        state = "document.querySelectorAll('.stream tbody tr')[1]?.children[4]"
        assert b.wait(f"/^stalls for \\d+ s: the network or the player is slower.*behind/.test({state}?.innerText)", 20), b.text()
        assert b.run(f"getComputedStyle({state}).color") == b.run(RED % "#problem-list li")
        assert b.wait(f"{PROBLEMS}.some(p => p.startsWith('1 player stalls. It is 127.0.0.1 (rtmp-play, cam): stalls for '))", 8), b.text()
        assert b.run("document.querySelectorAll('.stream tbody tr')[2].children[4].innerText.startsWith('plays')")
        s.watch("typo"), s.watch("typo")
        assert b.wait(f"{PROBLEMS}.includes('No publisher for live/typo. On air: live/cam. 2 players wait for it.')", 8), b.text()
        assert any(p.startswith("1 player stalls") for p in b.run(PROBLEMS)), "players that wait for a publisher are listed twice"
        slow.close()
        assert not any(v.ended for v in views) and not b.errors, b.errors


@chromium
@pytest.mark.long
def test_equal_errors_are_one_line(ports, source, tmp_path):
    far = free_port()
    s, api, web = ports(f"forward {{ enabled on; destination 127.0.0.1:{far}; }}", api="auth { enabled on; username admin; password b; }")
    s.allow_errors = True
    for name in "a", "b", "c":
        s.push(source, name, loop=True)
    with browser.Page(tmp_path) as b:
        b.open(f"http://127.0.0.1:{api}/console/")
        assert b.wait("!document.querySelector('#ask').hidden")
        b.run(LOGIN % "'b'")
        assert b.wait(f"/^Forward to 127.0.0.1:{far}: .*Connection refused.* × 3$/.test({PROBLEMS}.join('|'))", 10), b.text()
        assert "code=" not in b.run(f"{PROBLEMS}[0]")
        for _ in range(3):
            s.client().sock.close()
        b.run("document.querySelector('#log-part').open = true")
        lines = "[...document.querySelectorAll('#log div')]"
        assert b.wait(f"{lines}.length > 5"), b.text()
        b.run("""import('./log.js').then(m => { window.log = new m.Log({}); window.log.clear();
            window.log.add(['[2026-01-01 00:00:00.000][WARN][1][a] <b>oh', '[2026-01-01 00:00:01.000][TRACE][1][b] x', '[2026-01-01 00:00:02.000][WARN][1][c] <b>oh',
                '[2026-01-01 00:00:02.000][TRACE][1][b] x']) })""")
        assert b.run(f"{lines}.slice(-3).map(e => e.innerText)") == [
            "[2026-01-01 00:00:01.000][TRACE][1][b] x", "[2026-01-01 00:00:02.000][WARN][1][c] <b>oh  × 2", "[2026-01-01 00:00:02.000][TRACE][1][b] x"]


@chromium
@pytest.mark.long
def test_long_lists(ports, source, tmp_path):
    """A page of streams and of clients at a time, sorted and filtered as requested."""
    s, api, web = ports("gop_cache off;")
    there = [s.publisher(f"s{i:02}") for i in range(60)] + [s.player("s07") for _ in range(120)]
    shown = "[...document.querySelectorAll('.stream')].map(e => e.dataset.name)"
    rows = "document.querySelectorAll('.stream[open] tbody tr').length"
    with browser.Page(tmp_path) as b:
        b.look()
        b.open(f"http://127.0.0.1:{api}/console/")
        assert b.wait(f"{shown}.length === 50 && {shown}[0] === 'live/s07'", 15), b.text()
        assert "60 publishers" in b.text() and "1–50 of 60" in b.text()
        pick = "(e => { e.value = %s; e.dispatchEvent(new Event('change')) })(document.querySelector('#stream-sort'))"
        b.run(pick % "'name'")
        assert b.wait(f"{shown}[0] === 'live/s00' && {shown}[49] === 'live/s49'"), b.run(shown)
        b.click("section > .bar > .pager button:last-child")
        assert b.wait(f"{shown}.length === 10 && {shown}[9] === 'live/s59'"), b.run(shown)
        b.run("(e => { e.value = 'S07'; e.dispatchEvent(new Event('input')) })(document.querySelector('#filter'))")
        assert b.wait(f"{shown}.length === 1 && {shown}[0] === 'live/s07'"), b.run(shown)
        b.run("document.querySelector('.stream').open = true")
        assert b.wait(f"{rows} === 50 && document.querySelector('.stream[open] .pager').innerText.includes('1–50 of 121')"), b.text()
        for _ in range(2):
            b.click(".stream[open] .pager button:last-child")
        assert b.wait(f"{rows} === 21"), b.text()
        b.click(".stream[open] th [data-by=alive]")
        assert b.wait("document.querySelector('.stream[open] th[aria-sort=descending]').innerText.startsWith('Connected')")
        b.run("(e => { e.value = 'publish'; e.dispatchEvent(new Event('input')) })(document.querySelector('.stream[open] .bar input'))")
        assert b.wait(f"{rows} === 1"), b.text()
        b.look(390, 844, mobile=True)
        assert b.run("document.documentElement.scrollWidth <= innerWidth"), "something overflows"
        assert len(there) == 180 and not b.errors, b.errors


@chromium
@pytest.mark.long
def test_what_goes_on_all_the_time(ports, source, tmp_path):
    """Recordings, failing pulls, disks, and the hour of history."""
    camera = free_port()
    s, api, web = ports(f"""dvr {{ enabled on; dvr_path {tmp_path}/[app]/[stream].flv; }}
        rtsp {{ enabled on; pull {{ stream live/camera; url rtsp://127.0.0.1:{camera}/a; }} }}""", more=f"rtsp_server {{ enabled on; listen {free_port()}; }}")
    s.allow_errors = True
    s.push(source, "cam", loop=True)
    part = "document.querySelector('#%s-part')?.innerText ?? ''"
    with browser.Page(tmp_path) as b:
        b.look(390, 844, mobile=True)
        b.open(f"http://127.0.0.1:{api}/console/")
        assert b.wait(f"/running[^]*live\\/cam[^]*cam.flv/.test({part % 'recordings'})", 10), b.text()
        assert b.wait(f"/failing[^]*live\\/camera[^]*refused/.test({part % 'pulls'})", 10), b.text()
        assert b.wait(f"{PROBLEMS}.some(p => /^Pull of live.camera: failing for .*refused/.test(p))", 10), b.run(PROBLEMS)
        assert b.wait(f"/ B of | of .* left/.test({part % 'disks'})", 10), b.text()
        b.run("document.querySelector('#history-part').open = true")
        assert b.wait("/kbit.s now, at most /.test(document.querySelector('#history').innerText)", 25), b.text()
        assert b.run("document.querySelectorAll('#history svg').length") == 6
        assert b.run("document.documentElement.scrollWidth <= innerWidth"), "something overflows"
        assert not b.errors, b.errors
