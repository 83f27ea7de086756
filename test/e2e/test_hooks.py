# SPDX-License-Identifier: MIT
"""Callbacks: a small backend allows, denies, hangs, dies and disconnects clients."""
import hashlib
import hmac
import os
import socket
import threading
import time

import pytest

import flv
import hls
import httpapi
import procs
from httpapi import Api, Backend
from procs import SLOW, free_port, wait_for
from rtmpclient import Closed, Rejected

ALL = ("on_connect", "on_close", "on_publish", "on_unpublish", "on_play", "on_stop")


def hooks(backend, *events, extra="", path="/hook"):
    lines = "".join(f"{e} {backend.url(path)};\n" for e in (events or ALL))
    return f"http_hooks {{ enabled on;\n{lines}{extra} }}"


@pytest.fixture
def backend():
    made = []

    def start(*args, **how):
        made.append(Backend(*args, **how))
        return made[-1]
    yield start
    for b in made:
        b.close()


def test_a_publisher_and_a_player_in_order(backend, srs, source):
    b = backend()
    api = free_port()
    s = srs(hooks(b), httpapi.conf(api))
    a = Api(api)
    p = s.push(source, "cam?token=7", loop=True)
    assert wait_for(lambda: a.stream("cam"), 5)
    v = s.watch("cam")
    assert v.wait(lambda got: len(got) > 20, 5)
    clients = {c["type"]: c["id"] for c in a.wait_clients(2)}
    stream = a.stream("cam")
    p.stop()
    p.client.close()
    v.stop()
    v.client.close()
    for action in ALL[1::2]:
        b.wait(action, 1 if action != "on_close" else 2)
    publisher, player = clients["fmle-publish"], clients["rtmp-play"]
    assert b.actions(publisher) == ["on_connect", "on_publish", "on_unpublish", "on_close"]
    assert b.actions(player) == ["on_connect", "on_play", "on_stop", "on_close"]
    versions = a.get("versions")
    for e in b.events:
        assert e["_method"] == "POST" and e["_path"] == "/hook"
        assert e["_headers"]["Content-Type"].startswith("application/json")
        assert e["server_id"] == versions["server"] and e["service_id"] == versions["service"]
        assert e["ip"] == "127.0.0.1" and e["vhost"] == "__defaultVhost__" and e["app"] == "live"
        if e["action"] not in ("on_close", "on_connect"):
            assert e["stream"] == "cam" and e["tcUrl"] == f"rtmp://127.0.0.1:{s.port}/live"
            assert e["stream_url"] == "/live/cam" and e["stream_id"] == stream["id"]
    assert b.of("on_publish")[0]["param"] == "?token=7"
    assert b.of("on_unpublish")[0]["param"] == "?token=7"
    closed = b.of("on_close")
    assert all(e["recv_bytes"] > 3000 and e["send_bytes"] > 3000 for e in closed), closed
    assert "pageUrl" in b.of("on_play")[0] and "pageUrl" in b.of("on_connect")[0]
    ids = [e["_headers"]["X-Hook-Id"] for e in b.events]
    assert len(set(ids)) == len(ids)


VERDICTS = [
    ("zero", 0, True), ("zero and a line end", "0\n", True), ("code 0", '{"code":0}', True),
    ("code 0 and more", '{"code":0,"data":{"a":[1]}}', True), ("created", (201, 0), True),
    ("one", 1, False), ("code 1", '{"code":1}', False), ("empty", "", False), ("text", "ok", False),
    ("code is text", '{"code":"0"}', False), ("no code", '{"error":0}', False),
    ("a list", "[0]", False), ("not whole", '{"code":0', False), ("not found", (404, 0), False),
    ("failed", (500, '{"code":0}'), False), ("no content", (204, ""), False),
    ("deep", '{"a":' + "[" * 5000 + "]" * 5000 + ',"code":0}', False),
    ("large", b"0" * 200000, False), ("no utf-8", b'{"code":0,"x":"\xff"}', False),
    ("zero as 00", "00", False),
]


def test_what_is_a_yes(backend, srs):
    """One server, one publisher after the other; the rows are distinguished by the stream."""
    b = backend(lambda e: VERDICTS[int(e["stream"])][1])
    s = srs(hooks(b, "on_publish"))
    for i, (name, _, ok) in enumerate(VERDICTS):
        if ok:
            s.publisher(str(i)).close()
        else:
            with pytest.raises(Rejected) as why:
                s.publisher(str(i))
            assert why.value.code == "NetStream.Publish.Denied", name


def test_denied_player_and_connection(backend, srs, source):
    b = backend(lambda e: 1 if e.get("stream") == "secret" or e["app"] == "closed" else 0)
    s = srs(hooks(b))
    p = s.push(source, "open", loop=True)
    with pytest.raises(Rejected) as why:
        s.player("secret")
    assert why.value.code.startswith("NetStream.Play."), why.value.info
    with pytest.raises((Rejected, Closed)) as why:
        s.player("x", app="closed")
    if why.type is Rejected:
        assert why.value.code == "NetConnection.Connect.Rejected"
    v = s.watch("open")
    assert v.wait(lambda got: len(got) > 20, 5)
    assert p.error is None
    time.sleep(0.3)
    assert not any(e["app"] == "closed" for e in b.of("on_close")), "it was admitted"
    assert not b.of("on_stop"), "it played"
    v.client.close()
    b.wait("on_stop")
    assert len(b.of("on_stop")) == 1


def test_http_flv_player(backend, srs, source):
    web, api = free_port(), free_port()
    b = backend(lambda e: 1 if e.get("param") == "?token=bad" else 0)
    s = srs("http_remux { enabled on; }\n" + hooks(b, "on_play", "on_stop"),
            httpapi.conf(api, more=f"http_server {{ enabled on; listen 127.0.0.1:{web}; }}"))
    s.push(source, "cam", loop=True)
    with socket.create_connection(("127.0.0.1", web), 20) as c:
        c.sendall(b"GET /live/cam.flv?token=bad HTTP/1.1\r\nHost: me\r\n\r\n")
        assert b" 403 " in c.recv(1000)
    with socket.create_connection(("127.0.0.1", web), 20) as c:
        c.sendall(b"GET /live/cam.flv?token=good HTTP/1.1\r\nHost: me\r\nReferer: http://page/\r\n\r\n")
        assert b" 200 " in c.recv(1000)
        cid = next(x["id"] for x in Api(api).wait_clients(2) if x["type"] == "flv-play")
    stop = b.wait("on_stop")
    play = b.of("on_play")[1]
    assert play["client_id"] == stop["client_id"] == cid
    assert play["pageUrl"] == "http://page/" and stop["param"] == "?token=good"
    assert play["tcUrl"] == "http://me/live" and play["stream_url"] == "/live/cam"
    assert len(b.of("on_stop")) == 1


def test_several_urls_and_order(backend, srs):
    first, second = backend(), backend(lambda e: 1 if e["stream"] == "no" else 0)
    third = backend()
    s = srs(f"http_hooks {{ enabled on; on_publish {first.url('/a?b=c')} {second.url()} {third.url()};"
            f" on_unpublish {first.url()} {third.url()}; }}")
    s.publisher("yes").close()
    assert [len(x.of("on_publish")) for x in (first, second, third)] == [1, 1, 1]
    assert first.events[0]["_path"] == "/a?b=c"
    assert first.events[0]["_at"] <= second.events[0]["_at"] <= third.events[0]["_at"]
    first.wait("on_unpublish")
    third.wait("on_unpublish")
    with pytest.raises(Rejected):
        s.publisher("no")
    assert [len(x.of("on_publish")) for x in (first, second, third)] == [2, 2, 1], "the first no does not end it"


def test_backend_that_hangs_delays_only_its_client(backend, srs, source):
    """One stream's callbacks hang for 30 s: other publishers start at once, streams continue."""
    b = backend(lambda e: 30.0 if e.get("stream") == "slow" else 0)
    s = srs(hooks(b, "on_publish", "on_play"))
    own = s.push(source, "own", loop=True)
    watch = s.watch("own")
    assert watch.wait(lambda got: len(got) > 10, 5)
    import threading
    threads = [threading.Thread(target=publish_quietly, args=(s, "slow"), daemon=True) for _ in range(5)]
    for t in threads:
        t.start()
    b.wait("on_publish", 2)
    took = []
    for i in range(20):
        c = s.client()
        c.connect("live")
        began = time.monotonic()
        c.publish(f"quick{i}")
        took.append(time.monotonic() - began)
        c.close()
    took.sort()
    print(f"publish with a hanging backend: median {took[10] * 1000:.1f} ms, worst {took[-1] * 1000:.1f} ms")
    assert took[10] < 1 * SLOW and took[-1] < 10 * SLOW
    assert own.error is None and watch.ended is None


def publish_quietly(s, name):
    try:
        s.publisher(name, client={"timeout": 5}).close()
    except (OSError, Closed, Rejected):
        pass


def test_busy_is_told_before_the_backend_is_asked(backend, srs, source):
    b = backend()
    s = srs(hooks(b, "on_publish", "on_unpublish") + " publish { takeover off; }")
    p = s.push(source, "cam", loop=True)
    b.wait("on_publish")
    with pytest.raises(Rejected) as why:
        s.publisher("cam")
    assert why.value.code == "NetStream.Publish.BadName"
    p.stop()
    p.client.close()
    b.wait("on_unpublish")
    assert b.actions() == ["on_publish", "on_unpublish"]


def test_place_is_kept_while_the_backend_thinks(backend, srs):
    """Two come at once: the second is rejected without a callback."""
    import threading
    b = backend(lambda e: 1.0)
    s = srs(hooks(b, "on_publish") + " publish { takeover off; }")
    got = []
    t = threading.Thread(target=lambda: got.append(s.publisher("cam")), daemon=True)
    t.start()
    b.wait("on_publish")
    with pytest.raises(Rejected) as why:
        s.publisher("cam")
    assert why.value.code == "NetStream.Publish.BadName"
    t.join(5)
    assert got and len(b.of("on_publish")) == 1
    got[0].close()


def test_takeover_asks_first(backend, srs, source):
    """An unauthorized client does not replace the publisher, from any address."""
    b = backend(lambda e: 1 if e.get("param") == "?bad" else 0)
    s = srs(hooks(b, "on_publish", "on_unpublish") + " publish { takeover on; }")
    p = s.push(source, "cam", loop=True)
    v = s.watch("cam")
    assert v.wait(lambda got: len(got) > 10, 5)
    with pytest.raises(Rejected):
        s.publisher("cam?bad")
    time.sleep(0.3)
    assert p.error is None and p.is_alive()
    q = s.push(source, "cam?good", loop=True)
    assert wait_for(lambda: not p.is_alive(), 5)
    b.wait("on_unpublish")
    assert b.actions() == ["on_publish"] * 3 + ["on_unpublish"]
    n = len(flv.frames(v.tags, flv.VIDEO))
    assert v.wait(lambda got: len(flv.frames(got, flv.VIDEO)) > n + 20, 5)
    q.stop()


@pytest.mark.long
def test_informing_is_sent_again(backend, srs):
    tries = []

    def answer(e):
        if e["action"] == "on_unpublish":
            tries.append(e["_headers"]["X-Hook-Attempt"])
            return 0 if len(tries) == 3 else (500, "no")
        return 0
    b = backend(answer)
    s = srs(hooks(b, "on_publish", "on_unpublish"))
    s.publisher("cam").close()
    b.wait("on_unpublish", 3, timeout=10)
    ids = {e["_headers"]["X-Hook-Id"] for e in b.of("on_unpublish")}
    assert tries == ["1", "2", "3"] and len(ids) == 1, "not the same event with the same id"


def test_order_of_one_client_survives_a_slow_backend(backend, srs):
    """unpublish, then publish on the same connection: the backend gets them in this order."""
    b = backend(lambda e: 0.3 if e["action"] == "on_unpublish" else 0)
    s = srs(hooks(b, "on_publish", "on_unpublish"))
    c = s.publisher("one")
    for name in ("two", "three"):
        c.unpublish()
        c.publish(name)
    c.close()
    b.wait("on_unpublish", 3, timeout=8)
    assert b.actions() == ["on_publish", "on_unpublish"] * 3


def test_dead_backend(srs):
    dead = free_port()
    url = f"http://127.0.0.1:{dead}/x"
    s = srs(f"http_hooks {{ enabled on; on_publish {url}; on_stop {url}; on_close {url}; retries 0; }}")
    with pytest.raises(Rejected) as why:
        s.publisher("cam")
    assert why.value.code == "NetStream.Publish.Denied"
    s.player("cam").close()
    assert s.wait_log(r"on_stop", 3) and s.wait_log(r"on_close", 3)
    s.client().connect("live").close()
    s.allow_errors = True


def test_signature(backend, srs):
    b = backend()
    s = srs(hooks(b, "on_publish", extra="secret our-key;"))
    s.publisher("cam").close()
    e = b.wait("on_publish")
    want = "sha256=" + hmac.new(b"our-key", e["_raw"], hashlib.sha256).hexdigest()
    assert e["_headers"]["X-Hook-Signature"] == want


def test_backend_over_tls(srs, tmp_path):
    import ssl
    import subprocess
    key, cert = tmp_path / "k.pem", tmp_path / "c.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                    "-nodes", "-keyout", key, "-out", cert, "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost", "-days", "2"],
                   check=True, capture_output=True, timeout=20)
    b = Backend()
    ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ctx.load_cert_chain(cert, key)
    b.server.socket = ctx.wrap_socket(b.server.socket, server_side=True)
    url = f"https://localhost:{b.port}/x"
    try:
        s = srs(f"http_hooks {{ enabled on; on_publish {url}; }}")
        s.publisher("cam").close()
        b.wait("on_publish")
        verified = srs(f"http_hooks {{ enabled on; on_publish {url}; tls_verify on; tls_ca {cert}; }}")
        verified.publisher("cam").close()
        b.wait("on_publish", 2)
        strict = srs(f"http_hooks {{ enabled on; on_publish {url}; tls_verify on; }}")
        with pytest.raises(Rejected):
            strict.publisher("cam")
        other = url.replace("localhost", "127.0.0.1")
        named = srs(f"http_hooks {{ enabled on; on_publish {other}; tls_verify on; tls_ca {cert}; }}")
        with pytest.raises(Rejected):
            named.publisher("cam")
        assert len(b.of("on_publish")) == 2, "an unauthenticated client learns something"
        for refused in (strict, named):
            assert refused.wait_log("on_publish to https://.*(certificate|verify)")
    finally:
        b.close()


def test_the_backend_to_begin_with(srs, source, tmp_path):
    """etc/backend.py: publishers must send the token; the forward destination is an argument."""
    port = free_port()
    far = srs()
    b = procs.Proc(["python3", os.path.join(procs.ROOT, "etc", "backend.py"), str(port), "t0ken",
                    f"rtmp://127.0.0.1:{far.port}/live/copy"], tmp_path / "backend.out")
    assert procs.wait_port(port, 20), b.text()
    url = f"http://127.0.0.1:{port}/api/v1/hooks"
    s = srs("http_hooks { enabled on; " + "".join(f"{e} {url}; " for e in ALL) + f"}} forward {{ enabled on; backend {url}; }}")
    for stream in "cam", "cam?token=no", "cam?token=t0kenn":
        with pytest.raises((Rejected, Closed)):
            s.publisher(stream)
    v = s.watch("cam")
    copy = far.watch("copy")
    p = s.push(source, "cam?token=t0ken", loop=True)
    assert v.wait(lambda got: len(got) > 20, 20) and copy.wait(lambda got: len(got) > 20, 20)
    p.stop()
    p.client.close()
    assert wait_for(lambda: "on_unpublish 0 " in b.text(), 20)
    assert b.text().count("on_publish 1 ") == 3 and b.text().count("on_publish 0 ") == 1


def test_backend_kicks(backend, srs, source):
    """A backend that changes its mind disconnects a client by its id."""
    api = free_port()
    b = backend()
    s = srs(hooks(b), httpapi.conf(api))
    p = s.push(source, "cam", loop=True)
    cid = b.wait("on_publish")["client_id"]
    Api(api).wait_clients(1)
    assert Api(api).kick(cid)["code"] == 0
    assert wait_for(lambda: not p.is_alive(), 5)
    b.wait("on_close")
    assert b.actions(cid) == ["on_connect", "on_publish", "on_unpublish", "on_close"]


@pytest.mark.parametrize("kind", ["publisher", "player", "flv"])
def test_kick_who_waits_for_the_backend(backend, srs, source, kind):
    """A client that waits for the backend is listed, is not counted, and can be disconnected."""
    api, web = free_port(), free_port()
    b = backend(lambda e: 30.0 if e.get("stream") == "slow" else 0)
    s = srs("http_remux { enabled on; }" + hooks(b, *ALL),
            httpapi.conf(api, more=f"http_server {{ enabled on; listen 127.0.0.1:{web}; }}"))
    a = Api(api)
    with socket.create_connection(("127.0.0.1", web), 5) as c:
        if kind == "flv":
            c.sendall(b"GET /live/slow.flv HTTP/1.1\r\nHost: me\r\n\r\n")
        else:
            c = s.client()
            c.connect("live")
            c.publish("slow", wait=False) if kind == "publisher" else c.play("slow", wait=False)
        action = "on_publish" if kind == "publisher" else "on_play"
        waits = b.wait(action)
        got = a.wait_clients(1)[0]
        assert got["id"] == waits["client_id"] and got["name"] == "slow"
        assert got["publish"] == (kind == "publisher") and waits["clients"] == 1
        assert not a.stream("slow"), "something is on already"
        assert a.get("vhosts/")["vhosts"][0]["clients"] == 0
        began = time.monotonic()
        assert a.kick(got["id"])["code"] == 0
        a.wait_clients(0)
        assert time.monotonic() - began < 3 and not b.of("on_stop") and not b.of("on_unpublish")
        c.close()
    if kind == "publisher":  # and the place is free again
        p = s.push(source, "slow2", loop=True)
        assert wait_for(lambda: a.stream("slow2"), 5)
        p.stop()
    s.allow_errors = True


def test_reload_while_the_backend_thinks(backend, srs):
    """The callbacks change while a client waits for one: it ends with those it began with."""
    import threading
    b = backend(lambda e: 1.0 if e["stream"] == "slow" else 0)
    s = srs(hooks(b, "on_publish", "on_unpublish"))
    got = []
    t = threading.Thread(target=lambda: got.append(s.publisher("slow")), daemon=True)
    t.start()
    b.wait("on_publish")
    s.reload("http_hooks { enabled off; }")
    s.publisher("other").close()
    t.join(5)
    assert got and len(b.of("on_publish")) == 1
    got[0].close()


def test_client_that_leaves_while_the_backend_thinks(backend, srs):
    b = backend(lambda e: 1.0)
    s = srs(hooks(b, "on_publish", "on_unpublish", "on_close"))
    import threading
    t = threading.Thread(target=publish_quietly, args=(s, "cam"), daemon=True)
    t.start()
    b.wait("on_publish")
    s.stop()  # and the server may end meanwhile


# ---- files


HLS = "hls {{ enabled on; hls_path {0}/html; hls_fragment 1; hls_ctx off; {1} }}"


def of_files(b, action):
    """Notifications about files, without repeated ones."""
    seen, out = set(), []
    for e in b.of(action):
        if e["_headers"]["X-Hook-Id"] not in seen:
            out.append(e)
        seen.add(e["_headers"]["X-Hook-Id"])
    return out


@pytest.mark.parametrize("more", ["", "hls_use_fmp4 on;", "hls_m3u8_file [app]/[stream]/x.m3u8; hls_ts_file "
                                  "[app]/[stream]/[seq].ts; hls_entry_prefix http://cdn/a;"],
                         ids=["ts", "fmp4", "named"])
def test_each_segment_is_reported(backend, srs, source, tmp_path, more):
    """In order, once the file is readable, with all fields about its location."""
    there = []

    def answer(e):
        if e.get("action") == "on_hls":
            there.append(os.path.getsize(os.path.join(e["cwd"], e["file"])) > 1000)
        return 0
    b, api = backend(answer), free_port()
    s = srs(hooks(b, "on_publish", "on_unpublish", "on_hls") + HLS.format(".", more), httpapi.conf(api))
    p = s.push(source, "cam?token=7", speed=8, loop=True)
    b.wait("on_hls", 3, timeout=10)
    stream = Api(api).stream("cam")
    p.stop()
    p.client.close()
    b.wait("on_unpublish")
    folder = os.path.join(tmp_path, "html", "live", *(["cam"] if "prefix" in more else []))
    name = os.path.join(folder, "x.m3u8" if "prefix" in more else "cam.m3u8")
    assert wait_for(lambda: len(b.of("on_hls")) == len(hls.load(name).segments), 5)
    got, listed = b.of("on_hls"), hls.load(name).segments
    end = "m4s" if "fmp4" in more else "ts"
    assert there and all(there)
    assert [e["seq_no"] for e in got] == list(range(len(got)))
    common = {"server_id", "service_id", "action", "client_id", "ip", "vhost", "app"}
    fields = {"tcUrl", "stream", "param", "duration", "cwd", "file", "url", "m3u8", "m3u8_url", "seq_no",
              "stream_url", "stream_id", "clients"}
    publisher = b.of("on_publish")[0]["client_id"]
    for i, (e, x) in enumerate(zip(got, listed)):
        assert {k for k in e if k[0] != "_"} == common | fields
        assert e["client_id"] == publisher and e["ip"] == "127.0.0.1" and e["param"] == "?token=7"
        assert e["stream"] == "cam" and e["app"] == "live" and e["stream_url"] == "/live/cam"
        assert e["stream_id"] == stream["id"] and e["tcUrl"] == f"rtmp://127.0.0.1:{s.port}/live"
        assert abs(e["duration"] - x.duration) < 0.002 and e["cwd"] == str(tmp_path)
        if "prefix" in more:
            assert e["file"] == f"./html/live/cam/{i}.ts" and e["m3u8"] == "./html/live/cam/x.m3u8"
            assert e["url"] == x.uri == f"http://cdn/a/live/cam/{i}.ts"
            assert e["m3u8_url"] == "http://cdn/a/live/cam/x.m3u8"
        else:
            assert e["file"] == f"./html/live/cam-{i}.{end}" and e["url"] == f"live/cam-{i}.{end}"
            assert e["m3u8"] == "./html/live/cam.m3u8" and e["m3u8_url"] == "live/cam.m3u8"


def test_segments_are_notified(backend, srs, source):
    """on_hls_notify: a GET with its variables to one of the urls; only the beginning of the response is read."""
    b = backend(lambda e: b"x" * 3000 if "big" in e["_path"] else (500, "no"))
    vars = "[server_id]/[service_id]/[app]/[stream]/[ts_url][param]"
    s = srs(f"http_hooks {{ enabled on; on_hls_notify {b.url('/big/' + vars)} {b.url('/small')}; }}"
            + HLS.format(".", "hls_nb_notify 20;"))
    s.push(source, "cam?k=v", speed=10, loop=True)
    assert wait_for(lambda: len(b.events) >= 4, 10)
    paths = [e["_path"] for e in b.events]
    assert {e["_method"] for e in b.events} == {"GET"} and not b.events[0]["_raw"]
    assert {"/small"} < set(paths), "both urls do not alternate"
    big = next(x for x in paths if x.startswith("/big/"))
    parts = big.split("/")
    assert parts[2].startswith("vid-") and len(parts[3]) == 8, big
    assert big.split("/", 4)[4].startswith("live/cam/live/cam-") and big.endswith(".ts?k=v"), big
    assert s.wait_log(r"on_hls_notify ok, url=.*/big/.*status=200, response=x{20},", 5)


def test_each_recording_is_reported(backend, srs, source, tmp_path):
    sizes = {}

    def answer(e):
        if e.get("action") == "on_dvr":
            sizes[e["file"]] = os.path.getsize(os.path.join(e["cwd"], e["file"]))
        return 0
    b = backend(answer)
    s = srs(hooks(b, "on_publish", "on_unpublish", "on_dvr") +
            "dvr { enabled on; dvr_plan segment; dvr_duration 2; dvr_path ./rec/[app]-[stream]-[timestamp].mp4; }")
    p = s.push(flv.cut(source, 6000), "cam?x=y", speed=12)
    p.join(10)
    p.stop()
    p.client.close()
    b.wait("on_unpublish")
    b.wait("on_dvr", 3)
    assert wait_for(lambda: not [f for f in os.listdir(tmp_path / "rec") if f.endswith("tmp")], 5)
    files = sorted(("./rec/" + f for f in os.listdir(tmp_path / "rec")), key=lambda f: f[:-len(".mp4")])  # x.mp4, then x-1.mp4
    assert wait_for(lambda: [e["file"] for e in b.of("on_dvr")] == files, 5), (b.of("on_dvr"), files)
    assert all(sizes[f] > 10000 for f in files[:3])
    for e in b.of("on_dvr"):
        assert {k for k in e if k[0] != "_"} == {
            "server_id", "service_id", "action", "client_id", "ip", "vhost", "app", "tcUrl", "stream",
            "param", "cwd", "file", "stream_url", "stream_id", "clients"}
        assert e["client_id"] == b.of("on_publish")[0]["client_id"] and e["param"] == "?x=y"
        assert e["stream"] == "cam" and e["cwd"] == str(tmp_path)


def test_notifications_are_repeated_in_order(backend, srs, source):
    """A failed notification is repeated before that of the next segment."""
    failed = []

    def answer(e):
        if e.get("seq_no") == 1 and not failed:
            failed.append(e["_headers"]["X-Hook-Attempt"])
            return (503, "busy")
        return 0
    b = backend(answer)
    s = srs(hooks(b, "on_hls") + HLS.format(".", ""))
    s.push(source, "cam", speed=12, loop=True)
    assert wait_for(lambda: len(of_files(b, "on_hls")) >= 4, 15)
    assert [e["seq_no"] for e in b.of("on_hls")][:4] == [0, 1, 1, 2] and failed == ["1"]


def test_questions_are_bounded(backend, srs):
    """A backend that hangs has a limited number of connections with waiting clients, in total and per address; the others wait in
    a queue and are served in turn."""
    free, web, lock, now, most = threading.Event(), free_port(), threading.Lock(), [], {}

    def answer(event):
        with lock:
            now.append(event["ip"])
            for who in (event["ip"], "all"):
                most[who] = max(most.get(who, 0), len([x for x in now if who in (x, "all")]))
        free.wait(20)
        with lock:
            now.remove(event["ip"])
        return 1
    b = backend(answer)
    s = srs("http_remux { enabled on; }" + hooks(b, "on_play"), f"http_server {{ enabled on; listen 127.0.0.1:{web}; }}"
            "limits { limit_private on; hooks_asks 6; hooks_asks_ip 4; }", env={"SRS_WORKERS": "1"})
    players = []

    def come(ip, n):
        for i in range(n):
            players.append(socket.create_connection(("127.0.0.1", web), source_address=(ip, 0)))
            players[-1].sendall(f"GET /live/x{i}.flv HTTP/1.1\r\nHost: h\r\n\r\n".encode())
    come("127.0.0.2", 10)
    assert wait_for(lambda: now.count("127.0.0.2") == 4, 5)
    come("127.0.0.3", 5)
    assert wait_for(lambda: len(now) == 6, 5)
    assert procs.never(lambda: len(now) > 6, 0.3) and now.count("127.0.0.3") == 2
    free.set()
    assert wait_for(lambda: len(b.of("on_play")) == 15 and not now, 10), "not all are authorized"
    assert most["all"] == 6 and most["127.0.0.2"] == 4 and most["127.0.0.3"] <= 4
    for c in players:
        c.close()
    assert s.wait_log("on_play refused", 3)


@pytest.mark.long
def test_files_do_not_wait_for_a_backend(backend, srs, source, tmp_path):
    """It hangs: segments and recordings are written as usual, and the queue is bounded."""
    b = backend(lambda e: 30.0)
    s = srs(hooks(b, "on_hls", "on_dvr", extra=f"on_hls_notify {b.url()};") + HLS.format(".", "") +
            "dvr { enabled on; dvr_plan segment; dvr_duration 2; dvr_path ./rec/[timestamp].flv; }",
            "limits { hooks_queue 6; }")
    v = s.watch("cam")
    s.push(source, "cam", speed=8, loop=True)
    path = str(tmp_path / "html" / "live" / "cam.m3u8")
    assert wait_for(lambda: hls.load(path) and len(hls.load(path).segments) >= 7, 15)
    assert len([f for f in os.listdir(tmp_path / "rec") if f.endswith(".flv")]) >= 2
    assert s.wait_log("callbacks dropped", 5)
    n = len(v.tags)
    assert v.wait(lambda got: len(got) > n + 20, 5)
    s.stop(timeout=9)


@pytest.mark.long
def test_storm_of_players_and_a_dead_backend(backend, srs, source):
    """500 players come and go while notifications hang: memory and order are bounded."""
    b = backend(lambda e: 20.0 if e["action"] == "on_stop" else 0)
    s = srs(hooks(b, "on_play", "on_stop"), "limits { hooks_queue 100; }")
    p = s.push(source, "cam", loop=True)
    before = s.rss()
    for _ in range(10):
        players = [s.player("cam") for _ in range(50)]
        for c in players:
            c.close()
    assert s.wait_log(r"callbacks dropped", 10)
    assert s.rss() - before < 12 * 1024
    assert p.error is None
    began = time.monotonic()
    s.player("cam").close()
    assert time.monotonic() - began < 10
    s.stop(timeout=9)
