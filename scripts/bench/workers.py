# SPDX-License-Identifier: MIT
"""Several workers compared with one: two servers run at the same time, each with its own load, over all cores.
Runs in turn scatter by 15 % on a shared machine; here other work affects both. Their order changes with each
turn of the bench."""
import time
from pathlib import Path

from procs import Ours, Tool, cores, descriptors

RAMP = 1000
GROUP = 2.2  # seconds until there is a GOP to join at
SPREAD = "workers_spread 0;"


def threads(pid):
    """CPU seconds of each thread so far."""
    spent = {}
    for task in Path(f"/proc/{pid}/task").glob("*"):
        try:
            spent[task.name] = int((task / "schedstat").read_text().split()[0]) / 1e9
        except (OSError, IndexError):
            pass
    return spent


class Side:
    """A server with `workers` workers and its load; `apart`: each worker on its own core."""

    def __init__(self, bench, workers, variant="default", top="", program=None, apart=False):
        self.bench, self.workers = bench, workers
        both = ",".join(map(str, cores()))
        mine, bench.server_core = bench.server_core, cores()[0] if apart else both
        loads, bench.load_core = bench.load_core, cores()[1] if apart else both
        built, bench.srs = bench.srs, program or bench.srs
        try:
            self.server = Ours(bench, variant, top=top + (f"\nworkers {workers};" if workers else ""))
        finally:
            bench.server_core, bench.load_core, bench.srs = mine, loads, built
        self.core, self.tools = cores()[1] if apart else both, []
        self.base = self.server.rss()

    def tool(self, program, stream, clients, *args):
        self.bench.load_core = self.core
        self.tools.append(Tool(self.bench, program, self.server.where(program, stream), clients, *args))
        return self.tools[-1]

    def publish(self, stream, kbps, clients=1, *args, program="sb_rtmp_publish"):
        return self.tool(program, stream, clients, "-i", self.bench.stream(kbps), "-s", 0, *args)

    def play(self, stream, players, *args, program="sb_rtmp_load"):
        return self.tool(program, stream, players, "--ramp", RAMP, "--warmup", self.bench.warmup, *args)

    def begin(self):
        self.at, self.spent = time.monotonic(), threads(self.server.pid)

    def end(self):
        """CPU % of all threads, and of the busiest one."""
        seconds = time.monotonic() - self.at
        spent = [v - self.spent.get(k, 0) for k, v in threads(self.server.pid).items()]
        self.cpu, self.busiest = 100 * sum(spent) / seconds, 100 * max(spent) / seconds
        self.rss = self.server.rss() - self.base

    def stop(self):
        self.reports = [t.stop() for t in self.tools]
        self.server.stop()


def measure(bench, sides, wait):
    time.sleep(wait)
    for side in sides:
        side.begin()
    time.sleep(bench.seconds)
    for side in sides:
        side.end()
    for side in sides:
        side.stop()


def in_turn(bench, make_many, make_one):
    """Starts both sides, in an order that alternates."""
    bench.workers_turn = not getattr(bench, "workers_turn", False)
    if bench.workers_turn:
        many = make_many()
        return many, make_one()
    one = make_one()
    return make_many(), one


def row(bench, what, many, one, clients_many, clients_one, goal, ratio=None, **more):
    """One row: the cost of a client on each side, and their ratio."""
    each = [1e4 * s.cpu / n if n else 0 for s, n in ((many, clients_many), (one, clients_one))]
    ratio = ratio if ratio is not None else each[0] / each[1]
    bench.row(case="workers", server="srs", variant=what, us=each[0], us_one=each[1], ratio=ratio,
              goal=goal, cpu=many.cpu, busiest=many.busiest, **more)


def players_of(bench, workers, players, kbps=900, variant="default", top=SPREAD):
    side = Side(bench, workers, variant, top)
    side.publish("a", kbps)
    time.sleep(GROUP)
    side.play("a", players)
    return side


def hot(bench, players_many, players_one, what, goal):
    many, one = in_turn(bench, lambda: players_of(bench, 2, players_many),
                        lambda: players_of(bench, 1, players_one))
    measure(bench, (many, one), players_many / RAMP + bench.warmup + 0.5)
    got = many.reports[1]
    common = dict(alive=got["alive"], rate_min=100 * got["rate_kbps"]["min"] / many.reports[0]["rate_kbps"]["p50"])
    row(bench, what, many, one, players_many, players_one, goal, players=players_many, **common)
    return many, one


def streams_of(bench, workers, streams, each):
    side = Side(bench, workers)
    side.publish("s{i}", 200, streams)
    time.sleep(GROUP)
    side.base = side.server.rss()
    side.play("s{i}", streams * each, "--stream-count", streams)
    return side


def publishers_of(bench, workers, publishers):
    side = Side(bench, workers)
    side.publish("s{i}", 900, publishers)
    return side


def small(bench):
    many, one = in_turn(bench, lambda: streams_of(bench, 2, 150, 10), lambda: streams_of(bench, 1, 150, 10))
    measure(bench, (many, one), 1.5 + bench.warmup + 1)
    row(bench, "150 streams x 10, 2 against 1", many, one, 1500, 1500, 1.1, players=1500)
    row(bench, "the same: RSS of a player", many, one, 1500, 1500, 1.1, ratio=many.rss / one.rss, players=1500,
        rss_kb=many.rss / 1500)


def publish(bench):
    many, one = in_turn(bench, lambda: publishers_of(bench, 2, 400), lambda: publishers_of(bench, 1, 200))
    measure(bench, (many, one), 2 + bench.warmup)
    row(bench, "publishers: 400 on 2 against 200 on 1, each", many, one, 400, 200, 1.05, publishers=400)


def late(bench, variant, what):
    many, one = in_turn(bench, lambda: players_of(bench, 2, 100, variant=variant),
                        lambda: players_of(bench, 1, 100, variant=variant))
    measure(bench, (many, one), 0.5 + bench.warmup)
    a, b = many.reports[1]["latency_ms"], one.reports[1]["latency_ms"]
    row(bench, f"latency p99, {what}: ms more than on 1", many, one, 100, 100, 2, ratio=a["p99"] - b["p99"],
        unit="ms", players=100, latency_p50=a["p50"], latency_p99=a["p99"])


def alone(bench):
    """`workers 1` compared with a program from before there were workers."""
    for what, clients, variant in (("play", 2000, "default"), ("at once", 300, "at once"), ("publish", 500, "default")):
        def side(program, workers):
            s = Side(bench, workers, variant, program=program)
            if what == "publish":
                s.publish("s{i}", 900, clients)
            else:
                s.publish("a", 900)
                time.sleep(GROUP)
                s.play("a", clients)
            return s
        now, before = in_turn(bench, lambda: side(None, 1), lambda: side(bench.before, 0))
        measure(bench, (now, before), 2 + bench.warmup + 0.5)
        row(bench, f"workers 1 against before: {what}", now, before, clients, clients, 1.03,
            **{"publishers" if what == "publish" else "players": clients})


def crowd(bench):
    side = players_of(bench, 2, 15000, 500)
    measure(bench, (side,), 15000 / RAMP + bench.warmup + 1)
    got, sent = side.reports[1], side.reports[0]
    least = 100 * got["rate_kbps"]["min"] / sent["rate_kbps"]["p50"]
    row(bench, "15,000 players of one stream on 2: share of the rate that the slowest gets", side, side, 15000,
        15000, -0.97, ratio=least / 100, players=15000, alive=got["alive"], rate_min=least)


def idle(bench):
    one, many = Side(bench, 1), Side(bench, 4)
    time.sleep(1)
    ratio = (many.server.rss() - one.server.rss()) / 3 / 1024
    measure(bench, (many, one), 0)
    row(bench, "MB of RSS of one more worker without clients", many, one, 0, 0, 1, ratio=ratio, unit="MB")


def churn(bench):
    """Connects over 4 workers, players and publishers, most of them to streams of other workers."""
    side = Side(bench, 4, top="")
    connects = 100000 if bench.full else 5000

    def some(seconds):
        side.tools = []
        side.tool("sb_rtmp_load", "s{i}", 400, "--stream-count", 20, "-s", 0, "-d", 0, "-e", 0, "--churn", 0.3)
        side.publish("s{i}", 200, 20, "-d", 0, "-e", 0, "--churn", 0.5)
        time.sleep(seconds)
        return sum(t.stop()["connected"] for t in side.tools)

    some(5)
    time.sleep(3)
    before, files, done, until = side.server.rss(), descriptors(side.server.pid), 0, time.monotonic() + 300
    side.begin()
    while done < connects and time.monotonic() < until:
        done += some(20 if bench.full else 3)
    side.end()
    time.sleep(6)
    more = (side.server.rss() - before) / 1024
    files = descriptors(side.server.pid) - files
    side.server.stop()
    row(bench, "churn over 4: MB of RSS more afterwards", side, side, 0, 0, 3, ratio=more, unit="MB", connects=done,
        files=files)


def moves(bench):
    """Sessions that come and go: with 2 workers about half of them move to the owner worker."""
    def side(workers):
        s = Side(bench, workers, top="workers_spread 1000000;")
        s.publish("a", 200)
        time.sleep(GROUP)
        s.tool("sb_rtmp_load", "a", 200, "-s", 0, "-d", 0, "-e", 0, "--churn", 0.2)
        return s
    many, one = in_turn(bench, lambda: side(2), lambda: side(1))
    measure(bench, (many, one), bench.warmup)
    each = [1e4 * s.cpu / (s.reports[1]["connected"] / (bench.seconds + bench.warmup)) for s in (many, one)]
    row(bench, "µs of a move, both sides: a session on 2 workers minus one on 1, half of them moved", many, one, 0, 0, 15,
        ratio=2 * (each[0] - each[1]), unit="µs", connects=many.reports[1]["connected"])


def growing(bench):
    """CPU of each of 2 workers against the number of players of one stream of 500 kbit/s: a plot"""
    for players in (2000, 4000, 6000, 8000, 11000, 14000):
        side = players_of(bench, 2, players, 500, top="")
        measure(bench, (side,), players / RAMP + bench.warmup + 0.5)
        bench.row(case="growing", server="srs", variant="2", players=players, cpu=side.cpu, busiest=side.busiest,
                  cpu_other=side.cpu - side.busiest, alive=side.reports[1]["alive"])


def workers(bench):
    """2 workers against 1, at the same time: one stream with many players, many with few, publishers, latency, churn"""
    if bench.before:
        if bench.srs != bench.before:
            alone(bench)
        return
    hot(bench, 6000, 3000, "one stream: 6,000 on 2 against 3,000 on 1, each", 1.08)
    many, one = hot(bench, 4000, 4000, "one stream: 4,000 on 2 against 1, all threads", 1.2)
    row(bench, "  the busier worker against the one", many, one, 4000, 4000, 0.6, ratio=many.busiest / one.cpu,
        players=4000)
    small(bench)
    publish(bench)
    late(bench, "default", "350 ms")
    late(bench, "at once", "at once")
    moves(bench)
    idle(bench)
    if bench.full:
        crowd(bench)
    churn(bench)
