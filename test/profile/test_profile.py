# SPDX-License-Identifier: MIT
"""./configure --gprof, --gperf with --gcp --gmp --gmc --gmd, --valgrind, --sanitizer: built, run with a publisher and 100 players,
stopped by Ctrl+C, and our own functions found in the report."""
import glob
import json
import os
import re
import signal

import pytest

import flv
import flvgen
import lab
import procs
from lab import Server, pprof, run, shares

PLAYERS = 100


# ---- options that exclude each other

@pytest.mark.parametrize("switches, why", [
    (("--gperf=on", "--gmc=on", "--gmp=on"), "--gmc=on and --gmp=on exclude each other"),
    (("--gperf=on", "--gmc=on", "--gprof=on"), "--gmc=on and --gprof=on exclude each other"),
    (("--gperf=on", "--gmp=on", "--gprof=on"), "--gmp=on and --gprof=on exclude each other"),
    (("--gperf=on", "--gcp=on", "--gprof=on"), "--gcp=on and --gprof=on exclude each other"),
    (("--gmc=on",), "--gmc=on needs --gperf=on"),
    (("--gmd=on",), "--gmd=on needs --gperf=on"),
    (("--gmp=on",), "--gmp=on needs --gperf=on"),
    (("--gcp=on",), "--gcp=on needs --gperf=on"),
    (("--with-gcp", "--without-gperf"), "--gcp=on needs --gperf=on"),
    (("--gperf=on", "--sanitizer=on"), "--sanitizer=on and --gperf=on exclude each other"),
    (("--gperf=on", "--valgrind=on"), "--valgrind=on and --gperf=on exclude each other"),
    (("--sanitizer=on", "--valgrind=on"), "--sanitizer=on and --valgrind=on exclude each other"),
    (("--sanitizer=on", "--static=on"), "--sanitizer=on and --static=on exclude each other"),
    (("--gperf=on", "--gcp=on", "--static=on"), "--gcp=on and --static=on exclude each other"),
])
def test_refused(switches, why):
    said = lab.refused(*switches)
    assert why in said and len(said.splitlines()) == 1, said


# ---- gprof

@pytest.mark.needs("gprof")
def test_gprof(tmp_path):
    s = Server(lab.build("gprof", "--gprof=on"), tmp_path).up()
    s.load(6, PLAYERS)
    assert s.interrupt() == 0
    text = run("gprof", "-b", s.binary, "gmon.out", cwd=tmp_path)
    flat, _, graph = text.partition("Call graph")
    for name in ("live_source_push", "rtmp_session_play", "rtmp_session_publish", "co_park"):
        assert re.search(rf"^.*\d.*\b{name}$", flat, re.M), f"no {name} in:\n{flat[:3000]}"
    # the entry of the push names its caller
    entry = next(e for e in graph.split("-----\n") if re.search(r"^\[\d+\].*\blive_source_push\b", e, re.M))
    assert "rtmp_intake_push" in entry.partition("\n[")[0], entry


# ---- gperftools

@pytest.fixture
def gperf():
    if not procs.have("google-pprof"):
        pytest.skip("not installed: google-perftools")


def test_gcp(tmp_path, gperf):
    s = Server(lab.build("gcp", "--gperf=on", "--gcp=on"), tmp_path).up()
    s.load(8, PLAYERS, publishers=50)
    assert s.interrupt() == 0
    text = pprof(s, "--text", "gperf.srs.gcp")
    total = int(re.search(r"Total: (\d+) samples", text)[1])
    assert total >= 10, text
    got = shares(text)
    assert got.get("tcp_send_some", 0) > 0 and got.get("rtmp_session_publish", 0) > 0, text
    # whole stacks, down to the start of every coroutine
    assert got["_st_context_entry"] >= 90, text
    if procs.have("dot"):
        svg = pprof(s, "--svg", "gperf.srs.gcp")
        assert "<svg" in svg and "tcp_send_some" in svg
    stacks = pprof(s, "--collapsed", "gperf.srs.gcp")
    sends = [l for l in stacks.splitlines() if "tcp_send_some" in l]
    assert sends and all(l.startswith("_st_context_entry") for l in sends), stacks
    assert "tcp_send_some" in lab.flame(tmp_path, stacks)


def test_gmp(tmp_path, gperf):
    s = Server(lab.build("gmp", "--gperf=on", "--gmp=on"), tmp_path).up()
    s.load(6, PLAYERS)
    assert s.interrupt() == 0
    heap = sorted(glob.glob(str(tmp_path / "gperf.srs.gmp*.heap")))
    assert heap, os.listdir(tmp_path)
    held = pprof(s, "--text", heap[-1])
    assert float(re.search(r"Total: ([\d.]+) MB", held)[1]) > 0, held
    taken = pprof(s, "--text", "--alloc_space", heap[-1])
    got = shares(taken)
    assert got.get("av_packet_new", 0) > 1 and got.get("rtmp_session_main", 0) > 10, taken


def test_gmc_clean(tmp_path, gperf):
    objs = lab.build("gmc", "--gperf=on", "--gmc=on")
    s = Server(objs, tmp_path, PPROF_PATH=os.path.join(objs, "pprof"), HEAPCHECK="normal").up()
    s.load(6, PLAYERS)
    assert s.interrupt() == 0, s.errors()
    assert 'No leaks found for check "_main_"' in s.errors(), s.errors()


def test_gmc_planted_leak(tmp_path, gperf):
    objs = lab.build("gmc", "--gperf=on", "--gmc=on")
    s = Server(objs, tmp_path, PPROF_PATH=os.path.join(objs, "pprof"), HEAPCHECK="normal", PLANT="leak").up()
    s.load(4, 10)
    assert s.interrupt(40) == 1
    said = s.errors()
    assert "detected leaks of 4096 bytes in 1 objects" in said, said
    stack = re.search(r"Leak of 4096 bytes in 1 objects allocated from:\n((?:\s+@.*\n)+)", said)[1]
    assert "plant_leak" in stack and "_st_context_entry" in stack, said


def test_gmc_usr1_ends_it(tmp_path, gperf):
    objs = lab.build("gmc", "--gperf=on", "--gmc=on")
    s = Server(objs, tmp_path, PPROF_PATH=os.path.join(objs, "pprof"), HEAPCHECK="normal").up()
    s.proc.kill(signal.SIGUSR1)
    assert s.proc.wait(20) == 0
    assert "No leaks found" in s.errors()


def test_gmd_clean(tmp_path, gperf):
    s = Server(lab.build("gmd", "--gperf=on", "--gmd=on"), tmp_path, TCMALLOC_PAGE_FENCE="1").up()
    s.load(5, PLAYERS)
    assert s.interrupt() == 0, s.text()[-3000:]


@pytest.mark.needs("gdb")
def test_gmd_planted_overflow(tmp_path, gperf):
    objs = lab.build("gmd", "--gperf=on", "--gmd=on")
    s = Server(objs, tmp_path, TCMALLOC_PAGE_FENCE="1", PLANT="overflow")
    assert s.proc.wait(20) == -signal.SIGSEGV
    assert "crash: signal 11" in s.text() and "plant_overflow" in s.text()
    cores = glob.glob(str(tmp_path / "core*"))
    if not cores:
        with open("/proc/sys/kernel/core_pattern") as f:
            pytest.skip("no core here: kernel.core_pattern is " + f.read().strip())
    said = run("gdb", "-batch", "-ex", "bt 1", s.binary, cores[0])
    assert re.search(r"#0 .*plant_overflow \(\) at src/app/dev/fault_injection.c:\d+", said), said
    assert "one behind the end" in said, said


def resident_after_a_peak(s, folder):
    """kB before, at and after a peak of 40 streams of frames of 20 kB, a key frame every 4 s."""
    top, media = [], str(folder / "large.flv")
    flv.write(media, flvgen.synthetic(seconds=8, fps=25, gop=100, size=20000, audio=False))

    def watch():
        procs.wait_for(lambda: top.append(procs.rss_kb(s.pid)), 5 / procs.SLOW, 0.1)
    before = procs.rss_kb(s.pid)
    s.load(6, 1, publishers=40, beside=watch, media=media)
    procs.wait_for(lambda: procs.rss_kb(s.pid) < before + (max(top) - before) / 2, 12, 0.2)
    return before, max(top), procs.rss_kb(s.pid)


def test_gperf_gives_memory_back(tmp_path, gperf):
    s = Server(lab.build("gperf", "--gperf=on"), tmp_path, vhost="",
               glob="tcmalloc_release_rate 10;").up()
    with open(f"/proc/{s.pid}/maps") as f:
        assert "libtcmalloc" in f.read()
    assert "malloc: tcmalloc, release rate 10" in s.text()
    before, top, after = resident_after_a_peak(s, tmp_path)
    assert top > before + 20000 and after < before + (top - before) / 2, (before, top, after)
    data = json.loads(s.get("/api/v1/tcmalloc"))["data"]
    assert data["release_rate"] == 10 and data["tcmalloc"]["pageheap_unmapped_bytes"] > 0, data
    assert 0 < data["generic"]["current_allocated_bytes"] < data["generic"]["heap_size"], data
    assert "Bytes in use by application" in s.get("/api/v1/tcmalloc?page=summary")
    assert s.interrupt() == 0


def test_product_gives_memory_back(tmp_path):
    s = Server(os.path.join(lab.ROOT, lab.OBJS), tmp_path, vhost="").up()
    before, top, after = resident_after_a_peak(s, tmp_path)
    assert top > before + 20000 and after < before + (top - before) / 2, (before, top, after)
    assert s.interrupt() == 0


# ---- valgrind, sanitizers

@pytest.mark.needs("valgrind")
def test_valgrind_clean(tmp_path):
    s = Server(lab.build("valgrind", "--valgrind=on"), tmp_path,
               before=("valgrind", "--leak-check=full")).up(60)
    s.load(10, PLAYERS, beside=lambda: s.get("/api/v1/valgrind?check=quick"))
    assert s.interrupt(60) == 0
    said = s.errors()
    assert "ERROR SUMMARY: 0 errors" in said, said
    assert re.search(r"definitely lost: 0 bytes|All heap blocks were freed", said), said
    assert "switching stacks" not in said


@pytest.mark.needs("valgrind")
def test_valgrind_planted_leak(tmp_path):
    s = Server(lab.build("valgrind", "--valgrind=on"), tmp_path,
               before=("valgrind", "--leak-check=full"), PLANT="leak").up(60)
    s.load(4, 5)
    assert s.interrupt(60) == 0
    said = s.errors()
    assert re.search(r"4,096 bytes in 1 blocks are definitely lost.*\n(.*\n){1,3}.*plant_leak", said), said
    assert "ERROR SUMMARY: 1 errors" in said, said


def test_sanitizer_clean(tmp_path):
    s = Server(lab.build("asan", "--sanitizer=on"), tmp_path).up()
    s.load(6, PLAYERS)
    assert s.interrupt(30) == 0, s.text()[-4000:]
    assert "Sanitizer" not in s.text() and "runtime error" not in s.text()


@pytest.mark.parametrize("plant, said", [("overflow", "heap-buffer-overflow"),
                                         ("leak", "LeakSanitizer: detected memory leaks")])
def test_sanitizer_planted(tmp_path, plant, said):
    s = Server(lab.build("asan", "--sanitizer=on"), tmp_path, PLANT=plant)
    if plant == "leak":
        s.up()
        s.interrupt(30)
    assert s.proc.wait(20) != 0
    assert said in s.errors() and f"plant_{plant}" in s.errors(), s.errors()


def test_signals_over_the_api(tmp_path):
    s = Server(lab.build("signal", "--signal-api=on"), tmp_path, vhost="").up()
    assert json.loads(s.get("/api/v1/signal?signo=9"))["data"]["signo"] == 0
    got = json.loads(s.get("/api/v1/signal?signo=SIGHUP"))["data"]
    assert got["signal"] == "SIGHUP" and got["signo"] == 1
    assert procs.wait_for(lambda: "reload" in s.text(), 20)
    s.get("/api/v1/signal?signo=SIGTERM")
    assert s.proc.wait(20) == 0


# ---- a build for users has none of it

def test_product_has_no_plant(tmp_path):
    binary = os.path.join(lab.ROOT, lab.OBJS, "srs")
    with open(binary, "rb") as f:
        code = f.read()
    assert b"a bug on purpose" not in code and b"plant_overflow" not in code
    libraries = run("ldd", binary)
    assert not re.search("tcmalloc|profiler|asan|ubsan", libraries), libraries
