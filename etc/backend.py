#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""backend.py - a sample backend: authorizes publishers and prints all events.

    python3 etc/backend.py [PORT [TOKEN [URL...]]]          # 8085, secret, no urls
    ./objs/srs -c conf/http.hooks.callback.conf
    ffmpeg -re -i doc/source.flv -c copy -f flv 'rtmp://127.0.0.1/live/livestream?token=secret'

It rejects publishers without the token, and accepts all players. URLs are destinations for forward:
conf/forward.backend.conf. To disconnect a client later:

    curl -X DELETE http://127.0.0.1:1985/api/v1/clients/CLIENT_ID
"""
import hmac
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

PORT = int(sys.argv[1]) if len(sys.argv) > 1 else 8085
TOKEN = sys.argv[2] if len(sys.argv) > 2 else "secret"
URLS = sys.argv[3:]


def decide(event):
    """Returns 0 to accept, any other number to reject."""
    if event.get("action") == "on_publish":
        given = parse_qs(event.get("param", "").lstrip("?")).get("token", [""])[0]
        return 0 if hmac.compare_digest(given.encode(), TOKEN.encode()) else 1
    return 0


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = {"code": decide(event)}
        if event.get("action") == "on_forward":
            answer["data"] = {"urls": URLS}
        print(event.get("action", "heartbeat"), answer["code"], json.dumps(event), flush=True)
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


try:
    ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
except KeyboardInterrupt:
    pass
