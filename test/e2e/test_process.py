# SPDX-License-Identifier: MIT
"""The process as operators know it: command line, environment, signals, files, limits."""
import glob
import os
import resource
import signal
import subprocess
import time

import pytest

import flv
import procs
from flv import VIDEO
from flvgen import synthetic
from procs import BINARY, ROOT, SLOW, free_port, wait_for, wait_port
from rtmpclient import Closed, Rejected


def run(*args, env=None, cwd=None, **how):
    e = {k: v for k, v in os.environ.items() if not k.startswith("SRS_")}
    e.update(env or {})
    r = subprocess.run([BINARY, *args], capture_output=True, text=True, timeout=10 * SLOW, env=e,
                       cwd=cwd, stdin=subprocess.DEVNULL, **how)
    return r.returncode, r.stdout + r.stderr


@pytest.mark.parametrize("flag", ["-v", "-V", "--version"])
def test_version(flag):
    code, text = run(flag)
    assert code == 0 and text.strip()[0].isdigit() and "." in text


@pytest.mark.parametrize("flag", ["-g", "-G"])
def test_signature(flag):
    code, text = run(flag)
    assert code == 0 and text.strip()


@pytest.mark.parametrize("args", [["-h"], ["-?"], ["--help"], [], ["word"]])
def test_help(args):
    code, text = run(*args)
    assert code == 0
    for word in ("-c", "-t", "-v", "-e"):
        assert word in text


def test_t_with_a_good_file(tmp_path):
    conf = tmp_path / "x.conf"
    conf.write_text("listen 1935;\nvhost __defaultVhost__ {\n}\n")
    code, text = run("-t", "-c", str(conf), cwd=tmp_path)
    assert code == 0, text
    assert "syntax is ok" in text and "test is successful" in text
    assert run(f"-c{conf}", "-t", cwd=tmp_path)[0] == 0, "-cfile differs"
    assert not list(tmp_path.glob("objs/*")), "the test left something behind"


BAD = {
    "unknown directive": ("listen 1935;\nmax_conections 10;\n", ["max_conections", "max_connections", "2"]),
    "unknown in vhost": ("listen 1935;\nvhost a {\n  play {\n    gop_cach on;\n  }\n}\n",
                         ["gop_cach", "gop_cache", "4"]),
    "no end": ("listen 1935;\nvhost a {\n", ["vhost a", "end", "}"]),
    "no semicolon": ("listen 1935\nwhatever 10;\n", ["1"]),
    "of nginx": ("worker_processes 1;\nevents {\n}\nrtmp {\n server {\n listen 1935;\n }\n}\n", ["nginx", "srs.conf"]),
    "token": ("listen 1935;\nhttp_api {\n auth {\n enabled on;\n type bearer;\n }\n}\n", ["SRS_HTTP_API_AUTH_TOKEN"]),
    "bad number": ("listen 1935;\nmax_connections many;\n", ["max_connections"]),
    "bad endpoint": ("listen nonsense;\n", ["listen"]),
    "missing include": ("listen 1935;\ninclude /nowhere/at/all.conf;\n", ["/nowhere/at/all.conf"]),
    "empty": ("", []),
    "daemon as process": ("listen 1935;\ndaemon on;\nasprocess on;\n", ["asprocess", "daemon"]),
    "forward and idle": ("listen 1935;\nvhost a {\n forward {\n enabled on;\n destination 127.0.0.1;\n }\n"
                         " publish {\n kickoff_for_idle 5;\n }\n}\n", ["kickoff_for_idle", "forward"]),
    "full": ("is_full on;\nlisten 1935;\n", ["full"]),
}


@pytest.mark.parametrize("name", BAD)
def test_t_with_a_bad_file(tmp_path, name):
    """It reports the file, the line, and the closest valid name."""
    text, words = BAD[name]
    conf = tmp_path / "bad.conf"
    conf.write_text(text)
    code, out = run("-t", "-c", str(conf), cwd=tmp_path)
    assert code != 0, out
    if name != "empty":
        assert any(w in out for w in words), out
    if name.startswith("unknown"):
        assert all(w in out for w in words), out
        assert "bad.conf" in out
    assert "AddressSanitizer" not in out
    # and starting with it fails the same way
    code, out = run("-c", str(conf), cwd=tmp_path)
    assert code != 0


def test_t_warns_of_what_is_not_there(tmp_path):
    """Served folders, keys, and output folders of ffmpeg: reported with their directive, below work_dir."""
    (tmp_path / "work" / "here").mkdir(parents=True)
    conf = tmp_path / "x.conf"
    conf.write_text("""listen 1935; work_dir ./work;
        http_server { enabled on; dir ./gone; https { enabled on; listen 8088; key ./no.key; cert ./no.crt; } }
        http_api { https { enabled on; } }
        vhost __defaultVhost__ {
            http_static { enabled on; dir ./here; }
            transcode { enabled on; ffmpeg ffmpeg;
                engine a { enabled on; vcodec copy; acodec copy; output ./pictures/[app]/[stream].png; }
                engine b { enabled on; vcodec copy; acodec copy; output rtmp://127.0.0.1/x/[stream]; }
                engine c { enabled on; vcodec copy; acodec copy; output ./here/[stream].flv; } }
        }
        vhost made { hls { enabled on; hls_path ./made; } }
        vhost files { vod { enabled on; dir ./films; } }
        vhost seen { vod { enabled on; dir ./here; } }
        vhost off { vod { dir ./nowhere; } }""")
    code, text = run("-t", "-c", str(conf), cwd=tmp_path)
    assert code == 0, text
    got = sorted(line.split("warning: ")[1] for line in text.splitlines() if "not there" in line)
    assert got == ["cert of https: ./no.crt is not there", "dir of http_server: ./gone is not there",
                   "dir of vod of vhost files: ./films is not there", "key of https: ./no.key is not there",
                   "output of transcode: ./pictures/ is not there"], text
    assert "http_api.https is on and has no effect" in text


def test_edges_do_not_start(srs, source):
    """A vhost of mode remote is off until edges exist, with a log line; the others serve."""
    s = srs("vhost __defaultVhost__ { }\nvhost edge.of { cluster { mode remote; origin 127.0.0.1:19350; } }")
    code, text = run("-t", "-c", s.conf_path, cwd=s.tmp)
    assert code == 0 and 'vhost "edge.of" does not start: mode remote' in text
    assert s.wait_log(r'\[WARN\].*vhost "edge.of" does not start: mode remote, an edge, is not implemented yet')
    with pytest.raises((Closed, Rejected)):
        s.client().connect(tcurl=f"rtmp://edge.of:{s.port}/live").play("s")
    s.push(source, loop=True)
    assert s.watch().wait(lambda got: len(got) > 10, 5)


def test_daemon_in_a_container_says_that_it_stays(srs):
    s = srs(begin=False, daemon=True, glob="in_docker on;")
    s.daemon = False
    s.start()
    assert "staying in the foreground" in s.proc.text() and s.log_path in s.proc.text()


def test_missing_file(tmp_path):
    code, out = run("-c", str(tmp_path / "nothing.conf"))
    assert code != 0 and "nothing.conf (No such file or directory)" in out


@pytest.mark.parametrize("path", sorted(glob.glob(os.path.join(ROOT, "conf", "*.conf"))) or [None])
def test_example_configurations(path):
    if path is None or path.endswith(("full.conf", "include.vhost.conf")):
        pytest.skip("the full one is to read, not to run, the other is a part of include.conf")
    code, out = run("-t", "-c", path, cwd=ROOT)
    assert code == 0 and (".conf:" not in out or path.endswith("edge.conf")), out  # which warns: test_configurations


def test_directives_of_parts_to_come_are_accepted_with_a_warning(srs):
    s = srs("hds { enabled on; hds_fragment 5; }\n rtc { enabled on; }", begin=False)
    code, out = run("-t", "-c", s.conf_path, cwd=s.tmp)
    assert code == 0, out
    s.start()
    assert s.wait_log(r"\[WARN\].*hds", 2)
    s.publisher()


def test_old_spellings(srs, source):
    """A file from years ago still has its meaning."""
    s = srs(begin=False)
    s.write(conf=f"""listen {s.port};
chunk_size 5000;
daemon off; srs_log_tank file; srs_log_file {s.log_path}; pid {s.pid_path};
http_stream {{ enabled off; }}
vhost __defaultVhost__ {{
    gop_cache off; queue_length 10; mw_latency 100; time_jitter full;
    mr {{ enabled on; latency 100; }}
    publish_1stpkt_timeout 9000; publish_normal_timeout 8000;
    http {{ enabled off; }}
}}
""".replace("daemon off; srs_log_tank file;", "daemon off;\nsrs_log_tank file;\n"))
    s.start()
    w = s.watch()
    s.push(flv.cut(source, 800), speed=0)
    assert w.wait(lambda got: len(flv.frames(got)) > 30, 3)


def test_environment_only(srs, tmp_path):
    port = free_port()
    s = srs(begin=False, port=port, args=["-e"], tank="console",
            env={"SRS_LISTEN": f"127.0.0.1:{port}", "SRS_MAX_CONNECTIONS": "5",
                 "SRS_VHOST_CHUNK_SIZE": "3000", "SRS_PID": str(tmp_path / "e.pid"),
                 "SRS_VHOST_PLAY_GOP_CACHE": "off"})
    s.start()
    s.push(synthetic(2), loop=True)
    c = s.player()
    c.collect(2, count=10)
    import struct
    assert struct.pack(">I", 3000) in [m.data for m in c.seen if m.type == 1]
    assert s.proc.running(), "the default must not be a daemon"


def test_environment_over_file(srs):
    s = srs("chunk_size 4000;", env={"SRS_VHOST_CHUNK_SIZE": "2000"})
    c = s.client().connect()
    c.create_stream()
    import struct
    assert struct.pack(">I", 2000) in [m.data for m in c.seen if m.type == 1]


def test_several_listeners(srs, source):
    a, b = free_port(), free_port()
    s = srs(glob=f"listen 127.0.0.1:{a} 127.0.0.1:{b};", port=a)
    assert wait_port(b)
    w = s.watch()
    from rtmpclient import Client, Pusher
    p = Pusher(Client(b).publish("s"), flv.cut(source, 500), speed=0)
    p.start()
    assert w.wait(lambda got: len(flv.frames(got)) > 10, 3)


def test_listen_on_ipv6(srs):
    import socket
    from rtmpclient import Client
    with socket.socket(socket.AF_INET6) as probe:
        try:
            probe.bind(("::1", 0))
        except OSError:
            pytest.skip("no IPv6 here")
    s = srs(begin=False)
    port = free_port()
    s.write(glob=f"listen 127.0.0.1:{s.port} [::1]:{port};")
    s.start()
    k = socket.create_connection(("::1", port), 20)
    k.sendall(b"\x03" + bytes(1536))
    assert k.recv(1) == b"\x03"
    k.close()
    Client(s.port).connect().close()
    assert s.wait_log(r"::1", 2)


def test_rtmp_block(srs):
    s = srs(begin=False)
    s.write(conf=f"rtmp {{\n listen 127.0.0.1:{s.port};\n chunk_size 7000;\n}}\ndaemon off;\n"
            f"srs_log_tank file;\nsrs_log_file {s.log_path};\npid {s.pid_path};\n"
            "vhost __defaultVhost__ {\n}\n")
    s.start()
    s.publisher()


# -- signals

@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT], ids=["TERM", "INT"])
def test_fast_quit(srs, sig):
    """With a publisher, players and an incomplete handshake it exits in about a second."""
    s = srs()
    s.push(synthetic(2), loop=True)
    s.watch()
    s.watch("nobody")
    s.client()
    time.sleep(0.3)
    assert s.stop(sig) == 0
    assert s.stop_seconds < 5 * SLOW


def refuses(s):
    try:
        s.client().close()
        return False
    except OSError:
        return True


def test_graceful_quit(srs):
    """QUIT: no new connections; existing ones continue until they leave."""
    s = srs(glob="grace_start_wait 300;\ngrace_final_wait 200;")
    p = s.push(synthetic(10), loop=True)
    w = s.watch()
    assert w.wait(lambda got: len(flv.frames(got)) > 10, 3)
    s.proc.kill(signal.SIGQUIT)
    assert wait_for(lambda: refuses(s)), "new clients are accepted"
    n = len(flv.frames(w.tags))
    assert s.proc.running()
    assert w.wait(lambda got: len(flv.frames(got)) > n + 30), "the stream stopped"
    assert p.error is None
    p.stop()
    p.client.close()
    w.stop()
    w.client.close()
    assert s.proc.wait(8) == 0
    assert "[ERROR]" not in s.log()
    s.proc.end()
    s.proc = None


def test_graceful_quit_without_clients(srs):
    s = srs(glob="grace_start_wait 100;\ngrace_final_wait 100;")
    assert s.stop(signal.SIGQUIT) == 0
    assert s.stop_seconds < 10 * SLOW


def test_term_cuts_graceful_short(srs):
    s = srs(glob="grace_start_wait 100;\ngrace_final_wait 100;")
    s.push(synthetic(2), loop=True)
    time.sleep(0.3)
    s.proc.kill(signal.SIGQUIT)
    time.sleep(0.5)
    assert s.proc.running()
    s.proc.kill(signal.SIGTERM)
    assert s.proc.wait(5) == 0
    s.proc.end()
    s.proc = None


def test_force_grace_quit(srs):
    s = srs(glob="grace_start_wait 100;\ngrace_final_wait 100;\nforce_grace_quit on;")
    p = s.push(synthetic(5), loop=True)
    time.sleep(0.3)
    s.proc.kill(signal.SIGTERM)
    time.sleep(0.5)
    assert s.proc.running() and p.error is None
    p.stop()
    p.client.close()
    assert s.proc.wait(8) == 0
    s.proc.end()
    s.proc = None


def test_log_is_reopened(srs):
    """logrotate moves the file, USR1 makes a new one; no line is lost."""
    s = srs()
    s.client().connect().close()
    assert s.wait_log("RTMP|rtmp|connect", 2)
    os.rename(s.log_path, s.log_path + ".1")
    s.client().connect().close()
    time.sleep(0.2)
    s.proc.kill(signal.SIGUSR1)
    assert wait_for(lambda: os.path.exists(s.log_path), 3)
    s.client().connect().close()
    assert wait_for(lambda: "[" in s.log(), 3)
    with open(s.log_path + ".1") as f:
        assert len(f.read().splitlines()) >= 3


def test_hup_usr1_usr2_do_not_end_it(srs):
    s = srs()
    p = s.push(synthetic(2), loop=True)
    for _ in range(5):
        for sig in (signal.SIGHUP, signal.SIGUSR1, signal.SIGPIPE, signal.SIGCHLD, signal.SIGUSR1):
            s.proc.kill(sig)
            time.sleep(0.02)
    time.sleep(0.3)
    assert s.proc.running() and p.error is None


# -- files

def test_daemon_and_pid_file(srs, tmp_path):
    """It forks, the parent returns 0, the pid file has the pid; a second start fails; TERM cleans up so that a third start works."""
    s = srs(begin=False, daemon=True,
            glob="disable_daemon_for_docker off;\nin_docker off;")
    pid = None
    try:
        for turn in (1, 2):
            p = procs.Proc([BINARY, "-c", s.conf_path], s.out_path, cwd=s.tmp)
            assert p.wait(5) == 0, p.text() + s.log()
            assert wait_port(s.port), s.log()
            pid = int(open(s.pid_path).read())
            assert pid != p.pid and os.path.exists(f"/proc/{pid}")
            with open(f"/proc/{pid}/stat") as f:
                assert int(f.read().rpartition(")")[2].split()[1]) != os.getpid()
            s.client().connect().close()
            if turn == 1:
                code, out = run("-c", s.conf_path, cwd=s.tmp)
                assert code != 0, "a second start with the same pid file"
                assert os.path.exists(f"/proc/{pid}")
            os.kill(pid, signal.SIGTERM)
            assert wait_for(lambda: not procs.alive(pid), 5)
            pid = None
    finally:
        if pid and os.path.exists(f"/proc/{pid}"):
            os.kill(pid, signal.SIGKILL)


def test_second_start_in_the_foreground_fails(srs):
    s = srs()
    code, out = run("-c", s.conf_path, cwd=s.tmp)
    assert code != 0
    assert "pid" in (out + s.log()).lower()
    s.client().connect()
    s.allow_errors = True


def test_port_in_use(srs, tmp_path):
    s = srs()
    other = srs(begin=False, name="other", port=s.port)
    code, out = run("-c", other.conf_path, cwd=other.tmp)
    assert code != 0
    assert str(s.port) in out + other.log(), "it does not say which"


def test_server_id_is_kept(srs):
    s = srs()
    s.stop()
    path = s.pid_path.replace(".pid", ".id")
    ids = [p for p in (path, s.pid_path + ".id", os.path.join(s.tmp, "srs.id")) if os.path.exists(p)]
    assert ids, os.listdir(s.tmp)
    first = open(ids[0]).read().strip()
    assert first.startswith("vid-")
    s.start()
    s.stop()
    assert open(ids[0]).read().strip() == first


def test_work_dir(srs, tmp_path):
    (tmp_path / "w").mkdir()
    s = srs(begin=False)
    s.write(conf=f"listen 127.0.0.1:{s.port};\nwork_dir {tmp_path}/w;\ndaemon off;\n"
            "srs_log_tank file;\nsrs_log_file ./in.log;\npid ./in.pid;\nvhost __defaultVhost__ {\n}\n")
    s.start()
    assert wait_for(lambda: (tmp_path / "w" / "in.log").exists(), 2)
    assert (tmp_path / "w" / "in.pid").exists()


def test_unwritable_log_is_said(srs, tmp_path):
    s = srs(begin=False)
    s.write(conf=f"listen 127.0.0.1:{s.port};\ndaemon off;\nsrs_log_tank file;\n"
            f"srs_log_file /proc/nothing/srs.log;\npid {s.pid_path};\nvhost __defaultVhost__ {{\n}}\n")
    code, out = run("-c", s.conf_path, cwd=s.tmp) if False else (None, "")
    p = procs.Proc([BINARY, "-c", s.conf_path], s.out_path, cwd=s.tmp)
    wait_for(lambda: p.poll() is not None or "/proc/nothing" in p.text(), 3)
    assert "/proc/nothing" in p.text(), p.text()
    p.end()


# -- limits

def test_max_connections(srs):
    s = srs(glob="max_connections 5;")
    held = [s.client().connect() for _ in range(5)]
    with pytest.raises((Closed, OSError, TimeoutError)):
        s.client().connect()
    assert s.wait_log(r"\[WARN\].*max_connections", 2)
    held[0].close()

    def again():
        try:
            s.client().connect().close()
            return True
        except (Closed, OSError):
            return False
    assert wait_for(again, 4), "the place is not free again"
    s.allow_errors = True


def test_file_descriptor_limit_is_said(srs):
    s = srs(begin=False, glob="max_connections 5000;")

    def low():
        resource.setrlimit(resource.RLIMIT_NOFILE, (300, 300))
    code, out = run("-c", s.conf_path, cwd=s.tmp, preexec_fn=low)
    text = out + s.log()
    assert code != 0, text
    assert "ulimit -HSn" in text, text
    import re
    n = int(re.search(r"ulimit -HSn (\d+)", text).group(1))
    assert n >= 5000 + 128


def test_no_descriptor_is_lost(srs):
    s = srs()
    s.client().connect().close()
    time.sleep(0.3)

    def fds():
        return len(os.listdir(f"/proc/{s.pid}/fd"))
    before = fds()
    for i in range(60):
        c = s.client()
        if i % 3:
            c.connect()
        if i % 3 == 2:
            c.publish(f"s{i}")
        (c.abort if i % 2 else c.close)()
    assert wait_for(lambda: fds() <= before, 5), f"{before} became {fds()}"


def test_stack_is_not_executable(srs):
    s = srs()
    with open(f"/proc/{s.pid}/maps") as f:
        text = f.read()
    bad = [line for line in text.splitlines() if "rwx" in line.split()[1]]
    assert not bad, bad


@pytest.mark.long
def test_idle_costs_nothing(srs):
    s = srs()
    w = [s.watch(f"none{i}") for i in range(20)]
    time.sleep(0.5)
    before = procs.cpu_seconds(s.pid)
    time.sleep(2)
    used = procs.cpu_seconds(s.pid) - before
    assert used < 0.2 * SLOW, f"{used:.2f} s of processor in 2 s of doing nothing"
    assert all(x.ended is None for x in w)
