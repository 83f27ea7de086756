# SPDX-License-Identifier: MIT
"""A rejected client gets nothing of a stream: with any guess, name and host, before and after a restart. An admitted client plays it
with common players."""
import os
import re
import shutil
import socket
import urllib.parse

import pytest

import browser
import dash
import hls
import tools
from procs import free_port, wait_for
from rtmpclient import Rejected
from test_hls import html  # noqa: F401
from test_hooks import backend, hooks  # noqa: F401
from tokens import SECRET, hs256

KINDS = {  # one vhost each: its folder has its name
    "ts": "", "fmp4": "hls_use_fmp4 on;", "ll": "hls_ll on;",
    "aes": "hls_keys on; hls_fragments_per_key 1;",
}
WITH = "?token=good"


def allows(event):
    return 0 if "token=good" in event.get("param", "") else 1


def vhost(name, path, rules, more="", dash_more=""):
    return (f"vhost {name} {{ hls {{ enabled on; hls_path {path}; hls_fragment 1; hls_window 30; {more} }}\n"
            f"dash {{ enabled on; dash_path {path}; dash_fragment 1; dash_update_period 1; dash_window_size 20; "
            f"{dash_more} }}\n{rules} }}\n")


def files(root):
    return [os.path.relpath(os.path.join(d, f), root) for d, _, fs in os.walk(root) for f in fs]


def is_media(path):
    return path.rsplit(".", 1)[-1] in ("m3u8", "mpd", "ts", "m4s", "key", "tmp") or "init" in path


class Site:
    """One stream per vhost, in every format that the vhost produces."""

    def __init__(self, srs, root, source, vhosts, hosts, glob="", dir=None):
        self.port, self.root = free_port(), root
        self.srs = srs("".join(vhosts), f"http_server {{ enabled on; listen 127.0.0.1:{self.port}; "
                                        f"dir {dir or root}; }}" + glob)
        self.hosts, self.source = hosts, source
        self.push()

    def push(self):
        self.pushers = [self.srs.push(self.source, "s?token=good", tcurl=f"rtmp://{h}/live", loop=True, ahead=7)
                        for h in self.hosts]

    def leave(self):
        for p in self.pushers:
            p.stop()
            p.client.close()

    def url(self, path):
        return f"http://127.0.0.1:{self.port}/{urllib.parse.quote(path)}"

    def get(self, path, query="", **how):
        return hls.get(self.url(path) + query, **how)

    def written(self, folder, count=3):
        """Waits until playlists and segments are on disk."""
        path = os.path.join(self.root, folder, "live", "s.m3u8")
        mpd = path[:-4] + "mpd"
        assert wait_for(lambda: hls.load(path) and len(hls.load(path).segments) >= count, 12), files(self.root)
        assert wait_for(lambda: dash.load(mpd) and dash.load(mpd).count >= count, 8), files(self.root)
        return path

    def child(self, path):
        """The media playlist, for a client with a token."""
        status, _, body = self.get(path, WITH)
        assert status == 200, f"{status} for {path}"
        return hls.join(self.url(path), body.decode().strip().split("\n")[-1])

    def stolen(self, below="", **how):
        """What an untrusted client gets that knows the name of every file."""
        got = []
        for f in files(os.path.join(self.root, below)):
            path = os.path.join(below, f)
            for name in {path, path + ".tmp"}:
                if is_media(name) and self.get(name, **how)[0] not in (403, 404):
                    got.append(name)
        return got


@pytest.fixture
def site(srs, html, source, backend):
    b = backend(allows)
    rules = hooks(b, "on_play", "on_stop")
    os.mkdir(os.path.join(html, "ts"))
    os.symlink("ts", os.path.join(html, "link"))
    with open(os.path.join(html, "index.html"), "w") as f:
        f.write("open")
    hosts = [vhost(f"{k}.example", f"{html}/{k}", rules, more) for k, more in KINDS.items()]
    hosts.append(f"vhost files.example {{ http_static {{ enabled on; mount [vhost]/own/; dir {html}/ts; }} }}\n")
    made = Site(srs, html, source, hosts, [f"{k}.example" for k in KINDS])
    made.backend = b
    for k in KINDS:
        made.written(k)
    yield made
    made.srs.stop()  # while the backend is still notified of leaving clients


def test_untrusted_clients_get_nothing(site):
    names = files(site.root)
    assert {f.rsplit(".", 1)[-1] for f in names} >= {"m3u8", "mpd", "ts", "m4s", "key", "mp4", "tmp"}, names
    assert site.stolen() == []
    for host in ("ts.example", "files.example", "no.example"):
        assert site.stolen("ts", headers={"Host": host}) == [], host
        assert site.stolen("link", headers={"Host": host}) == [], host
        assert site.get("ts/live/s.m3u8", f"?vhost={host}")[0] == 403
    for f in files(os.path.join(site.root, "ts")):  # the folder of another vhost
        assert site.get("own/" + f, headers={"Host": "files.example"})[0] in (403, 404), f
    for path in ("ts/live/./s-0.ts", "ts//live/s-0.ts", "fmp4/../ts/live/s-0.ts", "ts/live/%73-0.ts"):
        assert hls.get(f"http://127.0.0.1:{site.port}/{path}")[0] == 403, path
    for query in ("?hls_ctx=", "?hls_ctx=abcdefgh", "?token=good", "?hls_ctx=abcdefgh&token=good"):
        assert site.get("ts/live/s-0.ts", query)[0] == 403, query
    assert site.srs.wait_log("is for players with a session", 2)
    for path in ("ts/live/nix.m3u8", "ts/nix/s.mpd", "ts/live/s-0.m3u8"):
        assert (site.get(path)[0], site.get(path, WITH)[0]) == (403, 404), path
    for path in ("ts/live/.s.m3u8", "ts/live/s.m3u8.tmp"):
        assert site.get(path, WITH)[0] == 404, path
    assert site.get("index.html")[2] == b"open", "files of the user are not served"
    low = hls.get_list(site.child("ll/live/s.m3u8"))
    part = low.segments[-1].parts[-1][1].partition("?")
    assert part[1] and site.get("ll/live/" + part[0])[0] == 403, "not from memory either"
    assert hls.get(hls.join(site.url("ll/live/s.m3u8"), "".join(part)))[0] == 200
    for path, query in ((part[0], "?hls_ctx=abcdefgh"), (low.hint.partition("?")[0], "")):
        assert site.get("ll/live/" + path, query)[0] == 403


def test_a_session_is_for_its_stream(site):
    """A ticket of one stream opens no other; each url in a playlist works."""
    ids = {}
    for k in KINDS:
        child = site.child(f"{k}/live/s.m3u8")
        ids[k] = child.split("hls_ctx=")[1].split("&")[0]
        got = hls.get_list(child)
        urls = [x.uri for x in got.segments] + [u for x in got.segments for u in (x.map, x.key) if u]
        assert all(f"hls_ctx={ids[k]}" in u for u in urls), got.text
        assert bool(got.segments[0].key) == (k == "aes") and bool(got.segments[0].map) == (k in ("fmp4", "ll"))
        for u in urls:
            status, headers, _ = hls.get(hls.join(child, u))
            assert status == 200 and headers["Cache-Control"] == (
                "no-store" if ".key" in u else "private, max-age=60"), u
            assert hls.get(hls.join(child, u).partition("?")[0])[0] == 403
    for path, k in (("ts/live/s-0.ts", "aes"), ("aes/live/s-0.key", "ts"), ("aes/live/s-0.ts", "fmp4")):
        assert site.get(path, f"?hls_ctx={ids[k]}")[0] == 403, path
    text = site.get("aes/live/s.m3u8", f"?hls_ctx={ids['ts']}")
    assert text[0] == 403, "nor the playlist"
    assert site.get("ts/live/s.mpd")[0] == 403
    assert site.get("ts/live/s.mpd", f"?hls_ctx={ids['aes']}")[0] == 403
    video = dash.load(os.path.join(site.root, "ts/live/s.mpd")).last.tracks["video"].uris[0]
    assert site.get("ts/live/" + video, f"?hls_ctx={ids['ts']}")[0] == 200, "it may play that stream"
    assert site.get("ts/live/" + video, f"?hls_ctx={ids['aes']}")[0] == 403


def test_dash_players_have_sessions(site):
    url = site.url("ts/live/s.mpd")
    before = len(site.backend.of("on_play"))
    status, headers, body = hls.get(url + WITH)
    assert status == 200 and headers["Cache-Control"] == "no-cache"
    m = dash.Mpd(body.decode())
    cid = m.last.tracks["video"].media.split("hls_ctx=")[1]
    assert f"<Location>s.mpd?hls_ctx={cid}&amp;token=good</Location>" in m.text
    for t in m.last.tracks.values():
        for uri in [t.init, *t.uris]:
            assert hls.get(hls.join(url, uri))[0] == 200, uri
    assert f"hls_ctx={cid}" in hls.get(url + WITH)[2].decode(), "a client that continues must be the same player"
    assert hls.get(url + "?token=bad")[0] == 403
    assert f"hls_ctx={cid}" not in hls.get(url + WITH, headers={"User-Agent": "another"})[2].decode()
    assert f"hls_ctx={cid}" in hls.get(f"{url}?hls_ctx={cid}&token=good")[2].decode()
    assert f"hls_ctx={cid}" not in hls.get(url + WITH)[2].decode(), "a client that uses its id must be another player"
    plays = site.backend.of("on_play")[before:]
    cid = cid[:8]
    assert len(plays) == 4 and [p["param"] for p in plays].count("?token=bad") == 1
    assert plays[0]["client_id"] == cid and plays[0]["stream"] == "s" and plays[0]["vhost"] == "ts.example"


@pytest.mark.needs("ffmpeg")
def test_players_play(site, tmp_path):
    """ffmpeg keeps the id through playlists, initializations, parts, keys and MPDs."""
    urls = {k: site.url(f"{k}/live/s.m3u8") for k in KINDS}
    urls["dash"] = site.url("ts/live/s.mpd")
    begin = ["-live_start_index", "0"]  # because everything must exist before time 5 s
    players = {k: tools.ffmpeg_frames(u + WITH, tmp_path / f"{k}.log", tmp_path / f"{k}.txt", 5, [] if k == "dash" else begin)
               for k, u in urls.items()}
    denied = tools.ffmpeg_frames(urls["ts"] + "?token=bad", tmp_path / "bad.log", tmp_path / "bad.txt", 5)
    for k, p in players.items():
        assert p.wait(25) == 0, f"{k}: {p.text()[-1500:]}"
        assert "403" not in p.text(), f"{k}: {p.text()[-1500:]}"
        got = tools.frame_list(tmp_path / f"{k}.txt", "video")
        assert len(got) >= 100, f"{k}: {len(got)}"
    assert denied.wait(10) != 0 and "403" in denied.text()


def test_nothing_old_after_a_restart(site):
    """Files of an earlier server need authorization as well, and then have ids."""
    site.leave()
    site.srs.stop()
    site.srs.start()
    assert site.stolen() == []
    assert site.get("ts/live/s.m3u8", "?hls_ctx=abcdefgh")[0] == 403
    child = site.child("ts/live/s.m3u8")
    got = hls.get_list(child)
    assert hls.get(hls.join(child, got.segments[0].uri))[0] == 200
    assert site.get("ts/live/s-0.ts")[0] == 403
    play = site.backend.of("on_play")[-1]
    assert (play["vhost"], play["app"], play["stream"]) == ("ts.example", "live", "s")
    status, _, body = site.get("ts/live/s.mpd", WITH)
    m = dash.Mpd(body.decode())
    assert status == 200 and hls.get(hls.join(site.url("ts/live/s.mpd"), m.last.tracks["video"].uris[0]))[0] == 200
    key = hls.get_list(site.child("aes/live/s.m3u8")).segments[0].key
    assert hls.get(hls.join(site.url("aes/live/s.m3u8"), key))[0] == 200


def test_spelled_otherwise(srs, html, source, backend, tmp_path):
    """The root of the web server is relative and contains a link, that of HLS does not."""
    b = backend(allows)
    os.symlink("html", tmp_path / "www")
    site = Site(srs, html, source, [vhost("a.example", html, hooks(b, "on_play"), "hls_ll on;")],
                ["a.example"], dir="./www")
    site.written("")
    assert site.stolen() == []
    child = site.child("live/s.m3u8")
    got = hls.get_list(child)
    for uri in (got.segments[0].uri, got.segments[-1].parts[-1][1], got.segments[0].map):
        assert hls.get(hls.join(child, uri))[0] == 200, uri
        assert hls.get(hls.join(child, uri).partition("?")[0])[0] == 403, uri


def test_addresses_are_asked_for_each_file(srs, html, source):
    """Even if segments need no session: hls_ts_ctx off, for caches that strip queries."""
    rules = "security { enabled on; allow publish all; allow play 127.0.0.1; }"
    site = Site(srs, html, source,
                [vhost("a.example", html, rules, "hls_ts_ctx off; hls_keys on;", "dash_ts_ctx off;")],
                ["a.example"])
    site.written("")
    assert site.stolen(headers={"X-Forwarded-For": "9.9.9.9"}) == []
    child = site.child("live/s.m3u8")
    one = hls.get_list(child).segments[0]
    assert one.uri == "s-0.ts" and site.get("live/s-0.ts")[0] == 200
    assert "hls_ctx=" in one.key and hls.get(hls.join(child, one.key))[0] == 200
    assert site.get("live/s-0.key")[0] == 403, "keys need a session"
    m = dash.Mpd(site.get("live/s.mpd")[2].decode())
    uri = m.last.tracks["video"].uris[0]
    assert "hls_ctx" not in uri and site.get("live/" + uri)[0] == 200
    assert site.get("live/s.mpd", headers={"X-Forwarded-For": "9.9.9.9"})[0] == 403
    with pytest.raises(Rejected):
        site.srs.publisher("other", tcurl="rtmp://no.example/live")


def test_tokens(srs, html, source):
    """A token in a header is for its owner only; cached segments are for all."""
    rules = f"security {{ enabled on; token {{ play on; jwt_secret {SECRET}; }} }}"
    site = Site(srs, html, source,
                [vhost("a.example", html + "/a", rules), vhost("b.example", html + "/b", rules, "hls_ts_ctx off;", "dash_ts_ctx off;")],
                ["a.example", "b.example"])
    site.written("a")
    site.written("b")
    bearer, query = {"Authorization": "Bearer " + hs256(play="live/s")}, "?jwt=" + hs256(play="live/s")
    for path in ("a/live/s.mpd", "b/live/s.mpd", "a/live/s.m3u8", "b/live/s.m3u8"):
        assert site.get(path, headers=bearer)[0] == 200, path
        assert site.get(path, query)[0] == 200, path
        for other in ("", "?jwt=" + hs256(play="live/x"), "?hls_ctx=abcdefgh"):
            assert site.get(path, other)[0] == 403, (path, other)
    assert site.get("b/live/s-0.ts")[0] == 200 and site.get("a/live/s-0.ts")[0] == 403


def answer_to(port, method, path, headers=()):
    """A response without its date and name: two are equal, or an untrusted client can tell them apart."""
    with socket.create_connection(("127.0.0.1", port), 10) as c:
        c.sendall("\r\n".join([f"{method} {path} HTTP/1.1", "Host: a.example", "Connection: close", *headers, "", ""]).encode())
        got = b""
        while True:
            more = c.recv(1 << 16)
            if not more:
                return re.sub(rb"(?m)^Date:.*\r\n", b"", got).replace(b"HEAD", b"").decode(errors="replace")
            got += more


@pytest.mark.parametrize("more", ["", "hls_use_fmp4 on;"])
def test_untrusted_clients_do_not_learn_names(srs, html, source, more):
    """For any request, existing files are answered like missing ones."""
    rules = (f"security {{ enabled on; token {{ play on; jwt_secret {SECRET}; }} }} "
             "http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }")
    site = Site(srs, html, source, [vhost("a.example", html + "/a", rules, more)], ["a.example"])
    site.written("a")
    init = [f for f in files(html) if "video-init" in f][0]
    pairs = [("/a/live/s.m3u8", "/a/live/x.m3u8"), ("/a/live/s.m3u8", "/a/x/s.m3u8"), ("/a//live/s.m3u8", "/a//x//s.m3u8"),
             ("/a/live/s.mpd", "/a/live/x.mpd"), ("/a/live/s.mpd", "/a/x/y.mpd"), ("/" + init, "/" + init.replace("/s/", "/x/")),
             ("/live/s.flv", "/live/x.flv"), ("/live/s.ts", "/live/x.ts"), ("/live/s.aac", "/live/x.aac")]
    if not more:
        pairs += [("/a/live/s-0.ts", "/a/live/x-0.ts"), ("/a/live/s-0.ts", "/a/x/s-0.ts")]
    ways = [(), ("Range: bytes=0-3",), ('If-None-Match: "1"',), ("If-Modified-Since: Thu, 01 Jan 2099 00:00:00 GMT",),
            ("Accept-Encoding: gzip",), ("If-None-Match: *",)]
    for there, missing in pairs:
        for method in ("GET", "HEAD", "OPTIONS", "POST"):
            for query in ("", "?hls_ctx=" + "x" * 32, "?jwt=wrong", "?_HLS_msn=1"):
                for way in ways if method in ("GET", "HEAD") else ways[:1]:
                    a, b = (answer_to(site.port, method, p + query, way) for p in (there, missing))
                    assert a == b, (method, there, missing, query, way, a, b)
                    if method in ("GET", "HEAD") and "/a/" in there:
                        assert a.startswith("HTTP/1.1 403"), (there, a)
        get, head = (answer_to(site.port, m, there) for m in ("GET", "HEAD"))
        assert head.partition("\r\n\r\n")[0] == get.partition("\r\n\r\n")[0], there
    query = "?jwt=" + hs256(play=["live/s", "live/x"])
    for path, status in (("s.m3u8", 200), ("x.m3u8", 404), ("s.mpd", 200), ("x.mpd", 404)):
        assert [answer_to(site.port, m, f"/a/live/{path}{query}").split()[1] for m in ("GET", "HEAD")] == [str(status)] * 2, path


def test_one_folder_for_two_vhosts(srs, html, source, backend):
    """Each stream follows the rules of its own vhost, while it exists."""
    b = backend(allows)
    hosts = [vhost("closed.example", html, hooks(b, "on_play")), vhost("open.example", html, "", "hls_ctx off;")]
    site = Site(srs, html, source, hosts, ["closed.example"])
    site.pushers.append(site.srs.push(source, "o", tcurl="rtmp://open.example/live", loop=True, ahead=5))
    site.written("")
    path = os.path.join(html, "live", "o.m3u8")
    assert wait_for(lambda: hls.load(path) and len(hls.load(path).segments) >= 3, 12)
    assert site.get("live/o-0.ts")[0] == 200 and site.get("live/o.m3u8")[0] == 200
    assert dash.Mpd(site.get("live/o.mpd")[2].decode()).count >= 1
    for host in ("open.example", "closed.example"):
        assert [x for x in site.stolen(headers={"Host": host}) if "/o" not in x] == []
    site.leave()
    site.srs.stop()
    site.srs.start()
    assert [x for x in site.stolen() if "/o" not in x] == []


@pytest.mark.long
@pytest.mark.needs("cvlc", "gst-launch-1.0", "ffprobe")
def test_other_players_play(site, tmp_path):
    """VLC and GStreamer have their own playlist readers: they keep the id as well."""
    urls = {k: site.url(f"{k}/live/s.m3u8") for k in ("ts", "fmp4", "aes")}
    urls["dash"] = site.url("ts/live/s.mpd")
    vlc, gst = {}, {}
    for k, u in urls.items():
        (tmp_path / k).mkdir()
        vlc[k] = tools.vlc(u + WITH, tmp_path / k / "vlc.ts", tmp_path / f"vlc-{k}.log", 3600)
        demux = {"ts": "hlsdemux ! tsdemux", "fmp4": "hlsdemux ! qtdemux", "aes": "hlsdemux ! tsdemux",
                 "dash": "dashdemux ! qtdemux"}[k]
        gst[k] = tools.gst(f"souphttpsrc location={u + WITH} ! {demux} ! h264parse ! avdec_h264 ! multifilesink "
                           f"location={tmp_path}/{k}/%05d.yuv max-files=200", str(tmp_path / f"gst-{k}.log"))
    for k in urls:
        out = tmp_path / k / "vlc.ts"
        assert wait_for(lambda: out.exists() and out.stat().st_size > 300000, 40), f"{k}: {vlc[k].text()[-2000:]}"
        assert wait_for(lambda: len(os.listdir(tmp_path / k)) > 100, 30), f"{k}: {gst[k].text()[-2000:]}"
    for p in (*vlc.values(), *gst.values()):
        p.end()
    assert "is for players with a session" not in site.srs.log()
    assert all("token=good" in e["param"] for e in site.backend.of("on_play"))


PAGE = """<!DOCTYPE html><html><body><script src="/hls.js"></script><script src="/dash.js"></script><script>
window.problems = [];
const v = {};
function video(name) {
    v[name] = document.body.appendChild(document.createElement('video'));
    v[name].muted = v[name].autoplay = true;
    return v[name];
}
for (const name of ['ts', 'll', 'aes']) {
    const p = new Hls({ lowLatencyMode: name === 'll' });
    p.on(Hls.Events.ERROR, (e, d) => { if (d.fatal || (d.response && d.response.code)) problems.push([name, d.details]); });
    p.loadSource(`/${name}/live/s.m3u8?token=good`);
    p.attachMedia(video(name));
}
const p = dashjs.MediaPlayer().create();
p.on('error', e => problems.push(['dash', e.error && e.error.message]));
p.initialize(video('dash'), '/fmp4/live/s.mpd?token=good', true);
</script></body></html>"""


@pytest.mark.long
def test_players_in_a_page(site):
    """hls.js and dash.js play with their ids; dash.js follows Location."""
    for package, file in (("hls.js", "hls.js"), ("dashjs", "dash.all.min.js")):
        shutil.copy(f"{browser.need(package)}/dist/{file}",
                    os.path.join(site.root, "hls.js" if package == "hls.js" else "dash.js"))
    with open(os.path.join(site.root, "play.html"), "w") as f:
        f.write(PAGE)
    before = len(site.backend.of("on_play"))
    page = browser.Page(site.root, f"http://127.0.0.1:{site.port}/play.html")
    try:
        for name in ("ts", "ll", "aes", "dash"):
            assert page.wait(f"window.problems && v.{name}.currentTime > 3", 40), (name, page.run("problems"))
        at = page.run("v.dash.currentTime")
        assert page.wait(f"v.dash.currentTime > {at} + 5", 30), page.run("problems")
        assert page.run("problems") == []
    finally:
        page.close()
    assert len(site.backend.of("on_play")) - before == 4, "not one session each"
    assert "is for players with a session" not in site.srs.log()
