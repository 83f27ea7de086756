# SPDX-License-Identifier: MIT
"""The server under test: configuration, process, log, and checks that apply to every server at its end."""
import os
import re
import signal
import time

import procs
from procs import PACE, free_port, patience, wait_for, wait_port
from rtmpclient import Client, Pusher, Watcher

LINE = re.compile(r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\]\[(TRACE|DEBUG|INFO|WARN|ERROR)\]"
                  r"\[(\d+)\]\[([0-9a-zA-Z_-]*)\](?:\[(\d+)\])? (.*)$")
SANITIZER = re.compile(r"((ERROR|WARNING): (Address|Leak|Undefined|Memory|Thread)Sanitizer|runtime error:"
                       r"|Sanitizer:DEADLYSIGNAL|Assertion .* failed|stack smashing|core dumped)")

HELD = re.compile(r"coroutine (.+) held the thread for ([\d.]+) ms of cpu; (\d+) holds")


def holds(text, few=2, longest=25):
    """Returns why the thread was blocked too long, or None. One short stall proves nothing: time that a virtual machine's host takes
    can count as the guest's CPU time."""
    told = HELD.findall(text) if procs.SLOW <= 1 else []
    if any(float(ms) > longest or int(count) > few for _, ms, count in told):
        return "\n".join(" ".join(t) for t in told[:20])
    return None


def sends_soon(vhost):
    """Disables write merging: players get messages in groups of up to 350 ms by default, and a test would wait that long for the
    first ones."""
    soon = " mw_latency 20;"
    if re.search(r"\bmw_|\bmin_latency|\bsend_min_interval", vhost):
        return vhost
    if re.search(r"(^|\s)play\s*\{", vhost):
        return re.sub(r"((?:^|\s)play\s*\{)", rf"\1{soon}", vhost)
    if "vhost " in vhost:
        return re.sub(r"(\bvhost\s+[^\s{]+\s*\{)", rf"\1 play {{{soon} }}", vhost)
    return f"play {{{soon} }} {vhost}"


class Server:
    """Server(tmp, vhost="...", glob="...") writes the configuration; start() runs the server; stop() checks it."""

    def __init__(self, tmp, vhost="", glob="", conf=None, port=None, name="srs", args=None,
                 env=None, tank="file", daemon=False, level="trace", preexec=None):
        self.tmp, self.name = str(tmp), name
        self.port = port or free_port()
        self.conf_path = os.path.join(self.tmp, name + ".conf")
        self.log_path = os.path.join(self.tmp, name + ".log")
        self.pid_path = os.path.join(self.tmp, name + ".pid")
        self.out_path = os.path.join(self.tmp, name + ".out")
        self.tank, self.daemon, self.level = tank, daemon, level
        self.args, self.env, self.preexec = args, env, preexec
        self.allow_errors = False
        self.holds_allowed = ()
        self.wrap = []  # a program that executes it, with its arguments
        self.proc = None
        self.write(vhost, glob, conf)

    def write(self, vhost="", glob="", conf=None):
        """Writes the configuration file; it takes effect at start() or reload()."""
        if conf is None:
            glob_text = glob
            for key, value in (("max_connections", "1000"), ("pithy_print_ms", "10000"), ("auto_reload_for_docker", "off")):
                if not re.search(rf"^\s*{key}\b", glob, re.M):
                    glob_text += f"\n{key} {value};"
            listen = "" if re.search(r"^\s*listen\b", glob, re.M) else f"listen 127.0.0.1:{self.port};"
            conf = f"""{listen}
daemon {"on" if self.daemon else "off"};
srs_log_tank {self.tank};
srs_log_level_v2 {self.level};
srs_log_file {self.log_path};
pid {self.pid_path};
{glob_text}
"""
            vhost = sends_soon(vhost)
            if "vhost " not in vhost:
                conf += f"vhost __defaultVhost__ {{\n{vhost}\n}}\n"
            else:
                conf += vhost + "\n"
        with open(self.conf_path, "w") as f:
            f.write(conf)

    def start(self, wait=True):
        env = {k: v for k, v in os.environ.items() if not k.startswith("SRS_")}
        # freed memory is returned at once, or the tests of memory would measure the sanitizer
        env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=4"
        if procs.WORKERS:
            env["SRS_WORKERS"] = procs.WORKERS
        env.update(self.env or {})
        argv = self.wrap + [procs.BINARY] + (self.args if self.args is not None else ["-c", self.conf_path])
        self.proc = procs.Proc(argv, self.out_path, env=env, cwd=self.tmp, preexec=self.preexec)
        if wait:
            assert wait_port(self.port, 10, proc=None if self.daemon else self.proc), \
                f"the server does not listen on {self.port}:\n{self.text()[-3000:]}"
        return self

    @property
    def pid(self):
        return self.proc.pid

    # -- its log

    def log(self):
        path = self.log_path if self.tank == "file" else self.out_path
        try:
            with open(path, errors="replace") as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def text(self):
        """The log, and the server's output."""
        return self.log() + ("" if self.tank != "file" else self.proc.text())

    def wait_log(self, pattern, timeout=5.0, start=0, count=1):
        """Waits until `count` lines match after offset `start`; returns the last match or None."""
        rx = re.compile(pattern, re.M)

        def look():
            found = list(rx.finditer(self.log()[start:]))
            return found[-1] if len(found) >= count else None
        return wait_for(look, timeout)

    def mark(self):
        return len(self.log())

    def rss(self):
        return procs.rss_kb(self.pid)

    # -- life cycle

    def reload(self, *args, ok=True, **kw):
        """Writes a new file (if given), sends SIGHUP, and waits for the log line with the result."""
        if args or kw:
            self.write(*args, **kw)
        at = self.mark()
        self.proc.kill(signal.SIGHUP)
        want = r"reload: done" if ok else r"reload: failed"
        assert self.wait_log(want, 5, at), f"no line about the reload:\n{self.log()[at:]}"
        return self.log()[at:]

    def stop(self, sig=signal.SIGTERM, timeout=5.0):
        """Stops the server and checks that it ends in time, on its own, without an ERROR line or sanitizer report, and that no
        coroutine blocked the thread (measured in CPU time, so load of other programs does not count; a sanitizer's does)."""
        if self.proc is None:
            return None
        alive = self.proc.running()
        early = self.proc.poll()
        end = time.monotonic()
        if alive:
            self.proc.kill(sig)
            code = self.proc.wait(timeout)
        else:
            code = early
        self.stop_seconds = time.monotonic() - end
        self.proc.end()
        text = self.text()
        self.proc = None
        bad = SANITIZER.search(text)
        assert not bad, "sanitizer or abort:\n" + text[max(0, bad.start() - 300):bad.start() + 4000]
        assert alive, f"the server ended before it was told to, code {early}:\n{text[-3000:]}"
        assert code >= 0, f"the server died by signal {-code}:\n{text[-3000:]}"
        held = holds(text, *self.holds_allowed)
        assert not held, "the thread was held, by whom, for how many ms, which time:\n" + held
        if not self.allow_errors:
            errors = [line for line in text.splitlines() if "[ERROR]" in line]
            assert not errors, "error lines in the log:\n" + "\n".join(errors[:20])
        return code

    # -- clients

    def client(self, **how):
        how.setdefault("timeout", patience(5.0))
        return Client(self.port, **how)

    def publisher(self, stream="s", flow="fmle", app="live", client=None, tcurl=None, **how):
        pub = {k: how.pop(k) for k in ("chunk",) if k in how}
        return self.client(**(client or {})).publish(stream, flow, app=app, tcurl=tcurl, **pub, **how)

    def player(self, stream="s", flow="flash", app="live", client=None, tcurl=None, **how):
        return self.client(**(client or {})).play(stream, flow, app=app, tcurl=tcurl, **how)

    def watch(self, stream="s", **how):
        w = Watcher(self.player(stream, **how))
        w.start()
        return w

    def push(self, tags, stream="s", speed=PACE, loop=False, start_ts=0, ahead=0, **how):
        p = Pusher(self.publisher(stream, **how), tags, speed, loop, start_ts, ahead)
        p.start()
        return p

    def url(self, stream="s", app="live"):
        return f"rtmp://127.0.0.1:{self.port}/{app}/{stream}"
