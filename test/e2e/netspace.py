# SPDX-License-Identifier: MIT
"""Network namespaces: a thread inside one opens sockets and starts programs there."""
import contextlib
import ctypes
import os
import subprocess

import pytest

A, B, A2, B2 = "10.231.1.1", "10.231.1.2", "10.231.2.1", "10.231.2.2"


def enter(path):
    libc = ctypes.CDLL(None, use_errno=True)
    with open(path) as ns:
        assert libc.setns(ns.fileno(), 0) == 0, os.strerror(ctypes.get_errno())


def ip(name, *lines):
    for line in lines:
        subprocess.run(["ip", "-n", name, *line.split()], check=True)


@contextlib.contextmanager
def inside(path):
    """Moves this thread into a namespace for the duration of the block."""
    own = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    enter(path)
    try:
        yield
    finally:
        enter(f"/proc/self/fd/{own}")
        os.close(own)


@contextlib.contextmanager
def made(*names):
    """Makes a namespace; this thread is inside the first one during the block."""
    if os.geteuid() != 0 or subprocess.run(["ip", "netns", "add", names[0]], capture_output=True).returncode:
        pytest.skip("network namespaces need root")
    try:
        for name in names[1:]:
            subprocess.run(["ip", "netns", "add", name], check=True)
        for name in names:
            ip(name, "link set lo up")
        with inside(f"/run/netns/{names[0]}"):
            yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


@contextlib.contextmanager
def alone():
    """Makes a namespace with an interface of address A besides the loopback, and a default route through it."""
    with made(f"e2e{os.getpid()}") as (name,):
        ip(name, "link add w0 type veth peer name w1", f"addr add {A}/24 dev w0", "link set w0 up", "link set w1 up", "route add default dev w0")
        yield


@contextlib.contextmanager
def two():
    """Address A in this namespace, B in the other, connected by w0; and a second link w1, over which the other has B2 and
    reaches A when w0 is down. Returns the name of the other."""
    with made(f"e2e{os.getpid()}a", f"e2e{os.getpid()}b") as (here, there):
        for wire, a, b in (("w0", A, B), ("w1", A2, B2)):
            ip(here, f"link add {wire} type veth peer name {wire} netns {there}", f"addr add {a}/24 dev {wire}", f"link set {wire} up")
            ip(there, f"addr add {b}/24 dev {wire}", f"link set {wire} up")
        ip(there, f"route add {A}/32 via {A2} metric 100", f"route add {A}/32 dev w0 metric 10")
        yield there
