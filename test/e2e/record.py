# SPDX-License-Identifier: MIT
"""Records what a real client sends: `python3 record.py SERVER-PORT FILE COMMAND...` runs the command with {url} replaced by that of
a relay to the server, and writes all bytes of the client to FILE. test/data/*.rtmp were recorded in this way; test_captures.py
plays them back."""
import os
import socket
import subprocess
import sys
import threading


class Relay:
    """One connection to a server on 127.0.0.1; keeps the client's bytes."""

    def __init__(self, port, limit=1 << 20):
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(1)
        self.port = self.listener.getsockname()[1]
        self.server = port
        self.said = b""
        self.limit = limit
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def pump(self, a, b, keep):
        try:
            while True:
                data = a.recv(65536)
                if not data:
                    break
                if keep and len(self.said) < self.limit:
                    self.said += data
                b.sendall(data)
        except OSError:
            pass
        for s in (a, b):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def run(self):
        client, _ = self.listener.accept()
        with socket.create_connection(("127.0.0.1", self.server)) as server:
            back = threading.Thread(target=self.pump, args=(server, client, False), daemon=True)
            back.start()
            self.pump(client, server, True)
            back.join(2)


def main():
    port, path, *argv = sys.argv[1:]
    relay = Relay(int(port))
    url = f"rtmp://127.0.0.1:{relay.port}/live/s"
    p = subprocess.Popen([a.replace("{url}", url) for a in argv], stdin=subprocess.DEVNULL)
    try:
        p.wait(float(os.environ.get("RECORD_SECONDS", "5")))
    except subprocess.TimeoutExpired:
        p.terminate()
        p.wait()
    relay.thread.join(3)
    with open(path, "wb") as f:
        f.write(relay.said)
    print(f"{path}: {len(relay.said)} bytes")


if __name__ == "__main__":
    main()
