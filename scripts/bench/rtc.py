# SPDX-License-Identifier: MIT
"""WebRTC: players beside the bare encryption and sends of the same packets, memory, publishers, joins one after the other
and many at once, bad networks. The load tool has the other core."""
import json
import subprocess
import time

from procs import Tool, cores, first
from workers import GROUP, Side, measure

RAMP = 100   # joins a second: each is a handshake on both sides


def us(side, clients):
    return 1e4 * side.cpu / clients


def row(bench, what, side, got, clients, goal, ratio, us_one=None, **more):
    bench.row(case="rtc", server="srs", variant=what, us=us(side, clients), us_one=us_one, ratio=ratio, goal=goal,
              cpu=side.cpu, alive=got["alive"], failed=got["failed"], lost=got["lost"],
              wrong=sum(got[k] for k in ("forged", "odd", "restarts", "failed")),
              gap_max=got["gap_ms"]["max"], latency_p50=got["latency_ms"]["p50"], latency_p99=got["latency_ms"]["p99"],
              tool_cpu=got["cpu_percent"], **more)


def publish(side, stream, kbps, clients=1, *args):
    """By WHIP; {i} in the stream's name is the number of the publisher."""
    side.bench.load_core = side.core
    url = f"http://127.0.0.1:{side.server.http}/rtc/v1/whip/?app=live&stream={stream}"
    side.tools.append(Tool(side.bench, "sb_rtc_load", url, clients, "-i", side.bench.stream(kbps), *args))


def play(side, stream, players, *args, ramp=RAMP):
    side.bench.load_core = side.core
    url = f"http://127.0.0.1:{side.server.http}/rtc/v1/whep/?app=live&stream={stream}"
    side.tools.append(Tool(side.bench, "sb_rtc_load", url, players, "--ramp", ramp, "--warmup", side.bench.warmup, *args))


def source(bench, kbps=900, rtc=False):
    """A server with a stream, that comes by RTMP or by WebRTC."""
    side = Side(bench, 0, "rtc", apart=True)
    if rtc:
        publish(side, "a", kbps)
    else:
        side.publish("a", kbps)
    time.sleep(GROUP)
    side.base = side.server.rss()
    return side


def players_of(bench, players, kbps=900, rtc=False, *args):
    side = source(bench, kbps, rtc)
    play(side, "a", players, *args)
    measure(bench, (side,), players / RAMP + bench.warmup + 0.5)
    return side, side.reports[-1]


def bare(bench, players, kbps):
    """µs a player-second of the same bytes, encrypted for as many and sent, without a server."""
    argv = [*first(), "taskset", "-c", cores()[0], bench.objs / "sb_rtc_load", "--floor", "-c", players, "--kbps", round(kbps),
            "--no-sound", "--duration", round(bench.seconds), "--reader-cpu", cores()[1]]
    got = json.loads(subprocess.run([str(a) for a in argv], check=True, capture_output=True,
                                    timeout=bench.seconds + 60).stdout)
    return got["us_per_player_second"]


def against_floor(bench, what, players, rtc=False):
    """Server, floor, floor, server: machines change from minute to minute."""
    sides, floors = [], []
    for turn in range(2):
        side, got = players_of(bench, players, 900, rtc)
        sides.append(side)
        floors += [bare(bench, players, got["rate_kbps"]["p50"]) for _ in range(1 + turn)]
    mean, floor = sum(us(s, players) for s in sides) / 2, sum(floors) / len(floors)
    row(bench, what, sides[0], sides[0].reports[-1], players, 1.3, mean / floor, floor, players=players, kbps=900)


def memory(bench, players):
    side, got = players_of(bench, players, 200)
    row(bench, f"RSS of a player, of {players:,}", side, got, players, 40, side.rss / players, players=players, kbps=200, unit="kB")


def publishers(bench, clients):
    side = Side(bench, 0, "rtc", apart=True)
    publish(side, "s{i}", 900, clients, "--ramp", RAMP, "--warmup", bench.warmup)
    measure(bench, (side,), clients / RAMP + bench.warmup + GROUP)
    row(bench, f"{clients} publishers, nobody watches: µs each", side, side.reports[-1], clients, 700, us(side, clients),
        publishers=clients, kbps=900, unit="µs")


def joins(bench, players):
    """One after the other: what each waits for."""
    side = source(bench)
    play(side, "a", players, ramp=20)
    measure(bench, (side,), players / 20 + bench.warmup)
    got = side.reports[-1]
    for name, key, goal in (("answer", "answer_ms", 5), ("connected", "connect_ms", 60), ("first key frame", "first_key_ms", 160)):
        row(bench, f"join: {name}, median of {players}, ms", side, got, players, goal, got[key]["p50"], players=players, kbps=900,
            unit="ms")


def storm(bench, rate, seconds):
    """So many a second begin while 300 play."""
    side = source(bench, 200)
    play(side, "a", 300)
    time.sleep(300 / RAMP + 1)
    play(side, "a", rate * seconds, ramp=rate)
    measure(bench, (side,), seconds)
    others, got = side.reports[1], side.reports[2]
    row(bench, f"{rate} joins a second for {seconds} s: who did not join", side, got, rate * seconds, 0,
        rate * seconds - got["alive"], players=rate * seconds, kbps=200)
    row(bench, "  those who play meanwhile: longest gap", side, others, 300, 200, others["gap_ms"]["max"], players=300, kbps=200,
        unit="ms")


def lossy(bench):
    side, got = players_of(bench, 20, 900, False, "--loss", 5, "--reorder", 1, "--one-way", 10)
    row(bench, "5 % lost, both ways: % lost after NACK", side, got, 20, 0.1, 100 * got["lost"] / max(1, got["packets"]), players=20,
        kbps=900, unit="%")
    row(bench, "  longest gap", side, got, 20, 300, got["gap_ms"]["max"], players=20, kbps=900, unit="ms")


def rtc(bench):
    """WebRTC: players beside bare sends, memory, publishers, joins, a storm of them, 5 % of loss"""
    against_floor(bench, "300 players of an RTMP stream, against bare sends", 300)
    against_floor(bench, "300 players of a WebRTC stream, against bare sends", 300, True)
    memory(bench, 500)
    publishers(bench, 50)
    joins(bench, 100)
    storm(bench, 200, 10)
    lossy(bench)
