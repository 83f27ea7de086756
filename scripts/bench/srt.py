# SPDX-License-Identifier: MIT
"""SRT: players compared with bare sends of as many datagrams in as many turns, memory, publishers, bad networks, latency, a
storm of connects; and libsrt's srt-live-transmit as a server for one client. The load tool has the other core."""
import json
import shutil
import socket
import subprocess
import time

from procs import Process, Tool, cores, cpu_seconds, first, free_port
from workers import GROUP, RAMP, Side, measure, threads

MERGE = 20        # ms, the directive
HEADER = 16
PASSPHRASE = "correct horse battery"
BAD = ("--loss", 5, "--loss-run", 2, "--twice", 1, "--reorder", 2, "--one-way", 20)


def us(side, clients):
    return 1e4 * side.cpu / clients


def row(bench, what, side, clients, goal, ratio, us_one=None, **more):
    got = side.reports[-1]
    bench.row(case="srt", server="srs", variant=what, us=us(side, clients), us_one=us_one, ratio=ratio, goal=goal,
              cpu=side.cpu, alive=got["alive"], failed=got["failed"], lost=got.get("lost"), overflow=got.get("overflow"),
              wrong=sum(got.get(k, 0) for k in ("ts_faults", "holes", "undecrypted", "drops", "failed")),
              gap_max=got["gap_ms"]["max"], latency_p50=got["latency_ms"]["p50"], latency_p99=got["latency_ms"]["p99"],
              tool_cpu=got["cpu_percent"], **more)


def publish(side, stream, kbps, clients=1, *args):
    """Publishes by SRT; {i} in the name of the stream is the number of the publisher."""
    side.bench.load_core = side.core
    url = f"srt://127.0.0.1:{side.server.srt}?streamid=#!::r=live/{stream},m=publish"
    side.tools.append(Tool(side.bench, "sb_srt_load", url, clients, "-i", side.bench.stream(kbps), "-s", 0, *args))


def players_of(bench, players, kbps=900, variant="srt", *args):
    """A stream published by RTMP, and its SRT players."""
    side = Side(bench, 0, variant, apart=True)
    side.publish("a", kbps)
    time.sleep(GROUP)
    side.base = side.server.rss()
    side.play("a", players, *args, program="sb_srt_load")
    return side


def begin_wait(bench, players):
    return players / RAMP + bench.warmup + 0.5


def bare(bench, players, report):
    """µs per player and second of the same bytes to as many receivers, in turns of the same length, without a server."""
    packets = report["packets"] / report["seconds"] / players
    each = max(1, round(packets * MERGE / 1000))
    size = round(report["rate_kbps"]["p50"] * MERGE / 8 / each) + HEADER
    argv = [*first(), "taskset", "-c", cores()[0], bench.objs / "sb_udp", players, each, size, MERGE, round(bench.seconds),
            cores()[1]]
    got = json.loads(subprocess.run([str(a) for a in argv], check=True, capture_output=True,
                                    timeout=bench.seconds + 60).stdout)
    return 1e4 * got["cpu"] / players


def against_floor(bench, what, players, variant, goal, *args):
    """Server, floor, floor, server: machines change from minute to minute."""
    sides, floors = [], []
    for turn in range(2):
        side = players_of(bench, players, 900, variant, *args)
        measure(bench, (side,), begin_wait(bench, players))
        sides.append(side)
        floors += [bare(bench, players, side.reports[-1]) for _ in range(1 + turn)]
    mean, floor = sum(us(s, players) for s in sides) / 2, sum(floors) / len(floors)
    row(bench, what, sides[0], players, goal, mean / floor, floor, players=players, kbps=900)


def memory(bench, players):
    side = players_of(bench, players, 200)
    measure(bench, (side,), begin_wait(bench, players))
    row(bench, f"RSS of a player, of {players:,}", side, players, 4, side.rss / players, players=players, kbps=200, unit="kB")


def publishers(bench, clients):
    side = Side(bench, 0, "srt", apart=True)
    before = len(threads(side.server.pid))
    publish(side, "s{i}", 900, clients, "--warmup", bench.warmup)
    time.sleep(bench.warmup + 2 * GROUP)
    more = len(threads(side.server.pid)) - before
    measure(bench, (side,), 0)
    row(bench, f"{clients} publishers without players: µs each", side, clients, 700, us(side, clients), publishers=clients,
        kbps=900, rss_kb=side.rss / clients, unit="µs")
    row(bench, "  more threads than at the start", side, clients, 0, more, publishers=clients, unit="threads")


def spread(bench, clients, parts=8):
    """Publishers of one tool send their key frames at one moment, unlike real publishers: so several tools start within the
    time of one GOP."""
    side = Side(bench, 0, "srt", apart=True)
    for i in range(parts):
        publish(side, f"p{i}s{{i}}", 900, clients // parts, "--warmup", bench.warmup)
        time.sleep(2 / parts)
    measure(bench, (side,), bench.warmup + 2 * GROUP)
    row(bench, f"{clients} publishers, key frames at any time: µs each", side, clients, 700, us(side, clients),
        publishers=clients, kbps=900, rss_kb=side.rss / clients, unit="µs")


# ---- libsrt as a server for one client

def wait_bound(port):
    """Waits until a process has bound the UDP port."""
    for _ in range(50):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                return
        time.sleep(0.1)


def libsrt(bench, what, source, target, port, tool, kbps=900):
    """Cost of srt-live-transmit between an SRT client and a UDP socket."""
    bench.number += 1
    base = bench.work / f"{bench.number:03d}-libsrt"
    server = Process(["srt-live-transmit", "-q", "-loglevel:fatal", source, target], cores()[0], base.with_suffix(".out"),
                     base.with_suffix(".err"))
    bench.running.append(server)
    wait_bound(port)
    load = tool()
    time.sleep(bench.warmup)
    cpu, at = cpu_seconds(server.child.pid), time.monotonic()
    time.sleep(bench.seconds)
    cost = 1e6 * (cpu_seconds(server.child.pid) - cpu) / (time.monotonic() - at)
    got = load.stop()
    server.child.terminate()
    server.wait(5)
    bench.row(case="srt", server="libsrt", variant=what, us=cost, kbps=kbps, alive=got["alive"], lost=got["lost"])


def libsrt_rows(bench):
    if not shutil.which("srt-live-transmit"):
        return
    port, udp = free_port(), free_port()
    url, here = f"srt://127.0.0.1:{port}", f"udp://127.0.0.1:{udp}"
    libsrt(bench, "srt-live-transmit, one publisher", url + "?mode=listener", here, port,
           lambda: Tool(bench, "sb_srt_load", url, 1, "-i", bench.stream(900), "-s", 0))
    port, udp = free_port(), free_port()
    url, here = f"srt://127.0.0.1:{port}", f"udp://127.0.0.1:{udp}"

    def feed_and_play():
        feed = Process(["ffmpeg", "-v", "error", "-re", "-stream_loop", -1, "-i", bench.stream(900), "-c", "copy", "-f",
                        "mpegts", here + "?pkt_size=1316"], cores()[1], bench.work / "feed.out", bench.work / "feed.err")
        bench.running.append(feed)
        return Tool(bench, "sb_srt_load", url, 1, "-s", 0)

    libsrt(bench, "srt-live-transmit, one player", here, url + "?mode=listener", port, feed_and_play)
    bench.end_all()


# ---- bad networks: packets given up, and retransmissions per lost packet

def lossy(bench, what, kind, args, most_late, variant="srt"):
    clients = 20
    if kind == "play":
        side = players_of(bench, clients, 900, variant, *args)
    else:
        side = Side(bench, 0, variant, apart=True)
        publish(side, "s{i}", 900, clients, "--warmup", bench.warmup, *args)
    measure(bench, (side,), begin_wait(bench, clients) + GROUP)
    got = side.reports[-1]
    late = 100 * got["too_late"] / max(1, got["packets"])
    row(bench, f"{what}: % too late", side, clients, most_late, late, kbps=900, unit="%", **{kind + "ers": clients})
    if got["lost"] and most_late:
        row(bench, "  repeats for each that was lost", side, clients, 1.5, got["repeated"] / got["lost"], kbps=900,
            **{kind + "ers": clients})


def cut(bench):
    """Everything is lost for 3 s: how long until video continues, which stopped one latency later."""
    wait = 400
    side = players_of(bench, 5, 900, "srt", "--cut", 3, "--cut-at", 6, "--latency", wait)
    time.sleep(14)
    measure(bench, (side,), 0)
    got = side.reports[-1]
    row(bench, "everything lost for 3 s: ms until video continues", side, 5, 1000, got["gap_ms"]["max"] + wait - 3000, players=5, kbps=900,
        unit="ms")


def latency(bench):
    """SRT publisher with 120 ms, RTMP player at once."""
    side = Side(bench, 0, "srt at once", apart=True)
    publish(side, "a", 900)
    time.sleep(GROUP)
    side.play("a", 20)
    measure(bench, (side,), bench.warmup + 0.5)
    got = side.reports[-1]["latency_ms"]
    row(bench, "SRT publisher (120 ms), RTMP player at once: age p99", side, 20, 140, got["p99"], players=20, kbps=900, unit="ms")


def storm(bench, clients):
    """Players start within 2 s while others play."""
    side = Side(bench, 0, "srt at once", apart=True)
    side.publish("a", 200)
    time.sleep(GROUP)
    side.play("a", 50)
    time.sleep(2)
    side.play("a", clients, "--ramp", clients / 2, program="sb_srt_load")
    measure(bench, (side,), 4)
    others, got = side.reports[1], side.reports[2]
    row(bench, f"{clients:,} players within 2 s: ms until the last one plays", side, clients, 4000, got["first_byte_ms"]["max"],
        players=clients, kbps=200, unit="ms")
    row(bench, "  RTMP players meanwhile: longest gap", side, clients, 200, others["gap_ms"]["max"], players=50,
        kbps=200, unit="ms")


def srt(bench):
    """SRT: players against bare sends, clear and encrypted, memory, publishers, libsrt, bad networks, latency, a storm"""
    against_floor(bench, "500 players, merge 20, against bare sends", 500, "srt", 1.5)
    against_floor(bench, "the same with AES-128", 500, "srt key", 1.8, "--passphrase", PASSPHRASE)
    memory(bench, 2000)
    publishers(bench, 200)
    spread(bench, 200)
    libsrt_rows(bench)
    for kind in ("play", "publish"):
        lossy(bench, f"{kind}, 5 % lost in pairs, 400 ms", kind, (*BAD, "--latency", 400), 0)
        lossy(bench, f"{kind}, the same with AES-128", kind, (*BAD, "--latency", 400, "--passphrase", PASSPHRASE), 0, "srt key")
        lossy(bench, f"{kind}, 20 % lost, 1,000 ms", kind, ("--loss", 20, "--one-way", 20, "--latency", 1000), 0.1)
    cut(bench)
    latency(bench)
    storm(bench, 1000)
