# SPDX-License-Identifier: MIT
"""conf/srt.conf unchanged: publishers and players, their data in the API, and kicks."""
import os
import subprocess

import pytest

import procs
from httpapi import Api
from procs import SOURCE, Proc, free_port, wait_for
from test_configurations import begin  # noqa: F401 (a fixture)

pytestmark = pytest.mark.needs("ffmpeg")
ID = "streamid=#!::r=live/livestream,m="
SEEN = ("msRTT", "pktSndLoss", "pktRcvLoss", "pktRetrans", "pktRcvRetrans", "pktSndDrop", "pktRcvDrop", "msRcvTsbPdDelay",
        "msSndTsbPdDelay", "peerVersion", "keyLength")


def publish(s):
    return Proc(["ffmpeg", "-hide_banner", "-nostdin", "-readrate", str(procs.PACE), "-stream_loop", "-1", "-i", SOURCE, "-c", "copy", "-f", "mpegts",
                 f"srt://127.0.0.1:{s.ports[10080]}?{ID}publish&pkt_size=1316&latency=250000"], os.path.join(s.tmp, "publish.log"))


def play(s):
    return Proc(["ffmpeg", "-hide_banner", "-nostdin", "-y", "-i", f"srt://127.0.0.1:{s.ports[10080]}?{ID}request", "-c", "copy",
                 "-f", "mpegts", os.path.join(s.tmp, "played.ts")], os.path.join(s.tmp, "play.log"))


def told(api, kind, what):
    """The API's data of the client of this kind, once it has media."""
    rows = []

    def look():
        rows[:] = [c for c in api.clients() if c["type"] == kind and c.get("srt", {}).get(what)]
        return rows
    assert wait_for(look, 10), api.clients()
    assert len(rows) == 1 and rows[0]["ip"] == "127.0.0.1" and rows[0]["url"] == "/live/livestream"
    assert all(name in rows[0]["srt"] for name in SEEN), rows
    return rows[0]


def sums(api):
    lines = [line.rsplit(" ", 1) for line in api.raw("/metrics")[2].decode().splitlines() if line.startswith("srs_srt_")]
    return {name: float(value) for name, value in lines}


@pytest.mark.parametrize("workers", [1, 4])
def test_as_it_is(begin, workers):  # noqa: F811
    s = begin("srt", {"daemon              off;": f"daemon off; workers {workers}; exporter {{ enabled on; listen 127.0.0.1:{free_port()}; }}"})
    api = Api(s.ports[1985])
    publisher = publish(s)
    came = told(api, "srt-publish", "pktRecv")
    assert came["publish"] and came["srt"]["msRcvTsbPdDelay"] == 250 and came["srt"]["pktRcvDrop"] == 0
    player = play(s)
    goes = told(api, "srt-play", "pktSent")
    assert not goes["publish"] and goes["srt"]["msSndTsbPdDelay"] == 200 and goes["srt"]["pktSndDrop"] == 0
    got = sums(api)
    assert got['srs_srt_connections{mode="publish"}'] == got['srs_srt_connections{mode="request"}'] == 1
    assert got["srs_srt_pkt_recv_total"] > 0 < got["srs_srt_pkt_sent_total"] and got["srs_srt_handshakes_total"] >= 2
    for client, there in (goes, player), (came, publisher):
        assert api.kick(client["id"])["code"] == 0
        there.wait(10)
    assert wait_for(lambda: not api.clients(), 5)
    assert sums(api)["srs_srt_pkt_sent_total"] >= got["srs_srt_pkt_sent_total"], "ended clients do not count"


def test_the_doctor_names_its_port():
    got = subprocess.run([procs.BINARY, "-c", os.path.join(procs.ROOT, "conf", "srt.conf"), "--doctor"], cwd=procs.ROOT,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=procs.patience(20), check=False)
    assert b"port 10080/udp" in got.stdout, got.stdout.decode()
