# SPDX-License-Identifier: MIT
"""Small disks for tests: one that fills up, one that hangs."""
import os
import subprocess

import pytest


def run(*argv):
    return subprocess.run(argv, capture_output=True, timeout=60).returncode == 0


class Full:
    """An in-memory file system of some kB that can be enlarged."""

    def __init__(self, tmp, kb):
        self.path = os.path.join(str(tmp), f"disk{kb}")
        os.mkdir(self.path)
        self.mounted = run("mount", "-t", "tmpfs", "-o", f"size={kb}k", "tmpfs", self.path)
        if not self.mounted:
            pytest.skip("no right to mount")

    def grow(self, mb=64):
        subprocess.run(["mount", "-o", f"remount,size={mb}m", self.path], check=True, timeout=20)

    def close(self):
        if self.mounted:
            run("umount", "-l", self.path)


class Hung:
    """A disk in a file; freeze(): writers block until thaw(), or for some seconds."""

    def __init__(self, tmp, mb=64):
        self.path, self.image = os.path.join(str(tmp), "slow"), os.path.join(str(tmp), "image")
        os.mkdir(self.path)
        with open(self.image, "wb") as f:
            f.truncate(mb << 20)
        self.mounted = run("mkfs.ext4", "-q", "-F", self.image) and \
            run("mount", "-o", "loop,noatime", self.image, self.path)
        self.guard = None
        if not self.mounted:
            pytest.skip("no right to mount")

    def freeze(self, seconds=40):
        # thaws automatically even if the test fails
        self.guard = subprocess.Popen(["sh", "-c", f"sleep {seconds}; fsfreeze -u {self.path}"],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                      start_new_session=True)
        if not run("fsfreeze", "-f", self.path):
            pytest.skip("it cannot be frozen")

    def thaw(self):
        subprocess.run(["fsfreeze", "-u", self.path], check=True, timeout=20)

    def close(self):
        if self.guard:
            run("fsfreeze", "-u", self.path)
            os.killpg(self.guard.pid, 9)
            self.guard.wait()
        if self.mounted:
            run("umount", self.path) or run("umount", "-l", self.path)
