# SPDX-License-Identifier: MIT
"""Things that fail while no operator watches: cameras, recordings, certificates, disks; in the API, the metrics and the log."""
import os
import shutil
import subprocess
import time

import pytest

import httpapi
from camera import Camera, Quirks
from camera_rtp import tracks_of
from disks import Full
from httpapi import Api
from procs import ROOT, SLOW, free_port, wait_for
from test_metrics import scrape, values
from webclient import Cert


@pytest.fixture
def api(srs):
    def start(vhost="", more="", extra=""):
        port = free_port()
        s = srs(vhost, httpapi.conf(port, extra, f"exporter {{ enabled on; listen 127.0.0.1:{free_port()}; }}\n{more}"))
        return s, Api(port)
    return start


def one(a, kind, **like):
    """The entry of a list that has these fields; None."""
    return next((x for x in a.get(kind)[kind] if all(x[k] == v for k, v in like.items())), None)


def wait_state(a, kind, state, timeout=15, **like):
    assert wait_for(lambda: (one(a, kind, **like) or {}).get("state") == state, timeout), a.get(kind)
    return one(a, kind, **like)


def metric(a, name, like):
    """The value of the only line of this name with this label; None."""
    found = [v for labels, v in values(scrape(a.port)).get(name, {}).items() if like in labels]
    assert len(found) <= 1, found
    return found[0] if found else None


def test_a_camera_that_does_not_answer(api, source):
    port = free_port()
    s, a = api(f"""rtsp {{ enabled on; pull {{ stream live/cam; on_demand off;
        url "rtsp://me:geheim@127.0.0.1:{port}/cam/main?channel=1"; }} }}""", "rtsp_server { enabled off; }")
    began = time.time() * 1000
    first = wait_state(a, "pulls", "failing", stream="cam")
    assert first["what"] == "rtsp" and first["app"] == "live" and first["vhost"] == "__defaultVhost__"
    assert "refused" in first["error"] and first["on_demand"] is False and first["bytes"] == 0
    assert wait_for(lambda: one(a, "pulls", stream="cam")["failures"] >= first["failures"] + 1, 10)
    later = one(a, "pulls", stream="cam")
    assert later["id"] == first["id"] and abs(later["since"] - first["since"]) < 50, "since the failure began, not since the last attempt"
    assert abs(first["since"] - began) < 20000 * SLOW and later["state_ms"] > first["state_ms"]
    assert later["failed_ms"] <= later["state_ms"] and later.get("next_ms", 0) >= 0
    assert "geheim" not in str(later) and "channel" not in str(later) and f"127.0.0.1:{port}" in later["url"]
    assert metric(a, "srs_pull_up", 'stream="cam"') == 0
    assert metric(a, "srs_pull_failures_total", 'stream="cam"') >= 1
    assert abs(metric(a, "srs_pull_since_seconds", 'stream="cam"') - first["since"] / 1000) < 2
    assert metric(a, "srs_pull_error", "refused") == 1
    assert metric(a, "srs_pulls", 'state="failing"') == 1
    assert "geheim" not in scrape(a.port)

    cam = Camera(tracks_of(source), Quirks(user="me", password="geheim"), port=port)
    up = wait_state(a, "pulls", "running", 20, stream="cam")
    assert up["since"] > later["since"] and up["failures"] >= 1 and "refused" in up["error"]
    assert metric(a, "srs_pull_up", 'stream="cam"') == 1 and metric(a, "srs_pull_error", "cam") is None
    assert wait_for(lambda: one(a, "pulls", stream="cam")["bytes"] > 1000, 5)
    cam.close()
    gone = wait_state(a, "pulls", "failing", 20, stream="cam")
    assert gone["since"] >= up["since"] and gone["failures"] > up["failures"]
    s.stop()


@pytest.mark.long
def test_ingests(api, tmp_path):
    """A missing SRT listener, a file that appears later, a program that fails."""
    file, srt = tmp_path / "a.flv", free_port()
    ours = "output rtmp://127.0.0.1:[port]/live"
    s, a = api(f"""
        ingest srt {{ enabled on; input {{ type stream; url "srt://127.0.0.1:{srt}?passphrase=geheimgeheim"; }}
                      engine {{ enabled off; {ours}/srt; }} }}
        ingest file {{ enabled on; input {{ type file; url {file}; }} engine {{ enabled off; {ours}/file; }} }}
        ingest program {{ enabled on; ffmpeg {shutil.which("ffmpeg")}; engine {{ enabled off; {ours}/program; }}
                          input {{ type stream; url "rtmp://me:geheim@127.0.0.1:{free_port()}/a/b?key=geheim"; }} }}""")
    wait_state(a, "pulls", "failing", what="file", name="file", stream="file")
    got = wait_state(a, "pulls", "failing", what="srt", name="srt", stream="srt")
    assert "does not answer" in got["error"]
    got = wait_state(a, "pulls", "failing", what="program", name="program", stream="program")
    assert "status" in got["error"]
    assert "geheim" not in str(a.get("pulls")) and "geheim" not in scrape(a.port)
    shutil.copy(os.path.join(ROOT, "doc", "source.flv"), file)
    wait_state(a, "pulls", "running", 20, what="file")
    s.stop()


def test_recordings(api, source, tmp_path):
    good, bad = tmp_path / "good", tmp_path / "bad"
    bad.write_text("a file where a folder should be")
    s, a = api(f"dvr {{ enabled on; dvr_path {good}/[stream].[timestamp].mp4; }}",
               f"vhost bad {{ dvr {{ enabled on; dvr_path {bad}/[stream].flv; }} }}")
    assert a.get("recordings")["recordings"] == []
    p = s.push(source, "cam", loop=True)
    q = s.push(source, "lost?vhost=bad", loop=True)
    up = wait_state(a, "recordings", "running", stream="cam")
    assert up["what"] == "mp4" and up["file"].startswith(str(good)) and up["error"] == "" and up["file_ms"] >= 0
    assert wait_for(lambda: one(a, "recordings", stream="cam")["bytes"] > 10000, 15)
    lost = wait_state(a, "recordings", "failing", stream="lost")
    assert lost["what"] == "flv" and str(bad) in lost["error"] and lost["vhost"] == "bad"
    assert metric(a, "srs_recording_up", 'stream="cam"') == 1
    assert metric(a, "srs_recording_up", 'stream="lost"') == 0
    assert metric(a, "srs_recording_error", 'stream="lost"') == 1
    for x in (p, q):
        x.stop()
        x.client.close()
    assert wait_for(lambda: a.get("recordings")["recordings"] == [], 10)
    s.stop()


def ended(cert):
    """Replaces its files by an expired certificate."""
    folder = os.path.dirname(cert.cert)
    for file, text in (("index.txt", ""), ("serial", "01"), ("ca.conf", "[ca]\ndefault_ca=c\n[c]\ndatabase=index.txt\n"
                       "serial=serial\nnew_certs_dir=.\ndefault_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n")):
        with open(os.path.join(folder, file), "w") as f:
            f.write(text)
    for argv in (["req", "-new", "-key", cert.key, "-subj", "/CN=old.org", "-out", "old.csr"],
                 ["ca", "-batch", "-config", "ca.conf", "-selfsign", "-keyfile", cert.key, "-in", "old.csr", "-notext",
                  "-out", cert.cert, "-startdate", "20200101000000Z", "-enddate", "20210102030405Z"]):
        subprocess.run(["openssl", *argv], check=True, capture_output=True, timeout=20, cwd=folder)


def test_certificates(api, tmp_path):
    made = {n: Cert(tmp_path, n, (n,), days=d) for n, d in
            (("day.org", 1), ("far.org", 400), ("month.org", 20), ("week.org", 6), ("old.org", 2))}
    ended(made["old.org"])
    key, cert = made["far.org"].key, made["far.org"].cert
    more = " ".join(f"certificate {n} {{ key {c.key}; cert {c.cert}; }}" for n, c in made.items() if n != "far.org")
    tls = f"key {key}; cert {cert};"
    s, a = api("", f"rtmps {{ enabled on; listen 127.0.0.1:{free_port()}; {tls} }}",
               f"https {{ enabled on; listen 127.0.0.1:{free_port()}; {tls} {more} }}")
    got = {x["host"]: x for x in a.get("certificates")["certificates"]}
    assert {n: x["state"] for n, x in got.items()} == {
        "": "valid", "month.org": "ending", "week.org": "ending", "day.org": "ending", "old.org": "ended"}
    far = got[""]
    assert far["what"] == "rtmps, https api", "one file must be one entry"
    assert far["file"] == cert and far["names"] == ["far.org", "127.0.0.1"] and far["self_signed"] is True
    assert far["subject"] == far["issuer"] == "CN=far.org" and far["days_left"] in (399, 400)
    assert abs(far["not_after"] - time.time() - 400 * 86400) < 600 and far["error"] == ""
    assert got["old.org"]["days_left"] < -1000 and got["old.org"]["since"] == got["old.org"]["not_after"] * 1000
    assert s.wait_log(r"WARN.*month\.org\.crt.*expires in (19|20) days", 5)
    assert s.wait_log(r"WARN.*week\.org\.crt.*expires in [56] days, on 20", 5)
    assert s.wait_log(r"WARN.*day\.org\.crt.*expires in (less than a|one) day,", 5)
    assert s.wait_log(r"WARN.*old\.org\.crt.*expired on 2021-01-02 03:04 UTC", 5)
    assert "far.org.crt (" not in s.log()
    assert metric(a, "srs_certificate_not_after_seconds", 'host=""') == far["not_after"]

    # renewed files are noticed without a reload; broken ones leave the old certificate in use
    made["week.org"].renew(("week.org",), days=100)
    assert wait_for(lambda: one(a, "certificates", host="week.org")["days_left"] in (99, 100), 15)
    assert one(a, "certificates", host="week.org")["state"] == "valid"
    with open(made["month.org"].cert, "w") as f:
        f.write("no certificate\n")
    assert wait_for(lambda: one(a, "certificates", host="month.org")["error"], 15)
    broken = one(a, "certificates", host="month.org")
    assert "month.org.crt" in broken["error"] and broken["days_left"] in (19, 20)
    assert metric(a, "srs_certificate_failing", 'host="month.org"') == 1
    made["month.org"].renew(("month.org",), days=300)
    assert wait_for(lambda: one(a, "certificates", host="month.org")["error"] == "", 15)
    s.reload()
    told = [x for x in s.log().splitlines() if "old.org.crt" in x and "WARN" in x]
    assert len(told) == 1, "each warning once, also after a reload"
    s.stop()


def test_disks(api, tmp_path, source):
    d = Full(tmp_path, 20000)
    try:
        s, a = api(f"hls {{ enabled on; hls_path {d.path}/html; }} "
                   f"dvr {{ enabled on; dvr_path {d.path}/rec/[app]/[stream].[timestamp].flv; }}")
        assert wait_for(lambda: one(a, "disks", path=d.path + "/html"), 5), a.get("disks")
        disk = one(a, "disks", path=d.path + "/html")
        assert disk["what"] == "hls, dvr" and disk["state"] == "ok" and disk["error"] == ""
        assert disk["size_bytes"] == 20000 << 10 and 0 < disk["free_bytes"] <= disk["size_bytes"]
        assert one(a, "disks", what="log"), "of another disk"
        with open(os.path.join(d.path, "fill"), "wb") as f:
            f.write(bytes(19500 << 10))
        s.reload()  # it checks at once
        low = wait_state(a, "disks", "low", 20, id=disk["id"])
        assert low["used_percent"] > 95 and low["since"] > disk["since"]
        assert s.wait_log(r"WARN.*disk of .*/html \(hls, dvr\) is nearly full: 0\.\d MB of 19\.5 MB left", 2)
        assert metric(a, "srs_disk_low", f'path="{d.path}/html"') == 1
        assert metric(a, "srs_disk_free_bytes", f'path="{d.path}/html"') < 1 << 20
        with open(os.path.join(d.path, "more"), "wb") as f:
            try:
                f.write(bytes(1 << 20))
            except OSError:
                pass
        s.reload()
        wait_state(a, "disks", "full", 20, id=disk["id"])
        p = s.push(source, "cam", loop=True)
        lost = wait_state(a, "recordings", "failing", stream="cam")
        assert "No space left" in lost["error"]
        d.grow()
        s.reload()
        wait_state(a, "disks", "ok", 20, id=disk["id"])
        wait_state(a, "recordings", "running", stream="cam")
        assert s.wait_log(r"disk of .*/html \(hls, dvr\) has room again", 2)
        p.stop()
        p.client.close()
        s.stop()
    finally:
        d.close()


@pytest.mark.long
def test_history(api, source):
    s, a = api()
    p = s.push(source, "cam", loop=True)
    v = s.watch("cam")

    def data(query="?stream=live/cam"):
        return a.get("history" + query)["data"]
    assert data("")["step_ms"] == 10000
    assert wait_for(lambda: data().get("stream", {}).get("clients", [0])[-1:] == [2], 25), data()
    assert wait_for(lambda: data()["total"]["send_kbps"][-1] > 100, 25), data()
    got = data()
    assert got["samples"] >= 2 and abs(got["end"] / 1000 - time.time()) < 15 * SLOW
    assert got["streams"] == ["__defaultVhost__/live/cam"] and got["stream"]["name"] == got["streams"][0]
    columns = list(got["total"].values()) + [got["stream"][k] for k in ("recv_kbps", "send_kbps", "clients")]
    assert {len(c) for c in columns} == {got["samples"]}
    last = {k: c[-1] for k, c in got["total"].items()}
    assert last["clients"] == 2 and last["publishers"] == 1 and last["players"] == 1 and last["streams"] == 1
    assert last["recv_kbps"] > 100 and last["memory_kb"] > 1000 and 0 <= last["cpu_percent"] < 400
    assert got["stream"]["recv_kbps"][-1] > 50
    assert data("?count=1")["samples"] == 1 and "stream" not in data("?stream=live/no")
    p.stop()
    p.client.close()
    v.stop()
    v.client.close()
    s.stop()
