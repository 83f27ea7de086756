# SPDX-License-Identifier: MIT
"""The server for arm64, built by a cross compiler and run in an emulator: its unit tests, and a stream from a publisher to players.
This tests the coroutine switch for this processor."""
import os
import re
import signal
import subprocess

import pytest

import httpapi
import procs
from procs import ROOT, SLOW, wait_for

ARM = os.path.join(ROOT, "objs", "arm64")
pytestmark = [pytest.mark.long, pytest.mark.needs("aarch64-linux-gnu-gcc", "qemu-aarch64", "ffmpeg", "ffprobe")]


def make(target):
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "OBJS")}
    r = subprocess.run(["make", "-C", ROOT, target], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, timeout=2400 * SLOW)
    text = r.stdout.decode(errors="replace")
    none = re.search(r"^sysroot: this machine's package sources .*", text, re.M)
    if none:
        pytest.skip(none.group())
    return r.returncode, text


def test_unit_tests():
    code, text = make("test-arm64")
    assert code == 0, text[-3000:]
    passed, failed = map(int, re.search(r"^(\d+) passed, (\d+) failed$", text, re.M).groups())
    assert passed > 400 and failed == 0


def test_a_stream(tmp_path):
    code, text = make("cross-arm64")
    assert code == 0, text[-3000:]
    rtmp, api, http = (procs.free_port() for _ in range(3))
    conf = tmp_path / "arm.conf"
    conf.write_text(f"""listen 127.0.0.1:{rtmp}; daemon off; srs_log_tank console; pid {tmp_path}/pid;
http_api {{ enabled on; listen 127.0.0.1:{api}; }}
http_server {{ enabled on; listen 127.0.0.1:{http}; dir {tmp_path}/html; }}
vhost __defaultVhost__ {{
    http_remux {{ enabled on; mount [vhost]/[app]/[stream].flv; }}
    hls {{ enabled on; hls_path {tmp_path}/html; hls_fragment 2; }}
}}
""")
    (tmp_path / "html").mkdir()
    p = procs.Proc(["qemu-aarch64", "-L", ARM + "/sysroot", ARM + "/srs", "-c", conf], tmp_path / "srs.log")
    assert procs.wait_port(rtmp, 60, proc=p), p.text()[-2000:]
    push = procs.Proc(["ffmpeg", "-v", "error", "-re", "-i", procs.SOURCE, "-c", "copy", "-f", "flv",
                       f"rtmp://127.0.0.1:{rtmp}/live/livestream"], tmp_path / "push.log")
    assert wait_for((tmp_path / "html/live/livestream.m3u8").exists, 30), p.text()[-2000:]
    assert httpapi.Api(api).streams()[0]["publish"]["active"]
    for url in (f"rtmp://127.0.0.1:{rtmp}/live/livestream", f"http://127.0.0.1:{http}/live/livestream.flv",
                f"http://127.0.0.1:{http}/live/livestream.m3u8"):
        r = subprocess.run(["ffprobe", "-v", "error", "-show_streams", url], capture_output=True, text=True,
                           timeout=60 * SLOW)
        assert "codec_name=h264" in r.stdout and "codec_name=aac" in r.stdout, r.stderr + p.text()[-2000:]
    push.end()
    p.kill(signal.SIGTERM)
    assert p.wait(20) == 0, p.text()[-2000:]
    assert "[ERROR]" not in p.text(), p.text()[-3000:]
