# SPDX-License-Identifier: MIT
"""Files on demand compared with live RTSP of the same media in the same run. As in rtsp.py, each is measured alone, and again
in the other order. Files are made below objs/bench/vod, one folder for each case, and removed afterwards."""
import contextlib
import os
import shutil
import subprocess
import time

from procs import descriptors
import rtsp
from rtsp import WRONG, alone, bare, us
from workers import GROUP, RAMP, Side

SPREAD = 20      # ms between players, so that each has its own position
CACHE = 128 << 10  # kB, the default
MB = 1 << 20


def row(*args, **more):
    rtsp.row(*args, case="vod", **more)


# ---- files

@contextlib.contextmanager
def folder(bench):
    """The folder of the files of one case."""
    path = bench.out / "vod"
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def movie(bench, path, kbps, seconds):
    """An MP4 with repetitions of the live stream. It is on the disk when this returns."""
    source = bench.stream(kbps)
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-stream_loop", str(-(-seconds // 20) - 1), "-i", source, "-t", str(seconds),
                    "-c", "copy", "-movflags", "+faststart", path], check=True, stdin=subprocess.DEVNULL)
    os.sync()
    return path


def warm(path):
    with open(path, "rb", 0) as f:
        while f.read(4 * MB):
            pass


def cold(path):
    """Removes a file from the page cache."""
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def disk_read(pid):
    """Bytes that the process has read from a disk."""
    with open(f"/proc/{pid}/io") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("read_bytes"))


class Throttle:
    """Limits the read rate of the disk for one process."""

    def __init__(self, path, mbps, pid):
        self.dir = f"/sys/fs/cgroup/blkio/srs-bench-{pid}"
        device = os.stat(path).st_dev
        os.mkdir(self.dir)
        self.write("blkio.throttle.read_bps_device", f"{os.major(device)}:{os.minor(device)} {mbps * 1000000}")
        self.write("cgroup.procs", pid)

    def write(self, name, value):
        with open(f"{self.dir}/{name}", "w") as f:
            f.write(str(value))

    def close(self):
        for _ in range(100):  # its process may still be ending
            with contextlib.suppress(OSError):
                return os.rmdir(self.dir)
            time.sleep(0.1)


# ---- sides

def live(bench, players, kbps):
    """Players of a live stream."""
    side = Side(bench, 0, "vod", apart=True)
    side.publish("a", kbps, 1, "--no-marker")
    time.sleep(GROUP)
    side.base = side.server.rss()
    side.tool("sb_rtsp_load", "a", players, "--ramp", RAMP, "--warmup", bench.warmup)
    return side


def files(bench, players, name, *args, program="sb_rtsp_load"):
    """Players of one file each; {i} in its name is the number of the player."""
    side = Side(bench, 0, "vod", apart=True)
    side.tool(program, ("vod", name), players, "--warmup", bench.warmup, *(args or ("--ramp", RAMP)))
    return side


def of(side):
    """The report of the players."""
    return next(r for r in side.reports if "lost" in r)


def told(side):
    got = of(side)
    return dict(first_p99=got["first_packet_ms"]["p99"], mbps=got["read_mbps"], stalls=got["stalls"], failed=got["failed"])


def against_live(bench, what, players, kbps, goal, make, wait):
    """In turn, and again in the other order, and the bare kernel. Returns both sides with files, and the microseconds per live
    player and second."""
    begun = players / RAMP + bench.warmup + 0.5
    floor = bare(bench, players, kbps)
    sides = [alone(bench, lambda: live(bench, players, kbps), begun), alone(bench, make, wait),
             alone(bench, make, wait), alone(bench, lambda: live(bench, players, kbps), begun)]
    floor = (floor + bare(bench, players, kbps)) / 2
    theirs, ours = ((us(sides[a], players) + us(sides[b], players)) / 2 for a, b in ((0, 3), (1, 2)))
    worst = max(sides[1:3], key=lambda s: of(s)["gap_ms"]["max"])
    row(bench, what, worst, players, goal, ours / theirs, theirs, players=players, kbps=kbps, rss_kb=sides[1].rss / players,
        **told(worst))
    bench.row(case="vod", server="bare send", variant="the same bytes", players=players, kbps=kbps, us=floor)
    return sides[1:3], theirs


# ---- cases

def one_place(bench):
    with folder(bench) as d:
        warm(movie(bench, d / "a.mp4", 8000, 60))
        sides, _ = against_live(bench, "500 x 8 Mbit/s, one file, one position, against live RTSP", 500, 8000, 1.1,
                             lambda: files(bench, 500, "a.mp4"), 500 / RAMP + bench.warmup + 0.5)
        rss = max(s.rss for s in sides)
        row(bench, "  memory of a player, more than the cache", sides[0], 500, 8, max(0, rss - CACHE) / 500, players=500, kbps=8000, unit="kB",
            rss_total_kb=rss)
        spread(bench, d / "a.mp4")


def spread(bench, path):
    """Each player 20 ms behind the previous one: from a cold disk, once, then from the page cache."""
    players, begun = 500, 500 * SPREAD / 1000 + bench.warmup + 0.5
    args = ("--spread", SPREAD)
    cold(path)
    side = files(bench, players, "a.mp4", *args)
    pid = side.server.pid
    time.sleep(begun)
    side.begin()
    time.sleep(bench.seconds)
    side.end()
    read, played = disk_read(pid), (begun + bench.seconds + 1) / 60 * os.path.getsize(path)
    side.stop()
    row(bench, "500 spread by 20 ms, from a cold disk: bytes read per byte of media", side, players, 1.3, read / played,
        players=players, kbps=8000, **told(side))
    warm(path)
    sides, _ = against_live(bench, "500 x 8 Mbit/s, one file, spread by 20 ms, against live RTSP", players, 8000, 1.6,
                         lambda: files(bench, players, "a.mp4", *args), begun)
    gap = max(of(s)["gap_ms"]["max"] for s in sides)
    row(bench, "  longest gap", sides[0], players, 150, gap, players=players, kbps=8000, unit="ms")


def many_files(bench):
    """One file for each player."""
    players = 500
    with folder(bench) as d:
        movie(bench, d / "0.mp4", 2000, 24)
        for i in range(1, players):
            shutil.copyfile(d / "0.mp4", d / f"{i}.mp4")
        os.sync()
        for i in range(players):
            warm(d / f"{i}.mp4")
        _, theirs = against_live(bench, "500 x 2 Mbit/s of 500 files, warm, against live RTSP of one stream", players, 2000, 2.0,
                                 lambda: files(bench, players, "{i}.mp4"), players / RAMP + bench.warmup + 0.5)
        if not os.access("/sys/fs/cgroup/blkio", os.W_OK):
            return
        for i in range(players):
            cold(d / f"{i}.mp4")
        side = Side(bench, 0, "vod", apart=True)
        slow = Throttle(d, 200, side.server.pid)
        try:
            side.tool("sb_rtsp_load", ("vod", "{i}.mp4"), players, "--ramp", 250, "--warmup", bench.warmup)
            time.sleep(players / 250 + bench.warmup + 0.5)
            side.begin()
            time.sleep(bench.seconds)
            side.end()
            read = disk_read(side.server.pid)
            side.stop()
        finally:
            slow.close()
        got = of(side)
        row(bench, "500 x 2 Mbit/s of 500 files, cold, a disk of 200 MB/s: least rate", side, players, -0.97,
            got["rate_kbps"]["min"] / got["rate_kbps"]["p50"], players=players, kbps=2000, first_p50=got["first_packet_ms"]["p50"],
            rss_total_kb=side.rss, **told(side))
        row(bench, "500 x 2 Mbit/s of 500 files, cold, against live RTSP of one stream", side, players, None, us(side, players) / theirs, theirs,
            players=players, kbps=2000)
        print(f"read from the disk: {read / 1e6:.0f} MB")


def seek(bench):
    """Time from the request to the first media, at random positions within two hours; and memory per player."""
    with folder(bench) as d:
        path = movie(bench, d / "long.mp4", 900, 7200)
        warm(path)
        for program, name in (("sb_rtsp_load", "long.mp4"), ("sb_rtmp_load", "long.mp4"), ("sb_http_load", "long.mp4.flv")):
            side = Side(bench, 0, "vod", apart=True)
            side.tool(program, ("vod", name), 20, "--ramp", 20, "--anywhere", 7190, "--churn", 0.5, "-d", 0)
            time.sleep(bench.seconds)
            side.begin()
            side.end()
            side.stop()
            got = side.reports[0]
            bench.row(case="vod", server="srs", variant=f"a position in two hours: first packet p99, {program}", players=20, kbps=900,
                      connects=got["connected"], ratio=got["first_packet_ms"]["p99"], goal=150, unit="ms",
                      first_p50=got["first_packet_ms"]["p50"], first_p99=got["first_packet_ms"]["p99"],
                      wrong=sum(got.get(k, 0) for k in WRONG))


def memory(bench):
    """Memory of players that each have their own position: 2,000 minus 500, which have filled the cache."""
    with folder(bench) as d:
        warm(movie(bench, d / "long.mp4", 200, 3600))
        side = Side(bench, 0, "vod 4m", apart=True)
        args = ("--ramp", RAMP / 2, "--anywhere", 3500)
        side.tool("sb_rtsp_load", ("vod", "long.mp4"), 500, *args)
        time.sleep(12)
        before, files_before = side.server.rss(), descriptors(side.server.pid)
        side.tool("sb_rtsp_load", ("vod", "long.mp4"), 1500, *args, "--warmup", 1)
        time.sleep(3 + bench.warmup + 4)
        side.begin()
        time.sleep(bench.seconds)
        side.end()
        more, now = side.server.rss() - before, descriptors(side.server.pid)
        side.stop()
        row(bench, "RSS of a player with its own position", side, 2000, 24, more / 1500, players=2000, kbps=200, unit="kB",
            files=now - files_before - 1500, **told(side))


def full_speed(bench):
    """As many as the processor can serve."""
    for what, args in (("one position", ("--ramp", RAMP)), ("spread by 5 ms", ("--spread", 5))):
        with folder(bench) as d:
            warm(movie(bench, d / "a.mp4", 8000, 60))
            side = alone(bench, lambda: files(bench, 1800, "a.mp4", *args), (1.8 if "--ramp" in args else 9) + bench.warmup + 0.5)
            got = of(side)
            row(bench, f"1,800 x 8 Mbit/s, {what}: as far as it goes", side, 1800, None, None, players=1800, kbps=8000,
                rate_min=100 * got["rate_kbps"]["min"] / (got["rate_kbps"]["p50"] or 1),
                cpu_per_gbit=side.cpu / ((got["read_mbps"] or 1) / 1000), **told(side))


def vod(bench):
    """Files on demand: players of one file at one position and spread, of one file each, seeks, memory, against live RTSP"""
    one_place(bench)
    many_files(bench)
    seek(bench)
    memory(bench)
    if bench.full:
        full_speed(bench)
