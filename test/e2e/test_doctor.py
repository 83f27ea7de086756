# SPDX-License-Identifier: MIT
"""The doctor, on the command line and over the API: its findings, its exit status, and that it delays no client."""
import http.client
import json
import os
import socket
import threading
import time

import pytest

import httpapi
import procs
from httpapi import Api
from procs import WORKERS, SLOW, free_port
from server import Server


@pytest.fixture
def doctor(tmp_path):
    """doctor(vhost, glob) returns its exit status, its text, and rows: {"check subject": (state, text)}."""
    def run(vhost="", glob="", port=None, conf=None):
        s = Server(tmp_path, vhost, glob, conf=conf, port=port, name="doctor")
        p = procs.Proc([procs.BINARY, "-c", s.conf_path, "--doctor"], tmp_path / "doctor.out", cwd=str(tmp_path))
        code = p.wait(30)
        text = p.text()
        os.unlink(tmp_path / "doctor.out")
        rows = {}
        for line in text.splitlines():
            state, _, rest = line.partition("  ")
            if state.strip() in ("ok", "warn", "fail"):
                name, _, what = rest.strip().partition("  ")
                rows[name.strip()] = (state.strip(), what.strip())
        return code, text, rows
    return run


def test_a_machine_that_is_fine(doctor):
    web = free_port()
    code, text, rows = doctor("hls { enabled on; hls_path ./hls; }", f"http_server {{ enabled on; listen 127.0.0.1:{web}; dir .; }}")
    assert code == 0, text
    assert rows[f"port 127.0.0.1:{web}"] == ("ok", "http: free")
    for name in ("configuration", "descriptors", "path hls_path", "path srs_log_file", "path http_server.dir"):
        assert rows[name][0] == "ok", text
    assert "failures: 0" in text.splitlines()[-1]
    assert "\033" not in text, "colors without a terminal"


def test_another_ffmpeg_than_the_named_one(doctor):
    _, text, rows = doctor("transcode { enabled on; ffmpeg ./none/cat; engine e { enabled on; vcodec x; output rtmp://h/a/s; } }")
    assert "./none/cat does not exist: using cat of the system" in text, text
    assert rows["program transcode"][0] == "ok" and rows["program transcode"][1].endswith("bin/cat"), text


def test_each_thing_that_is_wrong(doctor, tmp_path):
    web, rtmps = free_port(), free_port()
    (tmp_path / "file").write_text("x")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        code, text, rows = doctor(
            "hls { enabled on; hls_path ./file/hls; }"
            "dvr { enabled on; dvr_path ./file/rec/[app]/[stream].flv; }"
            "exec { enabled on; publish /no/such/program [url]; }"
            "transcode { enabled on; ffmpeg ./none/nosuchffmpeg; engine e { enabled on; vcodec x; output rtmp://h/a/s; } }",
            f"http_server {{ enabled on; listen {web}; dir ./www; }} http_api {{ enabled on; listen 127.0.0.1:{taken}; }}"
            f"rtmps {{ enabled on; listen {rtmps}; key ./no.key; cert ./no.crt; }}"
            "max_connections 1000000; exporter { enabled on; listen 192.0.2.7:1234; }")
    assert code == 1, text
    wanted = {f"port 127.0.0.1:{taken}": f"pid {os.getpid()}", "port 192.0.2.7:1234": "exporter", "certificate rtmps": "no.crt",
              "path hls_path": "is not a folder", "path dvr_path": "is not a folder", "program exec": "/no/such/program",
              "program transcode": "nosuchffmpeg", "descriptors": "needs 1000" if WORKERS else "1000144"}
    for name, words in wanted.items():
        assert rows[name][0] == "fail" and words in rows[name][1], (name, text)
    assert rows["path http_server.dir"][0] == "warn"
    assert "mkdir -p ./www" in text and "ulimit -HSn" in text and f"sport = :{taken}" in text
    assert f"failures: {sum(r[0] == 'fail' for r in rows.values())}" in text.splitlines()[-1]


def test_a_file_that_is_wrong(doctor):
    code, text, rows = doctor(conf="lissten 1935;\n")
    assert code == 1 and rows["configuration"][0] == "fail" and "listen" in text
    code, text, rows = doctor(conf="listen 1935 1935")
    assert code == 1 and rows["configuration"][0] == "fail"
    code, text, rows = doctor("cluster { mode local; }")
    assert code == 0 and rows["configuration"][0] == "ok", "a warning is no failure\n" + text


def test_beside_the_server_that_runs(doctor, srs, tmp_path):
    s = srs()
    with open(s.conf_path) as f:
        code, text, rows = doctor(conf=f.read())
    assert code == 0, text
    assert rows[f"port 127.0.0.1:{s.port}"] == ("ok", f"rtmp: used by the running server, pid {s.pid}")


def checks(api):
    data = api.get("doctor")["data"]
    return data, {f"{c['check']} {c['subject']}".strip(): c for c in data["checks"]}


def test_over_the_api(srs):
    port = free_port()
    s = srs("", httpapi.conf(port))
    a = Api(port)
    got = a.get("doctor")
    assert got["code"] == 0 and got["pid"] == str(s.pid)
    data, rows = checks(a)
    assert data["failures"] == 0, data
    assert rows[f"port 127.0.0.1:{s.port}"]["text"] == "rtmp: listening"
    assert rows["configuration"]["state"] == "ok"
    assert all(c["state"] in ("ok", "warn", "fail") and (c["advice"] or c["state"] == "ok") for c in data["checks"])
    assert "doctor" in a.get("")["urls"]
    s.write(conf="listen here;")
    s.reload(ok=False)
    data, rows = checks(a)
    assert rows["configuration"]["state"] == "fail" and data["failures"] == 1
    assert "reload" in rows["configuration"]["advice"]


def test_it_delays_no_client(srs, source):
    """Several at a time: streams continue, the API answers, each gets its report."""
    port = free_port()
    s = srs("", httpapi.conf(port))
    s.push(source, loop=True)
    v = s.watch()
    assert v.wait(lambda got: len(got) > 30, 5)
    found = []

    def ask():
        c = http.client.HTTPConnection("127.0.0.1", port, timeout=30 * SLOW)
        for _ in range(10):
            c.request("GET", "/api/v1/doctor")
            rows = json.loads(c.getresponse().read())["data"]["checks"]
            found.append([r["state"] for r in rows if r["check"] == "port"][0])
            time.sleep(0.05)
        c.close()
    asked = [threading.Thread(target=ask) for _ in range(4)]
    for t in asked:
        t.start()
    a, slowest, seen = Api(port), 0, len(v.arrivals)
    while any(t.is_alive() for t in asked):
        t0 = time.monotonic()
        a.get("versions")
        slowest = max(slowest, time.monotonic() - t0)
        time.sleep(0.05)
    assert found == ["ok"] * 40
    assert slowest < 1.0 * SLOW, "others were not answered meanwhile"
    assert v.wait(lambda got: len(got) > seen + 25, 5), "the stream stopped"
