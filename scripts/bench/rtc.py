# SPDX-License-Identifier: MIT
"""WebRTC: players compared with bare encryption and sends of the same packets, memory, publishers, single joins and many
at once, bad networks. The load tool has the other core."""
import json
import shutil
import subprocess
import time
from pathlib import Path

import streams
from procs import Tool, cores, first
from workers import GROUP, Side, measure

RAMP = 100   # joins per second: each is a handshake on both sides
# At most 64 clients of one address may be connecting: many at once need many addresses.
FROM_MANY = ("--bind", "127.0.0.2-127.0.0.21")


def us(side, clients):
    return 1e4 * side.cpu / clients


def row(bench, what, side, got, clients, goal, ratio, us_one=None, **more):
    bench.row(case="rtc", server="srs", variant=what, us=us(side, clients), us_one=us_one, ratio=ratio, goal=goal,
              cpu=side.cpu, alive=got["alive"], failed=got["failed"], lost=got["lost"],
              wrong=sum(got[k] for k in ("forged", "odd", "restarts", "failed")),
              gap_max=got["gap_ms"]["max"], latency_p50=got["latency_ms"]["p50"], latency_p99=got["latency_ms"]["p99"],
              tool_cpu=got["cpu_percent"], **more)


def opus(bench):
    """H.264 of 900 kbit/s with 25 frames per second, and Opus: made once."""
    return streams.make_opus(bench.out / "streams")


def publish(side, stream, path, clients=1, *args):
    """Publishes by WHIP; {i} in the name of the stream is the number of the publisher."""
    side.bench.load_core = side.core
    url = f"http://127.0.0.1:{side.server.http}/rtc/v1/whip/?app=live&stream={stream}"
    side.tools.append(Tool(side.bench, "sb_rtc_load", url, clients, "-i", path, *args))


def play(side, stream, players, *args, ramp=RAMP):
    side.bench.load_core = side.core
    url = f"http://127.0.0.1:{side.server.http}/rtc/v1/whep/?app=live&stream={stream}"
    side.tools.append(Tool(side.bench, "sb_rtc_load", url, players, "--ramp", ramp, "--warmup", side.bench.warmup, *args))


def source(bench, path, rtc=False, variant="rtc"):
    """A server with a stream published by RTMP or WebRTC. Without a clock in the video, which would be one more packet."""
    side = Side(bench, 0, variant, apart=True)
    if rtc:
        publish(side, "a", path, 1, "--no-marker")
    else:
        side.tool("sb_rtmp_publish", "a", 1, "-i", path, "-s", 0, "--no-marker")
    time.sleep(GROUP)
    side.base = side.server.rss()
    return side


def players_of(bench, path, players, *args, rtc=False, variant="rtc"):
    side = source(bench, path, rtc, variant)
    play(side, "a", players, *args)
    measure(bench, (side,), players / RAMP + bench.warmup + 0.5)
    return side, side.reports[-1]


def bare(bench, path, players, *args):
    """Report of the bare loop: the same packets, encrypted and sent for as many players, without a server."""
    argv = [*first(), "taskset", "-c", cores()[0], bench.objs / "sb_rtc_load", "--floor", "-c", players, "-i", path,
            "--duration", round(bench.seconds), "--reader-cpu", cores()[1], *args]
    return json.loads(subprocess.run([str(a) for a in argv], check=True, capture_output=True,
                                     timeout=bench.seconds + 60).stdout)


def against_floor(bench, what, players, *args, rtc=False, variant="rtc", bare_args=()):
    """Server, floor, floor, server: machines change from minute to minute."""
    path, sides, floors = opus(bench), [], []
    for turn in range(2):
        side, got = players_of(bench, path, players, *args, rtc=rtc, variant=variant)
        sides.append(side)
        floors += [bare(bench, path, players, *bare_args)["us_per_player_second"] for _ in range(1 + turn)]
    mean, floor = sum(us(s, players) for s in sides) / 2, sum(floors) / len(floors)
    row(bench, f"{what}, against bare sends", sides[0], got, players, 1.3, mean / floor, floor, players=players, kbps=900)
    return mean, sides[0], got


def many_players(bench):
    """300 players: with GCM and AES-CM, of RTMP and of WebRTC streams, with and without UDP_SEGMENT."""
    gcm, side, got = against_floor(bench, "300 players of an RTMP stream", 300)
    row(bench, "  µs per player and second", side, got, 300, 650, gcm, players=300, kbps=900, unit="µs")
    cm, side, got = against_floor(bench, "  the same by AES-CM", 300, "--cm", bare_args=("--cm",))
    row(bench, "  GCM against AES-CM", side, got, 300, 1, gcm / cm, cm, players=300, kbps=900)
    against_floor(bench, "300 players of a WebRTC stream", 300, rtc=True)
    single, side, got = against_floor(bench, "300 players without UDP_SEGMENT", 300, variant="rtc no gso",
                                      bare_args=("--no-gso",))
    row(bench, "  against with it", side, got, 300, 2, single / gcm, gcm, players=300, kbps=900)


def memory(bench, players):
    """One player joins before: the packets of the stream and its audio transcoder exist once for all players."""
    side = source(bench, bench.stream(200))
    play(side, "a", 1)
    time.sleep(bench.warmup + 1)
    side.base = side.server.rss()
    play(side, "a", players)
    measure(bench, (side,), players / RAMP + bench.warmup + 0.5)
    row(bench, f"RSS of a player, of {players:,}", side, side.reports[-1], players, 40,
        side.rss / players, players=players, kbps=200, unit="kB")


def publishers(bench, clients):
    """WebRTC publishers without players, compared with as many of RTSP (over UDP) and RTMP."""
    each, path = {"rtsp": [], "rtc": [], "rtmp": []}, opus(bench)
    tools = {"rtsp": ("rtsp", "sb_rtsp_publish", "--udp"), "rtc": ("rtc", None), "rtmp": ("default", "sb_rtmp_publish")}
    for kind in (*each, *reversed(each)):
        variant, program, *args = tools[kind]
        side = Side(bench, 0, variant, apart=True)
        if kind == "rtc":
            publish(side, "s{i}", path, clients, "--ramp", RAMP, "--warmup", bench.warmup)
            mine = side
        else:
            side.tool(program, "s{i}", clients, "-i", path, "-s", 0, *args)
        measure(bench, (side,), clients / RAMP + bench.warmup + GROUP)
        each[kind].append(us(side, clients))
    spent = {kind: sum(v) / len(v) for kind, v in each.items()}
    for kind in ("rtsp", "rtmp"):
        row(bench, f"{clients} publishers without players, against {kind.upper()}", mine, mine.reports[-1], clients, 2,
            spent["rtc"] / spent[kind], spent[kind], publishers=clients, kbps=900)


def unused(bench, clients):
    """RTMP publishers with AAC, without WebRTC players: cost of rtmp_to_rtc. On, off, off, on."""
    spent = {"default": [], "rtc": []}
    for variant in ("rtc", "default", "default", "rtc"):
        side = Side(bench, 0, variant, apart=True)
        side.publish("s{i}", 900, clients)
        measure(bench, (side,), bench.warmup + GROUP)
        spent[variant].append(us(side, clients))
    on, off = sum(spent["rtc"]) / 2, sum(spent["default"]) / 2
    got = dict.fromkeys(("forged", "odd", "restarts", "lost"), 0) | side.reports[-1]
    got.setdefault("gap_ms", {"max": 0})
    got.setdefault("latency_ms", {"p50": 0, "p99": 0})
    row(bench, f"{clients} RTMP publishers with AAC, no WebRTC player: rtmp_to_rtc on against off", side, got, clients, 1.05, on / off, off,
        publishers=clients, kbps=900)


def joins(bench, players):
    """Joins one after the other, with a GOP of 4 s: how long each step takes."""
    side = source(bench, opus(bench))
    play(side, "a", players, ramp=20)
    measure(bench, (side,), players / 20 + bench.warmup)
    got = side.reports[-1]
    for name, key, goal in (("answer", "answer_ms", 5), ("connected", "connect_ms", 60), ("first key frame", "first_key_ms", 160)):
        row(bench, f"join: {name}, median of {players}, ms", side, got, players, goal, got[key]["p50"], players=players, kbps=900,
            unit="ms")


def handshakes(bench, rate, seconds):
    """Cost of a join without media: request, answer, checks, DTLS, and other work of a worker."""
    side = Side(bench, 0, "rtc", apart=True)
    time.sleep(1)
    side.begin()
    play(side, "none", rate * seconds, *FROM_MANY, ramp=rate)
    time.sleep(seconds)
    side.end()
    side.stop()
    got = side.reports[-1]
    row(bench, "CPU of a join: HTTP, SDP, ICE, DTLS, ms", side, got, rate, 1, us(side, rate) / 1000, players=rate * seconds, unit="ms")


def storm(bench, rate, seconds):
    """Clients join while 300 play, and stay for 2 s on average: if all stayed, the core would be full."""
    side = source(bench, bench.stream(200))
    play(side, "a", 300, *FROM_MANY)
    time.sleep(300 / RAMP + bench.warmup + 0.5)
    play(side, "a", rate * seconds, *FROM_MANY, "--churn", 2, "-t", 1, ramp=rate)
    measure(bench, (side,), seconds)
    others, got = side.reports[1], side.reports[2]
    row(bench, f"{rate} joins a second for {seconds} s: who did not join", side, got, rate * seconds, 0,
        rate * seconds - got["connected"], players=rate * seconds, kbps=200)
    row(bench, "  those who play meanwhile: longest gap", side, others, 300, 200, others["gap_ms"]["max"], players=300, kbps=200,
        unit="ms")


def lossy(bench):
    side, got = players_of(bench, opus(bench), 20, "--loss", 5, "--reorder", 1, "--one-way", 10)
    row(bench, "5 % lost, both ways: % lost after NACK", side, got, 20, 0.1, 100 * got["lost"] / max(1, got["packets"]), players=20,
        kbps=900, unit="%")
    row(bench, "  longest gap", side, got, 20, 300, got["gap_ms"]["max"], players=20, kbps=900, unit="ms")


def rebind(bench):
    """Each client changes its port in the middle, like a phone that changes its network."""
    side, got = players_of(bench, opus(bench), 20, "--rebind", bench.warmup + 1)
    row(bench, "the port of a client changes: longest gap", side, got, 20, 1500, got["gap_ms"]["max"], players=20, kbps=900, unit="ms")


def packets(bench):
    """Encryption of 1,200 bytes by SRTP: Sluice, and Debian's libsrtp2 if its header is installed."""
    ours = bare(bench, opus(bench), 1)["protect_1200_ns"]
    theirs = {}
    if Path("/usr/include/srtp2/srtp.h").exists() and shutil.which("cc"):
        program = bench.work / "srtp2"
        subprocess.run(["cc", "-O2", "-o", program, Path(__file__).parent / "srtp2.c", "-lsrtp2"], check=True)
        theirs = json.loads(subprocess.run([*first(), program], check=True, capture_output=True, timeout=60).stdout)
    for name, goal in (("cm", 1.3), ("gcm", 0.7)):
        bench.row(case="rtc", server="srs", variant=f"SRTP of 1,200 bytes, {name.upper()} (compared with libsrtp2)", goal=goal, us=0, cpu=0,
                  us_one=theirs.get(name, 0) / 1000, ratio=ours[name] / 1000, unit="µs")


def rtc(bench):
    """WebRTC: players against bare sends, memory, publishers, joins, a storm of joins, bad networks"""
    many_players(bench)
    memory(bench, 500)
    publishers(bench, 50)
    unused(bench, 100)
    joins(bench, 100)
    handshakes(bench, 200, 4)
    storm(bench, 200, 10)
    lossy(bench)
    rebind(bench)
    packets(bench)
