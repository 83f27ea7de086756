# SPDX-License-Identifier: MIT
"""Missing software of a machine: the tarball of state-threads from mirrors of all kinds, and the packages, for root, for users with
sudo and without. Package managers here are small programs of the test."""
import hashlib
import os
import subprocess

import pytest

import procs
from procs import ROOT, SLOW

NAME = "st_1.9.orig.tar.gz"
TARBALL = os.path.join(ROOT, "objs", "st-source", NAME)


def mirror(folder, component="main", orig=True, dsc=False):
    """The sources of a Debian that has the source package st, in a folder; `orig` False: the tarball in its index is missing; bytes:
    the content of the tarball."""
    with open(TARBALL, "rb") as f:
        good = f.read()
    body = orig if isinstance(orig, bytes) else good
    pool = folder / "pool" / "st"
    index = folder / "dists" / "stable" / component / "source"
    pool.mkdir(parents=True)
    index.mkdir(parents=True)
    (folder / "dists" / "stable" / "main" / "source").mkdir(parents=True, exist_ok=True)
    (folder / "dists" / "stable" / "main" / "source" / "Sources").write_text("")
    if orig:
        (pool / NAME).write_bytes(body)
    if dsc:
        (pool / "st_1.9-3.dsc").write_bytes(b"x")
    (index / "Sources").write_text(f"""Package: st
Binary: libst-dev
Version: 1.9-3
Architecture: any
Directory: pool/st
Format: 3.0 (quilt)
Checksums-Sha256:
 {hashlib.sha256(b"x").hexdigest()} 1 st_1.9-3.dsc
 {hashlib.sha256(body).hexdigest()} {len(body)} {NAME}

""")
    sums = ""
    for path in sorted((folder / "dists" / "stable").rglob("Sources")):
        text = path.read_bytes()
        sums += f" {hashlib.sha256(text).hexdigest()} {len(text)} {path.relative_to(folder / 'dists' / 'stable')}\n"
    (folder / "dists" / "stable" / "Release").write_text(
        "Origin: Test\nSuite: stable\nCodename: stable\nArchitectures: amd64\n"
        f"Components: {' '.join(sorted({'main', component}))}\nSHA256:\n{sums}")
    return folder


def fetch(tmp_path, *lists):
    apt = tmp_path / "etc" / "apt" / "sources.list.d"
    apt.mkdir(parents=True)
    (tmp_path / "etc" / "os-release").write_text("VERSION_CODENAME=stable\n")
    for i, text in enumerate(lists):
        (apt / f"{i}.{'sources' if text.startswith('Types') else 'list'}").write_text(text + "\n")
    r = subprocess.run(["sh", os.path.join(ROOT, "3rdparty", "fetch-st.sh"), tmp_path / "to", tmp_path / "etc"],
                       capture_output=True, text=True, timeout=60 * SLOW)
    return r, tmp_path / "to" / NAME


def entry(where, components="main"):
    return f"deb [trusted=yes] file:{where} stable {components}"


OUR_SUM = pytest.mark.skipif(not os.path.exists(TARBALL), reason="state-threads came from elsewhere")
APT = pytest.mark.needs("apt-get")


@APT
@OUR_SUM
@pytest.mark.parametrize("kind", ["without .dsc", "universe", "deb822", "next", "another's bytes"])
def test_state_threads_from_a_mirror(tmp_path, kind):
    has = mirror(tmp_path / "has", "universe" if kind in ("universe", "deb822") else "main")
    lists = [entry(has)]
    if kind == "universe":
        lists = [entry(has, "main restricted universe multiverse")]
    elif kind == "deb822":
        lists = [f"Types: deb deb-src\nURIs: file:{has}\nSuites: stable stable-updates stable-backports\n"
                 "Components: main universe restricted\nTrusted: yes\n\n# another\n"
                 "Types: deb\nURIs: file:/nowhere\nSuites: stable-security\nComponents: main\nTrusted: yes"]
    elif kind == "next":
        lists = [entry("/nowhere"), entry(mirror(tmp_path / "not", orig=False))] + lists
    elif kind == "another's bytes":
        lists = [entry(mirror(tmp_path / "bad", orig=b"something else"))] + lists
    r, got = fetch(tmp_path, *lists)
    assert r.returncode == 0, r.stderr
    assert got.read_bytes() == open(TARBALL, "rb").read() and not got.is_symlink()
    assert sorted(os.listdir(got.parent)) == [NAME], "something else is left"


@APT
@OUR_SUM
def test_state_threads_from_nowhere(tmp_path):
    r, got = fetch(tmp_path, entry(mirror(tmp_path / "bad", orig=b"something else")), entry("/nowhere"))
    assert r.returncode == 1 and not got.exists()
    assert f"make ST_TARBALL=/path/to/{NAME}" in r.stderr


APT_GET = """#!/bin/sh
echo "apt-get $*" >> $LOG
case "$*" in
*update*) : > $LOG.updated ;;
*install*)
    [ -e $LOG.updated ] || exit 100
    for p; do case $p in unknown-*|%s) exit 100 ;; esac; done
    read -r answer && echo "it could be asked: $answer" >> $LOG
    : ;;
esac
"""
STUBS = {
    "dpkg-query": 'for p; do :; done; case " $THERE " in *" $p "* | *" all "*) echo installed ;; *) exit 1 ;; esac',
    "apt-cache": 'case "$2" in %s) echo "  Candidate: (none)" ;; *) echo "  Candidate: 1.0" ;; esac',
    "id": "echo $WHO",
    "sudo": 'echo "sudo $*" >> $LOG; [ -z "$REFUSES" ] || exit 1; [ "$1" != -n ] || shift; exec "$@"',
    "tee": "cat > /dev/null",
    "rm": ":",
    "chmod": ":",
}


def install(tmp_path, *sets, who=1000, sudo=True, refuses="", there="", unknown="none-such"):
    """Runs 3rdparty/install.sh with our replacements of all system programs that it calls."""
    path = tmp_path / "bin"
    path.mkdir()
    for name, text in {**STUBS, "apt-get": APT_GET}.items():
        if name == "sudo" and not sudo:
            continue
        script = text % unknown if "%s" in text else text
        (path / name).write_text(script if script.startswith("#!") else f"#!/bin/sh\n{script}\n")
        (path / name).chmod(0o755)
    for name in ("sh", "dirname", "env", "cat", "mktemp", "grep", "true"):
        os.symlink(f"/usr/bin/{name}" if os.path.exists(f"/usr/bin/{name}") else f"/bin/{name}", path / name)
    log = tmp_path / "log"
    log.write_text("")
    r = subprocess.run([path / "sh", os.path.join(ROOT, "3rdparty", "install.sh"), *sets],
                       stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30 * SLOW,
                       env={"PATH": str(path), "LOG": str(log), "WHO": str(who), "REFUSES": refuses, "THERE": there})
    return r, log.read_text()


def test_all_is_there(tmp_path):
    r, log = install(tmp_path, "build", "test", sudo=False, there="all")
    assert r.returncode == 0 and not log and not r.stdout + r.stderr


@pytest.mark.parametrize("sudo,refuses", [(False, ""), (True, "yes")])
def test_neither_root_nor_sudo(tmp_path, sudo, refuses):
    r, log = install(tmp_path, "build", sudo=sudo, refuses=refuses, there="tar gzip zlib1g-dev")
    assert r.returncode == 1 and "apt-get" not in log
    line = r.stderr.splitlines()[-1].strip()
    assert line.startswith("apt-get update && apt-get install -y --no-install-recommends ")
    names = line.split("recommends ")[1].split()
    assert {"make", "libssl-dev"} <= set(names) and not {"tar", "gzip", "zlib1g-dev"} & set(names)


@pytest.mark.parametrize("who", [0, 1000])
def test_what_is_missing_is_installed_without_a_question(tmp_path, who):
    r, log = install(tmp_path, "build", who=who, there="tar gzip")
    assert r.returncode == 0, r.stderr
    calls = [line for line in log.splitlines() if line.startswith("apt-get")]
    assert [next(w for w in ("update", "install") if w in c) for c in calls] == ["install", "update", "install"]
    for c in (calls[0], calls[2]):
        assert " -y " in c and "--no-install-recommends" in c and " make " in c and " tar " not in c
    assert ("sudo env DEBIAN_FRONTEND=noninteractive" in log) == (who != 0) and "asked" not in log


def test_what_the_distribution_does_not_have(tmp_path):
    """A missing player that only some tests need is skipped; a missing library is an error."""
    r, log = install(tmp_path, "build", "test", who=0, unknown="rtmpdump")
    assert r.returncode == 0, r.stderr
    assert "do not contain rtmpdump: parts that need it are skipped" in r.stdout
    assert " rtmpdump" not in log.splitlines()[-1] and " vlc-bin" in log.splitlines()[-1]
    os.rename(tmp_path / "bin", tmp_path / "bin.1")
    os.unlink(tmp_path / "log.updated")
    r, log = install(tmp_path, "build", "test", who=0, unknown="libhttp-parser-dev")
    assert r.returncode == 1 and "do not contain libhttp-parser-dev" in r.stderr
