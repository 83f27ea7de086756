# SPDX-License-Identifier: MIT
"""What workers share: ports, certificates, cores, a reload."""
import os
import ssl
import socket

import pytest

import httpapi
from procs import free_port, wait_for
from webclient import Cert

FOUR = {"SRS_WORKERS": "4"}
AS_WRITTEN = {"SRS_WORKERS": ""}


def listening(port):
    """Number of sockets that listen there."""
    n = 0
    for name in ("tcp", "tcp6"):
        with open(f"/proc/net/{name}") as f:
            for line in f.readlines()[1:]:
                words = line.split()
                n += words[3] == "0A" and int(words[1].split(":")[1], 16) == port
    return n


def test_a_socket_for_each(srs):
    """For stream endpoints; the API belongs to the first worker. A reload opens and closes all."""
    api, more = free_port(), free_port()
    s = srs(glob=httpapi.conf(api), env=FOUR)
    assert listening(s.port) == 4 and listening(api) == 1
    s.reload(glob=f"listen 127.0.0.1:{s.port} 127.0.0.1:{more}; {httpapi.conf(api)}")
    assert listening(s.port) == 4 and listening(more) == 4 and listening(api) == 1
    for _ in range(8):
        socket.create_connection(("127.0.0.1", more)).close()
    s.reload(glob=httpapi.conf(api))
    assert wait_for(lambda: listening(more) == 0) and listening(s.port) == 4
    assert s.log().count(f"] listening on 127.0.0.1:{s.port}") == 1, "not reported once"


def test_a_port_in_use(srs):
    """Sockets of two servers share no port, unlike those of one: the second does not start, and a reload to a port in use changes
    nothing."""
    first = srs(env=FOUR)
    second = srs(port=first.port, env=FOUR, begin=False)
    second.start(wait=False)
    assert wait_for(lambda: second.proc.poll() is not None, 10), "it does not run"
    assert "Address already in use" in second.text() and listening(first.port) == 4
    second.proc = None
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        said = first.reload(glob=f"listen 127.0.0.1:{free_port()} 127.0.0.1:{port};", ok=False)
        assert "the old configuration is kept" in said and listening(port) == 1
        assert listening(first.port) == 4


def test_what_needs_a_restart(srs):
    s = srs(glob="workers 2;", env=AS_WRITTEN)
    said = s.reload(glob="workers 3; worker_cpu_affinity auto; workers_spread 5;")
    assert 'workers: "2" to "3": needs a restart' in said
    assert 'worker_cpu_affinity: "" to "auto": needs a restart' in said
    assert 'workers_spread: "64" to "5": applied' in said
    assert listening(s.port) == 2


def test_a_ticket_is_good_everywhere(srs, tmp_path):
    """A client returns to any worker; after a renewal of the certificate it gets a new ticket."""
    cert = Cert(tmp_path)
    port = free_port()
    s = srs("", f"""http_server {{ enabled on; listen 127.0.0.1:{free_port()}; dir {tmp_path};
https {{ {cert.conf(port)} ssl_session_tickets on; }} }}""", env=FOUR)
    ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ctx.check_hostname, ctx.verify_mode = False, ssl.CERT_NONE
    ctx.maximum_version = ssl.TLSVersion.TLSv1_2

    def shake(session=None):
        with socket.create_connection(("127.0.0.1", port)) as raw:
            with ctx.wrap_socket(raw, session=session) as tls:
                return tls.session, tls.session_reused
    for turn in range(2):
        session, reused = shake()
        assert not reused
        assert all(shake(session)[1] for _ in range(16))
        if turn == 0:
            os.utime(cert.cert)
            assert s.wait_log("the certificate changed", 8)
    assert s.log().count("the certificate changed") == 1, "not once for all of them"


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core")
def test_cores(srs, tmp_path, source):
    """Each worker on its own core, and its child programs on any."""
    out = tmp_path / "child"
    s = srs(f"exec {{ enabled on; publish /bin/sh -c 'grep Cpus_allowed_list /proc/self/status > {out}; sleep 9'; }}",
            "workers 2; worker_cpu_affinity auto;", env=AS_WRITTEN)
    mine = os.sched_getaffinity(0)
    pinned = [frozenset(os.sched_getaffinity(int(t))) for t in os.listdir(f"/proc/{s.pid}/task")]
    assert len({p for p in pinned if len(p) == 1}) == 2, pinned
    pub = s.push(source, loop=True)
    assert wait_for(lambda: out.exists() and out.read_text().strip())
    got = set()
    for part in out.read_text().split()[1].split(","):
        low, _, high = part.partition("-")
        got |= set(range(int(low), int(high or low) + 1))
    assert got == mine
    pub.stop()
