# SPDX-License-Identifier: MIT
"""A relay for datagrams between clients and a server. It loses some in runs, duplicates some, delays some, and adds latency,
reproducibly from a seed. It can be cut, and clients can get another address."""
import heapq
import random
import select
import socket
import threading
import time


class Relay(threading.Thread):
    """Clients send to .port. Shares are of 1; `late`: datagrams that arrive up to 15 ms after those behind them; one_way: seconds
    that each takes."""

    def __init__(self, to, loss=0.0, run=1, twice=0.0, late=0.0, one_way=0.0, seed=1):
        super().__init__(daemon=True)
        self.to, self.loss, self.run_of, self.twice = ("127.0.0.1", to), loss, run, twice
        self.late, self.one_way, self.rng = late, one_way, random.Random(seed)
        self.front = self.bound()
        self.port = self.front.getsockname()[1]
        self.ways = {}  # socket to the server: address of the client
        self.left = {}  # by direction: remaining losses of a run
        self.queue, self.count = [], 0
        self.is_cut, self.old, self.halt = False, [], False
        self.passed = self.lost = 0
        self.start()

    @staticmethod
    def bound(host="127.0.0.1"):
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 21)
        s.bind((host, 0))
        s.setblocking(False)
        return s

    def move(self, host="127.0.0.1"):
        """Like a NAT that forgot them: all clients get other ports from now on, and this address."""
        for s, client in list(self.ways.items()):
            self.old.append(s)
            del self.ways[s]
            self.ways[self.bound(host)] = client

    def is_lost(self, up):
        if self.left.get(up, 0) > 0:
            self.left[up] -= 1
            return True
        if self.loss and self.rng.random() < self.loss / self.run_of:
            self.left[up] = self.run_of - 1
            return True
        return False

    def carry(self, data, up, s, to):
        if self.is_cut or self.is_lost(up):
            self.lost += 1
            return
        self.passed += 1
        for _ in range(2 if self.rng.random() < self.twice else 1):
            at = time.monotonic() + self.one_way
            if self.rng.random() < self.late:
                at += self.rng.random() * 0.015
            self.count += 1
            heapq.heappush(self.queue, (at, self.count, data, s, to))

    def way_of(self, client):
        for s, c in list(self.ways.items()):
            if c == client:
                return s
        s = self.bound()
        self.ways[s] = client
        return s

    def take(self, s):
        try:
            while True:
                data, sender = s.recvfrom(2048)
                if s is self.front:
                    self.carry(data, True, self.way_of(sender), self.to)
                elif s in self.ways:
                    self.carry(data, False, self.front, self.ways[s])
        except OSError:
            pass  # no more data, or a closed port

    def run(self):
        while not self.halt:
            wait = max(0.0, self.queue[0][0] - time.monotonic()) if self.queue else 0.1
            for s in select.select([self.front, *list(self.ways)], [], [], min(wait, 0.1))[0]:
                self.take(s)
            while self.queue and self.queue[0][0] <= time.monotonic():
                _, _, data, s, to = heapq.heappop(self.queue)
                try:
                    s.sendto(data, to)
                except OSError:
                    pass
        for s in [self.front, *self.ways, *self.old]:
            s.close()

    def stop(self):
        self.halt = True
        self.join(5)
