# SPDX-License-Identifier: MIT
"""HLS, DASH, recordings, programs and callbacks with several workers: one worker owns a stream, and connections to any worker get the
right response."""
import glob
import os
import threading

import pytest

import dash
import flv
import hls
import procs
from flv import VIDEO
from procs import never, wait_for
from test_children import children, ffmpeg, transcode, wait_play
from test_dash import listed as mpd_listed
from test_hls import conf, html, listed, with_http  # noqa: F401
from test_hooks import backend, hooks  # noqa: F401
from webclient import Http

FOUR = {"SRS_WORKERS": "4"}
MANY = 20  # enough connections for each worker to get some


def at_once(what, n=MANY):
    """Runs what(i) on this many threads; returns the results in order."""
    got = [None] * n

    def one(i):
        try:
            got[i] = what(i)
        except Exception as e:  # noqa: BLE001
            got[i] = e
    threads = [threading.Thread(target=one, args=(i,)) for i in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(40)
    errors = [g for g in got if isinstance(g, Exception)]
    assert not errors, errors[0]
    return got


def content(path):
    with open(path, "rb") as f:
        return f.read()


def leave(pusher):
    pusher.stop()
    pusher.client.close()


@pytest.fixture
def site(srs, html):
    """site(vhost, glob) returns a server, and the beginning of its urls."""
    def start(vhost="", glob=""):
        port, http = with_http(html)
        return srs(vhost, http + glob, env=FOUR), f"http://127.0.0.1:{port}"
    return start


@pytest.mark.parametrize("more", ["", pytest.param("hls_use_fmp4 on;", marks=pytest.mark.long), "hls_keys on; hls_fragments_per_key 2;"],
                         ids=["ts", "fmp4", "keys"])
def test_lists_and_segments(site, html, source, more):
    """Three streams, 20 connections for each playlist and each segment."""
    if "keys" in more:
        more += f" hls_key_file_path {html};"
    s, url = site(conf(html, more, fragment=1))
    pushers = [s.push(source, f"s{i}", speed=50) for i in range(3)]
    for i, p in enumerate(pushers):
        path = listed(html, 10, f"s{i}", 15)
        p.join(20)
        leave(p)
        listed(html, 15, f"s{i}")
        lists = at_once(lambda _: hls.get(f"{url}/live/s{i}.m3u8"))
        assert {g[0] for g in lists} == {200}
        assert len({g[2] for g in lists}) == 1, "not all see the same playlist"
        got = hls.Playlist(lists[0][2].decode())
        assert [x.uri for x in got.segments] == [x.uri for x in hls.load(path).segments]
        for x in got.segments[-2:] + got.segments[:1]:
            for uri in {x.uri, x.map or x.uri, x.key or x.uri}:
                want = content(os.path.join(html, "live", uri))
                bodies = at_once(lambda _: hls.get(f"{url}/live/{uri}"))
                assert all(g[0] == 200 and g[2] == want for g in bodies), uri
        part = at_once(lambda _: hls.get(f"{url}/live/{x.uri}", headers={"Range": "bytes=10-19"}))
        assert all(g[0] == 206 and g[2] == content(os.path.join(html, "live", x.uri))[10:20] for g in part)


def test_one_connection_asks_for_all(site, html, source):
    """Like a cache in front of the server: each request is for another stream."""
    s, url = site(conf(html, fragment=1))
    pushers = [s.push(source, f"s{i}", speed=50) for i in range(6)]
    for i, p in enumerate(pushers):
        p.join(20)
        leave(p)
        listed(html, 15, f"s{i}")
    want = {f"/live/s{i}.m3u8": hls.get(f"{url}/live/s{i}.m3u8")[2] for i in range(6)}
    assert len(set(want.values())) == 6
    port = int(url.rsplit(":", 1)[1])
    with Http(port) as c:
        for _ in range(10):
            for path, body in want.items():
                answer = c.get(path)
                assert answer.status == 200 and answer.body == body
        c.send("".join(f"GET {p} HTTP/1.1\r\nHost: localhost\r\n\r\n" for p in want))  # all at once
        for body in want.values():
            assert c.answer().body == body
        assert c.get("/nothing.m3u8").status == 404
        assert c.get("/live/s0.m3u8", method="HEAD").status == 200


def test_low_latency(site, html, source):
    """Blocking playlist requests and hinted parts, over connections on any worker."""
    s, url = site(conf(html, "hls_ll on; hls_part 0.5;", fragment=2))
    s.push(source, loop=True, ahead=5)
    listed(html, 2, timeout=10)
    for _ in range(3):
        got = hls.get_list(f"{url}/live/s.m3u8")
        number, part = got.sequence + len(got.segments), len(got.parts)
        lists = at_once(lambda _: hls.get_list(f"{url}/live/s.m3u8?_HLS_msn={number}&_HLS_part={part}"))
        for one in lists:
            now = one.sequence + len(one.segments)
            assert (now, len(one.parts)) > (number, part) or now > number
        hint = lists[-1].hint
        bodies = at_once(lambda _: hls.get(f"{url}/live/{hint}"))
        assert {b[0] for b in bodies} == {200} and len({b[2] for b in bodies}) == 1 and bodies[0][2]


def test_dash(site, html, source):
    s, url = site(f"dash {{ enabled on; dash_path {html}; dash_fragment 1; dash_update_period 1; "
                  f"dash_window_size 40; }}")
    pushers = [s.push(source, f"s{i}", speed=50) for i in range(3)]
    for i, p in enumerate(pushers):
        p.join(20)
        leave(p)
        assert wait_for(lambda: (m := dash.load(os.path.join(html, "live", f"s{i}.mpd"))) and m.count > 13, 8)
        same = lambda got: got if len({m.count for _, m in got}) == 1 else None  # the last segment comes when the publisher has left
        got = wait_for(lambda: same(at_once(lambda _: dash.get(f"{url}/live/s{i}.mpd"))), 5)
        assert got
        for track in got[0][1].last.tracks.values():
            for uri in (track.init, track.uris[0], track.uris[-1]):
                want = content(os.path.join(html, "live", uri))
                bodies = at_once(lambda _: hls.get(f"{url}/live/{uri}"))
                assert all(g[0] == 200 and g[2] == want for g in bodies), uri


@pytest.mark.long
def test_sessions_and_their_callbacks(backend, site, html, source):
    """20 players, a connection for each of their requests: each is authorized once and reported once."""
    b = backend()
    s, url = site(conf(html, fragment=1, window=3, ctx="on") + hooks(b, "on_publish", "on_play", "on_stop"))
    pushers = [s.push(source, name, loop=True, ahead=5) for name in ("a", "b")]
    for name in ("a", "b"):
        listed(html, 2, name, 10)

    def begin(i):
        base = f"{url}/live/{'ab'[i % 2]}.m3u8"
        status, _, body = hls.get(base)
        assert status == 200
        return hls.join(base, body.decode().strip().split("\n")[-1])

    def play(i):
        child = begun[i]
        for _ in range(4):
            for x in hls.get_list(child).segments[-3:]:
                status, _, data = hls.get(hls.join(child, x.uri))
                assert status == 200 and len(data) > 1000
        return child.split("hls_ctx=")[1].split("&")[0][:8]
    begun = [begin(i) for i in range(MANY)]
    ids = at_once(play)
    assert len(set(ids)) == MANY
    plays = b.of("on_play")
    assert sorted(e["client_id"] for e in plays) == sorted(ids)
    for name in ("a", "b"):
        counts = [e["clients"] for e in plays if e["stream"] == name]
        assert counts == list(range(2, MANY // 2 + 2)), "not the publisher and all players"
    denied = hls.get(f"{url}/live/a-0.ts")[0]
    assert denied in (403, 404), "no segment without a session"
    assert wait_for(lambda: len(b.of("on_stop")) == MANY, 20)
    assert sorted(e["client_id"] for e in b.of("on_stop")) == sorted(ids)
    numbers = [e["_headers"]["X-Hook-Id"] for e in b.events]
    assert len(set(numbers)) == len(numbers), "an event has no number of its own"
    for p in pushers:
        leave(p)


def test_players_of_dash_are_known_again(backend, site, html, source):
    """Without an id, by the headers of their requests: those of old MPDs, too."""
    b = backend()
    s, url = site(f"dash {{ enabled on; dash_path {html}; dash_fragment 1; dash_update_period 1; }}"
                  + hooks(b, "on_play", "on_stop"))
    p = s.push(source, loop=True, ahead=5)
    assert mpd_listed(html, 2, timeout=10)
    for turn in range(2):
        dash.get(f"{url}/live/s.mpd")
        for i in range(4):
            got = at_once(lambda _: dash.get(f"{url}/live/s.mpd")[1], 5)
            uri = got[0].last.tracks["video"].uris[0]
            bodies = at_once(lambda _: hls.get(f"{url}/live/{uri}"), 5)
            assert {x[0] for x in bodies} == {200}
        assert len(b.of("on_play")) == turn + 1
        if turn == 0:
            leave(p)
            s.stop()
            assert len(b.of("on_stop")) == 1
            s.start()


def test_a_publisher_comes_back(site, html, source):
    """It connects to any worker each time: one playlist continues, and its files exist."""
    s, url = site(conf(html, fragment=1, window=120))
    last, names = 0, set()
    for turn in range(8):
        p = s.push(flv.cut(source, 4000), speed=25)
        p.join(10)
        leave(p)
        got = wait_for(lambda: (x := hls.load(os.path.join(html, "live", "s.m3u8"))) and
                       len(x.segments) >= (turn + 1) * 2 and x, 8)
        assert got, hls.load(os.path.join(html, "live", "s.m3u8")).text
        assert got.sequence == 0 and len(got.segments) > last
        new = [x.uri for x in got.segments[last:]]
        assert not names & set(new) and got.segments[last].discontinuity == (turn > 0)
        names |= set(new)
        last = len(got.segments)
        lists = at_once(lambda _: hls.get(f"{url}/live/s.m3u8")[2], 8)
        assert len(set(lists)) == 1
    assert all(hls.get(f"{url}/live/{n}")[0] == 200 for n in names)
    at = s.mark()
    s.stop()
    s.start()
    p = s.push(flv.cut(source, 4000), speed=25)
    p.join(10)
    leave(p)
    assert s.wait_log(r"HLS of live/s continues at segment \d+, with \d+ previous segments", 5, at)


@pytest.mark.long
def test_files_of_before_go(site, html, source):
    """hls_dispose for streams of the previous run, by the first worker, and not for live ones."""
    vhost = conf(html, "hls_dispose 4;", fragment=1)
    s, url = site(vhost)
    for i in range(6):
        leave_all = s.push(flv.cut(source, 3000), f"s{i}", speed=10)
        leave_all.join(10)
        leave(leave_all)
        listed(html, 2, f"s{i}")
    s.stop()
    s.start()
    stay = [s.push(source, f"s{i}", loop=True) for i in (1, 4)]
    assert wait_for(lambda: not [f for f in os.listdir(os.path.join(html, "live")) if f[:2] not in ("s1", "s4") and
                                 not f.startswith((".s1", ".s4"))], 12)
    for i in (1, 4):
        got = hls.get_list(f"{url}/live/s{i}.m3u8")
        assert all(hls.get(f"{url}/live/{x.uri}")[0] == 200 for x in got.segments)
    for p in stay:
        leave(p)


def test_recordings(backend, srs, source, tmp_path):
    """12 streams at once, on any worker: each has its own file, and is reported once."""
    b = backend()
    s = srs(f"dvr {{ enabled on; dvr_path {tmp_path}/rec/[app]/[stream].[timestamp].flv; }}" + hooks(b, "on_dvr"),
            env=FOUR)
    tags = flv.cut(source, 5000)
    for turn in range(2):
        pushers = [s.push(tags, f"s{i}", speed=20) for i in range(12)]
        for p in pushers:
            p.join(10)
            leave(p)
        assert wait_for(lambda: len(b.of("on_dvr")) == 12 * (turn + 1), 8)
    files = glob.glob(f"{tmp_path}/rec/live/*")
    assert sorted(e["file"] for e in b.of("on_dvr")) == sorted(files) and len(files) == 24
    for f in files:
        assert flv.hashes(flv.read(f), VIDEO) == flv.hashes(tags, VIDEO)


@ffmpeg
def test_transcodes(srs, source):
    """The output of a transcode is a stream that another worker may own, and is not transcoded again."""
    s = srs(transcode(), "ff_log_dir ./fflog;", env=FOUR)
    for i in range(3):
        s.push(source, f"s{i}", loop=True, ahead=5)
    for i in range(3):
        assert len(wait_play(s, f"s{i}_sd", 5, 15)) > 0
        assert s.wait_log(f"no transcode sd of __defaultVhost__/live/s{i}_sd: it is the output of the transcode of "
                          f"__defaultVhost__/live/s{i}$", 2)
    assert never(lambda: "stream=s0_sd_sd" in s.log(), 0.5)


@pytest.mark.needs("ffmpeg")
def test_exec_and_ingest(srs, source):
    """A program for each stream, on its owner worker; an ingest once for all workers."""
    s = srs("""exec { enabled on; publish /bin/sh -c "echo begun [stream]; exec sleep 100"; }
               ingest i { enabled on; input { type file; url %s; } engine { enabled on;
               perfile { stream_loop -1; } vcodec copy; acodec copy; output rtmp://127.0.0.1:[port]/live/in; } }"""
            % procs.SOURCE,
            "ff_log_dir ./fflog;", env=FOUR)
    pushers = [s.push(source, f"s{i}", loop=True) for i in range(4)]
    assert wait_for(lambda: len(children(s.pid)) == 6, 10), children(s.pid)
    for p in pushers:
        leave(p)
    assert wait_for(lambda: len(children(s.pid)) == 2, 10), children(s.pid)


@pytest.mark.long
def test_a_reload(site, html, source):
    """Outputs of the streams on each worker begin and end at once, for all of them."""
    s, url = site()
    pushers = [s.push(source, f"s{i}", loop=True, ahead=5) for i in range(5)]
    port = url.rsplit(":", 1)[1]
    http = f"http_server {{ enabled on; listen 127.0.0.1:{port}; dir {html}; }}"
    s.reload(conf(html, fragment=1), http)
    for i in range(5):
        listed(html, 2, f"s{i}", 10)
        assert {x[0] for x in at_once(lambda _: hls.get(f"{url}/live/s{i}.m3u8"), 8)} == {200}
    s.reload("", http)
    for i in range(5):
        last = hls.load(os.path.join(html, "live", f"s{i}.m3u8")).segments[-1].seq
        assert never(lambda: hls.load(os.path.join(html, "live", f"s{i}.m3u8")).segments[-1].seq > last, 0.5)
    for p in pushers:
        leave(p)
