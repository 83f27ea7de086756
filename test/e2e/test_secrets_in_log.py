# SPDX-License-Identifier: MIT
"""Data from peers is logged without the secrets in it, whether it could be parsed or not, over any protocol."""
import concurrent.futures
import re
import socket

import pytest

from hostile_rtsp import SDP
from hostile_srt import Peer, extension, hsreq, key_message, streamid
from procs import SLOW, free_port
from rtspclient import rtsp_server

SECRET = "s3cr3tXYZ"


def srt(s):
    for i, said in enumerate([f"#!:{{r=x,token={SECRET}}}", f"#!::r=live/x,m=no,token={SECRET}", f"#!::r=live/x,t=file,key={SECRET}",
                              f"%23!::r=live/x%2Cm=no%2Ckey%3D{SECRET}", f"/?token={SECRET}", f"?key={SECRET}", f"&token={SECRET}",
                              f"#!::k={SECRET}", f"#!:token:{SECRET}", f"a/b/c&x={SECRET}", f"publish:live/x:me:{SECRET}",
                              f"#!::r=live/x,u=me,m=bidirectional,pass={SECRET}", f"\x01?token={SECRET}", f"%23!:::x=,key%3d{SECRET}"]):
        p = Peer(s.srt, f"127.0.1.{i + 1}").induct()
        p.conclude(hsreq() + streamid(said))
        p.close()
    p = Peer(s.srt, "127.0.2.1").induct()
    p.conclude(hsreq() + streamid(f"#!::r=live/y,m=publish,key={SECRET}") + extension(3, key_message()), encryption=2, field=7)
    p.close()


def rtsp(s):
    for url in (f"rtsp://me:{SECRET}@h/live/none", f"rtsp://{SECRET}@h/live/none", f"rtsp:/me:{SECRET}@h/x", f"me:{SECRET}@h/x",
                f"rtsp://h/live/none?token={SECRET}", f"rtsp://h/live/none%3Ftoken={SECRET}", f"rtsp://h/live/none%3ftoken%3d{SECRET}",
                f"rtsp://h/live/none&key={SECRET}", f"token={SECRET}", f"rtsp://h/{'x' * 60}?key={SECRET}", f"rtsp://h/?key={SECRET}"):
        for method in ("DESCRIBE", "ANNOUNCE", "SETUP"):
            c = s.rtsp(timeout=0.3)
            try:
                c.request(method, url, {"Content-Type": "application/sdp", "Authorization": f"Basic {SECRET}",
                                        "Transport": "RTP/AVP/TCP;unicast;interleaved=0-1"}, SDP if method == "ANNOUNCE" else b"")
            except Exception:  # it may end the connection
                pass
            c.close()


def rtmp(s):
    for stream in (f"x?token={SECRET}", f"x&token={SECRET}", f"x%3Ftoken={SECRET}", f"x%3ftoken%3D{SECRET}", f"x;key={SECRET}", f"?key={SECRET}"):
        for app in ("live", f"live?key={SECRET}", f"nowhere%3Fkey={SECRET}"):
            for publish in (True, False):
                try:
                    with s.client(timeout=0.3) as c:
                        (c.publish if publish else c.play)(stream, app=app, wait=publish)
                except Exception:
                    pass


def http(s):
    lines = (f"GET /live/x.flv?token={SECRET} HTTP/1.1", f"GET /live/x.flv%3Ftoken={SECRET} HTTP/1.1", f"GET /x&key={SECRET} HTTP/1.1",
             f"GET http://me:{SECRET}@h/live/x.flv HTTP/1.1", f"GET  /live/x.m3u8?token={SECRET} HTTP/9.9", f"?token={SECRET}",
             f"GET /live/none.m3u8?token={SECRET} HTTP/1.1", f"GET /live/none.m3u8%3Ftoken={SECRET} HTTP/1.1",
             f"POST /rtc/v1/whip/?app=live&stream=x&token={SECRET} HTTP/1.1")

    def ask(line):
        with socket.create_connection(("127.0.0.1", s.http_port), 0.5 * SLOW) as c:  # some wait for a publisher
            c.sendall(f"{line}\r\nHost: h\r\nAuthorization: Basic {SECRET}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
            try:
                while c.recv(65536):
                    pass
            except OSError:
                pass
    with concurrent.futures.ThreadPoolExecutor(len(lines)) as pool:
        list(pool.map(ask, lines))


@pytest.mark.parametrize("on", [False, True])
def test_nothing_tells_a_secret(srs, on):
    """None of them is in the log, unless log_secrets is on."""
    port, http_port = free_port(), free_port()
    s = rtsp_server(srs, vhost="srt { enabled on; } publish { takeover off; } security { enabled on; key live/y 12345678; allow publish all; "
                    "allow play all; } http_remux { enabled on; } hls { enabled on; }",
                    server="describe_wait 0;", glob=f"""log_secrets {'on' if on else 'off'}; srs_log_level trace;
srt_server {{ enabled on; listen 127.0.0.1:{port}; }} http_server {{ enabled on; listen 127.0.0.1:{http_port}; }}
limits {{ log_lines 0; log_strangers 0; log_address 0; }}""")
    s.srt, s.http_port = port, http_port
    for say in (srt, rtsp, rtmp, http):
        at = s.mark()
        say(s)
        told = [x for x in s.log()[at:].splitlines() if SECRET in x]
        if on:
            assert told or say in (http,), say.__name__
        else:
            assert not told, (say.__name__, told[:5])
    assert len(re.findall("is refused with", s.log())) > 10
