# SPDX-License-Identifier: MIT
"""The cases. Each loads a server and adds rows to the bench."""
import json
import re
import subprocess
import sys
import time

from api import api
import rtc
import rtmfp
import rtsp
import srt
import vod
import workers
from procs import Nginx, NginxFiles, Ours, Tool, descriptors, first, wait_seconds

RAMP = 1000   # players that start per second
TURNOVER = 14  # seconds until each new HLS segment replaces an old one
GROUP = 2.2   # seconds until there is a GOP to join at
DISTURBED = 10  # % of the time that server or load may wait for their cores


class Cost:
    """Cost of the server over a time: % of a core, and µs per player or publisher and second."""

    def __init__(self, bench, server, seconds):
        pids = [server.pid] + [p.child.pid for p in bench.running if p.child.poll() is None]
        waits = [wait_seconds(p) for p in pids]
        cpu, at = server.cpu(), time.monotonic()
        time.sleep(seconds)
        seconds = time.monotonic() - at
        self.cpu = 100 * (server.cpu() - cpu) / seconds
        self.waited = 100 * max(wait_seconds(p) - w for p, w in zip(pids, waits)) / seconds

    def columns(self, count, gbits):
        return dict(cpu=self.cpu, us=1e4 * self.cpu / count, waited=self.waited,
                    cpu_per_gbit=self.cpu / gbits if gbits else 0)


def undisturbed(measure):
    """Repeats a measurement, up to three times, if server or load waited for their cores; keeps the best."""
    def again(bench, make, *args, **more):
        best = None
        if make is Nginx and bench.srs == bench.before:
            return None  # it was measured together with the build
        for _ in range(3 if bench.full and not first() else 1):
            row = measure(bench, make, *args, **more)
            if best is None or row["waited"] < best["waited"]:
                best = row
            if row["waited"] < DISTURBED:
                break
        bench.row(**best)
        return best
    return again


def players_row(server, case, players, kbps, cost, got, sent, rss):
    """One row: results of the players, and the cost."""
    expected = sent["rate_kbps"]["p50"] or 1
    return dict(
        case=case, server=server.name, variant=server.variant, players=players, kbps=kbps,
        **cost.columns(players, got["read_mbps"] / 1000), rss_kb=rss / players,
        rate=100 * got["rate_kbps"]["p50"] / expected, rate_min=100 * got["rate_kbps"]["min"] / expected,
        alive=got["alive"], failed=got["failed"], first_p50=got["first_byte_ms"]["p50"],
        first_p99=got["first_byte_ms"]["p99"], gap_p99=got["gap_ms"]["p99"],
        gap_max=got["gap_ms"]["max"], latency_p50=got["latency_ms"]["p50"],
        latency_p99=got["latency_ms"]["p99"], latency_max=got["latency_ms"]["max"],
        drops=got["drops"], tool_cpu=got["cpu_percent"])


@undisturbed
def play_one(bench, make, variant, players, kbps, case="play", tool="sb_rtmp_load", where=None,
             ramp=RAMP):
    """One stream with `players` players, in steady state."""
    server = make(bench, variant)
    url = server.url("a")
    # measures from the same moment as the players, so that both see the same frames
    publisher = bench.publish(url, kbps, 1, "-s", 0, "--warmup", GROUP + players / ramp + bench.warmup)
    time.sleep(GROUP)
    before = server.rss()
    load = Tool(bench, tool, where(server) if where else url, players, "--ramp", ramp,
                "--warmup", bench.warmup)
    time.sleep(players / ramp + bench.warmup + 0.5)
    cost = Cost(bench, server, bench.seconds)
    rss = server.rss() - before
    got, sent = load.stop(), publisher.stop()
    server.stop()
    return players_row(server, case, players, kbps, cost, got, sent, rss)


def play(bench):
    """2,000 players of one stream at three bit rates (300 at 8 Mbit/s), with different merging"""
    for kbps, players in ((900, 2000), (200, 2000), (8000, 300)):
        play_one(bench, Nginx, None, players, kbps)
        play_one(bench, Ours, "default", players, kbps)
        if kbps == 900:
            play_one(bench, Ours, "at once", players, kbps)
            play_one(bench, Ours, "mw 30", players, kbps)


def bare(bench, what, clients, kbps, groups):
    bench.wait_quiet()
    argv = [*first(), "taskset", "-c", bench.server_core, bench.objs / "sb_floor", what, clients,
            int(kbps * 1000 / 8 * 0.35), 350, groups, round(bench.seconds), bench.load_core]
    got = json.loads(subprocess.run([str(a) for a in argv], check=True, capture_output=True,
                                    timeout=bench.seconds + 90).stdout)
    bench.row(case="floor", server="bare " + what, variant="default", kbps=kbps, cpu=got["cpu"],
              us=got["us_each"], **{"players" if what == "send" else "publishers": clients})


def floor(bench):
    """no server: bare sends of the bytes that players get, as often; bare reads of the bytes of publishers"""
    for kbps, players in ((900, 2000), (200, 2000), (8000, 300)):
        bare(bench, "send", players, kbps, 16)
    bare(bench, "receive", 1000, 900, 4)


def http(bench):
    """2,000 players of 900 kbit/s over HTTP-FLV, and the same over RTMP from the same server"""
    play_one(bench, Ours, "http", 2000, 900, "rtmp")
    play_one(bench, Ours, "http", 2000, 900, "http-flv", "sb_http_load",
             lambda server: f"http://127.0.0.1:{server.http}/live/a.flv")


def tls(bench):
    """1,000 players of 900 kbit/s over HTTP-FLV, HTTPS-FLV, RTMP and RTMPS, and again in the other order"""
    kinds = (("http-flv", "sb_http_load", lambda s: f"http://127.0.0.1:{s.http}/live/a.flv"),
             ("https-flv", "sb_http_load", lambda s: f"https://127.0.0.1:{s.https}/live/a.flv"),
             ("rtmp", "sb_rtmp_load", lambda s: s.url("a")),
             ("rtmps", "sb_rtmp_load", lambda s: f"rtmps://127.0.0.1:{s.rtmps}/live/a"))
    for case, tool, where in kinds + kinds[::-1]:
        play_one(bench, Ours, "tls", 1000, 900, case, tool, where, 250)  # both sides do handshakes


def scale(bench):
    """CPU and memory against the number of players, 900 kbit/s: plots"""
    for players in (250, 500, 1000, 1500, 2000, 2500):
        play_one(bench, Nginx, None, players, 900, "scale")
    for players in (250, 500, 1000, 2000, 4000, 8000):
        play_one(bench, Ours, "default", players, 900, "scale")


def latency(bench):
    """latency from the publisher's send to the player's read, 100 players of 900 kbit/s"""
    if bench.full:
        play_one(bench, Nginx, None, 100, 900, "latency")
    for variant in ("at once", "mw 30", "default") if bench.full else ("at once",):
        play_one(bench, Ours, variant, 100, 900, "latency")


def auto(bench):
    """mw_latency auto: the latency of 0 for few players, the cost of 350 ms for many"""
    for variant in ("at once", "auto"):
        play_one(bench, Ours, variant, 100, 900, "auto")
    for variant in ("default", "auto"):
        play_one(bench, Ours, variant, 10000, 900, "auto")


def memory(bench):
    """RSS of 5,000 players of 200 kbit/s, of idle connections, of publishers without a cache

    The first connections load pages of libraries, which do not belong to a connection."""
    if bench.full:
        publish_one(bench, Ours, "no gop", 500, 200, "memory")
    for make, variant in ((Nginx, None), (Ours, "default"))[not bench.full:]:
        play_one(bench, make, variant, 5000, 200, "memory", "sb_rtmp_load_fast")
        server = make(bench, variant)
        few = Tool(bench, "sb_rtmp_load", server.url("a"), 10, "--ramp", RAMP, "--idle")
        time.sleep(1)
        few.stop()
        before = server.rss()
        load = Tool(bench, "sb_rtmp_load", server.url("a"), 5000, "--ramp", RAMP, "--idle")
        time.sleep(5000 / RAMP + 2)
        rss = server.rss() - before
        got = load.stop()
        server.stop()
        bench.row(case="idle", server=server.name, variant=server.variant, players=5000,
                  rss_kb=rss / 5000, alive=got["alive"], failed=got["failed"])


def big(bench):
    """15,000 players of 500 kbit/s"""
    play_one(bench, Ours, "default", 15000, 500, "big")


def join(bench):
    """5,000 players join within 5 s a stream that 500 already play"""
    for make, variant in ((Nginx, None), (Ours, "default")):
        server = make(bench, variant)
        url = server.url("a")
        publisher = bench.publish(url, 200, 1, "-s", 0)
        time.sleep(3)
        early = Tool(bench, "sb_rtmp_load", url, 500, "--ramp", RAMP, "--warmup", 1)
        time.sleep(2.5)
        late = Tool(bench, "sb_rtmp_load", url, 5000, "--ramp", 1000)
        cost = Cost(bench, server, 5)
        time.sleep(3)
        got, seen, sent = late.stop(), early.stop(), publisher.stop()
        server.stop()
        row = players_row(server, "join", 5000, 200, cost, got, sent, 0)
        row.update(gap_p99=seen["gap_ms"]["p99"], gap_max=seen["gap_ms"]["max"],
                   failed=got["failed"] + seen["failed"], lag_max=sent["lag_ms"]["max"], rss_kb=0)
        bench.row(**row)


@undisturbed
def publish_one(bench, make, variant, publishers, kbps, case="publish"):
    server = make(bench, variant)
    time.sleep(0.5)
    before = server.rss()
    load = bench.publish(server.url("s{i}"), kbps, publishers, "-s", 2, "--warmup", bench.warmup)
    if variant == "hls":
        time.sleep(TURNOVER)
    time.sleep(2 + bench.warmup + GROUP)  # a whole GOP of each stream is in memory then
    cost = Cost(bench, server, bench.seconds)
    rss = server.rss() - before
    got = load.stop()
    server.stop()
    return dict(case=case, server=server.name, variant=server.variant, publishers=publishers,
                kbps=kbps, **cost.columns(publishers, got["write_mbps"] / 1000),
                rss_kb=rss / publishers, alive=got["alive"], failed=got["failed"],
                rate=100 * got["rate_kbps"]["p50"] / got["media_kbps"], tool_cpu=got["cpu_percent"],
                held=server.logged("watchdog") if isinstance(server, Ours) else None)


def publish(bench):
    """1,000 publishers of 900 kbit/s without players"""
    publish_one(bench, Nginx, None, 1000, 900)
    publish_one(bench, Ours, "default", 1000, 900)
    publish_one(bench, Ours, "mr", 1000, 900)


def many_streams(bench):
    """1,000 streams of 10 players each, and 1 stream of 10,000, 200 kbit/s"""
    base = publish_one(bench, Ours, "default", 1000, 200, "streams")
    for streams in (1000, 1):
        server = Ours(bench)
        publisher = bench.publish(server.url("s{i}"), 200, streams, "-s", 2)
        time.sleep(5)
        before = server.rss()
        load = Tool(bench, "sb_rtmp_load", server.url("s{i}"), 10000, "--stream-count", streams,
                    "--ramp", RAMP, "--warmup", bench.warmup)
        time.sleep(10000 / RAMP + bench.warmup + 0.5)
        cost = Cost(bench, server, bench.seconds)
        rss = server.rss() - before
        got, sent = load.stop(), publisher.stop()
        server.stop()
        row = players_row(server, "streams", 10000, 200, cost, got, sent, rss)
        row["streams"] = streams
        row["cpu_beyond"] = row["cpu"] - base["cpu"] * streams / 1000
        bench.row(**row)


def slow(bench):
    """500 of 2,000 players read at a half or a tenth of 900 kbit/s: memory, rate of the others"""
    server = Ours(bench)
    url = server.url("a")
    publisher = bench.publish(url, 900, 1, "-s", 0)
    time.sleep(3)
    before = server.rss()
    good = Tool(bench, "sb_rtmp_load", url, 1500, "--ramp", RAMP, "--warmup", 3)
    lazy = [Tool(bench, "sb_rtmp_load", url, 250, "--ramp", RAMP, "--read-kbps", kbps)
            for kbps in (450, 90)]
    cost = Cost(bench, server, 90 if bench.full else 15)
    rss = server.rss() - before
    slowed, got, sent = [t.stop() for t in lazy], good.stop(), publisher.stop()
    server.stop()
    row = players_row(server, "slow", 2000, 900, cost, got, sent, 0)
    row.update(rss_kb=0, rss_total_kb=rss, slow_drops=sum(t["drops"] for t in slowed),
               alive=got["alive"] + sum(t["alive"] for t in slowed))
    bench.row(**row)


def churn(bench):
    """100,000 connects of players and publishers: memory and descriptors before and after"""
    server = Ours(bench)
    connects = 100000 if bench.full else 5000

    def some(seconds):
        players = Tool(bench, "sb_rtmp_load", server.url("s{i}"), 400, "--stream-count", 20, "-s", 0,
                       "-d", 0, "-e", 0, "--churn", 0.3)
        publishers = bench.publish(server.url("s{i}"), 200, 20, "-s", 0, "-d", 0, "-e", 0,
                                   "--churn", 0.5)
        time.sleep(seconds)
        return players.stop()["connected"] + publishers.stop()["connected"]

    some(5)  # memory that is allocated once
    time.sleep(3)
    before, files = server.rss(), descriptors(server.pid)
    done, until = 0, time.monotonic() + 300
    cpu, at = server.cpu(), time.monotonic()
    while done < connects and time.monotonic() < until:
        done += some(20 if bench.full else 3)
    cpu, seconds = server.cpu() - cpu, time.monotonic() - at
    time.sleep(5)
    bench.row(case="churn", server=server.name, variant=server.variant, connects=done,
              cpu=100 * cpu / seconds, us=1e6 * cpu / max(done, 1),
              rss_total_kb=server.rss() - before, files=descriptors(server.pid) - files)
    server.stop()


def hls(bench):
    """HLS of 1,000 streams of 900 kbit/s without players, and the same streams without HLS"""
    for variant in ("default", "hls"):
        publish_one(bench, Ours, variant, 1000, 900, "hls")


@undisturbed
def fetch_one(bench, server, url, players):
    """Players of a stream that is already published, and the additional cost of the server."""
    idle = Cost(bench, server, bench.seconds / 2).cpu
    load = Tool(bench, "sb_hls_load", url, players, "--ramp", RAMP, "--warmup", bench.warmup)
    time.sleep(players / RAMP + bench.warmup + 0.5)
    cost = Cost(bench, server, bench.seconds)
    got = load.stop()
    beyond, gbits = cost.cpu - idle, got["read_mbps"] / 1000
    return dict(case="hls-fetch", server=server.name, variant=server.variant, players=players, kbps=900,
                cpu=cost.cpu, waited=cost.waited, cpu_beyond=beyond, us=1e4 * beyond / players,
                cpu_per_gbit=beyond / gbits if gbits else 0, mbps=got["read_mbps"], alive=got["alive"],
                failed=got["failed"], first_p50=got["first_byte_ms"]["p50"],
                first_p99=got["first_byte_ms"]["p99"], stalls=got["stalls"], drops=got["skipped"],
                edge_p50=got["edge_ms"]["p50"], edge_p99=got["edge_ms"]["p99"], tool_cpu=got["cpu_percent"])


def hls_fetch(bench):
    """2,000 players of HLS, 900 kbit/s: from Sluice, and the same files from nginx; 500 of LL-HLS"""
    for variant, players in (("hls", 2000), ("hls_ctx", 2000), ("hls_ll", 500)):
        server = Ours(bench, variant)
        publisher = bench.publish(server.url("a"), 900, 1, "-s", 0)
        time.sleep(9)
        if variant == "hls":
            files = NginxFiles(bench, server.html)
            fetch_one(bench, files, f"http://127.0.0.1:{files.port}/live/a.m3u8", players)
            files.stop()
        fetch_one(bench, server, f"http://127.0.0.1:{server.http}/live/a.m3u8", players)
        publisher.stop()
        server.stop()


def glass(bench):
    """age of the frames that a real Chromium shows, as the end-to-end tests see it"""
    tests = [f"test/e2e/{name}.py" for name in ("test_hls_browser", "test_http_browser", "test_rtc_delay")]
    said = subprocess.run([sys.executable, "-m", "pytest", "-q", "-s", *tests], capture_output=True, text=True,
                          timeout=600).stdout
    for line in re.findall(r"(\w[\w, ]*): glass to glass \S+ to \S+ s, median (\S+)", said):
        bench.row(case="glass", server=Ours.name, variant=line[0], old=1000 * float(line[1]))
    if "glass to glass" not in said:
        raise RuntimeError(f"no result: {said[-300:]}")


ALL = {"play": play, "floor": floor, "http": http, "tls": tls, "hls": hls, "hls-fetch": hls_fetch,
       "glass": glass, "latency": latency, "auto": auto, "publish": publish, "memory": memory, "join": join, "streams": many_streams, "slow": slow,
       "big": big, "churn": churn, "scale": scale, "api": api,
       "workers": workers.workers, "growing": workers.growing, "rtsp": rtsp.rtsp, "srt": srt.srt, "rtc": rtc.rtc,
       "rtmfp": rtmfp.rtmfp, "rtmfp-growing": rtmfp.growing,
       "vod": vod.vod}
QUICK = ["play", "latency", "publish", "memory"]
