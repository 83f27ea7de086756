# SPDX-License-Identifier: MIT
"""RTSP compared with RTMP and with the bare kernel, and UDP with and without segmentation in the kernel. If both sides
fit on the machine they run at the same time, so that other work affects both, as in workers.py; otherwise one after the
other, and again in the other order."""
import json
import subprocess
import time

from procs import cores, first
from workers import GROUP, RAMP, Side, in_turn, measure

WRONG = ("marker_faults", "time_faults", "info_faults", "restarts", "odd", "backwards", "failed")


def us(side, clients):
    return 1e4 * side.cpu / clients


def row(bench, what, side, clients, goal, ratio, us_one=None, case="rtsp", **more):
    """One row: the cost of a client, compared with `goal`."""
    got = next((r for r in side.reports if "lost" in r), side.reports[-1])
    bench.row(case=case, server="srs", variant=what, us=us(side, clients), us_one=us_one, ratio=ratio, goal=goal,
              cpu=side.cpu, alive=got["alive"], lost=got.get("lost"), overflow=got.get("overflow"),
              wrong=sum(got.get(k, 0) for k in WRONG), gap_max=got["gap_ms"]["max"], drops=got["drops"],
              latency_p50=got["latency_ms"]["p50"], latency_p99=got["latency_ms"]["p99"],
              tool_cpu=got["cpu_percent"], **more)


def players_of(bench, program, players, kbps, variant, *args, apart=False):
    """A published stream and its players."""
    side = Side(bench, 0, variant, apart=apart)
    # the clock in each frame is a separate small packet, which encoders do not send
    side.publish("a", kbps, 1, *(["--no-marker"] if "--udp" in args else []))
    time.sleep(GROUP)
    side.base = side.server.rss()
    side.play("a", players, *args, program=program)
    return side


def beside(bench, what, goal, players, one, other, kbps=900):
    """Two sides at the same time; each is (program, variant)."""
    a, b = in_turn(bench, lambda: players_of(bench, one[0], players, kbps, one[1]),
                   lambda: players_of(bench, other[0], players, kbps, other[1]))
    measure(bench, (a, b), players / RAMP + bench.warmup + 0.5)
    row(bench, what, a, players, goal, us(a, players) / us(b, players), us(b, players), players=players, kbps=kbps,
        rss_kb=a.rss / players)
    return a, b


def alone(bench, make, wait):
    side = make()
    measure(bench, (side,), wait)
    return side


def bare(bench, players, kbps):
    """µs per player and second of the same sends without a server."""
    argv = [*first(), "taskset", "-c", cores()[0], bench.objs / "sb_floor", "send", players, int(kbps * 1000 / 8 * 0.35),
            350, 16, round(bench.seconds), cores()[1]]
    done = subprocess.run([str(a) for a in argv], check=True, capture_output=True, timeout=bench.seconds + 90)
    return json.loads(done.stdout)["us_each"]


def against_floor(bench, players, kbps, goal):
    wait = players / RAMP + bench.warmup + 0.5
    before = bare(bench, players, kbps)
    sides = [alone(bench, lambda: players_of(bench, "sb_rtsp_load", players, kbps, "rtsp", apart=True), wait)
             for _ in range(2)]
    floor = (before + bare(bench, players, kbps)) / 2
    mean = sum(us(s, players) for s in sides) / 2
    got = sides[0].reports[1]
    row(bench, f"{players} x {kbps / 1000:g} Mbit/s over TCP against bare sends", sides[0], players, goal, mean / floor, floor,
        players=players, kbps=kbps, mbps=got["read_mbps"], cpu_per_gbit=sides[0].cpu / (got["read_mbps"] / 1000))


def cut(bench, players, kbps, goal):
    """UDP: segmentation by the kernel, or by us. In turn, and again in the other order."""
    wait = players / RAMP + bench.warmup + 0.5
    sides = {v: [] for v in ("rtsp", "rtsp no gso")}
    for variant in ("rtsp", "rtsp no gso", "rtsp no gso", "rtsp"):
        sides[variant].append(alone(bench, lambda v=variant: players_of(bench, "sb_rtsp_load", players, kbps, v, "--udp",
                                                                        apart=True), wait))
    on, off = (sum(us(s, players) for s in v) / len(v) for v in sides.values())
    row(bench, f"{players} x {kbps / 1000:g} Mbit/s over UDP: UDP_SEGMENT against without", sides["rtsp"][0], players, goal,
        on / off, off, players=players, kbps=kbps)


def full_speed(bench, players, kbps):
    """As many as the processor can serve: slow players skip to key frames, the others continue."""
    side = alone(bench, lambda: players_of(bench, "sb_rtsp_load", players, kbps, "rtsp", apart=True),
                 players / RAMP + bench.warmup + 0.5)
    got, sent = side.reports[1], side.reports[0]
    row(bench, f"{players} x {kbps / 1000:g} Mbit/s: as far as it goes", side, players, None, None, players=players, kbps=kbps,
        mbps=got["read_mbps"], rate_min=100 * got["rate_kbps"]["min"] / sent["rate_kbps"]["p50"],
        cpu_per_gbit=side.cpu / (got["read_mbps"] / 1000))


def memory(bench, players):
    """RSS of so many players that the cost of the first one does not matter."""
    side = alone(bench, lambda: players_of(bench, "sb_rtsp_load", players, 200, "rtsp", apart=True),
                 players / RAMP + bench.warmup)
    row(bench, "RSS of a player over TCP", side, players, 8, side.rss / players, players=players, kbps=200, unit="kB")


def publishers_of(bench, program, publishers):
    side = Side(bench, 0, "rtsp")
    side.publish("s{i}", 900, publishers, "--warmup", bench.warmup, program=program)
    return side


def publishers(bench, clients):
    a, b = in_turn(bench, lambda: publishers_of(bench, "sb_rtsp_publish", clients),
                   lambda: publishers_of(bench, "sb_rtmp_publish", clients))
    measure(bench, (a, b), bench.warmup + 2 * GROUP)
    row(bench, f"{clients} publishers over TCP against RTMP", a, clients, 1.3, us(a, clients) / us(b, clients), us(b, clients),
        publishers=clients, kbps=900, rss_kb=a.rss / clients)


def first_picture(bench):
    """Over TCP, GOP of 2 s: until the first key frame is complete."""
    side = Side(bench, 0, "rtsp")
    side.publish("a", 900)
    time.sleep(GROUP)
    side.tool("sb_rtsp_load", "a", 200, "--ramp", 40)
    measure(bench, (side,), 0)
    got = side.reports[1]["first_key_ms"]
    row(bench, "first video frame over TCP, p99", side, 200, 100, got["p99"], players=200, unit="ms", first_p50=got["p50"],
        first_p99=got["p99"])


def rtsp(bench):
    """RTSP: players over TCP against RTMP and bare sends, over UDP with and without GSO, publishers, first frame"""
    rtsp_tcp, rtmp = "sb_rtsp_load", "sb_rtmp_load"
    beside(bench, "1,000 over TCP, 350 ms, against RTMP", 1.1, 1000, (rtsp_tcp, "rtsp"), (rtmp, "rtsp"))
    memory(bench, 4000)
    beside(bench, "1,000 over TCP, at once, against RTMP", 1.1, 1000, (rtsp_tcp, "rtsp at once"), (rtmp, "rtsp at once"))
    beside(bench, "1,000 over TCP, auto against at once", 0.5, 1000, (rtsp_tcp, "rtsp auto"), (rtsp_tcp, "rtsp at once"))
    against_floor(bench, 500, 8000, 1.15)
    if bench.full:
        full_speed(bench, 1800, 8000)
    cut(bench, 500, 900, 0.6)
    cut(bench, 200, 8000, 0.4)
    publishers(bench, 1000 if bench.full else 300)
    first_picture(bench)
