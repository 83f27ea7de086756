# SPDX-License-Identifier: MIT
"""The API without a password, as seen from a public address. A trusted proxy reports the address in X-Forwarded-For or in a PROXY
protocol header."""
import http.client
import json
import socket

import pytest

import httpapi
from httpapi import Api
from procs import free_port, wait_for
from rtc import rtc_server
from test_rtc import OFFER

PUBLIC = ["8.8.8.8", "172.32.0.1", "100.64.0.1", "100.127.255.255", "2001:db8::1", "::ffff:8.8.8.8"]
PRIVATE = ["10.1.2.3", "172.17.0.1", "192.168.0.9", "169.254.3.4", "fd00::1", "fe80::1", "127.0.0.1", "::1"]
READS = ["clients", "clients/x", "streams/", "vhosts", "summaries", "rusages", "self_proc_stats", "features", "authors", "raw?rpc=raw", "raw",
         "clusters?app=live&stream=cam", "forwards", "children", "workers", "console", "doctor", "log", "tests/requests", "tests/errors", "nothing", ""]


def of(ip):
    return {"X-Forwarded-For": ip}


def status(port, path, ip, method="GET"):
    return Api(port).raw(path, method, headers=of(ip))[0]


def test_a_public_address_is_told_what_to_set(srs, source):
    one, both, figures = free_port(), free_port(), free_port()
    s = srs(glob=f"""http_api {{ enabled on; listen 127.0.0.1:{one} 127.0.0.1:{both}; raw_api {{ enabled on; allow_reload on; }} }}
        http_server {{ enabled on; listen 127.0.0.1:{both}; dir ./; }} exporter {{ enabled on; listen 127.0.0.1:{figures}; }}""")
    s.push(source, "cam", loop=True)
    a = Api(one)
    cid = a.wait_clients(1)[0]["id"]
    for port in one, both:
        for path in [f"/api/v1/{x}" for x in READS] + ["/api/", "/metrics", f"/api/v1/clients/{cid}"]:
            code, headers, body = Api(port).raw(path, headers=of("8.8.8.8"))
            assert code == 401 and headers["www-authenticate"] == "Bearer", (port, path, code)
            assert b"http_api { auth {" in body and b"http_api { public read; }" in body, "it does not say what to set"
            assert json.loads(body)["code"] == 1053
        for path, method in ((f"/api/v1/clients/{cid}", "DELETE"), ("/api/v1/raw?rpc=reload", "GET"), ("/api/v1/streams", "POST")):
            assert status(port, path, "8.8.8.8", method) == 401, path
        assert status(port, "/api/v1/versions", "8.8.8.8") == 200
        assert status(port, "/console/", "8.8.8.8") == status(port, "/console/where.json", "8.8.8.8") == 200
    assert status(figures, "/metrics", "8.8.8.8") == 401 and status(figures, "/metrics", "10.0.0.1") == 200
    for ip in PUBLIC:
        assert status(one, "/api/v1/streams", ip) == 401, ip
    for ip in PRIVATE:
        assert status(one, "/api/v1/streams", ip) == 200, ip
    assert status(one, "/api/v1/streams", "10.0.0.1, 8.8.8.8") == 401, "a header of the client itself must not help it"
    assert len(a.clients()) == 1, "a client was disconnected"
    text = Api(figures).raw("/metrics")[2].decode()
    denied = next(x for x in text.splitlines() if x.startswith('srs_api_denied_total{reason="public"}'))
    assert int(denied.split()[-1]) > 50 and s.log().count("is refused") < 20, "more than a line a second"


def test_who_wants_it_otherwise(srs):
    for directive, read, kick in (("public read;", 200, 403), ("open on;", 200, 200), ("auth { enabled on; username me; password x; }", 401, 401)):
        port = free_port()
        s = srs(glob=httpapi.conf(port, directive))
        assert status(port, "/api/v1/clients", "8.8.8.8") == read, directive
        assert status(port, "/api/v1/clients/x", "8.8.8.8", "DELETE") == kick, directive
        s.stop()
    body = Api(port := free_port(), "me:x")
    srs(glob=httpapi.conf(port, "auth { enabled on; username me; password x; }"))
    assert body.raw("/api/v1/clients", headers=of("8.8.8.8"))[0] == 200, "with the password"


def test_a_reload_opens_and_closes_it(srs):
    port = free_port()
    s = srs(glob=httpapi.conf(port))
    assert status(port, "/api/v1/clients", "8.8.8.8") == 401
    s.reload(glob=httpapi.conf(port, "public read;"))
    assert wait_for(lambda: status(port, "/api/v1/clients", "8.8.8.8") == 200, 3)
    s.reload(glob=httpapi.conf(port))
    assert wait_for(lambda: status(port, "/api/v1/clients", "8.8.8.8") == 401, 3)


@pytest.mark.parametrize("ip,want", [("8.8.8.8", b"401"), ("10.0.0.1", b"200")])
def test_behind_a_balancer(srs, ip, want):
    port = free_port()
    srs(glob=f"http_api {{ enabled on; listen 127.0.0.1:{port} proxy_protocol; }}")
    with socket.create_connection(("127.0.0.1", port), 5) as c:
        c.sendall(f"PROXY TCP4 {ip} 127.0.0.1 5000 {port}\r\nGET /api/v1/streams HTTP/1.0\r\n\r\n".encode())
        assert c.recv(4096).split()[1] == want


def test_webrtc_is_open_to_all(srs, tmp_path):
    s = rtc_server(srs, tmp_path)
    c = http.client.HTTPConnection("127.0.0.1", s.api_port, timeout=5)
    sdp = {**of("8.8.8.8"), "Content-Type": "application/sdp"}
    c.request("POST", "/rtc/v1/whip/?app=live&stream=a", OFFER.replace("a=recvonly", "a=sendonly"), sdp)
    got = c.getresponse()
    assert got.status == 201 and got.read()
    c.request("PATCH", got.headers["Location"], "a=end-of-candidates\r\n", {**sdp, "Content-Type": "application/trickle-ice-sdpfrag"})
    patched = c.getresponse()
    assert patched.status == 204 and not patched.read()
    c.request("DELETE", got.headers["Location"], headers=sdp)
    assert c.getresponse().status == 200
    body = json.dumps({"sdp": OFFER, "streamurl": "webrtc://127.0.0.1/live/j"})
    for port in s.api_port, s.web_port:
        code, _, text = Api(port).raw("/rtc/v1/play/", "POST", body, of("8.8.8.8"))
        assert code == 200 and json.loads(text)["code"] == 0


def test_pages_of_the_internet_stay_out_of_private_networks(srs, tmp_path):
    wanted = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST", "Access-Control-Request-Private-Network": "true"}
    s = rtc_server(srs, tmp_path)
    for port in s.api_port, s.web_port:
        for path in "/rtc/v1/whip/", "/rtc/v1/play/", "/api/v1/streams", "/live/s.flv", "/live/s.m3u8":
            headers = Api(port).raw(path, "OPTIONS", headers=wanted)[1]
            assert headers["access-control-allow-origin"] == "*"
            assert "access-control-allow-private-network" not in headers, (port, path)
            assert "access-control-allow-credentials" not in headers
    port = free_port()
    srs(glob=httpapi.conf(port, "private_network on;"))
    assert Api(port).raw("/rtc/v1/whip/", "OPTIONS", headers=wanted)[1]["access-control-allow-private-network"] == "true"


def test_no_addresses_of_code_or_stack(srs):
    port = free_port()
    srs(glob=httpapi.conf(port))
    data = Api(port).get("self_proc_stats")["data"]
    for name in "startcode", "endcode", "startstack", "kstkesp", "kstkeip", "wchan":
        assert data[name] == 0, name
    assert data["vsize"] > 0 and data["num_threads"] > 0
