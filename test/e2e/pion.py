# SPDX-License-Identifier: MIT
"""pion, the WebRTC library of Go, and a program that uses it to publish and play over WHIP and WHEP.

`need()` skips a test and says what is missing. The program's sources are in the folder pion.

"""
import fcntl
import glob
import os
import subprocess

import pytest

import gortsp
import procs
import tools
from rtcpeers import Client

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pion")
MADE = os.path.join(procs.ROOT, "objs", "pion", "pion")


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
    go = gortsp.compiler()
    try:
        r = subprocess.run([go, "mod", "download"], cwd=HERE, env=gortsp.ENV, capture_output=True, timeout=90)
    except subprocess.TimeoutExpired:
        pytest.skip("go does not get pion: no network?")
    if r.returncode:
        pytest.skip("go does not get pion: " + r.stderr.decode()[-200:])
    tools.run([go, "build", "-mod=readonly", "-buildvcs=false", "-o", MADE, "."], 300, cwd=HERE, env=gortsp.ENV)


def client(log, *argv):
    return Client(log, need(), *argv)
