# SPDX-License-Identifier: MIT
"""Many at once: 500 players of one stream, many streams, churn."""
import selectors
import threading
import time

import pytest

import flv
import procs
from flv import VIDEO
from flvgen import synthetic
from procs import SLOW, wait_for


class Crowd(threading.Thread):
    """Players that only count bytes, all in one thread."""

    def __init__(self, s, count, streams=("s",)):
        super().__init__(daemon=True)
        self.sel = selectors.DefaultSelector()
        self.bytes = [0] * count
        self.ended = 0
        self.halt = threading.Event()
        self.clients = []
        for i in range(count):
            c = s.player(streams[i % len(streams)], wait=False)
            c.sock.setblocking(False)
            self.sel.register(c.sock, selectors.EVENT_READ, i)
            self.clients.append(c)

    def run(self):
        while not self.halt.is_set():
            for key, _ in self.sel.select(0.2):
                try:
                    got = key.fileobj.recv(262144)
                except BlockingIOError:
                    continue
                except OSError:
                    got = b""
                if not got:
                    self.ended += 1
                    self.sel.unregister(key.fileobj)
                else:
                    self.bytes[key.data] += len(got)

    def stop(self):
        self.halt.set()
        self.join(5)
        for c in self.clients:
            c.close()


@pytest.mark.long
def test_500_players(srs, source):
    """All get the stream, in step; three that are checked closely get each byte of it."""
    s = srs()
    p = s.push(source, loop=True)
    begin = time.monotonic()
    crowd = Crowd(s, 500)
    joined = time.monotonic() - begin
    crowd.start()
    close = [s.watch() for _ in range(3)]
    time.sleep(1)
    before, cpu, start = list(crowd.bytes), procs.cpu_seconds(s.pid), time.monotonic()
    time.sleep(2.5)
    took = time.monotonic() - start
    wait_for(lambda: min(b - a for a, b in zip(before, crowd.bytes)) > 50000)
    got = [b - a for a, b in zip(before, crowd.bytes)]
    cpu = (procs.cpu_seconds(s.pid) - cpu) / took
    rss = s.rss()
    crowd.stop()
    p.stop()
    assert p.error is None and crowd.ended == 0
    assert min(got) > 50000, f"least {min(got)} bytes in {took:.1f} s"
    assert max(got) < 4 * min(got)
    for w in close:
        video = flv.hashes(w.stop(), VIDEO)
        assert len(video) > 60 and flv.find_run(video, flv.hashes(p.pushed, VIDEO)) >= 0
    print(f"500 players: joined in {joined:.2f} s, {cpu * 100:.0f}% of a core, {rss} kB")
    assert cpu < 0.5 * SLOW
    assert rss < 120 * 1024 * SLOW


def test_100_streams(srs):
    s = srs()
    tags = synthetic(2, size=300)
    pubs = [s.push(tags, f"s{i}", loop=True) for i in range(100)]
    w = [s.watch(f"s{i}") for i in (0, 50, 99)]
    for x in w:
        assert x.wait(lambda got: len(flv.frames(got, VIDEO)) >= 25)
    assert all(p.error is None for p in pubs)
    for p in pubs:
        p.halt.set()


@pytest.mark.long
def test_churn_leaves_nothing(srs):
    """Rounds of players and publishers that come and go: memory and descriptors are freed."""
    s = srs()
    p = s.push(synthetic(2), loop=True)

    def round_(n):
        crowd = Crowd(s, n)
        crowd.start()
        pubs = [s.publisher(f"c{i}") for i in range(30)]
        for i, c in enumerate(pubs):
            for t in synthetic(0.2):
                c.send_tag(t)
        time.sleep(0.2)
        crowd.stop()
        for c in pubs:
            c.close()
        time.sleep(0.5)
    round_(150)
    round_(150)
    first = s.rss()
    for _ in range(3):
        round_(150)
    assert s.rss() - first < 6 * 1024 * SLOW, f"{first} kB became {s.rss()} kB"
    assert p.error is None


@pytest.mark.long
def test_join_storm(srs, source):
    """300 connects in a moment while a stream runs: none is rejected, the stream does not stop."""
    s = srs()
    p = s.push(source, loop=True)
    w = s.watch()
    crowds = []
    threads = [threading.Thread(target=lambda: crowds.append(Crowd(s, 75))) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(20)
    assert len(crowds) == 4
    for c in crowds:
        c.start()
    n = len(w.tags)
    assert w.wait(lambda got: len(got) > n + 30, 4)
    for c in crowds:
        c.stop()
    assert p.error is None
