# SPDX-License-Identifier: MIT
"""RTMFP clients in the API, the metrics and the log, and how they are disconnected."""
import contextlib
import os
import re
import subprocess
import sys

import pytest

pytest.importorskip("cryptography")

import flv                      # noqa: E402
import httpapi                  # noqa: E402
import procs                    # noqa: E402
import rtmfp                    # noqa: E402
import rtmfp_client as rc       # noqa: E402
import rtmfp_wire as w          # noqa: E402
from procs import free_port, wait_for  # noqa: E402
from rtmpclient import Closed    # noqa: E402
from test_metrics import scrape, values  # noqa: E402

SECURED = {"mac": w.Wish(7, 10), "numbers": w.Wish(7, 0)}


def value(got, name, labels=""):
    return got[name][labels]


@pytest.fixture
def served(srs):
    """A server with RTMFP, the API, and metrics on the API's port."""
    port, api = free_port(), free_port()
    s = srs("rtmfp { enabled on; }", httpapi.conf(api, more=f"""exporter {{ enabled on; listen {free_port()}; }}
        rtmfp_server {{ enabled on; listen 127.0.0.1:{port}; }}"""))
    s.rtmfp_port, s.api, s.api_port = port, httpapi.Api(api), api
    return s


def listed(s):
    return {c["type"]: c for c in s.api.clients()}


def test_lists_metrics_and_a_kick(served, source):
    """A publisher with HMAC and numbers, a player without: both are listed correctly, and a kick finds them."""
    tags = flv.cut(source, 1000)
    with rc.Client(served.rtmfp_port, identity=rtmfp.Identity(group=14, **SECURED)).connect() as a, \
            rc.Client(served.rtmfp_port).connect() as b:
        sender, viewer = a.publish("s"), b.play("s")
        rc.pump(a, sender, tags, others=[b], speed=None)
        rc.run([a, b], lambda: len(flv.frames(viewer.tags)) >= len(flv.frames(tags)))
        both = listed(served)
        publisher, player = both["rtmfp-publish"], both["rtmfp-play"]
        assert publisher["publish"] and not player["publish"]
        assert publisher["name"] == player["name"] == "s" and publisher["ip"] == "127.0.0.1"
        assert publisher["recv_bytes"] > 10000 < player["send_bytes"]
        p, q = publisher["rtmfp"], player["rtmfp"]
        assert p["peer_id"] == a.peer_id.hex() and q["peer_id"] == b.peer_id.hex()
        assert (p["dh_group"], p["hmac"], p["sequence"]) == (14, True, True)
        assert (q["dh_group"], q["hmac"], q["sequence"]) == (2, False, False)
        assert re.fullmatch(r"127\.0\.0\.1:\d+", p["remote"]) and p["remote"] != q["remote"]
        assert p["packets_received"] > 10 < q["packets_sent"] and 0 <= q["rtt_ms"] < 5000
        assert q["skips"] == q["waiting_bytes"] == 0 <= q["fragments_again"]  # some are retransmitted on a slow machine
        assert served.api.stream("s")["publish"]["type"] == "rtmfp-publish"

        def counted():  # counters of other workers are at most a second old
            got = values(scrape(served.api_port))
            return got if value(got, "srs_rtmfp_streams", 'mode="play"') == 1 else None
        got = wait_for(counted, 3)
        assert value(got, "srs_rtmfp_sessions") == value(got, "srs_rtmfp_connected") == 2
        assert value(got, "srs_rtmfp_streams", 'mode="publish"') == 1
        assert value(got, "srs_rtmfp_opened_total") == value(got, "srs_rtmfp_key_jobs_total") == 2
        assert value(got, "srs_rtmfp_hellos_total") == value(got, "srs_rtmfp_keyings_total") == 2
        assert value(got, "srs_rtmfp_datagrams_in_total") > 10

        a.endpoint.rebind()
        a.session.ping()
        rc.run([a, b], lambda: listed(served)["rtmfp-publish"]["rtmfp"]["address_changes"] == 1)
        rc.run([a, b], lambda: value(values(scrape(served.api_port)), "srs_rtmfp_moves_total") == 1, 3)
        assert value(values(scrape(served.api_port)), "srs_rtmfp_moves_total") == 1
        served.api.kick(player["id"])
        rc.run([a, b], lambda: "rtmfp-play" not in listed(served))
        assert listed(served).keys() == {"rtmfp-publish"}


def test_why_a_player_stalls(served, source):
    """A player that acknowledges nothing for a while: its state, its lag, and how long its window was full."""
    tags = flv.cut(source, 1500)
    with rc.Client(served.rtmfp_port).connect() as a, rc.Client(served.rtmfp_port).connect() as b:
        sender, viewer = a.publish("s"), b.play("s")
        rc.pump(a, sender, tags, others=[b], until=lambda: len(viewer.tags) > 20)
        rc.run([a, b], lambda: listed(served)["rtmfp-play"]["state"] == "COLLECT")
        rc.pump(a, sender, tags)  # for 1.5 seconds nothing is read from the player
        slow = listed(served)["rtmfp-play"]
        assert slow["state"] == "WINDOW_FULL" and slow["lag_ms"] > 500, slow
        assert 0 < slow["window_full_ms"] == slow["state_ms"], slow
        assert "state" not in listed(served)["rtmfp-publish"]
        rc.run([a, b], lambda: listed(served)["rtmfp-play"]["state"] != "WINDOW_FULL")
        assert listed(served)["rtmfp-play"]["window_full_ms"] >= slow["window_full_ms"]


def test_quits_with_a_player(served, source):
    """It is notified, and the server does not wait for it."""
    served.push(source, loop=True)
    with rc.Client(served.rtmfp_port).connect() as c:
        viewer = c.play("s")
        c.wait(lambda: len(flv.frames(viewer.tags)) > 5)
        served.stop()
        assert served.stop_seconds < 3 * procs.SLOW
        with pytest.raises(Closed):
            c.wait(lambda: False)
    assert re.search(r"client finished: RTMFP player of .*: code=1053\(STOPPED\)", served.log())


def test_sessions_are_no_connections(srs, source):
    """Sessions that only wait to be found do not count for max_connections: they have limits of their own."""
    port = free_port()
    s = srs("rtmfp { enabled on; }", f"""max_connections 4; workers 2;
        rtmfp_server {{ enabled on; listen 127.0.0.1:{port}; }}""", env={"SRS_WORKERS": ""})
    with contextlib.ExitStack() as every:
        for _ in range(6):
            every.enter_context(rc.Client(port)).connect()
        s.push(source, loop=True)
        viewer = s.watch()
        assert viewer.wait(lambda got: len(flv.frames(got)) > 5, 5)


@pytest.mark.long
def test_command_line(served, source, tmp_path):
    """scripts/rtmfp.py as documented: one publishes, another one plays to a file."""
    url, out = f"rtmfp://127.0.0.1:{served.rtmfp_port}/live/s", tmp_path / "out.flv"
    tool = os.path.join(procs.ROOT, "scripts", "rtmfp.py")
    procs.Proc([sys.executable, tool, "publish", url, procs.SOURCE, "--loop"], tmp_path / "publish.log")
    assert served.wait_log("type=rtmfp-publish", 10)
    assert subprocess.run([sys.executable, tool, "play", url, out, "--seconds", "3"], timeout=60 * procs.SLOW).returncode == 0
    got = flv.read(out)
    assert len(flv.frames(got)) > 50 and flv.find_run(flv.hashes(got, flv.VIDEO), flv.hashes(source, flv.VIDEO) * 2) >= 0
