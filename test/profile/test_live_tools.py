# SPDX-License-Identifier: MIT
"""Tools that inspect a running release build: perf, strace, ltrace, gdb; and our scripts."""
import glob
import os
import re
import signal
import socket
import subprocess
import time

import pytest

import lab
import procs
from lab import ROOT, Server, run

SCRIPTS = os.path.join(ROOT, "scripts")
GDB_CO = os.path.join(SCRIPTS, "gdb_co.py")
PRODUCT = os.path.join(ROOT, lab.OBJS)


@pytest.fixture
def srs(tmp_path):
    s = Server(PRODUCT, tmp_path).up()
    yield s
    if s.proc.running():
        assert s.interrupt() == 0, s.text()[-2000:]


def chains(script):
    """[(names outermost first, whether the innermost is in the kernel)] of a `perf script`."""
    out = []
    for block in script.split("\n\n"):
        frames = re.findall(r"^\s+[0-9a-f]+ (\S+?)(?:\+0x[0-9a-f]+)? \((.*)\)$", block, re.M)
        names = [n for n, module in frames if "kernel" not in module]
        if names:
            out.append((names[::-1], "kernel" in frames[0][1]))
    return out


@pytest.mark.needs("perf")
def test_perf_follows_coroutines(srs, tmp_path):
    """Frame pointers alone give one chain from the start of the coroutine to the system call."""
    data = tmp_path / "perf.data"
    said = []

    def record():
        p = subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "997", "--call-graph", "fp",
                            "-p", str(srs.pid), "-o", str(data), "--", "sleep", "5"],
                           capture_output=True, text=True, timeout=60)
        said.append(p.stderr if p.returncode else "")
    srs.load(8, 100, publishers=50, beside=record)
    if said[0]:
        assert re.search("perf_event_paranoid|Permission|not permitted", said[0]), said[0]
        pytest.skip("perf may not: " + said[0].strip().splitlines()[-1])
    script = subprocess.run(["perf", "script", "-i", str(data), "-F", "comm,ip,sym,dso"],
                            capture_output=True, text=True, timeout=60).stdout
    got = chains(script)
    assert len(got) >= 50, script[:2000]
    sends = [names for names, kernel in got if kernel and "tcp_send_some" in names]
    reads = [names for names, kernel in got if kernel and "io_sys_recv" in names or "tcp_read" in names]
    assert len(sends) >= 10 and len(reads) >= 5, (len(sends), len(reads), got[:20])
    for names in sends + reads:
        assert names[:2] == ["_st_context_entry", "_st_thread_main"], names
    # a player's data is sent by its own coroutine, or by the timer when its turn has come
    assert all({"rtmp_session_play", "ticker"} & set(names) for names in sends), sends[:5]
    assert all(names[2:4] == ["run", "rtmp_session_main"] for names in reads), reads[:5]
    # the caller of the bare system call is there, too
    assert any(n[-2:] == ["tcp_send_some", "syscall"] for n in sends), sends[:5]
    whole = sum(names[0] in ("_st_context_entry", "_start", "__libc_start_call_main", "main")
                for names, _ in got)
    assert whole >= 0.75 * len(got), f"{whole} of {len(got)} stacks are whole"
    assert "tcp_send_some" in lab.flame(tmp_path, script_with_modules(data))


def script_with_modules(data):
    return subprocess.run(["perf", "script", "-i", str(data)], capture_output=True, text=True,
                          timeout=60).stdout


@pytest.mark.needs("strace")
def test_strace_counts_calls(srs):
    said = []

    def trace():
        p = subprocess.run(["timeout", "-s", "INT", "3", "strace", "-c", "-f", "-p", str(srs.pid)],
                           capture_output=True, text=True, timeout=30)
        said.append(p.stderr)
    srs.load(6, 20, beside=trace)
    for call in ("sendmsg|sendto", "recvfrom", "epoll_pwait2|epoll_wait"):
        assert re.search(rf"\b({call})$", said[0], re.M), said[0]


@pytest.mark.needs("ltrace")
def test_ltrace_counts_calls(tmp_path):
    """Started by ltrace: when it detaches from a process it may kill it."""
    s = Server(PRODUCT, tmp_path, before=("ltrace", "-f", "-c", "-o", "calls.txt")).up()
    s.load(4, 5)
    child = run("pgrep", "-P", s.pid).split()[0]
    os.kill(int(child), signal.SIGINT)
    s.proc.wait(20)
    with open(tmp_path / "calls.txt") as f:
        said = f.read()
    assert re.search(r"\bsyscall$", said, re.M) and re.search(r"\bmalloc$", said, re.M), said


@pytest.mark.needs("gdb")
def test_gdb_lists_coroutines(srs):
    said = []
    srs.load(6, 20, publishers=2, beside=lambda: said.append(
        run("gdb", "-p", srs.pid, "-batch", "-x", GDB_CO, "-ex", "co list", "-ex", "co bt all",
            "-ex", "co count")))
    check_coroutines(said[0], 20, 2)
    assert srs.proc.running()
    assert re.search(r"^ +20 rtmp +\S.*live_sender_run", said[0], re.M), said[0]


def check_coroutines(said, players, publishers):
    rows = re.findall(r"^ *(\d+) (\S+) +([0-9a-z]{8}|) +(\S+) +(\d+) (.*)$", said, re.M)
    rtmp = [r for r in rows if r[1] == "rtmp"]
    assert len([r for r in rtmp if "live_sender_run" in r[5]]) == players, said
    assert len([r for r in rtmp if "rtmp_conn_fill" in r[5] or "io_read" in r[5]]) >= publishers, said
    assert len({r[2] for r in rtmp}) == players + publishers, "one id each"
    for name in ("(scheduler)", "(ticker)", "accept", "stat", "watchdog"):
        assert any(r[1] == name for r in rows), (name, said)
    # whole stacks: down to the first frame, with source lines
    bt = said.partition("where\n")[2]
    assert bt.count("_st_context_entry () at") >= players + publishers, said
    assert re.search(r"rtmp_session_play .* at src/serve/rtmp/\w+\.c:\d+", bt), said


@pytest.mark.needs("gdb")
def test_gdb_lists_coroutines_of_a_core(tmp_path):
    s = Server(PRODUCT, tmp_path).up()
    url = f"rtmp://127.0.0.1:{s.port}/live/s"
    tools = os.path.join(ROOT, lab.OBJS)
    for tool, n in (("sb_rtmp_publish", 1), ("sb_rtmp_load", 10)):
        procs.Proc([f"{tools}/{tool}", "-r", url, "-c", n, "-s", "0.2", "-e", 60] +
                   (["-i", procs.SOURCE] if "publish" in tool else []), s.path(tool))
        time.sleep(1.5)
    s.proc.kill(signal.SIGABRT)
    assert s.proc.wait(20) == -signal.SIGABRT
    cores = glob.glob(str(tmp_path / "core*"))
    if not cores:
        with open("/proc/sys/kernel/core_pattern") as f:
            pytest.skip("no core here: kernel.core_pattern is " + f.read().strip())
    check_coroutines(run("gdb", "-batch", s.binary, cores[0], "-x", GDB_CO, "-ex", "co list",
                         "-ex", "co bt all"), 10, 1)


# ---- scripts

@pytest.mark.parametrize("kind, report", [("cpu", "flat.txt"), ("heap", "held.txt"),
                                          ("leaks", "srs.err"), ("perf", "flat.txt")])
def test_profile_script(tmp_path, kind, report):
    if not procs.have("perf" if kind == "perf" else "google-pprof"):
        pytest.skip("not installed")
    out = tmp_path / "out"
    env = lab.quiet_env(OBJS=lab.OBJS, OUT=str(out), PLAYERS="100", PUBLISHERS="20",
                        VHOST=Server.BUSY)
    p = subprocess.run([os.path.join(SCRIPTS, "profile.sh"), kind, "6", "both"], env=env,
                       capture_output=True, text=True, timeout=300 * procs.SLOW)
    if kind == "perf" and "perf_event_paranoid" in p.stderr:
        pytest.skip("perf may not")
    assert p.returncode == 0, p.stdout + p.stderr
    text = (out / report).read_text()
    want = {"cpu": "syscall", "heap": "av_packet_new", "leaks": "No leaks found", "perf": "kernel"}
    assert want[kind] in text, text
    if kind in ("cpu", "perf"):
        assert "rtmp_session" in (out / "flame.svg").read_text()


def test_profile_script_says_how():
    p = subprocess.run([os.path.join(SCRIPTS, "profile.sh"), "nothing"], capture_output=True, text=True)
    assert p.returncode == 2 and "cpu|heap|leaks|perf" in p.stdout


def script(name, *args):
    p = subprocess.run([os.path.join(SCRIPTS, name), *args], capture_output=True, text=True, timeout=30)
    return p.returncode, p.stdout, p.stderr


def test_irq_affinity_dry_run(tmp_path):
    """On a simulated machine: four queues on processors 1 to 3."""
    sys, proc = tmp_path / "sys", tmp_path / "proc"
    for i in range(4):
        (sys / f"devices/system/cpu/cpu{i}").mkdir(parents=True)
        (sys / f"class/net/eth9/queues/rx-{i}").mkdir(parents=True)
        (sys / f"class/net/eth9/queues/rx-{i}/rps_cpus").write_text("0\n")
        (proc / f"irq/{40 + i}").mkdir(parents=True)
        (proc / f"irq/{40 + i}/smp_affinity_list").write_text("0-3\n")
    (proc / "irq/39").mkdir()
    (proc / "interrupts").write_text(
        "           CPU0\n 39:  1  PCI-MSI  0-edge  eth9-config\n" +
        "".join(f" {40 + i}:  7  PCI-MSI  {i}-edge  eth9-rx-{i}\n" for i in range(4)) +
        " 50:  9  PCI-MSI  0-edge  nvme0q0\nLOC:  5  Local timer interrupts\n")
    env = dict(os.environ, SYSFS=str(sys), PROCFS=str(proc))
    command = [os.path.join(SCRIPTS, "perf-set-irq-affinity.sh")]
    dry = subprocess.run(command + ["--dry-run", "--rps", "eth9", "1-3"], env=env, capture_output=True, text=True)
    assert dry.returncode == 0, dry.stderr
    assert dry.stdout.splitlines()[:4] == [
        f"would write {cpu} to {proc}/irq/{irq}/smp_affinity_list"
        for irq, cpu in ((40, 1), (41, 2), (42, 3), (43, 1))]
    assert dry.stdout.count("would write e to ") == 4
    assert (proc / "irq/40/smp_affinity_list").read_text() == "0-3\n"
    real = subprocess.run(command + ["eth9", "1-3"], env=env, capture_output=True, text=True)
    assert real.returncode == 0, real.stderr
    assert [(proc / f"irq/{i}/smp_affinity_list").read_text() for i in (40, 41, 42, 43)] == ["1\n", "2\n", "3\n", "1\n"]
    for bad in (["eth8", "1"], ["eth9", "1-9"], ["eth9", "x"], ["eth9"]):
        assert subprocess.run(command + ["--dry-run", *bad], env=env, capture_output=True).returncode != 0


def test_pin(tmp_path):
    cpus = sorted(os.sched_getaffinity(0))
    child = procs.Proc(["sleep", "30"], tmp_path / "sleep.log")
    code, out, err = script("perf-pin.sh", "--dry-run", "--nice", "5", str(cpus[-1]), str(child.pid))
    assert code == 0 and f"would run: taskset -cp {cpus[-1]} {child.pid}" in out, out + err
    assert f"would run: renice -n 5 -p {child.pid}" in out
    assert sorted(os.sched_getaffinity(child.pid)) == cpus
    code, out, err = script("perf-pin.sh", "--nice", "5", str(cpus[-1]), str(child.pid))
    assert code == 0, out + err
    assert os.sched_getaffinity(child.pid) == {cpus[-1]} and os.getpriority(os.PRIO_PROCESS, child.pid) == 5
    assert script("perf-pin.sh", "--nice", "50", "0", str(child.pid))[0] != 0
    assert script("perf-pin.sh")[0] == 2


def test_udp_loss():
    code, out, err = script("perf-udp-loss.sh", "--dry-run", "--buffers", "4194304", "1", "2")
    assert code == 0 and "would run: sysctl -w net.core.rmem_max=4194304" in out and "would read" in out, out + err
    with socket.socket(type=socket.SOCK_DGRAM) as r, socket.socket(type=socket.SOCK_DGRAM) as s:
        r.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        r.bind(("127.0.0.1", 0))
        p = subprocess.Popen([os.path.join(SCRIPTS, "perf-udp-loss.sh"), "1", "1"],
                             stdout=subprocess.PIPE, text=True)
        time.sleep(0.4)
        for _ in range(200):
            s.sendto(bytes(1000), r.getsockname())
        out = p.communicate(timeout=20)[0]
        lost = int(re.search(r"lost when received (\d+), when sent \d+", out)[1])
        assert lost >= 100, out
        assert f"socket of port {r.getsockname()[1]} " in out, out
    assert script("perf-udp-loss.sh", "x")[0] == 2
