# SPDX-License-Identifier: MIT
"""Streams pulled from cameras with typical faults, and from our own server."""
import os
import re
import socket
import sys
import time

import pytest

import flv
import tools
from camera import Camera, Quirks
from camera_rtp import tracks_of
from flv import AUDIO, VIDEO
from httpapi import Api, Backend, conf
from procs import Proc, free_port, never, patience, wait_for, wait_port
from webclient import Cert

LONG = pytest.mark.long


def pull(cam, stream="live/s", more=""):
    url = cam if isinstance(cam, str) else cam.url()
    return f"rtsp {{ enabled on; pull {{ stream {stream}; url {url}; {more} }} }}\n"


@pytest.fixture
def camera(source):
    """camera(quirk=value...) plays doc/source.flv in a loop."""
    made = []

    def start(tracks=None, port=None, **quirks):
        made.append(Camera(tracks or tracks_of(source), Quirks(**quirks), port=port))
        return made[-1]
    yield start
    for c in made:
        c.close()


def bodies(tags, kind):
    """Frames without headers, parameter sets and delimiters."""
    out = []
    for t in flv.frames(tags, kind):
        if kind == AUDIO:
            out.append(t.data[2:])
            continue
        nals, at, data = [], 5, t.data
        while at + 4 <= len(data):
            size = int.from_bytes(data[at:at + 4], "big")
            if data[at + 4] & 31 not in (6, 7, 8, 9):
                nals.append(data[at + 4:at + 4 + size])
            at += 4 + size
        out.append(b"|".join(nals))
    return out


def check(source, got, least=20):
    """Checks that the camera's media arrived without a gap: the camera loops."""
    for kind in (VIDEO, AUDIO):
        mine, want = bodies(got, kind), bodies(source, kind)
        assert len(mine) >= least, f"{len(mine)} of kind {kind}"
        assert flv.find_run(mine[:least], want * 2) >= 0, \
            f"kind {kind} has a hole or changes: {[want.index(b) if b in want else None for b in mine[:least]]} of {len(want)}"
    flv.check_monotonic(got)


def plays(s, source, least=20, stream="s"):
    w = s.watch(stream)
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= least and len(flv.frames(got, AUDIO)) >= least, 60), \
        f"{len(w.tags)} tags:\n" + s.log()[-3000:]
    got = w.stop()
    w.client.close()
    check(source, got, least)
    return got


ROWS = {
    "usual": {},
    "no marker": {"marker": "none"},
    "marker on each unit": {"marker": "each"},
    "no sets in its description": {"sprop": False, "sets_in_stream": True},
    "a comma behind the sets": {"sprop_end": ","},
    "one fragment with both bits": {"fragment_all": True},
    "no reports": {"reports": False},
    "absolute controls": {"control": "absolute"},
    "controls of another host": {"control": "host"},
    "slashes in controls": {"control": "slash", "content_base": "bare"},
    "no Content-Base": {"content_base": "none"},
    "Content-Base of another host": {"content_base": "host"},
    "metadata": {"metadata": True},
    "a body longer than it is": {"length_more": 20},
    "basic": {"user": "admin", "password": "p@s/s", "auth": "basic"},
    "basic and digest": {"user": "admin", "password": "secret1", "auth": "both"},
    "digest": {"user": "admin", "password": "secret1"},
    "stale after each request": {"user": "admin", "password": "secret1", "stale_every": 1},
    "stale and does not say so": {"user": "admin", "password": "secret1", "stale_every": 1, "stale_said": False},
    "another realm each time": {"user": "admin", "password": "secret1", "fresh_realm": True, "stale_every": 1},
    "its own channels": {"channels": 10},
    "garbage": {"garbage": 7},
    "unrequested answers": {"unasked": 5},
    "session without a timeout": {"timeout": ""},
}


@pytest.mark.long
def test_cameras(srs, source, camera):
    """All of them at once, each with its own fault."""
    cams = {row: camera(**quirks) for row, quirks in ROWS.items()}
    pulls = [f"pull {{ stream live/c{n}; url {cam.url()}; }}" for n, cam in enumerate(cams.values())]
    s = srs("rtsp { enabled on; " + "\n".join(pulls) + " }")
    for n, (row, cam) in enumerate(cams.items()):
        try:
            plays(s, source, stream=f"c{n}")
        except AssertionError as e:
            raise AssertionError(f"{row}: {e}") from e
        assert "SETUP" in cam.methods(), row
        assert cam.connections == 1, f"{row}:\n{s.log()[-2000:]}"
    assert "secret1" not in s.log()


@pytest.mark.long
@pytest.mark.parametrize("row", ["usual", "no marker", "login"])
def test_udp(srs, source, camera, row):
    cam = camera(**{"usual": {}, "no marker": {"marker": "none"},
                    "login": {"user": "admin", "password": "secret1", "stale_every": 1}}[row])
    s = srs(pull(cam, more="transport udp;"))
    plays(s, source)
    assert s.wait_log("media arrive over udp", 1)
    assert any("client_port" in r[2].get("transport", "") for r in cam.requests)
    assert wait_for(lambda: [r for r in cam.reports if len(r) > 8 and r[1] == 201], 10), "it sends no receiver reports"


@pytest.mark.long
def test_udp_swapped(srs, source, camera):
    """Reordered datagrams: nothing is missing."""
    cam = camera(swap=5)
    plays(srs(pull(cam, more="transport udp;")), source)


@pytest.mark.long
def test_udp_lost(srs, source, camera):
    """Lost datagrams: output is complete from one key frame to the next gap."""
    cam = camera(lose=50)
    s = srs(pull(cam, more="transport udp;"))
    w = s.watch()
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= 60, 20), s.log()[-2000:]
    got = w.stop()
    w.client.close()
    for kind in (VIDEO, AUDIO):
        want = set(bodies(source, kind))
        assert all(b in want for b in bodies(got, kind))
    flv.check_monotonic(got)
    order, hole = bodies(source, VIDEO), False
    shown = [(f.key, order.index(b)) for f, b in zip(flv.frames(got, VIDEO), bodies(got, VIDEO))]
    for (_, before), (key, now) in zip(shown, shown[1:]):
        hole |= now not in (before + 1, 0)
        assert key or now == before + 1, "after a gap it does not continue at a key frame"
    assert hole


@pytest.mark.parametrize("how,limit", [("refuses", 2), pytest.param("silent", 6, marks=LONG)])
def test_udp_then_tcp(srs, source, camera, how, limit):
    """A camera without UDP rejects it; one whose datagrams are lost on the way cannot."""
    cam = camera(udp=how)
    s = srs(pull(cam, more="transport udp tcp;"))
    began = time.monotonic()
    plays(s, source)
    assert s.wait_log("media arrive over tcp", 1)
    assert time.monotonic() - began < patience(limit)
    assert cam.connections == (1 if how == "refuses" else 2)


def test_tcp_then_udp(srs, source, camera):
    cam = camera(tcp=False)
    s = srs(pull(cam))
    plays(s, source)
    assert s.wait_log("media arrive over udp", 1) and cam.connections == 1


@pytest.mark.long
def test_stops_and_says_so(srs, source, camera):
    """A server that ends notifies the camera, which may otherwise reject new clients."""
    cam = camera()
    s = srs(pull(cam))
    plays(s, source)
    assert wait_for(lambda: cam.reports, 10)
    s.stop()
    assert cam.methods()[-1] == "TEARDOWN"


def test_moved(srs, source, camera):
    there = camera()
    cam = camera(moved=[there.url()])
    s = srs(pull(cam))
    plays(s, source)
    assert there.connections == 1 and "PLAY" in there.methods() and "SETUP" not in cam.methods()


@pytest.mark.long
@pytest.mark.parametrize("how", [200, 400, 501, 0])
def test_signs_of_life(srs, source, camera, how):
    """Whatever a camera answers to GET_PARAMETER, it gets a request before its session ends."""
    cam = camera(get_parameter=how, timeout=";timeout=4", life=3.5)
    s = srs(pull(cam))
    plays(s, source)
    time.sleep(7)
    assert cam.connections == 1, s.log()[-2000:]
    said = cam.methods()[cam.methods().index("PLAY") + 1:]
    assert len(said) >= 2
    assert set(said) <= {"GET_PARAMETER", "OPTIONS"}
    if how in (400, 501):
        assert said.count("GET_PARAMETER") == 1, "it gets an unsupported request again"


@pytest.mark.long
def test_impatient(srs, source, camera):
    """A camera that stops after some silent seconds without announcing that gets requests more often."""
    cam = camera(life=2.5, timeout="")
    s = srs(pull(cam))
    assert wait_for(lambda: cam.connections == 2 and cam.playing(), 10), s.log()[-2000:]
    assert never(lambda: cam.connections > 2, 6)
    plays(s, source)


@pytest.mark.long
@pytest.mark.parametrize("quirks", [{"not_found": 1}, {"die_after": 400}, {"silent_after": 400}])
def test_comes_back(srs, source, camera, quirks):
    cam = camera(**quirks)
    s = srs(pull(cam, more="timeout 2;"))
    w = s.watch()
    if "not_found" not in quirks:
        assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= 20, 10)
    assert wait_for(lambda: cam.connections >= 2, 10), s.log()[-2000:]
    before = len(flv.frames(w.tags, VIDEO))
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= before + 20, 10)
    flv.check_monotonic(w.stop())


@pytest.mark.long
@pytest.mark.parametrize("quirks", [{"restart_after": 300}, {"jump_after": 300}, {"jump_after": 300, "jump": -900000}])
def test_other_numbers(srs, source, camera, quirks):
    """Restarted numbers, a clock that jumps: players notice neither."""
    cam = camera(**quirks)
    s = srs(pull(cam))
    w = s.watch()
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= 120, 20), s.log()[-2000:]
    got = w.stop()
    assert cam.connections == 1
    assert flv.check_monotonic(got) <= 1500


@pytest.mark.long
def test_pauses_grow(srs, camera):
    port = free_port()
    s = srs(pull(f"rtsp://127.0.0.1:{port}/cam/main?channel=1"))
    assert s.wait_log("again in", 10, count=3)
    pauses = [int(x) for x in re.findall(r"again in (\d+) ms", s.log())][:3]
    assert 700 <= pauses[0] <= 1300 and pauses[0] * 1.2 < pauses[1] and pauses[1] * 1.2 < pauses[2], pauses
    camera(port=port)
    w = s.watch()
    assert w.wait(lambda got: flv.frames(got, VIDEO), 20)
    w.stop()


def test_wrong_password(srs, camera):
    """Cameras lock accounts after a few attempts: one attempt, then a minute of rest; and the log does not contain it."""
    cam = camera(user="admin", password="secret1")
    s = srs(pull(cam.url().replace("secret1", "secret2")))
    assert s.wait_log(r"again in 6\d\d\d\d ms", 10)
    assert cam.refused <= 2
    assert "secret" not in s.log()
    assert never(lambda: cam.connections > 1, 1)


@pytest.mark.long
def test_on_demand(srs, source, camera):
    cam = camera()
    s = srs(pull(cam, more="on_demand on; linger 1;"))
    assert never(lambda: cam.connections, 1)
    plays(s, source)
    assert wait_for(lambda: cam.playing() == 0, 10), "it does not end without players"
    assert cam.methods()[-1] == "TEARDOWN"
    n = cam.connections
    plays(s, source)
    assert cam.connections == n + 1


@pytest.mark.long
@pytest.mark.parametrize("how", ["rtsp", "flv", "hls"])
def test_on_demand_by_all(srs, source, camera, tmp_path, how):
    """For players of any protocol the stream comes, and goes after them."""
    cam, http, port = camera(), free_port(), free_port()
    s = srs(pull(cam, more="on_demand on; linger 2;") + f"""
http_remux {{ enabled on; mount [vhost]/[app]/[stream].flv; }}
hls {{ enabled on; hls_fragment 1; hls_path {tmp_path}; }}""",
            f"http_server {{ enabled on; listen 127.0.0.1:{http}; dir {tmp_path}; }}\n" + rtsp(port))
    url = {"rtsp": f"rtsp://127.0.0.1:{port}/live/s", "flv": f"http://127.0.0.1:{http}/live/s.flv",
           "hls": f"http://127.0.0.1:{http}/live/s.m3u8"}[how]
    assert never(lambda: cam.connections, 0.5)
    options = ["-rtsp_transport", "tcp"] if how == "rtsp" else []
    r = tools.run(["ffmpeg", "-v", "error", *options, "-i", url, "-t", "2", "-c", "copy", "-copyinkf", "-f", "framemd5",
                   "-"])
    assert r.stdout.count(b"\n") > 50, s.log()[-2000:]
    if how == "hls":  # an HLS player lasts as long as its playlist
        return
    assert wait_for(lambda: cam.playing() == 0, 10) and cam.methods()[-1] == "TEARDOWN"


def test_template(srs, source, camera):
    cam = camera()
    url = f"rtsp://127.0.0.1:{cam.port}/cam/[param]?channel=1"
    s = srs(pull(url, stream="cams/cam-[param]", more="on_demand on; linger 1;"))
    w = s.watch("cam-main", app="cams")
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= 20, 10), s.log()[-2000:]
    assert cam.requests[0][1].endswith("/cam/main?channel=1")
    v = s.watch("cam-..%2f..", app="cams")
    x = s.watch("cam-a@b", app="cams")
    assert never(lambda: cam.connections > 1, 1)
    for one in (w, v, x):
        one.stop()


def test_on_demand_is_bounded(srs, camera):
    """Players request ever more matching names: at most a quarter of max_connections are pulled."""
    cam, web = camera(), free_port()
    s = srs("http_remux { enabled on; }" + pull(f"rtsp://127.0.0.1:{cam.port}/cam/[param]", stream="cams/cam-[param]",
                                                more="on_demand on; linger 30;"),
            f"max_connections 20; http_server {{ enabled on; listen 127.0.0.1:{web}; }}", env={"SRS_WORKERS": "1"})
    players = []
    for i in range(8):
        players.append(socket.create_connection(("127.0.0.1", web)))
        players[-1].sendall(f"GET /cams/cam-{i}.flv HTTP/1.1\r\nHost: h\r\n\r\n".encode())
    assert s.wait_log(r"pull .*cam-\d is refused: 5 streams are pulled on demand", 5, count=3), s.log()[-2000:]
    assert len(set(re.findall(r"pull (\S+) from .*: connecting", s.log()))) == 5
    for c in players:
        c.close()


@pytest.mark.long
def test_reload(srs, source, camera):
    a, b = camera(), camera()
    s = srs()
    s.reload(pull(a))
    plays(s, source)
    s.reload(pull(b))
    assert wait_for(lambda: a.playing() == 0 and b.playing() == 1, 10), s.log()[-2000:]
    plays(s, source)
    s.reload(pull(b) + "play { queue_length 9; }")
    assert never(lambda: b.connections > 1 or b.playing() == 0, 1), "something changed for it"
    s.reload("")
    assert wait_for(lambda: b.playing() == 0, 10)
    assert a.methods()[-1] == b.methods()[-1] == "TEARDOWN"


def test_it_has_a_publisher(srs, source, camera):
    """The first publisher keeps the stream; the pull waits for it."""
    cam = camera()
    s = srs(pull(cam) + "publish { takeover off; }", begin=False)
    s.write(pull(cam, more="enabled off;") + "publish { takeover off; }")
    s.start()
    p = s.push(source, loop=True)
    assert s.watch().wait(lambda got: got, 10)
    s.reload(pull(cam) + "publish { takeover off; }")
    assert s.wait_log("already published", 10)
    assert p.error is None
    p.stop()
    p.client.close()
    assert wait_for(lambda: cam.playing() == 1, 10)


@pytest.mark.long
def test_hooks_and_api(srs, source, camera):
    """Backends are notified, not asked, and lists show the pull without its password."""
    cam = camera(user="admin", password="secret1")
    backend = Backend(lambda e: 1)
    port = free_port()
    s = srs(pull(cam) + f"""http_hooks {{ enabled on; on_publish {backend.url("/p")}; on_unpublish {backend.url("/u")}; }}
security {{ enabled on; deny publish all; allow play all; }}""", conf(port))
    plays(s, source)
    assert backend.wait("on_publish")
    mine = [c for c in Api(port).clients() if c["publish"]]
    assert len(mine) == 1 and mine[0]["type"] == "rtsp-publish"
    assert "secret1" not in str(mine) and "cam/main" in str(mine)
    assert Api(port).kick(mine[0]["id"])["code"] == 0
    assert backend.wait("on_unpublish")
    assert wait_for(lambda: cam.connections == 2 and cam.playing() == 1, 10), "it is not pulled again"


def rtsp(port):
    return f"rtsp_server {{ enabled on; listen 127.0.0.1:{port}; }}"


@pytest.mark.needs("ffmpeg", "ffprobe")
def test_of_our_own(srs, source, tmp_path):
    """One server pulls from another: ffmpeg plays there what was published here."""
    a, b = free_port(), free_port()
    first = srs("rtsp { enabled on; }", rtsp(a))
    p = first.push(source, loop=True)
    second = srs(pull(f"rtsp://127.0.0.1:{a}/live/s"), rtsp(b))
    plays(second, source)
    url, out = f"rtsp://127.0.0.1:{b}/live/s", tmp_path / "frames"
    kinds = {x["codec_type"]: x for x in tools.ffprobe(url, "-show_streams")["streams"]}
    assert kinds["video"]["width"] == 640 and kinds["audio"]["sample_rate"] == "44100"
    player = tools.ffmpeg_frames(url, tmp_path / "ffmpeg.log", out, seconds=2, options=("-rtsp_transport", "tcp"))
    player.wait(30)
    assert p.error is None
    p.stop()
    want = tools.run(["ffmpeg", "-v", "error", "-i", tools.SOURCE, "-c", "copy", "-f", "framemd5", "-"]).stdout.decode()
    want = [x.split(",")[5].strip() for x in want.splitlines() if x.startswith("1,")]
    got = [x[4] for x in tools.frame_list(out, "audio")]
    assert len(got) > 60 and flv.find_run(got[:60], want * 2) >= 0
    assert len(tools.frame_list(out, "video")) > 35
    assert second.wait_log("media arrive", 1)


def test_over_tls(srs, source, tmp_path):
    """rtsps with a self-signed certificate, as cameras have it; UDP is not even requested."""
    plain, secure, b = free_port(), free_port(), free_port()
    cert = Cert(tmp_path, "camera")
    first = srs("rtsp { enabled on; }",
                f"rtsp_server {{ enabled on; listen 127.0.0.1:{plain}; https {{ {cert.conf(secure)} }} }}")
    p = first.push(source, loop=True)
    second = srs(pull(f"rtsps://127.0.0.1:{secure}/live/s", more="transport udp tcp;"))
    plays(second, source)
    assert second.wait_log("media arrive over tcp", 1)
    second.reload(pull(f"rtsps://127.0.0.1:{secure}/live/s", more="transport udp tcp;") + "play { queue_length 9; }")
    plays(second, source)
    assert second.log().count("connecting") == 1, "something changed for it"
    p.stop()


def test_many(srs, source, camera):
    """A hundred cameras pulled at once; all end when the server does."""
    cam = camera(speed=0.5)
    vhost = "".join(f"pull {{ stream live/s{i}; url {cam.url()}; }}\n" for i in range(100))
    s = srs(f"rtsp {{ enabled on; {vhost} }}")
    assert wait_for(lambda: cam.playing() == 100, 20)
    plays(s, source, stream="s57")
    s.stop()
    assert cam.methods().count("TEARDOWN") == 100


@pytest.mark.parametrize("transport", ["udp", pytest.param("tcp", marks=LONG)])
def test_of_gstreamer(srs, source, tmp_path, transport):
    """The RTSP server of GStreamer, which many cameras use."""
    gi = pytest.importorskip("gi")
    try:
        gi.require_version("GstRtspServer", "1.0")
    except ValueError:
        pytest.skip("not installed: gir1.2-gst-rtsp-server-1.0")
    port = free_port()
    there = Proc([sys.executable, os.path.join(os.path.dirname(__file__), "gst_rtsp_server.py"), port, tools.SOURCE],
                 tmp_path / "gst.log")
    assert wait_port(port, proc=there), there.text()
    s = srs(pull(f"rtsp://127.0.0.1:{port}/s", more=f"transport {transport};"))
    w = s.watch()
    assert w.wait(lambda got: min(len(flv.frames(got, k)) for k in (VIDEO, AUDIO)) >= 60, 20), \
        s.log()[-2000:] + there.text()
    got = w.stop()
    assert s.wait_log(f"media arrive over {transport}", 1)
    want = bodies(source, AUDIO)
    assert flv.find_run(bodies(got, AUDIO)[:50], want) >= 0
    assert len(set(bodies(got, VIDEO)) & set(bodies(source, VIDEO))) > 50
    flv.check_monotonic(got)
