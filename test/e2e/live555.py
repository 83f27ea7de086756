# SPDX-License-Identifier: MIT
"""live555, the RTSP library of VLC, and programs that use it: live555_play, live555_proxy.

Debian no longer has it; a Python package contains its sources, pinned by version and checksum.
`need()` skips a test and says what is missing.

"""
import glob
import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor

import pytest

import procs
import tools
from procs import Proc

VERSION, CHECKSUM = "1.0.5", "564f65501ea5e823e5c53b1847ce3f41bd7b71ee2e9f3ba154a7e955817dfb48"
HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.path.join(procs.ROOT, "objs", "live555-" + VERSION)
PARTS = ("UsageEnvironment", "BasicUsageEnvironment", "groupsock", "liveMedia")
FLAGS = ["-O1", "-w", "-DSOCKLEN_T=socklen_t", "-DNO_OPENSSL=1", *(f"-I{p}/include" for p in PARTS), "-IliveMedia"]


def need(name="live555_play"):
    """Returns the path of the program, built from NAME.cpp."""
    path, source = shutil.which(name) or os.path.join(CACHE, name), os.path.join(HERE, name + ".cpp")
    if not path.startswith(CACHE) or (os.path.exists(path) and os.path.getmtime(path) > os.path.getmtime(source)):
        return path
    if not procs.have("pip3", "g++"):
        pytest.skip("no pip3 and g++ to make live555 with")
    library()
    made = f"{path}.{os.getpid()}"
    tools.run(["g++", "-std=c++20", *FLAGS, "-o", made, source, "live555.a"], 300, cwd=CACHE)
    os.replace(made, path)
    return path


def library():
    """Puts its sources and live555.a into CACHE."""
    if os.path.exists(os.path.join(CACHE, "live555.a")):
        return
    os.makedirs(os.path.dirname(CACHE), exist_ok=True)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(CACHE)) as tmp:
        folder = sources(tmp)
        compile_in(folder)
        try:
            os.rename(folder, CACHE)
        except OSError:
            pass  # a test that runs in parallel was faster


def sources(tmp):
    try:
        r = subprocess.run(["pip3", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", tmp,
                            f"liblivemedia=={VERSION}"], capture_output=True, timeout=90)
    except subprocess.TimeoutExpired:
        pytest.skip("pip does not get liblivemedia: no network?")
    path = os.path.join(tmp, f"liblivemedia-{VERSION}.tar.gz")
    if r.returncode or not os.path.exists(path):
        pytest.skip("pip does not get liblivemedia: " + r.stderr.decode()[-200:])
    with open(path, "rb") as f:
        got = hashlib.sha256(f.read()).hexdigest()
    assert got == CHECKSUM, f"liblivemedia {VERSION} is not what it was: {got}"
    with tarfile.open(path) as tar:
        tar.extractall(tmp, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return path[:-len(".tar.gz")]


def compile_in(folder):
    files = [f for p in PARTS for end in ("cpp", "c") for f in glob.glob(f"{p}/*.{end}", root_dir=folder)]

    def one(f):
        cc = ["gcc"] if f.endswith(".c") else ["g++", "-std=c++20"]
        tools.run([*cc, *FLAGS, "-c", f, "-o", os.path.basename(f) + ".o"], 300, cwd=folder)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(one, files))
    tools.run(["ar", "rcs", "live555.a", *(os.path.basename(f) + ".o" for f in files)], cwd=folder)


class Player:
    """A player; lines() returns its output: a list of words per line."""

    def __init__(self, url, how, seconds, out, log, user="", password="", pause=None, places=()):
        """pause: (after, for); places: (start, end, scale) of each PLAY, see live555_play.cpp."""
        after = pause or (1, 0)
        argv = [need(), url, how, seconds, user, password, *(after if pause or places else ()),
                *("/".join(map(str, p)) for p in places)]
        self.out = str(out)
        self.proc = Proc(argv, log, stdout=open(self.out, "wb"))

    def lines(self):
        with open(self.out) as f:  # the last line may be incomplete
            return [line.split() for line in f.read().split("\n")[:-1] if line]

    def wait(self, timeout=20):
        return self.proc.wait(timeout)

    def frames(self, kind):
        """[(seconds, synchronized by a sender report, bytes, hash)]"""
        return [(int(x[1]) / 1e6, x[2] == "1", int(x[3]), x[4]) for x in self.lines() if x[0] == kind]

    def places(self, kind):
        """[[(place in what is played, hash)]] of frames, a list for each PLAY."""
        out = []
        for x in self.lines():
            if x[0] == "play":
                out.append([])
            elif x[0] == kind and out:  # datagrams may overtake the response
                out[-1].append((float(x[5]), x[4]))
        return out

    def status(self, what):
        """Status of each response to this method."""
        return [int(x[1]) for x in self.lines() if x[0] == what]
