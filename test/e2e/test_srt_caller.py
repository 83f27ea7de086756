# SPDX-License-Identifier: MIT
"""We call listeners of SRT: a stream is forwarded to them, and taken from them."""
import pytest

from procs import Proc, free_port, wait_for
from tools import run


def forward(port, more=""):
    return f"forward {{ enabled on; destination srt://127.0.0.1:{port}{more}; }}"


def listener(port, out, log, more=""):
    """Takes what is sent to it, into a file."""
    return Proc(["srt-live-transmit", "-q", f"srt://127.0.0.1:{port}?mode=listener{more}", f"file://con"], log,
                stdout=open(out, "wb"))


def tracks(path):
    """How many packets there are of each kind."""
    kinds = run(["ffprobe", "-v", "error", "-show_entries", "packet=codec_type", "-of", "csv=p=0", str(path)]).stdout.decode().split()
    return kinds.count("video"), kinds.count("audio")


@pytest.mark.needs("srt-live-transmit")
def test_a_listener_takes_it(srs, source, tmp_path):
    port, out = free_port(), tmp_path / "out.ts"
    there = listener(port, out, tmp_path / "slt.log")
    s = srs(forward(port))
    s.push(source, loop=True)
    assert wait_for(lambda: out.stat().st_size > 100000, 10), there.text() + s.log()[-2000:]
    there.end()
    assert s.wait_log("forward to srt://.*: publishing, latency 120 ms", 1)
    assert min(tracks(out)) >= 10
