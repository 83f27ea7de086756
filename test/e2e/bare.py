# SPDX-License-Identifier: MIT
"""Bare machines: folders that debootstrap filled with what a distribution cannot be without, no more.

They are made once and kept below objs/; what a test does in one is a layer over it and gone with the
test. Packages come from where this machine gets its own. For a distribution that is not this
machine's, E2E_MIRROR_DEBIAN or E2E_MIRROR_UBUNTU says where its packages are.
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
    """[address] of the packages; [] where debootstrap knows it; a test that has none is skipped."""
    kind = ID[suite]
    address = os.environ.get("E2E_MIRROR_" + kind.upper())
    if address:
        return [address]
    if kind != this_machine():
        pytest.skip(f"{suite} wants E2E_MIRROR_{kind.upper()}=address: this machine has no packages of {kind}")
    return machine.mirror()


def script(suite):
    """debootstrap knows an Ubuntu that is younger than itself by an older one."""
    known = os.path.join("/usr/share/debootstrap/scripts", suite)
    return [] if os.path.exists(known) else [os.path.join("/usr/share/debootstrap/scripts",
                                                          {"ubuntu": "gutsy", "debian": "sid"}[ID[suite]])]


def prepare(suite):
    """The folder of this distribution, made if need be. Where that cannot be, the test is skipped."""
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
    """A bare machine with the project's files in /src and a user "newcomer" (1000) who owns them."""

    def __init__(self, suite, folder):
        base = prepare(suite)
        super().__init__(str(folder), base)
        # how this machine asks for packages, but those of the other distribution
        dockerfile.reach_the_network(self, apt="/etc/apt/apt.conf.d")
        if ID[suite] == "ubuntu":  # as its images have it
            self.run("sed -i 's/ main$/ main universe/' /etc/apt/sources.list")
        dockerfile.copy(self, ".", "/src", procs.ROOT, dockerfile.ours())
        self.run("getent passwd 1000 > /dev/null || useradd --uid 1000 --create-home newcomer; chown -R 1000:1000 /src")

    def sudo(self):
        """From now on user 1000 may do all, and is asked for no password."""
        self.run("apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends sudo\n"
                 "echo \"$(id -un 1000) ALL=(ALL) NOPASSWD: ALL\" > /etc/sudoers.d/newcomer; chmod 440 /etc/sudoers.d/newcomer")

    def no_sudo(self):
        self.run("rm /etc/sudoers.d/newcomer")

    def command(self, script, user=0, env=()):
        """The command line, for this machine, of a shell script below /src in there."""
        who = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
        home = [f"HOME={'/home/newcomer' if user else '/root'}"]
        return self.argv(["env", *home, *(f"{k}={v}" for k, v in dict(env).items()), *who, "sh", "-ec",
                          "cd /src\n" + script])
