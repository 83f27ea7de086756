# SPDX-License-Identifier: MIT
"""A name server that never answers: clients that need no name continue, and so do reload and quit."""
import http.client
import socket
import stat
import subprocess
import threading
import time

import pytest

import hostile_rtc as h
import httpapi
import procs
from procs import wait_for
from rtc import rtc_server

SILENT = "127.77.1.1"  # the name server


@pytest.fixture
def silent(tmp_path, monkeypatch):
    """A server whose name server counts queries and never answers."""
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


def test_no_client_waits_for_a_silent_name_server(silent, srs, source):
    """Five streams are forwarded to six unresolvable names each; a backend whose name is in a file is still called at once."""
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
    assert wait_for(hang, 10), "no name was queried"
    time.sleep(0.5)  # so that all have started
    t = time.monotonic()
    with s.client() as c:
        c.play("x", tcurl=f"rtmp://asked:{s.port}/live")
    assert time.monotonic() - t < 3 * procs.SLOW, "on_play waits for other names"
    assert b.of("on_play") and all(p.is_alive() for p in pushers)
    t = time.monotonic()
    s.reload(vhosts.replace("d5.hang.test", "d6.hang.test"))
    s.stop()
    assert time.monotonic() - t < 5 * procs.SLOW, "reload or quit waits for names"
    b.close()


@pytest.mark.long
@pytest.mark.parametrize("workers", ["1", "4"])
def test_webrtc_ends_while_a_restart_waits_for_a_name(silent, srs, tmp_path, workers):
    """PATCH queries the name of its Host; meanwhile the session ends, the configuration changes, the server quits."""
    s = rtc_server(srs, tmp_path, env={"SRS_WORKERS": workers})
    body, answers = "a=ice-ufrag:wxyz\r\na=ice-pwd:0123456789012345678901\r\n", []

    def restart(where, name):
        c = http.client.HTTPConnection("127.0.0.1", s.api_port, timeout=5)
        head = {"Host": name, "Content-Type": "application/trickle-ice-sdpfrag"}
        try:
            c.request("PATCH", where, body, head)
            answers.append(c.getresponse().status)
        except (OSError, http.client.HTTPException):
            answers.append(0)
        c.close()

    def begin(names):
        v = [h.Client(s.api_port, s.rtc_port, f"s{i}") for i in range(4)]
        threads = [threading.Thread(target=restart, args=(c.location, n), daemon=True) for c, n in zip(v, names)]
        for t in threads:
            t.start()
        assert wait_for(lambda: silent() > 0, 3), "no name was queried"
        return v, threads
    v, threads = begin([f"a{i}.hang.test" for i in range(4)])
    for c in v:
        c.end(s.api_port)
    with open(s.conf_path) as f:
        s.reload(conf=f.read().replace("rtc { enabled on;", "rtc { enabled on; nack off;"))
    for t in threads:
        t.join(5)
    assert answers == [404] * 4, answers  # their sessions have ended
    v, threads = begin([f"b{i}.hang.test" for i in range(4)])
    t = time.monotonic()
    s.stop()
    assert time.monotonic() - t < 5 * procs.SLOW, "quit waits for names"
