# SPDX-License-Identifier: MIT
"""Responses to requests of WebRTC clients: statuses, texts, fields, limits, on both kinds of ports."""
from contextlib import closing
import json
import http.client

import pytest

from httpapi import Backend
from rtc import rtc_server
from test_rtc import OFFER

SENDS = OFFER.replace("a=recvonly", "a=sendonly")
SDP = {"Content-Type": "application/sdp"}
FRAGMENT = {"Content-Type": "application/trickle-ice-sdpfrag"}
CORS = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Location, ETag, Link, Accept-Patch",
        "Access-Control-Allow-Headers": "*, Authorization, Content-Type, If-Match",
        "Access-Control-Allow-Methods": "GET, POST, DELETE, PATCH, OPTIONS"}


def ask(s, method, path, body=None, headers=None, port=0):
    """Returns a response of any status, which must always allow pages of other origins to read it."""
    c = http.client.HTTPConnection("127.0.0.1", port or s.api_port, timeout=5)
    try:
        c.request(method, path, body, headers or {})
        got = c.getresponse()
        text = got.read().decode()
    finally:
        c.close()
    for name, value in CORS.items():
        assert got.headers.get_all(name) == [value], (path, name)
    return got.status, got.headers, text


def refused():
    """Path, body, fields, status, beginning of the text."""
    many = OFFER + "".join(f"m=audio 0 UDP/TLS/RTP/SAVPF {i}\r\n" for i in range(16))
    for path in ("/rtc/v1/whip/?app=live&stream=a", "/rtc/v1/whep/?app=live&stream=a"):
        yield path, b"", SDP, 400, "5043: RtcInvalidSdp"
        yield path, b"hello", SDP, 400, "5012: RtcSdpDecode"
        yield path, OFFER + "\0", SDP, 400, "5012: RtcSdpDecode"
        yield path, many, SDP, 400, "5012: RtcSdpDecode"
        yield path, "v=0\r\n" + "a" * 65536, SDP, 400, "5012: RtcSdpDecode"
        yield path, "{}", {"Content-Type": "application/json"}, 415, "5012: RtcSdpDecode"
    yield "/rtc/v1/whip/", OFFER, SDP, 400, "5012: RtcSdpDecode"  # it only receives
    yield "/rtc/v1/whep/", SENDS, SDP, 400, "5012: RtcSdpDecode"
    yield "/rtc/v1/whip/", SENDS.replace("H264", "H261"), SDP, 400, "5018: RtcSdpNegotiate"
    yield "/rtc/v1/whip/", SENDS.replace("a=rtcp-mux\r\n", ""), SDP, 400, "5012: RtcSdpDecode"
    yield "/rtc/v1/whip/", SENDS.replace("abcd", "ab:cd"), SDP, 400, "5012: RtcSdpDecode"
    yield "/rtc/v1/whip/?vhost=none.example", SENDS, SDP, 403, "5021: RtcDisabled"
    yield "/rtc/v1/whip/?vhost=closed.example", SENDS, SDP, 401, "2048: SystemSecurityDeny"


def test_statuses(srs, tmp_path):
    s = rtc_server(srs, tmp_path, glob="""
vhost none.example { rtc { enabled off; } }
vhost closed.example { rtc { enabled on; } security { enabled on; deny publish all; } }""")
    for path, body, headers, status, text in refused():
        got = ask(s, "POST", path, body, headers)
        assert got[0] == status and got[2].startswith(text), (path, body[:40], got)
        assert got[1]["Content-Type"].startswith("text/plain")
    for method in ("GET", "PUT"):
        got = ask(s, method, "/rtc/v1/whip/")
        assert got[0] == 405 and got[1]["Allow"] == "POST, DELETE, PATCH, OPTIONS"
    assert ask(s, "POST", "/rtc/v1/whip?app=a", SENDS)[1]["Location"] == "/rtc/v1/whip/?app=a"
    assert ask(s, "POST", "/rtc/v1/other/", "")[0] == 404
    assert ask(s, "OPTIONS", "/rtc/v1/whip/")[0] == 204
    asked = ask(s, "OPTIONS", "/rtc/v1/whep/", headers={"Access-Control-Request-Private-Network": "true"})
    assert asked[0] == 204 and "Access-Control-Allow-Private-Network" not in asked[1], "private_network is off"


def test_a_session(srs, tmp_path):
    s = rtc_server(srs, tmp_path, vhost="publish { takeover off; }")
    pieces = (SENDS[i:i + 100].encode() for i in range(0, len(SENDS), 100))  # without a declared length
    status, fields, answer = ask(s, "POST", "/rtc/v1/whip/?app=live&stream=a", pieces, SDP)
    assert status == 201 and fields["Content-Type"] == "application/sdp" and len(answer) <= 8000
    assert answer.startswith("v=0\r\no=SRS/") and answer.splitlines()[1].count("/") == 1
    assert "a=ice-lite\r\n" in answer and "a=recvonly\r\n" in answer
    assert fields["Accept-Patch"] == FRAGMENT["Content-Type"]
    assert ask(s, "POST", "/rtc/v1/whip/?app=live&stream=a", SENDS, SDP)[2].startswith("5020: RtcSourceBusy")
    where, etag = fields["Location"], fields["ETag"]
    assert ask(s, "PATCH", where, "a=end-of-candidates\r\n", FRAGMENT)[0] == 204
    assert ask(s, "PATCH", where, "x", FRAGMENT)[0] == 400
    assert ask(s, "PATCH", where, "a=x:y", SDP)[0] == 415
    assert ask(s, "GET", where)[0] == 405  # RFC 9725 reserves it
    look = where.replace("action=delete", "action=status")
    for _ in range(8):  # on any worker
        got = ask(s, "GET", look)
        assert got[0] == 200 and json.loads(got[2]) == {"state": "waits", "video": "H264", "audio": ""}, got
    assert ask(s, "GET", look.replace("token=", "token=x"))[0] == 403
    assert ask(s, "GET", look.replace("token=", "t="))[0] == 403
    assert ask(s, "GET", look.replace("session=", "session=x"))[0] == 404
    again = "a=ice-ufrag:wxyz\r\na=ice-pwd:0123456789012345678901\r\n"
    assert ask(s, "PATCH", where, again, {**FRAGMENT, "If-Match": '"other"'})[0] == 412
    status, fields, fragment = ask(s, "PATCH", where, again, {**FRAGMENT, "If-Match": etag})
    assert status == 200 and "a=ice-ufrag:" in fragment and fields["ETag"] not in (None, etag)
    assert ask(s, "DELETE", where.replace("token=", "token=x"))[0] == 403
    assert ask(s, "DELETE", where.replace("token=", "t="))[0] == 403
    assert ask(s, "DELETE", where)[0] == 200
    assert s.wait_log("by DELETE", 2)
    assert ask(s, "DELETE", where)[0] == 200  # it has ended
    assert ask(s, "GET", look)[0] == 404


@pytest.mark.parametrize("kind,offer", [("publish", SENDS), ("play", OFFER)], ids=["publish", "play"])
def test_json(srs, tmp_path, kind, offer):
    s = rtc_server(srs, tmp_path)
    body = {"sdp": offer, "streamurl": "webrtc://127.0.0.1/live/j", "clientip": None, "api": "x", "tid": "1"}
    path = f"/rtc/v1/{kind}/"
    for wrong in ({}, {**body, "sdp": "x"}, {**body, "streamurl": "?"}, {**body, "sdp": "v=0" + "a" * 70000}, []):
        status, fields, text = ask(s, "POST", path, json.dumps(wrong))
        assert status == 200 and json.loads(text)["code"] == 400 and json.loads(text)["error"]
    assert json.loads(ask(s, "POST", path, "{")[2])["code"] == 400
    assert ask(s, "GET", path)[0] == 405
    status, fields, text = ask(s, "POST", path, json.dumps(body))
    got = json.loads(text)
    assert status == 200 and got["code"] == 0 and fields["Connection"] == "close", got
    assert got["sdp"].startswith("v=0\r\n") and got["sessionid"].endswith(":abcd") and got["pid"]


REPEATS = ("a=rtcp-fb:102 nack\r\na=rtcp-fb:102 nack pli\r\na=rtpmap:103 rtx/90000\r\na=fmtp:103 apt=102\r\n")


@pytest.mark.parametrize("kind,offer", [("publish", SENDS), ("play", OFFER)], ids=["publish", "play"])
def test_rtx_is_for_whip_and_whep(srs, tmp_path, kind, offer):
    """SRS's JSON API never answers RTX, and its clients expect only NACK; WHIP and WHEP have both."""
    s = rtc_server(srs, tmp_path)
    offer = offer.replace("SAVPF 102", "SAVPF 102 103") + REPEATS
    body = json.dumps({"sdp": offer, "streamurl": "webrtc://127.0.0.1/live/json"})
    json_sdp = json.loads(ask(s, "POST", f"/rtc/v1/{kind}/", body)[2])["sdp"]
    _, _, http_sdp = ask(s, "POST", f"/rtc/v1/{'whip' if kind == 'publish' else 'whep'}/?app=live&stream=http", offer, SDP)
    for sdp in (json_sdp, http_sdp):
        assert "a=rtcp-fb:102 nack\r\n" in sdp, sdp
    assert "rtx" not in json_sdp and "FID" not in json_sdp and "SAVPF 102\r\n" in json_sdp, json_sdp
    assert "a=rtpmap:103 rtx/90000\r\n" in http_sdp and "SAVPF 102 103\r\n" in http_sdp, http_sdp


def test_the_token_of_the_api(srs, tmp_path):
    """rtc_bearer_enabled: nothing below /rtc/ is answered without the token, and no backend sees it."""
    s = rtc_server(srs, tmp_path, env={"SRS_HTTP_API_AUTH_ENABLED": "on", "SRS_HTTP_API_AUTH_TYPE": "bearer",
                                       "SRS_HTTP_API_AUTH_TOKEN": "se.cret", "SRS_HTTP_API_AUTH_DELAY": "1", "SRS_HTTP_API_AUTH_ATTEMPTS": "0",
                                       "SRS_HTTP_API_AUTH_RTC_BEARER_ENABLED": "on"})
    right = {**SDP, "Authorization": "Bearer se.cret"}
    for port in (s.api_port, s.web_port):
        for path in ("/rtc/v1/whip/", "/rtc/v1/whep/", "/rtc/v1/whip-play/", "/rtc/v1/publish/", "/rtc/v1/play/"):
            for headers in (SDP, {**SDP, "Authorization": "Bearer other"}):
                status, fields, _ = ask(s, "POST", path, SENDS, headers, port)
                assert status == 401 and fields["WWW-Authenticate"] == "Bearer", (path, headers)
        assert ask(s, "OPTIONS", "/rtc/v1/whip/", port=port)[0] == 204
    status, fields, _ = ask(s, "POST", "/rtc/v1/whip/?app=live&stream=t", SENDS, right)
    assert status == 201
    where = fields["Location"]
    assert ask(s, "DELETE", where)[0] == 401
    assert ask(s, "DELETE", where, headers=right)[0] == 200
    assert "se.cret" not in s.log()


def test_a_token_reaches_backends(srs, tmp_path):
    with closing(Backend()) as b:
        s = rtc_server(srs, tmp_path, vhost=f"http_hooks {{ enabled on; on_publish {b.url()}; on_unpublish {b.url()}; "
                       f"on_play {b.url()}; }}")
        sent = {**SDP, "Authorization": "Bearer a+b&c"}
        status, fields, _ = ask(s, "POST", "/rtc/v1/whip/?app=live&stream=t&x=1", SENDS, sent)
        assert status == 201
        assert ask(s, "POST", "/rtc/v1/whep/?app=live&stream=u&token=mine", OFFER, sent)[0] == 201
        assert ask(s, "DELETE", fields["Location"])[0] == 200
        published, ended, played = (b.wait(a) for a in ("on_publish", "on_unpublish", "on_play"))
    assert published["token"] == ended["token"] == played["token"] == "a+b&c"
    assert published["param"] == "?app=live&stream=t&x=1&token=a%2Bb%26c&upstream=rtc"
    assert played["param"] == "?app=live&stream=u&token=mine"
