# SPDX-License-Identifier: MIT
"""WebRTC: players beside the bare encryption and sends of the same packets, memory, publishers, joins one after the other
and many at once, bad networks. The load tool has the other core."""
import json
import shutil
import subprocess
import time
from pathlib import Path

import streams
from procs import Tool, cores, first
from workers import GROUP, Side, measure

RAMP = 100   # joins a second: each is a handshake on both sides
# Clients of one address that are not connected yet are 64 at most: many at once come from many.
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
    """H.264 of 900 kbit/s in 25 frames a second, and Opus: made once."""
    return streams.make_opus(bench.out / "streams")


def publish(side, stream, path, clients=1, *args):
    """By WHIP; {i} in the stream's name is the number of the publisher."""
    side.bench.load_core = side.core
    url = f"http://127.0.0.1:{side.server.http}/rtc/v1/whip/?app=live&stream={stream}"
    side.tools.append(Tool(side.bench, "sb_rtc_load", url, clients, "-i", path, *args))


def play(side, stream, players, *args, ramp=RAMP):
    side.bench.load_core = side.core
    url = f"http://127.0.0.1:{side.server.http}/rtc/v1/whep/?app=live&stream={stream}"
    side.tools.append(Tool(side.bench, "sb_rtc_load", url, players, "--ramp", ramp, "--warmup", side.bench.warmup, *args))


def source(bench, path, rtc=False, variant="rtc"):
    """A server with a stream, that comes by RTMP or by WebRTC. Without a clock in the video, which is a packet more."""
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
    """The same packets, encrypted for as many and sent, without a server: its report."""
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
    """300 of them: by GCM and by AES-CM, from RTMP and from WebRTC, with and without rows of packets."""
    gcm, side, got = against_floor(bench, "300 players of an RTMP stream", 300)
    row(bench, "  µs of a player-second", side, got, 300, 650, gcm, players=300, kbps=900, unit="µs")
    cm, side, got = against_floor(bench, "  the same by AES-CM", 300, "--cm", bare_args=("--cm",))
    row(bench, "  GCM against AES-CM", side, got, 300, 1, gcm / cm, cm, players=300, kbps=900)
    against_floor(bench, "300 players of a WebRTC stream", 300, rtc=True)
    single, side, got = against_floor(bench, "300 players without UDP_SEGMENT", 300, variant="rtc no gso",
                                      bare_args=("--no-gso",))
    row(bench, "  against with it", side, got, 300, 2, single / gcm, gcm, players=300, kbps=900)


def memory(bench, players):
    """One more is there before: the stream's packets, and what makes its sound Opus, are there once for all."""
    side = source(bench, bench.stream(200))
    play(side, "a", 1)
    time.sleep(bench.warmup + 1)
    side.base = side.server.rss()
    play(side, "a", players)
    measure(bench, (side,), players / RAMP + bench.warmup + 0.5)
    row(bench, f"RSS of a player, of {players:,}", side, side.reports[-1], players, 40,
        side.rss / players, players=players, kbps=200, unit="kB")


def publishers(bench, clients):
    """Of WebRTC, beside as many of RTSP (by UDP) and RTMP, with nobody watching."""
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
        row(bench, f"{clients} publishers, nobody watches, against {kind.upper()}", mine, mine.reports[-1], clients, 2,
            spent["rtc"] / spent[kind], spent[kind], publishers=clients, kbps=900)


def unused(bench, clients):
    """RTMP publishers with AAC that nobody plays by WebRTC: what rtmp_to_rtc costs them. On, off, off, on."""
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
    """One after the other: what each waits for, in a group of pictures of 4 s."""
    side = source(bench, opus(bench))
    play(side, "a", players, ramp=20)
    measure(bench, (side,), players / 20 + bench.warmup)
    got = side.reports[-1]
    for name, key, goal in (("answer", "answer_ms", 5), ("connected", "connect_ms", 60), ("first key frame", "first_key_ms", 160)):
        row(bench, f"join: {name}, median of {players}, ms", side, got, players, goal, got[key]["p50"], players=players, kbps=900,
            unit="ms")


def handshakes(bench, rate, seconds):
    """What a join costs without media: request, answer, checks, DTLS, and all that a worker does beside."""
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
    """So many a second come while 300 play, and stay for 2 s on average: if all stayed, the core would be full."""
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
    """Each goes on from another port in the middle, as a phone that changes its network."""
    side, got = players_of(bench, opus(bench), 20, "--rebind", bench.warmup + 1)
    row(bench, "another port in the middle: longest gap", side, got, 20, 1500, got["gap_ms"]["max"], players=20, kbps=900, unit="ms")


def packets(bench):
    """1,200 bytes under SRTP: ours, and Debian's libsrtp2 where its header is there."""
    ours = bare(bench, opus(bench), 1)["protect_1200_ns"]
    theirs = {}
    if Path("/usr/include/srtp2/srtp.h").exists() and shutil.which("cc"):
        program = bench.work / "srtp2"
        subprocess.run(["cc", "-O2", "-o", program, Path(__file__).parent / "srtp2.c", "-lsrtp2"], check=True)
        theirs = json.loads(subprocess.run([*first(), program], check=True, capture_output=True, timeout=60).stdout)
    for name, goal in (("cm", 1.3), ("gcm", 0.7)):
        bench.row(case="rtc", server="srs", variant=f"SRTP of 1,200 bytes, {name.upper()} (beside it: libsrtp2)", goal=goal, us=0, cpu=0,
                  us_one=theirs.get(name, 0) / 1000, ratio=ours[name] / 1000, unit="µs")


def rtc(bench):
    """WebRTC: players beside bare sends, memory, publishers, joins, a storm of them, bad networks"""
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
