#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the seeds of fuzz_http and fuzz_ws: test/fuzz/corpus/{http,ws}. Run from the top folder."""
import os
import struct

H = "Host: h\r\n"
KEY = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" \
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"


def frame(op, data, fin=True, mask=b"\x11\x22\x33\x44"):
    size = len(data)
    head = bytes([(0x80 if fin else 0) | op])
    bit = 0x80 if mask else 0
    if size < 126:
        head += bytes([bit | size])
    elif size < 65536:
        head += bytes([bit | 126]) + struct.pack(">H", size)
    else:
        head += bytes([bit | 127]) + struct.pack(">Q", size)
    if mask:
        head += mask
        data = bytes(b ^ mask[i % 4] for i, b in enumerate(data))
    return head + data


HTTP = {
    "get": f"GET / HTTP/1.1\r\n{H}\r\n",
    "index": f"GET /srs.conf?a=b HTTP/1.1\r\n{H}Accept-Encoding: gzip\r\n\r\n",
    "range": f"GET /rtmp.conf HTTP/1.1\r\n{H}Range: bytes=2-40\r\n\r\n",
    "condition": f"GET /rtmp.conf HTTP/1.1\r\n{H}If-None-Match: \"a\", W/\"b\"\r\n"
                 f"If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n",
    "head": f"HEAD /rtmp.conf HTTP/1.1\r\n{H}\r\n",
    "options": f"OPTIONS * HTTP/1.1\r\n{H}Origin: x\r\n\r\n",
    "escape": f"GET /%2e%2e/%2fetc/passwd HTTP/1.1\r\n{H}\r\n",
    "flv": f"GET /live/s.flv?vhost=x HTTP/1.1\r\n{H}\r\n",
    "flv-b": "GET /x/live@s.flv HTTP/1.1\r\nHost: b:80\r\nReferer: http://a.b/\r\n\r\n",
    "flv-start": "GET /s/source.flv?start=999 HTTP/1.1\r\nHost: b\r\n\r\n",
    "post": f"POST /e/ HTTP/1.1\r\n{H}Content-Length: 5\r\n\r\nhello",
    "chunked": f"POST /e/ HTTP/1.1\r\n{H}Transfer-Encoding: chunked\r\n\r\n"
               "5\r\nhello\r\n3;x\r\nabc\r\n0\r\nA: b\r\n\r\n",
    "pipeline": f"GET /nix HTTP/1.1\r\n{H}\r\nPOST /e/ HTTP/1.1\r\n{H}Content-Length: 2\r\n\r\nhi"
                f"GET /s HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "expect": f"POST /e/ HTTP/1.1\r\n{H}Expect: 100-continue\r\nContent-Length: 2\r\n\r\nhi",
    "absolute": f"GET http://b:99/s/config.md?x HTTP/1.1\r\n{H}\r\n",
    "folded": f"GET / HTTP/1.1\r\n{H}A: b\r\n c\r\n\r\n",
    "proxy": f"GET /live/s.flv HTTP/1.1\r\n{H}X-Forwarded-For: 1.2.3.4, 5.6.7.8\r\n\r\n",
    "ws": (f"GET /live/s.flv HTTP/1.1\r\n{H}{KEY}Sec-WebSocket-Protocol: a, b\r\n\r\n").encode()
          + frame(9, b"hello") + frame(8, b"\x03\xe8"),
}
WS = {
    "text": frame(1, b"hello"),
    "sizes": frame(2, b"x" * 125) + frame(2, b"y" * 126) + frame(2, b"z" * 70000)[:80],
    "fragments": frame(1, b"a", False) + frame(9, b"p") + frame(0, b"b", False) + frame(0, b"c"),
    "close": frame(8, b"\x03\xe8bye") + frame(10, b""),
    "server": frame(2, b"unmasked", mask=None),
}

for folder, seeds, first in (("http", HTTP, b"\x00"), ("ws", WS, b"\x07")):
    os.makedirs(f"test/fuzz/corpus/{folder}", exist_ok=True)
    for name, data in seeds.items():
        with open(f"test/fuzz/corpus/{folder}/{name}", "wb") as f:
            f.write((b"\x06" if name == "server" else first)
                    + (data if isinstance(data, bytes) else data.encode()))
