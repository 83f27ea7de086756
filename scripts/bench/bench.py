#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench.py quick|full - load Sluice and nginx-rtmp in turn, and record the cost."""
import os, shutil, signal, subprocess, sys, time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import cases, procs, report, streams  # noqa: E402

QUIET = 0.15  # of a core


class Bench:
    """Shared by all cases: paths, durations, the rows so far."""

    def __init__(self, objs, full):
        self.full = full
        self.objs = objs.resolve()
        self.out = self.objs / "bench"
        self.work = self.out / "work"
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.server_core, self.load_core = procs.cores()
        self.seconds = 10 if full else 4
        self.warmup = 3 if full else 2
        self.rows, self.running, self.number = [], [], 0
        self.began = time.monotonic()
        self.srs = None  # the program to measure now
        self.before = os.environ.get("BENCH_BEFORE") and Path(os.environ["BENCH_BEFORE"]).resolve()
        self.turns = int(os.environ.get("BENCH_TURNS", "1"))

    def stream(self, kbps):
        return streams.make(self.out / "streams", kbps)

    def publish(self, url, kbps, clients=1, *args):
        return procs.Tool(self, "sb_rtmp_publish", url, clients, "-i", self.stream(kbps), *args)

    def wait_quiet(self):
        """Waits for a while until other work on the machine ends, because it falsifies the figures."""
        if procs.first():  # our processes have priority
            return
        for _ in range(60 if self.full else 1):
            if procs.busy(1) < QUIET:
                return
        print("the machine is busy with other work: figures will be too high", file=sys.stderr)

    def row(self, **row):
        self.rows.append(row)
        print(f"[{time.monotonic() - self.began:5.0f} s] {report.line(row)}", flush=True)

    def end_all(self):
        for p in self.running:
            if p.child.poll() is None:
                p.child.terminate()
                p.wait(5)
        self.running.clear()


def main():
    if "--list" in sys.argv:
        for name, case in cases.ALL.items():
            print(f"{name:10} {case.__doc__.splitlines()[0]}")
        return 0
    if sys.argv[1:] not in ([], ["quick"], ["full"]):
        sys.exit("usage: bench.py [quick | full | --list]; BENCH=\"CASE...\" chooses")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that servers and tools end, too
    full = sys.argv[1:] != ["quick"]
    bench = Bench(Path(os.environ.get("OBJS", "objs")), full)
    wanted = os.environ.get("BENCH", "").split() or (list(cases.ALL) if full else cases.QUICK)
    unknown = [w for w in wanted if w not in cases.ALL]
    if unknown:
        sys.exit(f"no such case: {' '.join(unknown)} (there are: {' '.join(cases.ALL)})")
    if bench.before and not os.access(bench.before, os.X_OK):
        sys.exit(f"BENCH_BEFORE: no program {bench.before}")
    failed = 0
    for turn in range(bench.turns):
        for name in wanted:
            failed |= run(bench, name, turn)
    report.write(bench)
    return failed


def run(bench, name, turn):
    """Runs one case with the build and with the program to compare it with; the order alternates."""
    programs = [("srs", bench.objs / "srs"), (report.BEFORE, bench.before)]
    for server, bench.srs in programs[::-1] if turn % 2 else programs:
        if not bench.srs or (name == "floor" and bench.srs == bench.before):
            continue
        procs.Ours.name = server
        try:
            cases.ALL[name](bench)
        except Exception as e:  # report the other cases all the same
            print(f"{name}: {e!r}", file=sys.stderr)
            return 1
        finally:
            bench.end_all()
    return 0


if __name__ == "__main__":
    sys.exit(main())
