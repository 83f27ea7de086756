# SPDX-License-Identifier: MIT
"""An unused server: it rarely wakes, and responds at once when a client comes."""
import glob
import re
import time

import flv
import pytest

from procs import SLOW, WORKERS, free_port, wait_for


def wakes(pid):
    """How often all of its threads have slept so far."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/status"):
        with open(path) as f:
            total += int(re.search(r"\nvoluntary_ctxt_switches:\s+(\d+)", f.read()).group(1))
    return total


def rate(pid, seconds=1.0):
    """Wakeups per second."""
    before, began = wakes(pid), time.monotonic()
    time.sleep(seconds)
    return (wakes(pid) - before) / (time.monotonic() - began)


def seconds_to(what):
    began = time.monotonic()
    what()
    return time.monotonic() - began


@pytest.mark.alone
def test_idle(srs, source, tmp_path):
    """With nearly all features on, and after a client was there."""
    html = tmp_path / "html"
    html.mkdir()
    s = srs(f"hls {{ enabled on; hls_path {html}; hls_fragment 1; }} "
            f"dash {{ enabled on; dash_path {html}; dash_fragment 1; }} "
            f"dvr {{ enabled on; dvr_path {html}/[stream].[timestamp].flv; }} "
            "http_remux { enabled on; mount [vhost]/[app]/[stream].flv; }",
            f"http_server {{ enabled on; listen 127.0.0.1:{free_port()}; dir {html}; }} "
            f"http_api {{ enabled on; listen 127.0.0.1:{free_port()}; }} inotify_auto_reload on;")
    p = s.push(flv.cut(source, 4000), speed=10)
    p.join(10)
    assert wait_for(lambda: (html / "live/s.m3u8").exists(), 10)
    p.stop()
    p.client.close()
    seen = []
    assert wait_for(lambda: seen.append(rate(s.pid)) or seen[-1] <= 5 * int(WORKERS or 1), 20), f"wakes a second: {seen}"
    at = s.mark()
    first = seconds_to(s.publisher)
    told = seconds_to(lambda: s.wait_log("identified", 2, at))
    assert first < 0.2 * SLOW and told < 0.3 * SLOW, (first, told)
    second = min(seconds_to(s.player) for _ in range(3))
    assert first < second + 0.1 * SLOW, f"the first one waited for {first:.3f} s, later ones {second:.3f}"
    s.stop()
    assert s.stop_seconds < 1.5 * SLOW
