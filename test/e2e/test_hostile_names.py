# SPDX-License-Identifier: MIT
"""Names chosen by untrusted clients, wherever they are used: programs, recordings, segments, other servers, callbacks, the API,
metrics, logs. Nothing is created outside of the folders, no command runs, all output stays readable."""
import json
import os
import re
import urllib.request

import flv
import procs
from httpapi import Api, Backend
from procs import free_port, wait_for
from rtmpclient import Closed, Rejected

NAMES = ["..", "../up", "../../up", "a/../../../up", "x/..", "%2e%2e/up", "..%2fup", "..\\up", "/up", "//up", "./.up",
         ".hidden", "-rf", "--version", "-i", "a b", " ", "a\0b", "a\nERROR", "a\r\nHost: x", "a\tb", "\x7f", "'", '"',
         '"},{"x":"', "$(touch up)", "`touch up`", ";touch up", "|touch up", "&& touch up", "> up", "concat:up|up",
         "file:up", "tee:[f=flv]up", "[stream]", "[timestamp]", "%d%s%n", "*", "~", "\u202egnp", "\u00e9\u4e2d\U0001f600",
         "\\", "{}", "a=b,c\\", "x" * 250, "x" * 10000, "a/" * 100 + "b", "?vhost=../up", "s?a=$(touch up)", "s?vhost=a\nb"]
MADE = re.compile(r"(web|fflog)/|(srs\.(conf|log|out|pid)|rec|ran)$")

CONF = """
exec {{ enabled on; publish {tmp}/rec exec [stream]; publish {tmp}/rec exec [app]/x-[stream] out=[stream]; }}
transcode {{ enabled on; ffmpeg {tmp}/rec; engine e {{ enabled on; vcodec copy; acodec copy;
    output {tmp}/web/t/[app]/[stream].flv; }} }}
dvr {{ enabled on; dvr_path {tmp}/web/dvr/[app]/[stream].[timestamp].flv; dvr_plan session; }}
hls {{ enabled on; hls_fragment 1; hls_path {tmp}/web; }}
dash {{ enabled on; dash_fragment 1; dash_path {tmp}/web; }}
forward {{ enabled on; destination 127.0.0.1:{far}; }}
http_remux {{ enabled on; mount [vhost]/[app]/[stream].flv; }}
http_hooks {{ enabled on; on_connect {url}; on_publish {url}; on_unpublish {url}; on_dvr {url}; on_hls {url}; }}
"""


def files(tmp):
    return {os.path.relpath(os.path.join(folder, name), tmp)
            for folder, _, names in os.walk(tmp) for name in names}


def test_names_of_untrusted_clients(srs, source, tmp_path):
    beside, home = set(os.listdir(tmp_path.parent)), set(os.listdir(procs.ROOT))
    rec, port, far = tmp_path / "rec", free_port(), srs(name="srs")
    far_port, hook = far.port, Backend()
    rec.write_text(f"#!/bin/sh\nfor a; do printf '%s\\0' \"$a\"; done >> {tmp_path}/ran\n")
    rec.chmod(0o755)
    s = srs(CONF.format(tmp=tmp_path, far=far_port, url=hook.url()), name="near",
            glob=f"ff_log_dir {tmp_path}/fflog;\nhttp_server {{ enabled on; listen 127.0.0.1:{free_port()}; "
                 f"dir {tmp_path}/web; }}\nhttp_api {{ enabled on; listen 127.0.0.1:{port}; }}\n"
                 f"exporter {{ enabled on; listen 127.0.0.1:{(metrics := free_port())}; }}")
    s.allow_errors = far.allow_errors = True  # unusable names are reported
    tags, api, open_now = flv.cut(source, 2500), Api(port), []
    for i, name in enumerate(NAMES):
        for app, stream in ((f"live{i}", name), (name, f"s{i}")):
            try:
                c = s.client(timeout=procs.patience(3)).connect(app)
                c.publish(stream, wait=False)
                for t in tags:
                    c.send_tag(t)
                open_now.append(c)
            except (Closed, Rejected, OSError):
                pass  # rejected: fine, too
        if i % 10 == 9:
            for path in ("streams?count=1000", "clients?count=1000", "forwards", "vhosts"):
                assert json.loads(api.raw("/api/v1/" + path)[2])["code"] == 0
            with urllib.request.urlopen(f"http://127.0.0.1:{metrics}/metrics", timeout=20) as r:
                for line in r.read().decode().splitlines():
                    assert line[:1] == "#" or re.fullmatch(
                        r'\w+(\{(\w+="([^"\\\n]|\\["\\n])*",?)*\})? [-+0-9.eEInfNa]+', line), line
            for c in open_now:
                c.close()
            open_now = []
    for c in open_now:
        c.close()
    innocent = s.push(source, "innocent", loop=True, ahead=4)
    assert wait_for(lambda: os.path.exists(tmp_path / "web/live/innocent.m3u8"), 8), s.log()[-3000:]
    assert innocent.error is None
    innocent.stop()
    innocent.client.close()
    assert wait_for(lambda: not json.loads(api.raw("/api/v1/clients?count=1000")[2])["clients"], 10)
    hook.wait("on_unpublish", 20)
    assert len(hook.of("on_publish")) > 40, "too few names can be used"
    assert all(e.get("action") for e in hook.events), "a callback is not JSON"
    for line in s.log().splitlines():
        assert re.match(r"\[\d{4}-", line), f"a line that is not ours: {line[:80]!r}"
    s.stop()
    outside = {f for f in files(tmp_path) if not MADE.match(f) and not f.startswith(("near", "srs"))}
    assert not outside, f"made outside of the folders: {outside}"
    assert set(os.listdir(tmp_path.parent)) == beside and set(os.listdir(procs.ROOT)) == home
    hook.close()
