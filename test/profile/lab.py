# SPDX-License-Identifier: MIT
"""A variant of the server, built in a separate folder, and a load for it."""
import json
import os
import re
import resource
import signal
import subprocess
import time
import urllib.request
import xml.etree.ElementTree

import procs
from procs import ROOT, SLOW, SOURCE

OBJS = os.environ.get("OBJS", "objs")
_built = {}


def run(*argv, timeout=60, check=True, **how):
    """Returns the output of a command, stdout and stderr as one text."""
    p = subprocess.run([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, timeout=timeout * SLOW, text=True, errors="replace",
                       **how)
    assert not check or p.returncode == 0, f"{argv}: status {p.returncode}\n{p.stdout[-4000:]}"
    return p.stdout


def quiet_env(**more):
    drop = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    return {k: v for k, v in os.environ.items() if k not in drop and not k.startswith("SRS_")} | more


def build(name, *switches):
    """Builds with ./configure SWITCHES; returns the folder."""
    objs = f"{OBJS}/{name}"
    if name not in _built:
        run("./configure", f"--objs={objs}", *switches, cwd=ROOT)
        run("nice", "-n", "5", "make", f"OBJS={objs}", "JOBS=2", f"{objs}/srs", cwd=ROOT, timeout=600,
            env=quiet_env())
        _built[name] = os.path.join(ROOT, objs)
    return _built[name]


def refused(*switches):
    """Returns the message of ./configure when it fails."""
    p = subprocess.run(["./configure", f"--objs={OBJS}/refused", *switches], cwd=ROOT,
                       stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert p.returncode != 0, p.stdout
    return p.stderr


class Server:
    """A variant in the foreground, in its own folder, as `cd FOLDER; srs -c srs.conf`."""

    # every message is sent at once: much work for few players
    BUSY = "min_latency on; tcp_nodelay on; play { mw_latency 0; }"

    def __init__(self, objs, folder, before=(), vhost=BUSY, glob="", name="srs",
                 port=None, http=None, **env):
        self.objs, self.folder, self.name = objs, str(folder), name
        self.binary = os.path.join(objs, "srs")
        self.port, self.api, self.http = port or procs.free_port(), procs.free_port(), http
        conf = self.path(name + ".conf")
        with open(conf, "w") as f:
            f.write(f"listen 127.0.0.1:{self.port};\nmax_connections 2000;\nsrs_log_tank console;\n"
                    f"daemon off;\npid {name}.pid;\n{glob}\n"
                    f"http_api {{ enabled on; listen 127.0.0.1:{self.api}; }}\n"
                    f"vhost __defaultVhost__ {{\n{vhost}\n}}\n")
        self.log = open(self.path(name + ".log"), "wb")
        self.proc = procs.Proc([*before, self.binary, "-c", conf], self.path(name + ".err"),
                               env=quiet_env(**env), cwd=self.folder, stdout=self.log,
                               preexec=lambda: resource.setrlimit(resource.RLIMIT_CORE, (-1, -1)))

    def path(self, name):
        return os.path.join(self.folder, name)

    def up(self, timeout=20):
        assert procs.wait_port(self.port, timeout, proc=self.proc), \
            f"not up:\n{self.text()[-3000:]}"
        return self

    @property
    def pid(self):
        return self.proc.pid

    def text(self):
        with open(self.log.name, errors="replace") as f:
            return f.read() + self.proc.text()

    def errors(self):
        """Output of the server, or of the tool that runs it, besides the log."""
        return self.proc.text()

    def load(self, seconds, players=100, publishers=1, extra=(), beside=None, media=SOURCE):
        """Publishes (to this many streams) with this many players of the first; every one of them must be served. Calls `beside`
        meanwhile."""
        url = f"rtmp://127.0.0.1:{self.port}/live/s"
        tools = os.path.join(ROOT, OBJS)
        publish = procs.Proc([f"{tools}/sb_rtmp_publish", "--json", "-r", url + "{i}", "-c", publishers,
                              "-i", media, "-s", 1, "--duration", seconds + 2, *extra],
                             self.path("publish.err"), stdout=open(self.path("publish.json"), "wb"))
        time.sleep(1.5)
        play = procs.Proc([f"{tools}/sb_rtmp_load", "--json", "-r", url + "0", "-c", players, "-s", 1,
                           "--duration", seconds, *extra],
                          self.path("play.err"), stdout=open(self.path("play.json"), "wb"))
        if beside:
            time.sleep(1.5)
            beside()
        play.wait(seconds + 30)
        publish.wait(seconds + 30)
        with open(self.path("play.json")) as f:
            got = json.load(f)
        assert got["connected"] >= players, got
        if not extra:
            assert got["failed"] == 0 and got["read_mbps"] > 0, got
        return got

    def get(self, path):
        """Returns the response of the HTTP API."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.api}{path}", timeout=20 * SLOW) as r:
            return r.read().decode()

    def interrupt(self, timeout=20):
        """Sends Ctrl+C; returns the exit code."""
        self.proc.kill(signal.SIGINT)
        code = self.proc.wait(timeout)
        self.log.close()
        return code


def pprof(server, *args, timeout=60):
    p = subprocess.run([os.path.join(server.objs, "pprof"), *args[:-1], server.binary, args[-1]],
                       cwd=server.folder, capture_output=True, text=True, timeout=timeout * SLOW)
    assert p.returncode == 0, p.stderr
    return p.stdout


def shares(text):
    """{function: percent with callees} of a `pprof --text`."""
    out = {}
    for line in text.splitlines():
        m = re.match(r"\s*[\d.]+\s+[\d.]+%\s+[\d.]+%\s+[\d.]+\s+([\d.]+)%\s+(\S+)", line)
        if m:
            name = re.sub(r"@.*|<.*", "", m[2])
            out[name] = max(out.get(name, 0), float(m[1]))
    return out


def flame(folder, stacks):
    """Makes the flame graph of these stacks, and checks that it is an SVG with boxes."""
    path = os.path.join(folder, "stacks.txt")
    with open(path, "w") as f:
        f.write(stacks)
    svg = run(os.path.join(ROOT, "scripts", "flame.py"), path)
    root = xml.etree.ElementTree.fromstring(svg)
    assert root.tag.endswith("svg") and len(root.findall(".//{*}title")) > 5, svg[:500]
    return svg
