# SPDX-License-Identifier: MIT
"""Bare machines: folders made by debootstrap with only the essential packages of a distribution.

They are built once and kept below objs/; a test works in an overlay that is discarded afterwards. Packages come from this machine's
mirror. E2E_MIRROR_DEBIAN or E2E_MIRROR_UBUNTU names the mirror of a distribution that is not this machine's.

"""
import os
import shutil
import subprocess

import pytest

import dockerfile
import machine
import procs
from procs import SLOW

ID = {"bookworm": "debian", "trixie": "debian", "noble": "ubuntu"}


def this_machine():
    with open("/etc/os-release") as f:
        return dict(line.strip().split("=", 1) for line in f if "=" in line).get("ID")


def mirror(suite):
    """Returns [address] of the package mirror, or [] if debootstrap knows it. Skips the test if the distribution has none."""
    kind = ID[suite]
    address = os.environ.get("E2E_MIRROR_" + kind.upper())
    if address:
        return [address]
    if kind != this_machine():
        pytest.skip(f"{suite} wants E2E_MIRROR_{kind.upper()}=address: this machine has no packages of {kind}")
    return machine.mirror()


def script(suite):
    """Name of the debootstrap script: older versions do not know newer Ubuntu releases."""
    known = os.path.join("/usr/share/debootstrap/scripts", suite)
    return [] if os.path.exists(known) else [os.path.join("/usr/share/debootstrap/scripts",
                                                          {"ubuntu": "gutsy", "debian": "sid"}[ID[suite]])]


def prepare(suite):
    """Returns the folder of this distribution and builds it if needed. Skips the test if that is impossible."""
    if not machine.there():
        pytest.skip("needs root and debootstrap")
    where = mirror(suite)
    folder = os.path.join(procs.ROOT, "objs", "bare", suite)
    if os.path.exists(folder + ".done"):
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    r = subprocess.run(["nice", "debootstrap", "--variant=minbase", suite, folder, *where, *(script(suite) if where else [])],
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900 * SLOW)
    if "ailed getting release file" in r.stdout or "ould not resolve" in r.stdout:
        pytest.skip(f"{suite} cannot be had here: {r.stdout.strip().splitlines()[-1]}")
    assert r.returncode == 0, r.stdout[-2000:]
    open(folder + ".done", "w").close()
    return folder


class Bare(dockerfile.Stage):
    """A bare machine with the project's files in /src, owned by a user "newcomer" (1000)."""

    def __init__(self, suite, folder):
        base = prepare(suite)
        super().__init__(str(folder), base)
        # this machine's apt configuration, with the packages of the other distribution
        dockerfile.reach_the_network(self, apt="/etc/apt/apt.conf.d")
        if ID[suite] == "ubuntu":  # as in the distribution's images
            self.run("sed -i 's/ main$/ main universe/' /etc/apt/sources.list")
        dockerfile.copy(self, ".", "/src", procs.ROOT, dockerfile.ours())
        self.run("getent passwd 1000 > /dev/null || useradd --uid 1000 --create-home newcomer; chown -R 1000:1000 /src")

    def sudo(self):
        """Allows user 1000 to run everything with sudo without a password."""
        self.run("apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends sudo\n"
                 "echo \"$(id -un 1000) ALL=(ALL) NOPASSWD: ALL\" > /etc/sudoers.d/newcomer; chmod 440 /etc/sudoers.d/newcomer")

    def no_sudo(self):
        self.run("rm /etc/sudoers.d/newcomer")

    def command(self, script, user=0, env=()):
        """Returns the command line, for this machine, of a shell script below /src in the bare machine."""
        who = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
        home = [f"HOME={'/home/newcomer' if user else '/root'}"]
        return self.argv(["env", *home, *(f"{k}={v}" for k, v in dict(env).items()), *who, "sh", "-ec",
                          "cd /src\n" + script])
