# SPDX-License-Identifier: MIT
"""The table in doc/security-limits-table.md: its defaults are the program's, its constants those of the code, and its tests exist."""
import os
import re

import pytest

from procs import ROOT

# Constants in the table, and their place in the code.
CONSTANTS = [
    ("addresses remembered", "16384", "src/session/address_limits.h", r"ADDRESS_REMEMBERED = 16384"),
    ("that have not connected", "64", "src/serve/rtc/impl.h", r"RTC_PENDING_OF_ADDRESS = 64"),
    ("being authorized", "8", "src/serve/srt/impl.h", r"SRT_GATE_MOST = 8"),
    ("key derivations", "64", "src/serve/srt/impl.h", r"SRT_KEY_JOBS = 64"),
    ("SRT refusals", "1024", "src/serve/srt/callers.h", r"SRT_AWAY = 1024, SRT_REFUSED = 1024"),
    ("RTMFP startup packets", "16384", "src/serve/rtmfp/rate.h", r"SETS = 4096, RTMFP_RATE_WAYS = 4"),
    ("whose keys are computed", "1024", "src/serve/rtmfp/keys_queue.h", r"RTMFP_KEY_JOBS = 1024"),
    ("RTMFP introductions", "20", "src/serve/rtmfp/introduce.c", r"ASKED_A_SECOND = 20"),
    ("streams of an RTMFP session", "16", "src/serve/rtmfp/connection.h", r"RTMFP_NETSTREAMS_MAX = 16"),
    ("flows of an RTMFP session", "64", "src/proto/rtmfp/session.h", r"RTMFP_FLOWS_MAX = 64"),
    ("flows of an RTMFP session", "200", "src/proto/rtmfp/session.h", r"RTMFP_FLOWS_OPENED_MAX = 200"),
    ("NetGroups", "64", "src/serve/rtmfp/group_ring.h", r"RTMFP_GROUPS_MAX = 64"),
    ("same peer id", "4", "src/serve/rtmfp/directory.h", r"RTMFP_SAME_ID_MAX = 4"),
    ("RTSP sessions and tracks", "4", "src/proto/rtsp/server.h", r"RTSP_SESSIONS_MAX = 4"),
    ("RTSP sessions and tracks", "16", "src/proto/rtsp/session.h", r"RTSP_TRACKS_MAX = 16"),
    ("RTSP multicast", "64", "src/serve/rtsp/multicast.h", r"RTSP_MULTICAST_MAX = 64"),
    ("that waits for its POST", "10", "src/serve/rtsp/tunnel_io.h", r"RTSP_TUNNEL_TIME CO_SECONDS\(10\)"),
    ("queued in an RTSP tunnel", "16", "src/serve/rtsp/tunnel_io.c", r"QUEUE = 16 \* 1024"),
    ("offers of WebRTC", "64", "src/proto/sdp/offer.h", r"SDP_OFFER_MAX = 64 \* 1024"),
    ("offers of WebRTC", "16", "src/proto/sdp/offer.h", r"SDP_SECTIONS_MAX = 16"),
    ("tokens and JWTs", "4", "src/proto/token/token.h", r"TOKEN_MAX = 4096"),
    ("WebRTC addresses", "65536", "src/serve/rtc/table.h", r"RTC_FOREIGN_MAX = 65536"),
    ("STUN checks", "256", "src/serve/rtc/impl.h", r"RTC_ASKED = 256"),
    ("ICE names", "1024", "src/serve/rtc/impl.h", r"RTC_NAMES_MAX = 1024"),
    ("ICE over TCP", "512", "src/serve/rtc/tcp.c", r"OUT_MAX = 512 \* 1024"),
    ("jobs of helper threads", "256", "src/co/thread.h", r"CO_POOL_THREADS = 4, CO_POOL_DNS_THREADS = 32, CO_POOL_QUEUE = 256"),
    ("redirects", "5", "src/proto/rtsp/client.h", r"RTSP_REDIRECTS_MAX = 5"),
    ("reads in progress", "32", "src/vod/store.h", r"VOD_LOADERS = 32"),
    ("compressed copies", "16", "src/app/server_one.c", r"TEXTS_MOST = 16 << 20"),
    ("compressed copies", "256", "src/serve/http/packed.c", r"FILES_MAX = 256"),
    ("datagrams passed", "256", "src/serve/datagram/pass.h", r"DATAGRAM_MAILS = 256"),
    ("datagrams passed", "64", "src/serve/rtc/impl.h", r"RTC_MAILS_STRANGE = DATAGRAM_MAILS / 4"),
    ("segments, recordings", "40", "src/sink/hls/segment/cut.c", r"segments = \{ CO_MS\(250\), 40 \}, parts = \{ CO_MS\(20\), 400 \}"),
    ("blocks of a recording", "100", "src/sink/dvr/run.c", r"files = \{ CO_MS\(250\), 40 \}, blocks = \{ CO_MS\(50\), 100 \}"),
    ("response of a backend", "1024", "src/session/hooks_impl.h", r"HOOKS_VALUES = 1024"),
    ("parts of one frame", "1024", "src/av/nalu.h", r"NALU_UNITS_MAX = 1024"),
    ("certificates of a WebRTC", "4096", "src/co/net/tls_peer.c", r"RSA_BITS = 4096, EXPONENT_BITS = 32"),
    ("certificates of a TLS server", "10", "src/co/net/tls_peer.h", r"TLS_PEER_CHAIN = 10"),
    ("wrong passwords of the API", "1024", "src/session/guard.h", r"GUARD_ADDRESSES = 1024"),
    ("wrong RTSP passwords", "1024", "src/session/guard.h", r"GUARD_ADDRESSES = 1024"),
    ("addresses with a log budget", "1024", "src/base/log_budget.h", r"LOG_ADDRESSES = 1024"),
]


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as f:
        return f.read()


def rows():
    text = read("doc", "security-limits-table.md")
    found = [[c.strip() for c in x.strip("|").split("|")] for x in text.splitlines() if x.startswith("|")][2:]
    return [r for r in found if not r[0].startswith("**")]


def test_it_is_whole():
    assert len(rows()) > 50 and all(len(r) == 5 for r in rows())
    for name, *cells in rows():
        assert cells[0] != "" and cells[1] != "", f"{name}: no limit is said"


def test_directives_have_these_defaults():
    """`name` 123 in a cell is a directive with its default."""
    defaults = {}
    for name, default in re.findall(r"^\| `(\w+)` \| ([^|]*) \|", read("doc", "config.md"), re.M):
        defaults.setdefault(name, set()).add(default.replace("`", "").removesuffix(" s").strip())
    n = 0
    for row in rows():
        for name, default in re.findall(r"`(\w+)` (\d+[km]?)\b", " ".join(row[1:3])):
            assert default in defaults[name], f"{row[0]}: {name} is {defaults[name]} by default"
            n += 1
        for name in re.findall(r"(\w+);", row[3]):
            assert name in defaults, f"{row[0]}: there is no {name}"
    assert n > 20


@pytest.mark.parametrize("what, number, path, code", CONSTANTS, ids=[f"{c[0]} {c[1]}" for c in CONSTANTS])
def test_constants_are_these(what, number, path, code):
    row = next(r for r in rows() if what in r[0])
    assert re.search(rf"\b{number}\b", " ".join(row[1:3])), row
    assert re.search(code, read(*path.split("/"))), f"{path}: no {code}"


def test_tests_are_there():
    text = ""
    for folder in ("unit", "e2e"):
        for name in os.listdir(os.path.join(ROOT, "test", folder)):
            if name.startswith("test_") and name.endswith((".c", ".py")):
                text += read("test", folder, name)
    there = set(re.findall(r"(?:def|void|bool) (\w+)\(", text))
    for row in rows():
        for name in re.findall(r"`(\w+)`", row[4]):
            assert name in there, f"{row[0]}: there is no test {name}"
        assert row[4] != "-" or row[1].startswith(("none", "only")), f"{row[0]}: no test"
