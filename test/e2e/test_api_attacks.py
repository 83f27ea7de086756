# SPDX-License-Identifier: MIT
"""The API against misuse: other machines, pages of other sites in the operator's browser, password guessing."""
import socket
import threading
import time

import pytest

import httpapi
from httpapi import Api
from procs import SLOW, free_port, wait_for

STRANGER = {"X-Forwarded-For": "192.0.2.7"}  # set by our proxy
RAW = "raw_api { enabled on; allow_reload on; }"


@pytest.fixture
def api(srs):
    def start(extra="", more="", user=None):
        port = free_port()
        return srs("", httpapi.conf(port, extra, more)), Api(port, user)
    return start


def figures(a, **how):
    status, _, body = a.raw("/metrics", **how)
    assert status == 200, body
    return body.decode()


def denied(a, reason):
    line = next(x for x in figures(a).splitlines() if x.startswith(f'srs_api_denied_total{{reason="{reason}"}}'))
    return int(line.split()[-1])


def test_untrusted_clients_and_pages_of_other_sites_only_read(api, source):
    s, a = api("public read; " + RAW, "exporter { enabled on; listen 127.0.0.1:%d; }" % free_port())
    s.push(source, "cam", loop=True)
    v = s.watch("cam")
    assert v.wait(lambda got: len(got) > 10, 5)
    cid = next(c["id"] for c in a.wait_clients(2) if not c["publish"])
    kick, reload = f"/api/v1/clients/{cid}", "/api/v1/raw?rpc=reload"
    page = {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}
    mask = {"Host": f"evil.example:{a.port}", "Origin": f"http://evil.example:{a.port}"}
    image = {"User-Agent": "Mozilla/5.0 (X11)", "Accept-Language": "en"}
    loaded = a.get("raw?rpc=reload-fetch")["data"]["rid"]
    for method, path, headers in (("DELETE", kick, STRANGER), ("DELETE", kick, page), ("DELETE", kick, mask),
                                  ("GET", reload, STRANGER), ("GET", reload, {"Sec-Fetch-Site": "cross-site"}),
                                  ("GET", reload, image), ("HEAD", reload, STRANGER)):
        status, _, body = a.raw(path, method, headers=headers)
        assert status == 403, (method, path, headers, status)
        assert method == "HEAD" or b"http_api {" in body, "it does not say what to set"
    for path in kick + "?callback=f&method=DELETE", kick + "?method=DELETE", kick + "?callback=f&method=delete":
        assert a.raw(path)[0] == 200, "reading failed"
    assert a.raw("/api/v1/clients", headers=STRANGER)[0] == 200, "reading is not open"
    preflight = {"Origin": "http://evil.example", "Access-Control-Request-Method": "DELETE",
                 "Access-Control-Request-Private-Network": "true"}
    status, headers, _ = a.raw(kick, "OPTIONS", headers=preflight)
    assert "access-control-allow-private-network" not in headers
    assert denied(a, "address") == 3 and denied(a, "page") == 4
    assert a.get("raw?rpc=reload-fetch")["data"]["rid"] == loaded, "something was loaded"
    assert v.ended is None and len(a.clients()) == 2, "a client was disconnected"
    assert len([x for x in s.log().splitlines() if "is refused" in x]) <= 3, "more than one line a second"
    assert a.kick(cid)["code"] == 0, "the operator is rejected"
    assert wait_for(lambda: v.ended is not None, 3)


def test_all_clients_may_if_configured(api):
    _, a = api("open on; private_network on;")
    assert a.raw("/api/v1/clients/x", "DELETE", headers=STRANGER)[2] == b'{"code":2049}'
    assert a.raw("/api/v1/clients/x", "DELETE", headers={"Origin": "http://evil.example"})[0] == 403
    headers = a.raw("/api/v1/clients", "OPTIONS", headers={"Access-Control-Request-Private-Network": "true"})[1]
    assert headers["access-control-allow-private-network"] == "true"


def test_who_guesses_waits_alone_and_is_locked(api):
    """300 guesses at once: few are checked, other clients do not wait, the log stays short, and the lock expires."""
    s, a = api("auth { enabled on; username me; password secret; attempts 5; lock 2; delay 1000; }",
               "exporter { enabled on; listen 127.0.0.1:%d; }" % free_port(), user="me:secret")
    got, slow = [], []

    def guess(i):
        began = time.monotonic()
        got.append(Api(a.port, f"me:{i}", STRANGER).raw("/api/v1/streams")[0])
        if got[-1] == 401:
            slow.append(time.monotonic() - began)
    threads = [threading.Thread(target=guess, args=(i,)) for i in range(300)]
    for t in threads:
        t.start()
    worst = 0
    while any(t.is_alive() for t in threads):
        began = time.monotonic()
        assert a.get("versions")["code"] == 0
        worst = max(worst, time.monotonic() - began)
    assert worst < 0.5 * SLOW, f"the operator waited {worst:.2f} s"
    assert got.count(401) == 5 and got.count(429) == 295 and min(slow) >= 0.95, (got.count(401), slow)
    status, headers, _ = Api(a.port, "me:secret", STRANGER).raw("/api/v1/streams")
    assert status == 429 and 0 < int(headers["retry-after"]) <= 2, "the right password is accepted while locked, which reveals it"
    assert denied(a, "password") == 5 and denied(a, "locked") == 296
    assert 1 <= s.log().count("[WARN]") <= 6, "300 rejections wrote 300 lines"
    assert wait_for(lambda: Api(a.port, "me:secret", STRANGER).raw("/api/v1/streams")[0] == 200, 5), "the lock did not expire"
    assert Api(a.port).raw("/api/v1/streams", headers=STRANGER)[0] == 401, "a request without credentials is not answered at once"


def test_figures_ask_as_the_api_does(api):
    port = free_port()
    _, a = api("auth { enabled on; username me; password secret; delay 1; }",
               f"exporter {{ enabled on; listen 127.0.0.1:{port}; }}", user="me:secret")
    for where in a.port, port:
        assert Api(where).raw("/metrics")[0] == 401 and Api(where, "me:no").raw("/metrics")[0] == 401
        assert "srs_build_info" in figures(Api(where, "me:secret"))



def test_the_operator_gets_in_when_untrusted_clients_took_all(srs):
    own, web = free_port(), free_port()
    s = srs(glob=f"""max_connections 20; limits {{ api_reserve 4; }}
        http_api {{ enabled on; listen 127.0.0.1:{own} 127.0.0.1:{web}; }}
        http_server {{ enabled on; listen 127.0.0.1:{web}; dir ./; }}""")
    crowd = [socket.create_connection(("127.0.0.1", (s.port, web)[i % 2]), 5) for i in range(20)]
    assert wait_for(lambda: Api(own).get("summaries")["data"]["system"]["conn_srs"] >= 20, 5)
    with socket.create_connection(("127.0.0.1", s.port), 5) as late:
        assert late.recv(1) == b"", "unknown clients find room"
    for port in own, web:  # a shared port, too: its API clients are recognized by their request
        status, headers, _ = Api(port).raw("/api/v1/clients/x", "DELETE")
        assert status == 200 and headers["connection"] == "close", "the place is not free again soon"
        assert Api(port).raw("/console/")[0] == 200
    status, headers, _ = Api(web).raw("/live/cam.flv")
    assert status == 503 and headers["retry-after"] and Api(web).raw("/srs.conf")[0] == 503
    idle = [socket.create_connection(("127.0.0.1", own), 5) for _ in range(4)]
    began = time.monotonic()
    for c in idle:
        c.settimeout(8 * SLOW)
        assert c.recv(200).startswith((b"HTTP/1.1 408", b"")), "a silent client is not disconnected"
    assert time.monotonic() - began < 6 * SLOW
    assert wait_for(lambda: Api(own).get("versions")["code"] == 0, 3)
    for c in crowd + idle:
        c.close()
    assert wait_for(lambda: Api(web).raw("/srs.conf")[0] == 200, 5), "no room again"
