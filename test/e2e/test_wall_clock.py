# SPDX-License-Identifier: MIT
"""The wall clock is set while the server works: hours ahead, hours back, to 1970. No client is disconnected, no timer hangs, playlists
stay usable, with the times that they contain."""
import struct
import subprocess
import time
import urllib.error
import urllib.request

import pytest

import dash
import flv
import httpapi
from flv import VIDEO
from procs import SLOW, free_port, wait_for

pytestmark = pytest.mark.needs("gcc")

# CLOCK_REALTIME with an offset in seconds from a file; and waits for it, as the kernel has them.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static volatile long long *offset;
static int (*real)(clockid_t, struct timespec *);
__attribute__((constructor)) static void begin(void)
{
    int fd = open(getenv("WALL_OFFSET"), O_RDONLY);
    real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    offset = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
}
int clock_gettime(clockid_t id, struct timespec *ts)
{
    if (!real)
        begin();
    int rc = real(id, ts);
    if (rc == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
        ts->tv_sec += *offset;
    return rc;
}
int gettimeofday(struct timeval *restrict tv, void *restrict unused)
{
    struct timespec ts;
    (void)unused;
    clock_gettime(CLOCK_REALTIME, &ts);
    tv->tv_sec = ts.tv_sec;
    tv->tv_usec = ts.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *out)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    if (out)
        *out = ts.tv_sec;
    return ts.tv_sec;
}
static int is_over(const struct timespec *until)
{
    struct timespec now, pause = { 0, 5000000 };
    clock_gettime(CLOCK_REALTIME, &now);
    if (now.tv_sec > until->tv_sec || (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec))
        return 1;
    nanosleep(&pause, NULL);
    return 0;
}
int sem_timedwait(sem_t *restrict s, const struct timespec *restrict until)
{
    while (sem_trywait(s) < 0) {
        if (is_over(until)) {
            errno = ETIMEDOUT;
            return -1;
        }
    }
    return 0;
}
"""


class Clock:
    """Clock of the server only."""

    def __init__(self, tmp):
        self.path, source, self.shim = f"{tmp}/offset", f"{tmp}/shim.c", f"{tmp}/shim.so"
        self.file = open(self.path, "w+b", buffering=0)
        self.file.write(bytes(4096))
        with open(source, "w") as f:
            f.write(SHIM)
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", self.shim, source, "-ldl"], check=True)
        self.env = {"LD_PRELOAD": self.shim, "WALL_OFFSET": self.path,
                    "ASAN_OPTIONS": "verify_asan_link_order=0:quarantine_size_mb=4"}

    def set(self, offset):
        """Sets it to this many seconds from the true time."""
        self.file.seek(0)
        self.file.write(struct.pack("=q", int(offset)))

    def to(self, when):
        self.set(when - time.time())


def fetch(url, **fields):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=fields), timeout=10) as r:
            return r.status, r.read(), r.headers
    except urllib.error.HTTPError as e:
        return e.code, b"", e.headers


def newest(mpd):
    """Time of the newest media in an MPD, on its own clock."""
    last = mpd.last
    return mpd.available + last.start + max(t.end for t in last.tracks.values())


CONF = """
hls {{ enabled on; hls_fragment 1; hls_window 6; hls_path {tmp}; hls_ctx off; }}
dash {{ enabled on; dash_fragment 1; dash_update_period 1; dash_path {tmp}; }}
dvr {{ enabled on; dvr_path {tmp}/[app]/[stream].[timestamp].flv; dvr_plan session; }}
http_remux {{ enabled on; mount [vhost]/[app]/[stream].flv; }}
publish {{ firstpkt_timeout 3000; normal_timeout 3000; }}
"""


class Scene:
    """A publisher, and a player of each protocol."""

    def __init__(self, srs, source, tmp, clock):
        self.port, self.api, self.tmp = free_port(), free_port(), tmp
        glob = (f"http_server {{ enabled on; listen 127.0.0.1:{self.port}; dir {tmp}; }}\n"
                f"http_api {{ enabled on; listen 127.0.0.1:{self.api}; }}")
        self.s = srs(CONF.format(tmp=tmp), glob=glob, env=clock.env)
        self.play = self.s.watch()
        self.pusher = self.s.push(source, loop=True, ahead=3)
        self.flv = urllib.request.urlopen(self.url("s.flv"), timeout=10)
        self.listed = {}  # number: url, of all HLS segments so far
        assert wait_for(self.hls_has(2), 8) and wait_for(lambda: self.mpd(), 8), self.s.log()[-2000:]

    def url(self, name):
        return f"http://127.0.0.1:{self.port}/live/{name}"

    def hls_numbers(self):
        text = fetch(self.url("s.m3u8"))[1].decode()
        if not text:
            return []
        first = int(next(x for x in text.splitlines() if "MEDIA-SEQUENCE" in x).split(":")[1])
        names = [x for x in text.splitlines() if x and x[0] != "#"]
        for n, name in enumerate(names, first):
            assert self.listed.setdefault(n, name) == name, "a number is reused"
        assert len(set(self.listed.values())) == len(self.listed), "a name is reused"
        return range(first, first + len(names))

    def hls_has(self, n):
        return lambda: (self.hls_numbers() or [0])[-1] >= n

    def mpd(self):
        status, text, _ = fetch(self.url("s.mpd"))
        return dash.Mpd(text.decode()) if status == 200 else None

    def edge(self):
        """Distance of its newest segment from the time in the MPD; without the initial burst."""
        mpd = self.mpd()
        return mpd.clock - newest(mpd)

    def step(self, how):
        """Checks that everything is as before, a moment after the clock was set."""
        tag = fetch(self.url("s.m3u8"))[2]
        frames, last = len(flv.frames(self.play.tags, VIDEO)), self.hls_numbers()[-1]
        before = self.mpd()
        how()
        assert -5 < self.edge() < 6 or self.edge() > 1000, "players look for segments in the future"
        assert wait_for(self.hls_has(last + 3), 6), "HLS stands still:\n" + self.s.log()[-2000:]
        assert wait_for(lambda: -5 < self.edge() < 6 * SLOW, 15), f"the live edge is {self.edge():.0f} s off"
        after = self.mpd()
        assert after.published >= before.published, "an MPD that is older than the previous one"
        assert fetch(self.url(self.listed[last + 2]))[0] == 200
        assert fetch(self.url("s.m3u8"), **{"If-Modified-Since": tag["Last-Modified"]
                                            or "Fri, 01 Jan 2100 00:00:00 GMT"})[0] == 200, \
            "an old playlist is taken for the newest"
        assert self.play.wait(lambda got: len(flv.frames(got, VIDEO)) > frames + 25, 4)
        assert len(self.flv.read(20000)) == 20000
        assert self.pusher.error is None and self.play.ended is None
        assert httpapi.Api(self.api).get("summaries")["code"] == 0


HOURS = 3600


@pytest.mark.long
@pytest.mark.parametrize("steps", [[-3], [5, -3, 1]])
def test_wall_clock_is_set(srs, source, tmp_path, steps):
    clock = Clock(tmp_path)
    c = Scene(srs, source, tmp_path, clock)
    for n in steps:
        c.step(lambda: clock.set(n * HOURS))
    c.pusher.stop()
    c.pusher.client.close()
    assert wait_for(lambda: list((tmp_path / "live").glob("s.*.flv")), 5), "no recording"


@pytest.mark.long
def test_wall_clock_of_1970(srs, source, tmp_path):
    """A machine without a battery: the clock begins in 1970 and is set later; and the reverse. A server whose clock is before its
    MPD's time begins a new MPD."""
    clock = Clock(tmp_path)
    clock.to(100)
    c = Scene(srs, source, tmp_path, clock)
    c.step(lambda: clock.set(0))
    c.step(lambda: clock.to(50))
    c.step(lambda: clock.set(-86400 * 365))
    c.pusher.stop()
    c.s.stop()
    c.s.start()
    c.pusher = c.s.push(source, loop=True, ahead=3)
    assert wait_for(lambda: (m := c.mpd()) and m.clock and -5 < c.edge() < 6, 10), c.s.log()[-2000:]
    assert c.mpd().available <= c.mpd().clock
