# SPDX-License-Identifier: MIT
"""The console: its files over HTTP, and a person's round through it in a real browser."""
import http.client
import json
import os
import re
import shutil
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import browser
import flv
import procs
from flv import VIDEO
from procs import free_port, wait_for

chromium = pytest.mark.skipif(not browser.chromium(), reason="no Chromium")
PLAYER = os.path.join(os.path.dirname(procs.BINARY), "player", "mpegts.js")


@pytest.fixture
def ports(srs):
    """start(vhost, api="...") starts a server with its API and files on ports of their own."""
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
        assert status == 200 and b"<title>Console" in body
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
    """A newcomer's page; a stream comes; who is on it; kick one; play it; it ends."""
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
        assert b.run("!document.querySelector('main i')"), "names are text"
        assert b.wait("/[1-9]\\d* kbit|Mbit/.test(document.querySelector('.tile .value').innerText)", 8)
        assert b.wait("document.querySelector('.stream svg.spark path').getAttribute('d').includes('L')", 8)

        # who is on it, and away with one of them
        b.run("[...document.querySelectorAll('.stream')].find(e => e.innerText.includes('live/cam')).open = true")
        assert b.wait("document.querySelectorAll('.stream[open] tbody tr').length === 4", 8)
        assert "fmle-publish" in b.run("document.querySelector('.stream[open] tbody tr').innerText"), "first who publishes"
        b.click(".stream[open] tbody tr:last-child button")
        assert b.run("document.querySelector('.stream[open] tbody tr:last-child button').innerText") == "Kick it?"
        assert not any(v.ended for v in views), "asked twice"
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
        assert b.run("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out"
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
        assert b.wait("document.querySelectorAll('.stream .act button').length === 4"), b.text()
        assert b.run("document.querySelectorAll('.stream .act button')[2].innerText") == "▶ HLS"
        time.sleep(4)  # segments
        b.click(".stream .act button:nth-child(3)")
        assert b.wait("document.querySelector('video').currentTime > 1", 15), (b.text(), b.errors)
        assert b.wait("document.querySelector('#facts').innerText.includes('640×360')")
        assert b.run("document.querySelector('#trouble').hidden")
        b.run("document.querySelector('.stream').open = true")
        assert b.wait(f"document.body.innerText.includes(':{web}/live/cam.mpd')"), "an address for players elsewhere"
        assert not b.errors, b.errors


@chromium
@pytest.mark.long
def test_vhosts_and_log(ports, source, tmp_path):
    s, api, web = ports("hls { enabled on; hls_path ./; }", more="vhost b { }",
                        api="auth { enabled on; username admin; password 'a:b c'; }")
    with browser.Page(tmp_path) as b:
        b.look(390, 844, mobile=True, dark=True)
        b.open(f"http://127.0.0.1:{api}/console/")
        assert b.wait("document.body.innerText.includes('wants user and password')")
        b.run(LOGIN % "'a:b c'")
        assert b.wait("document.querySelectorAll('#vhosts tr').length === 2"), b.text()
        s.push(source, "cam", loop=True)
        assert b.wait("document.querySelector('#vhosts').innerText.includes('1 stream')", 8)
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
        assert b.run("document.documentElement.scrollWidth <= innerWidth"), "nothing is wider than a phone"
        assert len(b.errors) == 1 and "401" in b.errors[0], b.errors


@chromium
@pytest.mark.long
def test_by_the_port_of_files_and_with_a_password(ports, source, tmp_path):
    s, api, web = ports(api="auth { enabled on; username admin; password 'a:b c'; }")
    s.push(source, "cam", loop=True)
    with browser.Page(tmp_path) as b:
        b.open(f"http://127.0.0.1:{web}/console/")
        assert b.wait("document.body.innerText.includes('wants user and password')")
        assert b.run("document.querySelector('main').hidden")
        b.run(LOGIN % "'wrong'")
        assert b.wait("document.body.innerText.includes('not right')")
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
        assert b.run("document.querySelector('main').hidden && document.querySelector('#ask').hidden"), "no password is right"
        b.open(f"http://127.0.0.1:{web}/")
        assert b.wait("document.querySelector('#quiet').innerText.includes('http_api { auth {')"), b.text()
        assert "cam" not in b.run("document.querySelector('#streams').innerText")


class Trap:
    """A server of somebody else: notes what it is sent, asks for a password, shows pages that attack."""

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
def test_a_link_to_somebody_elses_api(ports, tmp_path):
    """It gets no password that was for another one, and what is typed for it only when that was asked twice."""
    s, api, web = ports(api="auth { enabled on; username admin; password secret; delay 1; }")
    with Trap() as trap, browser.Page(tmp_path) as b:
        b.open(f"http://127.0.0.1:{api}/console/")
        assert b.wait("document.body.innerText.includes('This server wants user and password')")
        b.run(LOGIN % "'wrong'")
        assert b.wait("document.body.innerText.includes('not right')")
        assert s.wait_log("number 1", 2) and "number 2" not in s.log(), "a wrong password is wrong once"
        b.run(LOGIN % "'secret'")
        assert b.wait("document.querySelector('#state').innerText.startsWith('version')")
        b.open(f"http://127.0.0.1:{api}/console/?api=http://127.0.0.1:{trap.port}")
        assert b.wait(f"document.body.innerText.includes('http://127.0.0.1:{trap.port}, which is not where')")
        assert trap.seen and not trap.passwords(), trap.seen
        b.run(LOGIN % "'secret'")
        assert b.wait(f"document.querySelector('#ask button').innerText === 'Send them to 127.0.0.1:{trap.port}?'")
        assert not trap.passwords()
        b.run(LOGIN % "'secret'")
        assert b.wait("document.body.innerText.includes('not right')") and len(trap.passwords()) == 1
        b.open(f"http://127.0.0.1:{api}/console/")
        assert b.wait("document.querySelector('#state').innerText.startsWith('version')"), "it is still kept for its own"


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
def test_a_page_elsewhere_kicks_nobody(ports, source, tmp_path):
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
    assert ask("raw?rpc=reload-fetch")["data"]["state"] == 0, "nothing was loaded"


@chromium
@pytest.mark.long
def test_a_kick_from_the_port_of_files(ports, source, tmp_path):
    """Without a password it is refused, and the page says where it would not be."""
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
        assert b.wait(f"document.body.innerText.includes('only http://127.0.0.1:{api}/console/ kicks')", 8), b.text()
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
    """Who plays a file and where he is; played in the console, sought in by the page of the player, to its end and anew."""
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
        assert b.wait("/rtmp-vod[^]*at 0:0\\d, /.test(document.querySelector('.stream').innerText)", 8), b.text()
        b.click(".stream .act button")
        assert b.wait("document.querySelector('video').currentTime > 0.5", 10), b.text()
        assert b.wait("document.querySelector('.seek').innerText.includes('/ 0:30')"), b.text()

        b.open(f"http://127.0.0.1:{web}/players/srs_player.html?app=vod&stream=a.flv.flv&autostart=true&start=10")
        assert b.wait("document.querySelector('video').currentTime > 0.5", 10), b.text()
        assert 10 < b.run(place) < 13
        b.run(seek % 26)
        assert b.wait(f"document.querySelector('video').currentTime > 0.5 && {place} > 26", 10), b.text()
        assert b.wait("document.querySelector('#state').innerText === 'the end'", 10), b.text()
        b.run("void document.querySelector('video').play().catch(() => {})")
        assert b.wait(f"document.querySelector('video').currentTime > 0.3 && {place} < 3", 10), b.text()
        assert not b.errors, b.errors
