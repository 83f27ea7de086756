# SPDX-License-Identifier: MIT
"""HLS as caches and players fetch it: caching headers, compressed playlists, and delta updates."""
import gzip
import itertools
import os
import re
import threading
import time
import urllib.request

import pytest

import dash
import flv
import hls
import tools
from procs import comes_to_rest, cpu_seconds, wait_for
from test_hls import FMP4, conf, html, listed, push, with_http  # noqa: F401

KEYS = "hls_keys on; hls_fragments_per_key 1;"


def cached(url):
    status, headers, _ = hls.get(url)
    assert status == 200, f"{status} for {url}"
    return headers["Cache-Control"]


def on_disk_alone(s, html, source, more, ctx, window=4):
    """A stream whose first segments have left memory. Returns the url of its playlist."""
    port, glob = with_http(html)
    s = s(conf(html, f"{more} hls_key_file_path {html};", fragment=1, window=window, ctx=ctx), glob)
    p = s.push(flv.cut(source, 12000), speed=50)
    p.join(20)
    listed(html, 1)
    url = f"http://127.0.0.1:{port}/live/s.m3u8"
    assert wait_for(lambda: hls.get(url)[0] == 200, 5)
    return url


@pytest.mark.parametrize("more", ["", FMP4, KEYS], ids=["ts", "fmp4", "keys"])
@pytest.mark.parametrize("ctx", ["on", "off"])
def test_caching_headers(srs, html, source, more, ctx):
    url = on_disk_alone(srs, html, source, more, ctx)
    if ctx == "on":
        assert cached(url) == "no-store", "the master playlist has the key of one player"
        url = hls.join(url, hls.get(url)[2].decode().split("\n")[-2])
    got = hls.get_list(url)
    want = "private, max-age=60" if ctx == "on" else "max-age=60"
    assert cached(url) == "no-cache"
    for x in got.segments:
        assert cached(hls.join(url, x.uri)) == want, x
        assert not x.map or cached(hls.join(url, x.map)) == want
        assert not x.key or cached(hls.join(url, x.key)) == "no-store"
        bare = hls.join(url, x.uri).split("?")[0]
        assert cached(bare) == "max-age=60", "it has the key of a player"
        status, headers, _ = hls.get(bare, headers={"Range": "bytes=0-9"})
        assert status == 206 and headers["Cache-Control"] == "max-age=60"
        status, headers, _ = hls.get(bare, headers={"If-None-Match": hls.get(bare)[1]["ETag"]})
        assert status == 304 and headers["Cache-Control"] == "max-age=60"
    for gone in (bare.replace("s-", "s-9999"), hls.join(url, "none.m3u8")):
        status, headers, _ = hls.get(gone)
        assert status == 404 and not headers["Cache-Control"], "it may be cached"


def test_caching_headers_of_an_ended_stream(srs, html):
    """Files of a stream that this process does not know."""
    port, glob = with_http(html)
    srs(conf(html) + f"dash {{ enabled on; dash_path {html}; }}", glob)
    os.makedirs(os.path.join(html, "live", "s"))
    segment = "max-age=60"
    for name, want in (("s-0.ts", segment), ("s-0.m4s", segment), ("s/init.mp4", segment),
                       ("s/init-7.mp4", segment), ("s/video-init-7.mp4", segment), ("s.m3u8", "no-cache"),
                       ("s.mpd", "no-cache"), ("s-0.key", "no-store"), ("s.html", None), ("film.mp4", None)):
        with open(os.path.join(html, "live", name), "w") as f:
            f.write("#EXTM3U\n")
        assert cached(f"http://127.0.0.1:{port}/live/{name}") == want, name


HOUR = 3600
EARLIER = 1500  # segments of 2 s


def write_journal(html):
    """Writes the journal of a previous process with a window of an hour, so that the playlist is long at once."""
    folder, now = os.path.join(html, "live"), int(time.time() * 1000)
    os.mkdir(folder)
    segment = os.path.join(folder, "s-0.ts")
    with open(segment, "wb") as ts:
        ts.write(b"G".ljust(188, b"\xff"))
    with open(os.path.join(folder, ".s.m3u8.journal"), "w") as f:
        f.write("hls-journal 1 HLS __defaultVhost__ live s .\n")
        for i in range(EARLIER):
            wall = now - (EARLIER - i) * 2000
            f.write(f"segment {i + 1} live/s-{i}.ts {i} {180000 + i % 7 * 90} {wall} 0 188 0 0 - 0 0 0 .\n")
            if i > 0:
                os.link(segment, os.path.join(folder, f"s-{i}.ts"))
        f.write(f"list 0 0 3 0 {now} .\n")


@pytest.fixture(params=["off", "on"], ids=["all_alike", "sessions"])
def play(request, srs, html, source):
    """play(more) publishes a stream and returns the url of its playlist, of a session if there are any. The publisher stays, and sends
    nothing more."""
    def start(more="", seconds=20):
        port, http = with_http(html)
        s = srs(conf(html, f"hls_key_file_path {html}; {more}", fragment=0.5, window=HOUR,
                     ctx=request.param), http)
        s.push(flv.cut(source, seconds * 1000), speed=50).join(20)
        start.url = f"http://127.0.0.1:{port}/live/s.m3u8"
        path = os.path.join(html, "live", "s.m3u8")
        assert wait_for(lambda: hls.load(path), 5) and comes_to_rest(lambda: hls.load(path).text, 0.4)
        return start.child() if request.param == "on" else start.url

    def child():
        return hls.join(start.url, hls.get(start.url)[2].decode().split("\n")[-2])
    start.child, start.sessions = child, request.param == "on"
    return start


@pytest.fixture
def long_list(html, play):
    def start():
        write_journal(html)
        return play(seconds=4)
    start.sessions, start.child = play.sessions, play.child
    return start


def packed(url, **headers):
    status, headers, body = hls.get(url, headers={"Accept-Encoding": "gzip", **headers})
    assert status == 200
    return headers["Content-Encoding"], body, headers


def test_long_lists_are_compressed(long_list):
    """Of any length, with the same bytes except for the key of a session."""
    url = long_list()
    status, headers, plain = hls.get(url)
    assert status == 200 and not headers["Content-Encoding"] and len(plain) > 100 * 1024
    how, body, headers = packed(url)
    assert how == "gzip" and headers["Vary"] == "Accept-Encoding" and gzip.decompress(body) == plain
    assert len(body) < len(plain) / 6, f"{len(body)} bytes of {len(plain)}"
    assert hls.get(url, headers={"Accept-Encoding": "gzip", "If-None-Match": headers["ETag"]})[0] == 304
    assert packed(url)[1] == body
    if not long_list.sessions:
        return
    keys = set()
    for _ in range(5):
        other = long_list.child()
        own = other.partition("?hls_ctx=")[2]
        how, mine, _ = packed(other)
        text = gzip.decompress(mine)
        assert how == "gzip" and len(mine) == len(body)
        assert text == hls.get(other)[2]
        assert {x.uri.partition("?hls_ctx=")[2] for x in hls.Playlist(text.decode()).segments} == {own}
        keys.add(own)
    assert len(keys) == 5


def test_players_that_ask_at_once_share_the_work(long_list):
    """All of them get it compressed, also those who come during the compression."""
    url = long_list()
    urls = [long_list.child() if long_list.sessions else url for _ in range(20)]
    got = []
    threads = [threading.Thread(target=lambda u=u: got.append((u, *packed(u)))) for u in urls]
    for t in threads:
        t.start()
    for t in threads:
        t.join(20)
    assert [g[1] for g in got] == ["gzip"] * 20
    assert all(gzip.decompress(g[2]) == hls.get(g[0])[2] for g in got)


def write_dash_journal(html):
    """The same for DASH, with one file per track. All segments have different durations."""
    folder, now = os.path.join(html, "live"), int(time.time() * 1000)
    period = now - (EARLIER + 1) * 2000
    os.makedirs(os.path.join(folder, "s"))

    def file(name):
        if not os.path.exists(one):
            with open(one, "wb") as f:
                f.write(b"x")
        os.link(one, os.path.join(folder, "s", name))
        return f"live/s/{name}"
    one = os.path.join(html, "one")
    with open(os.path.join(folder, ".s.mpd.journal"), "w") as f:
        f.write("hls-journal 1 DASH __defaultVhost__ live s .\n")
        f.write(f"init 1 {file(f'video-init-{period}.mp4')} 1 90000 avc1.64001f 640 360 25000 0 0 .\n")
        f.write(f"init 2 {file(f'audio-init-{period}.mp4')} 0 44100 mp4a.40.2 0 0 0 44100 2 .\n")
        at = [0, 0]
        for i in range(EARLIER):
            lasts, wall = (180000 - i % 7 * 90, 88200 - i % 7 * 44), period + i * 2000
            for n, kind in enumerate(("video", "audio")):
                name = file(f"{kind}-{period}-{at[n]}.m4s")
                f.write(f"segment {i * 2 + n + 3} {name} {i} 180000 {wall} 0 1 {n + 1} 0 - {period} {at[n]} {lasts[n]} .\n")
                at[n] += lasts[n]
        f.write(f"list 0 0 3 {period} {now} .\n")


@pytest.fixture(params=[pytest.param("off", marks=pytest.mark.long), "on", pytest.param("location_alone", marks=pytest.mark.long)])
def long_mpd(request, srs, html, source):
    """The url of an MPD of an hour, of a session if there are any; publishing has ended."""
    write_dash_journal(html)
    port, http = with_http(html)
    ctx = "off" if request.param == "off" else "on"
    s = srs(f"dash {{ enabled on; dash_path {html}; dash_fragment 1; dash_window_size {HOUR}; dash_ctx {ctx}; "
            f"dash_ts_ctx {'on' if request.param == 'on' else 'off'}; }} "
            f"security {{ enabled on; allow publish all; allow play all; }}", http)
    s.push(flv.cut(source, 4000), speed=10).join(20)
    url = f"http://127.0.0.1:{port}/live/s.mpd"
    path = os.path.join(html, "live", "s.mpd")
    assert wait_for(lambda: (m := dash.load(path)) and len(m.periods) == 2, 5)
    assert comes_to_rest(lambda: dash.load(path).text, 0.4)

    def start():
        """Requests it as a new player, and follows Location."""
        if ctx == "off":
            return url
        text = hls.get(url, headers={"User-Agent": str(next(count))})[2].decode()
        return hls.join(url, re.search("<Location>(.*)</Location>", text)[1])
    count = itertools.count()
    start.url, start.pid, start.ctx, start.ts_ctx = url, s.pid, ctx == "on", request.param == "on"
    return start


def undated(text):
    text, n = re.subn(rb'(<UTCTiming [^>]*value=")[^"]*"', rb'\1"', text)
    assert n == 1
    return text


def test_long_mpds_are_compressed(long_mpd):
    """Once for all players, of any length, with the parts specific to each player."""
    url = long_mpd()
    status, headers, plain = hls.get(url)
    assert status == 200 and not headers["Content-Encoding"] and len(plain) > 70 * 1024
    how, body, headers = packed(url)
    assert how == "gzip" and headers["Vary"] == "Accept-Encoding" and headers["Cache-Control"] == "no-cache"
    assert undated(gzip.decompress(body)) == undated(plain)
    assert len(body) < len(plain) / 6, f"{len(body)} bytes of {len(plain)}"
    own = set()
    for _ in range(5 if long_mpd.ctx else 1):
        other = long_mpd()
        text = gzip.decompress(packed(other)[1])
        key = other.partition("?")[2]
        assert undated(text) == undated(hls.get(other)[2])
        m = dash.Mpd(text.decode())
        assert (f"<Location>s.mpd?{key}</Location>" in m.text) == long_mpd.ctx
        for t in (t for p in m.periods for t in p.tracks.values()):
            assert all(u.endswith(f"?{key}") == long_mpd.ts_ctx for u in (t.init, t.media)), t.media
        own.add(key)
    assert len(own) == (5 if long_mpd.ctx else 1)
    status, headers, body = head(url)
    assert status == 200 and headers["Content-Encoding"] == "gzip" and not body
    if not long_mpd.ctx:
        return
    status, headers, body = hls.get(long_mpd.url, headers={"Accept-Encoding": "gzip"})
    assert len(dash.Mpd(gzip.decompress(body).decode()).periods) == 2, "it already has a session"


def head(url):
    ask = urllib.request.Request(url, headers={"Accept-Encoding": "gzip"}, method="HEAD")
    with urllib.request.urlopen(ask, timeout=10) as r:
        return r.status, r.headers, r.read()


def test_an_mpd_is_compressed_once(long_mpd):
    """Twenty players at once, and many after them, cost less than a compression for each."""
    url = long_mpd()
    plain = undated(hls.get(url)[2])
    got = []
    threads = [threading.Thread(target=lambda: got.append(packed(url))) for _ in range(20)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(20)
    assert len(got) == 20 and all(how == "gzip" and undated(gzip.decompress(body)) == plain for how, body, _ in got)

    def cost(headers):
        began = cpu_seconds(long_mpd.pid)
        for _ in range(150):
            assert hls.get(url, headers=headers)[0] == 200
        return cpu_seconds(long_mpd.pid) - began
    assert cost({"Accept-Encoding": "gzip"}) < cost({}) * 1.5 + 0.1


@pytest.mark.parametrize("more", ["", pytest.param(FMP4, marks=pytest.mark.long), KEYS], ids=["ts", "fmp4", "keys"])
def test_updates_of_a_list(play, html, more):
    """A player that has the playlist of an hour gets its last minute, without low latency, too."""
    url = play(f"hls_wait_keyframe off; {more}")
    whole = hls.get_list(url)
    version = "#EXT-X-VERSION:7" if more == FMP4 else "#EXT-X-VERSION:3"
    assert whole.skip_until == 6 * whole.target and version in whole.text and "PART" not in whole.text
    update = hls.get_list(url + ("&" if "?" in url else "?") + "_HLS_skip=YES")
    kept = whole.segments[update.skipped:]
    assert update.skipped > len(whole.segments) / 2 and "#EXT-X-VERSION:9" in update.text
    assert update.skip_until == whole.skip_until and update.sequence == whole.sequence
    assert [(x.seq, x.uri, x.duration, x.map, x.key, x.iv) for x in update.segments] == \
        [(x.seq, x.uri, x.duration, x.map, x.key, x.iv) for x in kept]
    assert bool(kept[0].key) == (more == KEYS) and bool(kept[0].map) == (more == FMP4)
    left = sum(x.duration for x in kept)
    assert whole.skip_until <= left < whole.skip_until + whole.target
    with open(os.path.join(html, "live", "s.m3u8")) as f:
        assert "SERVER-CONTROL" not in f.read(), "a server of the file knows no delta updates"


def test_a_short_list_offers_no_updates(srs, html, source):
    port, glob = with_http(html)
    s = srs(conf(html, fragment=1, window=5), glob)
    push(s, flv.cut(source, 20000))
    path = listed(html, 3)
    url = f"http://127.0.0.1:{port}/live/s.m3u8"
    assert comes_to_rest(lambda: hls.load(path).text, 0.4)
    got = hls.get_list(url)
    assert got.skip_until is None and hls.get_list(url + "?_HLS_skip=YES").text == got.text


@pytest.mark.needs("ffprobe")
def test_ffmpeg_reads_it(play):
    got = tools.ffprobe(play("hls_wait_keyframe off;"), "-live_start_index", "0", "-read_intervals", "%+5",
                        "-show_entries", "packet=pts_time", timeout=30)
    assert len(got["packets"]) > 100
