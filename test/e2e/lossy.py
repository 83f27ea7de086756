# SPDX-License-Identifier: MIT
"""Two network namespaces and a wire between them that loses some UDP packets and delays others, so that they arrive out of order.
The wire is this program: each side is a TUN device, so no kernel module is needed."""
import contextlib
import ctypes
import fcntl
import heapq
import os
import random
import select
import struct
import subprocess
import sys
import time

import procs

A, B = "10.231.0.1", "10.231.0.2"  # addresses of the two sides
UDP = 17


def there():
    """Whether this machine allows such namespaces."""
    if os.geteuid() != 0 or not os.path.exists("/dev/net/tun") or not procs.have("ip"):
        return False
    name = f"probe{os.getpid()}"
    ok = subprocess.run(["ip", "netns", "add", name], capture_output=True).returncode == 0
    ok = ok and subprocess.run(["ip", "netns", "exec", name, "ip", "tuntap", "add", "dev", "w0", "mode", "tun"],
                               capture_output=True).returncode == 0
    subprocess.run(["ip", "netns", "del", name], capture_output=True)
    return ok


@contextlib.contextmanager
def wire(tmp, loss=0.02, held=0.02, hold=0.03):
    """Returns the commands that run a program on each side. `lose` and `late` are shares of datagrams; late ones are delayed by
    `hold` seconds."""
    names = [f"e2e{os.getpid()}{s}" for s in "ab"]
    try:
        for name, own, other in ((names[0], A, B), (names[1], B, A)):
            subprocess.run(["ip", "netns", "add", name], check=True)
            inside = ["ip", "netns", "exec", name]
            for line in ("tuntap add dev w0 mode tun", f"addr add {own} peer {other} dev w0", "link set lo up",
                         "link set w0 up"):
                subprocess.run([*inside, "ip", *line.split()], check=True)
        p = procs.Proc([sys.executable, __file__, *names, str(loss), str(held), str(hold)],
                       os.path.join(tmp, "wire.out"))
        assert procs.wait_for(lambda: "ready" in p.text(), 10), p.text()
        yield tuple(["ip", "netns", "exec", n] for n in names)
        p.end()
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


def open_tun(name):
    tunsetiff, tun, no_pi = 0x400454CA, 1, 0x1000
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/run/netns/{name}") as ns:
        assert libc.setns(ns.fileno(), 0) == 0, os.strerror(ctypes.get_errno())
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, tunsetiff, struct.pack("16sH22x", b"w0", tun | no_pi))
    return fd


def carry(fds, loss, held, hold):
    """Forwards datagrams; drops some, and delays some in `late`."""
    late, count, rng = [], 0, random.Random(1)
    while True:
        timeout = max(0.0, late[0][0] - time.monotonic()) if late else None
        for fd in select.select(fds, [], [], timeout)[0]:
            to = fds[1 - fds.index(fd)]
            with contextlib.suppress(BlockingIOError):
                while True:
                    packet = os.read(fd, 70000)
                    if packet[0] >> 4 == 4 and packet[9] == UDP:
                        if rng.random() < loss:
                            continue
                        if rng.random() < held:
                            count += 1
                            heapq.heappush(late, (time.monotonic() + hold, count, to, packet))
                            continue
                    send(to, packet)
        while late and late[0][0] <= time.monotonic():
            send(*heapq.heappop(late)[2:])


def send(fd, packet):
    with contextlib.suppress(OSError):  # its queue is full, which is allowed
        os.write(fd, packet)


if __name__ == "__main__":
    both = [open_tun(n) for n in sys.argv[1:3]]
    print("ready", flush=True)
    carry(both, *map(float, sys.argv[3:6]))
