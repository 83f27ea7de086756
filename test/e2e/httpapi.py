# SPDX-License-Identifier: MIT
"""A client of the HTTP API, and a configurable backend for callbacks."""
import base64
import http.client
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from procs import SLOW, free_port, wait_for


class Api:
    def __init__(self, port, user=None, headers=None):
        self.port = port
        self.headers = dict(headers or {})
        if user:
            self.headers["Authorization"] = "Basic " + base64.b64encode(user.encode()).decode()

    def raw(self, path, method="GET", body=None, headers=None):
        """Returns status, headers (lower case), body."""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10 * SLOW)
        try:
            c.request(method, path, body, {**self.headers, **(headers or {})})
            r = c.getresponse()
            return r.status, {k.lower(): v for k, v in r.getheaders()}, r.read()
        finally:
            c.close()

    def get(self, path, method="GET"):
        status, _, body = self.raw("/api/v1/" + path, method)
        assert status == 200, f"{status} {body[:500]}"
        return json.loads(body)

    def clients(self, count=1000):
        return self.get(f"clients/?count={count}")["clients"]

    def streams(self, count=1000):
        return self.get(f"streams/?count={count}")["streams"]

    def stream(self, name):
        return next((s for s in self.streams() if s["name"] == name), None)

    def wait_clients(self, n, timeout=5):
        wait_for(lambda: len(self.clients()) == n, timeout, 0.05)
        got = self.clients()
        assert len(got) == n, got
        return got

    def kick(self, cid):
        return self.get(f"clients/{cid}", "DELETE")


def conf(port, extra="", more=""):
    return f"http_api {{ enabled on; listen 127.0.0.1:{port}; {extra} }}\n{more}"


class Backend:
    """Receives callbacks. answer(event) returns the response: an int or str is the body, a tuple (status, body), a float blocks
    for this many seconds and then allows."""

    def __init__(self, answer=None, port=None, handler=None):
        self.events, self.lock = [], threading.Lock()
        self.answer = answer or (lambda e: 0)
        backend = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                try:
                    event = json.loads(body)
                except ValueError:
                    event = {}
                event["_path"], event["_headers"] = self.path, dict(self.headers)
                event["_at"], event["_raw"] = time.monotonic(), body
                event["_method"] = self.command
                with backend.lock:
                    backend.events.append(event)
                verdict = backend.answer(event)
                if isinstance(verdict, float):
                    time.sleep(verdict)
                    verdict = 0
                status, text = verdict if isinstance(verdict, tuple) else (200, verdict)
                text = (text if isinstance(text, bytes) else
                        (text if isinstance(text, str) else json.dumps(text)).encode())
                try:
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text)
                except OSError:
                    pass

            do_GET = do_POST

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_):
                pass

        self.server = Server(("127.0.0.1", port or free_port()), handler or Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def url(self, path="/hook"):
        return f"http://127.0.0.1:{self.port}{path}"

    def of(self, action):
        with self.lock:
            return [e for e in self.events if e.get("action") == action]

    def actions(self, client=None):
        with self.lock:
            return [e.get("action") for e in self.events
                    if client is None or e.get("client_id") == client]

    def wait(self, action, count=1, timeout=5):
        assert wait_for(lambda: len(self.of(action)) >= count, timeout), \
            f"no {count} {action}: {self.actions()}"
        return self.of(action)[count - 1]

    def close(self):
        self.server.shutdown()
        self.server.server_close()
