# SPDX-License-Identifier: MIT
"""Several workers: a client gets the same service on any of them as with one."""
import ctypes
import os
import threading
import time

import pytest

import flv
import httpapi
from flv import DATA, VIDEO
from procs import free_port, wait_for
from rtmpclient import Closed, Rejected
from webclient import FlvWatcher

FOUR = {"SRS_WORKERS": "4"}
STAY = "workers_spread 0;"   # players stay where they connect: all workers have the stream
HOME = "workers_spread 1000000;"


def media(tags):
    return [t for t in tags if t.type != DATA]


def starts_whole(watcher, want, least=60):
    """From its first key frame on it has every frame, byte for byte, in order."""
    hashes = flv.hashes(want)
    got = [h for h in flv.hashes(watcher.tags)]
    assert len(got) >= least, f"{len(got)} frames"
    assert flv.find_run(got, hashes) >= 0, "frames are lost, changed or out of order"


def enough(n):
    return lambda tags: len(flv.frames(tags)) >= n


@pytest.mark.parametrize("spread", [pytest.param(HOME, marks=pytest.mark.long), STAY], ids=["home", "spread"])
def test_players_of_one_stream(srs, source, spread):
    """24 connections on any worker: each gets every byte from a key frame on."""
    s = srs(glob=spread, env=FOUR)
    tags = flv.cut(source, 8000)
    pub = s.push(tags, speed=2)
    wait_for(lambda: len(pub.pushed) > 30, 5)
    watchers = [s.watch() for _ in range(24)]
    for w in watchers:
        assert w.wait(enough(60), 8), f"{len(flv.frames(w.tags))} frames, {w.ended}"
    pub.stop()
    for w in watchers:
        starts_whole(w, tags)
        assert flv.frames(w.stop(), VIDEO)[0].key, "it does not begin with a key frame"


@pytest.mark.parametrize("spread", [pytest.param(HOME, marks=pytest.mark.long), STAY], ids=["home", "spread"])
def test_players_who_come_first_and_a_publisher_who_comes_back(srs, source, spread):
    s = srs(glob=spread, env=FOUR)
    watchers = [s.watch() for _ in range(12)]
    tags = flv.cut(source, 4000)
    for turn in (1, 2, 3):
        pub = s.push(tags, speed=10)
        pub.join(10)
        assert pub.error is None
        for w in watchers:
            assert w.wait(enough(turn * len(flv.frames(tags))), 5), \
                f"turn {turn}: {len(flv.frames(w.tags))} frames of {len(flv.frames(tags))} each"
        pub.client.close()
    for w in watchers:
        assert flv.hashes(w.stop()) == 3 * flv.hashes(tags)


def test_many_streams(srs, source):
    """12 streams, 3 players each, publishers and players on any worker."""
    s = srs(env=FOUR)
    tags = flv.cut(source, 6000)
    watchers, pubs = [], []
    for i in range(12):
        watchers.append(s.watch(f"s{i}"))
        pubs.append(s.push(tags, f"s{i}", speed=3))
        watchers += [s.watch(f"s{i}"), s.watch(f"s{i}")]
    for w in watchers:
        assert w.wait(enough(60), 8)
        starts_whole(w, tags)
        w.stop()
    for p in pubs:
        p.stop()


def test_http_flv(srs, source):
    port = free_port()
    s = srs("http_remux { enabled on; }", glob=f"http_server {{ enabled on; listen 127.0.0.1:{port}; }} {STAY}",
            env=FOUR)
    tags = flv.cut(source, 6000)
    pub = s.push(tags, loop=True, speed=2)
    watchers = [FlvWatcher(port, ws=bool(i % 2)) for i in range(12)]
    for w in watchers:
        assert wait_for(lambda: len(flv.frames(w.tags)) >= 60, 8), len(w.tags)
        got = flv.hashes(w.tags)[:60]
        assert flv.find_run(got, 3 * flv.hashes(tags)) >= 0
    pub.stop()


@pytest.mark.parametrize("round", range(3))
def test_one_of_two_who_come_at_once_publishes(srs, source, round):
    """Two publishers of one name at the same time, on any worker: exactly one is admitted."""
    s = srs("publish { takeover off; }", env=FOUR)
    for i in range(12):
        gate, won = threading.Barrier(2), []

        def one():
            c = s.client()
            c.handshake()
            gate.wait()
            try:
                c.publish(f"x{i}")
                won.append(c)
            except (Rejected, Closed, TimeoutError):
                c.close()
        both = [threading.Thread(target=one) for _ in range(2)]
        for t in both:
            t.start()
        for t in both:
            t.join(10)
        assert len(won) == 1, f"{len(won)} publish x{i}"
        won[0].close()


def test_kick_and_lists(srs, source):
    port = free_port()
    s = srs(glob=httpapi.conf(port) + STAY, env=FOUR)
    api = httpapi.Api(port)
    pub = s.push(flv.cut(source, 4000), loop=True)
    watchers = [s.watch() for _ in range(16)]
    clients = api.wait_clients(17)
    assert len({c["id"] for c in clients}) == 17, "not each client once"
    assert [(x["name"], x["clients"]) for x in api.streams()] == [("s", 17)]
    pages = [api.get(f"clients/?start={i}&count=5")["clients"] for i in range(0, 20, 5)]
    assert sorted(c["id"] for p in pages for c in p) == sorted(c["id"] for c in clients)
    for c in clients:
        if not c["publish"]:
            assert api.kick(c["id"])["code"] == 0
    for w in watchers:
        assert wait_for(lambda: w.ended, 5)
    api.wait_clients(1)
    pub.stop()


def test_reload_over_all(srs, source):
    """A reload applies on every worker; a bad one changes nothing."""
    a, b = free_port(), free_port()
    s = srs(glob=STAY, env=FOUR)
    s.reload(glob=f"listen 127.0.0.1:{s.port} 127.0.0.1:{a}; {STAY}")
    pub = s.push(flv.cut(source, 4000), loop=True)
    for port in [s.port] * 8 + [a] * 8:
        c = s.client().__class__(port)
        c.play("s")
        c.close()
    s.reload(glob=f"listen 127.0.0.1:{s.port} 127.0.0.1:{b} 192.0.2.1:19; {STAY}", ok=False)
    s.client().__class__(a).close()
    s.reload("security { enabled on; deny play all; }", glob=STAY)
    for _ in range(12):
        with pytest.raises((Rejected, Closed, TimeoutError)):
            s.player()
    pub.stop()


def test_limits_count_the_process(srs):
    s = srs(glob="max_connections 10;", env=FOUR)
    kept = []

    def comes_in():
        try:
            c = s.client(timeout=2)
            c.handshake()
            kept.append(c)
            return True
        except (Closed, OSError, TimeoutError):
            return False
    for _ in range(10):  # the client that checked whether the server is up may not be gone yet
        assert wait_for(comes_in, 5)
    assert not any(comes_in() for _ in range(6))
    kept.pop().close()
    assert wait_for(comes_in, 5)
    for c in kept:
        c.close()


def test_it_ends_with_all_clients_connected(srs, source):
    s = srs(glob=STAY, env=FOUR)
    pub = s.push(flv.cut(source, 4000), loop=True)
    watchers = [s.watch() for _ in range(12)]
    for w in watchers:
        assert w.wait(enough(5), 5)
    assert s.stop() == 0
    for w in watchers:
        assert wait_for(lambda: w.ended, 3)
    pub.stop()


# -- on the way to another worker


def eager(client, stream, tags):
    """Sends everything including media at once, without reading any response."""
    client.connect()
    client.create_stream()
    client.call("publish", stream, "live", sid=client.sid, csid=8)
    client.set_chunk_size(4096)
    for tag in tags:
        client.send_tag(tag)


@pytest.mark.long
def test_media_behind_publish_go_along(srs, source):
    """Media in one packet with `publish`, whole and in pieces, reach the other worker."""
    s = srs(glob=HOME, env=FOUR)
    tags = [t for t in flv.cut(source, 1000)]
    for i in range(16):
        w = s.watch(f"s{i}")  # the waiting player makes its worker the owner, often another one
        c = s.client()
        eager(c, f"s{i}", tags)
        assert w.wait(enough(len(flv.frames(tags))), 5), f"{len(flv.frames(w.tags))} frames"
        assert flv.hashes(w.stop()) == flv.hashes(tags)
        c.close()


def test_one_connection_publishes_one_stream_after_the_other(srs, source):
    """Each is owned by the worker of its waiting player: the connection moves there, again and again."""
    s = srs(glob=HOME, env=FOUR)
    tags = flv.cut(source, 1000)
    watchers = [s.watch(f"s{i}") for i in range(6)]
    c = s.client()
    for i, w in enumerate(watchers):
        c.publish(f"s{i}")
        for tag in tags:
            c.send_tag(tag)
        assert w.wait(enough(len(flv.frames(tags))), 5), f"s{i}: {len(flv.frames(w.tags))} frames"
        assert flv.hashes(w.stop()) == flv.hashes(tags)
        c.unpublish()
    c.close()


def test_peers_that_leave_on_the_way(srs, source):
    """They close right after the request: nothing of them stays."""
    api = free_port()
    s = srs(glob=httpapi.conf(api) + HOME, env=FOUR)
    pub = s.push(flv.cut(source, 2000), "s", loop=True)
    for i in range(60):
        c = s.client()
        c.connect()
        c.create_stream()
        c.call("play" if i % 2 else "publish", f"s{i % 7}", sid=c.sid, csid=8)
        (c.abort if i % 3 else c.close)()
    httpapi.Api(api).wait_clients(1)
    pub.stop()


# -- a blocked worker


def threads(pid):
    return sorted(int(t) for t in os.listdir(f"/proc/{pid}/task"))


class Held:
    """Stops one thread of a process, as a debugger does."""

    def __init__(self, tid):
        self.libc, self.tid = ctypes.CDLL(None, use_errno=True), tid
        self._call(0x4206, 0)  # PTRACE_SEIZE
        self._call(0x4207, 0)  # PTRACE_INTERRUPT
        os.waitpid(tid, 0x40000000)  # __WALL

    def _call(self, request, data):
        if self.libc.ptrace(request, self.tid, None, ctypes.c_void_p(data)) < 0:
            raise OSError(ctypes.get_errno(), "ptrace")

    def go_on(self):
        self._call(17, 0)  # PTRACE_DETACH


def gaps(watcher):
    at = [t for t, _ in watcher.arrivals]
    return max((b - a for a, b in zip(at, at[1:])), default=0)


@pytest.mark.long
@pytest.mark.alone
def test_a_worker_that_is_held_up_delays_its_own_clients_alone(srs, source):
    s = srs("play { mw_latency 100; }", glob=STAY, env=FOUR)
    pub = s.push(flv.cut(source, 8000), loop=True)
    watchers = [s.watch() for _ in range(24)]
    for w in watchers:
        assert w.wait(enough(10), 5)
    home = None
    workers = [t for t in threads(s.pid) if open(f"/proc/{s.pid}/task/{t}/comm").read().startswith("srs-w")]
    assert len(workers) == 3
    for tid in workers:
        before = {w: len(w.arrivals) for w in watchers}
        held = Held(tid)
        time.sleep(3)
        quiet = [w for w in watchers if len(w.arrivals) == before[w]]
        held.go_on()
        if len(quiet) == len(watchers):
            home = tid  # of the stream: all wait for that worker
        else:
            assert quiet, "a client was on that worker"
    for w in watchers:
        n = len(flv.frames(w.tags))
        assert w.wait(enough(n + 50), 5), "it does not play on"
    assert s.wait_log(r"mailbox|worker \d", 5)
    assert home is None or len(workers) > 1
    pub.stop()
    s.holds_allowed = (1000, 10000)
