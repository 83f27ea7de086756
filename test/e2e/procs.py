# SPDX-License-Identifier: MIT
"""Child processes: each is started in its own process group and ended by its id."""
import os
import random
import re
import select
import shutil
import signal
import socket
import subprocess
import time

# The test runner's parent may ignore SIGCHLD; then children would leave no status.
signal.signal(signal.SIGCHLD, signal.SIG_DFL)

SLOW = float(os.environ.get("E2E_SLOW", "1"))  # factor for all time limits (sanitizer builds)
PACE = 2.5  # speed of publishing relative to real time; a test of clocks uses speed=1
WORKERS = os.environ.get("E2E_WORKERS")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLIP = os.path.join(ROOT, "doc", "source.flv")
SOURCE = os.path.join(ROOT, "test", "data", "bframes.flv")  # like doc/source.flv, but with B-frames
BINARY = os.path.abspath(os.environ.get("SRS_BINARY", os.path.join(ROOT, "objs", "srs")))
# Tests that run in parallel (gw0, gw1, ...) have separate ports.
_SIDE = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
_SIDES = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
_given = set()


def patience(seconds):
    """Returns how long to wait for an event that must come: long enough for a loaded machine, even if it comes soon on an idle one."""
    return max(seconds, 20.0) * SLOW


def free_port():
    """Returns a TCP port of 127.0.0.1 without a listener, below the range of outgoing connections, so that it is still free when
    the server binds it."""
    for _ in range(1000):
        port = random.randrange(15000 + _SIDE, 32000, _SIDES)
        if port in _given:
            continue
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
        _given.add(port)
        return port
    raise RuntimeError("no free port")


def wait_port(port, timeout=5.0, host="127.0.0.1", proc=None):
    end = time.monotonic() + patience(timeout)
    while time.monotonic() < end:
        if proc is not None and proc.poll() is not None:
            return False
        with socket.socket() as s:
            s.settimeout(1)
            if s.connect_ex((host, port)) == 0:
                return True
        time.sleep(0.005)
    return False


def wait_for(what, timeout=5.0, step=0.02):
    """Waits until what() is true; returns its last value. Waits longer than `timeout` on a loaded machine."""
    end = time.monotonic() + patience(timeout)
    while True:
        got = what()
        if got or time.monotonic() > end:
            return got
        time.sleep(step)


def never(what, seconds, step=0.02):
    """Returns True if what() stays false for these seconds, regardless of the machine's speed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return False
        time.sleep(step)
    return True


def comes_to_rest(count, seconds=1.0):
    """Waits until count() no longer grows; returns False if it never stops."""
    last = [None]

    def same():
        before, last[0] = last[0], count()
        return before == last[0]
    return wait_for(same, 10, seconds)


def alive(pid):
    """Also works for processes that are not our children: a zombie counts as ended."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def have(*tools):
    return all(shutil.which(t) for t in tools)


def rss_kb(pid):
    with open(f"/proc/{pid}/status") as f:
        return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1))


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def over(p, timeout):
    """Waits for a Popen; subprocess would poll every 50 ms."""
    try:
        fd = os.pidfd_open(p.pid)
    except (AttributeError, OSError):  # an older Python or system; or it is already reaped
        return p.wait(timeout)
    try:
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        poll.poll(max(timeout, 0) * 1000)
    finally:
        os.close(fd)
    return p.wait(0)


class Proc:
    """A child with its output in a file. Every one is ended by .end(), at the latest at teardown."""
    all = []

    def __init__(self, argv, log, env=None, cwd=None, stdout=None, preexec=None):
        self.argv, self.log = [str(a) for a in argv], str(log)
        self.out = open(self.log, "ab")
        self.p = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=stdout or self.out,
                                  stderr=self.out, env=env, cwd=cwd, start_new_session=True,
                                  preexec_fn=preexec)
        Proc.all.append(self)

    @property
    def pid(self):
        return self.p.pid

    def poll(self):
        return self.p.poll()

    def running(self):
        return self.p.poll() is None

    def text(self):
        with open(self.log, errors="replace") as f:
            return f.read()

    def wait(self, timeout=10.0):
        """Returns its exit code; raises AssertionError if it does not end in time."""
        try:
            return over(self.p, patience(timeout))
        except subprocess.TimeoutExpired:
            self.end()
            raise AssertionError(f"{self.argv[0]} did not end in {patience(timeout):.0f} s:\n"
                                 + self.text()[-2000:]) from None

    def kill(self, sig):
        if self.running():
            os.kill(self.p.pid, sig)

    def end(self, sig=signal.SIGTERM, grace=2.0):
        """Asks it to end, then kills it, and reaps it. Returns the exit code."""
        if self.running():
            self.kill(sig)
            try:
                over(self.p, grace * SLOW)
            except subprocess.TimeoutExpired:
                os.killpg(self.p.pid, signal.SIGKILL)
                self.p.wait(10)
        self.out.close()
        if self in Proc.all:
            Proc.all.remove(self)
        return self.p.returncode


def end_all():
    for p in list(Proc.all):
        p.end(signal.SIGKILL)
