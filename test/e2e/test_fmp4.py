# SPDX-License-Identifier: MIT
"""Live fragmented MP4 over HTTP and WebSocket: every frame, paths, codec changes, third-party players, and the pages' own player in
Chromium, Firefox and WebKit."""
import time

import pytest

import browser
import firefox
import flv
import hls
import mp4boxes
import procs
import tools
import webkit
from flv import AUDIO, VIDEO
from procs import free_port, wait_for
from test_http_ts import record, settled, size
from webclient import FlvWatcher, Http, once

REMUX = "http_remux { enabled on; }"


@pytest.fixture
def live(srs, tmp_path):
    def start(vhost=REMUX):
        port, root = free_port(), tmp_path / "html"
        (root / "live").mkdir(parents=True)
        s = srs(vhost, f"http_server {{ enabled on; listen 127.0.0.1:{port}; dir {root}; }}")
        return s, port, root
    return start


def codecs(data):
    """Codecs of each initialization segment."""
    return [data[at + 8:at + n].decode() for kind, at, n in boxes(data) if kind == b"free"]


def boxes(data):
    at = 0
    while at + 8 <= len(data):
        n = int.from_bytes(data[at:at + 4], "big")
        assert n >= 8
        yield data[at + 4:at + 8], at, n
        at += n


def kinds(data):
    return [k for k, _, _ in boxes(data)]


class Watcher(FlvWatcher):
    """The messages of a WebSocket, each of whole boxes."""

    def _run_ws(self):
        while not self.halt:
            op, data = self.frame()
            with self.lock:
                self.messages.append((op, data))

    def data(self):
        with self.lock:
            return b"".join(d for op, d in self.messages if op == 2)


def watch(s, port, path="/live/s.mp4"):
    w = Watcher(port, path, ws=True)
    assert w.status == 101 and s.wait_log("identified", 5)
    return w


def test_every_frame(live, source, tmp_path):
    """From the beginning, through a mount of .mp4: it waits for the publisher."""
    s, port, _ = live("http_remux { enabled on; mount [vhost]/[app]/[stream].mp4; }")
    out = tmp_path / "got.mp4"
    p = record(f"http://127.0.0.1:{port}/live/s.mp4", out)
    assert s.wait_log("identified", 5)
    tags = flv.cut(source, 8000)
    s.push(tags, speed=20).join(10)
    settled(out)
    p.kill()
    p.wait()
    data = out.read_bytes()
    assert kinds(data)[:3] == [b"ftyp", b"moov", b"free"] and codecs(data) == ["codecs=avc1.4d401e,mp4a.40.2"]
    video, audio = hls.packets(out, "v"), hls.packets(out, "a")
    assert hls.frames(tags, VIDEO) - 1 <= len(video) <= hls.frames(tags, VIDEO)
    assert len(audio) >= hls.frames(tags, AUDIO) - 6
    assert video[0][2], "it does not begin with a key frame"
    assert tools.decode(out) == ""


def test_joined_late(live, source, tmp_path):
    """Two join at once, over both transports: the same bytes from the newest key frame on."""
    s, port, _ = live()
    push = s.push(source, speed=8, loop=True)
    assert s.wait_log("video sh", 3)
    out = tmp_path / "got.mp4"
    p = record(f"http://127.0.0.1:{port}/live/s.mp4", out)
    w = watch(s, port)
    assert wait_for(lambda: size(out) > 300000 and len(w.data()) > 300000, 10)
    push.stop()
    p.kill()
    p.wait()
    w.stop()
    plain, framed = out.read_bytes(), w.data()
    assert kinds(framed)[:5] == [b"ftyp", b"moov", b"free", b"moof", b"mdat"]
    n = 250000
    begin = plain.index(b"moof") - 4
    assert plain[begin:begin + 20000] in framed or framed[framed.index(b"moof") - 4:][:20000] in plain
    assert kinds(framed[:n]).count(b"moov") == 1
    (tmp_path / "framed.mp4").write_bytes(framed)
    assert hls.packets(tmp_path / "framed.mp4", "v")[0][2]
    assert tools.decode(tmp_path / "framed.mp4") == ""


def test_whose_path(live, source):
    """Next to .flv: a path means a file unless the stream is on air; a WebSocket always means the stream."""
    s, port, root = live()
    (root / "live" / "s.mp4").write_bytes(b"a file")
    with Http(port) as h:
        got = h.get("/live/s.mp4")
        assert got.body == b"a file" and got.headers["content-length"] == "6"
        assert h.get("/live/none.mp4").status == 404
    w = watch(s, port, "/live/none.mp4")
    w.stop()
    push = s.push(source, loop=True)
    assert s.wait_log("video sh", 3)
    head = once(port, "/live/s.mp4", "HEAD")
    assert head.status == 200 and head.headers["content-type"] == "video/mp4" and "content-length" not in head.headers
    with Http(port) as h:
        h.ask("/live/s.mp4", Range="bytes=0-")
        status, fields = h.head()
        assert status == 200 and "content-range" not in fields and fields["accept-ranges"] == "none"
        assert h.take(8)[4:] == b"ftyp"
    with Http(port) as h:
        assert h.get("/live/other.mp4").status == 404
    push.stop()
    push.client.close()
    assert wait_for(lambda: "content-length" in once(port, "/live/s.mp4", "HEAD").headers, 5)
    assert once(port, "/live/s.mp4").body == b"a file"


def test_off(live, source):
    s, port, root = live("http_remux { enabled on; fmp4 off; }")
    s.push(source, loop=True)
    assert s.wait_log("video sh", 3)
    assert once(port, "/live/s.mp4").status == 404
    assert once(port, "/live/s.mp4", Connection="Upgrade", Upgrade="websocket", Sec_WebSocket_Version="13",
                Sec_WebSocket_Key="dGhlIHNhbXBsZSBub25jZQ==").status == 404


@pytest.mark.parametrize("pair", ["hevc opus", "av1 mp3", "vp9 aac", "h264", "opus", pytest.param("mp3", marks=pytest.mark.long)])
def test_codecs(live, media, tmp_path, pair):
    s, port, _ = live()
    w = watch(s, port)
    tags = media.tags(*pair.split())
    s.push(tags, speed=12).join(10)
    out = tmp_path / "got.mp4"

    def shown():
        out.write_bytes(w.data())
        return kinds(out.read_bytes()).count(b"moof") > 5
    assert wait_for(shown, 5)
    time.sleep(0.3)
    shown()
    w.stop()
    want = pair.split()
    got = tools.ffprobe(out, "-show_streams", "-count_packets")["streams"]
    assert [x["codec_name"] for x in got] == want
    assert codecs(out.read_bytes())[0].count(",") == len(want) - 1
    for x in got:
        kind = VIDEO if x["codec_type"] == "video" else AUDIO
        assert int(x["nb_read_packets"]) >= hls.frames(tags, kind) - 12, x
    assert tools.decode(out) == ""


def test_tracks_that_change(live, media, tmp_path):
    """Another codec, audio removed, audio added: the initialization comes at its place, before a key frame."""
    s, port, _ = live()
    w = watch(s, port)
    for want in "h264 opus", "hevc opus", "h264", "h264 opus":
        s.push(media.tags(*want.split()), speed=16).join(10)
        time.sleep(0.1)
    assert wait_for(lambda: len(codecs(w.data())) >= 3, 5)
    w.stop()
    names = [c.split("=")[1].split(",") for c in codecs(w.data())]
    assert [n[0][:4] for n in names[:3]] == ["avc1", "hvc1", "avc1"], names
    data, seen = w.data(), b""
    for kind, at, n in boxes(data):
        if kind == b"ftyp" and seen:
            part = tmp_path / "part.mp4"
            part.write_bytes(seen)
            assert tools.decode(part) == "", names
            seen = b""
        seen += data[at:at + n]


PAGE = """<!DOCTYPE html><html><body><video id="v" muted width="320"></video>
<script src="/console/live_player.js"></script><script>
window.said = [];
function play(url, options) {
    window.asked = performance.now();
    v.addEventListener('loadeddata', () => { window.first = performance.now() - asked; }, { once: true });
    window.p = new LivePlayer(v, url, { ...options, onstate: (state, words) => said.push([state, words]) });
}
</script></body></html>"""


def shows_now(page, began):
    """Seconds from sending a frame to displaying it, median of a dozen."""
    return browser.latency(page, began)[6]


def moves(page, seconds=1.0, timeout=15):
    at = page.run("v.currentTime")
    assert page.wait(f"v.currentTime > {at} + {seconds}", timeout), (page.run("JSON.stringify([said, p.stats, v.currentTime, v.paused, v.readyState])"))


@pytest.mark.long
@pytest.mark.parametrize("way", ["ws", "http"])
@pytest.mark.parametrize("kind", [browser, firefox])
def test_player(live, media, tmp_path, kind, way):
    """First frame, latency, a publisher that leaves and returns with another codec, no players left at the end."""
    if not (kind.chromium() if kind is browser else kind.there()):
        pytest.skip("not installed")
    s, port, root = live()
    (root / "play.html").write_text(PAGE)
    tags = flv.read(browser.barcode_flv(tmp_path / "barcode.flv", 40, gop=50))
    with kind.Page(tmp_path) as page:
        page.open(f"http://127.0.0.1:{port}/play.html")
        page.run(f"play('/live/s.mp4', {{ transport: '{way}' }})")
        assert page.wait(f"said.some(x => x[0] === '{'waiting' if way == 'ws' else 'missing'}')", 8), page.run("said")
        began = time.time()
        pusher = s.push(tags)
        moves(page, 3)
        page.run("p.stop()")
        page.run(f"play('/live/s.mp4', {{ transport: '{way}' }})")
        moves(page, 3)
        first, late = page.run("first"), shows_now(page, began)
        print(f"{kind.__name__} {way}: first frame {first:.0f} ms, {late:.2f} s late")
        assert first < 500 * procs.SLOW + 300 and late < 1.0 * procs.SLOW, (first, late, page.run("p.stats"))
        assert page.run("p.stats.transport") == way and page.run("p.state") == "playing"
        pusher.stop()
        pusher.client.close()
        assert page.wait("p.state !== 'playing'", 8), page.run("p.state")
        for codecs in "h264 opus", "vp9", "vp9 aac":
            pusher = s.push(media.tags(*codecs.split()), loop=True)
            want = {"h264": "avc1", "vp9": "vp09"}[codecs.split()[0]]
            count = codecs.count(" ")
            told = f"p.stats.codecs.startsWith('{want}') && p.stats.codecs.split(',').length === {count + 1} && p.state === 'playing'"
            assert page.wait(told, 15), page.run("JSON.stringify([said, p.stats])")
            moves(page)
            pusher.stop()
            pusher.client.close()
        page.run("p.stop()")
        assert wait_for(lambda: s.log().count("client finished: MP4 player") >= 2, 5)


@pytest.mark.long
@pytest.mark.parametrize("way", ["ws", "http"])
@pytest.mark.skipif(not webkit.there(), reason="no WebKit: apt-get install webkit2gtk-driver xvfb")
def test_player_in_webkit(live, media, tmp_path, way):
    """It waits for the publisher, joins a live stream whenever the page opens, and does not fall behind, without an error of the browser
    or a second connection."""
    s, port, root = live()
    (root / "play.html").write_text(PAGE)
    with webkit.Page(tmp_path) as page:
        for opened in range(4):
            page.open(f"http://127.0.0.1:{port}/play.html")
            page.run(f"play('/live/s.mp4', {{ transport: '{way}' }})")
            if opened == 0:
                assert page.wait(f"said.some(x => x[0] === '{'waiting' if way == 'ws' else 'missing'}')", 8), page.run("said")
                s.push(media.tags("h264", "aac"), loop=True)
            moves(page, 4)
            assert page.run("p.state") == "playing" and page.run("p.stats.transport") == way, page.run("said")
            assert opened == 0 or page.run("p.stats.connections") == 1, page.run("said")
            assert page.wait(f"p.behind < {1.0 * procs.SLOW}", 5), page.run("JSON.stringify(p.stats)")
            # the counter restarts with each change of speed
            assert page.run("v.videoWidth") > 0 and page.wait("v.getVideoPlaybackQuality().totalVideoFrames > 20", 10)


@pytest.mark.skipif(not browser.chromium(), reason="no Chromium")
def test_words_of_the_player(live, media, tmp_path):
    """It names a codec that the browser lacks: for video it stops, audio is left out."""
    s, port, root = live()
    (root / "play.html").write_text(PAGE)
    with browser.Page(tmp_path) as page:
        page.open(f"http://127.0.0.1:{port}/play.html")
        cannot = "MediaSource.isTypeSupported = type => !/%s/.test(type);"
        s.push(media.tags("h264", "opus"), loop=True)
        page.run(cannot % "opus" + "play('/live/s.mp4')")
        moves(page)
        assert page.run("p.words") == "this browser cannot decode Opus" and page.run("p.state") == "playing"
        page.run("p.stop();" + cannot % "avc1" + "play('/live/s.mp4')")
        assert page.wait("p.state === 'error'", 5)
        assert page.run("p.words") == "this browser cannot decode H.264"
        page.run("play('/live/none.mp4', { transport: 'http' })")
        assert page.wait("p.state === 'missing' && p.words.startsWith('no publisher')", 5), page.run("said")
