# SPDX-License-Identifier: MIT
"""A small Debian with systemd as its first process, in namespaces of its own, for tests of the installed server.

The folder is built once by debootstrap (a minute) and kept below objs/; changes of a test are in memory and vanish with it.

"""
import os
import shutil
import signal
import subprocess

import procs
from procs import SLOW, wait_for

ROOT = os.path.join(procs.ROOT, "objs", "machine")
PACKAGES = "systemd,systemd-sysv,dbus,adduser,init-system-helpers,libssl3,libhttp-parser2.9,libjansson4," \
    "zlib1g,procps,logrotate,ca-certificates,curl"

BOOT = r"""
set -e
mount --make-rprivate /
mount -t tmpfs tmpfs "$1"
mkdir "$1/up" "$1/work" "$1/root"
mount -t overlay -o "lowerdir=$0,upperdir=$1/up,workdir=$1/work" overlay "$1/root"
R=$1/root
mount -t proc proc "$R/proc"
mount -t sysfs -o ro sysfs "$R/sys"
mount -t tmpfs tmpfs "$R/run"
mount -t tmpfs -o mode=755 tmpfs "$R/dev"
for n in null zero full random urandom tty; do
    touch "$R/dev/$n"
    mount --bind "/dev/$n" "$R/dev/$n"
done
mkdir -p "$R/dev/shm" "$R/dev/pts" "$R/dev/mqueue" "$R/old"
mount -t tmpfs tmpfs "$R/dev/shm"
mount -t devpts devpts "$R/dev/pts"
ln -s pts/ptmx "$R/dev/ptmx"
ln -s /proc/self/fd "$R/dev/fd"
mount -t tmpfs -o mode=755 tmpfs "$R/sys/fs/cgroup" 2> /dev/null || true
mount -t cgroup2 none "$R/sys/fs/cgroup"
hostname machine
ip link set lo up
cd "$R"
pivot_root . old
umount -l /old
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot . /lib/systemd/systemd --log-target=console
"""


def there():
    return os.geteuid() == 0 and procs.have("debootstrap", "unshare", "nsenter")


def mirror():
    """This machine's mirror; without one, debootstrap's default."""
    for folder, _, files in os.walk("/etc/apt"):
        for name in files:
            if name.endswith((".list", ".sources")):
                with open(os.path.join(folder, name)) as f:
                    words = [w for line in f if not line.startswith("#") for w in line.split()]
                for word in words:
                    if word.startswith("http") and "security" not in word:
                        return [word]
    return []


def prepare():
    done = os.path.join(ROOT, ".done")
    if not os.path.exists(done):
        shutil.rmtree(ROOT, ignore_errors=True)
        os.makedirs(ROOT)
        r = subprocess.run(["nice", "debootstrap", "--variant=minbase", "--include=" + PACKAGES, "bookworm", ROOT,
                            *mirror()], capture_output=True, timeout=900 * SLOW)
        assert r.returncode == 0, r.stdout.decode()[-2000:]
        open(done, "w").close()


class Machine:
    def __init__(self, tmp):
        prepare()
        place = os.path.join(str(tmp), "machine")
        os.makedirs(place)
        self.log = os.path.join(str(tmp), "machine.log")
        self.proc = procs.Proc(["unshare", "--mount", "--pid", "--uts", "--ipc", "--net", "--cgroup", "--fork",
                                "--kill-child", "sh", "-c", BOOT, ROOT, place], self.log)
        assert wait_for(self.is_up, 30, 0.3), self.proc.text()[-2000:]

    def first(self):
        with open(f"/proc/{self.proc.pid}/task/{self.proc.pid}/children") as f:
            return f.read().split()

    def is_up(self):
        return self.first() and self.run("systemctl is-system-running", check=False).strip() == "running"

    def run(self, script, check=True, timeout=60):
        """Returns the output of a shell script inside."""
        r = subprocess.run(["nsenter", "-t", self.first()[0], "-a", "-r", "-w", "sh", "-c", script],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           timeout=timeout * SLOW)
        out = r.stdout.decode(errors="replace")
        assert r.returncode == 0 or not check, f"{script}\n{out}"
        return out

    def put(self, path, name):
        with open(path, "rb") as f:
            subprocess.run(["nsenter", "-t", self.first()[0], "-a", "-r", "-w", "sh", "-c", f"cat > {name}"],
                           stdin=f, check=True, timeout=30)

    def outside(self, argv, log):
        """Starts a program of this machine in the network of the small Debian."""
        return procs.Proc(["nsenter", "-t", self.first()[0], "-n", *argv], log)

    def close(self):
        self.proc.end(signal.SIGKILL)  # this ends its first process and everything in it
