# SPDX-License-Identifier: MIT
"""gortsplib, the RTSP library of MediaMTX, and a program that uses it to play, publish and serve.

`need()` skips a test and says what is missing. The program's sources are in the folder gortsp.

"""
import base64
import fcntl
import glob
import json
import os
import re
import shutil
import subprocess

import pytest

import procs
import tools
from camera_rtp import sets_of, tracks_of, units
from procs import Proc, free_port, wait_port
from rtspclient import free_pair

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gortsp")
MADE = os.path.join(procs.ROOT, "objs", "gortsp", "gortsp")
ENV = dict(os.environ, GOTOOLCHAIN="local", GOWORK="off")
OLDEST = (1, 21)


def need():
    """Returns the path of the program."""
    os.makedirs(os.path.dirname(MADE), exist_ok=True)
    with open(MADE + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # other tests run in parallel
        newest = max(os.path.getmtime(f) for f in glob.glob(f"{HERE}/*"))
        if not os.path.exists(MADE) or os.path.getmtime(MADE) < newest:
            make()
    return MADE


def make():
    go = compiler()
    try:
        r = subprocess.run([go, "mod", "download"], cwd=HERE, env=ENV, capture_output=True, timeout=90)
    except subprocess.TimeoutExpired:
        pytest.skip("go does not get gortsplib: no network?")
    if r.returncode:
        pytest.skip("go does not get gortsplib: " + r.stderr.decode()[-200:])
    tools.run([go, "build", "-mod=readonly", "-buildvcs=false", "-o", MADE, "."], 300, cwd=HERE, env=ENV)


def compiler():
    found = [p for p in (shutil.which("go"), "/usr/local/go/bin/go") if p and os.path.exists(p)]
    for go in found:
        version = re.search(r"go(\d+)\.(\d+)", tools.run([go, "env", "GOVERSION"], env=ENV).stdout.decode())
        if version and tuple(map(int, version.groups())) >= OLDEST:
            return go
    pytest.skip("no go of version 1.21 or newer to make gortsplib with")


class Player:
    """Plays for some seconds after its first packet; of(kind) returns what it received, frames(kind) when."""

    def __init__(self, url, how, seconds, out, log):
        self.out = str(out)
        self.proc = Proc([need(), "play", url, how, seconds], log, stdout=open(self.out, "wb"))
        self.got = None

    def wait(self, timeout=20):
        code = self.proc.wait(timeout)
        if code == 0:
            with open(self.out) as f:
                self.got = json.load(f)
        return code

    def text(self):
        return self.proc.text()

    def of(self, kind):
        return self.got["tracks"][kind]

    def frames(self, kind):
        """[(seconds on the publisher's clock from sender reports, bytes, hash)]"""
        return [((f["ntp"] or 0) / 1e6, f["ntp"] is not None, f["size"], f["md5"]) for f in self.of(kind)["frames"]]


def publish(url, how, media, log):
    return Proc([need(), "publish", url, how, media], log)


def write_media(path, tags):
    """Writes input for `publish` from FLV tags with H.264 and AAC, in a loop."""
    video, audio = tracks_of(tags)
    sets = sets_of(video)
    # A key frame is sent at its presentation time, because the library's sender reports assume that: an
    # encoder that reorders frames needs this delay.
    delay = video.frames[0][1]
    samples = [(dts + delay, dts + cts, True, units(data)) for dts, cts, _, data in video.frames]
    samples += [(dts, dts, False, [data]) for dts, _, _, data in audio.frames]

    def text(data):
        return base64.b64encode(data).decode()
    with open(path, "w") as f:
        json.dump({"sps": text(sets[0]), "pps": text(sets[1]), "config": text(audio.config), "length": 30080,
                   "samples": [{"at": at, "pts": pts, "video": is_video, "units": [text(u) for u in all_of_it]}
                               for at, pts, is_video, all_of_it in sorted(samples, key=lambda x: x[0])]}, f)
    return path


class Server:
    """A server whose players receive what a publisher announces."""

    def __init__(self, log, *login):
        self.port = free_port()
        self.proc = Proc([need(), "serve", self.port, free_pair(), *login], log)
        assert wait_port(self.port, 10, proc=self.proc), self.proc.text()

    def text(self):
        return self.proc.text()

    def url(self, stream="s", user=""):
        return f"rtsp://{user + '@' if user else ''}127.0.0.1:{self.port}/live/{stream}"
