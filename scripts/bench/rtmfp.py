# SPDX-License-Identifier: MIT
"""RTMFP: CPU of new sessions and of pings, overload, memory, a flood of first packets, players compared with bare encryption
and sends of the same bytes, publishers compared with RTMP, bad networks, and keys compared with OpenSSL. The load tool has
the other core."""
import json
import subprocess
import time

from procs import cores, first
from workers import GROUP, Side, measure, threads

EVERY = 10        # ms between turns of players
BAD = ("--loss", 5, "--reorder", 5, "--twice", 2, "--one-way", 20, "--late", 1000)
JOIN = 6          # seconds until all have joined over a bad network: a lost hello is repeated after 1.5 s, and 3 s
LINGER = 22       # seconds that the server answers for a closed session


def row(bench, what, got, goal, ratio, unit, **more):
    """`got`: the report of the tool, or None."""
    told = got or {}
    bench.row(case="rtmfp", server="srs", variant=what, ratio=ratio, goal=goal, unit=unit, alive=told.get("alive"),
              failed=told.get("failed"), overflow=told.get("overflow"), tool_cpu=told.get("cpu_percent"),
              **more)


def side_of(bench, variant="rtmfp"):
    return Side(bench, 0, variant, apart=True)


def sessions(side, clients, ramp, *args, app="live"):
    """Clients that connect and ping."""
    return side.tool("sb_rtmfp_load", app, clients, "--ramp", ramp, "-e", 100, *args)


def players(side, stream, clients, *args):
    return side.play(stream, clients, "--play", *args, program="sb_rtmfp_load")


def spent(side):
    """CPU seconds since begin(): of the coroutine thread, which is the first, and of all threads."""
    more = {k: v - side.spent.get(k, 0) for k, v in threads(side.server.pid).items()}
    return more.get(str(side.server.pid), 0), sum(more.values())


# ---- sessions: open, ping, end

def opened(bench, group, clients, goals):
    """Opens `clients` sessions at a fixed rate, `connect` and the first pings included."""
    side = side_of(bench)
    side.begin()
    load = sessions(side, clients, 1000, "--group", group)
    time.sleep(clients / 1000 + 1)
    mine, both = (1e6 * s / clients for s in spent(side))
    rss = side.server.rss() - side.base
    got = load.stop()
    what = f"{clients:,} sessions opened at 1,000/s, group {group}: µs of CPU each"
    row(bench, what, got, goals[0], both, "µs", first_p99=got["open_ms"]["p99"], us=both)
    row(bench, f"  of the coroutine thread, group {group}", got, goals[1], mine, "µs", us=mine)
    if group == 2:
        row(bench, "  resident memory of an idle session, kB", got, 2.5, rss / clients, "kB", rss_kb=rss / clients)
    side.server.stop()


def steady(bench, clients, seconds, goals=True):
    side = side_of(bench)
    load = sessions(side, clients, 2500, "--warmup", 6)
    time.sleep(clients / 2500 + 7)
    side.begin()
    time.sleep(seconds)
    side.end()
    got = load.stop()
    side.server.stop()
    pings = clients * seconds / 5
    each = side.cpu / 100 * seconds * 1e6 / pings
    what = f"{clients:,} sessions that ping every 5 s, for {seconds} s"
    more = dict(cpu=side.cpu, players=clients, rss_kb=side.rss / clients, alive_share=got["opened"] / clients)
    wrong = got["timeouts"] + got["disconnected_percent"] + clients - got["opened"]
    row(bench, f"{what}: µs of CPU a ping", got, 15, each, "µs", us=each, **more)
    row(bench, f"  pings of {clients:,} lost, %", got, 0, got["loss_percent"], "%")
    row(bench, f"  round trip of {clients:,}, p99, ms", got, 10, got["rtt_ms"]["p99"], "ms", latency_p50=got["rtt_ms"]["p50"],
        latency_p99=got["rtt_ms"]["p99"])
    row(bench, f"  not opened, disconnected or timed out, of {clients:,}", got, 0, wrong, "")
    return side, got


def overload(bench, clients):
    """More new sessions at once than keys can be made for, while other sessions are open."""
    side = side_of(bench)
    before = sessions(side, 1000, 500, "--ping", 1, "--warmup", 0.5)
    time.sleep(3)
    load = sessions(side, clients, 3000)
    time.sleep(clients / 3000 + 10)
    got, held = load.stop(), before.stop()
    side.server.stop()
    slowest = got["open_ms"]["max"] / 1000 if got["opened"] == clients else 99
    row(bench, f"{clients:,} sessions requested at 3,000/s: s until the last one is open", got, 10, slowest, "s",
        first_p50=got["open_ms"]["p50"], first_p99=got["open_ms"]["p99"])
    row(bench, "  startup packets of each", got, 2.5, got["startup_packets"], "")
    row(bench, "  1,000 open ones that ping every second: lost, %", held, 0, held["loss_percent"], "%",
        latency_p99=held["rtt_ms"]["p99"])


def come_and_go(bench, opens):
    """Sessions one after the other, and the memory that remains."""
    side = side_of(bench)

    def some(count):
        done = 0
        while done < count:
            load = side.tool("sb_rtmfp_load", "live", 2000, "--ramp", 2000, "-d", 0, "-e", 0, "--churn", 1)
            time.sleep(min(20, 2 + (count - done) / 1500))
            done += load.stop()["connected"]
        return done

    some(4000)
    time.sleep(LINGER)
    before = side.server.rss()
    done = some(opens)
    time.sleep(LINGER)
    left = (side.server.rss() - before) / 1024
    side.server.stop()
    row(bench, f"{done:,} sessions that came and went: MB left", None, 2, left, "MB", connects=done)


def flood(bench, seconds):
    side = side_of(bench, "rtmfp at once")
    side.publish("a", 900)
    time.sleep(GROUP)
    watch = side.play("a", 50)
    time.sleep(bench.warmup + 1)
    before = side.server.rss()
    side.tool("sb_rtmfp_load", "live", 1, "--flood", 50000)
    time.sleep(2)
    side.begin()
    new = sessions(side, 50, 10)
    time.sleep(seconds - 2)
    side.end()
    rss = (side.server.rss() - before) / 1024
    got, seen, said = new.stop(), watch.stop(), side.tools[2].stop()
    side.server.stop()
    rate = said["messages"] / said["seconds"]
    row(bench, f"{rate:,.0f} first hellos a second from forged addresses for {seconds} s: MB more", None, 1, rss, "MB",
        cpu=side.cpu)
    row(bench, "  longest gap of 50 RTMP players, ms", seen, 200, seen["gap_ms"]["max"], "ms")
    row(bench, "  50 new clients meanwhile: s until the last one is open", got, 5,
        got["open_ms"]["max"] / 1000 if got["opened"] == 50 else 99, "s", first_p50=got["open_ms"]["p50"])


# ---- media

def bare(bench, clients):
    argv = [*first(), "taskset", "-c", cores()[0], bench.objs / "sb_rtmfp_load", "--floor", "-c", clients, "-i",
            bench.stream(900), "--cbc-every", EVERY, "--duration", round(bench.seconds), "--reader-cpu", cores()[1]]
    return json.loads(subprocess.run([str(a) for a in argv], check=True, capture_output=True,
                                     timeout=bench.seconds + 60).stdout)["us_per_player_second"]


def against_floor(bench, clients):
    """Server, floor, floor, server: machines change from minute to minute."""
    costs, floors = [], []
    for turn in range(2):
        side = side_of(bench)
        side.publish("a", 900, 1, "--no-marker")
        time.sleep(GROUP)
        side.base = side.server.rss()
        players(side, "a", clients)
        measure(bench, (side,), clients / 1000 + bench.warmup + 0.5)
        costs.append(1e4 * side.cpu / clients)
        got = side.reports[-1]
        floors += [bare(bench, clients) for _ in range(1 + turn)]
    each, floor = sum(costs) / 2, sum(floors) / len(floors)
    row(bench, f"{clients} players, 900 kbit/s, against bare sends with AES-128-CBC", got, 2.2, each / floor, "times",
        us=each, us_one=floor, cpu=side.cpu, players=clients, kbps=900, rss_kb=side.rss / clients,
        gap_max=got["gap_ms"]["max"], wrong=got["audio_missing"])


def publishers(bench, clients):
    costs = {}
    for program in ("sb_rtmfp_load", "sb_rtmp_publish"):
        side = side_of(bench)
        side.publish("s{i}", 900, clients, "--warmup", bench.warmup, program=program)
        measure(bench, (side,), bench.warmup + GROUP)
        costs[program] = 1e4 * side.cpu / clients
        got = side.reports[-1]
        if program == "sb_rtmfp_load":
            mine, rss = got, side.rss / clients
    row(bench, f"{clients} publishers without players, against RTMP", mine, None, costs["sb_rtmfp_load"] /
        costs["sb_rtmp_publish"], "times", us=costs["sb_rtmfp_load"], us_one=costs["sb_rtmp_publish"], publishers=clients,
        kbps=900, rss_kb=rss)


def complete(bench, what, got):
    row(bench, f"{what}: video in time, %", got, -97, got["in_time_percent"], "%", latency_p50=got["latency_ms"]["p50"],
        latency_p99=got["latency_ms"]["p99"], gap_max=got["gap_ms"]["max"])
    who = what.split()[1].rstrip(",")
    row(bench, f"  missing audio messages of {who}", got, 0, got["audio_missing"], "")
    row(bench, f"  out of order of {who}", got, 0, got["backwards"], "")


def lossy(bench, clients, seconds):
    side = side_of(bench, "rtmfp at once")
    side.publish("a", 900)
    time.sleep(GROUP)
    load = players(side, "a", clients, *BAD, "--warmup", JOIN)  # the GOP that a player begins with is old
    time.sleep(JOIN + seconds)
    complete(bench, f"{clients} players, 5 % lost, 5 % late, 2 % twice, 40 ms there and back", load.stop())
    side.server.stop()
    side = side_of(bench, "rtmfp at once")
    sent = side.publish("s{i}", 900, clients, *BAD, program="sb_rtmfp_load")
    time.sleep(JOIN)
    load = side.play("s{i}", clients, "--late", 1000, "--warmup", 3)
    time.sleep(3 + seconds)
    got, given = load.stop(), sent.stop()
    side.server.stop()
    complete(bench, f"{clients} publishers, the same, seen by RTMP", got)
    row(bench, "  messages that the publishers abandoned", given, None, given["unsent"], "")


def lossy_for_a_time(bench, clients):
    """20 % lost from the third to the thirteenth second; counts from three seconds later on."""
    side = side_of(bench, "rtmfp at once")
    side.publish("a", 900)
    time.sleep(GROUP)
    side.play("a", clients, "--play", "--loss", 20, "--loss-at", 3, "--loss-for", 10, "--one-way", 20, "--late", 500,
              "--warmup", 16, program="sb_rtmfp_load")
    time.sleep(16 + clients / 1000 + 5)
    got = side.tools[-1].stop()
    side.server.stop()
    what = f"{clients} players, 20 % lost for 10 s, from 3 s later on"
    row(bench, f"{what}: frames not older than 500 ms, %", got, -99.9, got["in_time_percent"], "%",
        latency_p99=got["latency_ms"]["p99"], gap_max=got["gap_ms"]["max"])
    row(bench, "  sessions lost", got, 0, clients - got["alive"] + got["failed"], "")


# ---- keys alone

def keys(bench):
    """Cost of a key pair and a secret, and of OpenSSL with the exponents that it chooses."""
    costs = json.loads(subprocess.run([*first(), str(bench.objs / "sb_rtmfp_load"), "--dh"], check=True,
                                      capture_output=True, timeout=60).stdout)
    for group, us in costs.items():
        mine, theirs = us["pair_us"] + us["secret_us"], us["openssl_pair_us"] + us["openssl_secret_us"]
        row(bench, f"keys of group {group}: µs of a pair and a secret, against unmodified OpenSSL", None, None, mine / theirs,
            "times", us=mine, us_one=theirs)


# ---- all of it

def rtmfp(bench):
    """RTMFP: sessions that open and ping, overload, memory, a flood, players and publishers, bad networks, keys"""
    full = bench.full
    keys(bench)
    opened(bench, 2, 10000 if full else 5000, (250, 110))
    opened(bench, 14, 10000 if full else 3000, (650, 110))
    for clients in (20000, 40000) if full else (20000,):
        steady(bench, clients, 60 if full else 10)
    overload(bench, 8000)
    if full:
        come_and_go(bench, 100000)
    flood(bench, 20 if full else 8)
    against_floor(bench, 500)
    publishers(bench, 200)
    lossy(bench, 20, 30 if full else 6)
    lossy_for_a_time(bench, 20)


def growing(bench):
    """RTMFP: CPU, memory and loss against the number of sessions that ping every 5 s: plots"""
    for clients in (2500, 5000, 10000, 20000, 30000, 40000) if bench.full else (2500, 10000):
        side = side_of(bench)
        load = sessions(side, clients, 2500, "--warmup", 6)
        time.sleep(clients / 2500 + 7)
        side.begin()
        time.sleep(10)
        side.end()
        got = load.stop()
        side.server.stop()
        bench.row(case="rtmfp-growing", server="srs", variant="rtmfp", players=clients, cpu=side.cpu,
                  rss_kb=side.rss / clients, lost=got["loss_percent"], alive=got["alive"], failed=got["failed"],
                  latency_p99=got["rtt_ms"]["p99"], tool_cpu=got["cpu_percent"])
