# SPDX-License-Identifier: MIT
"""Runs the steps of a Dockerfile in Debian folders instead of images, for machines without docker.

FROM names the folder that machine.py makes; each stage is an overlay of its own. The network is that of this machine, and packages
come from this machine's mirror.

"""
import json
import os
import re
import shutil
import subprocess

import machine
import procs
from procs import SLOW

MOUNT = r"""
set -e
mount --make-rprivate /
mount -t overlay -o "lowerdir=$1,upperdir=$2/up,workdir=$2/work" overlay "$2/root"
mount -t proc proc "$2/root/proc"
mount --rbind /dev "$2/root/dev"
cd "$2/root"
shift 2
exec "$@"
"""


class Stage:
    """An overlay over the folder `base`."""

    def __init__(self, folder, base=machine.ROOT):
        self.folder, self.base, self.cwd, self.user, self.env, self.cmd, self.health = folder, base, "/", None, {}, None, None
        self.up = os.path.join(folder, "up")
        for name in "up", "work", "root":
            os.makedirs(os.path.join(folder, name))

    def where(self, path):
        """Returns the path in the overlay for a path of the stage, relative to its WORKDIR."""
        return os.path.normpath(self.up + "/" + os.path.join(self.cwd, path))

    def argv(self, argv, net=False):
        """Returns the command line that runs a command in this stage; with `net` in its own network namespace."""
        env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", **self.env}
        env.update({k: v for k, v in os.environ.items() if k.lower().endswith("_proxy")})
        who = ["setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups"] if self.user else []
        up = ["sh", "-c", 'ip link set lo up && exec "$@"', "sh"] if net else []
        return ["unshare", "--mount", "--pid", "--fork", "--kill-child", *(["--net"] if net else []), *up, "sh", "-c",
                MOUNT, "sh", self.base, self.folder, "env", "-i", *(f"{k}={v}" for k, v in env.items()),
                "chroot", ".", *who, "sh", "-c", 'cd "$0" && exec "$@"', self.cwd, *argv]

    def run(self, script, check=True):
        r = subprocess.run(self.argv(["sh", "-ec", script]), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, timeout=900 * SLOW)
        out = r.stdout.decode(errors="replace")
        assert r.returncode == 0 or not check, f"{script}\n{out[-3000:]}"
        return out


def ours():
    """Returns the files that docker would get: all except those in .dockerignore."""
    with open(os.path.join(procs.ROOT, ".dockerignore")) as f:
        ignored = {line.strip().removeprefix("**/") for line in f}
    names = []
    for folder, below, files in os.walk(procs.ROOT):
        below[:] = [d for d in below if d not in ignored]
        names += [os.path.relpath(os.path.join(folder, f), procs.ROOT) for f in files if f not in ignored]
    return names


def copy(stage, what, to, root, names=None):
    """COPY: a file, or the content of a folder; `names` limits the files, by default all of the folder."""
    source, target = os.path.normpath(os.path.join(root, what.lstrip("/"))), stage.where(to)
    if os.path.isfile(source):
        target = os.path.join(target, os.path.basename(source)) if to.endswith("/") else target
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(source, target)
    elif names is None:
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
    else:
        below = "" if what == "." else what.rstrip("/") + "/"
        chosen = [n for n in names if n.startswith(below)]
        assert chosen, f"COPY {what}: nothing"
        for n in chosen:
            one = os.path.join(target, n[len(below):])
            os.makedirs(os.path.dirname(one), exist_ok=True)
            shutil.copy2(os.path.join(root, n), one)


def reach_the_network(stage, apt="/etc/apt"):
    """Copies this machine's network configuration, which an image of docker gets from its host."""
    for path in apt, "/etc/ssl", "/usr/share/ca-certificates", "/usr/local/share/ca-certificates":
        if os.path.isdir(path):
            shutil.copytree(path, stage.up + path, symlinks=True, dirs_exist_ok=True)
    for path in "/etc/resolv.conf", "/etc/hosts":
        os.makedirs(stage.up + "/etc", exist_ok=True)
        shutil.copy(path, stage.up + path)
    if apt == "/etc/apt" and os.path.exists(os.path.join(stage.base, "etc/apt/sources.list")):
        open(stage.up + "/etc/apt/sources.list", "w").close()


def build(text, folder, skip=()):
    """Runs all stages except those named in `skip`, whose files come from objs/; returns the last stage."""
    machine.prepare()
    stages, stage, name = {}, None, None
    text = re.sub(r"^#.*\n", "", text, flags=re.M).replace("\\\n", " ")
    for line in filter(None, map(str.strip, text.splitlines())):
        word, rest = line.split(None, 1)
        if word == "FROM":
            name = rest.split(" AS ")[1] if " AS " in rest else "last"
            stage = None if name in skip else Stage(os.path.join(str(folder), name))
            if stage:
                stages[name] = stage
                reach_the_network(stage)
        elif not stage:
            continue
        elif word == "COPY":
            source = re.match(r"--from=(\S+) (\S+) (\S+)$", rest)
            if not source:
                copy(stage, *rest.split(), procs.ROOT, ours())
            elif source[1] in skip:
                copy(stage, skip[source[1]], source[3], "/")
            else:
                copy(stage, source[2], source[3], stages[source[1]].up)
        elif word == "RUN":
            stage.run(rest)
        elif word == "WORKDIR":
            stage.cwd = rest
            os.makedirs(stage.where("."), exist_ok=True)
        elif word == "USER":
            stage.user = rest
        elif word == "CMD":
            stage.cmd = json.loads(rest)
        elif word == "HEALTHCHECK":
            stage.health = json.loads(rest.split(" CMD ")[1])
        else:
            assert word in ("EXPOSE", "ARG"), line
    return stage
