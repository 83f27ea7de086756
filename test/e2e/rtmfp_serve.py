# SPDX-License-Identifier: MIT
"""A server with RTMFP, its clients, and a thread that drives a client while a test does other things."""
import contextlib
import threading
import time

import flv
import rtmfp_client as rc
from flv import AUDIO, VIDEO
from procs import free_port, wait_for
from rtmpclient import Closed


def rtmfp_server(srs, server="", vhost="", glob="", listen="", **how):
    """A server of the fixture `srs`, with RTMFP; listen: further endpoints, {port} is the port."""
    port = free_port()
    if "vhost " not in vhost:
        vhost = f"rtmfp {{ enabled on; }}\n{vhost}"
    more = listen.format(port=port)
    s = srs(vhost=vhost, glob=f"{glob}\nrtmfp_server {{ enabled on; listen 127.0.0.1:{port} {more}; {server} }}", **how)
    s.rtmfp_port = port
    return s


@contextlib.contextmanager
def clients(s, count=1, **how):
    """Connected clients of it."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(rc.Client(s.rtmfp_port, **how)).connect() for _ in range(count)]


def frames(tags):
    return {kind: flv.hashes(tags, kind) for kind in (AUDIO, VIDEO)}


def is_run_of(got, whole):
    """Checks that each kind's frames are in the source's without a gap; prints where they are not."""
    for kind in (AUDIO, VIDEO):
        part, source = flv.hashes(got, kind), flv.hashes(whole, kind)
        if flv.find_run(part, source * 2) < 0:
            print(kind, [source.index(h) if h in source else "?" for h in part])
            return False
    return True


class Driver(threading.Thread):
    """Drives a client, exclusively. With tags it publishes them on this stream in real time, in a loop if requested. `error`: why it
    ended early."""

    def __init__(self, client, stream=None, tags=(), loop=True):
        super().__init__(daemon=True)
        self.client, self.stream, self.list, self.loop = client, stream, tags, loop
        self.halt, self.error, self.at, self.base = threading.Event(), None, 0, 0
        self.span = max((t.ts for t in tags), default=0) + 40

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exc):
        self.stop()

    def send(self, elapsed):
        """Sends those that are due by now, in ms."""
        while self.at < len(self.list) and self.base + self.list[self.at].ts <= elapsed:
            t = self.list[self.at]
            if not self.base or t.frame:
                self.stream.send_tag(t, self.base + t.ts)
            self.at += 1
            if self.at == len(self.list) and self.loop:
                self.at, self.base = 0, self.base + self.span

    def run(self):
        begun = time.monotonic()
        while not self.halt.is_set():
            self.send((time.monotonic() - begun) * 1000)
            rc.run_for([self.client], 0.01)
            if not self.client.session.is_open:
                self.error = Closed(self.client.session.why)
                return

    def wait(self, want, timeout=10.0):
        """Waits until want() is true; it reads what the thread changes."""
        return wait_for(lambda: want() or self.error, timeout) and not self.error

    def stop(self):
        self.halt.set()
        self.join(5)


@contextlib.contextmanager
def published(s, tags, name="s", loop=True, **how):
    """Publishes this over RTMFP, and drives the client."""
    with clients(s, **how) as [c], Driver(c, c.publish(name), tags, loop) as d:
        yield d


@contextlib.contextmanager
def played(s, name="s", **how):
    """Plays this over RTMFP, and drives the client."""
    with clients(s, **how) as [c], Driver(c, c.play(name)) as d:
        yield d
