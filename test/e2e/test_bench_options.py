# SPDX-License-Identifier: MIT
"""No option value and no target makes a load tool crash."""
import concurrent.futures
import re
import subprocess

import pytest

from procs import SLOW, SOURCE, free_port
from test_bench_tools import last_object, run, tool
from webclient import Cert

TOOLS = {"sb_rtmp_load": "rtmp", "sb_rtmp_load_fast": "rtmp", "sb_rtmp_publish": "rtmp",
         "sb_http_load": "http https", "sb_hls_load": "http https"}
# Values for each option in addition to specific ones: invalid for most of them.
ODD = ["0", "-1", "1e999", "nan", "inf", "1.5", "", "x" * 5000, "-", "{i}", "0.0.0.0-255.255.255.255",
       "127.0.0.9-127.0.0.2", "/", "/dev/null"]
FIT = {"clients": "3", "input": SOURCE, "stream-count": "2", "repeat": "1", "bind": "127.0.0.2-127.0.0.3",
       "chunk-size": "128", "stall": "1", "late": "1", "read-kbps": "1", "url": None}
GARBAGE = ["", "x", "://", "http", "http://", "http:///", "rtmp://h", "rtmp://[::1/a/b", "https://:0/a/b",
           "rtmp://127.0.0.1:99999/a/b", "rtmp://127.0.0.1:1/a/b", "https://127.0.0.1:1/a/b",
           "http://{i}{i}{i}/a/b", "gopher://127.0.0.1/a/b", "rtmp://127.0.0.1/" + "a" * 9000 + "/b"]
SHORT = ["--duration", "0.2", "-s", "0", "-m", "0.1"]


def options(name):
    """(name, whether it takes a value) of each option in the help."""
    out = subprocess.run([tool(name), "--help"], capture_output=True, text=True).stdout
    found = re.findall(r"^ +(?:-\w, )?--([a-z-]+)( [NSX])?", out, re.M)
    assert len(found) > 12, out
    return [(o, bool(value)) for o, value in found if o != "help"]


def wrong(name, args):
    """Describes a bad end: a signal, a hang, or an exit without a message. None if it ended well."""
    argv = [tool(name), *SHORT, *(["-i", SOURCE] if name == "sb_rtmp_publish" else []), *args]
    try:
        r = subprocess.run(argv, capture_output=True, text=True, timeout=20 * SLOW, stdin=subprocess.DEVNULL,
                           errors="replace")
    except subprocess.TimeoutExpired:
        return f"{argv}: did not end"
    said = r.stdout + r.stderr
    if r.returncode not in (0, 1, 2) or "Assertion" in said or "runtime error" in said:
        return f"{argv}: {r.returncode}: {said[-500:]}"
    if r.returncode == 1 and not re.match(rf"{name}: .*\w", r.stderr):
        return f"{argv}: says nothing of why"
    return None


def cases(name, urls):
    fits = [u for u in urls if u.split(":")[0] in TOOLS[name].split()]
    for url in [u for u in urls if u not in fits] + GARBAGE:
        yield ["-r", url]
    for option, takes in options(name):
        for value in ([FIT.get(option, "0.5"), *ODD] if takes else [None]):
            args = [] if value is None and takes else [f"--{option}" + ("" if value is None else f"={value}")]
            if option == "duration" and value in ("0", None):
                continue  # never ends
            for url in fits if value in (None, FIT.get(option)) else fits[:1]:
                yield ["-r", url, *args]


@pytest.fixture
def urls(srs, source, tmp_path):
    port, tls, html = free_port(), free_port(), tmp_path / "html"
    html.mkdir()
    cert = Cert(tmp_path)
    s = srs(f"http_remux {{ enabled on; }} hls {{ enabled on; hls_path {html}; hls_fragment 1; }}",
            f"http_server {{ enabled on; listen 127.0.0.1:{port}; dir {html}; https {{ {cert.conf(tls)} }} }}")
    s.push(source, loop=True)
    return {"rtmp": s.url(), "rtmps": s.url().replace("rtmp", "rtmps"),
            "http": f"http://127.0.0.1:{port}/live/s.flv", "https": f"https://127.0.0.1:{tls}/live/s.flv"}


OFTEN = ("sb_rtmp_load", "sb_hls_load")


@pytest.mark.parametrize("name", [n if n in OFTEN else pytest.param(n, marks=pytest.mark.long) for n in TOOLS])
def test_no_option_aborts(urls, name):
    every = [{**urls, **({"http": urls["http"].replace("flv", "m3u8"), "https": urls["https"].replace("flv", "m3u8")}
                         if name == "sb_hls_load" else {})}[k] for k in urls]
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        bad = [w for w in pool.map(lambda args: wrong(name, args), cases(name, every)) if w]
    assert not bad, "\n".join(bad[:5])


def test_fast_over_tls(urls):
    """It reports that --fast does not apply, and counts as without it."""
    code, text = run("sb_http_load", "--fast", "-c", 3, "-r", urls["https"], "-s", 0, "--duration", 1.5, "--json")
    got = last_object(text)
    assert code == 0 and got["alive"] == 3 and got["failed"] == 0 and got["messages"] > 30, text
    assert got["gap_ms"]["count"] == 3 and "over TLS" in text, text


