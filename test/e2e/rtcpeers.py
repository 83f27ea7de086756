# SPDX-License-Identifier: MIT
"""WebRTC clients by others, each with a small wrapper in the folder webrtc: aiortc, libdatachannel (of OBS), webrtcbin of GStreamer,
the WHIP muxer of FFmpeg 8. Their dependencies come from pip, npm and apt, pinned by version and checksum; a test is skipped
with a message if one is missing. pion has its own file.

"""
import fcntl
import json
import os
import shutil
import subprocess
import sys

import pytest

import procs
import tools
from procs import Proc

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "webrtc")
CACHE = os.path.join(procs.ROOT, "objs", "webrtc")
PYTHON = "/usr/bin/python3"  # Debian's Python, which has Debian's packages


def once(name, wants, make):
    """Returns the folder objs/webrtc/NAME, made by make(folder); remade if one of `wants` is newer."""
    os.makedirs(CACHE, exist_ok=True)
    folder = os.path.join(CACHE, name)
    with open(folder + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # other tests run in parallel
        newest = max(os.path.getmtime(os.path.join(HERE, w)) for w in wants)
        if os.path.exists(folder) and os.path.getmtime(folder) >= newest:
            return folder
        for old in (folder, folder + ".new"):
            shutil.rmtree(old, ignore_errors=True)
        os.makedirs(folder + ".new")
        make(folder + ".new")
        os.utime(folder + ".new")
        os.rename(folder + ".new", folder)
    return folder


def fetch(argv, what, cwd):
    try:
        r = subprocess.run(argv, cwd=cwd, capture_output=True, timeout=180)
    except subprocess.TimeoutExpired:
        pytest.skip(f"{argv[0]} does not get {what}: no network?")
    if r.returncode:
        pytest.skip(f"{argv[0]} does not get {what}: {r.stderr.decode()[-300:]}")


def packages_of_python():
    """Returns the folder with aiortc and PyAV."""
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode:
        pytest.skip("no pip to get aiortc with: apt-get install python3-pip")
    tag = "python%d.%d" % sys.version_info[:2]
    return once(tag, ["requirements.txt"], lambda folder: fetch(
        [sys.executable, "-m", "pip", "install", "-q", "--require-hashes", "--only-binary", ":all:", "--no-warn-script-location",
         "--root-user-action=ignore", "--target", folder, "-r", os.path.join(HERE, "requirements.txt")], "aiortc", folder))


def packages_of_node():
    """Returns the folder whose node_modules have node-datachannel."""
    if not procs.have("node", "npm"):
        pytest.skip("no node and npm to get node-datachannel with: apt-get install npm")

    def make(folder):
        for name in ("package.json", "package-lock.json"):
            shutil.copy(os.path.join(HERE, name), folder)
        fetch(["npm", "ci", "--silent", "--ignore-scripts", "--no-audit", "--no-fund"], "node-datachannel", folder)
    return once("node", ["package-lock.json"], make)


class Client:
    """Publishes or plays for some seconds; result() returns its counters."""

    def __init__(self, log, *argv, env=None):
        self.out = str(log) + ".json"
        self.proc = Proc(list(map(str, argv)), log, env=dict(os.environ, **(env or {})), stdout=open(self.out, "wb"))

    def result(self, timeout=30):
        assert self.proc.wait(timeout) == 0, self.proc.text()[-3000:]
        with open(self.out) as f:
            return json.load(f)


def of_python(script, log, *argv):
    return Client(log, sys.executable, os.path.join(HERE, script), *argv, env={"PYTHONPATH": packages_of_python()})


def aiortc(log, *argv):
    return of_python("aiortc_peer.py", log, *argv)


def datachannel(log, *argv):
    return Client(log, "node", os.path.join(HERE, "datachannel.mjs"), *argv, env={"NODE_MODULES_OF": packages_of_node()})


def webrtcbin(log, *argv):
    needs = "import gi; gi.require_version('Gst', '1.0'); gi.require_version('GstWebRTC', '1.0'); from gi.repository import Gst; " \
        "Gst.init(None); import sys; sys.exit(not all(Gst.ElementFactory.find(n) for n in ('webrtcbin', 'nicesrc', 'x264enc', 'avdec_h264')))"
    if subprocess.run([PYTHON, "-c", needs], capture_output=True).returncode:
        pytest.skip("no webrtcbin: apt-get install gir1.2-gst-plugins-bad-1.0 gstreamer1.0-nice python3-gi gstreamer1.0-libav")
    return Client(log, PYTHON, os.path.join(HERE, "webrtcbin.py"), *argv)


def certificate(folder):
    """Makes a P-256 certificate and key, which FFmpeg with GnuTLS requires."""
    cert, key = f"{folder}/c.pem", f"{folder}/k.pem"
    tools.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", cert,
               "-subj", "/CN=test", "-days", "30"])
    return cert, key


def whip_muxer(log, url, path, seconds, cert=("", "")):
    return of_python("whip_muxer.py", log, url, path, seconds, *cert)
