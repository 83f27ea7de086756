# SPDX-License-Identifier: MIT
"""Rules for all clients, applied to RTMFP: owner workers, callbacks, authorization, reloads, ends; and the output of sinks."""
import contextlib
import glob
import os
import signal

import pytest

pytest.importorskip("cryptography")

import flv                      # noqa: E402
import hls                      # noqa: E402
import httpapi                  # noqa: E402
import numbered                 # noqa: E402
import rtmfp_client as rc       # noqa: E402
import udprelay                 # noqa: E402
from flv import AUDIO, VIDEO    # noqa: E402
from procs import free_port, wait_for  # noqa: E402
from rtmfp_serve import clients, frames, is_run_of, played, published, rtmfp_server  # noqa: E402
from rtmpclient import Closed, Rejected  # noqa: E402
from test_hooks import ALL, hooks  # noqa: E402
from webclient import FlvWatcher  # noqa: E402

FOUR = {"env": {"SRS_WORKERS": "4"}}
AT_BOTH = pytest.mark.parametrize("workers", ["1", "4"])
FOUR_LONG = pytest.mark.parametrize("workers", ["1", pytest.param("4", marks=pytest.mark.long)])


@pytest.fixture
def backend():
    with contextlib.closing(httpapi.Backend()) as b:
        yield b


def test_published_from_another_worker(srs, source):
    """Its stream is owned by the worker of a waiting player; the publisher may connect to any worker, and no frame is lost."""
    port = free_port()
    s = rtmfp_server(srs, glob=httpapi.conf(port), **FOUR)
    api = httpapi.Api(port)
    tags = flv.cut(source, 300)
    names = [f"s{i}" for i in range(8)]
    viewers = [s.watch(n) for n in names]
    with clients(s, len(names)) as several:
        streams = []
        for c, name in zip(several, names):
            streams.append(c.publish(name))
            for t in tags:
                streams[-1].send_tag(t)
        assert rc.run(several, lambda: all(x.sent() for x in streams))
        for v in viewers:
            assert v.wait(lambda got: len(flv.frames(got)) >= len(flv.frames(tags)), 5)
            assert frames(v.stop()) == frames(tags)
        def moved():  # counters of other workers are at most a second old
            return sum(row["moved_in"] for row in api.get("workers")["workers"])
        assert rc.run(several, lambda: moved() > 0, 3), "none came to another worker"
        several[0].delete(streams[0])
        streams[1].command("FCUnpublish", names[1])
        for stream in streams[:2]:
            stream.status("NetStream.Unpublish.Success")
        assert several[0].publish(names[0]), "it is not free again"
        for one in api.clients():
            if one["type"] == "rtmfp-publish":
                api.kick(one["id"])
        for c in several:
            if c is not several[1]:
                with pytest.raises(Closed):
                    c.wait(lambda: False, 5)


@AT_BOTH
@pytest.mark.long
def test_order_and_what_is_given_up(srs, source, workers):
    """Over a bad network, by a client that abandons late video: audio is complete, and all is in order of time."""
    s = rtmfp_server(srs, env={"SRS_WORKERS": workers})
    relay = udprelay.Relay(s.rtmfp_port, loss=0.05, twice=0.02, late=0.05, one_way=0.02, seed=7)
    tags, given_up = flv.cut(source, 6000), [0, 0.0]
    viewer = s.watch()

    def give_up():
        flow = stream.flows.get(VIDEO)
        if flow and c.endpoint.clock() - given_up[1] > 0.3 and len(viewer.tags) > 20:
            given_up[0] += bool(flow.queue)
            given_up[1] = c.endpoint.clock()
            flow.abandon()
        return False
    try:
        with rc.Client(relay.port).connect() as c:
            stream = c.publish("s")
            rc.pump(c, stream, tags, until=give_up)
            assert viewer.wait(lambda got: len(flv.frames(got, AUDIO)) >= len(flv.frames(tags, AUDIO)), 10)
            c.delete(stream)
            stream.status("NetStream.Unpublish.Success")
    finally:
        relay.stop()
    got = viewer.stop()
    assert flv.hashes(got, AUDIO) == flv.hashes(tags, AUDIO) and given_up[0]
    seen, sent = flv.hashes(got, VIDEO), flv.hashes(tags, VIDEO)
    assert len(sent) / 2 < len(seen) < len(sent) and [h for h in sent if h in set(seen)] == seen
    # not at the start, before it is known that there is audio, and not losses at the very end
    times = [t.ts for t in flv.frames(got) if 500 < t.ts < 5500]
    assert not [(a, b) for a, b in zip(times, times[1:]) if b < a]
    assert int(s.wait_log(r"RTMFP publisher of .* lost=(\d+)", 2)[1]) > 0


# ---- callbacks

@AT_BOTH
def test_callbacks_in_order(backend, srs, source, workers):
    """Of a session, and of each stream that it publishes or plays, on any owner worker."""
    s = rtmfp_server(srs, vhost=hooks(backend), env={"SRS_WORKERS": workers})
    waits = s.watch("cam")
    with published(s, source, "cam?token=7"):
        with played(s, "cam?me=1") as d:
            assert d.wait(lambda: len(d.stream.tags) > 10)
        backend.wait("on_close")
    for action in ALL[1::2]:
        backend.wait(action, 2 if action == "on_close" else 1)
    waits.stop()
    ids = {e["client_id"] for e in backend.events if e.get("tcUrl", "").startswith("rtmfp:")}
    mine = [e for e in backend.events if e["client_id"] in ids]
    for asked, told, param in (("on_publish", "on_unpublish", "?token=7"), ("on_play", "on_stop", "?me=1")):
        a, b = (next(e for e in mine if e["action"] == x) for x in (asked, told))
        assert a["client_id"] == b["client_id"] and a["param"] == b["param"] == param and a["stream"] == "cam"
        assert mine.index(a) < mine.index(b)
    connects = [e for e in mine if e["action"] == "on_connect"]
    closes = {e["client_id"]: e for e in mine if e["action"] == "on_close"}
    assert len(connects) == 2 and {e["client_id"] for e in connects} == set(closes)
    assert all(e["recv_bytes"] > 500 and e["send_bytes"] > 500 for e in closes.values()), closes


@pytest.mark.parametrize("action", ["on_connect", "on_publish", "on_play"])
def test_a_backend_says_no(backend, srs, action):
    backend.answer = lambda e: 1 if e["action"] == action else 0
    s = rtmfp_server(srs, vhost=hooks(backend))
    with rc.Client(s.rtmfp_port).open() as c:
        if action == "on_connect":
            with pytest.raises(Rejected) as e:
                c.connect()
            assert e.value.code == "NetConnection.Connect.Rejected"
            with pytest.raises(Closed):
                c.wait(lambda: False)
            return
        c.connect()
        with pytest.raises(Rejected) as e:
            getattr(c, "publish" if action == "on_publish" else "play")("s")
        assert e.value.code == ("NetStream.Publish.Denied" if action == "on_publish" else "NetStream.Play.Failed")
        assert c.result(c.call("createStream")), "its session ended"
    backend.wait("on_close")


@pytest.mark.parametrize("asks", ["connect", "publish", "play"])
def test_who_leaves_while_the_backend_thinks(backend, srs, asks):
    """Nothing is left of it, and the stream is free."""
    backend.answer = lambda e: 1.5 if e["action"] == f"on_{asks}" and e["tcUrl"].endswith("slow") else 0
    s = rtmfp_server(srs, vhost=hooks(backend), **FOUR)
    with rc.Client(s.rtmfp_port).open("slow") as c:
        if asks == "connect":
            c.call("connect", obj={"app": "slow", "tcUrl": c.uri})
        else:
            c.connect("slow")
            stream = c.create_stream()
            stream.command(asks, "s")
        rc.run([c], lambda: backend.of(f"on_{asks}"))
        c.session.close()
        rc.run_for([c], 0.1)
    assert s.wait_log("RTMFP client finished", 5)
    with clients(s) as [c]:
        c.publish("s")


# ---- authorization

def test_no_file_on_demand(srs):
    """Its name is not a stream: it can be neither published nor played."""
    s = rtmfp_server(srs, vhost=f"vod {{ enabled on; dir {numbered.FOLDER}; }}")
    with rc.Client(s.rtmfp_port).connect("vod") as c:
        for does, code in (("publish", "NetStream.Publish.Denied"), ("play", "NetStream.Play.Failed")):
            with pytest.raises(Rejected) as e:
                getattr(c, does)("a.mp4")
            assert e.value.code == code
        c.publish("live")


@pytest.mark.parametrize("does", ["publish", "play"])
def test_refer(srs, does):
    """The page in connect counts."""
    s = rtmfp_server(srs, vhost="refer { enabled on; publish good.test; play good.test; }")
    for page, may in (("http://good.test/x", True), ("http://bad.test/", False), (None, False)):
        with rc.Client(s.rtmfp_port).connect(pageUrl=page) as c:
            if may:
                getattr(c, does)("s")
                continue
            with pytest.raises(Rejected):
                getattr(c, does)("s")


# ---- reloads and ends

def conf_of(ports, more=""):
    return f"rtmfp_server {{ enabled {'on' if ports else 'off'}; " \
           f"listen {' '.join(f'127.0.0.1:{p}' for p in ports or [1935])}; }} {more}"


@FOUR_LONG
def test_listeners_move_by_reload(srs, source, workers):
    """Existing clients stay on the old port; new ones find only the new port; off: all are disconnected."""
    a, b = free_port(), free_port()
    vhost = "rtmfp { enabled on; }"
    s = srs(vhost=vhost, glob=conf_of([a]), env={"SRS_WORKERS": workers})
    s.rtmfp_port = a
    with published(s, source) as first, played(s) as viewer:
        assert viewer.wait(lambda: len(viewer.stream.tags) > 10)
        s.reload(vhost, glob=conf_of([b]))
        count = len(viewer.stream.tags)
        assert viewer.wait(lambda: len(viewer.stream.tags) > count + 20) and first.error is None
        assert is_run_of(viewer.stream.in_order(), source)
        with rc.Client(a) as c:
            c.begin()
            assert not rc.run_for([c], 0.3) and c.session is None
        s.rtmfp_port = b
        with played(s) as other:
            assert other.wait(lambda: len(other.stream.tags) > 10)
            s.reload(vhost, glob=conf_of([]))
            assert wait_for(lambda: first.error and viewer.error and other.error, 5)
    assert s.wait_log(f"no longer listening on .*{a} for RTMFP", 5)
    assert s.wait_log(f"no longer listening on .*{b} for RTMFP", 5)
    s.reload(vhost, glob=conf_of([a]))
    s.rtmfp_port = a
    with clients(s) as [c]:
        c.publish("s")


@pytest.mark.long
@FOUR_LONG
def test_vhost_has_none_by_reload(srs, source, workers):
    """Its streams end, their sessions continue; no new streams start."""
    s = rtmfp_server(srs, env={"SRS_WORKERS": workers})
    viewer = s.watch()
    with published(s, source) as d, played(s) as p:
        assert p.wait(lambda: len(p.stream.tags) > 10) and viewer.wait(lambda got: len(got) > 10)
        s.reload("rtmfp { enabled off; }", glob=conf_of([s.rtmfp_port]))
        assert d.wait(lambda: [x for x in d.stream.statuses if "Unpublish" in x["code"]], 5), d.stream.statuses
        assert p.wait(lambda: [x for x in p.stream.statuses if "Stop" in x["code"]], 5), p.stream.statuses
        for one in (d, p):
            one.stop()
            with pytest.raises(Rejected):
                one.client.publish("other")
    assert s.wait_log("rtmfp of __defaultVhost__ is off", 2)


@AT_BOTH
@pytest.mark.long
def test_graceful_quit(srs, source, workers):
    """QUIT: no new clients; publishers and players continue, idle clients do not delay the exit."""
    s = rtmfp_server(srs, glob="grace_start_wait 100;\ngrace_final_wait 100;", env={"SRS_WORKERS": workers})
    with clients(s) as [idle], published(s, source) as d, played(s) as p:
        assert p.wait(lambda: len(p.stream.tags) > 10)
        s.proc.kill(signal.SIGQUIT)
        assert s.wait_log("connections are left", 5)
        count = len(p.stream.tags)
        assert p.wait(lambda: len(p.stream.tags) > count + 30) and d.error is None
        with rc.Client(s.rtmfp_port) as c:
            c.begin()
            assert not rc.run_for([c], 0.3) and c.session is None
        for one in (p, d):
            one.stop()
            one.client.session.close()
            rc.run_for([one.client], 0.1)
        assert s.proc.wait(8) == 0
        assert "[ERROR]" not in s.log()
        with pytest.raises(Closed):
            idle.wait(lambda: False)
    s.proc.end()
    s.proc = None


# ---- output of sinks

@pytest.mark.long
@AT_BOTH
def test_sinks(srs, source, tmp_path, workers):
    """HLS, a recording and HTTP-FLV have each frame that an RTMFP client published."""
    folder, web = tmp_path / "html", free_port()
    folder.mkdir()
    s = rtmfp_server(srs, vhost=f"hls {{ enabled on; hls_path {folder}; hls_fragment 2; hls_window 60; hls_ctx off; }} "
                                f"dvr {{ enabled on; dvr_path {folder}/rec/[stream].flv; }} http_remux {{ enabled on; }}",
                     glob=f"http_server {{ enabled on; listen 127.0.0.1:{web}; dir {folder}; }}",
                     env={"SRS_WORKERS": workers})
    with clients(s) as [c]:
        stream = c.publish("s")
        watcher = FlvWatcher(web)
        rc.pump(c, stream, source, speed=5.0)
        assert wait_for(lambda: len(flv.frames(watcher.tags)) >= 100, 5)
        assert is_run_of(watcher.tags, source)
        c.delete(stream)
        stream.status("NetStream.Unpublish.Success")
    path = os.path.join(folder, "live", "s.m3u8")
    assert wait_for(lambda: hls.load(path) and len(hls.load(path).segments) >= 15, 8)
    one = hls.whole(path, str(tmp_path / "whole"))
    assert len(hls.packets(one, "v")) == hls.frames(source, VIDEO)
    assert len(hls.packets(one, "a")) == hls.frames(source, AUDIO)
    assert wait_for(lambda: glob.glob(f"{folder}/rec/*.flv"), 5)
    assert frames(flv.read(glob.glob(f"{folder}/rec/*.flv")[0])) == frames(source)
