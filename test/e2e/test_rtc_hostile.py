# SPDX-License-Identifier: MIT
"""Hostile WebRTC clients during playback of 200 players, which must notice nothing; resources are freed afterwards."""
import collections
import json
import os
import socket
import struct
import sys
import threading
import time

import pytest

import hostile_rtc as h
from httpapi import Api
from procs import SLOW, Proc, wait_for
from rtc import rtc_server
from server import LINE
from test_bench_tools import last_object, tool

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hostile_rtc.py")
PLAYERS = 200
pytestmark = [pytest.mark.long, pytest.mark.alone]


class Scene:
    """A stream, and players of it for some seconds."""

    def __init__(self, srs, tmp, source, seconds, **how):
        self.s = s = rtc_server(srs, tmp, rtc="rtmp_to_rtc on; rtc_to_rtmp on;", glob="max_connections 3000;", **how)
        self.pusher = s.push(source, "bystander", loop=True, ahead=1)
        assert s.wait_log("video sh", 3)
        self.out = tmp / "players.json"
        self.players = Proc([tool("sb_rtc_load"), "-c", str(PLAYERS), "--ramp", "150", "--duration", str(seconds), "--json",
                             "-r", s.whep("bystander")], tmp / "players.log", stdout=open(self.out, "wb"))
        self.api = Api(s.api_port)
        assert wait_for(lambda: self.playing() == PLAYERS, 10, 0.1)
        self.mark, self.before = s.mark(), s.rss()
        self.most, self.kinds = self.before, []

    def playing(self):
        return sum(c["type"] == "rtc-play" and c.get("rtc", {}).get("state") == "connected" for c in self.api.clients())

    def attack(self, kind, rate, seconds):
        p = Proc([sys.executable, PROGRAM, kind, "--api", str(self.s.api_port), "--rtc", str(self.s.rtc_port), "--rate", str(rate),
                  "--seconds", str(seconds)], os.path.join(self.s.tmp, kind.replace(" ", "_") + ".out"))
        while p.running():
            self.most = max(self.most, self.s.rss())
            time.sleep(0.05)
        assert p.wait(30) == 0, f"{kind}: {p.text()[-2000:]}"
        got = json.loads(p.text().strip().splitlines()[-1])
        print(f"{kind}: {got}, {self.before} kB became {self.s.rss()} kB")
        assert got["per_second"] > rate / 20, got
        self.kinds.append(kind)
        return got

    def check(self, gap=0.3, rest=40):
        """No player noticed, all are there; resources are freed after this time."""
        assert self.players.wait(60) == 0, self.players.text()[-2000:]
        got = last_object(self.out.read_text())
        self.pusher.stop()
        most, back = self.most - self.before, wait_for(lambda: self.s.rss() - self.before < 6144 * SLOW, rest, 0.2)
        print(f"longest gap {got['gap_ms']['max']:.0f} ms, lost {got['lost']}; {self.before} kB became {self.most} kB, "
              f"then {self.s.rss()} kB")
        assert got["alive"] == PLAYERS and got["failed"] == 0 and got["reconnected"] == 0, got
        assert got["gap_ms"]["max"] < 1000 * gap * SLOW and got["lost"] == 0, got
        assert most < 12 * 1024 * SLOW, f"{most} kB more"
        assert back, f"{self.before} kB stay {self.s.rss()} kB"
        lines = self.s.log()[self.mark:].split("\n")[:-1]
        wrong = [x for x in lines if not LINE.match(x) or not x.isprintable()]
        assert not wrong, wrong[:5]
        return lines


@pytest.fixture
def scene(srs, tmp_path, source):
    return lambda seconds, **how: Scene(srs, tmp_path, source, seconds, **how)


AT_BOTH = pytest.mark.parametrize("workers", ["1", "4"])


@AT_BOTH
def test_offers(scene, workers):
    """1,000 a second of all kinds; DELETE and PATCH of sessions of others."""
    c = scene(12, env={"SRS_WORKERS": workers})
    statuses = c.attack("offers", 1000, 5)["statuses"]
    assert set(statuses) <= {"201", "400", "503"} and statuses["400"] > 100, statuses
    statuses = c.attack("strangers", 1000, 2)["statuses"]
    assert set(statuses) == {"200", "403", "404"}, statuses
    c.check()


def test_answers_that_no_client_uses(scene):
    """At most 64 per address, removed after 30 s."""
    c = scene(7)
    assert c.attack("unused", 1, 1)["statuses"] == {"201": 640, "503": 60}
    c.check()
    assert wait_for(lambda: not c.api.clients(), 40, 0.5)


@AT_BOTH
def test_checks(scene, workers):
    c = scene(13, env={"SRS_WORKERS": workers})
    assert c.attack("checks", 20000, 3)["answered"] == 0
    got = c.attack("replays", 20000, 3)
    assert got["answered"] == 0 and got["media"] > 5, got
    c.attack("many checks", 5000, 2)
    assert not any(x["rtc"]["address_changes"] for x in c.api.clients() if x["type"] == "rtc-play")
    lines = c.check()
    assert sum("ICE checks for unknown sessions" in x for x in lines) <= 3 * int(workers)


@AT_BOTH
def test_handshakes(scene, workers):
    """Garbage, one hello after the other, fragments that never end, empty records: 100 sessions at once."""
    c = scene(10, env={"SRS_WORKERS": workers})
    c.attack("handshakes", 5000, 5)
    c.check()


@AT_BOTH
def test_reports_and_sources(scene, workers):
    """NACK for everything, floods of PLI, lengths beyond the end; 100,000 sources whose numbers and times jump."""
    c = scene(13, env={"SRS_WORKERS": workers})
    c.attack("reports", 4000, 4)
    c.attack("sources", 20000, 5)
    c.check()


def test_bombs(scene):
    """Frames of over 4 MB, of 4,000 units, empty, without start or end, of each codec; at 14 Mbit/s, because the last seconds are
    kept for new players."""
    c = scene(34)
    for codec in ("H264", "H265", "AV1", "VP9", "VP8"):
        c.attack(f"bombs of {codec}", 1500, 5)
    c.check()


def test_players_that_are_gone(scene):
    """The kernel reports their closed ports (ICMP): this must not affect others."""
    c = scene(8)
    v = [h.Client(c.s.api_port, c.s.rtc_port, "bystander").connect() for _ in range(50)]
    assert wait_for(lambda: all(p.hear(0.1) for p in v), 3)
    for p in v:
        p.close()
    c.check()


# ---- an attacker on the path

class Wire:
    """Sees what clients send to this port, and sends from any source address."""

    def __init__(self, port):
        try:
            self.tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
            self.raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
        except PermissionError:
            pytest.skip("no right to look at the wire")
        self.tap.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        self.tap.bind(("lo", 0x0800))
        self.port, self.seen, self.halt = port, [], False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        self.tap.settimeout(0.2)
        while not self.halt:
            try:
                got, at = self.tap.recvfrom(4096)
            except TimeoutError:
                continue
            head = (got[0] & 15) * 4
            if at[2] != 4 and got[9] == 17 and got[head + 2:head + 4] == struct.pack(">H", self.port):
                self.seen.append((struct.unpack(">H", got[head:head + 2])[0], got[head + 8:]))

    def stop(self):
        self.halt = True
        self.thread.join(3)
        return self.seen

    def send(self, source, data):
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28 + len(data), 0, 0, 64, 17, 0, socket.inet_aton("127.0.0.1"),
                         socket.inet_aton("127.0.0.1"))
        self.raw.sendto(ip + struct.pack(">HHHH", source, self.port, 8 + len(data), 0) + data, ("127.0.0.1", 0))


def kind_of(data):
    return "STUN" if data[0] < 4 else "DTLS" if data[0] < 64 else "SRTP"


@AT_BOTH
def test_the_wire(scene, workers):
    """Replays of players' packets, from their address and others, unchanged and modified; and garbage in their name."""
    c = scene(16, env={"SRS_WORKERS": workers})
    wire = Wire(c.s.rtc_port)
    time.sleep(4)
    seen = wire.stop()
    ports = sorted({port for port, _ in seen})
    kinds = collections.Counter(kind_of(data) for _, data in seen)
    assert len(ports) == PLAYERS and kinds["STUN"] >= PLAYERS and kinds["SRTP"] >= 2 * PLAYERS, (len(ports), kinds)
    begin, n = time.monotonic(), 0
    for port, data in seen[:3000]:
        other = ports[n % PLAYERS]
        wire.send(port, data)                                     # again
        wire.send(other, data)                                    # as if from another client
        wire.send(60000 + n % 5000, data)                         # from an unused address
        wire.send(port, data[:-1] + bytes([data[-1] ^ 1]))
        wire.send(port, data[:2] + bytes([data[2] ^ 0x40]) + data[3:])
        wire.send(port, h.record(21, b"\2\x28"))                  # alerts: fatal, and the end
        wire.send(port, h.record(21, b"\1\0", 1, n))
        wire.send(port, h.record(22, h.message(1, 0, h.HELLO)))
        wire.send(port, bytes([0x80 | n & 0x3f, 102]) + h.rng.randbytes(n % 200))
        n += 1
        if n % 8 == 0:
            time.sleep(0.008)
    print(f"{9 * n} datagrams within {time.monotonic() - begin:.1f} s; seen {dict(kinds)}")
    got = [x["rtc"] for x in c.api.clients() if x["type"] == "rtc-play"]
    c.check()
    assert len(got) == PLAYERS and sum(x["packets_forged"] for x in got) > 1000, got[:3]
    assert not any(x["address_changes"] for x in got), [x for x in got if x["address_changes"]][:3]
