# SPDX-License-Identifier: MIT
"""Ports listed for IPv4 and IPv6, in both spellings and orders, and reloads between them."""
import os
import socket
import subprocess
import urllib.request

import pytest

import hostile_srt
import procs
from httpapi import Api
from procs import SOURCE, Proc, free_port, wait_for
from rtmpclient import Client, Watcher
from webclient import Cert, Http, once

SPELLINGS = ["{0} [::]:{0}", "[::]:{0} {0}", "0.0.0.0:{0} [::]:{0}", "[::]:{0} 0.0.0.0:{0}", "{0}", "[::]:{0}"]
TCP = ("rtmp", "rtmps", "api", "apis", "http", "https", "rtsp", "rtctcp")
UDP = ("srt", "rtmfp", "rtc")
QUICK = "play { mw_latency 50; mw_msgs 1; }"
LOCAL = {4: "127.0.0.1", 6: "::1"}


def answers(port, family):
    """Whether a server accepts connections at the loopback address of this family."""
    with socket.socket(socket.AF_INET if family == 4 else socket.AF_INET6) as s:
        s.settimeout(procs.patience(2))
        return s.connect_ex((LOCAL[family], port)) == 0


def induction(port, family):
    """Whether SRT answers an induction at the loopback address of this family."""
    with socket.socket(socket.AF_INET if family == 4 else socket.AF_INET6, socket.SOCK_DGRAM) as s:
        s.settimeout(0.4 * procs.SLOW)
        s.connect((LOCAL[family], port))
        try:
            s.send(hostile_srt.handshake(hostile_srt.INDUCTION, 99, version=4, field=2))
            return len(s.recv(1500)) > 0
        except OSError:
            return False


def bound(kind, port):
    """Number of sockets with this port: kind as a file of /proc/net."""
    with open(f"/proc/net/{kind}") as f:
        return sum(int(line.split()[1].rsplit(":", 1)[1], 16) == port for line in f.readlines()[1:])


def block(name, spelling, port, more=""):
    return f"{name} {{ enabled on; listen {spelling.format(port)}; {more} }}\n"


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_protocol_serves_both_families(srs, tmp_path, spelling):
    cert = Cert(tmp_path)
    tls = f"key {cert.key}; cert {cert.cert};"
    p = {name: free_port() for name in TCP + UDP}
    glob = "\n".join([
        f"listen {spelling.format(p['rtmp'])};", block("rtmps", spelling, p["rtmps"], tls),
        block("http_api", spelling, p["api"], block("https", spelling, p["apis"], tls)),
        block("http_server", spelling, p["http"], block("https", spelling, p["https"], tls)),
        block("rtsp_server", spelling, p["rtsp"]), block("srt_server", spelling, p["srt"]),
        block("rtmfp_server", spelling, p["rtmfp"]),
        block("rtc_server", spelling, p["rtc"], block("tcp", spelling, p["rtctcp"]))])
    s = srs(glob=glob, port=p["rtmp"])
    assert [name for name in TCP for family in (4, 6) if not answers(p[name], family)] == []
    assert induction(p["srt"], 4) and induction(p["srt"], 6)
    if spelling.count("{0}") == 2:
        assert [name for name in UDP if not bound("udp", p[name]) or not bound("udp6", p[name])] == []
    else:
        assert [name for name in UDP if bound("udp", p[name]) or not bound("udp6", p[name])] == []
    assert Api(p["api"]).get("versions")["code"] == 0
    assert "[ERROR]" not in s.log()


def test_a_port_listed_twice_for_other_services(srs):
    """HTTP and its API share a port that only one of them lists for both families."""
    http = free_port()
    s = srs(glob=f"http_server {{ enabled on; listen {http}; }}\nhttp_api {{ enabled on; listen {http} [::]:{http}; }}")
    assert answers(http, 4) and answers(http, 6)
    assert s.wait_log("listening on")


def test_addresses_of_loopback(srs):
    """A bare port next to an IPv6 address is IPv4, [::] next to an IPv4 address is IPv6."""
    one, two, three = free_port(), free_port(), free_port()
    srs(glob=f"listen {one} [::1]:{one} 127.0.0.1:{two} [::]:{two} {three} 0.0.0.0:{three};", port=one)
    assert all(answers(port, family) for port in (one, two, three) for family in (4, 6))


STEPS = [("{0} [::]:{0}", (4, 6)), ("{0}", (4, 6)), ("[::]:{0} {0}", (4, 6)), ("[::]:{0}", (4, 6)),
         ("0.0.0.0:{0} [::]:{0}", (4, 6)), ("0.0.0.0:{0}", (4,)), ("[::]:{0} 0.0.0.0:{0}", (4, 6)),
         ("[::1]:{0} 127.0.0.1:{0}", (4, 6)), ("{0}", (4, 6))]


@pytest.mark.parametrize("back", [False, True])
def test_reloads_between_spellings(srs, source, back):
    """Each step opens new sockets and closes old ones; players notice none of them."""
    port, rtsp = free_port(), free_port()
    steps = STEPS[::-1] if back else STEPS

    def glob(spelling):
        return f"listen {spelling.format(port)};\n" + block("rtsp_server", spelling, rtsp)
    s = srs(vhost=QUICK, glob=glob(steps[0][0]), port=port)
    pusher = s.push(source, loop=True)
    players = [Watcher(Client(port, host=LOCAL[family]).play("s", "flash")) for family in (4, 6)]
    for player in players:
        player.start()
    for spelling, families in steps[1:]:
        s.reload(vhost=QUICK, glob=glob(spelling))
        for p in (port, rtsp):
            assert wait_for(lambda p=p, want=families: tuple(f for f in (4, 6) if answers(p, f)) == want), spelling
        for player in players:
            n = len(player.tags)
            assert player.wait(lambda tags, n=n: len(tags) > n + 5, 3), spelling
    assert pusher.error is None
    assert not any(p.ended for p in players)


HTTP_STEPS = [STEPS[i] for i in (0, 1, 3, 5, 6)]


def test_reloads_of_http(srs, source, tmp_path):
    """HTTP, HTTPS and the API, each with its own port: the same; a player and a connection to the API stay."""
    cert = Cert(tmp_path)
    tls = f"key {cert.key}; cert {cert.cert};"
    ports = {name: free_port() for name in ("api", "apis", "http", "https")}

    def glob(spelling, more=""):
        return block("http_api", spelling, ports["api"], block("https", spelling, ports["apis"], tls)) + \
            block("http_server", spelling, ports["http"], block("https", spelling, ports["https"], tls)) + more
    vhost = QUICK + " http_remux { enabled on; }"
    s = srs(vhost=vhost, glob=glob(HTTP_STEPS[0][0]))
    s.push(source, loop=True)
    api = Http(ports["api"])
    with urllib.request.urlopen(f"http://127.0.0.1:{ports['http']}/live/s.flv", timeout=procs.patience(5)) as player:
        for spelling, families in HTTP_STEPS[1:]:
            assert "0 need a restart" in s.reload(vhost=vhost, glob=glob(spelling))
            for p in ports.values():
                assert wait_for(lambda p=p, want=families: tuple(f for f in (4, 6) if answers(p, f)) == want), (spelling, p)
            assert len(player.read(10000)) == 10000
            assert api.get("/api/v1/versions").status == 200

        # services that are switched on and off, and one that moves to a port of another
        exporter, old = free_port(), dict(ports)
        ports["api"] = ports["http"]
        said = s.reload(vhost=vhost, glob=glob("{0}", f"exporter {{ enabled on; listen {exporter}; }}\n").replace("https {", "# {"))
        assert "0 need a restart" in said
        assert once(exporter, "/metrics").status == 200
        assert once(ports["api"], "/api/v1/versions").status == 200
        assert wait_for(lambda: not any(answers(old[p], 4) for p in ("api", "apis", "https")))
        assert len(player.read(10000)) == 10000
        assert "0 need a restart" in s.reload(vhost=vhost)
        assert wait_for(lambda: not any(answers(p, 4) for p in (exporter, ports["http"])))
        assert len(player.read(10000)) == 10000, "the player did not stay"
    api.close()


SRT = f"srt {{ enabled on; }} {QUICK}"
UDP_STEPS = STEPS[:7] + STEPS[:1]


@pytest.mark.needs("ffmpeg")
@pytest.mark.parametrize("begin", [0, 3])
def test_reloads_keep_srt_publishers(srs, begin):
    """Of both families; new ones connect to the listed ports."""
    port = free_port()
    steps = UDP_STEPS[begin:] + UDP_STEPS[:begin]
    s = srs(vhost=SRT, glob=block("srt_server", steps[0][0], port))
    senders = [Proc(["ffmpeg", "-hide_banner", "-nostdin", "-readrate", "3", "-stream_loop", "-1", "-i", SOURCE, "-c", "copy", "-f", "mpegts",
                     f"srt://{host}:{port}?streamid=#!::r=live/{name},m=publish&pkt_size=1316"],
                    os.path.join(s.tmp, name + ".log")) for host, name in (("127.0.0.1", "four"), ("[::1]", "six"))]
    watchers = []
    for name in ("four", "six"):
        assert s.wait_log(f"srt-publish.*{name}|live/{name}", 10)
        watchers.append(s.watch(name))
    for spelling, families in steps[1:]:
        s.reload(vhost=SRT, glob=block("srt_server", spelling, port))
        assert [f for f in (4, 6) if induction(port, f)] == list(families), spelling
        for w in watchers:
            n = len(w.tags)
            assert w.wait(lambda tags, n=n: len(tags) > n + 10, 5), spelling
    for sender in senders:
        assert sender.running()
        sender.end()


def test_a_reload_that_finds_a_port_taken_keeps_the_old_sockets(srs):
    port, taken = free_port(), free_port()
    s = srs(glob=f"listen {port};", port=port)
    with socket.socket() as other:
        other.bind(("0.0.0.0", taken))
        other.listen(1)
        s.reload(glob=f"listen {port} [::]:{port} 0.0.0.0:{taken};", ok=False)
        assert answers(port, 4) and answers(port, 6)
    s.reload(glob=f"listen {port} [::]:{port};")
    assert answers(port, 4) and answers(port, 6)
    s.allow_errors = True


def test_a_second_server_is_refused(srs):
    """Even if a reload has reopened the sockets."""
    port = free_port()
    s = srs(glob=f"listen {port} [::]:{port};", port=port)
    s.reload(glob=f"listen {port};")
    r = subprocess.run([procs.BINARY, "-c", s.conf_path], env={**os.environ, "SRS_PID": os.path.join(s.tmp, "two.pid"),
                                                              "SRS_SRS_LOG_TANK": "console"},
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=procs.patience(10), check=False)
    assert r.returncode != 0 and b"ddress already in use" in r.stdout, r.stdout.decode()
