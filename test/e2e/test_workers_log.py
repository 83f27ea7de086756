# SPDX-License-Identifier: MIT
"""One log of all workers: whole lines, in order of time, and the load of each worker."""
import ctypes
import os
import re
import signal
import time

import pytest

import httpapi
from procs import free_port, wait_for
from server import LINE

FOUR = {"SRS_WORKERS": "4"}


def stamps(text):
    lines = text.splitlines()
    assert lines and all(LINE.match(x) for x in lines), [x for x in lines if not LINE.match(x)][:3]
    return [time.mktime(time.strptime(x[1:20], "%Y-%m-%d %H:%M:%S")) * 1000 + int(x[21:24]) for x in lines]


def clients(s, n):
    """Each comes and goes; the kernel spreads them."""
    for i in range(n):
        c = s.client()
        c.publish(f"s{i}")
        c.close()


def test_one_log(srs):
    """Lines of four threads: none cut, in order of time, each client with one id and its last line."""
    s = srs(env=FOUR)
    s.allow_errors = True
    clients(s, 60)
    assert s.wait_log(r"client finished|has gone|disconnect|peer", 5)
    assert wait_for(lambda: len(re.findall(r"client identified", s.log())) >= 60, 5)
    at = stamps(s.log())
    newest = 0
    for x in at:
        assert x >= newest - 20, "a line is far from its time"
        newest = max(newest, x)


def test_a_new_file_for_all(srs):
    s = srs(env=FOUR)
    clients(s, 10)
    assert wait_for(lambda: s.log().count("client identified") == 10, 5), s.log()
    os.rename(s.log_path, s.log_path + ".1")
    os.kill(s.pid, signal.SIGUSR1)
    assert wait_for(lambda: os.path.exists(s.log_path) and "the log was reopened" in s.log(), 5)
    clients(s, 20)
    assert wait_for(lambda: len(re.findall(r"client identified", s.log())) >= 20, 5), s.log()
    with open(s.log_path + ".1", encoding="utf-8") as f:
        old = f.read()
    assert len(re.findall("client identified", old)) == 10
    stamps(old + s.log())


def test_the_last_lines_of_all(srs):
    """The API's lines of the log are those in the file."""
    api = httpapi.Api(free_port(), "me:secret")
    s = srs(glob=httpapi.conf(api.port, "auth { enabled on; username me; password secret; }"), env=FOUR)
    clients(s, 20)
    assert wait_for(lambda: len(re.findall(r"client identified", s.log())) >= 20, 5)
    time.sleep(0.3)
    got = api.get("log?lines=1000")["data"]["lines"]
    assert wait_for(lambda: s.log().startswith("\n".join(got) + "\n"), 3), "the file is written a little later"
    assert len([x for x in got if "client identified" in x]) == 20


@pytest.mark.long
def test_a_line_of_each_worker(srs, source):
    s = srs(env=FOUR)
    pub = s.push(source, loop=True)
    watchers = [s.watch() for _ in range(8)]
    assert s.wait_log(r"Worker 3 cpu=.*late=\d+\.\d\dms,\d+", 14, count=2), s.log()[-1500:]
    lines = re.findall(r"(Hybrid|Worker (\d)) cpu=(.*)", s.log())[-5:]
    assert [x[1] for x in lines] == ["", "0", "1", "2", "3"]
    conns = [[int(n) for n in m.group(1).split(",")] if (m := re.search(r"conns=(\d+,\d+,\d+,\d+)", x[2])) else [0] * 4
             for x in lines]
    assert conns[0] == [9, 1, 8, 0]
    assert [sum(x) for x in zip(*conns[1:])] == conns[0]
    assert re.search(r"streams=1, sched=\d+/s, co=\d+, clock=0,", lines[0][2]), lines[0]
    pub.stop()
    for w in watchers:
        w.stop()


class Held:
    """Stops one thread of a process, as a debugger does."""

    def __init__(self, tid):
        self.libc, self.tid = ctypes.CDLL(None, use_errno=True), tid
        self._call(0x4206)  # PTRACE_SEIZE
        self._call(0x4207)  # PTRACE_INTERRUPT
        os.waitpid(tid, 0x40000000)  # __WALL

    def _call(self, request):
        if self.libc.ptrace(request, self.tid, None, None) < 0:
            raise OSError(ctypes.get_errno(), "ptrace")

    def go_on(self):
        self._call(17)  # PTRACE_DETACH


def workers_of(pid):
    """The threads of the second worker and those after it."""
    def name(tid):
        with open(f"/proc/{pid}/task/{tid}/comm") as f:
            return f.read()
    return [int(t) for t in os.listdir(f"/proc/{pid}/task") if name(t).startswith("srs-w")]


def test_blocked_workers_are_reported(srs):
    s = srs(glob="inotify_auto_reload on;", env=FOUR)
    s.holds_allowed = (1000, 10000)
    assert s.wait_log(r"changes of .* are reloaded", 5), "not all have begun"
    tids = workers_of(s.pid)
    assert len(tids) == 3
    try:
        held = Held(tids[1])
    except PermissionError:
        pytest.skip("this machine does not allow stopping a thread")
    told = s.wait_log(r"\[WARN\]\[\d+\]\[\w+\]\[\d+\] worker (\d) has been stalled for \d+ ms", 6)
    held.go_on()
    assert told, s.log()
    assert s.wait_log(rf"worker {told.group(1)} continues after (\d+) ms", 3), s.log()
    assert s.log().count("has been stalled for") == 1
