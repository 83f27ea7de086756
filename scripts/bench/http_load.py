#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""http_load.py PORT PATH SECONDS PAUSE [BESIDE] - request a page repeatedly over one connection, and print the
times as one JSON object. While a page is in transit, the page BESIDE is requested over a second connection
continuously: how long do other requests wait?"""
import json, socket, sys, time


class Connection:
    """Requests a page and reads it in pieces."""

    def __init__(self, port, path):
        self.socket = socket.create_connection(("127.0.0.1", port), 30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()

    def ask(self):
        self.at = time.monotonic()
        self.head, self.left, self.size, self.ended = b"", None, 0, False
        self.socket.sendall(self.request)

    def take(self, wait):
        """Reads a part of the answer; True when it is complete."""
        try:
            data = self.socket.recv(1 << 20, 0 if wait else socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        if not data:
            sys.exit("the server closed the connection")
        self.size += len(data)
        self.head = (self.head + data)[:16384]
        if not self.head.startswith(b"HTTP/1.1 200"[:len(self.head)]):
            sys.exit(self.head.split(b"\r\n")[0].decode())
        if self.left is None and b"\r\n\r\n" in self.head:
            fields, _, _ = self.head.partition(b"\r\n\r\n")
            length = [f for f in fields.lower().split(b"\r\n") if f.startswith(b"content-length:")]
            self.left = int(length[0].split(b":")[1]) + len(fields) + 4 if length else -1
        # a chunked list ends with an empty chunk
        return self.size >= self.left if self.left and self.left > 0 else data.endswith(b"0\r\n\r\n")

    def get(self):
        self.ask()
        while not self.take(True):
            pass
        return self.ms()

    def ms(self):
        return (time.monotonic() - self.at) * 1000


def figures(took):
    took.sort()
    at = lambda part: took[min(int(len(took) * part), len(took) - 1)] if took else 0
    return {"n": len(took), "p50": at(0.5), "p99": at(0.99), "max": at(1)}


def main(port, path, seconds, pause, beside=None):
    page, took, others = Connection(int(port), path), [], []
    other = Connection(int(port), beside) if beside else None
    until = time.monotonic() + float(seconds)
    while time.monotonic() < until:
        if not other:
            took.append(page.get())
        else:
            page.ask()
            while not page.take(False):
                others.append(other.get())
            took.append(page.ms())
        time.sleep(float(pause))
    json.dump({**figures(took), "size": page.size, "others": figures(others)}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
