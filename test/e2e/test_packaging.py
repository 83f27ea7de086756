# SPDX-License-Identifier: MIT
"""make install, make deb, and the package in a small Debian with systemd; the steps of the Dockerfile in folders."""
import fcntl
import gzip
import hashlib
import os
import re
import shutil
import signal
import subprocess

import pytest

import dockerfile
import machine
import procs
from procs import ROOT, SLOW, wait_for

OBJS = os.path.dirname(procs.BINARY)


def out(*argv, **how):
    r = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120 * SLOW, **how)
    text = r.stdout.decode(errors="replace")
    assert r.returncode == 0, text[-3000:]
    return text


@pytest.fixture(scope="module")
def deb(tmp_path_factory):
    """Built once: test processes that run in parallel share it."""
    if not procs.have("dpkg-deb", "objdump", "strip"):
        pytest.skip("no Debian")
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    with open(tmp_path_factory.getbasetemp().parent / f"deb-{run}", "a+") as made:
        fcntl.flock(made, fcntl.LOCK_EX)
        made.seek(0)
        path = made.read()
        if not path:
            path = out(os.path.join(ROOT, "scripts", "make-deb.sh"), OBJS,
                       env={**os.environ, "DPKG_DEB_COMPRESSOR_LEVEL": "0"}).split()[-1]
            made.write(path)
    return path


def sanitized():
    with open(os.path.join(OBJS, "config.h")) as f:
        return "BUILD_SANITIZER 1" in f.read()


def brings(doc, rtmfp):
    """Checks that all pages with their images are there, and an RTMFP client that runs without the source tree."""
    for name in os.listdir(os.path.join(ROOT, "doc")):
        assert name == "source.flv" or (doc / name).is_file(), name
    pytest.importorskip("cryptography")
    assert "publish" in out("python3", "-B", str(rtmfp), "--help", cwd="/")


def make(folder, target):
    env = {k: v for k, v in os.environ.items() if k != "MAKEFLAGS"}
    return out("make", "-s", "-C", ROOT, f"OBJS={os.path.relpath(OBJS, ROOT)}", f"DESTDIR={folder}", target, env=env)


def copy(folder, *remove):
    """Runs make install and make uninstall with programs of a byte."""
    built = folder / "built"
    (built / "console").mkdir(parents=True, exist_ok=True)
    for name in ("srs", "console/index.html", *(t for t in os.listdir(OBJS) if t.startswith("sb_"))):
        (built / name).write_text("x")
    return out(os.path.join(ROOT, "scripts", "install.sh"), *(remove or [str(built)]), os.path.join(folder, "usr/local/srs"))


def test_install(tmp_path):
    home = tmp_path / "usr" / "local" / "srs"
    assert "kept" not in make(tmp_path, "install")
    r = subprocess.run(["./objs/srs", "-t", "-c", "conf/srs.conf"], cwd=home, capture_output=True)
    assert r.returncode == 0, r.stderr
    for path in ("objs/console/index.html", "conf/full.conf", "etc/systemd/srs.service", "etc/init.d/srs"):
        assert (home / path).is_file(), path
    unit = (home / "etc/systemd/srs.service").read_text()
    for path in re.findall(r"file://(\S+)", unit) + ["/usr/local/srs/doc/source.flv"]:
        assert (tmp_path / path[1:]).is_file(), path
    assert os.access(home / "etc/init.d/srs", os.X_OK)
    brings(home / "doc", home / "scripts/rtmfp.py")
    assert len(list((home / "objs").glob("sb_*"))) == 10
    assert not list(tmp_path.rglob("*.key")) and not list(tmp_path.rglob("*.crt"))
    (home / "conf/srs.conf").write_text("# mine")
    (home / "objs/mine.flv").write_text("x")
    assert "conf/srs.conf" in make(tmp_path, "uninstall")
    left = sorted(str(p.relative_to(home)) for p in home.rglob("*") if p.is_file())
    assert left == ["conf/srs.conf", "objs/mine.flv"]
    assert sorted(p.name for p in home.iterdir()) == ["conf", "objs"], "empty folders remain"


def test_install_keeps_configurations(tmp_path):
    """A changed one stays when another version is installed; the new version's is put next to it."""
    copy(tmp_path)
    home = tmp_path / "usr" / "local" / "srs"
    conf, full, new = home / "conf/srs.conf", home / "conf/full.conf", home / "conf/srs.conf.new"
    shipped, listed = conf.read_bytes(), (home / ".installed").read_text()

    def sum(data):
        return hashlib.sha256(data).hexdigest()
    conf.write_text("# mine")
    said = copy(tmp_path)
    assert conf.read_text() == "# mine" and f"kept because it was changed: {conf}\n" in said
    assert not new.exists(), "the same version installs something new"
    full.write_text("# of a version before")  # and the user did not change it
    before = listed.replace(sum(shipped), sum(b"# as it was")).replace(f"{sum(open(os.path.join(ROOT, 'conf/full.conf'), 'rb').read())}",
                                                                       sum(full.read_bytes()))
    (home / ".installed").write_text(before)
    said = copy(tmp_path)
    assert conf.read_text() == "# mine" and new.read_bytes() == shipped and str(new) in said and "full" not in said
    assert full.read_bytes() == open(os.path.join(ROOT, "conf/full.conf"), "rb").read()
    copy(tmp_path, "--remove")
    assert [str(p.relative_to(home)) for p in home.rglob("*") if p.is_file()] == ["conf/srs.conf"]
    (home / "conf/rtc.conf").write_text("# of nobody's")
    copy(tmp_path)
    assert conf.read_text() == "# mine" and new.is_file() and (home / "conf/rtc.conf").read_text() == "# of nobody's"


def test_install_replaces_a_running_program(tmp_path):
    copy(tmp_path)
    srs = tmp_path / "usr/local/srs/objs/srs"
    shutil.copy(shutil.which("sleep"), srs)
    running = subprocess.Popen([srs, "60"])
    copy(tmp_path)
    running.kill()
    running.wait()
    assert srs.read_text() == "x"


def test_package_holds_what_its_files_name(deb, tmp_path):
    out("dpkg-deb", "-x", deb, str(tmp_path))
    unit = (tmp_path / "usr/lib/systemd/system/srs.service").read_text()
    for path in re.findall(r"(?:^Exec\w+=|-c )(/\S+)", unit, re.M):
        assert path == "/bin/kill" or (tmp_path / path[1:]).exists(), path
    assert "User=srs" in unit and "SRS_DAEMON=off" in unit and "/usr/local" not in unit
    r = subprocess.run([tmp_path / "usr/lib/srs/srs", "-t", "-c", tmp_path / "etc/srs/srs.conf"], capture_output=True)
    assert r.returncode == 0, r.stderr
    assert os.readlink(tmp_path / "usr/bin/srs") == "../lib/srs/srs"
    assert (tmp_path / "usr/lib/srs/console/console.js").exists()
    for path in out("dpkg-deb", "-I", deb, "conffiles").split():
        assert (tmp_path / path[1:]).exists()
    owners = {line.split()[1] for line in out("dpkg-deb", "-c", deb).splitlines()}
    assert owners == {"root/root"}


def test_package_brings_what_people_read(deb, tmp_path):
    """Manual pages with all options of all programs, and all directives; other expected files of a package."""
    out("dpkg-deb", "-x", deb, str(tmp_path))
    page = lambda name: gzip.open(tmp_path / "usr/share/man" / f"man{name[-1]}" / (name + ".gz"), "rt").read()
    tools = [t.name for t in sorted((tmp_path / "usr/bin").iterdir())]
    assert len(tools) == 11 and "srs" in tools
    for tool in tools:
        text = page(tool + (".8" if tool == "srs" else ".1")).replace("\\-", "-")
        told = out(str(tmp_path / "usr/lib/srs/srs" if tool == "srs" else tmp_path / "usr/bin" / tool), "-h")
        rows = re.findall(r"^ +(-.*?)   +(\S.*)$", told, re.M)
        assert len(rows) >= 7 and f'.TH {tool.upper()} ' in text and f"\n{tool} \\- " in text.replace(" - ", " \\- ")
        for option, what in rows:
            assert f'.B "{option}"\n{what}\n' in text, option
    with open(os.path.join(ROOT, "conf", "full.conf")) as f:
        rows = [line.strip() for line in f if line.strip()]
    text = page("srs.conf.5").replace("\\-", "-").replace("\\e", "\\")
    assert len(rows) > 500 and not [r for r in rows if r not in text]
    log = gzip.open(tmp_path / "usr/share/doc/srs/changelog.gz", "rt").read()
    assert log.startswith(f"srs ({out('dpkg-deb', '-f', deb, 'Version').strip()}) ")
    doc = tmp_path / "usr/share/doc/srs"
    assert (doc / "examples/source.flv").read_bytes() == open(os.path.join(ROOT, "doc/source.flv"), "rb").read()
    for name in ("srs.json", "srs.yml", "full.conf"):
        assert (doc / "examples" / name).is_file(), name
    brings(doc, doc / "examples/rtmfp.py")
    for path in doc.glob("*.md"):
        for target in re.findall(r"\]\((?!\w+:|#)([^)#\s]+)", path.read_text()):
            assert target.startswith(("../", "src/", "test/", "scripts/", "LICENSE")) or (doc / target).exists(), (path.name, target)
    for word in "RTMFP", "RTSP", "SRT", "WHIP", "WHEP", "HLS", "DASH", "fragmented MP4":
        assert word in page("srs.8").replace("\n", " "), word


def test_package_has_no_key_and_purge_leaves_recordings(deb, tmp_path):
    out("dpkg-deb", "-R", deb, str(tmp_path / "root"))
    assert not [p for p in (tmp_path / "root").rglob("*") if p.suffix in (".key", ".crt", ".pem")]
    script = (tmp_path / "root/DEBIAN/postrm").read_text()
    for folder in "lib", "log":
        (tmp_path / folder / "srs/html/live").mkdir(parents=True)
        script = script.replace(f"/var/{folder}/srs", str(tmp_path / folder / "srs"))
    assert "/var/lib" not in script and "/var/log" not in script
    script = script.replace("deb-systemd-helper", "none-such").replace("deluser", "echo deluser")
    keep = tmp_path / "lib/srs/html/live/a.flv"
    for name in ("lib/srs/srs.pid", "lib/srs/srs.id", "log/srs/srs.log", "lib/srs/html/live/a.flv"):
        (tmp_path / name).write_text("x")
    (tmp_path / "lib/srs/html/empty").mkdir()
    told = out("sh", "-c", script, "postrm", "purge")
    assert [p for p in (tmp_path / "lib").rglob("*") if p.is_file()] == [keep] and not (tmp_path / "log/srs").exists()
    assert "holds media" in told and "deluser" not in told, "the user that owns them is removed"
    keep.unlink()
    assert "holds media" not in out("sh", "-c", script, "postrm", "purge") and not (tmp_path / "lib/srs").exists()


def ports_of(conf):
    """The ports of the configuration, in the form of EXPOSE and compose."""
    with open(os.path.join(ROOT, "conf", conf)) as f:
        text = re.sub(r"#.*", "", f.read())
    found = {re.search(r"^listen\s+(\d+);", text, re.M)[1] + "/tcp"}
    for block, port in re.findall(r"^(\w+) \{[^}]*?\blisten\s+(\d+);", text, re.M):
        found.add(f"{port}/{'udp' if block in ('srt_server', 'rtc_server', 'rtmfp_server') else 'tcp'}")
    return found


def test_ports_of_containers():
    """The ports of the image's configuration are exposed, published and documented."""
    listens = ports_of("docker.conf")
    assert len(listens) >= 7
    with open(os.path.join(ROOT, "Dockerfile")) as f:
        exposed = re.search(r"^EXPOSE (.*)", f.read(), re.M)[1].split()
    assert listens <= {p if "/" in p else p + "/tcp" for p in exposed}
    yaml = pytest.importorskip("yaml")
    with open(os.path.join(ROOT, "docker-compose.yml")) as f:
        service, = yaml.safe_load(f)["services"].values()
    published = [p.split(":")[1] for p in service["ports"]]
    assert listens <= {p if "/" in p else p + "/tcp" for p in published}
    for volume in service["volumes"]:
        source, target = volume.split(":")[:2]
        assert target.startswith("/usr/local/srs/") and target != "/usr/local/srs/objs", "the program is not in it"
        assert not source.startswith(".") or os.path.exists(os.path.join(ROOT, source))


@pytest.mark.needs("bash")
def test_completion(deb, tmp_path):
    out("dpkg-deb", "-x", deb, str(tmp_path))
    (tmp_path / "a.conf").write_text("")
    (tmp_path / "b.flv").write_text("")
    ask = lambda *words: out("bash", "-c", 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _srs "$1"; '
                             'printf "%s\\n" "${COMPREPLY[@]}"',
                             str(tmp_path / "usr/share/bash-completion/completions/srs"), *words, cwd=tmp_path,
                             env={**os.environ, "PATH": f"{tmp_path}/usr/bin:{os.environ['PATH']}"}).split()
    assert ask("srs", "-") == ["-c", "-t", "-e", "--doctor", "-v", "-V", "--version", "-g", "-G", "-h", "-?", "--help"]
    assert ask("srs", "--d") == ["--doctor"]
    assert "a.conf" in ask("srs", "-t", "-c", "") and "b.flv" not in ask("srs", "-c", "")
    assert ask("sb_hls_load", "--hol") == ["--hold-back"]
    assert "b.flv" in ask("sb_rtmp_publish", "-i", "") and "-c" in ask("sb_rtmp_publish", "-i", "b.flv", "-")
    assert "--clients" in ask("sb_http_load", "-c", "5", "--c")


@pytest.mark.long
@pytest.mark.needs("lintian")
def test_lintian_finds_no_error(deb):
    if sanitized():
        pytest.skip("a package of a release build")
    assert not re.findall(r"^[EW]: .*", out("lintian", "--allow-root", "--fail-on", "none", deb), re.M)


@pytest.mark.needs("bash")
def test_healthcheck(srs):
    port = procs.free_port()
    s = srs(glob=f"http_api {{ enabled on; listen 127.0.0.1:{port}; }}")
    script = os.path.join(ROOT, "etc", "healthcheck.sh")
    assert wait_for(lambda: subprocess.run([script, str(port)]).returncode == 0)
    check = lambda listen: subprocess.run([script], env={**os.environ, "SRS_HTTP_API_LISTEN": listen}).returncode
    assert check(f"0.0.0.0:{port}") == 0, "the API's address is not passed to this one as to the server"
    s.stop()
    assert check(str(port)) == 1


def test_package_scripts_are_plain_shell():
    for name in ("postinst", "prerm", "postrm"):
        out("sh", "-n", os.path.join(ROOT, "packaging", "deb", name))


def test_dockerfile_brings_the_libraries(deb):
    """The image has the package's dependencies. Debian 13 added t64 to some names of Debian 12."""
    with open(os.path.join(ROOT, "Dockerfile")) as f:
        text = f.read()
    if not sanitized():
        depends = {d.split()[0] for d in out("dpkg-deb", "-f", deb, "Depends").split(", ")}
        for package in depends - {"libc6", "adduser", "init-system-helpers"}:
            assert re.search(rf"\b{re.escape(package.removesuffix('t64'))}(t64)?\b", text), package
    for path in re.findall(r"^COPY (?!--from)(?:\. )?(\S+) ", text, re.M):
        assert os.path.exists(os.path.join(ROOT, path)), path
    conf = re.search(r'"-c", "(\S+)"', text).group(1)
    assert os.path.exists(os.path.join(ROOT, conf))


def serves(p, inner, health):
    ask = lambda path: subprocess.run(["nsenter", "-t", str(inner), "-n", "curl", "-sS", "-m", "20", f"http://127.0.0.1:{path}"],
                                      capture_output=True, text=True, timeout=60).stdout
    assert wait_for(lambda: '"code":0' in ask("1985/api/v1/versions"), 60), p.text()[-3000:]
    assert "<title>Sluice console" in ask("1985/console/")
    assert not procs.have("npm") or "mpegts" in ask("1985/console/player/mpegts.js")[:5000]
    with open(f"/proc/{inner}/status") as f:
        assert re.search(r"^Uid:\s+990\s", f.read(), re.M)
    assert "listening on 1935" in p.text() and "WARN" not in p.text()
    assert health, "the image has no health check"
    subprocess.run(["nsenter", "-t", str(inner), "-m", "-p", "-n", "--root", "--wd", *health], check=True, timeout=60)


@pytest.mark.long
@pytest.mark.skipif(not machine.there(), reason="needs root and debootstrap")
@pytest.mark.needs("curl")
def test_steps_of_the_dockerfile(tmp_path):
    """Its commands in folders instead of images: the result serves, as the user that it names."""
    with open(os.path.join(ROOT, "Dockerfile")) as f:
        text = f.read()
    player = tmp_path / "player"  # built by this machine's node, if it has one
    player.mkdir()
    if procs.have("npm"):
        out(os.path.join(ROOT, "3rdparty", "install-player.sh"), str(player))
    image = dockerfile.build(text, tmp_path, skip={"player": str(player)})
    p = procs.Proc(image.argv(image.cmd, net=True), tmp_path / "image.log")
    inner = lambda: open(f"/proc/{p.pid}/task/{p.pid}/children").read().split()
    assert wait_for(inner, 20)
    pid = int(inner()[0])
    try:
        serves(p, pid, image.health)
    finally:
        if os.path.exists(f"/proc/{pid}"):  # a process that changed its user does not end with its parent
            os.kill(pid, signal.SIGKILL)


@pytest.mark.long
@pytest.mark.skipif(not machine.there() or sanitized(), reason="needs root, debootstrap, and a release build")
@pytest.mark.needs("ffmpeg", "ffprobe")
def test_a_machine_with_the_package(deb, tmp_path):
    """Installed it runs under systemd as its own user; it reloads, restarts, is upgraded, its log rotates; removed it leaves its
    files, purged only media."""
    m = machine.Machine(tmp_path)
    try:
        m.put(deb, "/root/srs.deb")
        install = "DEBIAN_FRONTEND=noninteractive dpkg -i /root/srs.deb"
        active = lambda: m.run("systemctl is-active srs", check=False).strip() == "active"
        pid = lambda: m.run("systemctl show -p MainPID --value srs").strip()
        log = lambda: m.run("cat /var/log/srs/srs.log", check=False)
        m.run(install)
        assert wait_for(lambda: "listening on 1935" in log(), 20), m.run("systemctl status srs", check=False)
        assert active() and m.run("systemctl is-enabled srs").strip() == "enabled"
        assert m.run(f"ps -o user= -p {pid()}").strip() == "srs"
        assert m.run("stat -c '%a %U %G' /etc/srs/srs.conf").strip() == "640 root srs"
        assert m.run("stat -c '%a %U' /var/log/srs/srs.log").strip() == "640 srs"
        assert '"code":0' in m.run("curl -sS http://127.0.0.1:1985/api/v1/versions")
        assert "<title>Sluice console" in m.run("curl -sS http://127.0.0.1:1985/console/")

        p = m.outside(["ffmpeg", "-v", "error", "-re", "-i", procs.SOURCE, "-c", "copy", "-f", "flv",
                       "rtmp://127.0.0.1/live/livestream"], tmp_path / "ffmpeg.log")
        assert wait_for(lambda: '"livestream"' in m.run("curl -sS http://127.0.0.1:1985/api/v1/streams"), 20)
        probe = m.outside(["ffprobe", "-v", "error", "-show_streams", "http://127.0.0.1:8080/live/livestream.flv"],
                          tmp_path / "probe.log")
        assert probe.wait(20) == 0 and "codec_name=h264" in probe.text()
        p.end()

        m.run("sed -i 's/^max_connections .*/max_connections 5000;/' /etc/srs/srs.conf; systemctl reload srs")
        assert wait_for(lambda: 'max_connections: "10000" to "5000": applied' in log(), 20)
        old = pid()
        starts = log().count("listening on 1935")
        m.run(f"kill -9 {old}")
        assert wait_for(lambda: active() and pid() not in ("0", old), 20)
        # "active" only means that it was started: its pid file may still be the old one's
        assert wait_for(lambda: log().count("listening on 1935") > starts, 20), log()[-2000:]
        m.run("logrotate -f /etc/logrotate.d/srs")
        assert wait_for(lambda: "the log was reopened" in log(), 20), m.run("ls -l /var/log/srs; cat /var/log/srs/*", check=False)
        assert "listening on 1935" not in log(), "the earlier lines are not in the other file"

        old = pid()
        m.run(install)
        assert wait_for(lambda: active() and pid() not in ("0", old), 20)
        assert "max_connections 5000" in m.run("cat /etc/srs/srs.conf"), "a changed configuration is overwritten"
        m.run("dpkg -r srs")
        assert not active() and not m.run("pgrep srs", check=False)
        assert m.run("ls /etc/srs/srs.conf /var/lib/srs/srs.id"), "files of the operator are removed"
        m.run(install)
        assert wait_for(active, 20)
        m.run("rm -rf /var/lib/srs/html; dpkg -P srs")  # media would stay
        left = m.run("find / -xdev -name '*srs*' -not -path '/proc/*' -not -path '/root/*'; getent passwd srs", check=False)
        assert not [x for x in left.split() if not x.endswith("adsrs")], left
        assert m.run("systemctl is-system-running").strip() == "running"
    finally:
        m.close()
