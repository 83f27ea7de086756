# SPDX-License-Identifier: MIT
"""The files of etc/: the init script with every verb, and the others as far as tests can check them."""
import os
import re
import shutil
import subprocess
import time

import pytest

import procs
from procs import BINARY, ROOT, SLOW, free_port, wait_for, wait_port

SCRIPT = os.path.join(ROOT, "etc", "init.d", "srs")


@pytest.fixture
def service(srs, tmp_path):
    """call(verb) runs the init script on an installation in tmp_path."""
    s = srs(begin=False, daemon=True,
            glob="grace_start_wait 100;\ngrace_final_wait 100;\ndisable_daemon_for_docker off;")
    home = tmp_path / "home"
    (home / "objs").mkdir(parents=True)
    os.symlink(BINARY, home / "objs" / "srs")
    defaults = tmp_path / "defaults"
    defaults.write_text(f"SRS_HOME={home}\nSRS_CONF={s.conf_path}\nSRS_PIDFILE={s.pid_path}\n"
                        f"SRS_NOFILE=$(ulimit -n)\nSRS_WAIT=5\n")

    def call(verb):
        env = {k: v for k, v in os.environ.items() if not k.startswith("SRS_")}
        r = subprocess.run(["sh", SCRIPT, verb], capture_output=True, text=True,
                           timeout=30 * SLOW, env=dict(env, SRS_DEFAULTS=str(defaults)))
        return r.returncode, r.stdout + r.stderr
    call.server = s
    yield call
    call("stop")
    assert not os.path.exists(s.pid_path) or not alive(s.pid_path)


def alive(path):
    try:
        return procs.alive(int(open(path).read()))
    except (OSError, ValueError):
        return False


def test_every_verb(service):
    s = service.server
    assert service("status")[0] == 3
    assert service("stop")[0] == 0, "stopping a stopped server is an error"
    assert service("reload")[0] != 0
    code, out = service("start")
    assert code == 0, out + s.log()
    assert wait_port(s.port)
    pid = open(s.pid_path).read().strip()
    assert service("status")[0] == 0 and pid in service("status")[1]
    code, out = service("start")
    assert code == 0 and "already" in out and open(s.pid_path).read().strip() == pid

    code, out = service("reload")
    assert code == 0, out
    assert s.wait_log(r"(?i)reload", 3)

    os.rename(s.log_path, s.log_path + ".1")
    assert service("rotate")[0] == 0
    assert wait_for(lambda: os.path.exists(s.log_path), 3)

    code, out = service("restart")
    assert code == 0, out
    assert open(s.pid_path).read().strip() != pid
    assert wait_port(s.port)

    c = s.client().connect()
    assert service("grace")[0] == 0
    time.sleep(0.6)
    assert alive(s.pid_path), "no client is connected"
    c.close()
    assert wait_for(lambda: not alive(s.pid_path), 6)
    assert service("status")[0] == 3
    assert service("nonsense")[0] == 2


def test_wrong_configuration_stops_nothing(service):
    s = service.server
    assert service("start")[0] == 0
    pid = open(s.pid_path).read()
    with open(s.conf_path) as f:
        good = f.read()
    s.write(conf="nonsense on;\n")
    for verb in ("restart", "reload"):
        code, out = service(verb)
        assert code != 0 and "nonsense" in out, out
        assert alive(s.pid_path) and open(s.pid_path).read() == pid
    with open(s.conf_path, "w") as f:
        f.write(good)
    assert service("stop")[0] == 0
    s.write(conf="nonsense on;\n")
    assert service("start")[0] != 0
    with open(s.conf_path, "w") as f:
        f.write(good)


def test_old_pid_file_of_another_process(service):
    s = service.server
    with open(s.pid_path, "w") as f:
        f.write(str(os.getpid()))
    assert service("status")[0] == 3
    assert service("stop")[0] == 0
    assert service("start")[0] == 0, s.log()


def test_the_first_page_of_srs(tmp_path):
    """./objs/srs -c conf/srs.conf runs in the background with its log in objs; the init script of a tree serves that tree."""
    tree = tmp_path / "tree"
    (tree / "objs").mkdir(parents=True)
    shutil.copytree(os.path.join(ROOT, "conf"), tree / "conf")
    shutil.copytree(os.path.join(ROOT, "etc"), tree / "etc")
    os.symlink(BINARY, tree / "objs" / "srs")
    env = {k: v for k, v in os.environ.items() if not k.startswith("SRS_")}
    env.update(SRS_DEFAULTS="/nonexistent", SRS_DISABLE_DAEMON_FOR_DOCKER="off")
    env.update({f"SRS_{name}LISTEN": str(free_port()) for name in
                ("", "HTTP_API_", "HTTP_SERVER_", "RTSP_SERVER_", "SRT_SERVER_", "RTC_SERVER_", "RTMFP_SERVER_")})
    port, log = int(env["SRS_LISTEN"]), tree / "objs" / "srs.log"

    def run(*argv):
        r = subprocess.run(argv, cwd=tree, env=env, capture_output=True, text=True, timeout=30 * SLOW)
        return r.returncode, r.stdout + r.stderr

    code, out = run("./objs/srs", "-c", "conf/srs.conf")
    try:
        assert code == 0 and wait_port(port), out
        pid = (tree / "objs" / "srs.pid").read_text().strip()
        code, out = run("./etc/init.d/srs", "status")
        assert code == 0 and pid in out, out
        assert "listening on" in log.read_text()
        assert run("./etc/init.d/srs", "reload")[0] == 0
        assert wait_for(lambda: "reload: done" in log.read_text())
        assert run("./etc/init.d/srs", "stop")[0] == 0 and run("./etc/init.d/srs", "status")[0] == 3
        assert run("./etc/init.d/srs", "start")[0] == 0 and wait_port(port)
    finally:
        run("./etc/init.d/srs", "stop")
    os.symlink(tree / "etc" / "init.d" / "srs", tmp_path / "linked")
    assert run(str(tmp_path / "linked"), "status")[0] == 3


def test_script_is_plain_shell():
    assert subprocess.run(["sh", "-n", SCRIPT]).returncode == 0


def test_sysctl_file_has_names_that_exist():
    with open(os.path.join(ROOT, "etc", "sysctl.d", "60-srs.conf")) as f:
        keys = re.findall(r"^([a-z0-9_.]+) = ", f.read(), re.M)
    assert len(keys) > 15
    known = [k for k in keys if os.path.exists("/proc/sys/" + k.replace(".", "/"))]
    assert len(known) >= len(keys) // 2, "no such settings: " + str(set(keys) - set(known))


def test_unit_is_in_the_foreground_and_reloads():
    with open(os.path.join(ROOT, "etc", "systemd", "srs.service")) as f:
        unit = f.read()
    for line in ("Type=simple", "Environment=SRS_DAEMON=off", "ExecReload=/bin/kill -HUP $MAINPID",
                 "User=srs", "LimitNOFILE="):
        assert line in unit


def test_unit_lets_it_write_what_it_writes():
    """The default folders of media, the pid file and the logs; and a program that may not run."""
    with open(os.path.join(ROOT, "etc", "systemd", "srs.service")) as f:
        unit = f.read()
    home = re.search(r"^WorkingDirectory=(.*)", unit, re.M)[1]
    may = [p.lstrip("-") for line in re.findall(r"^ReadWritePaths=(.*)", unit, re.M) for p in line.split()]
    may += ["/var/lib/" + n for n in re.findall(r"^StateDirectory=(.*)", unit, re.M)]
    may += ["/var/log/" + n for n in re.findall(r"^LogsDirectory=(.*)", unit, re.M)]
    inside = lambda path: any(os.path.normpath(os.path.join(home, path)).startswith(m + "/")
                              or os.path.normpath(os.path.join(home, path)) == m for m in may)
    with open(os.path.join(ROOT, "conf", "full.conf")) as f:
        conf = f.read()
    for name in "pid", "srs_log_file", "ff_log_dir", "hls_path", "hls_key_file_path", "dash_path", "dvr_path":
        told = re.search(rf"^Environment=SRS_{name.upper()}=(.*)", unit, re.M)
        path = told[1] if told else re.search(rf"^\s*{name}\s+(.*?);", conf, re.M)[1]
        assert inside(path), f"{name} {path} is not in {may}"
    for program in re.findall(r"^Exec\w+=(/usr/local\S+)", unit, re.M):
        assert not inside(program), program


@pytest.mark.needs("systemd-analyze")
def test_unit_lets_little_through():
    """By systemd's score: 10 is everything; it was 5 before the filter of system calls."""
    unit = os.path.join(ROOT, "etc", "systemd", "srs.service")
    r = subprocess.run(["systemd-analyze", "security", "--offline=true", unit], capture_output=True, text=True)
    if "unrecognized option" in r.stderr:
        pytest.skip("an older systemd")
    found = re.search(r"Overall exposure level for srs.service: ([\d.]+)", r.stdout)
    assert found and float(found.group(1)) <= 2.0, r.stdout + r.stderr


def sanitized():
    with open(BINARY, "rb") as f:
        return b"__asan_init" in f.read()


@pytest.mark.long
@pytest.mark.needs("systemd-analyze", "strace", "ffmpeg")
@pytest.mark.skipif(sanitized(), reason="a sanitizer has calls of its own")
def test_unit_lets_the_server_and_ffmpeg_work(srs, source):
    """Each system call is allowed by the filter, or its failure is harmless."""
    with open(os.path.join(ROOT, "etc", "systemd", "srs.service")) as f:
        filters = re.findall(r"^SystemCallFilter=(~?)(.*)", f.read(), re.M)
    allowed = set()
    for no, names in filters:
        for name in names.split():
            allowed = allowed - calls_of(name) if no else allowed | calls_of(name)
    s = srs("""http_remux { enabled on; } hls { enabled on; hls_fragment 1; } dvr { enabled on; dvr_path ./d/[stream].mp4; }
        exec { enabled on; publish ffmpeg -f flv -i [url] -c:v copy -c:a aac -y ./exec.flv; }""", begin=False)
    trace = os.path.join(s.tmp, "trace")
    s.wrap = ["strace", "-f", "-qq", "-D", "-o", trace]
    s.start()
    p = s.push(source, loop=True)
    assert wait_for(lambda: os.path.exists(os.path.join(s.tmp, "exec.flv")) and
                          os.path.getsize(os.path.join(s.tmp, "exec.flv")) > 100000, 20), s.log()[-2000:]
    p.stop()
    p.client.close()
    s.stop()
    with open(trace, errors="replace") as f:
        used = set(re.findall(r"^\d+ +([a-z]\w+)\(", f.read(), re.M))
    assert len(used) > 40, "nothing was traced"
    # memory policies of encoder libraries, priorities, the clock's state: all work without them
    assert used - allowed <= {"set_mempolicy", "setpriority", "sched_setaffinity", "sched_setscheduler",
                              "adjtimex", "clock_adjtime"}, used - allowed


def calls_of(name):
    if not name.startswith("@"):
        return {name}
    out = subprocess.run(["systemd-analyze", "syscall-filter", name], capture_output=True, text=True).stdout
    found = set()
    for line in out.splitlines()[1:]:
        if line.strip() and not line.strip().startswith("#"):
            found |= calls_of(line.strip())
    return found
