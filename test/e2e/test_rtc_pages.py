# SPDX-License-Identifier: MIT
"""Our own WebRTC pages in Chromium: whip.html publishes; whep.html, the first page and the console play; pages of users replace
ours."""
import json

import pytest

import browser
import rtc_shown
import tools
from httpapi import Api
from procs import wait_for
from rtc import FLAGS, rtc_server
from test_rtc_browser import film
from procs import Proc

pytestmark = [pytest.mark.long, pytest.mark.skipif(not browser.chromium(), reason="no Chromium")]

STATE = "document.querySelector('#state').innerText"
FACTS = "document.querySelector('#stats').innerText"


def page(tmp_path, name):
    folder = tmp_path / name
    folder.mkdir(exist_ok=True)
    return browser.Page(folder, flags=FLAGS)


def at(s, path):
    return f"http://127.0.0.1:{s.web_port}/players/{path}"


def kinds(s):
    return sorted(c["type"] for c in Api(s.api_port).clients())


@pytest.fixture
def both(srs, tmp_path):
    """both(rtc, vhost) starts a server, and returns it with two browsers."""
    opened = []

    def start(rtc="rtc_to_rtmp on; rtmp_to_rtc on;", **how):
        s = rtc_server(srs, tmp_path, rtc=rtc, **how)
        opened.extend(page(tmp_path, n) for n in ("a", "b"))
        return s, *opened
    yield start
    for p in opened:
        p.close()


def test_publish_and_play(both, tmp_path):
    """Camera to live; two names of the player; statistics on both sides; Stop is sent to the server at once."""
    s, out, back = both()
    out.look(900, 1000)
    out.open(at(s, "whip.html?app=live&stream=cam&codec=h264&autostart=true"))
    assert out.wait(f"{STATE} === 'live'", 15), (out.text(), out.errors)
    assert out.wait(f"{FACTS}.includes('H264, ') && /Round trip/i.test({FACTS})", 10), out.text()
    back.look(900, 1000)
    for name in "whep.html", "rtc_player.html":
        back.open(at(s, f"{name}?app=live&stream=cam&autostart=true"))
        assert back.wait("document.querySelector('video').currentTime > 1", 10), (back.text(), back.errors, s.log()[-2000:])
        assert back.wait(f"{STATE} === 'playing' && /local latency/i.test({FACTS}) && {FACTS}.includes('H264, ')", 10), back.text()
        assert "none" in back.run(FACTS) and "/rtc/v1/whep/?" in back.run("document.querySelector('#address').value")
        assert kinds(s) == ["rtc-play", "rtc-publish"], "the previous page has sent its end"
    assert back.run("document.querySelector('video').muted")
    back.click("#unmute")
    assert not back.run("document.querySelector('video').muted")
    assert back.wait("document.querySelector('#unmute').hidden")
    for p, name in (out, "whip"), (back, "whep"):
        p.shot(tmp_path / f"{name}.png")
    href = out.run("document.querySelector('#watch').href")
    back.open(href)
    assert back.wait("document.querySelector('video').currentTime > 1", 10), (href, back.text())
    out.click("#go")
    assert wait_for(lambda: kinds(s) == ["rtc-play"], 3), "at once, by DELETE"
    assert back.wait(f"{STATE}.startsWith('waiting')", 6), back.text()
    out.click("#go")
    assert out.wait(f"{STATE} === 'live'", 15) and back.wait(f"{STATE} === 'playing'", 10), back.text()
    assert not out.errors and not back.errors, (out.errors, back.errors)


def test_console_and_first_page_play(both, tmp_path):
    s, out, b = both()
    Proc(["ffmpeg", "-v", "error", "-nostdin", "-re", "-stream_loop", "-1", "-i", film(tmp_path / "film.flv"), "-c", "copy",
          "-f", "flv", s.url("cam")], tmp_path / "push.log")
    b.look()
    b.open(f"http://127.0.0.1:{s.api_port}/console/")
    by_rtc = "[...document.querySelectorAll('.menu button')].find(e => e.textContent.startsWith('WebRTC'))"
    assert b.wait(by_rtc + "?.isConnected", 15), b.text()
    b.run(by_rtc + ".click()")
    line = "document.querySelector('#facts').innerText"
    assert b.wait(f"/640×360, H264.* 2[4-6] fps, delay \\d+ ms, 0 % lost/.test({line})", 12), (b.text(), b.errors)
    b.run("document.querySelector('.stream').open = true")
    assert b.wait("/rtc-play[^]*H264[^]* over UDP/.test(document.querySelector('.stream').innerText)", 8), b.text()
    b.shot(tmp_path / "console.png")
    b.click("#close")
    assert wait_for(lambda: "rtc-play" not in kinds(s), 3)
    b.open(f"http://127.0.0.1:{s.web_port}/")
    assert b.wait("document.querySelectorAll('#streams button:not([hidden])').length === 2"), b.text()
    b.click("#streams button:nth-child(2)")
    assert b.wait(f"/delay \\d+ ms/.test({line})", 12), (b.text(), b.errors)
    b.shot(tmp_path / "home.png")
    assert not b.errors, b.errors


def test_pages_tell_of_b_frames(both, tmp_path):
    """What the server leaves out, which the browser does not know: whep.html, the console's player and its list of clients."""
    s, a, b = both()
    path = rtc_shown.film(tmp_path / "b.flv", seconds=12, b="bframes=3:b-adapt=0:b-pyramid=none")
    Proc(["ffmpeg", "-v", "error", "-nostdin", "-re", "-stream_loop", "-1", "-i", path, "-c", "copy", "-f", "flv", s.url("cam")],
         tmp_path / "push.log")
    assert s.wait_log("start publish|client identified", 5)
    says = "/B-frames: \\d+ of \\d+ frames left out; set the encoder to 0 B-frames/.test"
    a.open(at(s, "whep.html?app=live&stream=cam&autostart=true"))
    assert a.wait(f"{says}({FACTS})", 15), (a.text(), a.errors)
    a.look(900, 1000)
    a.shot(tmp_path / "whep.png")
    b.look()
    b.open(f"http://127.0.0.1:{s.api_port}/console/")
    by_rtc = "[...document.querySelectorAll('.menu button')].find(e => e.textContent.startsWith('WebRTC'))"
    assert b.wait(by_rtc + "?.isConnected", 15), b.text()
    b.run(by_rtc + ".click()")
    assert b.wait(f"{says}(document.querySelector('#facts').innerText)", 15), (b.text(), b.errors)
    b.run("document.querySelector('.stream').open = true")
    assert b.wait(f"{says}(document.querySelector('.stream').innerText)", 8), b.text()
    b.shot(tmp_path / "console.png")
    assert not a.errors and not b.errors, (a.errors, b.errors)


@pytest.mark.parametrize("how, says", [
    ({"vhost": "security { enabled on; deny publish all; }"}, "rejected you"),
    ({"glob": "vhost plain { }"}, "WebRTC is off for this stream"),
    ({"vhost": "publish { takeover off; }"}, "the stream already has a publisher"),
    ({"server": "api_as_candidates off;", "candidate": "192.0.2.1"}, "no answer from UDP 192.0.2.1:"),
])
def test_refused(both, how, says):
    """The text says what to check; nothing of the session is left."""
    s, a, b = both(**how)
    s.allow_errors = True
    if "already has a publisher" in says:
        a.open(at(s, "whip.html?autostart=true"))
        assert a.wait(f"{STATE} === 'live'", 15), a.text()
    b.open(at(s, f"rtc_publisher.html?autostart=true&vhost={'plain' if 'glob' in how else ''}"))
    assert b.wait(f"{STATE}.includes({json.dumps(says)})", 20), b.text()
    assert b.run("document.querySelector('#go').innerText") == "● Publish" and b.run("document.querySelector('video').srcObject === null")
    assert wait_for(lambda: len(kinds(s)) == ("already has a publisher" in says), 3)


def test_whep_refused_plays_by_http(both, source):
    """And says why WebRTC failed."""
    s, a, b = both(rtc="rtmp_to_rtc off;")
    s.push(source, "cam", loop=True)
    a.open(at(s, "whep.html?stream=cam&autostart=true"))
    assert a.wait("document.querySelector('video').currentTime > 1", 15), a.text()
    assert "WebRTC failed: " in a.text() and a.run("document.querySelector('#address').value").endswith("/live/cam.mp4")


ADDRESSES = {  # {}: the server of this page
    "stream=x": "{}/rtc/v1/{what}/?app=live&stream=x",
    "app=a/b&stream=x%20y&token=t%26u&eip=1.2.3.4:8000&codec=hevc": "{}/rtc/v1/{what}/?app=a%2Fb&stream=x+y&token=t%26u&eip=1.2.3.4%3A8000&codec=hevc",
    "stream=x&vhost=v.w&schema=webrtc": "{}/rtc/v1/{what}/?app=live&stream=x&vhost=v.w",
    "server=other&stream=x": "http://other:1985/rtc/v1/{what}/?app=live&stream=x",
    "server=other&stream=x&schema=https": "https://other/rtc/v1/{what}/?app=live&stream=x",
    "server=other&stream=x&port=8080": "http://other:8080/rtc/v1/{what}/?app=live&stream=x",
    "server=other&stream=x&port=8080&api=1986": "http://other:1986/rtc/v1/{what}/?app=live&stream=x",
    "api=http://other:7&stream=x": "http://other:7/rtc/v1/{what}/?app=live&stream=x",
    "url=webrtc://other/a/b?c=d": "http://other:1985/rtc/v1/{what}/?app=a&stream=b&c=d",
    "url=webrtc://127.0.0.1/a/b": "{}/rtc/v1/{what}/?app=a&stream=b",
    "url=https://other/x/{what}/y": "https://other/x/{what}/y",
}


def test_parameters(srs, tmp_path):
    s = rtc_server(srs, tmp_path)
    here = f"http://127.0.0.1:{s.web_port}"
    with page(tmp_path, "a") as b:
        for name, what in ("whep.html", "whep"), ("rtc_publisher.html", "whip"):
            got = {}
            for query in ADDRESSES:
                b.open(at(s, f"{name}?" + query.replace("{what}", what)))
                assert b.wait("document.querySelector('#address').value"), (query, b.text(), b.errors)
                got[query] = b.run("document.querySelector('#address').value")
            assert got == {q: want.replace("{}", here).replace("{what}", what) for q, want in ADDRESSES.items()}
        assert not b.errors, b.errors


# Pages of SRS users, by its contract only: JSON at 1985, an offer without candidates, clientip null.
THEIRS = """<!doctype html><title>theirs</title><video id="v" autoplay muted playsinline></video><script src="js/srs.sdk.js"></script>"""
SDK = """
async function exchange(pc, api, streamurl) {
    const offer = await pc.createOffer();
    await pc.setLocalDescription(offer);
    const tid = Number(parseInt(new Date().getTime() * Math.random() * 100)).toString(16).slice(0, 7);
    const r = await fetch(api, { method: 'POST', body: JSON.stringify({ api, tid, streamurl, clientip: null, sdp: offer.sdp }),
                                 headers: { 'Content-Type': 'application/json' } });
    const j = await r.json();
    if (j.code) { document.title = 'code ' + j.code; return; }
    await pc.setRemoteDescription(new RTCSessionDescription({ type: 'answer', sdp: j.sdp }));
    document.title = 'session ' + j.sessionid;
}
const q = new URLSearchParams(location.search), pc = window.pc = new RTCPeerConnection(null);
const api = name => `http://${location.hostname}:${q.get('port')}/rtc/v1/${name}/`;
const stream = `webrtc://${location.hostname}/live/${q.get('stream')}`;
if (location.pathname.endsWith('publisher.html'))
    navigator.mediaDevices.getUserMedia({ audio: true, video: { width: { ideal: 640 } } }).then(media => {
        pc.addTransceiver('audio', { direction: 'sendonly' });
        pc.addTransceiver('video', { direction: 'sendonly' });
        media.getTracks().forEach(t => pc.addTrack(t));
        return exchange(pc, api('publish'), stream);
    });
else {
    const media = document.querySelector('#v').srcObject = new MediaStream();
    pc.ontrack = e => media.addTrack(e.track);
    pc.addTransceiver('audio', { direction: 'recvonly' });
    pc.addTransceiver('video', { direction: 'recvonly' });
    exchange(pc, api('play'), stream);
}
"""


def test_pages_as_srs_has_them(both, tmp_path):
    """Pages of users in the folder of files replace ours of the same name only."""
    s, out, back = both()
    theirs = tmp_path / "html" / "players"
    (theirs / "js").mkdir(parents=True)
    (theirs / "js" / "srs.sdk.js").write_text(SDK)
    (tmp_path / "html" / "favicon.ico").write_bytes(b"")
    for name in "rtc_player.html", "rtc_publisher.html":
        (theirs / name).write_text(THEIRS)
    query = f"?stream=cam&port={s.api_port}&vhost=__defaultVhost__&autostart=true"
    out.open(at(s, "rtc_publisher.html" + query))
    assert out.wait("document.title.startsWith('session ')", 15), (out.run("document.title"), out.errors, s.log()[-2000:])
    back.open(at(s, "rtc_player.html" + query))
    assert back.wait("document.querySelector('video').currentTime > 1", 15), (back.run("document.title"), s.log()[-2000:])
    assert kinds(s) == ["rtc-play", "rtc-publish"]
    back.open(at(s, "whep.html?stream=cam&autostart=true"))
    assert back.wait("document.querySelector('video').currentTime > 1", 15) and back.run("document.title") == "Sluice player"
    r = tools.run(["ffmpeg", "-v", "error", "-probesize", "65536", "-t", "3", "-i", f"http://127.0.0.1:{s.web_port}/live/cam.flv",
                   "-map", "0:v", "-f", "framecrc", "-"], check=False)
    assert r.stdout.count(b"\n") > 50 and not r.stderr.strip(), r.stderr.decode()[-1000:]
    assert not out.errors and not back.errors, (out.errors, back.errors)
