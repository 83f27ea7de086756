# SPDX-License-Identifier: MIT
"""SRT timestamps are microseconds in 32 bits: they wrap after 71.6 minutes, in both directions."""
import os

import pytest

from procs import SOURCE, Proc
from test_bench_tools import last_object, run, tool
from test_srt import srt_server

MINUTES = float(os.environ.get("E2E_SRT_MINUTES", 73))


@pytest.mark.long
def test_longer_than_times_count(srs, tmp_path):
    s = srt_server(srs)
    s.holds_allowed = (2 + int(MINUTES / 10), 25)  # a busy machine causes one now and then: more than a few in this time are a failure
    url, out, seconds = s.srt_url(), tmp_path / "publisher.json", MINUTES * 60
    publisher = Proc([tool("sb_srt_load"), "-r", url, "-i", SOURCE, "-s", 0, "--json", "--duration", seconds + 10],
                     tmp_path / "publisher.log", stdout=open(out, "wb"))
    assert s.wait_log("SRT publisher", 10)
    code, text = run("sb_srt_load", "-r", s.srt_url("#!::r=live/s"), "-s", 0, "--json", "--duration", seconds,
                     timeout=seconds + 60)
    got = last_object(text)
    assert code == 0 and publisher.wait(30) == 0, (text, publisher.text())
    sent = last_object(out.read_text())
    assert sent["alive"] == got["alive"] == 1 and sent["reconnected"] == got["reconnected"] == 0
    assert sent["too_late"] == got["too_late"] == got["holes"] == got["ts_faults"] == got["stalls"] == 0, (sent, got)
    assert got["latency_ms"]["p99"] < got["latency_ms"]["p50"] + 200, got["latency_ms"]
