# SPDX-License-Identifier: MIT
"""A name server that takes questions and never answers: whoever needs none of its names goes on, and so
do reload and quit."""
import socket
import stat
import subprocess
import time

import pytest

import httpapi
import procs
from procs import wait_for

SILENT = "127.77.1.1"  # the name server


@pytest.fixture
def silent(tmp_path, monkeypatch):
    """A server that asks a name server which counts questions and says nothing."""
    resolv, wrapper = tmp_path / "resolv.conf", tmp_path / "wrapper"
    resolv.write_text(f"nameserver {SILENT}\noptions timeout:20 attempts:2\n")
    wrapper.write_text("#!/bin/sh\nexec unshare -m sh -c 'mount --bind \"$0\" /etc/resolv.conf && "
                       f"exec {procs.BINARY} \"$@\"' {resolv} \"$@\"\n")
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        s.bind((SILENT, 53))
    except OSError:
        pytest.skip("no right to be a name server")
    tried = subprocess.run(["unshare", "-m", "mount", "--bind", str(resolv), "/etc/resolv.conf"],
                           capture_output=True, timeout=20)
    if tried.returncode:
        s.close()
        pytest.skip("no right to mount")
    s.setblocking(False)
    monkeypatch.setattr(procs, "BINARY", str(wrapper))

    def questions():
        n = 0
        while True:
            try:
                s.recv(512)
                n += 1
            except BlockingIOError:
                return n
    yield questions
    s.close()


def test_nobody_waits_for_a_silent_name_server(silent, srs, source):
    """Five streams go to six names each that nobody resolves; a backend with a name that is in a file
    is asked at once all the same."""
    names = " ".join(f"d{i}.hang.test:1935" for i in range(6))
    b = httpapi.Backend()
    url = b.url().replace("127.0.0.1", "localhost")
    vhosts = (f"vhost sent.on {{ forward {{ enabled on; destination {names}; }} }}\n"
              f"vhost asked {{ http_hooks {{ enabled on; on_play {url}; }} }}\n")
    s = srs(vhosts)
    pushers = [s.push(source, f"s{i}", tcurl=f"rtmp://sent.on:{s.port}/live", loop=True)
               for i in range(5)]
    asked = [0]

    def hang():
        asked[0] += silent()
        return asked[0] >= 6
    assert wait_for(hang, 10), "nobody asks for a name"
    time.sleep(0.5)  # so that all are at it
    t = time.monotonic()
    with s.client() as c:
        c.play("x", tcurl=f"rtmp://asked:{s.port}/live")
    assert time.monotonic() - t < 3 * procs.SLOW, "on_play waits for names of others"
    assert b.of("on_play") and all(p.is_alive() for p in pushers)
    t = time.monotonic()
    s.reload(vhosts.replace("d5.hang.test", "d6.hang.test"))
    s.stop()
    assert time.monotonic() - t < 5 * procs.SLOW, "reload or quit wait for names"
    b.close()
