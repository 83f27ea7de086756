# SPDX-License-Identifier: MIT
"""The SRT load tool with libsrt at the other end: it interoperates, and its reports are true."""
import pytest

from procs import SOURCE, Proc, free_port, wait_for
from test_bench_tools import last_object, run, tool

PASSPHRASE = "&passphrase=0123456789abc"
BAD = ("--loss", 5, "--loss-run", 2, "--twice", 1, "--reorder", 2, "--one-way", 20)

pytestmark = pytest.mark.needs("srt-live-transmit")


def bound(port):
    with open("/proc/net/udp") as f:
        return f":{port:04X} " in f.read()


def between(tmp_path, key=""):
    """srt-live-transmit as a listener for one publisher and one player; returns their ports."""
    ports = free_port(), free_port()
    ends = [f"srt://127.0.0.1:{p}?mode=listener{key}" for p in ports]
    proc = Proc(["srt-live-transmit", "-q", "-loglevel:fatal", *ends], tmp_path / "slt.log")
    assert wait_for(lambda: bound(ports[0]) and bound(ports[1]), 5), proc.text()
    return ports


def through(tmp_path, seconds, key="", *args):
    """Reports of a publisher and a player through it."""
    to, of = between(tmp_path, key)
    out = tmp_path / "pub.json"
    pub = Proc([tool("sb_srt_load"), "-r", f"srt://127.0.0.1:{to}?streamid=x{key}", "-i", SOURCE, "-s", 0, "--json", "--duration",
                seconds, *args], tmp_path / "pub.log", stdout=open(out, "wb"))
    code, text = run("sb_srt_load", "-r", f"srt://127.0.0.1:{of}?streamid=x{key}", "-s", 0, "--json", "--duration", seconds, *args)
    assert code == 0, text
    assert pub.wait(10) == 0, pub.text()
    return last_object(out.read_text()), last_object(text)


def check(sent, got, latency):
    assert sent["alive"] == got["alive"] == 1 and sent["failed"] == got["failed"] == 0
    assert sent["too_late"] == got["too_late"] == got["ts_faults"] == got["undecrypted"] == got["holes"] == 0, (sent, got)
    assert got["packets"] > 20 and got["drops"] == 0 and sent["agreed_ms"]["max"] == latency
    # twice the latency, and the network's delay
    assert latency < got["latency_ms"]["p50"] < 2 * latency + 300, got["latency_ms"]


def test_with_a_key(tmp_path):
    check(*through(tmp_path, 1.8, PASSPHRASE), 120)


@pytest.mark.long
@pytest.mark.parametrize("key", ["", "&pbkeylen=24" + PASSPHRASE, "&pbkeylen=32" + PASSPHRASE], ids=["clear", "24", "32"])
def test_bad_network(tmp_path, key):
    sent, got = through(tmp_path, 10, key, *BAD, "--latency", 400)
    check(sent, got, 400)
    assert sent["lost"] > 0 and got["lost"] > 0 and got["repeated"] >= got["lost"] - 1


@pytest.mark.parametrize("ours,theirs,code", [(PASSPHRASE + "d", PASSPHRASE, "1010"), ("", PASSPHRASE, "1011")],
                         ids=["wrong", "none"])
def test_refused(tmp_path, ours, theirs, code):
    _, of = between(tmp_path, theirs)
    _, text = run("sb_srt_load", "-r", f"srt://127.0.0.1:{of}?streamid=x{ours}", "-s", 0, "--json", "-t", 1)
    assert last_object(text)["refused"] == {code: 1}, text
