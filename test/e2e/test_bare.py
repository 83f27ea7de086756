# SPDX-License-Identifier: MIT
"""The first two commands of the README on bare machines, which do not even have make."""
import os
import re
import signal
import subprocess

import pytest

import bare
import httpapi
import procs
from procs import SLOW, wait_for

SUITES = ["bookworm", "trixie", "noble"]
pytestmark = [pytest.mark.long, pytest.mark.needs("ffmpeg", "ffprobe")]


def output(argv, minutes=15):
    r = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       timeout=minutes * 60 * SLOW)
    return r.returncode, r.stdout.decode(errors="replace")


def runs(machine, log, user=0):
    """scripts/run.sh starts a server that accepts a stream, shows it, and ends with Ctrl+C."""
    rtmp, api, http = (procs.free_port() for _ in range(3))
    env = {"SRS_LISTEN": f"127.0.0.1:{rtmp}", "SRS_HTTP_API_LISTEN": f"127.0.0.1:{api}",
           "SRS_HTTP_SERVER_LISTEN": f"127.0.0.1:{http}"}
    p = procs.Proc(machine.command("exec ./scripts/run.sh", user, env), log)
    assert wait_for(lambda: f"listening on 127.0.0.1:{rtmp}" in p.text() or not p.running(), 900), p.text()[-3000:]
    assert p.running(), p.text()[-3000:]
    assert httpapi.Api(api).get("versions")["code"] == 0
    push = procs.Proc(["ffmpeg", "-v", "error", "-re", "-i", procs.SOURCE, "-c", "copy", "-f", "flv",
                       f"rtmp://127.0.0.1:{rtmp}/live/livestream"], str(log) + ".push")
    for url in f"rtmp://127.0.0.1:{rtmp}/live/livestream", f"http://127.0.0.1:{http}/live/livestream.flv":
        code, text = output(["ffprobe", "-v", "error", "-show_streams", url], 1)
        assert code == 0 and "codec_name=h264" in text and "codec_name=aac" in text, text
    push.end()
    return p


def ends(p):
    """Sends Ctrl+C to the shell and the server that replaced it."""
    with open(f"/proc/{p.pid}/task/{p.pid}/children") as f:
        os.kill(int(f.read().split()[0]), signal.SIGINT)
    assert p.wait(20) == 0, p.text()[-2000:]


@pytest.mark.parametrize("suite", SUITES)
def test_run_as_root(suite, tmp_path):
    m = bare.Bare(suite, tmp_path / "m")
    assert output(m.command("command -v make || command -v gcc || command -v python3"))[0] != 0, "the machine is not bare"
    code, text = output(m.command("./scripts/run.sh", user=1000))
    assert code == 1 and re.search(r"^    apt-get update && apt-get install -y .* make ", text, re.M), text
    ends(runs(m, tmp_path / "run.log"))
    # Everything is installed now: root is no longer needed.
    m.run("chown -R 1000:1000 /src")
    ends(runs(m, tmp_path / "again.log", user=1000))


@pytest.mark.parametrize("suite", SUITES)
def test_test_as_a_user_with_sudo(suite, tmp_path):
    """All parts of the tests; only a few end-to-end tests, because all of them take as long as outside."""
    m = bare.Bare(suite, tmp_path / "m")
    m.sudo()
    few = {"E2E_ARGS": "-k test_publish_play"}
    code, text = output(m.command("./scripts/test.sh", 1000, few), 30)
    assert code == 0, text[-5000:]
    passed, failed = map(int, re.fullmatch(r"(\d+) passed, (\d+) failed", text.strip().splitlines()[-1]).groups())
    assert passed > 500 and failed == 0
    # Everything is installed now: root is no longer needed.
    m.no_sudo()
    code, text = output(m.command("3rdparty/install.sh build test && make test-e2e", 1000, few))
    assert code == 0 and text.strip().endswith(" 0 failed"), text[-5000:]
