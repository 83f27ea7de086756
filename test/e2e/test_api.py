# SPDX-License-Identifier: MIT
"""The HTTP API: lists of streams and clients, disconnecting clients, reloading, passwords, pages of other sites."""
import json
import os
import re
import time

import pytest

import httpapi
import procs
from httpapi import Api
from procs import free_port, wait_for
from rtmpclient import Watcher


@pytest.fixture
def api(srs):
    def start(vhost="", extra="", more="", user=None, **how):
        port = free_port()
        s = srs(vhost, httpapi.conf(port, extra, more), **how)
        return s, Api(port, user)
    return start


def test_a_stream_and_its_clients(api, source):
    s, a = api()
    p = s.push(source, "cam", loop=True, speed=2)
    v = s.watch("cam")
    clients = {c["type"]: c for c in a.wait_clients(2)}
    assert set(clients) == {"fmle-publish", "rtmp-play"}
    assert wait_for(lambda: a.stream("cam") and a.stream("cam")["video"], 5)
    assert wait_for(lambda: a.stream("cam")["kbps"]["send_30s"] > 100 and a.stream("cam")["age_ms"] > 3000)
    stream = a.stream("cam")
    assert stream["url"] == "/live/cam" and stream["app"] == "live" and stream["clients"] == 2
    assert stream["video"] == {"codec": "H264", "profile": stream["video"]["profile"],
                               "level": stream["video"]["level"], "width": 640, "height": 360}
    assert stream["audio"]["codec"] == "AAC" and stream["audio"]["channel"] == 2
    assert stream["publish"] == {"active": True, "cid": clients["fmle-publish"]["id"], "type": "fmle-publish"}
    assert stream["recv_bytes"] > 50000 and stream["send_bytes"] > 50000
    assert stream["kbps"]["recv_30s"] > 100 and stream["kbps"]["send_30s"] > 100
    assert abs(stream["live_ms"] / 1000 - time.time()) < 60, "this field is the current time"
    assert 3000 < stream["age_ms"] < 600000
    one = a.get("streams/" + stream["id"])["stream"]
    assert one["name"] == "cam" and one["id"] == stream["id"]
    for c in a.clients():
        got = a.get("clients/" + c["id"])["client"]
        assert got["stream"] == stream["id"] and got["vhost"] == stream["vhost"]
        assert got["ip"] == "127.0.0.1" and got["name"] == "cam" and got["url"] == "/live/cam"
        assert got["tcUrl"].startswith("rtmp://127.0.0.1") and got["publish"] == (
            got["type"] != "rtmp-play")
        assert 3 < got["alive"] < 600
        assert max(got["kbps"].values()) > 100, got
        assert f"[{c['id']}]" in s.log(), "the id is not that in the log"
    vhost = a.get("vhosts/")["vhosts"][0]
    assert vhost["name"] == "__defaultVhost__" and vhost["clients"] == 2 and vhost["streams"] == 1
    assert a.get("vhosts/" + vhost["id"])["vhost"]["recv_bytes"] > 50000
    p.stop()
    p.client.close()
    v.stop()
    v.client.close()
    assert wait_for(lambda: not a.streams(), 5), "a stream without clients remains"
    a.wait_clients(0)
    system = a.get("summaries")["data"]["system"]
    assert system["srs_recv_bytes"] > 50000 and system["srs_send_bytes"] > 50000


@pytest.mark.long
def test_why_a_player_stalls(api, source):
    """The API and the log explain a player that reads nothing for a while, and one that pauses."""
    s, a = api(more="pithy_print_ms 1000;")
    s.push(source, loop=True, speed=25)  # soon more than sockets buffer
    slow = s.player(client={"rcvbuf": 4096})
    paused = s.player()
    paused.call("pause", True, 0.0, sid=paused.sid, csid=8)
    assert paused.status("NetStream.Pause.Notify")

    def of(state):
        return next((c for c in a.clients() if c.get("state") == state), None)
    assert wait_for(lambda: of("WINDOW_FULL") and of("PAUSED"), 8), a.clients()
    one = f"clients/{of('WINDOW_FULL')['id']}"
    first = a.get(one)["client"]
    assert s.wait_log(r"player stalls.* state WINDOW_FULL for 3\d{3} ms, window full for 3\d{3} ms "
                      r"in all, \d{4,} ms behind", 6)
    worst = a.get("clients?sort=-stall&count=1")
    assert worst["stalled"] == 1 and worst["clients"][0]["id"] == first["id"] and worst["total"] == 3
    later = a.get(one)["client"]
    assert later["state"] == "WINDOW_FULL" and later["state_ms"] >= first["state_ms"] + 1000
    assert later["window_full_ms"] >= first["window_full_ms"] + 1000
    assert later["lag_ms"] > first["lag_ms"] and "dropped_packets" in later
    assert of("PAUSED")["state_ms"] > 2000 and of("PAUSED")["window_full_ms"] == 0
    assert all("state" not in c for c in a.clients() if c["publish"])
    w = Watcher(slow)
    w.start()
    assert wait_for(lambda: a.get(one)["client"]["state"] != "WINDOW_FULL", 8), a.get(one)
    assert a.get(one)["client"]["window_full_ms"] >= later["window_full_ms"]
    w.stop()
    paused.close()


def test_flv_player_is_listed_and_kicked(api, source):
    import socket
    web = free_port()
    s, a = api("http_remux { enabled on; }",
               more=f"http_server {{ enabled on; listen 127.0.0.1:{web}; }}")
    s.push(source, "cam", loop=True)
    with socket.create_connection(("127.0.0.1", web), 20) as c:
        c.sendall(b"GET /live/cam.flv?token=1 HTTP/1.1\r\nHost: me\r\nReferer: http://p/x\r\n\r\n")
        c.recv(100)
        got = next(x for x in a.wait_clients(2) if x["type"] == "flv-play")
        assert got["pageUrl"] == "http://p/x" and got["tcUrl"] == "http://me/live"
        assert wait_for(lambda: a.get("clients/" + got["id"])["client"]["send_bytes"] > 10000, 5)
        assert a.kick(got["id"])["code"] == 0
        c.settimeout(20)
        while c.recv(65536):
            pass
    a.wait_clients(1)
    assert s.wait_log(rf"\[{got['id']}\].*KICKED", 3)


def test_clusters(api, source):
    """What the origins of a cluster ask each other: whether this stream is published here."""
    s, a = api()
    ask = "clusters?vhost=some.host&ip=10.0.0.9&app=live&stream=cam&coworker="
    assert a.get(ask)["data"]["origin"] is None
    v = s.watch("cam")
    a.wait_clients(1)
    assert a.get(ask)["data"]["origin"] is None, "a stream without publisher is reported here"
    s.push(source, "cam", loop=True)
    assert v.wait(lambda got: len(got) > 10, 5)
    data = a.get(ask + "192.168.1.9:1985", "POST")["data"]
    assert data["query"] == {"ip": "10.0.0.9", "vhost": "some.host", "app": "live", "stream": "cam"}
    there = f"192.168.1.9:{a.port}"
    assert data["origin"] == {"ip": "192.168.1.9", "port": s.port, "vhost": "__defaultVhost__", "api": there, "routers": [there]}
    for coworker, ip, api_ip in (("origin.example", "origin.example", "origin.example"),
                                 ("[fe80::1]:1985", "fe80::1", "[fe80::1]"), ("fe80::2", "fe80::2", "[fe80::2]")):
        origin = a.get(ask + coworker)["data"]["origin"]
        assert origin["ip"] == ip and origin["api"] == f"{api_ip}:{a.port}" and origin["routers"] == [origin["api"]]


# Fields of each response below the common ones, for scripts written for SRS: a field with
# its type (s text, i whole number, n number, b boolean), fields{of an object}, the first[of a list].
CONTRACT = {
    "": "urls{versions:s summaries:s streams:s clients:s tests{requests:s errors:s}}",
    "versions": "data{major:i minor:i revision:i version:s}",
    "summaries": "data{ok:b now_ms:i self{version:s pid:i ppid:i argv:s cwd:s mem_kbyte:i mem_percent:n cpu_percent:n "
                 "srs_uptime:i holds:i} system{cpu_percent:n disk_read_KBps:n disk_write_KBps:n disk_busy_percent:n "
                 "mem_ram_kbyte:i mem_ram_percent:n mem_swap_kbyte:i mem_swap_percent:n cpus:i cpus_online:i uptime:n "
                 "ilde_time:n load_1m:n load_5m:n load_15m:n net_sample_time:i net_recv_bytes:i net_send_bytes:i "
                 "net_recvi_bytes:i net_sendi_bytes:i srs_sample_time:i srs_recv_bytes:i srs_send_bytes:i conn_sys:i "
                 "conn_sys_et:i conn_sys_tw:i conn_sys_udp:i conn_srs:i}}",
    "rusages": "data{ok:b sample_time:i ru_utime:i ru_stime:i ru_maxrss:i ru_ixrss:i ru_idrss:i ru_isrss:i ru_minflt:i "
               "ru_majflt:i ru_nswap:i ru_inblock:i ru_oublock:i ru_msgsnd:i ru_msgrcv:i ru_nsignals:i ru_nvcsw:i "
               "ru_nivcsw:i ru_utime_us:i ru_stime_us:i}",
    "self_proc_stats": "data{ok:b sample_time:i percent:n pid:i comm:s state:s " + " ".join(f + ":i" for f in
                       "ppid pgrp session tty_nr tpgid flags minflt cminflt majflt cmajflt utime stime cutime cstime "
                       "priority nice num_threads itrealvalue starttime vsize rss rsslim startcode endcode startstack "
                       "kstkesp kstkeip signal blocked sigignore sigcatch wchan nswap cnswap exit_signal processor "
                       "rt_priority policy delayacct_blkio_ticks guest_time cguest_time".split()) + "}",
    "system_proc_stats": "data{ok:b sample_time:i percent:n user:i nice:i sys:i idle:i iowait:i irq:i softirq:i steal:i "
                         "guest:i}",
    "meminfos": "data{ok:b sample_time:i percent_ram:n percent_swap:n MemActive:i RealInUse:i NotInUse:i MemTotal:i "
                "MemFree:i Buffers:i Cached:i SwapTotal:i SwapFree:i}",
    "authors": "data{license:s contributors:s}",
    "features": "data{options:s options2:s build:s build2:s features{ssl:b hls:b hds:b callback:b api:b httpd:b dvr:b "
                "transcode:b ingest:b stat:b caster:b complex_send:b tcp_nodelay:b so_sendbuf:b mr:b}}",
    "vhosts/": "vhosts[id:s name:s enabled:b clients:i streams:i send_bytes:i recv_bytes:i "
               "kbps{recv_30s:i send_30s:i} hls{enabled:b fragment:n}]",
    "streams/": "streams[id:s name:s vhost:s app:s tcUrl:s url:s live_ms:i clients:i frames:i audio_frames:i "
                "video_frames:i send_bytes:i recv_bytes:i kbps{recv_30s:i send_30s:i} publish{active:b cid:s} "
                "video{codec:s profile:s level:s width:i height:i} audio{codec:s sample_rate:i channel:i profile:s}] "
                "total:i",
    "clients/": "clients[id:s vhost:s stream:s ip:s pageUrl:s swfUrl:s tcUrl:s url:s name:s type:s publish:b alive:n "
                "send_bytes:i recv_bytes:i kbps{recv_30s:i send_30s:i}] total:i",
    "raw?rpc=raw": "http_api{enabled:b listen:s crossdomain:b raw_api{enabled:b allow_reload:b allow_query:b "
                   "allow_update:b}}",
    "raw?rpc=reload-fetch": "data{err:i msg:s state:i rid:s}",
    "clusters?vhost=v&app=live&stream=cam": "data{query{ip:s vhost:s app:s stream:s} origin{ip:s port:i vhost:s api:s "
                                            "routers[s]}}",
    "tests/requests": "data{uri:s path:s METHOD:s headers{Host:s}}",
}
KINDS = {"s": str, "i": int, "n": (int, float), "b": bool}


def is_as(got, words, where):
    """Checks the fields at the beginning of `words`, up to a closing bracket; returns the rest."""
    while words and words[0] not in "]}":
        name, mark, words = re.match(r"(\w+)([:{\[])(.*)", words).groups()
        assert name in got, f"{where} has no {name}: {got}"
        value, at = got[name], f"{where}.{name}"
        if mark == ":":
            assert isinstance(value, KINDS[words[0]]) and (words[0] == "b") == isinstance(value, bool), f"{at}: {value!r}"
            words = words[1:]
        elif mark == "[" and words[1] == "]":
            assert value and isinstance(value[0], KINDS[words[0]]), f"{at}: {value!r}"
            words = words[2:]
        else:
            assert value, f"{at} is empty"
            words = is_as(value[0] if mark == "[" else value, words, at)[1:]
        words = words.lstrip()
    return words


def test_every_field_is_there(api, source):
    s, a = api("hls { enabled on; hls_path ./; }", extra="raw_api { enabled on; allow_reload on; }")
    s.push(source, "cam", loop=True)
    v = s.watch("cam")
    assert v.wait(lambda got: len(got) > 30, 20)
    assert wait_for(lambda: a.stream("cam")["video"] and a.stream("cam")["audio"], 20)
    for path, words in CONTRACT.items():
        got = a.get(path)
        assert list(got)[:4] == ["code", "server", "service", "pid"] and got["code"] == 0
        assert not is_as(got, words, path)
    with open(os.path.join(procs.ROOT, "doc", "api.md")) as f:
        told = f.read()
    for name in set(a.get("")["urls"]) - {"tests"}:
        assert f"`{name}" in told, f"doc/api.md does not tell of {name}"
    for kind in "vhost", "stream", "client":
        one = a.get(kind + "s/")[kind + "s"][0]
        words = CONTRACT[kind + "s/"].split("[", 1)[1].rsplit("]", 1)[0]
        assert not is_as(a.get(f"{kind}s/{one['id']}")[kind], words, kind)


@pytest.mark.parametrize("kind", ["publisher", "player"])
def test_kick(api, source, kind):
    s, a = api()
    p = s.push(source, loop=True)
    v = s.watch()
    assert v.wait(lambda got: len(got) > 30, 5)
    wanted = kind == "publisher"
    cid = next(c["id"] for c in a.wait_clients(2) if c["publish"] == wanted)
    assert a.kick(cid)["code"] == 0
    assert s.wait_log(rf"\[{cid}\].*KICKED", 3), "the log does not say why"
    assert wait_for(lambda: all(c["id"] != cid for c in a.clients()), 3)
    if kind == "publisher":
        assert wait_for(lambda: not p.is_alive(), 3)
        assert v.ended is None, "players did not stay"
    else:
        assert wait_for(lambda: v.ended is not None, 3)
        assert p.error is None
    assert a.kick(cid) == {"code": 2049}, "it was not disconnected"


def test_pages_of_lists(api, source):
    s, a = api()
    for i in range(5):
        s.push(source, f"s{i}", loop=True)
    players = [s.player(f"s{i % 5}") for i in range(20)]
    a.wait_clients(25)
    seen = []
    for start in range(0, 30, 7):
        got = a.get(f"clients?start={start}&count=7")
        assert got["total"] == 25
        seen += [c["id"] for c in got["clients"]]
    assert len(seen) == 25 and len(set(seen)) == 25
    assert len(a.get("clients")["clients"]) == 10, "the default is ten"
    assert len(a.get("clients?count=0")["clients"]) == 1
    assert len(a.get("clients?count=-4&start=-1")["clients"]) == 1
    assert len(a.get("clients?count=x")["clients"]) == 10
    assert a.get("clients?start=1000")["clients"] == []
    names = {x["name"] for start in (0, 2, 4) for x in a.get(f"streams?start={start}&count=2")["streams"]}
    assert names == {f"s{i}" for i in range(5)}
    for p in players:
        p.close()


def test_names_that_are_no_utf8_and_ids_of_vhosts(api, source):
    s, a = api("vhost a.b { }\nvhost __defaultVhost__ { }")
    s.push(source, b"caf\xe9\"<b>".decode("latin-1"), loop=True, app="live",
           tcurl=f"rtmp://127.0.0.1:{s.port}/live?vhost=a.b")
    assert wait_for(a.streams, 3)
    stream = a.streams()[0]
    assert stream["url"].startswith("a.b/live/caf"), stream["url"]
    vhosts = {v["name"]: v for v in a.get("vhosts")["vhosts"]}
    assert set(vhosts) == {"a.b", "__defaultVhost__"}
    assert vhosts["a.b"]["id"] == stream["vhost"] and vhosts["a.b"]["clients"] == 1
    assert vhosts["__defaultVhost__"]["clients"] == 0


def test_reload_and_its_report(api):
    s, a = api(extra="raw_api { enabled on; allow_reload on; }")
    before = a.get("raw?rpc=reload-fetch")["data"]
    assert before["state"] == 0
    text = open(s.conf_path).read().replace("pithy_print_ms 10000", "pithy_print_ms 5000")
    open(s.conf_path, "w").write(text.replace("crossdomain", "crossdomain"))
    assert a.get("raw?rpc=reload")["code"] == 0

    def fetched():
        got = a.get("raw?rpc=reload-fetch")["data"]
        return got if got["state"] == 90 and got["rid"] != before["rid"] else None
    got = wait_for(fetched, 5)
    assert got["err"] == 0 and got["applied"] == 1 and "pithy_print_ms" in got["changes"][0]
    before = got
    open(s.conf_path, "w").write(text + "\nnonsense on;\n")
    a.get("raw?rpc=reload")
    got = wait_for(fetched, 5)
    assert got["err"] == 1023 and "nonsense" in got["msg"], got
    open(s.conf_path, "w").write(text)


def test_reload_must_be_allowed(api):
    _, a = api()
    assert a.get("raw?rpc=reload") == {"code": 1061}
    assert a.get("raw?rpc=raw")["http_api"]["raw_api"]["enabled"] is False


def test_password(api):
    s, a = api(extra="auth { enabled on; username me; password secret; delay 1; }", user="me:secret")
    assert a.get("versions")["code"] == 0
    for user in (None, "me:wrong", "me", ":", "you:secret"):
        status, headers, _ = Api(a.port, user).raw("/api/v1/versions")
        assert status == 401 and headers["www-authenticate"].startswith("Basic")
    for token in ("Basic", "Basic =", "Basic %%%%", "x" * 5000, "Basic " + "A" * 4000):
        status, _, _ = Api(a.port).raw("/api/v1/streams", headers={"Authorization": token})
        assert status == 401
    assert s.client() is not None


def test_token(api):
    """type bearer: the token replaces the password; wrong tokens lock the address."""
    s, a = api(extra="auth { enabled on; type bearer; token to.k-en~1; username me; password secret; delay 1; attempts 3; }")
    right = {"Authorization": "Bearer to.k-en~1"}
    status, headers, _ = a.raw("/api/v1/versions")
    assert status == 401 and headers["www-authenticate"] == "Bearer"
    status, _, body = a.raw("/api/v1/versions", headers=right)
    assert status == 200 and json.loads(body)["data"]["major"] == 7
    v = s.watch("cam")
    cid = wait_for(lambda: [c["id"] for c in json.loads(a.raw("/api/v1/clients/", headers=right)[2])["clients"]])[0]
    assert a.raw(f"/api/v1/clients/{cid}", "DELETE", headers=right)[0] == 200
    v.join(5)
    for given in ("Bearer to.k-en~2", "Basic bWU6c2VjcmV0", "Bearer"):
        status, headers, _ = a.raw("/api/v1/streams/", headers={"Authorization": given})
        assert status == 401 and headers["www-authenticate"] == "Bearer"
    assert a.raw("/api/v1/versions", headers=right)[0] == 429
    assert "to.k-en" not in s.log()


def test_token_from_the_environment(srs):
    port = free_port()
    srs("", httpapi.conf(port, "auth { enabled on; }"),
        env={"SRS_HTTP_API_AUTH_TYPE": "bearer", "SRS_HTTP_API_AUTH_TOKEN": "t", "SRS_HTTP_API_AUTH_RTC_BEARER_ENABLED": "on"})
    assert Api(port).raw("/api/v1/versions")[0] == 401
    assert Api(port, headers={"Authorization": "Bearer t"}).get("versions")["code"] == 0


def test_any_method_reads(api):
    """Scripts POST to paths that only read; DELETE of something that cannot be deleted is 405."""
    _, a = api()
    for path in ("versions", "summaries", "vhosts/", "streams/", "clients/", "features", "clusters?vhost=v&app=a&stream=s"):
        for method in ("POST", "PUT", "PATCH"):
            assert a.get(path, method)["code"] == 0, (path, method)
    assert a.raw("/api/v1/streams/", "DELETE")[0] == 405
    assert a.raw("/api/v1/", "POST")[0] == a.raw("/api/", "PUT")[0] == 200


def test_pages_of_other_origins(api):
    _, a = api()
    status, headers, body = a.raw("/api/v1/streams", "OPTIONS", headers={"Origin": "http://x"})
    assert status == 200 and headers["access-control-allow-origin"] == "*" and not body
    status, headers, _ = a.raw("/api/v1/streams", headers={"Origin": "http://x"})
    assert headers["access-control-allow-origin"] == "*"
    _, b = api(extra="crossdomain off;")
    status, headers, _ = b.raw("/api/v1/streams", "OPTIONS")
    assert status == 405 and "access-control-allow-origin" not in headers


def test_one_port_for_both(srs, source):
    port = free_port()
    s = srs("http_remux { enabled on; }",
            httpapi.conf(port, more=f"http_server {{ enabled on; listen 127.0.0.1:{port}; }}"))
    a = Api(port)
    s.push(source, "cam", loop=True)
    assert wait_for(a.streams, 3)
    import urllib.request
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/live/cam.flv", timeout=20) as r:
        assert r.read(3) == b"FLV"


def test_https(srs, tmp_path):
    import ssl
    import subprocess
    import urllib.request
    port, tls = free_port(), free_port()
    key, cert = tmp_path / "k.pem", tmp_path / "c.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                    "-nodes", "-keyout", key, "-out", cert, "-subj", "/CN=localhost", "-days", "2"],
                   check=True, capture_output=True, timeout=20)
    srs("", httpapi.conf(port, f"https {{ enabled on; listen 127.0.0.1:{tls}; key {key}; cert {cert}; }}"))
    none = ssl.create_default_context()
    none.check_hostname, none.verify_mode = False, ssl.CERT_NONE
    with urllib.request.urlopen(f"https://127.0.0.1:{tls}/api/v1/versions", timeout=20, context=none) as r:
        assert json.load(r)["code"] == 0


def test_versions_are_told_by_the_web_port_too(srs):
    web = free_port()
    srs("", f"http_server {{ enabled on; listen 127.0.0.1:{web}; }}")
    assert Api(web).get("versions")["data"]["major"] >= 1
    assert Api(web).raw("/api/v1/streams")[0] == 404


def test_summaries(api):
    s, a = api()
    data = wait_for(lambda: (lambda d: d if d["ok"] else None)(a.get("summaries")["data"]), 5)
    assert data["self"]["pid"] == s.pid and data["self"]["argv"].endswith(".conf")
    assert data["self"]["mem_kbyte"] > 1000
    assert data["system"]["mem_ram_kbyte"] > 100000 and data["system"]["cpus_online"] >= 1
    assert data["system"]["ilde_time"] == data["system"]["idle_time"] > 0
    again = a.get("versions")
    assert again["service"] == a.get("versions")["service"] and len(again["service"]) == 8
    assert again["server"].startswith("vid-") and again["pid"] == str(s.pid)


def test_sort_and_find(api, source):
    """Sorts and filters the whole list before paging; counts a player that reads nothing as stalled."""
    s, a = api()
    ask = a.get
    for n, name in enumerate(("b-one", "a-two", "c-three")):
        s.push(source, name, loop=True)
        for _ in range(n):
            s.watch(name)
    assert wait_for(lambda: ask("clients?count=100")["total"] == 6, 5)
    names = lambda query: [x["name"] for x in ask("streams?" + query)["streams"]]
    assert names("sort=name") == ["a-two", "b-one", "c-three"] == names("sort=-name")[::-1]
    assert names("sort=-clients") == ["c-three", "a-two", "b-one"] == names("sort=clients")[::-1]
    assert names("sort=name&start=1&count=1") == ["b-one"] and names("sort=name&start=9") == []
    found = ask("streams?find=TWO&count=1")
    assert [x["name"] for x in found["streams"]] == ["a-two"] and found["total"] == 1
    assert names("find=live/c-") == ["c-three"] and names("find=nothing") == [] == names("find=__default")
    assert sorted(names("sort=nonsense")) == ["a-two", "b-one", "c-three"]

    c3 = ask("streams?find=c-three")["streams"][0]["id"]
    got = ask(f"clients?stream={c3}&sort=-alive&count=2")
    assert got["total"] == 3 and len(got["clients"]) == 2 and got["clients"][0]["publish"], "publishers are not first"
    alive = [x["alive"] for x in ask("clients?sort=-alive&count=100")["clients"]]
    assert len(alive) == 6 and alive == sorted(alive, reverse=True)
    assert ask("clients?sort=type&find=rtmp-play")["total"] == 3 and ask("clients?find=a-two")["total"] == 2
    assert ask("clients?find=no-such&sort=alive")["clients"] == []
    first = ask("clients?sort=alive&count=1")["clients"][0]
    assert [x["id"] for x in ask(f"clients?find={first['id']}")["clients"]] == [first["id"]]

    waits = s.player("nothing")
    assert wait_for(lambda: [c for c in ask("clients?find=nothing")["clients"] if c["state_ms"] > 3000], 8)
    assert ask("clients?sort=-stall&count=1")["stalled"] == 0, "it does not wait for a publisher"
    waits.close()
