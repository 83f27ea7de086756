# SPDX-License-Identifier: MIT
"""API, metrics and callbacks under load: their cost, and their effect on players and publishers."""
import json, signal, sys, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from procs import Ours, Process, Tool, wait_seconds

RAMP = 1000
HANG = 30  # seconds until the backend answers


class Client(Process):
    """Requests a page repeatedly, on the core of the load tools."""

    def __init__(self, bench, port, path, seconds, pause, *beside):
        bench.number += 1
        base = bench.work / f"{bench.number:03d}-http_load"
        script = Path(__file__).with_name("http_load.py")
        super().__init__([sys.executable, script, port, path, seconds, pause, *beside], bench.load_core,
                         base.with_suffix(".json"), base.with_suffix(".err"))
        bench.running.append(self)
        self.seconds = seconds

    def stop(self):
        self.wait(self.seconds + 60)
        text = Path(self.out).read_text()
        if not text:
            raise RuntimeError(f"http_load: {Path(self.err).read_text().strip() or 'no report'}")
        return json.loads(text)


def median(rows, key):
    """Median of several measurements, because other work on the machine disturbs single ones."""
    return sorted(rows, key=lambda r: r[key])[len(rows) // 2]


def clients(bench):
    """Requests one page of the list of clients continuously while `players` clients play."""
    players = 10000 if bench.full else 2000
    server = Ours(bench, "api")
    url = server.url("a")
    publisher = bench.publish(url, 200, 1, "-s", 0)
    time.sleep(3)
    load = Tool(bench, "sb_rtmp_load", url, players, "--ramp", RAMP, "--warmup", bench.warmup)
    time.sleep(players / RAMP + bench.warmup + 0.5)
    for name, path in (("list", f"/api/v1/clients?start={players // 2}&count=100"),
                       ("all of them", f"/api/v1/clients?count={players}")):
        rows = []
        for _ in range(3):
            waited, cpu, at = wait_seconds(server.pid), server.cpu(), time.monotonic()
            asked = Client(bench, server.http, path, bench.seconds / 2, 0.01).stop()
            span = time.monotonic() - at
            rows.append(dict(case="api", server=server.name, variant=name, players=players, kbps=200,
                             cpu=100 * (server.cpu() - cpu) / span, requests=asked["n"], page_kb=asked["size"] / 1024,
                             page_p50=asked["p50"], page_p99=asked["p99"], page_max=asked["max"],
                             waited=100 * (wait_seconds(server.pid) - waited) / span))
        bench.row(**median(rows, "page_p99"))
    got, _ = load.stop(), publisher.stop()
    server.stop()
    bench.row(case="api", server=server.name, variant="players", players=players, kbps=200, alive=got["alive"],
              failed=got["failed"], gap_p99=got["gap_ms"]["p99"], gap_max=got["gap_ms"]["max"])


def scrape(bench):
    """/metrics of 1,000 streams: time of the coroutine thread, and the wait of other requests."""
    streams = 1000 if bench.full else 200
    server = Ours(bench, "api")
    publisher = bench.publish(server.url("s{i}"), 200, streams, "-s", 2)
    time.sleep(5)
    publisher.child.send_signal(signal.SIGSTOP)  # the streams exist and cost nothing
    time.sleep(1)
    rows = []
    for _ in range(3):
        waited, cpu, at = wait_seconds(server.pid), server.cpu(), time.monotonic()
        page = Client(bench, server.http, "/metrics", bench.seconds / 3, 0.05).stop()
        used, span = server.cpu() - cpu, time.monotonic() - at
        beside = Client(bench, server.http, "/metrics", bench.seconds / 3, 0.05, "/api/v1/versions").stop()
        rows.append(dict(case="scrape", server=server.name, variant="metrics", publishers=streams, kbps=200,
                         cpu_ms_each=1000 * used / page["n"], requests=page["n"], page_kb=page["size"] / 1024,
                         page_p50=page["p50"], page_p99=page["p99"], page_max=page["max"], held_p99=beside["others"]["p99"],
                         held_max=beside["others"]["max"], waited=100 * (wait_seconds(server.pid) - waited) / span))
    publisher.child.send_signal(signal.SIGCONT)
    publisher.stop()
    server.stop()
    bench.row(**median(rows, "held_max"))


class Backend:
    """A backend for callbacks: streams called hang* wait for their answer, others get it at once."""

    def __init__(self):
        self.halt = halt = threading.Event()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if json.loads(body)["stream"].startswith("hang"):
                    halt.wait(HANG)
                try:
                    self.send_response(200)
                    self.send_header("Content-Length", "1")
                    self.end_headers()
                    self.wfile.write(b"0")
                except OSError:
                    pass

            def log_message(self, *_):
                pass

        class Http(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 1024

            def handle_error(self, *_):
                pass

        self.server = Http(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hook"

    def close(self):
        self.halt.set()
        self.server.shutdown()
        self.server.server_close()


def hooks(bench):
    """Publishers start while others wait for a backend that hangs."""
    hanging, others = (400, 100) if bench.full else (100, 20)
    backend = Backend()
    try:
        for variant, count in (("backend healthy", 0), ("backend hangs", hanging)):
            server = Ours(bench, "hooks", hook=backend.url)
            stuck = bench.publish(server.url("hang{i}"), 200, count, "-s", 1) if count else None
            time.sleep(3)
            for name, query in (("", ""), (", vhost without", "?vhost=none")):
                come = bench.publish(server.url("ok{i}" + query), 200, others, "--ramp", 20)
                time.sleep(others / 20 + 1)
                got = come.stop()
                bench.row(case="hooks", server=server.name, variant=variant + name, publishers=others, waiting=count,
                          failed=got["failed"], start_p50=got["first_byte_ms"]["p50"], start_p99=got["first_byte_ms"]["p99"],
                          start_max=got["first_byte_ms"]["max"])
            if stuck:
                stuck.stop()
            server.stop()
    finally:
        backend.close()


def api(bench):
    """API with 10,000 clients, a scrape of 1,000 streams, a callback backend that hangs"""
    clients(bench)
    scrape(bench)
    hooks(bench)
