# SPDX-License-Identifier: MIT
"""Directives without effect are reported with file and line: by -t, at the start and by a reload; errors come first."""
import glob
import os
import subprocess

import pytest

import procs
from procs import ROOT, free_port

VAIN = """
security {
    deny publish all;
}
http_hooks {
    enabled on;
    on_unpublish 127.0.0.1:1/hook;
}
hls { enabled 1; hls_path ./hls; hls_fragment 10;
    hls_window 5;
}
http_remux { enabled yes; }
transcode {
    enabled on;
    ffmpeg ./no/such/ffmpeg;
    engine a { enabled on; vcodec copy; acodec copy; output ./[stream].flv; }
}
"""
TOLD = {"security {": 'vhost.security has no effect: write "enabled on;"', "on_unpublish": '"127.0.0.1:1/hook" cannot be called: write http://',
        "hls_window": "hls_window 5 s is less than hls_fragment 10 s", "http_remux": "http_remux is on and has no effect: http_server is off",
        "ffmpeg ./no": "./no/such/ffmpeg does not exist: using ffmpeg of the system"}


def check(path, folder, **env):
    r = subprocess.run([procs.BINARY, "-t", "-c", str(path)], cwd=folder, capture_output=True, text=True, timeout=20,
                       env={k: v for k, v in os.environ.items() if not k.startswith("SRS_")} | env)
    return r.returncode, r.stderr.splitlines()


def lines_of(path):
    """Returns the reported texts, each with its line."""
    with open(path) as f:
        text = f.read().splitlines()
    return {words: next(i for i, line in enumerate(text, 1) if mark in line) for mark, words in TOLD.items()}


def test_each_once_with_its_line(srs):
    """The same reports by -t, at the start, and by a reload; the server works."""
    s = srs(begin=False)
    s.write(VAIN)
    want = lines_of(s.conf_path)
    code, told = check(s.conf_path, s.tmp, SRS_VHOST_HLS_WINDOW="5", SRS_QUERY_LATEST_VERSION="on", SRS_PORT_1935_TCP="tcp://10.0.0.1:1935")
    assert code == 0 and told[-1].endswith("test is successful")
    for words, line in want.items():
        (one,) = [x for x in told if words in x]
        assert one.startswith("srs: warning: ") and f"{s.conf_path}:{line}: " in one, one
    assert sum("SRS_" in x for x in told) == 1 and any("did you mean SRS_VHOST_HLS_HLS_WINDOW?" in x for x in told)
    s.start()
    at = s.mark()
    s.reload(VAIN)
    for part in (s.log()[:at], s.log()[at:]):
        for words, line in want.items():
            (one,) = [x for x in part.splitlines() if words in x]
            assert "[WARN]" in one and f"{s.conf_path}:{line}: " in one, one
    assert os.path.exists(s.conf_path)


def test_one_port_for_two(tmp_path):
    conf, port = tmp_path / "x.conf", free_port()
    conf.write_text(f"listen {port};\nhttp_api {{ enabled on;\nlisten {port};\n}}\nvhost v {{ }}\n")
    code, told = check(conf, tmp_path)
    assert code == 0 and [x for x in told if f"x.conf:3: rtmp.listen and http_api.listen both have TCP port {port}" in x], told


@pytest.mark.parametrize("start", [["-t", "-c"], ["-c"]])
def test_what_is_wrong_comes_first_and_once(tmp_path, start):
    conf = tmp_path / "bad.conf"
    conf.write_text("listen 1935;\nvhost a {\n    hls {\n        enabled on;\n        hls_fragmnt 3;\n    }\n}\n")
    r = subprocess.run([procs.BINARY, *start, str(conf)], cwd=tmp_path, capture_output=True, text=True, timeout=20)
    said = r.stdout + r.stderr
    assert r.returncode != 0 and "syntax is ok" not in said and said.count("hls_fragmnt") == 1
    assert said.splitlines()[0] == f'{conf}:5: unknown directive "hls_fragmnt" in vhost.hls; did you mean "hls_fragment"?'


def test_what_is_handed_out_is_not_vain(tmp_path):
    """No file of conf/ causes such a warning, except for missing folders, certificates and parts."""
    for path in sorted(glob.glob(os.path.join(ROOT, "conf", "*.conf"))):
        name = os.path.basename(path)
        if name in ("full.conf", "include.vhost.conf", "edge.conf"):  # documentation: part of another file, says that it has no effect yet
            continue
        code, told = check(os.path.join("conf", name), ROOT)
        assert code == 0, (name, told)
        assert not [x for x in told if "warning" in x and "is not there" not in x], (name, told)
        assert not [x for x in told if "taken instead" in x], (name, told)
