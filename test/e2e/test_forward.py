# SPDX-License-Identifier: MIT
"""Forward to other servers: nginx with its RTMP module, one and two, dying and coming back, slow."""
import json
import re
import socket
import threading
import time

import pytest

import amf
import flv
import flvgen
import tools
from flv import AUDIO, DATA, VIDEO
from httpapi import Backend
from procs import comes_to_rest, free_port, wait_for
from rtmpclient import Client, Watcher
from server import Server

nginx_rtmp = pytest.mark.needs("nginx-rtmp")


def forward(*ports):
    return "forward { enabled on; destination " + " ".join(f"127.0.0.1:{p}" for p in ports) + "; }"


def watch(port, stream="s"):
    w = Watcher(Client(port).play(stream, wait=False))
    w.start()
    return w


@nginx_rtmp
@pytest.mark.parametrize("count", [1, 2])
def test_forward_to_nginx(srs, nginx, source, count):
    targets = [nginx() for _ in range(count)]
    s = srs(forward(*[n.port for n in targets]))
    views = [watch(n.port) for n in targets]
    own = s.watch()
    p = s.push(source, speed=6)
    for v in views:
        assert v.wait(lambda got: len(flv.frames(got, VIDEO)) >= 50, 8), s.log()[-2000:]
    p.stop()
    want = flv.hashes(p.pushed, VIDEO)
    for v in views:
        got = v.stop()
        video = flv.hashes(got, VIDEO)
        at = flv.find_run(video, want)
        assert at >= 0, "the forwarded stream has gaps or changes"
        assert at == 0, "it does not start with the stream"
        assert flv.find_run(flv.hashes(got, AUDIO)[:40], flv.hashes(p.pushed, AUDIO)) >= 0
        assert flv.frames(got, VIDEO)[0].key
        assert any(t.config for t in got if t.type == VIDEO)
        assert any(t.config for t in got if t.type == AUDIO)
        meta = [amf.decode(t.data) for t in got if t.type == DATA and b"onMetaData" in t.data]
        assert meta and meta[0][1]["width"] == 640
    assert own.wait(lambda got: len(flv.frames(got, VIDEO)) >= 48)
    assert s.wait_log(r"forward", 1)


@nginx_rtmp
def test_forward_ends_with_the_stream(srs, nginx, source):
    n = nginx()
    s = srs(forward(n.port))
    v = watch(n.port)
    tags = flv.cut(source, 1000)
    for turn in (1, 2):
        p = s.push(tags, speed=5)
        p.join(5)
        want = len(flv.frames(tags, VIDEO))
        assert v.wait(lambda got: len(flv.frames(got, VIDEO)) >= want * turn - 2, 5), \
            f"turn {turn}: {len(flv.frames(v.tags, VIDEO))}"
        p.client.unpublish()
        p.client.close()
        time.sleep(0.3)
    assert v.ended is None


@nginx_rtmp
@pytest.mark.long
def test_nginx_killed_and_restarted(srs, nginx, source):
    """The other server dies in the middle and comes back: forwarding continues at a key frame; our players notice nothing."""
    n = nginx()
    s = srs(forward(n.port))
    own = s.watch()
    p = s.push(source, loop=True)
    v = watch(n.port)
    assert v.wait(lambda got: len(flv.frames(got, VIDEO)) >= 25, 5)
    at = s.mark()
    n.kill()
    time.sleep(2)
    assert s.wait_log(r"(?i)forward", 5, at), "the loss is not in the log"
    n.start()
    v2 = watch(n.port)
    assert v2.wait(lambda got: len(flv.frames(got, VIDEO)) >= 25, 15), s.log()[-2000:]
    got = v2.stop()
    assert flv.frames(got, VIDEO)[0].key
    assert any(t.config for t in got if t.type == VIDEO)
    assert flv.find_run(flv.hashes(got, VIDEO), flv.hashes(p.pushed, VIDEO)) >= 0
    p.stop()
    assert p.error is None
    comes_to_rest(lambda: len(own.tags), 0.6)
    mine = flv.hashes(own.stop(), VIDEO)
    assert flv.find_run(mine, flv.hashes(p.pushed, VIDEO)) == 0 and len(mine) >= len(p.pushed) * 0.3


def test_dead_destination_is_harmless(srs, source):
    """No server listens there: the stream and its players do not notice, the log reports it at intervals."""
    port = free_port()
    s = srs(forward(port))
    own = s.watch()
    p = s.push(source, loop=True, speed=2.5)
    assert own.wait(lambda got: len(flv.frames(got, VIDEO)) >= 75, 6)
    p.stop()
    assert p.error is None
    lines = [x for x in s.log().splitlines() if "orward" in x and str(port) in x]
    assert 1 <= len(lines) <= 12, f"{len(lines)} lines in a second"
    s.allow_errors = True


@pytest.mark.long
def test_dead_destination_of_many_streams(srs, source):
    """One line reports the failure, however many streams are forwarded there, and one the recovery."""
    far = srs(name="far")
    port = far.port
    far.stop()
    s = srs(forward(port))
    tags = flv.cut(source, 1000)
    for i in range(20):
        s.push(tags, f"s{i}", loop=True)
    connecting = rf"forward \S+live/s\d+ to rtmp://127.0.0.1:{port}/.*: connecting"
    assert s.wait_log(connecting, 8, count=20), s.log()[-2000:]
    assert s.wait_log(rf"\[WARN\].* forward to 127.0.0.1:{port} fails: .*refused.*; 1 stream waits, "
                      "1 try failed, next line in 10 s", 3), s.log()[-2000:]
    time.sleep(2)  # two more attempts of each
    lines = [x for x in s.log().splitlines() if f":{port}" in x and "connecting" not in x
             and "[DEBUG]" not in x]
    assert len(lines) == 1, lines
    far.start()
    assert s.wait_log(rf"forward to rtmp://127.0.0.1:{port}/.*: publishing", 25, count=20), s.log()[-3000:]
    works = re.findall(rf"forward to 127.0.0.1:{port} works again after \d+ s, (\d+) tries failed, "
                       r"\d+ more streams? waits?", s.log())
    assert len(works) == 1 and int(works[0]) >= 20, s.log()[-3000:]
    assert len(re.findall(rf"forward to 127.0.0.1:{port} fails", s.log())) <= 2
    at = s.mark()
    far.stop()
    assert s.wait_log(rf"forward to 127.0.0.1:{port} fails", 3, at), "another kind of error is not reported at once"
    time.sleep(0.5)
    assert len(re.findall(rf"forward to 127.0.0.1:{port} fails", s.log()[at:])) <= 2, s.log()[at:]
    s.allow_errors = far.allow_errors = True


class BlackHole:
    """Accepts and never reads."""

    def __init__(self):
        self.sock = socket.socket()
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.sock.bind(("127.0.0.1", free_port()))
        self.sock.listen(8)
        self.port = self.sock.getsockname()[1]
        self.held = []
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        try:
            while True:
                self.held.append(self.sock.accept()[0])
        except OSError:
            pass

    def close(self):
        self.sock.close()
        for s in self.held:
            s.close()


def test_silent_destination_is_harmless(srs, source):
    hole = BlackHole()
    s = srs(forward(hole.port))
    own = s.watch()
    p = s.push(source, loop=True, speed=2.5)
    assert own.wait(lambda got: len(flv.frames(got, VIDEO)) >= 75, 6)
    p.stop()
    assert p.error is None
    hole.close()
    s.allow_errors = True


@pytest.mark.long
def test_stuck_destination_does_not_grow_memory(srs, tmp_path):
    """A destination that accepted the stream and then stops reading: memory stays bounded, the players get everything. The
    destination is another of our servers, stopped by SIGSTOP."""
    import os
    import signal
    other = srs()
    s = srs(forward(other.port) + " play { queue_length 3; }")
    own = s.watch()
    p = s.push(flvgen.synthetic(4, size=20000), loop=True, speed=2)
    assert own.wait(lambda got: len(flv.frames(got, VIDEO)) >= 50, 5)
    other.proc.kill(signal.SIGSTOP)
    try:
        time.sleep(4)
        first = s.rss()
        time.sleep(8)
        second = s.rss()
    finally:
        os.kill(other.pid, signal.SIGCONT)
    p.stop()
    assert p.error is None
    assert second - first < 8 * 1024, f"{first} kB became {second} kB"
    comes_to_rest(lambda: len(own.tags), 0.6)
    mine = flv.hashes(own.stop(), VIDEO)
    assert flv.find_run(mine, flv.hashes(p.pushed, VIDEO)) == 0
    assert len(mine) >= len(flv.hashes(p.pushed, VIDEO)) - 30
    s.allow_errors = other.allow_errors = True


def test_forward_between_two_of_ours(srs, media):
    """HEVC with Opus, byte for byte through both."""
    far = srs()
    s = srs(forward(far.port))
    v = far.watch()
    tags = media.tags("hevc", "opus")
    p = s.push(tags, speed=8)
    p.join(10)
    want = [t for t in tags if t.type == VIDEO]
    assert v.wait(lambda got: len([t for t in got if t.type == VIDEO]) >= len(want), 4)
    assert [t.hash() for t in v.stop() if t.type == VIDEO] == [t.hash() for t in want]
    assert s.wait_log(r"forward", 1)


def test_forward_keeps_app_vhost_and_parameters(srs, source):
    far = srs(vhost="vhost __defaultVhost__ { }\nvhost a.b { }")
    s = srs(vhost=f"vhost a.b {{ {forward(far.port)} }}")
    v = far.watch("cam", app="studio", tcurl=f"rtmp://127.0.0.1:{far.port}/studio?vhost=a.b")
    s.push(flv.cut(source, 1000), "cam", speed=4, app="studio",
           tcurl=f"rtmp://127.0.0.1:{s.port}/studio?vhost=a.b")
    assert v.wait(lambda got: len(flv.frames(got, VIDEO)) >= 20, 4), far.log()[-1500:]


def test_forward_statistics_line(srs, source):
    far = srs()
    s = srs(forward(far.port), glob="pithy_print_ms 800;")
    s.push(source, loop=True)
    assert s.wait_log(r"<- FWR .*time=\d+.*msgs=\d+", 5), s.log()[-1500:]
    assert wait_for(lambda: "CPB" in far.log() or "publish" in far.log(), 3)


def backend_conf(backend, more=""):
    return f"forward {{ enabled on; backend {backend.url('/api/v1/forward')}; {more} }}"


def test_backend_says_where_to(srs, source):
    """A backend names two urls, with other app and stream names; they replace the destinations of the configuration."""
    far, other, unused = srs(), srs(), srs()
    urls = [f"rtmp://127.0.0.1:{far.port}/live/copy?token=1", f"rtmp://127.0.0.1:{other.port}/app2/s2"]
    b = Backend(lambda e: json.dumps({"code": 0, "data": {"urls": urls}}))
    s = srs(backend_conf(b, f"destination 127.0.0.1:{unused.port};"))
    v, w, u = far.watch("copy"), other.watch("s2", app="app2"), unused.watch("s")
    p = s.push(source, "s?key=7", loop=True, speed=4)
    for x in (v, w):
        assert x.wait(lambda got: len(flv.frames(got, VIDEO)) >= 20, 8), s.log()[-2000:]
    assert not flv.frames(u.tags, VIDEO)
    (e,) = b.of("on_forward")
    assert e["stream"] == "s" and e["param"] == "?key=7" and e["ip"] == "127.0.0.1"
    assert e["stream_id"].startswith("vid-") and e["vhost"] == "__defaultVhost__"
    p.stop()
    b.close()


def test_backend_that_names_none(srs, source):
    far = srs()
    b = Backend(lambda e: '{"code":0,"data":{"urls":[]}}')
    s = srs(backend_conf(b, f"destination 127.0.0.1:{far.port};"))
    v = far.watch("s")
    s.push(source, loop=True, speed=4)
    assert v.wait(lambda got: len(flv.frames(got, VIDEO)) >= 20, 8)
    b.close()


def test_backend_that_fails_is_asked_again(srs, source):
    """The stream and its players do not wait for it, and it may recover later."""
    far = srs()
    answers = [(500, "no"), 1, json.dumps({"code": 0, "data": {"urls": [
        f"rtmp://127.0.0.1:{far.port}/live/s"]}})]
    b = Backend(lambda e: answers[min(len(b.of("on_forward")) - 1, 2)])
    s = srs(backend_conf(b))
    own, v = s.watch(), far.watch("s")
    p = s.push(source, loop=True, speed=4)
    assert own.wait(lambda got: len(flv.frames(got, VIDEO)) >= 20, 3)
    assert v.wait(lambda got: len(flv.frames(got, VIDEO)) >= 20, 10)
    assert len(b.of("on_forward")) == 3 and p.error is None
    p.stop()
    p.client.close()
    q = s.push(source, loop=True)  # it is not busy forever
    assert wait_for(lambda: len(b.of("on_forward")) == 4, 5)
    q.stop()
    b.close()


def test_backend_that_hangs_and_streams_that_end(srs, source):
    b = Backend(lambda e: 20.0)
    s = srs(backend_conf(b))
    for i in range(3):
        p = s.push(source, f"s{i}", loop=True)
        b.wait("on_forward", i + 1)
        p.stop()
        p.client.close()
    assert wait_for(lambda: s.publisher("s0").close() or True, 5)
    s.stop()
    b.close()


def test_backend_changes_by_reload(srs, source):
    far, near = srs(), srs()
    b = Backend(lambda e: json.dumps({"code": 0, "data": {"urls": [f"rtmp://127.0.0.1:{far.port}/live/s"]}}))
    s = srs(forward(near.port))
    s.push(source, loop=True, speed=4)
    v, w = far.watch("s"), near.watch("s")
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= 10, 5)
    s.reload(backend_conf(b, f"destination 127.0.0.1:{near.port};"))
    assert v.wait(lambda got: len(flv.frames(got, VIDEO)) >= 20, 8)
    assert comes_to_rest(lambda: len(w.tags), 0.6), "the configured destination was kept"
    n = len(w.tags)
    s.reload(forward(near.port))
    assert w.wait(lambda got: len(got) > n + 20, 5)
    b.close()
