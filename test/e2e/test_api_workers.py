# SPDX-License-Identifier: MIT
"""The API and the metrics with several workers: one server, each client once."""
import ctypes
import os
import threading
import time

import pytest

import httpapi
from httpapi import Api
from procs import SLOW, free_port, wait_for
from test_metrics import scrape, values

FOUR = {"SRS_WORKERS": "4"}
STREAMS, PLAYERS = 6, 4


@pytest.fixture
def four(srs):
    def start(spread=64, **how):
        port = free_port()
        exporter = f"exporter {{ enabled on; listen 127.0.0.1:{free_port()}; }}\n"
        s = srs(glob=f"workers_spread {spread};\n" + exporter + httpapi.conf(port), **how)
        return s, Api(port)
    return start


def people(s, source):
    """Publishers of some streams, and players of each; all of them play."""
    for i in range(STREAMS):
        s.push(source, f"cam{i}", loop=True)
    views = [s.watch(f"cam{i % STREAMS}") for i in range(STREAMS * PLAYERS)]
    for v in views:
        assert v.wait(lambda got: len(got) > 5, 10), v.ended
    return views


@pytest.mark.parametrize("workers,spread", [(4, 64), (4, 0), (1, 64)], ids=["four", "replicas", "one"])
def test_each_client_once(four, source, workers, spread):
    """Even if the players of a stream are spread over all workers."""
    s, a = four(spread, env={"SRS_WORKERS": str(workers)})
    people(s, source)
    everybody = a.wait_clients(STREAMS * (PLAYERS + 1))
    ids = {c["id"] for c in everybody}
    assert len(ids) == len(everybody)
    assert [c["id"] for start in range(0, len(ids), 7)
            for c in a.get(f"clients/?start={start}&count=7")["clients"]] == [c["id"] for c in everybody]
    streams = a.streams()
    assert sorted(x["name"] for x in streams) == [f"cam{i}" for i in range(STREAMS)]
    for x in streams:
        assert x["clients"] == PLAYERS + 1 and x["publish"]["active"] and x["publish"]["cid"] in ids
        assert a.get(f"streams/{x['id']}")["stream"]["name"] == x["name"]
        assert a.get(f"clients/?stream={x['id']}&count=50")["total"] == PLAYERS + 1
    vhost = a.get("vhosts/")["vhosts"][0]
    assert (vhost["clients"], vhost["streams"]) == (len(ids), STREAMS)
    assert {a.get(f"clients/{cid}")["client"]["id"] for cid in ids} == ids


@pytest.mark.parametrize("spread", [pytest.param(64, marks=pytest.mark.long), 0], ids=["home", "replicas"])
def test_a_kick_finds_each_client(four, source, spread):
    s, a = four(spread, env=FOUR)
    views = people(s, source)
    for c in a.wait_clients(STREAMS * (PLAYERS + 1)):
        if not c["publish"]:
            assert a.kick(c["id"])["code"] == 0
    assert wait_for(lambda: all(v.ended is not None for v in views), 5), [v.ended for v in views]
    publishers = a.wait_clients(STREAMS)
    for c in publishers:
        assert a.kick(c["id"])["code"] == 0
    assert a.wait_clients(0) == []
    assert a.get("clients/" + publishers[0]["id"])["code"] == 2049
    assert s.log().count("API: kick client") == STREAMS * (PLAYERS + 1)


@pytest.mark.parametrize("spread", [64, 0], ids=["home", "replicas"])
def test_workers_and_sums(four, source, spread):
    s, a = four(spread, env=FOUR)
    people(s, source)
    n = STREAMS * (PLAYERS + 1)

    def summed(key):
        return sum(w[key] for w in a.get("workers")["workers"])

    assert wait_for(lambda: (summed("publishers"), summed("players")) == (STREAMS, n - STREAMS), 5), a.get("workers")
    rows = a.get("workers")["workers"]
    assert [w["worker"] for w in rows] == [0, 1, 2, 3] and len({w["thread"] for w in rows}) == 4
    assert sum(w["streams"] - w["replicas"] for w in rows) == STREAMS
    assert summed("replicas") == sum(x["replicas"] for x in a.streams())
    assert (summed("replicas") > 0) == (spread == 0), rows
    assert summed("moved_in") == summed("moved_out") and all(w["silent_ms"] < 2500 for w in rows), rows
    got = values(scrape(a.port))
    assert got["srs_clients"][""] == n and got["srs_streams"][""] == STREAMS
    assert sum(got["srs_stream_clients"].values()) == n
    assert sum(got["srs_worker_players"].values()) == n - STREAMS
    assert set(got["srs_worker_busy_ratio"]) == {f'worker="{i}"' for i in range(4)}
    assert got["srs_connections"][""] >= n
    assert a.get("summaries")["data"]["system"]["conn_srs"] >= n
    vhost = wait_for(lambda: (lambda v: v if v["recv_bytes"] > 0 else None)(a.get("vhosts/")["vhosts"][0]), 6)
    assert vhost["recv_bytes"] <= sum(x["recv_bytes"] for x in a.streams()), "replicas did not get all from the owner worker"
    received = a.get("summaries")["data"]["system"]["srs_recv_bytes"]
    assert wait_for(lambda: a.get("summaries")["data"]["system"]["srs_recv_bytes"] > received, 5)


class Held:
    """Stops one thread of the server, as a debugger does; the others continue."""
    SEIZE, INTERRUPT, DETACH, ANY_THREAD = 0x4206, 0x4207, 17, 0x40000000

    def __init__(self, thread):
        self.thread, self.free, self.held, self.error = thread, threading.Event(), threading.Event(), 0
        self.tracer = threading.Thread(target=self.run, daemon=True)  # a debugger that exits releases the thread

    def run(self):
        libc = ctypes.CDLL(None, use_errno=True)
        libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
        if any(libc.ptrace(what, self.thread, None, None) < 0 for what in (self.SEIZE, self.INTERRUPT)):
            self.error = ctypes.get_errno()
            self.held.set()
            return
        os.waitpid(self.thread, self.ANY_THREAD)
        self.held.set()
        self.free.wait(60)
        libc.ptrace(self.DETACH, self.thread, None, None)

    def __enter__(self):
        self.tracer.start()
        self.held.wait(10)
        if self.error:
            pytest.skip(f"threads cannot be stopped here: {os.strerror(self.error)}")
        return self

    def __exit__(self, *_):
        self.free.set()
        self.tracer.join(10)


@pytest.mark.long
def test_one_that_is_held_up(four, source):
    """While a worker is blocked, polled paths answer and lists wait; all is well when it continues."""
    s, a = four(env=FOUR)
    s.allow_errors = True
    people(s, source)
    n, listed = STREAMS * (PLAYERS + 1), []
    assert wait_for(lambda: values(scrape(a.port))["srs_clients"][""] == n, 5), "not counted once a second"
    with Held(a.get("workers")["workers"][2]["thread"]):
        waits = threading.Thread(target=lambda: listed.append(a.clients()), daemon=True)
        waits.start()
        until = time.monotonic() + 4
        while time.monotonic() < until:
            began = time.monotonic()
            rows = a.get("workers")["workers"]
            a.get("summaries")
            assert values(scrape(a.port))["srs_clients"][""] == n
            assert time.monotonic() - began < 3 * SLOW
            time.sleep(0.2)
        assert rows[2]["silent_ms"] > 2500 and max(w["silent_ms"] for w in rows if w["worker"] != 2) < 2500, rows
        assert not listed
    waits.join(10)
    assert listed and wait_for(lambda: a.get("workers")["workers"][2]["silent_ms"] < 2500, 5)
    assert wait_for(lambda: len(a.streams()) == STREAMS, 5)


def test_one_worker_has_a_row(four, source):
    s, a = four(env={"SRS_WORKERS": "1"})
    s.push(source, "cam", loop=True)
    assert wait_for(lambda: a.stream("cam"), 5)
    (row,) = a.get("workers")["workers"]
    assert row["publishers"] == 1 and row["streams"] == 1 and row["replicas"] == 0
    assert "replicas" not in a.stream("cam") and "srs_worker_" not in scrape(a.port)
