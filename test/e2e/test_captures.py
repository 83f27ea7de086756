# SPDX-License-Identifier: MIT
"""Recorded sessions of real encoders and players, replayed in pieces of several sizes."""
import glob
import os
import socket
import time

import pytest

import flv
from flv import AUDIO, VIDEO
from flvgen import synthetic
from procs import ROOT, patience

CAPTURES = sorted(glob.glob(os.path.join(ROOT, "test", "data", "*.rtmp")))
PUBLISH = [p for p in CAPTURES if os.path.basename(p).startswith("publish-")]
PLAY = [p for p in CAPTURES if os.path.basename(p).startswith("play-")]


def name(path):
    return os.path.basename(path).rsplit(".", 1)[0]


def say(sock, path, piece):
    with open(path, "rb") as f:
        data = f.read()
    try:
        for i in range(0, len(data), piece):
            sock.sendall(data[i:i + piece])
    except OSError:
        pass  # the last messages ended the session


def test_there_are_captures():
    assert len(PUBLISH) >= 3 and len(PLAY) >= 4


@pytest.mark.parametrize("piece", [1 << 20, 1000, 61])
@pytest.mark.parametrize("path", PUBLISH, ids=name)
def test_publisher(srs, path, piece):
    s = srs()
    w = s.watch()
    sock = s.client().sock
    say(sock, path, piece)
    assert w.wait(lambda got: len(flv.frames(got, VIDEO)) >= 24 and len(flv.frames(got, AUDIO)) >= 40, 3), \
        f"{len(flv.frames(w.tags, VIDEO))} video, {len(flv.frames(w.tags, AUDIO))} audio frames"
    got = w.stop()
    assert any(t.config for t in got if t.type == VIDEO) and any(t.config for t in got if t.type == AUDIO)
    assert flv.frames(got, VIDEO)[0].key
    assert flv.check_monotonic(got) <= 200
    sock.close()
    assert s.wait_log(r"client finished", 2)


@pytest.mark.parametrize("path", PLAY, ids=name)
def test_player(srs, path):
    """It gets the stream: as many bytes as the stream has in that time."""
    s = srs()
    s.push(synthetic(2, size=2000), loop=True, speed=4)
    time.sleep(0.3)
    sock = s.client().sock
    with open(path, "rb") as f:
        data = f.read()
    # the last messages can end the session: ffmpeg sends deleteStream at the end
    end = data.rfind(b"deleteStream")
    sock.sendall(data[:end - 20] if end > 0 else data)
    sock.settimeout(0.3)
    got, until = 0, time.monotonic() + patience(2.5)
    while time.monotonic() < until and got < 80000:
        try:
            part = sock.recv(65536)
        except socket.timeout:
            continue
        assert part, f"it ended after {got} bytes"
        got += len(part)
    assert got >= 80000, f"{got} bytes"
