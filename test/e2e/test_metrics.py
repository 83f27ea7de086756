# SPDX-License-Identifier: MIT
"""Metrics for Prometheus: read by our own parser, checked by promtool, scraped by a real Prometheus."""
import json
import os
import re
import subprocess
import time
import urllib.parse
import urllib.request

import pytest

import httpapi
import procs
from httpapi import Api
from procs import SLOW, free_port, wait_for
from webclient import Cert

LINE = re.compile(r'^([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\]|\\.)*",?)*)\})? (-?[0-9.e+-]+|\+Inf|NaN)$')
TEN = ("srs_node_uname_info", "srs_build_info", "srs_cpu_percent", "srs_memory",
       "srs_send_bytes_total", "srs_receive_bytes_total", "srs_streams", "srs_clients",
       "srs_clients_total", "srs_clients_errs_total")


def scrape(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10 * SLOW) as r:
        assert r.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        return r.read().decode()


def values(text):
    """{name: {labels: value}}; fails for duplicate lines."""
    out = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        m = LINE.match(line)
        assert m, line
        labels = m[2] or ""
        assert labels not in out.setdefault(m[1], {}), "twice: " + line
        out[m[1]][labels] = float(m[3])
    return out


@pytest.fixture
def metrics(srs):
    def start(vhost="", exporter="", more=""):
        port = free_port()
        s = srs(vhost, f"exporter {{ enabled on; listen 127.0.0.1:{port}; {exporter} }}\n{more}")
        return s, port
    return start


def test_figures_of_a_stream(metrics, source):
    s, port = metrics(exporter="label here; tag x;")
    p = s.push(source, "cam", loop=True, ahead=3)
    v = s.watch("cam")
    assert v.wait(lambda got: len(got) > 200, 10)
    cam = 'vhost="__defaultVhost__",app="live",stream="cam"'

    def measured():
        got = values(scrape(port))
        return got["srs_stream_receive_bytes_per_second"][cam] > 12e3 and got["srs_wake_lateness_seconds_count"][""] > 50 and \
            got["srs_stream_queue_bytes"][cam] > 10000 and got
    first = wait_for(measured, 10, 0.2)
    assert first, values(scrape(port))
    for name in TEN:
        assert len(first[name]) == 1, name
    assert first["srs_streams"][""] == 1 and first["srs_clients"][""] == 2
    assert first["srs_clients_total"][""] == 2 and first["srs_clients_errs_total"][""] == 0
    build = next(iter(first["srs_build_info"]))
    assert 'label="here"' in build and 'tag="x"' in build and 'service="' in build
    assert first["srs_stream_clients"][cam] == 2 and first["srs_stream_publishing"][cam] == 1
    assert 1.9 < first["srs_stream_key_frame_interval_seconds"][cam] < 2.1
    assert first["srs_stream_receive_bytes_per_second"][cam] > 12e3
    assert first["srs_stream_queue_bytes"][cam] > 10000
    assert first["srs_stream_dropped_packets_total"][cam] == 0
    assert first["srs_protocol_clients"]['protocol="rtmp-play"'] == 1
    assert first["srs_protocol_clients"]['protocol="fmle-publish"'] == 1
    assert first["srs_wake_lateness_seconds_count"][""] > 50
    assert first["srs_memory"][""] * 1024 == first["process_resident_memory_bytes"][""]
    for name, labels in (("srs_stream_receive_bytes_total", cam), ("srs_stream_send_bytes_total", cam),
                         ("srs_stream_video_frames_total", cam), ("srs_receive_bytes_total", ""),
                         ("srs_send_bytes_total", "")):
        assert first[name][labels] > 0, name
        assert wait_for(lambda: values(scrape(port))[name][labels] > first[name][labels], 10, 0.2), name
    p.stop()
    p.client.close()
    v.stop()
    v.client.close()
    assert wait_for(lambda: values(scrape(port))["srs_streams"][""] == 0, 5)
    third = values(scrape(port))
    assert "srs_stream_clients" not in third and third["srs_receive_bytes_total"][""] > 0


def test_drops_and_faults(metrics):
    """A player that reads nothing loses packets, and counts as an error when it is disconnected."""
    import flvgen
    s, port = metrics("play { queue_length 1; }", more="rtmp { send_timeout 1; }")
    p = s.push(flvgen.synthetic(4, size=60000), "cam", loop=True, speed=4)
    slow = s.player("cam", client={"rcvbuf": 4096})  # and never reads
    cam = 'vhost="__defaultVhost__",app="live",stream="cam"'
    assert wait_for(lambda: values(scrape(port))["srs_clients_errs_total"][""] == 1, 20)
    got = values(scrape(port))
    assert got["srs_protocol_clients_errs_total"]['protocol="rtmp-play"'] == 1
    assert cam in got["srs_stream_dropped_packets_total"] and slow
    assert p.error is None


def test_programs_and_forwards(metrics, source):
    s, port = metrics(f"""exec {{ enabled on; publish sleep 100; publish sh -c 'exit 3'; }}
        forward {{ enabled on; destination 127.0.0.1:{free_port()}; }}""")
    s.allow_errors = True
    s.push(source, "cam", loop=True)

    def counted():
        got = values(scrape(port))
        children = {k: v for k, v in got["srs_children"].items() if v}
        return children == {'kind="exec",state="running"': 1, 'kind="exec",state="waiting"': 1} and \
            got["srs_forwards"] == {'state="connecting"': 1, 'state="publishing"': 0}
    assert wait_for(counted, 20), values(scrape(port))["srs_children"]


def test_where_it_is(srs):
    api, port = free_port(), free_port()
    srs("", httpapi.conf(api, more=f"exporter {{ enabled on; listen 127.0.0.1:{port}; }}"))
    assert wait_for(lambda: set(values(scrape(api))) == set(values(scrape(port))), 5)
    assert Api(port).raw("/api/v1/versions")[0] == 404, "something else is there"
    assert Api(port).raw("/")[0] == 404
    off = free_port()
    srs("", httpapi.conf(off))
    assert json.loads(Api(off).raw("/metrics")[2]) == {"code": 1090}


def test_names_that_break_things(metrics, source):
    s, port = metrics()
    names = ['a"b', "c\\d", "e%20f", "\xe9", "{x=\"1\"}"]
    for n in names:
        s.push(source, n, loop=True)
    assert wait_for(lambda: len(values(scrape(port)).get("srs_stream_clients", {})) == len(names), 5)


def test_bounded(metrics, source):
    s, port = metrics(exporter="streams 3;")
    for i in range(6):
        s.push(source, f"s{i}", loop=True)
    assert wait_for(lambda: values(scrape(port))["srs_streams"][""] == 6, 5)
    got = values(scrape(port))
    assert len(got["srs_stream_clients"]) == 3 and got["srs_streams_left_out"][""] == 3


def dashboard_expressions():
    with open(os.path.join(procs.ROOT, "etc", "grafana", "srs.json")) as f:
        d = json.load(f)
    for p in d["panels"]:
        for t in p["targets"]:
            yield t["expr"]


RULES = os.path.join(procs.ROOT, "etc", "prometheus", "srs.yml")


def rule_expressions():
    with open(RULES) as f:
        return re.findall(r"^ +expr: (.*)$", f.read(), re.M)


def udp_servers():
    return f"""srt_server {{ enabled on; listen 127.0.0.1:{free_port()}; }}
rtmfp_server {{ enabled on; listen 127.0.0.1:{free_port()}; }}
rtc_server {{ enabled on; listen 127.0.0.1:{free_port()}; }}"""


def test_dashboard_asks_for_what_is_there(metrics, source, tmp_path):
    camera = f'pull {{ stream live/none; on_demand off; url "rtsp://127.0.0.1:{free_port()}/"; }}'
    s, port = metrics(f"rtsp {{ enabled on; {camera} }} dvr {{ enabled on; dvr_path /proc/none/[stream].flv; }}",
                      more=udp_servers() + f"\nrtmps {{ {Cert(tmp_path).conf(free_port())} }}")
    s.push(source, "cam", loop=True)
    there = {"srs_stream_clients", "srs_pull_error", "srs_recording_error", "srs_disk_up"}
    got = wait_for(lambda: (lambda v: v if there <= set(v) else None)(values(scrape(port))), 10)
    with open(os.path.join(procs.ROOT, "doc", "api.md")) as f:
        told = set(re.findall(r"\b(?:srs|process)_[a-z_]+", f.read().split("## Metrics")[1]))
    there = {re.sub("_(bucket|sum|count)$", "", name) for name in got}
    more = {name for name in told if name.startswith("srs_worker_")}  # these exist only with more than one
    assert len(more) > 8 and told - more == there - more, told ^ there
    asked = set(re.findall(r"\b(?:srs|process)_[a-z_]+", " ".join(dashboard_expressions())))
    assert len(asked) > 20 and asked <= set(got) | more, asked - set(got)
    alarms = set(re.findall(r"\bsrs_[a-z_]+", " ".join(rule_expressions())))
    assert len(alarms) > 7 and alarms <= set(got) | more, alarms - set(got)


@pytest.mark.needs("promtool")
def test_promtool_finds_nothing_wrong(metrics, source):
    s, port = metrics(more=udp_servers())
    s.push(source, "cam", loop=True)
    assert wait_for(lambda: "srs_stream_clients" in scrape(port), 5)
    r = subprocess.run(["promtool", "check", "metrics"], input=scrape(port), text=True,
                       capture_output=True, timeout=20 * SLOW)
    odd = [x for x in r.stdout.splitlines() + r.stderr.splitlines()
           if x and not x.startswith("srs_memory")]  # its name has no unit, for compatibility
    assert not odd, odd
    r = subprocess.run(["promtool", "check", "rules", RULES], text=True, capture_output=True, timeout=20 * SLOW)
    assert r.returncode == 0 and f"{len(rule_expressions())} rules found" in r.stdout, r.stdout + r.stderr


@pytest.mark.long
@pytest.mark.needs("prometheus")
def test_prometheus_scrapes(metrics, source, tmp_path):
    s, port = metrics()
    s.push(source, "cam", loop=True)
    s.watch("cam")
    web = free_port()
    (tmp_path / "p.yml").write_text(
        "global: { scrape_interval: 1s, scrape_timeout: 1s }\n"
        f"scrape_configs: [ {{ job_name: srs, static_configs: [ {{ targets: ['127.0.0.1:{port}'] }} ] }} ]\n")
    procs.Proc(["prometheus", f"--config.file={tmp_path}/p.yml", f"--storage.tsdb.path={tmp_path}/tsdb",
                f"--web.listen-address=127.0.0.1:{web}", "--log.level=warn"], tmp_path / "prometheus.out")

    def ready():  # it listens before it answers
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{web}/-/ready", timeout=10 * SLOW).status == 200
        except OSError:
            return False
    assert wait_for(ready, 60, 0.2)

    def ask(q):
        url = f"http://127.0.0.1:{web}/api/v1/query?" + urllib.parse.urlencode({"query": q})
        with urllib.request.urlopen(url, timeout=10 * SLOW) as r:
            got = json.load(r)
        assert got["status"] == "success", got
        return {tuple(sorted(x["metric"].items())): float(x["value"][1]) for x in got["data"]["result"]}
    assert wait_for(lambda: list(ask("up").values()) == [1.0], 20, 0.5), "it is not up"
    assert wait_for(lambda: len(ask("srs_streams == 1")) == 1, 10, 0.5)
    time.sleep(12)
    (rate,) = ask("rate(srs_stream_receive_bytes_total[10s]) * 8").values()
    assert 200e3 < rate < 400e3, rate
    # every panel of the dashboard gets a result, not an error
    for expr in dashboard_expressions():
        for name in ("instance", "vhost", "stream"):
            expr = expr.replace(f"${name}", ".*")
        ask(expr.replace("$__rate_interval", "10s"))
    for expr in rule_expressions():
        assert not ask(expr.replace("[5m]", "[10s]")), f"nothing is wrong: {expr}"
    late = ask("histogram_quantile(0.5, sum by (le) (rate(srs_wake_lateness_seconds_bucket[10s])))")
    assert 0 <= next(iter(late.values())) < 0.1
    series = sum(ask('count({job="srs"})').values())
    assert series < 250, f"{series} series for one stream"
